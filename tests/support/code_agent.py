"""`jca -r` the way a person runs it: a real repository, real git, a scripted model."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.cli.terminal import Person
from tests.support.model_server import Answer, Asked, ModelServer, without_models
from tests.support.patience import HANGS
from tests.support.repositories import ENVIRONMENT, git, make_repository, write
from tests.support.starting import quick

SETTINGS = """\
[model_providers.scripted]
base = "{url}"
env_keys = ["SCRIPTED_KEY"]
[model_groups.balanced]
models = ["scripted/scripted"]
"""

JCA = (sys.executable, "-m", "jarvis_ls.cli.jca")
FILES = {
    "src/header.py": "def parse_header(data):\n    return data[: len(data) - 1]\n",
    "src/use.py": "from src.header import parse_header\n\n\ndef head(data):\n"
    "    return parse_header(data)\n",
    "tests/test_header.py": "from src.header import parse_header\n\n\ndef test_all():\n"
    "    assert parse_header('abc') == 'abc'\n",
    ".gitignore": "*.log\n",
}
_STARTING = 0.125
"""Which part of the moments of `kill_at` is before the first request."""
OFF_BY_ONE = {
    "files": [
        {
            "file_path": "src/header.py",
            "diffs": [{"search": "data[: len(data) - 1]", "replace": "data[: len(data)]"}],
        }
    ]
}
"""The edit that mends `parse_header`."""


class CodeBench:
    """A repository, a user's folder and a model."""

    def __init__(self, folder: Path, model: ModelServer, files: Mapping[str, str | bytes]) -> None:
        self.model = model
        self.seconds = 0.0
        """How long a run takes, see `measure`."""
        self._first = 0.0
        """Seconds until it asks the model for the first time."""
        self._asked = 1
        """How often it asks."""
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / "config.toml").write_text(SETTINGS.format(url=model.url))
        self.root = make_repository(folder / "work", files)
        own = {"JARVIS_HOME": str(self.home), "SCRIPTED_KEY": "sk-1"}
        self.environment = {**without_models(ENVIRONMENT), **own}
        # The `python3` of the machine need not have pytest; the one that runs these tests has.
        here = str(Path(sys.executable).parent)
        self.environment["PATH"] = f"{here}{os.pathsep}{self.environment['PATH']}"

    async def run(self, *arguments: str, given: str = "") -> tuple[int, str, str]:
        """Exit status, output and errors of a run without a terminal."""
        process = await self.start(*arguments, command=quick("jarvis_ls.cli.jca"))
        out, err = await asyncio.wait_for(process.communicate(given.encode()), HANGS)
        assert process.returncode is not None
        assert "Traceback" not in err.decode(), err.decode()
        return process.returncode, out.decode(), err.decode()

    async def start(
        self, *arguments: str, command: tuple[str, ...] = JCA
    ) -> asyncio.subprocess.Process:
        """A run that goes on; to be killed it must be the program itself."""
        return await asyncio.create_subprocess_exec(
            *command,
            *arguments,
            cwd=self.root,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def fix(self, *arguments: str, wanted: str = "fix it") -> tuple[int, str, str]:
        """Run with nobody to ask, in a trusted folder."""
        return await self.run("-r", wanted, "-n", "--trust", *arguments)

    @contextlib.contextmanager
    def person(self, *arguments: str) -> Iterator[Person]:
        """A run at a terminal."""
        command = (*quick("jarvis_ls.cli.jca"), *arguments)
        person = Person(command, self.root, self.environment)
        try:
            yield person
        finally:
            person.close()

    def always_say(self, text: str) -> None:
        """Let the model say this where nothing else is scripted: how often it is asked depends on
        what is known in time."""

        def decide(_: Asked) -> Answer | None:
            if self.model.answers:
                return None
            self.model.say(text)
            return self.model.answers.pop()

        self.model.decide = decide

    def edit(self, path: str, search: str, replace: str) -> None:
        """Let the model edit a file."""
        diffs = [{"search": search, "replace": replace}]
        self.model.call("edit_file", {"files": [{"file_path": path, "diffs": diffs}]})

    async def kill_at(self, moment: float) -> None:
        """Kill a run; the moment is from 0, its beginning, to 1, when it would have ended. It makes
        a commit, so that all it ever writes may be under way. An eighth of the moments are before
        it asks the model, the others are counted from a request, since starting takes longest."""
        before = len(self.model.requests)
        run = await self._harm()
        step, part = divmod(max(0.0, moment - _STARTING) / (1 - _STARTING) * self._asked, 1)
        if moment < _STARTING:
            await asyncio.sleep(moment / _STARTING * self._first)
        else:
            while len(self.model.requests) - before <= step and run.returncode is None:
                await asyncio.sleep(0.005)
            await asyncio.sleep(part * (self.seconds - self._first) / self._asked)
        if run.returncode is None:
            run.kill()
        await run.communicate()

    async def measure(self) -> None:
        """Let such a run end, to know how long one takes."""
        before = len(self.model.requests)
        began = time.monotonic()
        run = await self._harm()
        while len(self.model.requests) == before and run.returncode is None:
            await asyncio.sleep(0.005)
        self._first = time.monotonic() - began
        _, errors = await run.communicate()
        assert run.returncode == 0, errors.decode()
        self.seconds = time.monotonic() - began
        self._asked = max(1, len(self.model.requests) - before)

    async def _harm(self) -> asyncio.subprocess.Process:
        self.model.answers.clear()
        self.model.call("edit_file", OFF_BY_ONE)
        self.model.call("execute_script", {"script": "echo x > new.txt; rm -r tests"})
        self.always_say("Done.")
        return await self.start(
            "-r", "fix it", "-n", "--trust", "--commit", "--allow", "execute", "--no-checks"
        )

    def leave_work(self) -> None:
        """Leave everything in the middle of work: index, work tree, stash, a branch."""
        write(self.root, {"stashed.txt": "s\n"})
        git(self.root, "stash", "push", "--quiet", "--include-untracked")
        git(self.root, "branch", "other")
        use = FILES["src/use.py"] + "# mine\n"
        write(self.root, {"src/use.py": use, "staged.txt": "mine\n"})
        git(self.root, "add", "staged.txt")
        write(self.root, {"untracked.txt": "mine\n", "ignored.log": "mine\n"})

    def state(self) -> dict[str, str]:
        """Everything of the user's: files, index, branches, stash; what is ours left out."""
        return state_of(self.root)


def state_of(root: Path) -> dict[str, str]:
    """Return the bytes of a repository by path, as hashes: what we may write left out, which are
    `.jarvis`, objects nobody names, and references of ours."""
    found = {}
    for folder, names, files in os.walk(root):
        place = Path(folder)
        if place == root:
            names[:] = [name for name in names if name != ".jarvis"]
        if place == root / ".git":
            names[:] = [name for name in names if name != "objects"]
        if place == root / ".git" / "refs":
            names[:] = [name for name in names if name != "jarvis"]
        for name in files:
            file = place / name
            data = bytes(file.readlink()) if file.is_symlink() else file.read_bytes()
            mode = f"{file.lstat().st_mode:o}"
            digest = hashlib.sha256(data).hexdigest()
            found[file.relative_to(root).as_posix()] = f"{mode} {digest}"
    return found


def applied(root: Path, patch: str) -> dict[str, str]:
    """Return the files of HEAD after a patch, by git itself."""
    there = root.parent / f"clone-{len(list(root.parent.iterdir()))}"
    git(root.parent, "clone", "--quiet", str(root), str(there))
    (there / "the.patch").write_text(patch)
    git(there, "apply", "--binary", "the.patch")
    return {
        file.relative_to(there).as_posix(): file.read_text()
        for file in there.rglob("*")
        if file.is_file() and ".git" not in file.parts and file.name != "the.patch"
    }


def events(out: str) -> list[dict[str, Any]]:
    """Return the lines of `--json`."""
    return [json.loads(line) for line in out.splitlines()]


@contextlib.asynccontextmanager
async def code_bench(
    folder: Path, files: Mapping[str, str | bytes] | None = None
) -> AsyncIterator[CodeBench]:
    """A bench below a folder."""
    async with ModelServer() as model:
        yield CodeBench(folder, model, FILES if files is None else files)
