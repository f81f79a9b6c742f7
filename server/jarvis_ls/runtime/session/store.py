"""All sessions of a user: made, opened, listed, searched, forked, thrown away, exported.

    ~/.jarvis/sessions/<id>/journal.jsonl   everything; see `journal`
                            header.json     what lists show, and for which journal it is true
                            lock            held by the writer
    ~/.jarvis/trash/sessions/<id>/          thrown away; gone after 30 days

A header says how long the journal was and how it ended when it was written. A list believes it
when that is still so, reads only what came after when the journal grew, and reads the whole
journal otherwise. So no header can say anything that the journal does not.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, write_error
from jarvis_ls.core.lock import Lock
from jarvis_ls.core.store import MAX_BYTES, line_of
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base import event_json
from jarvis_ls.runtime.base.events import SessionInfo
from jarvis_ls.runtime.base.messages import System
from jarvis_ls.runtime.session import journal
from jarvis_ls.runtime.session.markdown import markdown
from jarvis_ls.runtime.session.records import header_of, info_of, new_id
from jarvis_ls.runtime.session.session import (
    HEADER,
    JOURNAL,
    LOCK,
    Session,
    SessionBusy,
    SessionError,
    SessionMissing,
)

if TYPE_CHECKING:
    from jarvis_ls.runtime.base.redaction import Redactor

TRASH_DAYS = 30
Infos = list[SessionInfo]
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HEADER_LIMIT = 1 << 20


class SessionStore:
    """The sessions below `<home>/sessions`. Its methods read and write files: call those that
    go through many sessions (`list`, `search`) or long ones (`open`, `fork`) in a thread."""

    def __init__(self, home: Path, redactor: Redactor | None = None) -> None:
        """`home` is the user's folder, `~/.jarvis`. What `redactor` knows to be secret is
        written to no journal; what it learns later, from then on."""
        self._folder = home / "sessions"
        self._trash = home / "trash" / "sessions"
        self._redactor = redactor

    def create(self, folder: Path | str) -> Session:
        """Return a new session, begun in this folder of the workspace.

        Raises `JarvisError` when the disk refuses; no half session is left then.
        """
        name = new_id()
        first = _first_line(name, str(folder))
        self._place(name, first)
        self._empty_trash()
        return self.open(name)

    def open(self, session: str, *, read_only: bool = False) -> Session:
        """Return the session with this id, for writing unless another process writes it.

        `Session.read_only` then says who does, and writing raises `SessionBusy`. What could not
        be read of a damaged journal is in `Session.damage`. Raises `SessionMissing`.
        """
        path = self._path(session)
        if read_only:
            return Session(path, self._read(path), None, read_only="it was opened only to read")
        try:
            lock = Lock.take(path / LOCK)
        except JarvisError as error:  # a folder that cannot be written can still be read
            return Session(path, self._read(path), None, read_only=str(error))
        if isinstance(lock, str):
            return Session(
                path, self._read(path), None, read_only=Words("{lock} has it open", lock=lock)
            )
        try:
            reading = self._read(path)
            if reading.contents.version > journal.VERSION:
                lock.release()
                newer = "it was written by a newer version of Jarvis"
                return Session(path, reading, None, read_only=newer)
            return Session(path, reading, lock, redactor=self._redactor)
        except BaseException:
            lock.release()
            raise

    def list(self, folder: Path | str | None = None) -> Infos:
        """All sessions (of this folder), the last used first. None of them is opened."""
        found = [info for path in self._paths() if (info := self._info(path)) is not None]
        if folder is not None:
            found = [info for info in found if info.folder == str(folder)]
        return sorted(found, key=lambda info: (info.updated, info.id), reverse=True)

    def latest(self, folder: Path | str | None = None) -> str | None:
        """Id of the session that was used last (in this folder)."""
        infos = self.list(folder)
        return infos[0].id if infos else None

    def search(self, text: str) -> Infos:
        """Sessions whose title or conversation contains every word of `text`, in any case; the
        last used first. Without words: all."""
        words = text.casefold().split()
        return [info for info in self.list() if self._contains(info, words)]

    def delete(self, session: str) -> None:
        """Throw a session away: it is in the trash for 30 days, from where `restore` gets it.

        Asks no one. Raises `SessionMissing`, and `SessionBusy` while anyone has it open.
        """
        path = self._path(session)
        lock = Lock.take(path / LOCK)
        if isinstance(lock, str):
            raise SessionBusy("The session cannot be deleted: {lock} has it open.", lock=lock)
        try:
            self._trash.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.utime(path)  # from now on it is in the trash
            if sys.platform == "win32":
                lock.release()  # there a folder with an open file cannot be moved
            path.rename(self._trash / session)
        except OSError as error:
            raise write_error(path, error) from None
        finally:
            lock.release()
        self._empty_trash()

    def deleted(self) -> Infos:
        """Sessions in the trash, the last used first."""
        paths = self._trash.iterdir() if self._trash.is_dir() else ()
        found = [
            info
            for path in paths
            if _ID.fullmatch(path.name) and (info := self._info(path)) is not None
        ]
        return sorted(found, key=lambda info: (info.updated, info.id), reverse=True)

    def restore(self, session: str) -> None:
        """Get a session back out of the trash. Raises `SessionMissing`."""
        self._check(session)
        try:
            (self._trash / session).rename(self._folder / session)
        except OSError:
            raise SessionMissing(
                "There is no session {session} in the trash.", session=session
            ) from None

    def fork(self, session: str, upto: str | None = None) -> Session:
        """Return a new session that begins with all of this one up to the message `upto`, which is
        part of it; with None, with all of it. What the first one cost stays with the first.

        Raises `SessionMissing`, and `SessionError` when no message of it has this id.
        """
        path = self._path(session)
        data = self._data(path)
        reading = journal.read(data)
        if upto is not None and not any(
            getattr(message, "id", "") == upto
            for thread in reading.contents.threads.values()
            for message in thread.appended
        ):
            raise SessionError("The session has no message {upto} to fork at.", upto=repr(upto))
        name = new_id()
        contents = reading.contents
        lines = [_first_line(name, contents.folder, forked=session)]
        lines += _copy(data, upto)
        if contents.shown_title:
            title = {"is": "title", "title": f"{contents.shown_title} (fork)", "at": _now()}
            lines.append(line_of(title))
        self._place(name, b"".join(lines))
        return self.open(name)

    def export_markdown(self, session: str) -> str:
        """Return the whole conversation as Markdown. Raises `SessionMissing`."""
        return markdown(self._read(self._path(session)).contents)

    def _place(self, name: str, data: bytes) -> None:
        """Create a folder with this journal atomically."""
        temporary = ""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = tempfile.mkdtemp(prefix=".new-", dir=self._folder)
            replace_file(Path(temporary) / JOURNAL, data, mode=0o600)
            Path(temporary).rename(self._folder / name)
        except (OSError, JarvisError) as error:
            if temporary:
                shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError):
                raise write_error(self._folder, error) from None
            raise

    def _path(self, session: str) -> Path:
        self._check(session)
        path = self._folder / session
        try:
            known = stat.S_ISDIR(path.lstat().st_mode) and (path / JOURNAL).exists()
        except OSError:
            known = False
        if not known:
            raise SessionMissing("There is no session {session}.", session=session)
        return path

    @staticmethod
    def _check(session: str) -> None:
        if not _ID.fullmatch(session):
            raise SessionMissing("{session} is not a valid session id.", session=repr(session))

    def _paths(self) -> Iterator[Path]:
        try:
            entries = list(os.scandir(self._folder))
        except OSError:
            return
        for entry in entries:
            if _ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)

    @staticmethod
    def _data(path: Path) -> bytes:
        try:
            return read_regular(path / JOURNAL, limit=MAX_BYTES)
        except SkippedFile as error:
            raise SessionError("{path} is {why}.", path=path / JOURNAL, why=error.reason) from None

    def _read(self, path: Path) -> journal.Reading:
        reading = journal.read(self._data(path))
        contents = reading.contents
        if contents.id != path.name:  # its first line is damaged: the rest is worth having
            contents.id = path.name
            contents.created = contents.created or _create(path.name)
        return reading

    def _info(self, path: Path) -> SessionInfo | None:
        """Return a session's summary; None when the journal cannot be read at all."""
        with contextlib.suppress(OSError):
            if (known := _header_info(path)) is not None:
                return known
        try:
            reading = self._read(path)
        except SessionError:
            return None
        header = header_of(reading.contents, reading.size, reading.tail)
        with contextlib.suppress(JarvisError):  # it is only there to be faster the next time
            replace_file(path / HEADER, header, mode=0o600)
        return info_of(reading.contents)

    def _contains(self, info: SessionInfo, words: Sequence[str]) -> bool:
        missing = [word for word in words if word not in info.title.casefold()]
        if not missing:
            return True
        path = self._folder / info.id
        try:
            written = self._data(path).decode("utf-8", "replace").casefold()
            if not all(json.dumps(w, ensure_ascii=False)[1:-1] in written for w in missing):
                return False  # what is not written is not said: this spares reading most
            contents = self._read(path).contents
        except SessionError:
            return False
        texts = [
            shown.text.casefold()
            for node, thread in contents.threads.items()
            for message in thread.appended
            if (shown := contents.as_shown(node, message)) and not isinstance(shown, System)
        ]
        return all(any(word in text for text in texts) for word in missing)

    def _empty_trash(self) -> None:
        oldest = time.time() - TRASH_DAYS * 86400
        for folder, prefix in ((self._trash, ""), (self._folder, ".new-")):
            with contextlib.suppress(OSError):
                for entry in list(os.scandir(folder)):
                    wanted = entry.name.startswith(prefix) if prefix else _ID.match(entry.name)
                    if wanted and entry.stat(follow_symlinks=False).st_mtime < oldest:
                        shutil.rmtree(entry.path, ignore_errors=True)


def _header_info(path: Path) -> SessionInfo | None:
    """Read the header, brought up to date; None when it does not fit the journal."""
    try:
        header: Any = json.loads(read_regular(path / HEADER, limit=_HEADER_LIMIT))
        size, check = int(header["bytes"]), int(header["check"])
        named = bool(header["named"])
        if int(header["version"]) != journal.VERSION:
            return None
        info = event_json.record_from_json(SessionInfo, header["info"])
    except (SkippedFile, ValueError, KeyError, TypeError, RecursionError):
        return None
    if info.id != path.name:
        return None
    with (path / JOURNAL).open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        if end < size:
            return None
        file.seek(max(0, size - journal.TAIL))
        if zlib.crc32(file.read(min(size, journal.TAIL))) != check:
            return None
        grown = file.read()
    return _brought_up_to_date(info, named, grown) if grown else info


def _brought_up_to_date(info: SessionInfo, named: bool, grown: bytes) -> SessionInfo | None:
    """`info` after these lines; None when only the whole journal can tell."""
    contents = journal.Contents(title=info.title, updated=info.updated)
    for _number, _line, record, problem in journal.records(grown):
        if problem or record is None or record.get("is") in ("cut", "title", "session"):
            return None
        if record.get("is") == "entry" and not named:
            return None
        if record.get("is") in ("message", "spent"):
            try:
                contents.apply(record)
            except ValueError:
                return None
        contents.updated = max(contents.updated, float(record.get("at", 0.0)))
    said = sum(len(thread.appended) for thread in contents.threads.values())
    return replace(
        info,
        title=contents.shown_title,
        updated=contents.updated,
        usage=info.usage + contents.usage,
        messages=info.messages + said,
    )


def _first_line(name: str, folder: str, *, forked: str = "") -> bytes:
    record = {
        "is": "session",
        "version": journal.VERSION,
        "id": name,
        "folder": folder,
        "created": _now(),
        "at": _now(),
    }
    return line_of(record | ({"forked": forked} if forked else {}))


def _copy(data: bytes, upto: str | None) -> list[bytes]:
    """Return the lines that a fork begins with: to before the next message of the same node."""
    lines: list[bytes] = []
    node: str | None = None
    for _number, line, record, problem in journal.records(data):
        if problem or record is None or record.get("is") in ("session", "spent"):
            continue
        if record.get("is") == "message":
            if node is not None and record.get("node") == node:
                break
            message = record.get("message")
            if upto is not None and isinstance(message, dict) and message.get("id") == upto:
                node = str(record.get("node"))
        entry = record.get("entry")
        if isinstance(entry, dict) and entry.get("checkpoint"):  # it is the first session's
            lines.append(line_of({**record, "entry": {**entry, "checkpoint": ""}}))
        else:
            lines.append(line + b"\n")
    return lines


def _create(name: str) -> float:
    """When an UUIDv7 was made, in seconds since 1970."""
    return int(name.replace("-", "")[:12], 16) / 1000


def _now() -> float:
    return round(time.time(), 3)
