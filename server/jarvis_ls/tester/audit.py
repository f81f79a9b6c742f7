"""What a repair did, as JSON lines that are only added to: `.jarvis/tester/audit.jsonl`.

The first writing is before anything runs, so that also a process that was killed has left a trace.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import keep_out_of_git, state_folder
from jarvis_ls.core.store import Appender, line_of, read_records
from jarvis_ls.runtime.base.redaction import Redactor

FILE = "audit.jsonl"
_EARLIER = 3


class Audit:
    """The log of one session."""

    def __init__(self, root: Path, session: str) -> None:
        """Raise `JarvisError` when nothing can be written: no repair is made without a trace."""
        folder = state_folder(root, "tester")
        keep_out_of_git(folder, "*")
        self._path = folder / FILE
        self._session = session
        self._redactor = Redactor.of_environment()
        self._log = Appender(self._path)

    def add(self, event: str, **values: Any) -> None:
        """Add what has happened; what looks like a secret is left out."""
        record = {
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "session_id": self._session,
            "event": event,
            **self._redactor.values(values),
        }
        self._log.append(line_of(record))

    def earlier(self, conversation: str) -> list[str]:
        """Return the last answers to requests of a conversation, each in a line."""
        wanted: set[str] = set()
        found: list[str] = []
        for record in read_records(self._path):
            if not isinstance(record, dict) or record.get("session_id") == self._session:
                continue
            session, data = str(record.get("session_id")), record.get("request")
            if isinstance(data, dict) and data.get("conversation_id") == conversation:
                wanted.add(session)
            answer = record.get("answer")
            if session in wanted and isinstance(answer, dict):
                said = answer.get("diagnosis") or ", ".join(answer.get("repairable_scope") or ())
                found.append(f"{answer.get('status')}: {said}"[:1000])
        return found[-_EARLIER:]

    def close(self) -> None:
        """Close the file."""
        self._log.close()
