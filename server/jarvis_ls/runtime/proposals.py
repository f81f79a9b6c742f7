"""File changes are proposals: computed by a tool, shown as a diff, written whole or by hunk.

A tool says with `propose` what files should become. `Reviewed`, a toolset around the tools,
shows that to the user unless a rule has allowed it, writes what was accepted, all of it or
none, and tells the model which of its changes are now in the file. A file that changed in the
meantime is not overwritten.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.diff import blocks, joined
from jarvis_ls.core.beneath import (
    read_beneath,
    remove_beneath,
    remove_folders,
    replace_beneath,
)
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.errors import ToolRetry
from jarvis_ls.runtime.events import Hunk, ProposedEdit
from jarvis_ls.runtime.interaction import Interaction, Review
from jarvis_ls.runtime.messages import ToolCall, ToolResult
from jarvis_ls.runtime.permissions import (
    Answer,
    Asked,
    Decision,
    Permissions,
    Scope,
    inside,
    protected_name,
    shown,
)
from jarvis_ls.runtime.running import current_call
from jarvis_ls.runtime.textfile import (
    MAX_BYTES,
    Buffers,
    Place,
    Seen,
    TextFile,
    lines_of,
    new_file,
    place_of,
    with_newlines,
)
from jarvis_ls.runtime.tool import Action, Tool, ToolContext, Toolset, Wrapper, actions_of

CONTEXT_LINES = 3
"""Unchanged lines shown around a hunk."""
NEAR = 2
"""Changes with at most so many unchanged lines between them are one hunk."""

_MOST_LINES = 60
"""Lines of a change that a model is shown again after it was written."""

Applied = Callable[[Path, "str | None", "str | None"], "Awaitable[bool] | bool"]
"""The user's editor (`services["applied"]`): asked with a file's path, its text before and
after (None: no file) before it is written; true when the editor made the change itself."""

_WRITING = threading.Lock()
"""Between looking whether a file is still the same and replacing it, nobody else of us writes."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it is and as it should be."""

    place: Place
    before: TextFile | None
    """None: there is no such file yet."""
    after: str | None
    """None: it should go."""
    needs: Place | None = None
    """Another file of the same proposal without whose change this one is not made: the new
    place of a file that moves."""
    like: TextFile | None = None
    """The file whose encoding, line ends and mode a new one takes."""

    @property
    def old_text(self) -> str:
        """Text before, empty without a file."""
        return self.before.text if self.before is not None else ""

    def edit(self) -> ProposedEdit:
        """As it is shown."""
        path, root = self.place.path, self.place.number
        if self.before is None:
            new = tuple((self.after or "").removesuffix("\n").split("\n")) if self.after else ()
            return ProposedEdit(path, "create", (Hunk(0, 1, (), 1, new),) if new else (), root)
        if self.after is None:
            old = tuple(self.before.lines)
            return ProposedEdit(path, "delete", (Hunk(0, 1, old, 1, ()),) if old else (), root)
        return ProposedEdit(path, "modify", hunks_of(self.before.text, self.after), root)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a proposal."""

    changes: tuple[Change, ...]
    """What was written, with the text each file now has."""
    said: str
    """What to tell the model."""


def hunks_of(old: str, new: str) -> tuple[Hunk, ...]:
    """The places where two texts differ.

    Lines are what stands between newlines, so that a last newline is an empty line at the end.
    """
    before, after = old.split("\n"), new.split("\n")
    return tuple(
        Hunk(
            index,
            a + 1,
            tuple(before[a:b]),
            c + 1,
            tuple(after[c:d]),
            tuple(before[max(0, a - CONTEXT_LINES) : a]),
            tuple(before[b : b + CONTEXT_LINES]),
        )
        for index, (a, b, c, d) in enumerate(joined(blocks(before, after), NEAR))
    )


def apply_hunks(old: str, hunks: Iterable[Hunk], chosen: Iterable[int]) -> str:
    """`old` with only the chosen hunks. Raises `ToolRetry` when a hunk does not fit it."""
    wanted = set(chosen)
    lines = old.split("\n")
    parts: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda h: h.index):
        if hunk.index not in wanted:
            continue
        start = hunk.old_start - 1
        end = start + len(hunk.old_lines)
        if start < at or tuple(lines[start:end]) != hunk.old_lines:
            raise ToolRetry(
                "The change at line {old_start} does not fit the text.", old_start=hunk.old_start
            )
        parts += [*lines[at:start], *hunk.new_lines]
        at = end
    return "\n".join([*parts, *lines[at:]])


def rename(file: TextFile, to: Place, after: str | None = None) -> list[Change]:
    """The two changes that move a file: made both or not at all."""
    text = file.text if after is None else after
    return [Change(to, None, text, like=file), Change(file.place, file, None, needs=to)]


async def propose(context: ToolContext, changes: Sequence[Change], said: str) -> str:
    """Say what files should become; the result is what the model is told: `said`, and what was
    written. Without `Reviewed` around the tool that is done at once.
    """
    changes = [
        replace(c, after=with_newlines(c.after)) if c.after is not None else c for c in changes
    ]
    changes = [c for c in changes if c.before is None or c.after != c.before.text]
    desk: Desk | None = context.services.get("proposals")
    if desk is not None:
        desk.add(changes)
        return said
    if changes:
        await write(changes, context)
    return together([part for part in (said, summary(changes)) if part], "\n")


def summary(changes: Iterable[Change]) -> str:
    """What became of files, for a model: what lines went and what lines came."""
    parts: list[str] = []
    for change in changes:
        name, edit = shown(change.place.name), change.edit()
        if edit.change == "create":
            count = len(lines_of(change.after or ""))
            parts.append(Words("{name}: created, {count} lines", name=name, count=count))
        elif edit.change == "delete":
            parts.append(Words("{name}: deleted", name=name))
        else:
            parts += [Words("{name}: changed", name=name), _shortened(edit.hunks)]
    return together(parts, "\n")


def _shortened(hunks: Sequence[Hunk]) -> str:
    lines = []
    for hunk in hunks:
        lines.append(
            f"@@ -{hunk.old_start},{len(hunk.old_lines)} +{hunk.new_start},{len(hunk.new_lines)} @@"
        )
        lines += [f"-{line}" for line in hunk.old_lines]
        lines += [f"+{line}" for line in hunk.new_lines]
    if len(lines) > _MOST_LINES:
        more = len(lines) - _MOST_LINES
        left = Words("… {count} more lines of this change", count=more)
        return together(["\n".join(lines[:_MOST_LINES]), left], "\n")
    return "\n".join(lines)


class Desk:
    """Where one tool call lays its proposal."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def add(self, changes: Iterable[Change]) -> None:
        """Raises `ValueError` when a file is proposed twice."""
        for change in changes:
            if any(known.place.real == change.place.real for known in self.changes):
                raise ValueError(f"{change.place.name} is proposed twice")
            self.changes.append(change)


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
            decision = await self._allowed(call, declared, context)
        except ToolRetry as error:
            return _denied(call, str(error))
        inner = replace(context, services={**services, "proposals": desk})
        result = await self.wrapped.run(call, inner)
        if result.is_error or not desk.changes:
            return result
        try:
            _check_declared(desk.changes, declared, context)
            written = await self._settled(call, desk.changes, decision, context)
        except Refused as refused:
            return _denied(call, str(refused))
        except JarvisError as error:
            text = Words("Nothing was written. {why}", why=error)
            return ToolResult(call.id, call.name, text, is_error=True)
        for change in written.changes:
            if change in desk.changes:  # taken in part it is not what the agent has in mind
                self._note(change, context)
        parts = [result.text, summary(written.changes), written.said]
        return replace(result, text=together([part for part in parts if part], "\n"))

    async def _allowed(
        self, call: ToolCall, actions: list[Action], context: ToolContext
    ) -> Decision:
        """What the rules say of writing these files, and of reading them, which comes first.
        Raises `ToolRetry` when it is refused already."""
        if self._permissions is None:
            return Decision("ask")
        decision = self._permissions.decide(call.name, actions, context)
        if decision.effect == "deny":
            raise ToolRetry(decision.reason)
        special = [a for a in decision.actions if a.kind == "read" or _is_special(a, context)]
        if decision.effect == "ask" and special:
            asked = Asked(call.name, tuple(special), decision.reason, call.arguments)
            answer = await self._permit(call, asked, context)
            if not answer.allowed:
                raise ToolRetry(answer.note or Words("The user did not allow it."))
            self._permissions.grant(call.name, special, answer.scope, context)
        return decision

    async def _permit(self, call: ToolCall, asked: Asked, context: ToolContext) -> Answer:
        here = current_call()
        if here is not None:
            here.show(state="asked", reason=asked.reason)
        answer = await self._interaction.permit(context.node, call.id, asked)
        if here is not None and answer.allowed:
            here.show(state="running", reason="")
        return answer

    async def _settled(
        self, call: ToolCall, changes: list[Change], decision: Decision, context: ToolContext
    ) -> Written:
        """Show, take what was accepted, write it. Raises `Refused` when that is nothing."""
        edits = [change.edit() for change in changes]
        here = current_call()
        automatic = decision.effect == "allow" or (
            not decision.reason and self._accept is not None and self._accept()
        )
        if here is not None:
            here.show(edits=tuple(edits))
        reviews = {edit.root: Review.all_of([e for e in edits if e.root == edit.root])
                   for edit in edits}  # fmt: skip
        if not automatic:
            if here is not None:
                here.show(state="asked")
            reviews = await self._review(call, edits, context)
            if here is not None:
                here.show(state="running", reason="")
        review = _joined(reviews)
        taken = _taken(changes, edits, reviews)
        if not taken:
            raise Refused(review.note or "The user refused the change.")
        await write(taken, context)
        if here is not None:
            here.show(edits=tuple(change.edit() for change in taken))
        if not automatic and self._permissions is not None and review.scope != "call":
            accepted = [Action("write", str(change.place.real)) for change in taken]
            self._permissions.grant(call.name, accepted, review.scope, context)
        return Written(tuple(taken), _report(changes, edits, reviews, taken, automatic))

    async def _review(
        self, call: ToolCall, edits: list[ProposedEdit], context: ToolContext
    ) -> dict[int, Review]:
        """What the user says, by folder of the workspace: paths repeat over folders."""
        reviews: dict[int, Review] = {}
        for root in dict.fromkeys(edit.root for edit in edits):
            those = [edit for edit in edits if edit.root == root]
            reviews[root] = await self._interaction.review(context.node, call.id, those)
        return reviews

    def _note(self, change: Change, context: ToolContext) -> None:
        if change.after is not None:
            data = _bytes_of(change)
            self._seen.note_written(context.node, change.place, data)


class Refused(JarvisError):
    """The user wants none of it; the text is what to tell the model."""


async def write(changes: Sequence[Change], context: ToolContext) -> None:
    """Make all changes, or none of them.

    Raises `JarvisError` when a file changed since it was read, or cannot be written; what was
    already written is then taken back.
    """
    applied: Applied | None = context.services.get("applied")
    buffers: Buffers | None = context.services.get("buffers")
    for change in changes:
        _check_place(change, context)
        _check_buffer(change, buffers)
    await asyncio.to_thread(_check_all, changes)
    if (checkpoints := context.services.get("checkpoints")) is not None:
        await checkpoints.include([change.place.real for change in changes])
    by_editor: list[Change] = []
    try:
        for change in changes:
            if applied is not None and await _by_editor(applied, change):
                by_editor.append(change)
            elif change.before is not None and change.before.unsaved:
                raise ToolRetry(
                    "{name} has unsaved changes in the user's editor. Ask the user to save "
                    "the file, then try again.",
                    name=change.place.name,
                )
        on_disk = [change for change in changes if change not in by_editor]
        await _to_its_end(on_disk)
    except Stopped:
        raise
    except BaseException:
        for change in reversed(by_editor):
            old = change.before.text if change.before is not None else None
            if applied is not None:
                await _by_editor(applied, replace_texts(change, change.after, old))
        raise


async def _to_its_end(changes: Sequence[Change]) -> None:
    """Write; whoever is stopped meanwhile waits the moment it takes, so that it is all or none
    then too. Raises `Stopped` when all was written."""
    writing = asyncio.ensure_future(asyncio.to_thread(_write_all, changes))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        if writing.exception() is not None:
            raise
        raise Stopped from None


class Stopped(asyncio.CancelledError):
    """The user stopped the agent when everything was already written."""


def replace_texts(change: Change, before: str | None, after: str | None) -> Change:
    """The change of the same file from one text to another."""
    file = change.before or TextFile(change.place, "")
    return Change(change.place, replace(file, text=before) if before is not None else None, after)


async def _by_editor(applied: Applied, change: Change) -> bool:
    before = change.before.text if change.before is not None else None
    answer = applied(change.place.real, before, change.after)
    return bool(await answer) if inspect.isawaitable(answer) else bool(answer)


def _check_place(change: Change, context: ToolContext) -> None:
    """The place is still the one that was meant: no link has come in its way."""
    now = place_of(str(change.place.real), context, reading=False)
    if now != change.place:
        raise ToolRetry(
            "{name} now leads to {target}. Read it again.", name=change.place.name, target=now.name
        )


def _check_buffer(change: Change, buffers: Buffers | None) -> None:
    """The user has not typed in the file since it was read."""
    buffered = buffers(change.place.real) if buffers is not None else None
    if buffered is not None and with_newlines(buffered) != change.old_text:
        raise ToolRetry(
            "{name} changed in the user's editor since it was read. Read it again, "
            "then repeat the change.",
            name=shown(change.place.name),
        )


def _check_all(changes: Sequence[Change]) -> None:
    for change in changes:
        _bytes_of(change)
        _check_unchanged(change)


def _write_all(changes: Sequence[Change]) -> None:
    done: list[tuple[Change, int]] = []
    with _WRITING:
        for change in changes:
            _check_unchanged(change)
        try:
            # What comes is written before what goes is taken away.
            for change in sorted(changes, key=lambda c: c.after is None):
                done.append((change, _write_one(change)))
        except BaseException:
            for change, folders in reversed(done):
                _take_back(change, folders)
            raise


def _write_one(change: Change) -> int:
    place = change.place
    if change.after is None:
        remove_beneath(place.root, place.path)
        return 0
    model = change.before or change.like
    mode = model.mode if model is not None else None
    return replace_beneath(place.root, place.path, _bytes_of(change), mode=mode)


def _take_back(change: Change, folders: int) -> None:
    place = change.place
    if change.before is None:
        remove_beneath(place.root, place.path)
        remove_folders(place.root, place.path, folders)
    else:
        replace_beneath(place.root, place.path, change.before.raw, mode=change.before.mode)


def _bytes_of(change: Change) -> bytes:
    if change.after is None:
        return b""
    model = change.before or change.like
    if model is None:
        return new_file(change.place, change.after)
    return model.encode(change.after)


def _check_unchanged(change: Change) -> None:
    """Raises `ToolRetry` when what is on disk is not what the change starts from."""
    place = change.place
    try:
        raw, mode = read_beneath(place.root, place.path, limit=MAX_BYTES)
    except FileNotFoundError:
        if change.before is None:
            return
        raise ToolRetry("{name} was deleted since it was read.", name=shown(place.name)) from None
    except SkippedFile as error:
        raise ToolRetry(
            "{name} cannot be written: it is {why}.", name=shown(place.name), why=error.reason
        ) from None
    if change.before is None:
        raise ToolRetry(
            "{name} exists by now. Read it, then change what should differ.", name=shown(place.name)
        )
    if raw != change.before.raw:
        raise ToolRetry(
            "{name} changed since it was read. Read it again, then repeat the change.",
            name=shown(place.name),
        )
    if not mode & 0o222:
        raise ToolRetry(
            "{name} is read-only; the user has to make it writable.", name=shown(place.name)
        )


def _taken(
    changes: Sequence[Change], edits: Sequence[ProposedEdit], reviews: Mapping[int, Review]
) -> list[Change]:
    """The changes with the texts that follow from what was accepted."""
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


def _joined(reviews: Mapping[int, Review]) -> Review:
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
    """What the model is told: which of its changes are in the files now."""
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
    if note := _joined(reviews).note:
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
    """What is written is what was declared, and so judged: nothing else."""
    writes = (action.target for action in declared if action.kind == "write")
    known = {inside(target, context.roots) for target in writes}
    for change in changes:
        if change.place.real not in known:
            raise ToolRetry(
                "The tool did not say that it would write {name}.", name=change.place.name
            )


def _is_special(action: Action, context: ToolContext) -> bool:
    """Whether consent must be asked in words before the diff is shown."""
    real = inside(action.target, context.roots)
    return real is None or shown(action.target) != action.target or (
        protected_name(_from_root(real, context)) is not None
    )  # fmt: skip


def _from_root(real: Path, context: ToolContext) -> str:
    root = next(r for r in context.roots if real == r or r in real.parents)
    return real.relative_to(root).as_posix()


def _without_writes(known: Tool) -> Tool:
    """The tool as the gate around us sees it: files it writes are judged here."""

    def actions(arguments: dict[str, Any]) -> list[Action]:
        found = known.actions(arguments)
        here = _on_written(found)
        return [action for action in found if action not in here]

    return replace(known, actions=actions)


def _on_written(actions: Iterable[Action]) -> list[Action]:
    """What is done to files that are written."""
    found = list(actions)
    written = {action.target for action in found if action.kind == "write"}
    return [a for a in found if a.kind in ("read", "write") and a.target in written]


def _denied(call: ToolCall, reason: str) -> ToolResult:
    if (here := current_call()) is not None:
        here.show(state="denied", reason=mapped(reason, shown), asked=())
    text = Words("Not written, the files are as they were.")
    if reason:
        text = together([text, mapped(reason, shown)], " ")
    return ToolResult(call.id, call.name, text, is_error=True)
