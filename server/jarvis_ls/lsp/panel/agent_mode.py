"""The panel's Agent mode, `/change TASK`: an agent changes code in a copy of the repository.

What it has changed is shown in one card, and is written when the user accepts it, whole or in part.
The session of such a task goes on in the copy until it is left. When it is opened again, what was
not decided on is asked again; otherwise the next words are worked on in a new copy.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.code_agent import CodeTask, CodeWanted, code_options, open_task
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.codeagent.edit_guard import Consent
from jarvis_ls.codeagent.workspace import Workspace, copy_folder, work_folder
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.core.work_tree import find_work_tree
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.panel.interaction import PanelInteraction
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.base.events import Entry, EntryPut, Level, NoticeEntry, ToolEntry
from jarvis_ls.runtime.base.messages import Image
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.edits.file_change import FileChange
from jarvis_ls.runtime.sandbox.carrying import accepted_part
from jarvis_ls.runtime.tools.interaction import Review

COMMAND = "/change"
CARD = "change_code"
"""Names the card that shows what was changed, as if a tool did it."""
_SHOWN = 5
"""Complaints of a check that are listed."""

Start = Callable[[str | None, Sequence[Path], AgentOptions, Additions], Awaitable[Conversation]]
"""Begins a conversation in folders, or continues with a session there."""


class AgentMode:
    """The tasks of the panel, one a session."""

    def __init__(
        self, desk: Desk, person: Callable[[str], PanelInteraction | None], start: Start
    ) -> None:
        """`person` is who is asked in a session."""
        self._desk = desk
        self._person = person
        self._start = start
        self._tasks: dict[str, CodeTask] = {}
        self._resting: dict[str, Path] = {}
        """Sessions of this mode without a copy, and the repository of each."""
        self._cards: dict[str, str] = {}
        """The entry that waits for the user, by session."""

    def task_of(self, session: str, text: str) -> str | None:
        """Return what an agent is to do in a copy; None for what is said in other sessions."""
        name, _, rest = text.strip().partition(" ")
        if name == COMMAND:
            return rest.strip()
        return text if session in self._tasks or session in self._resting else None

    async def begin(self, session: str, options: AgentOptions) -> Conversation:
        """Return the conversation of a task: that of the session when it is one, else another, in
        a new copy. Raises `UsageError` where there can be none."""
        known = self._desk.assembly.conversation(session)
        if session in self._tasks and known is not None:
            return known
        desk = self._desk
        if not desk.trusted:
            raise UsageError("Files cannot be changed in an untrusted workspace.")
        if why := desk.assembly.missing_model(options.model_group):
            raise UsageError(why)
        if session not in self._resting:
            root = await asyncio.to_thread(self._work_tree)
            return await self._open(None, self._wanted(root), options)
        return await self._open(session, self._wanted_again(session), options)

    async def reopen(self, session: str, options: AgentOptions) -> Conversation | None:
        """Return the conversation of a session of this mode in its copy, when that holds changes
        that are not decided on and nobody works there; see `ask_again`. None for all others."""
        root = await asyncio.to_thread(self._repository_of, session)
        if root is None:
            return None
        self._resting[session] = root
        wanted = self._wanted_again(session)
        if not (self._desk.trusted and wanted.restore):
            return None
        try:
            return await self._open(session, wanted, options)
        except UsageError:  # somebody works there: the next words are told so
            return None

    async def ask_again(self, conversation: Conversation) -> None:
        """Ask what is to become of the changes in a copy that a session has left."""
        task = self._tasks[conversation.id]
        changes = await task.guard.settle()
        for event in conversation.session.events():
            if isinstance(event, EntryPut) and (card := open_card(event.entry)):
                self._put(conversation, replace(card, state="cancelled"))
        if changes and (more := await self._decide(conversation, task, changes)):
            await self.work(conversation, more, ())

    async def _open(
        self, session: str | None, wanted: CodeWanted, options: AgentOptions
    ) -> Conversation:
        """Return the conversation of a task, that of a session when one is given."""
        task = open_task(self._desk.assembly, wanted)
        try:
            await task.begin()
            attended = code_options(options, (), attended=True)
            known = self._desk.assembly.conversation(session) if session else None
            if known is not None:  # it was only looked at
                await known.close()
            folders = [task.workspace.folder]
            conversation = await self._start(session, folders, attended, task.additions())
        except BaseException:
            await task.end(is_done=not wanted.restore)
            raise
        task.workspace.keep_session(conversation.id)
        conversation.tell_copy()
        self._resting.pop(conversation.id, None)
        self._tasks[conversation.id] = task
        for note in task.notes:
            self._notice(conversation, "warning", note)
        return conversation

    async def work(self, conversation: Conversation, text: str, images: Sequence[Image]) -> None:
        """Have the agent work on words of the user's, and ask what is to become of its changes."""
        session = conversation.id
        person = self._person(session)
        if person is not None and session in self._cards:
            person.settle(self._cards[session], Review({}, text))
            return
        if conversation.working:
            await conversation.send(text, images)  # they are queued
            return
        task = self._tasks[session]
        more = text
        while more:
            state = ""

            async def say(told: str) -> bool:
                nonlocal state
                ending = await conversation.send(told, images) or await conversation.wait()
                state = ending.state
                return state == "completed"

            await task.turn(more, say)
            changes = await task.guard.settle()
            if not changes:
                self._notice(conversation, "info", Words("No file was changed."))
                return
            if state == "cancelled":
                kept = Words("The changes are kept in the copy; your next message continues there.")
                self._notice(conversation, "info", kept)
                return
            more = await self._decide(conversation, task, changes)

    async def end(self, session: str) -> None:
        """Let others work on the repository. What is not decided on stays in the copy."""
        task = self._tasks.pop(session, None)
        self._cards.pop(session, None)
        if task is not None:
            self._resting[session] = task.workspace.root
            await task.end(is_done=not await task.workspace.changes())

    async def close(self) -> None:
        """End all tasks."""
        for session in list(self._tasks):
            await self.end(session)

    # -- what becomes of the changes -------------------------------------------------------------

    async def _decide(
        self, conversation: Conversation, task: CodeTask, changes: Sequence[FileChange]
    ) -> str:
        """Show the changes and do what the user says; return what else is to be done."""
        await task.offer()
        self._tell_state(conversation, task, await task.impact())
        while True:
            review, card = await self._review(conversation, changes)
            chosen = [
                part
                for change in changes
                if (part := accepted_part(change, change.edit(), review)) is not None
            ]
            if not chosen and review.note:
                self._put(conversation, replace(card, state="denied", reason=review.note))
                task.correct(changes, review.note)
                return review.note
            if not chosen:
                await task.refuse()
                self._put(conversation, replace(card, state="denied"))
                return ""
            try:
                self._check_saved(task, chosen)
                await task.accept(changes, chosen)
            except JarvisError as error:
                self._put(conversation, replace(card, state="failed"))
                self._notice(conversation, "error", str(error))
                continue
            edits = tuple(change.edit() for change in chosen)
            self._put(conversation, replace(card, state="done", edits=edits))
            told = Words("Files written: {count}.", count=len(chosen))
            self._notice(conversation, "info", told)
            if conversation.options.force_save_memory:
                await conversation.save_memories()
            return ""

    async def _review(
        self, conversation: Conversation, changes: Sequence[FileChange]
    ) -> tuple[Review, ToolEntry]:
        """Return what the user says to the changes, and the card in which they were asked."""
        session = conversation.id
        person = self._person(session)
        assert person is not None
        edits = tuple(change.edit() for change in changes)
        named = json.dumps({"files": [change.describe() for change in changes]}, indent=2)
        card = ToolEntry(new_id(), CARD, named, "asked", edits=edits)
        self._put(conversation, card)
        self._cards[session] = card.id
        try:
            review = await person.review(ROOT, card.id, edits)
        except BaseException:
            self._put(conversation, replace(card, state="cancelled"))
            raise
        finally:
            self._cards.pop(session, None)
        return review, card

    def _check_saved(self, task: CodeTask, changes: Sequence[FileChange]) -> None:
        for change in changes:
            text = self._desk.editor.buffer(task.workspace.root / change.path)
            saved = change.before.data.decode("utf-8", "replace") if change.before else None
            if text is not None and text != (saved or "").removeprefix("\ufeff"):
                raise UsageError(
                    "{file} has unsaved changes in the editor; nothing was written.",
                    file=change.path,
                )

    def _tell_state(self, conversation: Conversation, task: CodeTask, impact: str) -> None:
        """Tell what the changes touch, what is lost, and what checks still complain of."""
        say = self._desk.say
        lines = [say(impact)] if impact else []
        lines += [say(Words("Lost: {what}", what=say(loss.reason))) for loss in task.guard.losses]
        if task.checks is not None:
            lines += [say(note) for note in task.checks.take_notes()]
            for name, found in task.checks.found.items():
                if found:
                    count = len(found)
                    told = Words("{check}: new complaints: {count}", check=name, count=count)
                    lines += [say(told), *map(str, found[:_SHOWN])]
                else:
                    lines.append(say(Words("{check}: passed", check=name)))
        if lines:
            level: Level = "warning" if task.guard.losses else "info"
            self._notice(conversation, level, "\n".join(lines))

    def _notice(self, conversation: Conversation, level: Level, text: str) -> None:
        self._put(conversation, NoticeEntry(new_id(), level, self._desk.say(text)))

    def _put(self, conversation: Conversation, entry: Entry) -> None:
        """Show an entry and keep it with the session."""
        event = EntryPut(conversation.id, ROOT, entry)
        self._desk.assembly.feed.publish(event)
        conversation.session.put(event)

    def _wanted_again(self, session: str) -> CodeWanted:
        """Return how a session of this mode goes on: with its own copy where that is left."""
        root = self._resting[session]
        home = self._desk.assembly.home
        workspace = Workspace(home, root, work_folder(home, root))
        is_own = workspace.is_left and workspace.record.session == session
        return self._wanted(root, restore=is_own)

    def _wanted(self, root: Path, *, restore: bool = False) -> CodeWanted:
        consent, editor = Consent(attended=True), self._desk.editor
        return CodeWanted(root, consent, restore, open_files=lambda: editor.open_below(root))

    def _repository_of(self, session: str) -> Path | None:
        """Return the repository that a session of this mode has worked on; None for others."""
        home = self._desk.assembly.home
        listed = self._desk.assembly.sessions.list()
        folder = next((info.folder for info in listed if info.id == session), "")
        for root in self._desk.roots():
            with contextlib.suppress(UsageError):
                tree = find_work_tree(root)
                if str(copy_folder(work_folder(home, tree))) == folder:
                    return tree
        return None

    def _work_tree(self) -> Path:
        """Return the first folder of the workspace that is in a repository."""
        problem = UsageError("Open a folder first.")
        for root in self._desk.roots():
            try:
                return find_work_tree(root)
            except UsageError as error:
                problem = error
        raise problem


def open_card(entry: Entry) -> ToolEntry | None:
    """Return the entry when it is a card without an answer."""
    is_open = isinstance(entry, ToolEntry) and entry.name == CARD and entry.state == "asked"
    return entry if is_open else None  # type: ignore[return-value]
