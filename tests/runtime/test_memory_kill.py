"""Processes that save at the same time or are killed while they do: no entry torn or lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from jarvis_ls.runtime.memory.memory import Memory

SAVER = """
import asyncio, sys
from pathlib import Path
from jarvis_ls.runtime.memory.memory import Memory

async def main(home, project, name, count):
    memory = Memory(Path(home), Path(project))
    for number in range(int(count)):
        saved = await memory.save("project_long_term", f"{name} {number} " + "x" * 3000, [name])
        print(saved.entry.id, flush=True)
        await memory.retrieve(tags=[name], limit=3)

asyncio.run(main(*sys.argv[1:]))
"""


def saver(tmp_path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SAVER, str(tmp_path / "h"), str(tmp_path / "p"), name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen(
        [*command, str(count)], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_two_processes_save_at_the_same_time(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    running = [saver(tmp_path, name, 15) for name in ("one", "two")]
    ids = [line for process in running for line in process.communicate()[0].split()]
    assert [process.returncode for process in running] == [0, 0]
    assert len(set(ids)) == 30
    memory = Memory(tmp_path / "h", tmp_path / "p")
    heads = asyncio.run(memory.heads())
    assert {head.id for head in heads} == set(ids) and not memory.problems


def test_a_killed_saver_leaves_whole_entries(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    chance = random.Random(7)
    promised: set[str] = set()
    for turn in range(6):
        process = saver(tmp_path, f"turn{turn}", 10_000)
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 12)):
            promised.add(process.stdout.readline().strip())
        process.kill()
        promised.update(line for line in process.communicate()[0].split() if len(line) == 22)
    memory = Memory(tmp_path / "h", tmp_path / "p")
    heads = asyncio.run(memory.heads())
    assert not memory.problems
    assert promised <= {head.id for head in heads}
    for path in (tmp_path / "p/.jarvis/memory").glob("*.json"):
        assert json.loads(path.read_text())["content"].endswith("xxx")
    asyncio.run(memory.save("project_long_term", "after all that"))
    assert len(asyncio.run(memory.heads())) == len(heads) + 1


FULL = """
import asyncio, resource, sys
from pathlib import Path
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.memory.memory import Memory

async def main(home, project):
    memory = Memory(Path(home), Path(project))
    kept = (await memory.save("project_long_term", "kept")).entry
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    for change in (
        memory.save("project_long_term", "x" * 5000),
        memory.change(kept.id, content="y" * 5000),
    ):
        try:
            await change
        except JarvisError as error:
            print(error)
    print((await memory.read(kept.id)).content)

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", FULL, str(tmp_path / "h"), str(tmp_path / "p")]
    said = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True
    ).stdout.splitlines()
    assert len(said) == 3 and said[2] == "kept"
    assert all(line.startswith("cannot write") for line in said[:2])
    memory = Memory(tmp_path / "h", tmp_path / "p")
    assert [head.title for head in asyncio.run(memory.heads())] == ["kept"]
    assert not [path for path in (tmp_path / "p/.jarvis/memory").iterdir() if path.name[0] == "."]
