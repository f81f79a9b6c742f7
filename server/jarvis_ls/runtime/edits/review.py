"""The user examines proposals before they are written: whole, by hunk, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import Hunk, ProposedEdit
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.edits.proposals import AfterEdit, Desk, summary
from jarvis_ls.runtime.edits.text_change import Change, apply_hunks
from jarvis_ls.runtime.edits.text_file import Seen
from jarvis_ls.runtime.edits.writer import bytes_of, write
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.interaction import Interaction, Review
from jarvis_ls.runtime.tools.permissions import (
    Answer,
    Asked,
    Decision,
    Permissions,
    Scope,
    inside,
    placed,
    protected_name,
    shown,
)
from jarvis_ls.runtime.tools.tool import Action, Tool, ToolContext, Toolset, Wrapper, actions_of


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """What became of a proposal."""

    changes: tuple[Change, ...]
    """What was written, with the text each file now has."""
    said: str
    """What to tell the model."""


class Reviewed(Wrapper):
    """A toolset whose file changes are shown before they are written."""

    def __init__(
        self,
        wrapped: Toolset,
        interaction: Interaction,
        permissions: Permissions | None = None,
        *,
        accept: Callable[[], bool] | None = None,
    ) -> None:
        """With `permissions`, showing the diff is how consent to writing is asked: a rule that
        allows writing spares it, one that forbids it refuses, and a gate around this toolset no
        longer asks for files that will be shown. Without, every proposal is shown. While
        `accept` says true, proposals are written without being shown (a mode of the user's);
        where a rule says to ask, and for files that other programs act on, it changes nothing.
        """
        super().__init__(wrapped)
        self._interaction = interaction
        self._permissions = permissions
        self._accept = accept
        self._seen = Seen()

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        tools = self.wrapped.tools()
        if self._permissions is None:
            return tools
        return {n: _without_writes(t) if t.proposes else t for n, t in tools.items()}

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        known = self.wrapped.tools().get(call.name)
        services: dict[str, Any] = {"seen": self._seen, **context.services}
        if self._permissions is not None:
            services["permissions"] = self._permissions
        desk = Desk()
        if known is None or not known.proposes:
            return await self.wrapped.run(call, replace(context, services=services))
        try:
            declared = _on_written(actions_of(known, call) or ())
            decision = await self._decide(call, declared, context)
        except ToolRetry as error:
            return _deny(call, str(error))
        inner = replace(context, services={**services, "proposals": desk})
        result = await self.wrapped.run(call, inner)
        if result.is_error or not desk.changes:
            return result
        try:
            _check_declared(desk.changes, declared, context)
            written = await self._settle(call, desk.changes, decision, context)
        except Refused as refused:
            return _deny(call, str(refused))
        except JarvisError as error:
            text = Words("Nothing was written. {why}", why=error)
            return ToolResult(call.id, call.name, text, is_error=True)
        for change in written.changes:
            if change in desk.changes:  # taken in part it is not what the agent has in mind
                self._note(change, context)
        after: AfterEdit | None = context.services.get("after_edit")
        checked = await after(written.changes, context) if after is not None else ""
        parts = [result.text, summary(written.changes), written.said, checked]
        return replace(result, text=together([part for part in parts if part], "\n"))

    async def _decide(
        self, call: ToolCall, actions: list[Action], context: ToolContext
    ) -> Decision:
        """Return the decision of the rules on writing these files, after that on reading them.

        Raise `ToolRetry` when it is refused already.
        """
        if self._permissions is None:
            return Decision("ask")
        decision = self._permissions.decide(call.name, actions, context)
        if decision.effect == "deny":
            raise ToolRetry(decision.reason)
        special = [a for a in decision.actions if a.kind == "read" or _is_special(a, context)]
        if decision.effect == "ask" and special:
            lasting = self._permissions.keeps(call.name, special, context)
            asked = Asked(call.name, tuple(special), decision.reason, call.arguments, lasting)
            answer = await self._permit(call, asked, context)
            if not answer.allowed:
                raise ToolRetry(answer.note or Words("The user did not allow it."))
            self._permissions.grant(call.name, special, answer.scope, context)
        return decision

    async def _permit(self, call: ToolCall, asked: Asked, context: ToolContext) -> Answer:
        here = current_call()
        if here is not None:
            here.show(state="asked", reason=asked.reason, lasting=asked.lasting)
        answer = await self._interaction.permit(context.node, call.id, asked)
        if here is not None and answer.allowed:
            here.show(state="running", reason="")
        return answer

    async def _settle(
        self, call: ToolCall, changes: list[Change], decision: Decision, context: ToolContext
    ) -> ReviewOutcome:
        """Show, take what was accepted, write it. Raises `Refused` when that is nothing."""
        edits = [change.edit() for change in changes]
        here = current_call()
        automatic = decision.effect == "allow" or (
            not decision.reason and self._accept is not None and self._accept()
        )
        if here is not None:
            here.show(edits=tuple(edits))
        reviews = {
            edit.root: Review.all_of([e for e in edits if e.root == edit.root]) for edit in edits
        }
        if not automatic:
            if here is not None:
                here.show(state="asked")
            reviews = await self._review(call, edits, context)
            if here is not None:
                here.show(state="running", reason="")
        review = _join(reviews)
        taken = _take(changes, edits, reviews)
        if not taken:
            raise Refused(review.note or "The user refused the change.")
        await write(taken, context)
        if here is not None:
            here.show(edits=tuple(change.edit() for change in taken))
        if not automatic and self._permissions is not None and review.scope != "call":
            accepted = [Action("write", str(change.place.real)) for change in taken]
            self._permissions.grant(call.name, accepted, review.scope, context)
        return ReviewOutcome(tuple(taken), _report(changes, edits, reviews, taken, automatic))

    async def _review(
        self, call: ToolCall, edits: list[ProposedEdit], context: ToolContext
    ) -> dict[int, Review]:
        """Ask the user and return the reviews by workspace folder, as paths repeat over folders."""
        reviews: dict[int, Review] = {}
        for root in dict.fromkeys(edit.root for edit in edits):
            those = [edit for edit in edits if edit.root == root]
            reviews[root] = await self._interaction.review(context.node, call.id, those)
        return reviews

    def _note(self, change: Change, context: ToolContext) -> None:
        if change.after is not None:
            seen: Seen = context.services.get("seen", self._seen)
            seen.note_written(context.node, change.place, bytes_of(change))


class Refused(JarvisError):
    """The user wants none of it; the text is what to tell the model."""


def _take(
    changes: Sequence[Change], edits: Sequence[ProposedEdit], reviews: Mapping[int, Review]
) -> list[Change]:
    """Return the changes with the texts that follow from what was accepted."""
    taken: list[Change] = []
    for change, edit in zip(changes, edits, strict=True):
        accepted = reviews[edit.root].accepted.get(edit.path)
        if accepted is None:
            continue
        chosen = [i for i in accepted if 0 <= i < len(edit.hunks)]
        if edit.hunks and not chosen:
            continue
        if edit.change != "modify" or len(set(chosen)) == len(edit.hunks):
            taken.append(change)
        else:
            taken.append(replace(change, after=apply_hunks(change.old_text, edit.hunks, chosen)))
    places = {change.place for change in taken}
    return [change for change in taken if change.needs is None or change.needs in places]


def _join(reviews: Mapping[int, Review]) -> Review:
    """One note and one scope for what was said to several folders; the narrower scope counts."""
    said = list(reviews.values())
    note = " ".join(dict.fromkeys(review.note for review in said if review.note))
    scopes: tuple[Scope, ...] = ("call", "session", "workspace", "user")
    return Review({}, note, min((review.scope for review in said), key=scopes.index))


def _report(
    changes: Sequence[Change],
    edits: Sequence[ProposedEdit],
    reviews: Mapping[int, Review],
    taken: Sequence[Change],
    automatic: bool,
) -> str:
    """Return which of the model's changes are in the files now, for the model."""
    if automatic:
        return ""
    lines: list[str] = []
    written = {change.place for change in taken}
    for change, edit in zip(changes, edits, strict=True):
        name = shown(change.place.name)
        chosen = set(reviews[edit.root].accepted.get(edit.path, ()))
        if change.place not in written:
            lines.append(
                Words("{name}: the user refused the change; the file is as it was.", name=name)
            )
        elif edit.change == "modify" and len(chosen) < len(edit.hunks):
            yes = [_where(hunk) for hunk in edit.hunks if hunk.index in chosen]
            no = [_where(hunk) for hunk in edit.hunks if hunk.index not in chosen]
            lines.append(
                Words(
                    "{name}: the user accepted the change at {yes} and refused that at {no} "
                    "(lines of the file before). Only what was accepted was written.",
                    name=name,
                    yes=together(yes, ", "),
                    no=together(no, ", "),
                )
            )
    if lines and written:
        lines.append(Words("Read the file again before you change it further."))
    elif not lines:
        lines.append(Words("The user accepted the change."))
    if note := _join(reviews).note:
        lines.append(Words("The user says: {note}", note=note))
    return together(lines, "\n")


def _where(hunk: Hunk) -> str:
    if not hunk.old_lines:
        return Words("line {line} (inserted before)", line=hunk.old_start)
    last = hunk.old_start + len(hunk.old_lines) - 1
    if last == hunk.old_start:
        return Words("line {line}", line=last)
    return Words("lines {first}-{last}", first=hunk.old_start, last=last)


def _check_declared(
    changes: Sequence[Change], declared: Sequence[Action], context: ToolContext
) -> None:
    """Check that the changes to write are those that were declared, and so judged."""
    writes = (action.target for action in declared if action.kind == "write")
    known = {inside(target, context.roots) for target in writes}
    for change in changes:
        if change.place.real not in known:
            raise ToolRetry(
                "The tool did not declare that it would write {name}.", name=change.place.name
            )


def _is_special(action: Action, context: ToolContext) -> bool:
    """Return whether consent must be asked in words before the diff is shown."""
    found = placed(action.target, context.roots)
    return (
        found is None
        or shown(action.target) != action.target
        or (protected_name(found[1]) is not None)
    )


def _without_writes(known: Tool) -> Tool:
    """Return the tool as the gate around us sees it: files it writes are judged here."""

    def actions(arguments: dict[str, Any]) -> list[Action]:
        found = known.actions(arguments)
        here = _on_written(found)
        return [action for action in found if action not in here]

    return replace(known, actions=actions)


def _on_written(actions: Iterable[Action]) -> list[Action]:
    """Return the actions for writing the files."""
    found = list(actions)
    written = {action.target for action in found if action.kind == "write"}
    return [a for a in found if a.kind in ("read", "write") and a.target in written]


def _deny(call: ToolCall, reason: str) -> ToolResult:
    if (here := current_call()) is not None:
        here.show(state="denied", reason=mapped(reason, shown), asked=())
    text = Words("Not written; the files are unchanged.")
    if reason:
        text = together([text, mapped(reason, shown)], " ")
    return ToolResult(call.id, call.name, text, is_error=True)
