"""What one agent shows of its work, and what of it is kept in the session's journal.

Everything goes to the feed as it happens; the journal gets an entry once it is settled.
"""

from __future__ import annotations

import json
import secrets
import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    Entry,
    EntryGrew,
    EntryPut,
    Event,
    Feed,
    Grown,
    Level,
    Meter,
    MeterPut,
    ModelWrong,
    NodeInfo,
    NodePut,
    NoticeEntry,
    ToolEntry,
    UserEntry,
)
from jarvis_ls.runtime.base.messages import Assistant, Image, ToolCall, Usage
from jarvis_ls.runtime.llm.failure_advice import wrong_of
from jarvis_ls.runtime.tools.current_call import RunningCall
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import cap

if TYPE_CHECKING:
    from jarvis_ls.runtime.session.session import Session

ARGUMENTS_SHOWN = 20_000
"""Characters of a call's arguments that are shown."""
_LETTERS = string.ascii_letters + string.digits


def new_id() -> str:
    """Return an id that is unique in a session: nine letters and digits, as every provider takes
    it.
    """
    return "".join(secrets.choice(_LETTERS) for _ in range(9))


Say = Callable[[str], str]
"""`Words` (or a template without places) in the user's language."""


class NodeKeeper(ABC):
    """Who keeps an agent's node in its place and counts what it spends: the tree it belongs to."""

    @abstractmethod
    def shown(self, node: NodeInfo) -> None:
        """Update the node with the state that its agent reports."""


class Showing:
    """What is seen of one agent."""

    def __init__(
        self,
        session: Session,
        feed: Feed,
        node: NodeInfo,
        keeper: NodeKeeper | None = None,
        say: Say | None = None,
    ) -> None:
        """Without `keeper` the agent is alone, and its node is kept here; `say` puts what the
        runtime says into the user's language."""
        self.say = say or str
        self.session = session
        self._keeper = keeper
        self.node = node
        """As it is shown now."""
        self._feed = feed

    def start(self) -> None:
        """Show the node."""
        self.update()

    def update(self, **changes: Any) -> None:
        """Change the node, show and keep it."""
        if changes.get("error"):
            changes["error"] = self.say(changes["error"])
        self.node = replace(self.node, **changes)
        if self._keeper is not None:
            self._keeper.shown(self.node)
            return
        event = NodePut(self.session.id, self.node)
        self._feed.publish(event)
        self.session.put(event)

    def spent(self, usage: Usage) -> None:
        """Add to what the node of an agent that is alone used."""
        if usage != Usage():
            self.session.spend(self.node.id, usage, self.node.title)
            self.update(usage=self.node.usage + usage, subtree=self.node.subtree + usage)

    def put(self, entry: Entry, *, settled: bool = True) -> None:
        """Show an entry, and keep it when nothing of it will change soon."""
        event = EntryPut(self.session.id, self.node.id, entry)
        self._feed.publish(event)
        if settled:
            self.session.put(event)

    def publish(self, event: Event) -> None:
        """Show something that is not kept."""
        self._feed.publish(event)

    def user(
        self,
        id: str,
        text: str,
        images: Sequence[Image] = (),
        *,
        queued: bool = False,
        checkpoint: str = "",
    ) -> None:
        """Show what the user said."""
        entry = UserEntry(id, text, tuple(images), queued, checkpoint)
        self.put(entry, settled=not queued)

    def notice(
        self, level: Level, text: str, id: str = "", *, kept: bool = True, **values: object
    ) -> str:
        """Show something the runtime says: a template and what its places hold. `id` replaces an
        earlier notice. Gives its id."""
        id = id or new_id()
        self.put(NoticeEntry(id, level, self.say(Words(text, **values))), settled=kept)
        return id

    def fault(self, text: str, error: JarvisError | None) -> None:
        """Show why a turn failed, and of a model that did not answer what is wrong with it."""
        wrong: ModelWrong = ""
        provider = ""
        if isinstance(error, ModelError):
            wrong, provider = wrong_of(error), error.provider
        self.put(NoticeEntry(new_id(), "error", self.say(text), wrong, provider), settled=True)

    def doing(self, text: str, **values: object) -> None:
        """Show what the agent does right now, in a few words: a template and its places."""
        self.update(activity=self.say(Words(text, **values)))

    def meter(self, window: int, parts: Mapping[str, int]) -> None:
        """Show how full the context is."""
        event = MeterPut(self.session.id, self.node.id, Meter(window, dict(parts)))
        self._feed.publish(event)
        self.session.put(event)

    def answer(self, *, until: Sequence[str] = ()) -> AnswerStream:
        """Return a new answer, streamed; its text is shown up to the first of the marks `until`."""
        return AnswerStream(self, until)

    def call(self, call: ToolCall) -> RunningCall:
        """Return a tool call that begins."""
        arguments = call.raw
        if arguments is None:
            arguments = json.dumps(call.arguments, ensure_ascii=False, indent=2)
        entry = ToolEntry(call.id, call.name, cap(shown(arguments), ARGUMENTS_SHOWN), "running")
        self.put(entry)
        return RunningCall(self.session.id, self.node.id, entry, self._feed.publish, self.say)

    def ended(self, running: RunningCall, **changes: Any) -> None:
        """Show and keep the outcome of a tool call."""
        running.entry = replace(running.entry, **running.in_words(changes))
        self.put(running.entry)


class AnswerStream:
    """One answer while it comes in. What is shown of it only ever grows into what is shown in the
    end: blank space around it, and what may be the beginning of a mark, waits."""

    def __init__(self, showing: Showing, until: Sequence[str]) -> None:
        self._showing = showing
        self._until = until
        self._kept = self._kept_thinking = ""  # of earlier questions this answer continues from
        self._text = self._thinking = ""
        self._shown = 0
        self._begun = False
        self.entry = AnswerEntry(new_id(), streaming=True)

    @property
    def text(self) -> str:
        """The text received so far."""
        return self._text

    def begin(self, model: str) -> None:
        """Begin a request; text streamed by an earlier attempt is discarded."""
        stale = self._begun and (self._text, self._thinking) != (self._kept, self._kept_thinking)
        self._text, self._thinking = self._kept, self._kept_thinking
        self._shown = min(self._shown, len(self._text))
        self.entry = replace(
            self.entry, model=model, text=self._shown_text, thinking=self._thinking
        )
        if stale:
            self._showing.put(self.entry, settled=False)

    def continue_from(self, answer: Assistant) -> None:
        """Continue the next request from where `answer` ended."""
        self._kept, self._kept_thinking = answer.text, answer.thinking

    def grow_text(self, text: str) -> None:
        """More text came."""
        self._show()
        self._text += text
        end = len(self._text)
        recent = self._shown  # what is shown holds no mark, nor the beginning of one
        for mark in self._until:
            place = self._text.find(mark, recent)
            known = place if place >= 0 else len(self._text) - _overlap(self._text, mark)
            end = min(end, known)
        before, self._shown = self._shown_text, max(self._shown, _without_blanks(self._text, end))
        if fresh := self._shown_text[len(before) :]:
            self._grow("text", len(before), fresh)

    def grow_thinking(self, text: str) -> None:
        """More reasoning came."""
        self._show()
        self._grow("thinking", len(self._thinking), text)
        self._thinking += text

    def settle(self, answer: Assistant, text: str) -> None:
        """Complete the answer; `text` is the part of it that is shown."""
        self.entry = replace(
            self.entry,
            text=text,
            thinking=answer.thinking,
            streaming=False,
            model=answer.model or self.entry.model,
            usage=answer.usage,
        )
        if text or answer.thinking or self._begun:
            self._begun = True
            self._showing.put(self.entry)

    def abandon(self) -> None:
        """No more comes: the request failed or was ended. What was shown stays."""
        if self._begun and self.entry.streaming:
            self.entry = replace(
                self.entry, text=self._shown_text, thinking=self._thinking, streaming=False
            )
            self._showing.put(self.entry)

    @property
    def _shown_text(self) -> str:
        return self._text[: self._shown].lstrip()

    def _show(self) -> None:
        if not self._begun:
            self._begun = True
            self._showing.put(self.entry, settled=False)

    def _grow(self, part: Grown, at: int, text: str) -> None:
        showing = self._showing
        event = EntryGrew(showing.session.id, showing.node.id, self.entry.id, part, at, text)
        showing.publish(event)


def _without_blanks(text: str, end: int) -> int:
    """Return where `text[:end]` ends without trailing blanks."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _overlap(text: str, mark: str) -> int:
    """Return how many characters at the end of `text` may begin `mark`."""
    longest = min(len(text), len(mark) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(mark[:n])), 0)
