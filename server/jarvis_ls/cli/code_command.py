"""`jca -r`: an agent changes code in a copy; the user sees the patch and decides."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from jarvis_ls.assembly.code_agent import (
    CodeTask,
    CodeWanted,
    Committed,
    code_options,
    open_task,
)
from jarvis_ls.assembly.settings_file import section
from jarvis_ls.cli.choices import choices_in_words, chosen
from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import diff_lines, visible
from jarvis_ls.cli.talk import Talk
from jarvis_ls.cli.trust import CODING
from jarvis_ls.codeagent.edit_guard import Consent
from jarvis_ls.codeagent.patch_text import count_lines, patch_text
from jarvis_ls.core.errors import ConfigError, JarvisError, UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.core.work_tree import find_work_tree
from jarvis_ls.runtime.edits.file_change import FileChange

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation

WRITE = Words("Write these changes to your files? [y]es, [n]o, [m]ore to say: ")
COMMIT = Words("Commit these changes? [y]es, [n]o, [m]ore to say: ")
MORE = Words("What else is to be done? ")
KEPT = Words("The changes are kept; --restore-session continues.")
_SHOWN = 10
"""Complaints of a check that are listed."""


def run_code(options: argparse.Namespace) -> ExitStatus:
    """Let an agent work on the requirement; returns the exit status."""
    import asyncio

    if not options.folder.is_dir():
        raise UsageError("{folder}: no such folder", folder=options.folder)
    if options.non_interactive and options.message is None:
        raise UsageError("-n needs -r: say what is to be done")
    if (options.prefix or options.suffix) and not (options.commit or options.branch):
        raise UsageError("--prefix and --suffix go with --commit or --branch")
    options.folder = find_work_tree(options.folder)
    return asyncio.run(CodeTalk(options).run())


class CodeTalk(Talk):
    """The talk about one repository."""

    program = "jca"
    message_option = "-r"

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._attended = self._attended and not options.non_interactive
        self._task: CodeTask | None = None
        self._is_done = True
        """Whether everything that was changed is decided on."""
        self._lost: list[str] = []
        """What the changes lose, when they were last shown."""

    async def run(self) -> ExitStatus:
        """See `Talk`."""
        try:
            return await super().run()
        finally:
            if self._task is not None:
                await self._task.end(is_done=self._is_done)

    def _assembly(self) -> Assembly:
        from jarvis_ls.assembly.bootstrap import build

        file: Path | None = self._options.config
        if file is not None and not file.is_file():
            raise UsageError("{file}: no such file", file=file)
        return build(
            arguments={"model_group": self._options.model},
            file=file.absolute() if file is not None else None,
        )

    def _answers_to(self) -> TextIO:
        """See `Talk`: where nobody is asked, standard output is for the patch."""
        return super()._answers_to() if self._is_at_terminal() else sys.stderr

    def _is_at_terminal(self) -> bool:
        return sys.stdin.isatty() and sys.stderr.isatty() and not self._options.non_interactive

    async def _start(self, assembly: Assembly, trusted: bool, wanted: str | None) -> Conversation:
        if not trusted:
            raise UsageError(
                "{why} Do that only if you trust the files in {folder}: use --trust, or run it at a"
                " terminal, where you are asked and the answer is saved.",
                why=CODING,
                folder=self._folder,
            )
        tools = self._tools(assembly)
        if self._task is None:
            self._task = open_task(assembly, self._read_wishes())
            self._is_done = False
            await self._task.begin()
            self._tell_notes(self._task)
        task = self._task
        wanted = wanted or task.session or None
        if wanted is not None and not any(s.id == wanted for s in assembly.sessions.list()):
            wanted = None
        conversation = await self._open_session(
            assembly,
            wanted,
            [task.workspace.folder],
            code_options(assembly.options, tools, attended=self._attended),
            task.additions(),
            trusted,
        )
        task.workspace.keep_session(conversation.id)
        known = conversation.sources.toolset.tools()
        if missing := [name for name in tools if name not in known]:
            raise UsageError("there is no tool {name}", name=missing[0])
        return conversation

    def _read_wishes(self) -> CodeWanted:
        options = self._options
        return CodeWanted(
            self._folder,
            Consent(self._attended, tests=options.allow_test_loss),
            restore=options.restore_session,
            commit=options.commit,
            branch=options.branch,
            prefix=options.prefix,
            suffix=options.suffix,
            rules=self._rules(),
            gitignore=options.complete_gitignore,
            line_ends=options.keep_line_ends,
            checks=not options.no_checks,
        )

    def _tools(self, assembly: Assembly) -> Sequence[str]:
        """Return the tools the agent may use; nothing for all that are offered."""
        from jarvis_ls.tools.discover import builtin_tools

        options = self._options
        more = [name.strip() for name in options.append_tools.split(",") if name.strip()]
        if options.tool_group is None:
            if not more:
                return ()
            offered = [tool.spec.name for tool in builtin_tools() if tool.offered]
            return tuple(dict.fromkeys([*offered, *more]))
        groups = section(assembly.settings, "tool_groups")
        group = groups.get(options.tool_group)
        if group is None:
            raise UsageError(
                "there is no group of tools {name} in [tool_groups]", name=options.tool_group
            )
        if not isinstance(group, list) or not all(isinstance(name, str) for name in group):
            raise ConfigError(
                "tool_groups.{name} must be a list of names.", name=options.tool_group
            )
        return tuple(dict.fromkeys([*group, *more]))

    def _tell_notes(self, task: CodeTask) -> None:
        for note in task.notes:
            self._screen.say(note, "yellow")
        if task.left_out:
            told = Words(
                "Not in the copy, because they are too large or cannot be read: {files}",
                files=", ".join(map(visible, task.left_out[:5])),
            )
            self._screen.say(told, "yellow")

    # -- what was changed ------------------------------------------------------------------------

    async def _turn(self, conversation: Conversation, text: str) -> ExitStatus:
        assert self._task is not None
        self._is_done = False
        status = ExitStatus.SUCCESS

        async def say(told: str) -> bool:
            nonlocal status
            status = await super(CodeTalk, self)._turn(conversation, told)
            return status == ExitStatus.SUCCESS

        await self._task.turn(text, say)
        return status

    async def _after_turn(
        self, conversation: Conversation, text: str, status: ExitStatus
    ) -> ExitStatus:
        assert self._task is not None
        changes = await self._task.guard.settle()
        if not changes:
            self._is_done = True
            self._screen.say(Words("No file was changed."), "dim")
            return status
        if status == ExitStatus.INTERRUPTED:
            self._screen.say(KEPT, "yellow")
            return status
        await self._task.offer()
        if not self._attended:
            return await self._deliver(self._task, changes, text, status)
        return await self._ask(conversation, self._task, changes, text, status)

    async def _deliver(
        self, task: CodeTask, changes: Sequence[FileChange], text: str, status: ExitStatus
    ) -> ExitStatus:
        """Hand the changes over where nobody is asked."""
        self._tell_state(task)
        try:
            committed = await task.commit(changes, text)
        except JarvisError:
            self._screen.say(KEPT, "yellow")
            raise
        self._put_patch(task, changes, "committed" if committed else "offered", committed)
        if self._lines_out is None:
            write_out(patch_text(changes))
        self._is_done = True
        return status

    async def _ask(
        self,
        conversation: Conversation,
        task: CodeTask,
        changes: Sequence[FileChange],
        text: str,
        status: ExitStatus,
    ) -> ExitStatus:
        """Let the user decide."""
        self._show(task, changes)
        question = COMMIT if self._options.commit or self._options.branch else WRITE
        more: str | None = ""
        while not more and (letter := await self._letter(question)) == "m":
            more = await self._words(MORE)
        if more:
            task.correct(changes, more)
            status = await self._turn(conversation, more)
            return await self._after_turn(conversation, f"{text}\n{more}", status)
        if letter == "n":
            self._put_patch(task, changes, "refused", None)
            await task.refuse()
            self._is_done = True
            return ExitStatus.FAILURE
        if letter != "y":
            self._screen.say(KEPT, "yellow")
            return ExitStatus.INTERRUPTED
        try:
            committed = await task.commit(changes, text)
            if committed is None:
                await task.accept(changes)
            else:
                await task.reset(changes)
        except JarvisError as error:
            self._screen.say(str(error), "red")
            self._screen.say(KEPT, "yellow")
            return ExitStatus.FAILURE
        self._is_done = True
        self._put_patch(task, changes, "committed" if committed else "accepted", committed)
        if committed is None:
            self._screen.say(Words("Files written: {count}.", count=len(changes)), "green")
        if conversation.options.force_save_memory:
            await conversation.save_memories()
        return status

    def _show(self, task: CodeTask, changes: Sequence[FileChange]) -> None:
        """Show what was changed, what it loses first."""
        self._tell_state(task)
        for change in changes:
            edit = change.edit()
            lines = diff_lines(edit)
            if not edit.hunks:
                lines = [(visible(change.describe()), "bold")]
            for line, colour in lines:
                self._screen.say(line, colour)
        counts = [count_lines(change) for change in changes]
        told = Words(
            "Files: {files}; lines: {added} added, {deleted} deleted",
            files=len(changes),
            added=sum(added for added, _ in counts),
            deleted=sum(deleted for _, deleted in counts),
        )
        self._screen.say(told, "bold")

    def _tell_state(self, task: CodeTask) -> None:
        """Tell what is lost, and what checks still complain of."""
        self._lost = [str.__str__(loss.reason) for loss in task.guard.losses]
        for loss in task.guard.losses:
            self._screen.say(Words("Lost: {what}", what=visible(speak(loss.reason))), "yellow")
        if task.checks is None:
            return
        for note in task.checks.take_notes():
            self._screen.say(visible(speak(note)), "yellow")
        for name, found in task.checks.found.items():
            state = Words("{check}: passed", check=name)
            if found:
                state = Words("{check}: new complaints: {count}", check=name, count=len(found))
            self._screen.say(state, "yellow" if found else "dim")
            for diagnostic in found[:_SHOWN]:
                self._screen.say(f"  {visible(str(diagnostic))}", "yellow")

    def _put_patch(
        self,
        task: CodeTask,
        changes: Sequence[FileChange],
        state: str,
        committed: Committed | None,
    ) -> None:
        """Tell programs what became of the changes, and people which commit was made."""
        if committed is not None:
            self._screen.say(
                Words(
                    "Commit {commit} on {reference}",
                    commit=committed.commit[:10],
                    reference=committed.reference,
                ),
                "green",
            )
        if self._lines_out is None:
            return
        files = []
        for change in changes:
            added, deleted = count_lines(change)
            files.append(
                {"path": change.path, "change": change.change, "added": added, "deleted": deleted}
            )
        self._lines_out.patch(
            state=state,
            diff=patch_text(changes),
            files=files,
            checks={
                name: [str(diagnostic) for diagnostic in found]
                for name, found in (task.checks.found if task.checks is not None else {}).items()
            },
            losses=self._lost,
            commit=committed.commit if committed else "",
            reference=committed.reference if committed else "",
        )

    async def _letter(self, question: Words) -> str:
        """Return the letter that the user chooses; empty when the input ends."""
        prompt = speak(question)
        self._forget()
        while (line := await self._words(question)) is not None:
            if letter := chosen(prompt, line):
                return letter
            wrong = Words("Please answer {choices}.", choices=choices_in_words(prompt))
            self._screen.say(wrong, "yellow")
        return ""

    async def _words(self, question: Words) -> str | None:
        """Return what the user types; None when the input ends."""
        self._screen.end_line()
        try:
            return (await self._read(speak(question))).strip()
        except (EOFError, KeyboardInterrupt):
            return None
