"""The tool call that runs right now, for anyone who is asked or shown something about it.

A tool, the gate and the review of edits know through `current_call()` which agent and which
`ToolEntry` they belong to, and may show what they are doing there. Calls that run at the same
time each see their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from time import monotonic
from typing import Any

from jarvis_ls.runtime.base.events import EntryGrew, EntryPut, Event, ToolEntry


class RunningCall:
    """One tool call, as it is shown."""

    def __init__(
        self,
        session: str,
        node: str,
        entry: ToolEntry,
        publish: Callable[[Event], None],
        say: Callable[[str], str] = str,
    ) -> None:
        """`say` puts what the runtime says of the call into the user's language."""
        self.session = session
        self.node = node
        """Id of the agent that calls."""
        self.entry = entry
        """As it is shown now; its id is that of the `ToolCall`."""
        self.need_return = False
        """Set by a tool after whose result the agent must hand back to its caller at once."""
        self.failed = False
        """Set by a tool that did its work, when what it ran did not succeed."""
        self.outlives = False
        """Set by a tool that works on after its call: it shows the end itself."""
        self.abandoned = False
        """The turn ended without waiting for it: nothing of it is shown any more."""
        self._publish = publish
        self._say = say
        self._began = monotonic()
        self._asked: float | None = None
        self._waited = 0.0

    @property
    def worked(self) -> float:
        """Seconds it took until now; the user's time to answer is not its own."""
        now = monotonic()
        waits = 0.0 if self._asked is None else now - self._asked
        return now - self._began - self._waited - waits

    @property
    def id(self) -> str:
        """Id of the entry, of the `ToolCall` and of its `ToolResult`."""
        return self.entry.id

    def show(self, **changes: Any) -> None:
        """Change the entry: `state`, `asked`, `reason`, `edits`, `isolation`, `child`, …"""
        if self.abandoned:
            return
        self.entry = replace(self.entry, **self.in_words(changes))
        self._note_waiting()
        self._publish(EntryPut(self.session, self.node, self.entry))

    def _note_waiting(self) -> None:
        asks = self.entry.state == "asked"
        if asks and self._asked is None:
            self._asked = monotonic()
        elif not asks and self._asked is not None:
            self._waited += monotonic() - self._asked
            self._asked = None

    def in_words(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Return changes of the entry as the user reads them."""
        texts = {name: changes[name] for name in ("reason", "output") if changes.get(name)}
        return {**changes, **{name: self._say(text) for name, text in texts.items()}}

    def grow(self, text: str) -> None:
        """Show more output while the tool runs."""
        if self.abandoned:
            return
        at = len(self.entry.output)
        self.entry = replace(self.entry, output=self.entry.output + text)
        self._publish(EntryGrew(self.session, self.node, self.entry.id, "output", at, text))

    def abandon(self) -> None:
        """Show nothing of it any more."""
        self.abandoned = True


_CURRENT: ContextVar[RunningCall | None] = ContextVar("jarvis_current_call", default=None)


def current_call() -> RunningCall | None:
    """Return the call this code runs for; None outside of one."""
    return _CURRENT.get()


@contextmanager
def running(call: RunningCall) -> Iterator[RunningCall]:
    """Make `call` the current one of this task and of those it starts."""
    token = _CURRENT.set(call)
    try:
        yield call
    finally:
        _CURRENT.reset(token)
