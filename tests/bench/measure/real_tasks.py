"""Twenty tasks in public projects: a fault in one line that the project's own tests notice.

The projects are sources of Debian packages. The fault is planted when a task is set up, and the
tests that fail with it are the project's own.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.process import end_group
from tests.bench.measure.table import Table
from tests.bench.measure.tree import sources_of
from tests.support.model_server import Answer, Asked, ModelServer
from tests.support.repositories import git

TASKS = Path(__file__).with_name("real_tasks.jsonl")
PROMPT = "The tests of this project fail: `{check}`. Find the fault in the code and repair it."
SECONDS = 900
"""That an agent has for one task."""
_CHECK_SECONDS = 120


@dataclass(frozen=True, slots=True)
class RealTask:
    """A fault and the tests that notice it."""

    id: str
    package: str
    """Debian's name of the source, or of the crate."""
    file: str
    right: str
    """The line as its author wrote it; it is there once."""
    wrong: str
    """The line with the fault."""
    check: str
    """A command line; `{python}` is an interpreter that has pytest."""

    @property
    def command(self) -> str:
        """Return the check as it is run here."""
        return self.check.replace("{python}", sys.executable)


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """Where a model is asked."""

    base: str
    """Address of a server that speaks OpenAI's protocol."""
    model: str
    key_variable: str = ""
    """Variable that holds the key; empty where none is needed."""

    def settings(self) -> str:
        """Return them as `config.toml` has them."""
        key = f'env_keys = ["{self.key_variable}"]' if self.key_variable else "needs_key = false"
        return (
            f'[model_providers.asked]\nbase = "{self.base}"\n{key}\n'
            f'[model_groups.balanced]\nmodels = ["asked/{self.model}"]\n'
        )


Before = Callable[[RealTask, Path], None]
"""Told before an agent begins on a task in a folder."""


def read_tasks(names: Sequence[str] = ()) -> list[RealTask]:
    """Return the tasks of these names, all without."""
    lines = TASKS.read_text(encoding="utf-8").splitlines()
    tasks = [RealTask(**json.loads(line)) for line in lines]
    return [task for task in tasks if not names or task.id in names]


async def solve_with(place: ModelPlace, names: Sequence[str]) -> int:
    """Let `jca -r` with a model work on the tasks; return the exit status."""
    table = Table(f"Real tasks with {place.model}")
    tasks = read_tasks(names)
    outcomes = [outcome async for _, outcome in work_on(tasks, place)]
    table.note("tasks", len(tasks))
    table.note("solved", outcomes.count("solved"))
    return table.finish()


async def replay(names: Sequence[str]) -> int:
    """Let a scripted model repeat the lines that the authors wrote: each task fails before, and
    `jca -r` solves it with the right edit. Returns the exit status."""
    table = Table("Real tasks with the known repair")
    tasks = read_tasks(names)
    async with ModelServer() as server:

        def script(task: RealTask, root: Path) -> None:
            server.answers.clear()
            lines = (root / task.file).read_text(encoding="utf-8").split("\n")
            at = _line_of(task)
            near, rest = lines[max(0, at - 12) : at], lines[at + 1 : at + 4]  # else it is twice
            old, new = ["\n".join([*near, line, *rest]) for line in (task.wrong, task.right)]
            diff = {"search": old, "replace": new}
            server.call("edit_file", {"files": [{"file_path": task.file, "diffs": [diff]}]})

        def decide(_: Asked) -> Answer | None:
            if server.answers:
                return None
            server.say("Repaired.")
            return server.answers.pop()

        server.decide = decide
        place = ModelPlace(server.url, "scripted")
        outcomes = [outcome async for _, outcome in work_on(tasks, place, script)]
    table.note("tasks", len(tasks))
    noticed = len(tasks) - outcomes.count("its tests pass as it is")
    table.at_least("whose tests fail before", noticed, len(tasks))
    table.at_least("whose tests pass after", outcomes.count("solved"), len(tasks))
    return table.finish()


async def work_on(
    tasks: Sequence[RealTask], place: ModelPlace, before: Before | None = None
) -> AsyncIterator[tuple[RealTask, str]]:
    """Yield what became of each task, and print it."""
    for task in tasks:
        with tempfile.TemporaryDirectory(prefix="jarvis-task-") as folder:
            outcome = await _work_on_one(task, Path(folder), place, before)
        print(f"{task.id}: {outcome}", flush=True)
        yield task, outcome


async def _work_on_one(
    task: RealTask, folder: Path, place: ModelPlace, before: Before | None
) -> str:
    """Return `solved`, or why the task is not."""
    root = set_up(task, folder)
    if await passes(task, root):
        return "its tests pass as it is"
    git(root, "clean", "-qxdf")  # what the tests have built
    if before is not None:
        before(task, root)
    home = folder / "home"
    home.mkdir()
    (home / "config.toml").write_text(place.settings(), encoding="utf-8")
    prompt = PROMPT.format(check=task.command)
    allow = ["--allow", "write", "--allow", "execute"]
    status, out, err = await _run(
        [sys.executable, "-m", "jarvis_ls.cli.jca", "-r", prompt, "-n", "--trust", *allow],
        root,
        SECONDS,
        {"JARVIS_HOME": str(home)},
    )
    if status is None:
        return f"not done in {SECONDS} s"
    if not out:
        last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"no patch (status {status}): {last[:200]}"
    (folder / "the.patch").write_bytes(out)
    git(root, "apply", "--binary", str(folder / "the.patch"))
    return "solved" if await passes(task, root) else "the tests still fail"


def _line_of(task: RealTask) -> int:
    """Return the number of the line with the fault, from 0."""
    file = sources_of(task.package) / task.package / task.file
    lines = file.read_text(encoding="utf-8").split("\n")
    if lines.count(task.right) != 1:
        raise ValueError(f"{task.id}: this version of {task.package} has another {task.file}")
    return lines.index(task.right)


def set_up(task: RealTask, folder: Path) -> Path:
    """Return a repository with the project and the fault."""
    sources = sources_of(task.package)
    root = folder / "work"
    shutil.copytree(sources / task.package, root, symlinks=True)
    file = root / task.file
    lines = file.read_text(encoding="utf-8").split("\n")
    lines[_line_of(task)] = task.wrong
    file.write_text("\n".join(lines), encoding="utf-8")
    git(root, "init", "--quiet")
    git(root, "config", "user.name", "bench")
    git(root, "config", "user.email", "bench@example.org")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "-m", "sources")
    return root


async def passes(task: RealTask, root: Path) -> bool:
    """Return whether the project's tests pass."""
    status, _, _ = await _run(["sh", "-c", task.command], root, _CHECK_SECONDS, {})
    return status == 0


async def _run(
    command: Sequence[str], root: Path, seconds: float, variables: dict[str, str]
) -> tuple[int | None, bytes, bytes]:
    """Return status, output and errors; no status when it was ended after so many seconds."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=root,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return None, b"", b""
    finally:
        end_group(process)
        await process.wait()
    return process.returncode, out, err
