"""One session at work: what a person (or a program in a person's place) does with it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.agents.auto_settings import AutoSettings, read_auto_settings
from jarvis_ls.agents.node import Ending
from jarvis_ls.agents.records import ROOT
from jarvis_ls.agents.tree import Tree
from jarvis_ls.assembly.agents import Agents
from jarvis_ls.assembly.analysis import Analysis
from jarvis_ls.assembly.auto import Auto
from jarvis_ls.assembly.commands import builtin_commands
from jarvis_ls.assembly.environment import place_text, state_text, top_level
from jarvis_ls.assembly.permissions import read_permissions
from jarvis_ls.assembly.rewind import Past, RewindWhat, Rewound
from jarvis_ls.assembly.settings import read_all_hooks
from jarvis_ls.assembly.settings_file import section
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.assembly.sharing import Team
from jarvis_ls.assembly.tools import ToolSources, join_tools
from jarvis_ls.assembly.workplace import Workplace
from jarvis_ls.core.errors import ConfigError, JarvisError, UsageError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.agent_view import Showing, new_id
from jarvis_ls.runtime.agent.command_hooks import CommandHooks
from jarvis_ls.runtime.agent.compaction import compact
from jarvis_ls.runtime.agent.hooks import Hooks, load_callbacks
from jarvis_ls.runtime.agent.prompts import joined, prompt
from jarvis_ls.runtime.agent.startup import Statistics
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.agent.user_input import Commands, Input, InputContext, Inputs, Shell
from jarvis_ls.runtime.base.events import Mode, SessionPut
from jarvis_ls.runtime.base.messages import Image
from jarvis_ls.runtime.base.redaction import redact
from jarvis_ls.runtime.context.agent_files import load_agent_files
from jarvis_ls.runtime.context.rules_files import (
    Rules,
    RulesSettings,
    load_rules,
    read_rules_settings,
)
from jarvis_ls.runtime.edits.checkpoints import Checkpoints
from jarvis_ls.runtime.edits.text_file import Seen
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.sandbox.background import SERVICE as SERVICE_OF_BACKGROUND
from jarvis_ls.runtime.sandbox.background import BackgroundScripts
from jarvis_ls.runtime.session.history import History
from jarvis_ls.runtime.session.session import Session, SessionBusy
from jarvis_ls.runtime.tools.consent import Consents, settle
from jarvis_ls.runtime.tools.interaction import NonInteractive
from jarvis_ls.runtime.tools.long_output import Outputs
from jarvis_ls.runtime.tools.mode import IN_COPY, KEY, mode_of
from jarvis_ls.runtime.tools.permissions import Permissions, shown
from jarvis_ls.runtime.tools.tool import ToolContext
from jarvis_ls.tools.edit_checks import EditChecks

PLANNED = "planned"
"""Under this name the session's data tells that it was in plan mode before."""

logger = logging.getLogger(__name__)


class Conversation:
    """One session at work. Everything here is for the event loop it was begun on."""

    def __init__(self, assembly: SharedState, session: Session, place: Workplace) -> None:
        """For `Assembly.start`; call `begin`."""
        self.assembly = assembly
        self.session = session
        self.place = place
        self.feed = assembly.feed
        self.options = place.options
        self.problems: list[str] = list(assembly.problems)
        """What could not be loaded or read, in words for the user."""
        if session.damage:
            self.problems.append(
                Words(
                    (
                        "Part of this session could not be read and was skipped ({damage}; {n} in "
                        "all). Everything else is available."
                    ),
                    damage=session.damage[0],
                    n=len(session.damage),
                )
            )
        self.team = Team(assembly.home, assembly.settings, assembly.environment)
        """What is shared with others."""
        self.problems += self.team.problems
        self._refreshing: asyncio.Task[None] | None = None
        self.memory = Memory(
            assembly.home,
            place.homes[0] if place.homes else None,
            trusted=place.trusted,
            redact=redact,
            central=self.team.part("methodologies"),
        )
        self.checkpoints = Checkpoints(assembly.home, session.id)
        self.history = History(session.path)
        self.hooks = Hooks()
        self.commands = Commands([*builtin_commands(self), *place.commands])
        self.rules = Rules(())
        self.rules_settings = RulesSettings()
        self._permissions, wrong = read_permissions(
            assembly.settings, assembly.home, place, lambda: self.mode
        )
        self.problems += wrong
        self.agents = Agents(self)
        self._past = Past(self, self.agents)
        self.consents = Consents(assembly.home)
        self._told: set[str] = set()
        self._asked: set[str] = set()
        """What was asked for already; a refusal holds for this time."""
        self._tools: ToolSources | None = None
        self._ends: set[asyncio.Task[None]] = set()
        self._unsaved = False
        """Whether something was sent since the session was brought onto the disk."""
        self._callbacks = 0
        for event in session.events():
            self.feed.publish(event)
        settings = assembly.tree_settings(self.options.model_group)
        if place.parallel:
            settings = replace(settings, parallel=place.parallel)
        self.tree = Tree(
            session,
            self.feed,
            self.agents.of,
            interaction=place.interaction,
            settings=settings,
            title=self.options.name,
            say=place.say or str,
        )
        self.auto = Auto(self, self.agents, self._read_auto_settings())
        self._place_text = self._state_text = ""
        self._analysis = Analysis(
            place.roots, trusted=place.trusted, buffers=place.services.get("buffers")
        )
        self._checks = EditChecks(self._analysis)
        self._outputs = Outputs(assembly.home, session.id)
        self.background = BackgroundScripts(session, self._outputs)
        """The scripts that run in the background."""
        self.tree.end_with(self.background.end_of)
        self.context = ToolContext(place.roots, session.id, ROOT, place.trusted, self._services())
        self.command_hooks = self._read_command_hooks()

    @classmethod
    async def begin(cls, assembly: SharedState, session: Session, place: Workplace) -> Conversation:
        """For `Assembly.start`."""
        self = cls(assembly, session, place)
        self.rules_settings = self._read_rules_settings()
        self.rules = await asyncio.to_thread(
            load_rules,
            place.homes,
            assembly.home,
            place.trusted,
            folders=self.rules_settings.folders,
            peers=self.rules_settings.peers,
            central=self.team.rules(self.rules_settings),
        )
        self._refreshing = self.team.refresh(self.problems.append)
        self._tools = await join_tools(
            assembly.home,
            place,
            assembly.settings,
            assembly.environment,
            self._permissions,
            self.consents,
            self.team,
        )
        self.problems += self._tools.problems
        self.tree.profiles = await asyncio.to_thread(
            load_agent_files, assembly.home, place.homes, trusted=place.trusted
        )
        self.problems += self.tree.profiles.problems
        await self.look_around()
        listing = await asyncio.to_thread(top_level, place.roots[0]) if place.roots else ""
        self._place_text = place_text(
            place.roots,
            trusted=place.trusted,
            attended=not (
                place.options.non_interactive or isinstance(place.interaction, NonInteractive)
            ),
            sandbox=await asyncio.to_thread(assembly.sandbox.expected),
            listing=listing,
        )
        loaded = load_callbacks(
            self.hooks, roots=place.roots, trusted=place.trusted, environment=assembly.environment
        )
        self.problems += loaded.problems
        self._callbacks = len(loaded.loaded)
        return self

    # -- talking -----------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """Id of the session."""
        return self.session.id

    @property
    def working(self) -> bool:
        """Return whether any agent is at work."""
        return self.tree.working or self.auto.running

    @property
    def permissions(self) -> Permissions:
        """The rules in force."""
        return self._permissions

    @property
    def sources(self) -> ToolSources:
        """The sources of its tools: skills and tool servers with their state."""
        assert self._tools is not None
        return self._tools

    def place_text(self) -> str:
        """Return where its agents work: what stays the same, then what may change."""
        return joined(self._place_text, self.place.note, self._state_text)

    async def look_around(self) -> None:
        """Take note of the date and of the state of the repository, before a task."""
        self._state_text = await asyncio.to_thread(state_text, self.place.homes)

    async def send(
        self, text: str, images: Sequence[Image] = (), *, to: str = ROOT
    ) -> Ending | None:
        """Say something; what an agent does about it continues after this returns (see `wait`).
        Gives how it ended where no agent has anything to do (see `ask`).

        Commands and `!shell` are carried out before it returns and need no model. While the
        agent works, words are queued. What goes wrong is shown in the conversation.
        Raises `SessionBusy` when another process writes the session.
        """
        return await self._say(text, images, to)

    async def wait(self, node: str = ROOT) -> Ending:
        """Return how the work of a node ends, for the root that of auto mode; at once when it does
        not work."""
        if node == ROOT and self.auto.running:
            return await self.auto.wait()
        return await self.tree.wait(node)

    async def rest(self) -> None:
        """Wait until neither auto mode nor any agent works."""
        while self.working:
            if self.auto.running:
                await self.auto.wait()
            for node in list(self.tree.walk()):
                if node.id in self.tree:  # a full tree forgets those that have ended
                    await self.tree.wait(node.id)
            await asyncio.sleep(0)

    async def ask(
        self, text: str, images: Sequence[Image] = (), *, form: AnswerForm | None = None
    ) -> Ending:
        """Say something and wait for the end of the work. With `form` the last answer must meet
        that, and is the ending's `value`.

        What needs no agent ends at once: a command with what it answers, as failed when it could
        not do what was asked, and words when no model is configured as failed too, with what to
        set as the error. Raises `UsageError` when an answer is to meet a form and an agent works.
        """
        if form is None:
            return await self._say(text, images, ROOT) or await self.wait()
        if self.working:
            raise UsageError("An agent is running; stop it first.")
        self.tree.root.form = form
        try:
            return await self._say(text, images, ROOT) or await self.wait()
        finally:
            self.tree.root.form = None

    def say(self, text: str, images: Sequence[Image] = (), *, to: str = ROOT) -> None:
        """Queue words for a node that works."""
        self.tree.send(text, images, to=to)

    async def begin_auto(self, task: str = "", *, is_shown: bool = False) -> None:
        """Let auto mode work on a task, or resume what it has left; it goes on after this returns.

        `is_shown` says that the user sees the task already. Raises `UsageError` while an agent
        works and when nothing is left, `SessionBusy`, and `JarvisError` when no model can be asked.
        """
        self._check_writable()
        self._tell_problems()
        await self._settle_consents()
        self._prepare_scripts(ROOT)
        if task:
            self.auto.begin(task, is_shown=is_shown)
        else:
            self.auto.resume()
        self._follow_work()

    # -- steering ----------------------------------------------------------------------------

    async def stop(self, node: str = ROOT) -> None:
        """End a node and all below it; when this returns nothing of them runs any more."""
        if node == ROOT:
            self.auto.begin_stop()
        await self.tree.cancel(node, Words("Stopped by the user."))
        if node == ROOT:
            await self.auto.end()

    def pause(self, node: str = ROOT) -> list[str]:
        """Hold a node and all below it before their next step; the ids of those it concerned."""
        return self.tree.pause(node)

    def resume(self, node: str = ROOT) -> list[str]:
        """Let them continue; the ids of those it concerned."""
        return self.tree.resume(node)

    def redirect(self, text: str, node: str = ROOT) -> None:
        """End the step that runs, and do this instead."""
        self.tree.redirect(node, text)

    def pick_model(self, group: str, node: str = ROOT) -> None:
        """Use a group or one `provider/model` for a node from its next turn on.

        Raises `ModelMissing` or `ConfigError` when it cannot be asked.
        """
        self.assembly.group(group)
        self.tree.node(node).show(group=group)
        self.agents.forget(node)

    @property
    def mode(self) -> Mode:
        """Return how much its agents may do without being asked."""
        return mode_of(self.session.data)

    def set_mode(self, mode: Mode) -> None:
        """Choose how much its agents may do from now on. Raises `SessionBusy`."""
        if mode == "plan":
            self.session.data[PLANNED] = True
        self.session.data[KEY] = mode
        self._tell_session()

    def tell_copy(self) -> None:
        """Tell who shows the session that its folder is a copy of the user's files."""
        self.session.data[IN_COPY] = True
        self._tell_session()

    def mode_text(self) -> str:
        """Return what agents read of the mode; empty where none was planned."""
        if self.mode == "plan":
            return prompt("plan_mode")
        return prompt("plan_mode_over") if self.session.data.get(PLANNED) else ""

    async def rewind(
        self, entry: str, what: RewindWhat = "both", only: Sequence[Path] = ()
    ) -> Rewound:
        """Go back to before a `UserEntry`: the files (`only` some), the conversation, or both.

        Words that are queued are taken back, and what is going on continues. Raises `UsageError`
        when there is no such entry, or no checkpoint for the files.
        """
        return await self._past.rewind(entry, what, only)

    async def fork(self, entry: str = "") -> str:
        """Begin a new session with what was said before an entry, or all of it; its id."""
        return await self._past.fork(entry)

    def begin_anew(self) -> None:
        """Let the model forget what was said; the session keeps it."""
        self.session.clear(ROOT)
        self.agents.forget(ROOT)

    async def save_memories(self) -> bool:
        """Let the model save what is worth remembering; whether it did."""
        agent = self.agents.of(self.tree.root)
        return await self.agents.saving(agent, force=False).save()

    async def compact(self) -> str:
        """Replace the conversation by its summary; what the user reads.

        Raises `UsageError` while an agent works, and a `ModelError`.
        """
        if self.working:
            raise UsageError("An agent is running; stop it first.")
        if not self.session.messages(ROOT):
            return Words("No messages yet.")
        done = await compact(self.agents.of(self.tree.root))
        if done is None:
            return Words("No summary could be made; the conversation continues unchanged.")
        return done.summary or Words("The conversation was sent to the model as a file.")

    def rename(self, title: str) -> None:
        """Give the session a title."""
        self.session.set_title(title)
        self._tell_session()

    async def statistics(self) -> Statistics:
        """Return statistics of what an agent of the conversation starts with."""
        heads = await self.memory.heads(session=self.id)
        kinds = [head.kind for head in heads]
        group = self.tree.root.info.group
        assert self._tools is not None
        tools = [spec.name for spec in self._tools.toolset.specs()]
        return Statistics(
            str(self.place.roots[0]) if self.place.roots else "",
            "" if self.assembly.missing_model(group) else group,
            sum(self.tree.root.may_use(name) for name in tools),
            len(tools),
            sum(1 for file in self.rules.files if file.text),
            kinds.count("project_long_term"),
            kinds.count("global_long_term"),
            callbacks=self._callbacks,
            problems=(*self.problems, *self.rules.notes),
        )

    async def close(self) -> None:
        """End everything and let others open the session."""
        self.auto.begin_stop()
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait({self._refreshing})
        await self.tree.close()
        await self.auto.end()
        await self.background.end_all(Words("the session was closed"))
        await self.assembly.sandbox.end_preparation(self.id)
        if self._ends:
            await asyncio.wait(self._ends)
        if self._tools is not None:
            await self._tools.close()
        await self._checks.close()
        await self._analysis.close()
        await asyncio.to_thread(self._outputs.close)
        self.memory.end_session(self.id)
        self.assembly.forget(self.id)
        await asyncio.to_thread(self.session.close)

    # -- below: how the parts are joined -------------------------------------------------------

    async def _settle_consents(self) -> None:
        """Ask for skills and tool servers that wait for the user's consent, each once."""
        assert self._tools is not None
        pending = [request for request in self._tools.pending() if request.key not in self._asked]
        self._asked |= {request.key for request in pending}
        if not pending:
            return
        refused = await settle(pending, self.consents, self.place.interaction, ROOT)
        self._tools.refresh()
        if refused:
            names = ", ".join(f"`{shown(request.name)}`" for request in refused)
            self._showing().notice(
                "info",
                (
                    "Waiting for your consent: {names}. `/skills` and `/servers` show why; "
                    "`jarvis skills allow NAME` and `jarvis servers allow NAME` allow them."
                ),
                names=names,
            )

    async def checkpoint(self) -> str:
        """Keep the files as they are before a turn; the id, empty when nothing is kept."""
        if not self.place.trusted or not self.place.roots:
            return ""  # in an untrusted folder nothing is written
        return await self.checkpoints.take(self.place.roots)

    async def _say(self, text: str, images: Sequence[Image], to: str) -> Ending | None:
        """See `send`; the ending of what no agent works on."""
        if not text.strip() and not images:
            return None
        self._check_writable()
        self._tell_problems()
        if text.lstrip().startswith(("/", "!")):
            was_auto = self.auto.running
            said = await self._carried_out(text, images)
            if self.auto.running and not was_auto:
                return None
            if said.done:
                error = said.text if said.failed else ""
                return Ending("failed" if said.failed else "completed", said.text, error)
            text, images = said.text, said.images
        group = self.tree.node(to).info.group
        if (missing := self.assembly.missing(group)) is not None:
            showing = self._showing()
            showing.user(new_id(), text, images)
            showing.fault(str(missing), missing)
            return Ending("failed", error=str(missing))
        await self._settle_consents()
        self._prepare_scripts(to)
        self.tree.send(text, images, to=to)
        self._follow_work()
        return None

    def _check_writable(self) -> None:
        if why := self.session.read_only:
            raise SessionBusy("This session is read-only: {why}.", why=why)

    def _follow_work(self) -> None:
        """Bring the session onto the disk when what has begun has ended."""
        self._tell_session()
        self._unsaved = True
        if all(end.done() for end in self._ends):
            end = asyncio.create_task(self._turn_ended())
            self._ends.add(end)
            end.add_done_callback(self._ends.discard)

    def _prepare_scripts(self, node: str) -> None:
        """Make what scripts need ready while the model thinks, where programs may be run."""
        tool = "execute_script"
        if (
            self.place.trusted
            and self.tree.node(node).may_use(tool)
            and self._permissions.lets_run(tool)
        ):
            self.assembly.sandbox.prepare(self.place.roots, self.id, trusted=True)

    async def _carried_out(self, text: str, images: Sequence[Image]) -> Input:
        """Do what a command says; what is not done is left for the model."""
        showing = self._showing()
        assert self._tools is not None
        place = InputContext(
            self.context,
            self._tools.toolset,
            showing,
            self.place.interaction,
            self.agents.known(ROOT),
        )
        is_command = True
        if text.lstrip().startswith("/"):
            with contextlib.suppress(JarvisError):
                is_command = self.commands.find(text) is not None
        if not is_command:
            return Input(text, tuple(images))
        showing.user(new_id(), text, images)
        said = await Inputs([self.commands, Shell(text)]).handle(text, images, place)
        if said.done and said.text:
            showing.notice("error" if said.failed else "info", said.text)
        return said

    def _showing(self) -> Showing:
        root = self.tree.root
        return Showing(self.session, self.feed, root.info, root, self.place.say)

    def _read_rules_settings(self) -> RulesSettings:
        try:
            return read_rules_settings(
                section(self.assembly.settings, "rules"), self.assembly.environment
            )
        except ConfigError as error:
            self.problems.append(str(error))
            return RulesSettings()

    def _read_auto_settings(self) -> AutoSettings:
        try:
            return read_auto_settings(section(self.assembly.settings, "auto"))
        except ConfigError as error:
            self.problems.append(str(error))
            return AutoSettings()

    def _read_command_hooks(self) -> CommandHooks:
        """Read the hooks; in a workspace that is not trusted none runs."""
        settings, home = self.assembly.settings, self.assembly.home
        try:
            found = read_all_hooks(settings, home, self.place.homes) if self.place.trusted else []
        except ConfigError as error:
            why = Words("{why} Until then no tool is called.", why=error)
            self.problems.append(why)
            return CommandHooks((), self.context, why)
        return CommandHooks(found, self.context)

    def _services(self) -> dict[str, Any]:
        from jarvis_ls.agents.tools.sub_agent import SERVICE
        from jarvis_ls.tools.code_analysis import SERVICE as ANALYSIS

        return {
            "interaction": self.place.interaction,
            "feed": self.feed,
            "session": self.session,
            "memory": self.memory,
            "checkpoints": self.checkpoints,
            "seen": Seen(),
            "permissions": self._permissions,
            "sandbox": self.assembly.sandbox,
            "outputs": self._outputs,
            SERVICE_OF_BACKGROUND: self.background,
            ANALYSIS: self._analysis,
            "after_edit": self._checks,
            SERVICE: self.tree,
            **self.place.services,
        }

    async def _turn_ended(self) -> None:
        """Once nothing works any more: bring the session onto the disk, and tell its lists."""
        try:
            while self._unsaved:
                self._unsaved = False
                await self.rest()
                await asyncio.to_thread(self.session.sync)
                await self.history.record(self.session)
                self._tell_session()
        except JarvisError as error:
            logger.error("the session could not be brought onto the disk: %s", error)

    def _tell_problems(self) -> None:
        """Say once, where everybody looks, what could not be read or loaded; not kept."""
        problems = [problem for problem in self.problems if problem not in self._told]
        self._told.update(problems)
        if problems:
            self._showing().notice(
                "warning",
                "Some things could not be loaded:\n{problems}",
                kept=False,
                problems=together(
                    [Words("- {problem}", problem=problem) for problem in problems], "\n"
                ),
            )

    def _tell_session(self) -> None:
        self.session.working = self.working
        self.feed.publish(SessionPut(self.session.info))
