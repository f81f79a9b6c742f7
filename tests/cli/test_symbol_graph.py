"""The graph of symbols of a workspace, which several programs read and write at the same time."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from jarvis_ls.codeintel.graph.store import SymbolStore
from jarvis_ls.codeintel.graph.workspace import sync_folder
from tests.support.patience import HANGS
from tests.support.repositories import make_repository, write

COMMAND = (sys.executable, "-m", "jarvis_ls.cli.jca")


async def recommend(root: Path) -> tuple[int, list[str], str]:
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "recommend", "read the index", "--format", "json"),
        cwd=root,
        env={**os.environ, "JARVIS_HOME": str(root.parent / "home")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), HANGS)
    assert process.returncode is not None
    found = [place["name"] for place in json.loads(out or "[]")]
    return process.returncode, found, err.decode()


async def test_programs_that_make_it_at_the_same_time_do_not_harm_each_other(
    tmp_path: Path,
) -> None:
    files = {
        f"m{number}.py": f"def read_index_{number}():\n    return {number}\n"
        for number in range(60)
    }
    root = make_repository(tmp_path / "work", files)
    runs = await asyncio.gather(*(recommend(root) for _ in range(6)))
    assert [status for status, _, _ in runs] == [0] * 6, [err for _, _, err in runs if err]
    assert all(found == runs[0][1] and len(found) == 10 for _, found, _ in runs)


def test_who_reads_sees_one_state_while_another_program_writes(tmp_path: Path) -> None:
    root, file = tmp_path / "work", tmp_path / "symbols.db"
    write(root, {"a.py": "def f():\n    return 1\n", "b.py": "def g():\n    return f()\n"})
    reader, writer = SymbolStore(file), SymbolStore(file)
    sync_folder(writer, root)
    assert sync_folder(reader, root).read == 0
    write(root, {"b.py": "def h():\n    f()\n    return f()\n", "c.py": "x = f()\n"})
    sync_folder(writer, root)
    assert [(r.file.path, r.line) for r in reader.references("f")] == [("b.py", 2)]
    assert [located.definition.name for located in reader.definitions_in("b.py")] == ["g"]
    assert sync_folder(reader, root).read == 0
    found = [(r.file.path, r.line) for r in reader.references("f")]
    assert found == [("b.py", 2), ("b.py", 3), ("c.py", 1)]
    for store in (reader, writer):
        store.close()
