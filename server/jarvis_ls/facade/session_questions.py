"""What agents ask the user of a client: consent, a review of changes, a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from jarvis_ls.core.words import Words
from jarvis_ls.facade.session_records import CallShown, Client, Option, Question
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.base.events import AskedTarget, ProposedEdit, ToolEntry
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.interaction import Interaction, Next, Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked, Scope, shown_target

ONCE = Option("call", "allow_once", Words("Allow once"))
LASTING = (
    Option("session", "allow_always", Words("Allow for this session")),
    Option("workspace", "allow_always", Words("Always allow in this workspace")),
)
REFUSE = Option("refuse", "reject_once", Words("Reject"))
UNANSWERED = Words("The editor did not show the question; nothing was allowed.")
_SCOPES: dict[str, Scope] = {"call": "call", "session": "session", "workspace": "workspace"}


class ClientInteraction(Interaction):
    """The user of a client, for one session."""

    def __init__(
        self,
        session: str,
        client: Client,
        show: Callable[[str, ToolEntry], CallShown],
        say: Callable[[str], str],
    ) -> None:
        """`show` gives a call as the client knows it; `say` translates."""
        self._session = session
        self._client = client
        self._show = show
        self._say = say

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        chosen = await self._choose(self._entry(call, asked), node, lasting=asked.lasting)
        if chosen in _SCOPES:
            return Answer(True, _SCOPES[chosen])
        return Answer(False, note="" if chosen else UNANSWERED)

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`; edits are accepted or refused together."""
        here = current_call()
        entry = here.entry if here is not None else ToolEntry(call, "edit", "{}", "asked")
        chosen = await self._choose(replace(entry, edits=tuple(edits)), node, lasting=True)
        if chosen in _SCOPES:
            return replace(Review.all_of(edits), scope=_SCOPES[chosen])
        return Review({}, "" if chosen else UNANSWERED)

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        if not choices:
            return await self._client.write(self._session, self._say(text)) or default
        here = current_call()
        entry = here.entry if here is not None else ToolEntry(new_id(), "ask_user", "{}", "asked")
        options = tuple(
            Option(str(number), "allow_once", self._say(choice))
            for number, choice in enumerate(choices)
        )
        shown = replace(self._show(node, entry), title=self._say(text), state="asked")
        chosen = await self._client.choose(Question(self._session, shown, options))
        return choices[int(chosen)] if chosen in {option.id for option in options} else default

    async def next_action(self, node: str) -> tuple[Next, str]:
        """See `Interaction`: the turn ends, and the next prompt begins another."""
        return "complete", ""

    async def _choose(self, entry: ToolEntry, node: str, *, lasting: bool) -> str:
        options = (ONCE, *(LASTING if lasting else ()), REFUSE)
        spoken = tuple(replace(option, name=self._say(option.name)) for option in options)
        shown = self._show(node, replace(entry, state="asked"))
        chosen = await self._client.choose(Question(self._session, shown, spoken))
        return chosen if chosen in {option.id for option in options} else ""

    @staticmethod
    def _entry(call: str, asked: Asked) -> ToolEntry:
        """Return the call that needs consent, also where none is shown for it."""
        targets = tuple(AskedTarget(a.kind, shown_target(a.target)) for a in asked.actions)
        here = current_call()
        if here is None or here.id != call:
            entry = ToolEntry(call or new_id(), asked.tool, "{}", "asked", script=asked.script)
        else:
            entry = here.entry
        return replace(entry, asked=targets, reason=asked.reason)
