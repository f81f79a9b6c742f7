"""Commands of the terminal that the panel has as buttons: going back, forking, budgets, pausing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, get_args

from jarvis_ls.agents.budget import amount_in_words, spent_in_words
from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.rewind import RewindWhat
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.user_input import Command, InputContext
from jarvis_ls.runtime.base.events import Budget, EntryPut, MeterPut, UserEntry
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.tools.permissions import shown

if TYPE_CHECKING:
    from jarvis_ls.assembly.conversation import Conversation

LISTED = 10
"""Turns that `/rewind` lists."""
SHOWN = 70
"""Characters of what was said that are listed."""


class Steering:
    """Offers the commands, and keeps what the next line begins with."""

    def __init__(self, conversation: Callable[[], Conversation]) -> None:
        self._conversation = conversation
        self.draft = ""
        """What had been said where was gone back to, to be changed and sent again."""
        self.session = ""
        """The session to go over to."""

    def commands(self) -> Iterator[Command]:
        """For a conversation at a terminal."""
        yield Command(
            "rewind",
            Words("Rewind to before a turn: files, conversation, or both"),
            self._rewind,
            "[N] [files|conversation]",
        )
        yield Command(
            "fork",
            Words("Continue in a new session, with the conversation before a turn or all of it"),
            self._fork,
            "[N]",
        )
        yield Command(
            "budget",
            Words("Set how much may be spent before you are asked"),
            self._budget,
            "[N tokens] [X cost] | none",
        )
        yield Command("pause", Words("Pause the agents before their next step"), self._pause)
        yield Command("resume", Words("Resume the agents"), self._resume)
        yield Command(
            "redirect",
            Words("Stop the current step and do this instead"),
            self._redirect,
            "<words>",
        )

    async def _rewind(self, rest: str, _: InputContext) -> str:
        turns = self._turns()
        if not rest:
            return self._list(turns)
        number, _space, wanted = rest.partition(" ")
        turn = _turn(turns, number)
        what = wanted.strip() or ("both" if turn.checkpoint else "conversation")
        if what not in get_args(RewindWhat):
            raise UsageError("Write files, conversation or both after the number.")
        done = await self._conversation().rewind(turn.id, what)  # type: ignore[arg-type]
        self.draft = done.text if what != "files" else ""
        files = done.files
        if files is None:
            return Words("Conversation rewound to before: {text}", text=_line(turn))
        back = Words(
            "Files restored: {n}; removed: {removed}.",
            n=len(files.written),
            removed=len(files.removed),
        )
        kept = [
            Words("{path} was not restored: {why}", path=path, why=why)
            for path, why in files.kept.items()
        ]
        return together([back, *kept], "\n")

    async def _fork(self, rest: str, _: InputContext) -> str:
        entry = _turn(self._turns(), rest).id if rest else ""
        self.session = await self._conversation().fork(entry)
        return Words("Continuing in the new session {id}.", id=self.session)

    async def _budget(self, rest: str, _: InputContext) -> str:
        tree = self._conversation().tree
        if rest:
            tree.set_budget(ROOT, read_budget(rest))
        return spent_in_words(tree.root)

    def _pause(self, _rest: str, _: InputContext) -> str:
        if not self._conversation().pause():
            return Words("Nothing is running.")
        return Words("Paused; /resume continues.")

    def _resume(self, _rest: str, _: InputContext) -> str:
        if not self._conversation().resume():
            return Words("Nothing is paused.")
        return Words("Resumed.")

    def _redirect(self, rest: str, _: InputContext) -> str:
        if not rest:
            raise UsageError("Write what to do instead: `/redirect Only look at src`")
        self._conversation().redirect(rest)
        return ""

    def _turns(self) -> list[UserEntry]:
        """Return what the user said to the agent, the latest first."""
        session = self._conversation().session
        said = {getattr(message, "id", "") for message in session.transcript(ROOT)}
        shown_ = (e.entry for e in session.events() if isinstance(e, EntryPut) and e.node == ROOT)
        return [e for e in shown_ if isinstance(e, UserEntry) and e.id in said][::-1]

    def _list(self, turns: list[UserEntry]) -> str:
        if not turns:
            return Words("No messages yet.")
        lines = [f"{number}. {_line(turn)}" for number, turn in enumerate(turns[:LISTED], 1)]
        how = Words("`/rewind N` rewinds to before turn N, `/rewind N files` only the files.")
        return together([*lines, how], "\n")


def read_budget(text: str) -> Budget:
    """Return a budget as it is typed: `200000`, `200000 tokens`, `2.5 cost`, both, or `none`.

    Raises `UsageError`.
    """
    if text.strip().lower() == "none":
        return Budget()
    words = text.replace(",", "").split()
    tokens: int | None = None
    cost: float | None = None
    try:
        while words:
            value, unit = words.pop(0), words.pop(0) if words else "tokens"
            if unit == "tokens" and tokens is None:
                tokens = int(value)
            elif unit == "cost" and cost is None:
                cost = float(value)
            else:
                raise ValueError(unit)
    except ValueError:
        raise UsageError("A budget is `200000 tokens`, `2.5 cost`, both, or `none`.") from None
    return Budget(tokens, cost)


def turn_in_words(conversation: Conversation, before: Usage) -> str:
    """Return what a turn used, what the session used so far, and how full the context is."""
    root = conversation.tree.root
    all_ = root.info.subtree
    parts: list[str] = [
        Words("{n} tokens in", n=f"{all_.input - before.input:,}"),
        Words("{n} out", n=f"{all_.output - before.output:,}"),
    ]
    if all_.cost:
        parts.append(amount_in_words(Budget(cost=all_.cost - before.cost)))
    parts.append(
        Words(
            "session: {amount}",
            amount=amount_in_words(Budget(all_.input + all_.output, all_.cost or None)),
        )
    )
    events = conversation.feed.snapshot(conversation.id)
    meter = next((e.meter for e in events if isinstance(e, MeterPut) and e.node == ROOT), None)
    if meter is not None and meter.window:
        percent = round(100 * sum(meter.parts.values()) / meter.window)
        parts.append(Words("context {percent} %", percent=percent))
    return together(parts, " · ")


def _turn(turns: list[UserEntry], number: str) -> UserEntry:
    if number.isdecimal() and 1 <= int(number) <= len(turns):
        return turns[int(number) - 1]
    raise UsageError("There is no turn {number}; `/rewind` lists them.", number=shown(number))


def _line(turn: UserEntry) -> str:
    line = shown(" ".join(turn.text.split()))
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
