"""The side panel's bridge between the editor and the agents.

One page at a time is served: it attaches, gets a picture of the session it wants to see, and
then every event of that session, in batches. Sessions continue whether anyone views them or
not; one that no one views and in which no one works is closed, so that others can open it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.panel.agent_mode import AgentMode
from jarvis_ls.lsp.panel.apply_code import ApplyCode
from jarvis_ls.lsp.panel.commands import as_commands
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.panel.editor import EditorFiles
from jarvis_ls.lsp.panel.explorer import ExplorerTab
from jarvis_ls.lsp.panel.files import Mentions
from jarvis_ls.lsp.panel.interaction import PanelInteraction
from jarvis_ls.lsp.panel.memory import MemoryTab
from jarvis_ls.lsp.panel.onboarding import Onboarding
from jarvis_ls.lsp.panel.project import Workspace
from jarvis_ls.lsp.panel.sessions import Sessions
from jarvis_ls.lsp.panel.settings import Commands, model_state, settings_shown
from jarvis_ls.lsp.panel.suggestions import suggest
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol import panel as wire
from jarvis_ls.lsp.protocol.apply_code import PlaceCodeAsk
from jarvis_ls.lsp.protocol.model_setup import CheckProviderAsk, ProvidersAsk, UseModelAsk
from jarvis_ls.lsp.protocol.panel_json import from_wire, to_wire
from jarvis_ls.lsp.server import Server
from jarvis_ls.runtime.base.event_batch import Batch, shorten_output
from jarvis_ls.runtime.base.events import (
    Budget,
    EntryPut,
    Event,
    NodePut,
    NoticeEntry,
    SessionPut,
    TaskGraphEntry,
)
from jarvis_ls.runtime.base.folders import mention
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.sandbox.background import STOPPED_BY_USER
from jarvis_ls.runtime.session.session import Session, SessionMissing
from jarvis_ls.runtime.tools.interaction import Review
from jarvis_ls.runtime.tools.permissions import Answer

LISTED = 50
"""Sessions that a page gets at first."""
SEND_SECONDS = 0.2
"""How long what is said is waited for; a command such as `/scan` continues without the page."""

logger = logging.getLogger(__name__)

Handler = Callable[[Any], Awaitable[Any]]


class Panel:
    """What the page asks, answered."""

    def __init__(self, server: Server, keys: Mapping[str, str]) -> None:
        """`keys` from the editor's secret storage come before those of the environment."""
        self._server = server
        self._say = server.say
        self._assembly: Assembly = build(environment={**os.environ, **keys})
        self._mentions = Mentions()
        self._editor = EditorFiles(server)
        desk = Desk(
            server, self._assembly, self._editor, self._conversation, self._session_or_shown
        )
        self._memory, self._explorer = MemoryTab(desk), ExplorerTab(desk)
        self._sessions = Sessions(desk)
        self._apply_code = ApplyCode(desk, self._mentions.paths)
        self._agent_mode = AgentMode(desk, lambda name: self._people.get(name), self._begin_in)
        self.onboarding = Onboarding(desk, self._use_chosen_model)
        self._failing = False
        """Whether the model did not answer when it was asked last."""
        self._project = Workspace(server, self._assembly.sessions, self._memory.memory)
        self._roots = desk.roots
        self._commands = Commands(server.say)
        self._shown = ""
        self._group = ""
        """The model group chosen for sessions that begin."""
        self._seq = 0
        self._batch = Batch(self._tell)
        self._people: dict[str, PanelInteraction] = {}
        self._sending: dict[str, set[asyncio.Task[None]]] = {}
        self._opening = asyncio.Lock()
        self._beginning = asyncio.Lock()
        self._assembly.feed.observe(self._on_event)
        self._handlers: dict[type, Handler] = {
            wire.AttachAsk: self._attach,
            wire.NewSessionAsk: self._new_session,
            wire.SendAsk: self._send,
            wire.StopAsk: self._stop,
            wire.EndScriptAsk: self._end_script,
            wire.ControlAsk: self._control,
            wire.RedirectAsk: self._redirect,
            wire.BudgetAsk: self._budget,
            wire.PermitAsk: self._permit,
            wire.ReviewAsk: self._review,
            wire.AnswerAsk: self._answer,
            wire.RewindAsk: self._sessions.rewind,
            wire.ForkAsk: self._sessions.fork,
            wire.SessionsAsk: self._sessions.listed,
            wire.RenameAsk: self._sessions.rename,
            wire.DeleteAsk: self._delete,
            wire.ExportAsk: self._sessions.export,
            wire.CompleteAsk: self._complete,
            wire.ModelsAsk: self._models,
            wire.PickModelAsk: self._pick_model,
            wire.SetModeAsk: self._set_mode,
            wire.MemoriesAsk: self._memory.listed,
            wire.SaveMemoryAsk: self._memory.save,
            wire.DeleteMemoryAsk: self._memory.delete,
            wire.ExplorerAsk: self._explorer.files,
            wire.ChangesAsk: self._explorer.changes,
            wire.SideAsk: self._side,
            PlaceCodeAsk: self._apply_code.place,
            wire.SettingsAsk: self._settings,
            ProvidersAsk: self.onboarding.offered,
            CheckProviderAsk: self.onboarding.check,
            UseModelAsk: self.onboarding.use,
        }

    async def answer(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to one of the union `Ask`, as JSON. Raises `JarvisError` for the
        user.
        """
        try:
            ask = from_wire(data, wire.Ask)
        except ValueError as error:
            raise UsageError(f"{extensions.PANEL_ASK}: {error}") from None
        try:
            answered = await self._handlers[type(ask)](ask)
        except JarvisError as error:
            error.args = (self._say(str(error)),)
            raise
        self._batch.flush()  # what came of it is seen before the answer is
        if isinstance(answered, wire.Picture):  # long, and other requests need not wait for it
            made: dict[str, Any] = await asyncio.to_thread(to_wire, answered)
            return made
        plain: dict[str, Any] = to_wire(answered)
        return plain

    def use_keys(self, keys: Mapping[str, str]) -> None:
        """Use these keys from the next question to a model on."""
        self._assembly.set_environment({**os.environ, **keys})
        self._renew_models()

    def _use_chosen_model(self) -> None:
        """Ask what the configuration says now, also in the session that is shown."""
        self._group = ""
        shown = self._assembly.conversation(self._shown)
        if shown is not None:
            shown.tree.root.show(group=self._assembly.options.model_group)
        self._renew_models()

    def _renew_models(self) -> None:
        """Have open conversations ask by the settings and keys as they are now."""
        self._failing = False
        for conversation in self._open():
            with contextlib.suppress(JarvisError):  # it says so when it is asked
                conversation.pick_model(conversation.tree.root.info.group)
        self._model_state()

    async def close(self) -> None:
        """End everything; sessions can be opened by others then."""
        for tasks in self._sending.values():
            for task in tasks:
                task.cancel()
        await self._agent_mode.close()
        await self._assembly.close()

    # -- what happens ------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        self._follow_model(event)
        is_auto = isinstance(event, EntryPut) and isinstance(event.entry, TaskGraphEntry)
        if isinstance(event, SessionPut) or is_auto or event.session == self._shown:
            self._batch.add(shorten_output(event))

    def _follow_model(self, event: Event) -> None:
        """Note whether models answer; what is only read back from disk says nothing of that."""
        if isinstance(event, SessionPut) or self._assembly.conversation(event.session) is None:
            return
        before = self._failing
        if isinstance(event, EntryPut) and isinstance(event.entry, NoticeEntry):
            self._failing = self._failing or event.entry.wrong not in ("", "none")
        elif isinstance(event, NodePut) and event.node.state == "completed":
            self._failing = False
        if self._failing != before:
            self._model_state()

    def _tell(self, events: Sequence[Event]) -> None:
        self._seq += 1
        told = wire.PanelEvents(self._seq, tuple(events))
        self._server.protocol.notify_json(extensions.PANEL_EVENTS, to_wire(told))

    # -- sessions ----------------------------------------------------------------------------

    async def _attach(self, ask: wire.AttachAsk) -> wire.Picture:
        wanted = ask.session or self._shown
        if wanted:
            try:
                await self._conversation(wanted)
            except SessionMissing:
                wanted = ""
        return await self._picture(wanted)

    async def _new_session(self, _ask: wire.NewSessionAsk) -> wire.Picture:
        return await self._picture("")

    async def _picture(self, session: str) -> wire.Picture:
        infos = await asyncio.to_thread(self._assembly.sessions.list)
        await self._show(session)
        found = await self._project.findings()
        models = self._model_state()
        self._batch.drop()  # the picture has it all
        return wire.Picture(
            seq=self._seq,
            session=session,
            events=tuple(map(shorten_output, self._assembly.feed.snapshot(session))),
            sessions=tuple(map(self._sessions.live, infos[:LISTED])),
            models=models,
            commands=self._commands.items(),
            suggestions=suggest(found, self._say) if models.ready else (),
            folders=tuple(Path(folder.path).name for folder in self._server.folders),
            trusted=self._server.trusted,
            locale=self._say.language,
        )

    async def _show(self, session: str) -> None:
        """Look at another session; the one before is closed unless somebody works in it."""
        before, self._shown = self._shown, session
        if before and before != session:
            await self._leave(before)

    async def _leave(self, session: str) -> None:
        conversation = self._assembly.conversation(session)
        if conversation is None or conversation.background.busy:
            return
        if not conversation.working and not self._sending.get(session):
            self._people.pop(session, None)
            await self._agent_mode.end(session)
            await conversation.close()
            if not conversation.session.info.messages:  # only commands: nothing to come back to
                await asyncio.to_thread(self._assembly.sessions.delete, session)

    async def _delete(self, ask: wire.DeleteAsk) -> wire.Done:
        conversation = self._assembly.conversation(ask.session)
        if conversation is not None:
            self._people.pop(ask.session, None)
            await self._agent_mode.end(ask.session)
            await conversation.close()
        if ask.session == self._shown:
            self._shown = ""
        await asyncio.to_thread(self._assembly.sessions.delete, ask.session)
        return wire.Done()

    # -- talking -----------------------------------------------------------------------------

    async def _send(self, ask: wire.SendAsk) -> wire.Opened:
        text = self._compose(ask.text, ask.attachments)
        if not text.strip() and not ask.images:
            raise UsageError(self._say("There is nothing to send."))
        in_copy = self._agent_mode.task_of(self._session_or_shown(ask.session), text)
        if in_copy is None:
            conversation = await self._begun(ask.session)
            work = self._say_to(conversation, text, ask)
        else:
            conversation = await self._begun_in_copy(ask.session, in_copy)
            work = self._agent_mode.work(conversation, in_copy, ask.images)
        session = conversation.id
        task = self._follow(session, work)
        await asyncio.wait({task}, timeout=SEND_SECONDS)
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            raise error
        return wire.Opened(session)

    def _follow(self, session: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work in a session; it is not closed until that has ended."""
        task = spawn(work, f"send to {session}")
        tasks = self._sending.setdefault(session, set())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def _begun_in_copy(self, session: str, text: str) -> Conversation:
        """Return the conversation in which an agent changes code in a copy; it is shown."""
        if not text.strip():
            raise UsageError(self._say("Say what is to be changed: /change TASK"))
        async with self._beginning:
            shown = self._session_or_shown(session)
            conversation = await self._agent_mode.begin(shown, self._chosen_options())
            await self._show(conversation.id)
            return conversation

    async def _say_to(self, conversation: Conversation, text: str, ask: wire.SendAsk) -> None:
        await conversation.send(text, ask.images, to=ask.node or ROOT)

    def _compose(self, text: str, attachments: Sequence[wire.Attachment]) -> str:
        """Return the typed text followed by its attachments."""
        roots = self._roots()
        parts = [text]
        for attachment in attachments:
            if attachment.kind == "file" and 0 <= attachment.root < len(roots):
                parts.append(mention(attachment.path, attachment.root, roots))
                continue
            lines = (
                f":{attachment.start_line}-{attachment.end_line}" if attachment.start_line else ""
            )
            longest = max(map(len, re.findall("`+", attachment.text)), default=0)
            fence = "`" * max(3, longest + 1)
            head = f"{attachment.path}{lines}"
            if attachment.kind == "diagnostics":
                head = self._say("Problems of {file}", file=head)
            parts.append(f"{head}\n{fence}\n{attachment.text}\n{fence}")
        return "\n\n".join(part for part in parts if part.strip())

    async def _stop(self, ask: wire.StopAsk) -> wire.Done:
        session = self._session_or_shown(ask.session)
        for task in tuple(self._sending.get(session, ())):
            task.cancel()
        conversation = self._assembly.conversation(session)
        if conversation is not None:
            await conversation.stop(ask.node or ROOT)
        return wire.Done()

    async def _end_script(self, ask: wire.EndScriptAsk) -> wire.Done:
        conversation = self._assembly.conversation(self._session_or_shown(ask.session))
        if conversation is not None:
            conversation.background.find(ask.entry).stop(STOPPED_BY_USER)
        return wire.Done()

    async def _control(self, ask: wire.ControlAsk) -> wire.Done:
        conversation = await self._conversation(self._session_or_shown(ask.session))
        if ask.action == "pause":
            conversation.pause(ask.node)
        elif ask.action == "resume":
            conversation.resume(ask.node)
        elif ask.action == "cancel":
            await conversation.stop(ask.node)
        else:
            conversation.tree.retry(ask.node)
        return wire.Done()

    async def _redirect(self, ask: wire.RedirectAsk) -> wire.Done:
        conversation = await self._conversation(self._session_or_shown(ask.session))
        conversation.redirect(ask.text, ask.node or ROOT)
        return wire.Done()

    async def _budget(self, ask: wire.BudgetAsk) -> wire.Done:
        if (ask.tokens or 0) < 0 or (ask.cost or 0) < 0:
            raise UsageError(self._say("A budget cannot be below 0."))
        conversation = await self._conversation(self._session_or_shown(ask.session))
        conversation.tree.set_budget(ask.node or ROOT, Budget(ask.tokens, ask.cost))
        return wire.Done()

    async def _permit(self, ask: wire.PermitAsk) -> wire.Done:
        self._settle(ask.session, ask.entry, Answer(ask.allowed, ask.scope, ask.note))
        return wire.Done()

    async def _side(self, ask: wire.SideAsk) -> wire.FileText:
        applied = self._apply_code.has(ask.entry)
        return await (self._apply_code.side(ask) if applied else self._explorer.side(ask))

    async def _review(self, ask: wire.ReviewAsk) -> wire.Done:
        if self._apply_code.has(ask.entry):
            return await self._apply_code.review(ask)
        accepted = {path: tuple(hunks) for path, hunks in ask.accepted.items()}
        self._settle(ask.session, ask.entry, Review(accepted, ask.note, ask.scope))
        return wire.Done()

    async def _answer(self, ask: wire.AnswerAsk) -> wire.Done:
        self._settle(ask.session, ask.entry, ask.text)
        return wire.Done()

    def _settle(self, session: str, entry: str, answer: Answer | Review | str) -> None:
        person = self._people.get(self._session_or_shown(session))
        try:
            if person is None:
                raise UsageError("This question is not open any more.")
            person.settle(entry, answer)
        except UsageError as error:
            raise UsageError(self._say(str(error))) from None

    # -- completion and models -----------------------------------------------------------------

    async def _complete(self, ask: wire.CompleteAsk) -> wire.Completions:
        if ask.trigger == "@":
            return wire.Completions(tuple(await self._mentions.complete(ask.text, self._roots())))
        if ask.text.lower().startswith("explain "):
            return wire.Completions(self._rules(ask.text[8:], await self._server.rule_pages()))
        return wire.Completions(self._commands.complete(ask.text))

    def _rules(self, text: str, rules: Mapping[str, Any]) -> tuple[wire.Completion, ...]:
        found = [
            wire.Completion("rule", name, f"/explain {name}", self._say(page.title))
            for name, page in rules.items()
            if text.strip().lower() in name
        ]
        return tuple(sorted(found, key=lambda item: item.label)[:LISTED])

    async def _models(self, _ask: wire.ModelsAsk) -> wire.ModelState:
        return self._model_state()

    async def _pick_model(self, ask: wire.PickModelAsk) -> wire.ModelState:
        conversation = self._assembly.conversation(self._session_or_shown(ask.session))
        if conversation is not None:
            conversation.pick_model(ask.group, ask.node or ROOT)
        else:
            self._assembly.group(ask.group)
        if not ask.node or ask.node == ROOT:
            self._group = ask.group
        return self._model_state()

    async def _set_mode(self, ask: wire.SetModeAsk) -> wire.Opened:
        """Set the mode of a session; it is kept there, so one begins where there is none."""
        conversation = await self._begun(ask.session)
        conversation.set_mode(ask.mode)
        return wire.Opened(conversation.id)

    def _model_state(self) -> wire.ModelState:
        conversation = self._assembly.conversation(self._shown)
        current = self._group or self._assembly.options.model_group
        if conversation is not None:
            current = conversation.tree.root.info.group
        state = model_state(self._assembly, current, self._say)
        can_answer = state.ready or any(choice.ready for choice in state.choices)
        self._server.tell_model(
            "none" if not can_answer else "failing" if self._failing else "ready"
        )
        return state

    # -- settings ------------------------------------------------------------------------------

    async def _settings(self, _ask: wire.SettingsAsk) -> wire.SettingsShown:
        self._assembly.reload()
        conversation = self._assembly.conversation(self._shown)
        return await settings_shown(self._assembly, conversation, self._say)

    # -- below: what all of them need ----------------------------------------------------------

    async def _begun(self, session: str) -> Conversation:
        """Return the conversation of a session; without one that of the session shown, or of a new
        one, which is shown from now on. Two asks at the same time begin one session.
        """
        if session:
            return await self._conversation(session)
        async with self._beginning:
            conversation = await self._conversation(self._shown or None)
            await self._show(conversation.id)
            return conversation

    async def _conversation(self, session: str | None) -> Conversation:
        """Return the conversation of a session, opened when it is not; None begins a new one."""
        async with self._opening:
            if session is not None:
                known = self._assembly.conversation(session)
                if known is not None:
                    return known
                again = await self._agent_mode.reopen(session, self._chosen_options())
                if again is not None:
                    self._follow(session, self._agent_mode.ask_again(again))
                    return again
            return await self._assembly.start(
                session,
                self._roots(),
                self._person,
                trusted=self._server.trusted,
                options=self._chosen_options(),
                additions=Additions(
                    commands=as_commands(self._project, self._say),
                    services={"buffers": self._editor.buffer, "applied": self._editor.apply},
                ),
                say=self._say,
            )

    async def _begin_in(
        self,
        session: str | None,
        folders: Sequence[Path],
        options: AgentOptions,
        additions: Additions,
    ) -> Conversation:
        """Begin a conversation in folders that are not the workspace's, or continue with one."""
        return await self._assembly.start(
            session,
            folders,
            self._person,
            trusted=self._server.trusted,
            options=options,
            additions=additions,
            say=self._say,
        )

    def _chosen_options(self) -> AgentOptions:
        """Return the options of a conversation that begins, with the model that was chosen."""
        options = self._assembly.options
        return replace(options, model_group=self._group) if self._group else options

    def _person(self, session: Session) -> PanelInteraction:
        def publish(event: Event) -> None:
            self._assembly.feed.publish(event)
            session.put(event)

        self._people[session.id] = PanelInteraction(session.id, publish, self._say)
        return self._people[session.id]

    def _open(self) -> list[Conversation]:
        found = (self._assembly.conversation(name) for name in self._people)
        return [conversation for conversation in found if conversation is not None]

    def _session_or_shown(self, session: str) -> str:
        return session or self._shown
