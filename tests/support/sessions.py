"""A store of sessions for a test, which closes at the end what the test left open."""

from __future__ import annotations

from pathlib import Path

from jarvis_ls.runtime.base.redaction import Redactor
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.session.store import SessionStore


class ClosedLater(SessionStore):
    """Use it with `contextlib.closing`. A file that the collector finds open is an error, in
    whichever test it then finds it."""

    def __init__(self, home: Path, redactor: Redactor | None = None) -> None:
        super().__init__(home, redactor)
        self._opened: list[Session] = []

    def open(self, session: str, *, read_only: bool = False) -> Session:
        self._opened.append(super().open(session, read_only=read_only))
        return self._opened[-1]

    def close(self) -> None:
        for session in self._opened:
            session.close()
