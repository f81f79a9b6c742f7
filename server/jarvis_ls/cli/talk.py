"""`jarvis` and `jarvis -m`: one thing said, or a conversation line by line."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from jarvis_ls.agents.node import Ending
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.cli.choices import choices_in_words, chosen
from jarvis_ls.cli.event_lines import EventLines
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak, speaker
from jarvis_ls.cli.project import Disk
from jarvis_ls.cli.screen import Screen, sandbox_in_words, wants_colour
from jarvis_ls.cli.stdin_queue import Listener
from jarvis_ls.cli.terminal import Terminal
from jarvis_ls.cli.terminal_commands import Steering, turn_in_words
from jarvis_ls.cli.trust import is_trusted, remember_trust
from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular, user_folder
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import EntryPut, Event, Mode, NodeInfo, ProposedEdit, ToolEntry
from jarvis_ls.runtime.tools.interaction import Interaction, NonInteractive, Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked, PermissionRule, shown_target

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation
    from jarvis_ls.runtime.agent.typed_answer import AnswerForm
    from jarvis_ls.runtime.agent.user_input import Command
    from jarvis_ls.runtime.base.options import AgentOptions

TRUST = Words(
    "Do you trust the files in {folder}? If yes, agents can edit files and run "
    "commands (each needs your approval), and the folder's own tools, skills "
    "and tool servers are loaded. [y]es, [n]o: "
)
ALONE = Words("It needs approval, but the session is not interactive ({option} allows it).")
STATUS_OF: Mapping[str, ExitStatus] = {
    "completed": ExitStatus.SUCCESS,
    "missing": ExitStatus.USAGE_ERROR,
}
"""By how a turn ended; every other end is a failure."""
_PROMPTS: Mapping[Mode, str] = {"ask": "> ", "edits": "edits> ", "plan": "plan> "}
ALONE_ANYWAY = Words("It needs approval, but the session is not interactive.")
"""Where every call is confirmed, no option gives it."""


def run_talk(options: argparse.Namespace) -> ExitStatus:
    """Do what `jarvis` asks for without a command; returns the exit status."""
    if not options.folder.is_dir():
        raise UsageError("{folder}: no such folder", folder=options.folder)
    return asyncio.run(Talk(options).run())


class Talk:
    """A conversation at the terminal, or one thing said."""

    program = "jarvis"
    message_option = "-m"
    """What says the one thing."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder = Path(os.path.realpath(options.folder))
        self._message = self._read_message()
        self._form = _form(options.schema)
        self._ending = Ending("failed")
        once = self._message is not None
        if not once and (options.json or self._form is not None):
            raise UsageError("--json and --schema need -m")
        aside = sys.stderr if once else sys.stdout
        colour = {"always": True, "never": False}.get(options.color, wants_colour(aside))
        self._lines_out = EventLines(sys.stdout) if options.json else None
        self._screen = Screen(
            self._answers_to(),
            aside,
            colour=colour,
            thinking=options.thinking,
            only_last=once and (not sys.stdout.isatty() or options.json or bool(options.schema)),
        )
        self._attended = sys.stdin.isatty() and sys.stderr.isatty()
        self._prompt: Any = None
        self._conversation: Conversation | None = None
        self._listener = Listener(self._handle_line)
        self._hearing: set[asyncio.Task[None]] = set()
        self._steering = Steering(self._open)
        self._leaving = False
        self._is_typing = False
        """Whether a line is typed, above which things are shown."""

    async def run(self) -> ExitStatus:
        """Talk; return the exit status."""
        assembly = self._assembly()
        for problem in assembly.problems:
            self._screen.say(problem, "red")
        trusted = await self._ask_trust(assembly.home)
        if not trusted:
            leave_out(self._folder)
        wanted = self._options.session
        end = assembly.feed.observe(self._show_event)
        try:
            while True:
                conversation = self._conversation = await self._start(assembly, trusted, wanted)
                for problem in conversation.problems[len(assembly.problems) :]:
                    self._screen.say(problem, "yellow")
                if self._message is not None:
                    return await self._once(conversation, self._message)
                status = await self._lines(conversation)
                await self._end_scripts(conversation)
                if not self._steering.session:
                    return status
                wanted, self._steering.session = self._steering.session, ""
                await conversation.close()
        finally:
            end()
            left = self._conversation
            is_empty = left is not None and not left.session.info.messages
            await assembly.close()
            if (
                left is not None and is_empty and not wanted
            ):  # only commands: nothing to continue with
                await asyncio.to_thread(assembly.sessions.delete, left.id)

    # -- one thing, or many ----------------------------------------------------------------------

    async def _once(self, conversation: Conversation, text: str) -> ExitStatus:
        if text.lstrip().startswith("/"):
            conversation.commands.find(text)  # one that is not known is wrong use
        if self._lines_out is not None:
            self._lines_out.begin(
                session=conversation.id,
                folder=str(self._folder),
                model=conversation.tree.root.info.group,
                trusted=conversation.place.trusted,
            )
        before = conversation.tree.root.info
        status = await self._turn(conversation, text)
        await self._end_scripts(conversation)
        status = await self._after_turn(conversation, text, status)
        self._tell_end(conversation, before, status)
        if conversation.session.info.messages:
            self._screen.say(Words("session {id}", id=conversation.id), "dim")
        return status

    async def _end_scripts(self, conversation: Conversation) -> None:
        """End what runs in the background, and say so."""
        left = ", ".join(script.id for script in conversation.background.running)
        if left:
            await conversation.background.end_all(Words("the session was closed"))
            self._screen.say(
                Words("Scripts in the background were ended: {ids}", ids=left), "yellow"
            )

    def _tell_end(self, conversation: Conversation, before: NodeInfo, status: ExitStatus) -> None:
        """Print the answer, or all of how it ended."""
        ending, form = self._ending, self._form
        has_value = status == ExitStatus.SUCCESS and form is not None and ending.value is not None
        value = form.plain(ending.value) if has_value and form is not None else None
        if has_value and self._lines_out is None:
            self._screen.drop()
            self._screen.answer(json.dumps(value, ensure_ascii=False, indent=2))
        self._screen.release(answered=status == ExitStatus.SUCCESS and self._lines_out is None)
        if self._lines_out is not None:
            info = conversation.tree.root.info
            self._lines_out.end(
                status,
                state=ending.state,
                text=ending.text,
                value=value,
                error=speak(ending.error),
                rounds=info.rounds - before.rounds,
                usage=info.subtree - before.subtree,
            )

    async def _lines(self, conversation: Conversation) -> ExitStatus:
        """Line by line, until the end of the input."""
        await self._greet(conversation)
        while not self._steering.session and not self._leaving:
            try:
                draft, self._steering.draft = self._steering.draft, ""
                text = await self._read(_PROMPTS[conversation.mode], draft)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return ExitStatus.SUCCESS
            if text.strip() in ("/exit", "/quit"):
                return ExitStatus.SUCCESS
            if text.strip():
                try:
                    status = await self._turn(conversation, text)
                    await self._after_turn(conversation, text, status)
                except JarvisError as error:
                    self._screen.say(str(error), "red")
        return ExitStatus.SUCCESS

    async def _turn(self, conversation: Conversation, text: str) -> ExitStatus:
        """Say something and wait for the end; Ctrl-C ends the turn. Lines typed meanwhile are
        queued, or steer it."""
        before = conversation.tree.root.info.subtree
        self._screen.whole = text.lstrip().startswith("!")
        said = asyncio.ensure_future(self._say(conversation, text))
        interrupted = False

        def interrupt() -> None:
            nonlocal interrupted
            interrupted = True
            asyncio.ensure_future(conversation.stop())  # noqa: RUF006 - `said` ends with it
            if not conversation.working:
                said.cancel()

        person = conversation.place.interaction
        asked: contextlib.AbstractAsyncContextManager[None] = contextlib.nullcontext()
        if isinstance(person, Terminal):
            person.interrupt = interrupt
            asked = person.turn()
        listening = self._listener.listening() if self._attended else contextlib.nullcontext()
        with _on_interrupt(interrupt), listening:
            async with asked:
                state = await self._end_state(conversation, said)
        self._screen.end_line()
        if conversation.tree.root.info.subtree != before:
            self._screen.say(turn_in_words(conversation, before), "dim")
        if interrupted:
            return ExitStatus.INTERRUPTED
        return STATUS_OF.get(state, ExitStatus.FAILURE)

    async def _end_state(self, conversation: Conversation, said: asyncio.Future[str]) -> str:
        """Return how a turn ended, when all of it has."""
        try:
            state = await said
            while conversation.working or self._hearing:  # words came just as it ended
                await asyncio.gather(*self._hearing)
                await conversation.rest()  # children may work on when the root has ended
                state = (await conversation.wait()).state
        except asyncio.CancelledError:
            return "cancelled"
        return state

    def _handle_line(self, line: str) -> None:
        """Handle a line that was typed while a turn runs."""
        if line.strip() in ("/exit", "/quit"):
            self._leaving = True
            line = ""
            task = asyncio.ensure_future(self._open().stop())
        elif line.strip():
            task = asyncio.ensure_future(self._said_meanwhile(line))
        else:
            return
        self._hearing.add(task)
        task.add_done_callback(self._hearing.discard)

    async def _said_meanwhile(self, line: str) -> None:
        try:
            await self._open().send(line)
        except JarvisError as error:
            self._screen.say(str(error), "red")

    def _open(self) -> Conversation:
        assert self._conversation is not None
        return self._conversation

    async def _say(self, conversation: Conversation, text: str) -> str:
        """Return how it ended: a state, or `missing` without a model."""
        is_command = text.lstrip().startswith(("/", "!"))
        why = self._missing(conversation)
        if why and not is_command:
            program = "" if self._message is None else f"{self.program}: "
            self._screen.say(program + speak(why), "red")
            self._ending = Ending("failed", error=why)
            return "missing"
        with self._screen.expecting() as answered:
            if self._form is not None and not is_command:
                conversation.tree.root.form = self._form
            ended = await conversation.send(text)
            if ended is not None and ended.text:
                answered()
        ending = self._ending = ended or await conversation.wait()
        return "missing" if why and ending.error == why else ending.state

    @staticmethod
    def _missing(conversation: Conversation) -> str:
        return conversation.assembly.missing_model(conversation.tree.root.info.group)

    def _show_event(self, event: Event) -> None:
        session = getattr(event, "session", "")
        if self._conversation is not None and session == self._conversation.id:
            self._show_beside_prompt(event)
            if self._lines_out is not None:
                self._lines_out.show(event)

    def _show_beside_prompt(self, event: Event) -> None:
        """Show an event; what a script in the background comes to, above the line being typed."""
        entry = event.entry if isinstance(event, EntryPut) else None
        if not self._is_typing or not isinstance(entry, ToolEntry) or entry.state == "running":
            self._screen.show(event)
            return
        from prompt_toolkit.application import run_in_terminal

        def show() -> None:
            self._screen.show(event)
            if entry.state == "asked":
                told = Words("{id} has changed files; /background shows them", id=entry.background)
                self._screen.say(told, "yellow")

        run_in_terminal(show)

    async def _greet(self, conversation: Conversation) -> None:
        self._screen.say(await self._banner(conversation), "bold")
        title = conversation.session.info.title
        if title:
            self._screen.say(Words("resuming: {title}", title=title), "bold")
        why = self._missing(conversation)
        if why:
            self._screen.say(why, "yellow")
        self._screen.say(Words("/help lists commands; Ctrl-C stops the turn, Ctrl-D exits"), "dim")

    async def _banner(self, conversation: Conversation) -> str:
        """Return where one is: the folder, the model that answers, and what confines scripts."""
        parts = [f"Jarvis · {shown_target(str(self._folder))}"]
        if not self._missing(conversation):
            group = conversation.assembly.group(conversation.tree.root.info.group)
            parts.append(speak(Words("model: {name}", name=group.preferred)))
        isolation = await asyncio.to_thread(conversation.assembly.sandbox.expected)
        if not conversation.place.trusted:
            parts.append(speak(Words("not trusted: files are only read")))
        elif isolation:
            parts.append(speak(sandbox_in_words(isolation)))
        return " · ".join(parts)

    # -- beginning -------------------------------------------------------------------------------

    async def _start(self, assembly: Assembly, trusted: bool, wanted: str | None) -> Conversation:
        from jarvis_ls.cli.stored_data import find_session

        session = None
        if wanted:
            session = find_session(assembly.sessions, wanted, self._folder)
        return await self._start_session(assembly, trusted, session)

    def _assembly(self) -> Assembly:
        """Return the settings and what is made of them."""
        from jarvis_ls.assembly.bootstrap import build

        return build(arguments={"model_group": self._options.model})

    def _read_message(self) -> str | None:
        """Return what to say once; None for a conversation."""
        return _message(self._options, self.message_option)

    def _answers_to(self) -> TextIO:
        """Return where answers are written."""
        return sys.stderr if self._options.json else sys.stdout

    def _rules(self) -> list[PermissionRule]:
        return [PermissionRule("allow", kind=k, target=t) for k, t in self._options.allow]

    def _commands(self, assembly: Assembly) -> list[Command]:
        from jarvis_ls.lsp.panel.commands import as_commands

        return [
            *as_commands(Disk(self._folder, assembly.sessions), speaker()),
            *self._steering.commands(),
        ]

    async def _after_turn(
        self, conversation: Conversation, text: str, status: ExitStatus
    ) -> ExitStatus:
        """Do what a turn that was begun with `text` is followed by; return how it ended."""
        return status

    async def _start_session(
        self, assembly: Assembly, trusted: bool, session: str | None
    ) -> Conversation:
        """Begin a conversation, or continue with a session."""
        return await self._open_session(
            assembly,
            session,
            [self._folder],
            replace(assembly.options, non_interactive=not self._attended),
            Additions(self._commands(assembly), rules=self._rules()),
            trusted,
        )

    async def _open_session(
        self,
        assembly: Assembly,
        session: str | None,
        roots: Sequence[Path],
        options: AgentOptions,
        additions: Additions,
        trusted: bool,
    ) -> Conversation:
        conversation = await assembly.start(
            session,
            roots,
            self._person(),
            trusted=trusted,
            options=options,
            additions=additions,
            say=speak,
        )
        if self._options.mode:
            conversation.set_mode(self._options.mode)
        self._screen.know(conversation.session.events())
        if conversation.session.read_only:
            await conversation.close()
            raise UsageError(
                (
                    "the session is read-only: {why}; close it there, or start a new one "
                    "without --session"
                ),
                why=conversation.session.read_only,
            )
        return conversation

    def _person(self) -> Interaction:
        return Terminal(self._screen, self._read, self._forget) if self._attended else Alone()

    async def _ask_trust(self, home: Path) -> bool:
        """Return whether the user trusts the folder: by option, from an earlier time, or now
        asked.
        """
        if self._options.trust:
            return True
        if is_trusted(self._folder, home):
            return True
        if not self._attended:
            return False
        try:
            question = speak(Words(TRUST.template, folder=self._folder))
            while (letter := chosen("[y]es, [n]o", await self._read(question))) != "n":
                if letter == "y":
                    remember_trust(self._folder, home)
                    return True
                wrong = Words("Please answer {choices}.", choices=choices_in_words(question))
                self._screen.say(wrong, "yellow")
        except (EOFError, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        return False

    async def _read(self, prompt: str, draft: str = "") -> str:
        """Return a line of the terminal, with history, editing and completion of commands."""
        from prompt_toolkit.shortcuts import CompleteStyle

        if self._prompt is None:
            self._prompt = _prompt_session()
        main = prompt in _PROMPTS.values()
        with self._listener.asking(), self._typing(main):
            line: str = await self._prompt.prompt_async(
                prompt,
                default=draft,
                completer=self._completer() if main else None,
                complete_style=CompleteStyle.READLINE_LIKE,
                enable_history_search=main,
                handle_sigint=False,  # Ctrl-C is a key here, and outside it is `_on_interrupt`'s
            )
        return line

    @contextlib.contextmanager
    def _typing(self, main: bool) -> Iterator[None]:
        """Within this the person types what comes next, when it is the `main` prompt."""
        self._is_typing = main
        try:
            yield
        finally:
            self._is_typing = False

    def _forget(self) -> None:
        """Drop what was typed and not read yet."""
        from prompt_toolkit.input.typeahead import clear_typeahead

        if self._prompt is None:
            self._prompt = _prompt_session()
        clear_typeahead(self._prompt.input)
        _drop_typed()

    def _completer(self) -> Any:
        from prompt_toolkit.completion import WordCompleter

        assert self._conversation is not None
        names = [f"/{command.name}" for command in self._conversation.commands.all()]
        return WordCompleter([*names, "/exit"], sentence=True)


class Alone(NonInteractive):
    """There is no user: what needs consent is refused, with the option that would give it."""

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        kinds = ", ".join(sorted({f"--allow {action.kind}" for action in asked.actions}))
        helps = kinds and not asked.hidden
        note = Words(ALONE.template, option=kinds) if helps else ALONE_ANYWAY
        return Answer(False, note=note)

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`: what a rule allows is not asked."""
        return Review({}, Words(ALONE.template, option="--allow write"))


def _form(path: Path | None) -> AnswerForm | None:
    """Return the form that an answer must meet. Raises `UsageError` for no JSON schema."""
    if path is None:
        return None
    from jarvis_ls.runtime.agent.typed_answer import SchemaForm

    try:
        schema = json.loads(read_regular(path.absolute(), limit=1_000_000))
        if not isinstance(schema, dict):
            raise ValueError("it is not an object")
        return SchemaForm(schema)
    except SkippedFile as error:
        raise UsageError("{file}: {why}", file=path, why=error.reason) from None
    except (ValueError, RecursionError) as error:
        raise UsageError("{file} is not a JSON schema: {why}", file=path, why=error) from None


def _message(options: argparse.Namespace, option: str) -> str | None:
    """Return what to say once; None for a conversation."""
    if options.message is not None and options.message != "-":
        if not options.message.strip():
            raise UsageError("the message is empty")
        return str(options.message)
    if options.message == "-" or not sys.stdin.isatty():
        text = sys.stdin.read()
        if not text.strip():
            raise UsageError("the message is empty; say it with {option}", option=option)
        return text
    return None


def _prompt_session() -> Any:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.output import create_output

    history = user_folder() / "history"
    history.parent.mkdir(parents=True, exist_ok=True)
    return PromptSession(history=FileHistory(str(history)), output=create_output(sys.stdout))


def _drop_typed() -> None:
    """Take what the terminal holds of typed keys from it."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


@contextlib.contextmanager
def _on_interrupt(interrupt: Any) -> Any:
    """Ctrl-C calls `interrupt` instead of ending the program."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(interrupt))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
