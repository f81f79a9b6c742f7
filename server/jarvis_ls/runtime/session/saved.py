"""One conversation put aside under the agent's, the platform's and the model's name.

The file `saved_session_{agent}_{platform}_{model}.json` is in a folder of the caller's choice
and serves the next run of the same agent with the same model, once: what was restored is deleted.
It is a snapshot; sessions that outlive a kill are `session_store`'s.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, write_error
from jarvis_ls.runtime.base.messages import Message, System, from_json, to_json

MAX_BYTES = 256 << 20
_OPAQUE = ("kind", "encrypted_content", "signature")
"""Names of what no secret can be read from, and what must come back as it was."""
_LONGEST = 70
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Saved:
    """What is put aside."""

    messages: tuple[Message, ...] = ()
    prompt: str = ""
    """What the model is to be told next."""
    addon_prompt: str = ""
    """What is added to that once."""
    length: int = 0
    """Rounds since the history was cleared last."""
    user_data: dict[str, Any] = field(default_factory=dict)
    """JSON values of the user's own."""

    def cleared(self) -> Saved:
        """With the history gone: system prompts and the user's data stay."""
        system = tuple(m for m in self.messages if isinstance(m, System))
        return replace(self, messages=system, prompt="", addon_prompt="", length=0)

    def hidden(self, hide: Callable[[str], str]) -> Saved:
        """With secrets taken out of every text by `hide`."""
        messages = (from_json(_redact(to_json(message), hide)) for message in self.messages)
        return replace(self, messages=tuple(messages), user_data=_redact(self.user_data, hide))


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of restoring."""

    saved: Saved | None = None
    problem: str = ""
    """Why nothing was restored, in words; empty when nothing had been saved."""


class SavedSession:
    """The place where one agent's conversation with one model is put aside."""

    def __init__(self, folder: Path, agent: str, platform: str, model: str) -> None:
        """Names may hold anything; in the file's name they are made plain."""
        self._names = [agent, platform, model]
        name = "_".join(plain(part) for part in self._names)
        self.path = folder / f"saved_session_{name}.json"

    def save(self, saved: Saved) -> None:
        """Put a conversation aside, in place of one that is there.

        Raises `JarvisError` when the disk refuses; what was there stays.
        """
        record = {
            "version": 1,
            "of": self._names,
            "messages": [to_json(message) for message in saved.messages],
            "prompt": saved.prompt,
            "addon_prompt": saved.addon_prompt,
            "length": saved.length,
            "user_data": saved.user_data,
        }
        text = json.dumps(record, ensure_ascii=False, indent=1)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise write_error(self.path.parent, error) from None
        replace_file(self.path, text.encode("utf-8", "backslashreplace"), mode=0o600)

    def restore(self) -> Restored:
        """Take the conversation back; the file is deleted then. It raises nothing: one that is
        missing or cannot be read is no reason not to begin. What cannot be read is kept."""
        if not self.path.exists():
            return Restored()
        try:
            record = json.loads(read_regular(self.path, limit=MAX_BYTES))
            saved = _read(record)
            if (of := record.get("of")) != self._names:
                raise ValueError(f"it is of {of}, whose names are written alike")
        except (SkippedFile, ValueError, RecursionError) as error:
            return Restored(problem=f"{self.path} cannot be restored: {error}.")
        try:
            self.path.unlink()
        except OSError as error:
            words = f"{self.path} was restored but cannot be deleted: {error.strerror}."
            return Restored(saved, words)
        return Restored(saved)

    def delete(self) -> None:
        """Forget what was put aside, if anything. Raises `JarvisError` when the disk refuses."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise JarvisError(
                "cannot delete {path}: {why}", path=self.path, why=error.strerror
            ) from None


def plain(name: str) -> str:
    """Return a name as part of a file's name; of a long one its beginning, and a sum of all of
    it.
    """
    made = _UNSAFE.sub("_", name).strip("._") or "none"
    if len(made.encode()) <= _LONGEST:
        return made
    begun = made.encode()[: _LONGEST - 9].decode("utf-8", "ignore")
    return f"{begun}-{zlib.crc32(name.encode('utf-8', 'replace')):08x}"


def _redact(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {k: v if k in _OPAQUE else _redact(v, hide) for k, v in value.items()}
    return [_redact(part, hide) for part in value] if isinstance(value, (list, tuple)) else value


def _read(record: Any) -> Saved:
    try:
        data = record["user_data"]
        if not isinstance(data, dict):
            raise ValueError("user_data is not a table")
        return Saved(
            tuple(from_json(message) for message in record["messages"]),
            str(record["prompt"]),
            str(record["addon_prompt"]),
            int(record["length"]),
            data,
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"it lacks or garbles {error}") from error
