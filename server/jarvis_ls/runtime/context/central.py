"""A team's rules, tools and methodologies: a git repository that is cloned into the user's folder.

    [central]
    repository = "git@git.example.com:team/jarvis.git"     # or a folder

The clone is `~/.jarvis/central`; `rules/`, `tools/` and `methodologies/` in it are what agents use.
It is made on first use and brought up to date once a day, beside what agents do: a repository that
cannot be reached is said once and changes nothing. `publish` moves files of the user's there. A
folder that is no repository is used as it is.

Only the user's own settings name it, never a workspace's. git runs no hooks and no helpers of the
repository, makes no links, and asks nothing. It is started from here and not by GitPython, which
reads repositories elsewhere: a step that is cancelled or takes too long ends with all it started
(ssh, helpers), which `kill_after_timeout` does not promise, and nothing blocks the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import ConfigError, JarvisError, UsageError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.lock import Lock
from jarvis_ls.core.words import Words

PARTS = ("rules", "tools", "methodologies")
VARIABLE = "JARVIS_CENTRAL_REPO"
"""Environment variable that names the repository; it wins over the settings."""
RULES_CLONE = "central_rules_repo"
"""Folder of the clone of a repository that holds rules only."""
DAY = 86_400.0
SECONDS = 120.0
"""How long git may take for one step."""
_HOST = re.compile(r"[\w.-]+@[\w.-]+:")
_SAFE = (
    "-c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.symlinks=false"
    " -c protocol.ext.allow=never -c submodule.recurse=false -c commit.gpgSign=false"
).split()


def read_central(table: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Return the repository of the section `[central]`, or of the environment; empty without one.

    Raises `ConfigError` naming what is wrong.
    """
    for name in table:
        if name != "repository":
            raise ConfigError(
                "Unknown setting central.{name}; the only one is repository.", name=name
            )
    found = environment.get(VARIABLE, "") or table.get("repository", "")
    if not isinstance(found, str) or found.startswith("-") or "\0" in found:
        raise ConfigError("central.repository must be the address of a repository, or a folder.")
    return found


def is_address(text: str) -> bool:
    """Return whether a text names a repository that is cloned, not a folder that is used."""
    if "://" in text or _HOST.match(text):
        return True
    folder = Path(text).expanduser()
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()  # without a work tree


class Central:
    """The repository, as this user has it."""

    def __init__(self, home: Path, repository: str, *, clone: str = "central") -> None:
        """`clone` is the folder below `home` that it is cloned to."""
        self.repository = repository
        self.is_cloned = is_address(repository)
        self.folder = home / clone if self.is_cloned else home / Path(repository).expanduser()
        self._home = home
        self._stamp = home / f"{clone}.json"
        self._lock = home / f"{clone}.lock"

    def part(self, name: str) -> Path:
        """Return the folder of one of `PARTS`; it need not be there."""
        return self.folder / name

    def is_due(self) -> bool:
        """Return whether it was not brought up to date today."""
        return self.is_cloned and not (
            self._is_current() and time.time() - self._read_stamp()[1] < DAY
        )

    async def refresh(self) -> bool:
        """Clone it, or bring the clone up to date; false when another process does.

        Raises `JarvisError` with what git says; the clone is then as it was.
        """
        if not self.is_cloned:
            return True
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = Lock.take(self._lock)
        if isinstance(lock, str):
            return False
        try:
            await self._refresh()
        finally:
            lock.release()
        return True

    async def publish(self, files: Sequence[tuple[Path, str]], message: str) -> None:
        """Move files to paths in the repository, commit and push them.

        When that fails the files stay where they are. Raises `JarvisError`.
        """
        if not self.is_cloned:
            for source, path in files:
                target = self._place(path)
                replace_file(target, source.read_bytes())
                source.unlink()
            return
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = Lock.take(self._lock)
        if isinstance(lock, str):
            raise JarvisError("The central repository is in use: {who}.", who=lock)
        try:
            await self._refresh()
            before = (await self._git("rev-parse", "--verify", "-q", "HEAD", check=False)).strip()
            try:
                for source, path in files:
                    replace_file(self._place(path), source.read_bytes())
                await self._git("add", "--force", "--", *(path for _, path in files))
                await self._git("commit", "--quiet", "--no-verify", "-m", message)
                await self._git("push", "--quiet", "origin", "HEAD")
            except BaseException:
                await self._undo(before, [path for _, path in files])
                raise
        finally:
            lock.release()
        for source, _ in files:
            source.unlink()

    # -- below -------------------------------------------------------------------------------------

    def _place(self, path: str) -> Path:
        """Return where a file goes. Raises `UsageError` when one is there."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(target):
            raise UsageError("{path} is in the central repository already.", path=path)
        return target

    async def _undo(self, before: str, paths: Sequence[str]) -> None:
        with contextlib.suppress(JarvisError):
            if before:
                await self._git("reset", "--quiet", "--hard", before)
            else:
                await self._git("update-ref", "-d", "HEAD")
                await self._git("rm", "--quiet", "--cached", "-r", "--force", ".", check=False)
        for path in paths:
            (self.folder / path).unlink(missing_ok=True)

    async def _refresh(self) -> None:
        if self._is_current():
            await self._git("fetch", "--quiet", "--no-recurse-submodules", "origin")
            upstream = await self._git("rev-parse", "--verify", "-q", "@{upstream}", check=False)
            if upstream.strip():
                await self._git("reset", "--quiet", "--hard", "@{upstream}")
        else:
            await self._clone()
        data = json.dumps({"repository": self.repository, "time": time.time()})
        replace_file(self._stamp, data.encode(), mode=0o600)

    async def _clone(self) -> None:
        temporary = Path(tempfile.mkdtemp(prefix=".central-", dir=self._home))
        try:
            place = temporary / "clone"
            await self._git("clone", "--quiet", "--", self.repository, str(place), folder=temporary)
            if self.folder.exists():
                await asyncio.to_thread(shutil.rmtree, self.folder)
            place.replace(self.folder)
        finally:
            await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)

    def _is_current(self) -> bool:
        return (self.folder / ".git").is_dir() and self._read_stamp()[0] == self.repository

    def _read_stamp(self) -> tuple[str, float]:
        try:
            kept = json.loads(self._stamp.read_bytes())
            return str(kept["repository"]), float(kept["time"])
        except (OSError, ValueError, TypeError, KeyError):
            return "", 0.0

    async def _git(self, *arguments: str, folder: Path | None = None, check: bool = True) -> str:
        """Return what git prints. Raises `JarvisError` when it fails and that is not expected."""
        places = [place for place in os.get_exec_path() if Path(place).is_absolute()]
        program = shutil.which("git", path=os.pathsep.join(places))  # none of the current folder
        if program is None:
            raise JarvisError("git is not installed; the central repository needs it.")
        environment = {
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
            **os.environ,
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        process = await asyncio.create_subprocess_exec(
            *(program, *_SAFE, *arguments),
            cwd=folder or self.folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), SECONDS)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            if isinstance(error, asyncio.TimeoutError):
                raise JarvisError("git took longer than {n} seconds.", n=int(SECONDS)) from None
            raise
        if process.returncode and check:
            said = err.decode("utf-8", "replace").strip() or out.decode("utf-8", "replace").strip()
            raise JarvisError(
                Words(
                    "git {what}: {why}",
                    what=arguments[0],
                    why=said.splitlines()[-1] if said else "",
                )
            )
        return out.decode("utf-8", "replace")
