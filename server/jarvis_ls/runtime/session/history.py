"""The history of a session in a git repository of its own: what was said, turn by turn.

The repository is in the session's folder under `~/.jarvis`; no repository of the user's is
ever examined. It holds the conversation as Markdown, fifty messages a file, so that a turn
changes little, and one commit for each turn; any git tool reads it:

    git -C ~/.jarvis/sessions/<id>/history log -p

Neither the user's nor the system's git configuration is read, and no hook runs. Without git
nothing is kept here, which is said once; the session itself needs none of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file, write_error
from jarvis_ls.runtime.base.events import EntryPut, UserEntry
from jarvis_ls.runtime.base.messages import Message, User
from jarvis_ls.runtime.session.journal import words_for_title
from jarvis_ls.runtime.session.markdown import message_text

if TYPE_CHECKING:
    from jarvis_ls.runtime.session.session import Session

logger = logging.getLogger(__name__)

FOLDER = "history"
PER_FILE = 50
"""Messages in one file."""
TIME_LIMIT = 60.0
"""Seconds one git command may take."""
STALE = 60.0
"""Seconds after which a lock that a killed git left behind is no one's any more."""
_LOCKS = ("index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock")
_SETTINGS = {
    "user.name": "Jarvis",
    "user.email": "jarvis@localhost",
    "core.hooksPath": os.devnull,
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "gc.autoDetach": "false",
    "maintenance.auto": "false",
}


@dataclass(frozen=True, slots=True)
class Version:
    """One turn of the history."""

    id: str
    """Of the commit."""
    time: float
    """Seconds since 1970."""
    words: str
    """What the turn was about."""


class HistoryError(JarvisError):
    """Git could not do what it was asked to; the text says why."""


class History:
    """The history of one session; one at a time, by the process that writes the session."""

    def __init__(self, session: Path, *, git: str | None = None) -> None:
        """`session` is the session's folder, `git` the program; None looks for it."""
        self._folder = session / FOLDER
        self._git = git or shutil.which("git")
        self._busy = asyncio.Lock()
        self.problem = ""
        """Why the last turn is not in the history; empty when it is."""

    async def record(self, session: Session, words: str = "") -> str | None:
        """Add the session as it is now; `words` say what the turn was about, by default with
        what the user said last.

        The result is the commit's id, None when nothing had changed or nothing can be kept:
        `problem` says why then. It raises nothing but `asyncio.CancelledError`.
        """
        async with self._busy:
            try:
                made = await self._record(session, words)
                self.problem = ""
                return made
            except JarvisError as error:
                self.problem = f"The history of the session is not kept: {error}"
                _say_once(self.problem)
                return None

    async def versions(self, limit: int = 1000) -> list[Version]:
        """Return the turns that are kept, the latest first; none when there is no history.

        Raises `HistoryError`.
        """
        if not (self._folder / ".git" / "HEAD").exists():
            return []
        if not await self._has_commits():
            return []
        text = await self._run("log", f"--max-count={limit}", "--format=%H%x00%ct%x00%s")
        lines = [line.split("\0") for line in text.splitlines() if line]
        return [Version(commit, float(at), words) for commit, at, words in lines]

    async def read(self, version: str) -> dict[str, str]:
        """Return the files of a turn, by path. Raises `HistoryError` when there is no such turn."""
        if not re.fullmatch(r"[0-9a-f]{7,64}", version):
            raise HistoryError("Turn {version} is not in this history.", version=repr(version))
        names = (await self._run("ls-tree", "-r", "-z", "--name-only", version)).split("\0")
        return {
            name: await self._run("cat-file", "blob", f"{version}:{name}") for name in names if name
        }

    async def _record(self, session: Session, words: str) -> str | None:
        if self._git is None:
            raise HistoryError("git is not installed")
        spoken = {node: session.transcript(node) for node in session.nodes}
        info = asdict(session.info)
        info.pop("working")
        files = await asyncio.to_thread(_files, spoken, info, session.without_secrets)
        await asyncio.to_thread(_write, self._folder, files)
        if not (self._folder / ".git" / "HEAD").exists():
            await self._run("init", "--quiet", "--template=", "--initial-branch=main")
        await asyncio.to_thread(self._free_locks)
        await self._run("add", "--all", "--force", ".")
        if await self._has_commits() and not await self._run("status", "--porcelain"):
            return None
        said = words_for_title(session.without_secrets(words or _last_request(session)))
        said = said.encode("utf-8", "replace").decode().replace("\0", "")
        await self._run("commit", "--quiet", "--no-verify", "--message", said.strip() or "turn")
        return (await self._run("rev-parse", "HEAD")).strip()

    async def _has_commits(self) -> bool:
        return bool(await self._run("for-each-ref", "--count=1", "refs/heads"))

    async def _run(self, *arguments: str) -> str:
        """Run git and return its output. Raise `HistoryError`."""
        if self._git is None:
            raise HistoryError("git is not installed")
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        try:  # in a thread: asyncio loses children whose waiter is cancelled (Python 3.11)
            done = await asyncio.to_thread(
                subprocess.run,
                [self._git, *settings, *arguments],
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIME_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HistoryError(
                "git {command} took more than {seconds} s",
                command=arguments[0],
                seconds=f"{TIME_LIMIT:.0f}",
            ) from None
        except (OSError, ValueError) as error:
            raise HistoryError("git could not be started: {why}", why=error) from None
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip() or f"status {done.returncode}"
            raise HistoryError(
                "git {command} failed: {said}", command=arguments[0], said=said[:500]
            )
        return done.stdout.decode("utf-8", "replace")

    def _environment(self) -> dict[str, str]:
        """All settings of git: nothing of the user's, and no repository but this one."""
        kept = {
            name: os.environ[name]
            for name in ("PATH", "SYSTEMROOT", "TEMP", "TMP")
            if name in os.environ
        }
        return kept | {
            "HOME": str(self._folder),
            "GIT_DIR": str(self._folder / ".git"),
            "GIT_WORK_TREE": str(self._folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }

    def _free_locks(self) -> None:
        for name in _LOCKS:
            lock = self._folder / ".git" / name
            with contextlib.suppress(OSError):
                if time.time() - lock.stat().st_mtime > STALE:
                    lock.unlink()


def _last_request(session: Session) -> str:
    """Return the user's last text, as shown to the user."""
    entries = [e.entry for e in session.events() if isinstance(e, EntryPut)]
    shown = [entry.text for entry in entries if isinstance(entry, UserEntry)]
    first = session.nodes[:1]
    said = [m.text for node in first for m in session.transcript(node) if isinstance(m, User)]
    return (shown or said or [""])[-1]


def _files(
    spoken: dict[str, list[Message]], info: dict[str, object], hidden: Callable[[str], str]
) -> dict[str, str]:
    """Return the files that say it all, by path."""
    found = {"session.json": json.dumps(info, ensure_ascii=False, indent=2) + "\n"}
    for node, messages in spoken.items():
        folder = re.sub(r"[^A-Za-z0-9_-]", "_", node)[:100] or "node"
        while f"{folder}/{0:06}.md" in found:
            folder += "_"
        for start in range(0, len(messages), PER_FILE):
            texts = [message_text(m) for m in messages[start : start + PER_FILE]]
            text = "\n\n".join(text for text in texts if text) + "\n"
            found[f"{folder}/{start:06}.md"] = text
    return {name: hidden(text).encode("utf-8", "replace").decode() for name, text in found.items()}


def _write(folder: Path, files: dict[str, str]) -> None:
    """Make the folder hold these files and no others. Raises `JarvisError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in files:
            (folder / name).parent.mkdir(exist_ok=True, mode=0o700)
        for path in _memory_files(folder):
            if path.relative_to(folder).as_posix() not in files:
                path.unlink()
    except OSError as error:
        raise write_error(folder, error) from None
    for name, text in files.items():
        path, data = folder / name, text.encode()
        if not _is(path, data):
            replace_file(path, data, mode=0o600)


def _memory_files(folder: Path) -> Iterable[Path]:
    return [p for p in [*folder.glob("*.json"), *folder.glob("*/*.md")] if p.is_file()]


def _is(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


_said: set[str] = set()


def _say_once(problem: str) -> None:
    if problem not in _said:
        _said.add(problem)
        logger.warning("%s", problem)
