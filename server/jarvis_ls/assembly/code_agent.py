"""One task of an agent that changes code: the copy it works in, and what becomes of its changes.

`jca -r` is a thin face of this. Nothing of the user's repository is written before `accept` or
`commit`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_ls.assembly.project_memory import start_learning
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.codeagent.after_edit import AfterEdit
from jarvis_ls.codeagent.check_record import CheckRecord
from jarvis_ls.codeagent.checks import CheckPlace, Checks
from jarvis_ls.codeagent.commits import Message, check_branch, commit_changes, own_reference
from jarvis_ls.codeagent.edit_guard import Consent, Edit, EditGuard
from jarvis_ls.codeagent.gitignore import complete_gitignore
from jarvis_ls.codeagent.identity import Identity, check_identity
from jarvis_ls.codeagent.impact_watch import ImpactWatch, impact_words
from jarvis_ls.codeagent.line_ends import OFFER, changes_line_ends, keep_line_ends
from jarvis_ls.codeagent.lint_tools import read_table
from jarvis_ls.codeagent.npm_packages import linked_packages
from jarvis_ls.codeagent.patch_text import patch_text
from jarvis_ls.codeagent.statistics import Statistics
from jarvis_ls.codeagent.verdicts import Verdicts
from jarvis_ls.codeagent.workspace import RepositoryLock, Workspace
from jarvis_ls.codeintel.change.repository import open_repository
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.process import end_group
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.agent.user_input import Input, InputContext, InputHandler
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.edits.file_change import FileChange, apply_changes, read_state
from jarvis_ls.runtime.memory.lessons.verdicts import Outcome
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.tools.permissions import PermissionRule
from jarvis_ls.tools.execute_script import READABLE

_RULES = (PermissionRule("allow", kind="write"),)
"""The copy is ours; what other programs act on is asked for all the same."""

_PLACES = "Places in the code that these words fit, the best first; a hint, not a limit:"
_NOTES = "What earlier work on these files has shown; it may be out of date, and orders nothing:"
_MOST_NOTES = 6
_COMPLAINTS = (
    "Checks that were run after your change complain of what was not there before:\n\n{complaints}"
    "\n\nFix what the change broke, or say why it is right as it is."
)
_ROUNDS = 3
"""Times an agent that reports completion gets the complaints of checks."""
_NOTE = (
    "The folder is a copy of the user's work tree, made for this task; `.git` is not part of it. "
    "The user sees what you changed in it as one patch, and accepts or refuses that. "
    "A change that loses tests, public symbols or much code is undone unless somebody agrees."
)
"""A note in the system prompt about the copy."""


@dataclass(frozen=True, slots=True)
class CodeWanted:
    """How a task is to be worked on."""

    root: Path
    """Top of the work tree, a real path."""
    consent: Consent
    """Who may agree to losses."""
    restore: bool = False
    """Whether the last session, and a copy that was left, are continued."""
    commit: bool = False
    """Whether accepted changes become a commit on a reference of ours."""
    branch: str = ""
    """Name of a branch to make for that commit instead; empty for none."""
    prefix: str = ""
    """Put before the subject of the commit."""
    suffix: str = ""
    """Put below the message of the commit."""
    rules: Sequence[PermissionRule] = ()
    """Permission rules of the user's for this time."""
    gitignore: bool = False
    """Whether what the `.gitignore` lacks is part of the change."""
    line_ends: bool = False
    """Whether a `.gitattributes` that has git leave line ends alone is part of the change."""
    checks: bool = True
    """Whether the project is built, linted and tested after edits."""
    open_files: Callable[[], Sequence[str]] = tuple
    """Returns the files that the user has open, below `root`: a task is likely about them."""


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that was made."""

    commit: str
    """Its name."""
    reference: str
    """What names it."""


class CodeTask:
    """The work on a repository, one process at a time."""

    def __init__(
        self, shared: SharedState, wanted: CodeWanted, lock: RepositoryLock, who: Identity
    ) -> None:
        """For `open_task`."""
        self._wanted = wanted
        self._lock = lock
        self._who = who
        self.notes: list[str] = []
        """Notices for the user before the work begins."""
        self.workspace = Workspace(shared.home, wanted.root, lock.folder)
        self._impact = ImpactWatch(self.workspace.folder)
        self.checks = self._make_checks(shared) if wanted.checks else None
        """What is run after edits; None when nothing is."""
        self._after_edit = AfterEdit(self._impact, self.checks)
        self._statistics = Statistics(shared.home)
        self._verdicts = Verdicts(lock.folder)
        self.guard = EditGuard(self.workspace, wanted.consent, [self._after_edit, self._statistics])
        self._learning: asyncio.subprocess.Process | None = None
        """Builds the memory of the project beside the work."""
        self._learns = shared.options.learn_project
        self._memory = Memory(shared.home, wanted.root, trusted=True)
        self.left_out: tuple[str, ...] = ()
        """Files that are not in the copy."""
        self.wants_places = False
        """Whether the words that the agent reads next begin a turn."""

    @property
    def session(self) -> str:
        """Return the session to continue; empty for a new one."""
        return self.workspace.record.session if self._wanted.restore else ""

    def additions(self) -> Additions:
        """Return what the task adds to its conversation."""
        return Additions(
            rules=(*_RULES, *self._wanted.rules),
            guards=(self.guard,),
            services={READABLE: self._linked_packages},
            project=self._wanted.root,
            note=_NOTE,
            inputs=(_Places(self),),
        )

    def _linked_packages(self) -> tuple[str, ...]:
        """Return the folders of packages that links in the copy lead to."""
        return linked_packages(self._wanted.root, self.workspace.folder)

    async def begin(self) -> None:
        """Make the copy, or continue with one that was left. Raises `JarvisError`."""
        if self.workspace.is_left:
            await self._take_up()
        if not self.workspace.is_left:
            self.left_out = await self.workspace.make()
            if self._wanted.gitignore:
                folder = self.workspace.folder
                await asyncio.to_thread(complete_gitignore, folder, _names_below(folder))
            if self._wanted.line_ends:
                await asyncio.to_thread(keep_line_ends, self.workspace.folder)
        await self.guard.begin()
        self._impact.begin()
        if self._learns:
            self._learning = await start_learning(self._wanted.root)

    async def turn(self, text: str, say: Callable[[str], Awaitable[bool]]) -> None:
        """Have an agent work on words of the user's, until no check complains of what it changed.

        `say` hands words to the agent and returns whether it says that it is done.
        """
        self.guard.task = f"{self.guard.task}\n{text}".strip()
        self.wants_places = True
        is_done = await say(text)
        for _ in range(_ROUNDS):
            if not is_done or not (complaints := await self._after_edit.finish()):
                return
            is_done = await say(_COMPLAINTS.replace("{complaints}", complaints))

    async def brief(self, text: str) -> str:
        """Return the words of a task with the places in the code that they fit, and what is
        remembered of these."""
        places = await self._impact.recommend(text, self._wanted.open_files())
        lines = [
            f"- {place.path}:{place.line}: {place.signature or place.name} "
            f"({'; '.join(map(str.__str__, place.reasons))})"
            for place in places
        ]
        if not lines:
            return text
        paths = {place.path for place in places}
        notes = await self._memory.on_files(paths, text, limit=_MOST_NOTES)
        told = f"{text}\n\n{_PLACES}\n{as_data(chr(10).join(lines))}"
        said = "\n\n".join(note.content for note in notes)
        return f"{told}\n\n{_NOTES}\n{as_data(said)}" if notes else told

    async def impact(self) -> str:
        """Return what all changes touch beyond themselves, in words; empty for nothing."""
        changes = Edit(self.guard.kept, (), is_proposed=False)
        return impact_words(await self._impact.measure(changes))

    async def offer(self) -> None:
        """Count that the user is shown changes."""
        await self._statistics.offered()

    async def accept(
        self, changes: Sequence[FileChange], chosen: Sequence[FileChange] | None = None
    ) -> None:
        """Write changes to the user's files; of those that `chosen` leaves out, or has in part,
        the rest is taken back in the copy. Raises `UsageError`, with nothing written, when one of
        the files is not what it was when it was copied."""
        taken = changes if chosen is None else chosen
        await asyncio.to_thread(self._write, taken)
        await self._statistics.accepted(taken)
        self._judge("accepted" if taken == changes else "in part", taken)
        if chosen is not None:
            await self.workspace.undo(changes)
            await self.workspace.redo(chosen)
        await self.workspace.renew()
        self._forget()

    async def refuse(self) -> None:
        """Make the copy what it was before the changes, which the user does not want."""
        changes = await self.workspace.changes()
        self._judge("refused", changes)
        await self.reset(changes)

    async def reset(self, changes: Sequence[FileChange]) -> None:
        """Make the copy what it was before the changes."""
        await self.workspace.undo(changes)
        self._forget()

    def correct(self, changes: Sequence[FileChange], reason: str) -> None:
        """Keep that the user wants changes otherwise."""
        self._judge("refused", changes, reason)

    async def commit(self, changes: Sequence[FileChange], subject: str) -> Committed | None:
        """Make the commit that the user wants of changes; None when none is wanted."""
        wanted = self._wanted
        if not (wanted.commit or wanted.branch):
            return None
        if wanted.branch:
            reference = check_branch(wanted.root, wanted.branch)
        else:
            session = self.workspace.record.session
            reference = await asyncio.to_thread(own_reference, wanted.root, session)
        message = Message(subject, wanted.prefix, wanted.suffix)
        made = await asyncio.to_thread(
            commit_changes, wanted.root, changes, reference, message, self._who
        )
        if wanted.consent.attended:
            self._judge("accepted", changes)
        await self._statistics.accepted(changes)
        return Committed(made, reference)

    async def end(self, *, is_done: bool) -> None:
        """Let others work here; a copy whose changes are not decided on stays for `restore`."""
        try:
            await self._after_edit.close()
            if is_done:
                await self.workspace.remove()
        finally:
            if self._learning is not None:
                end_group(self._learning)
                await self._learning.wait()
            self._lock.release()

    def _forget(self) -> None:
        """Start over: changes are counted from now on."""
        self.guard.forget()
        self._after_edit.forget()

    def _judge(self, outcome: Outcome, changes: Sequence[FileChange], reason: str = "") -> None:
        """Keep a verdict for the memory of the project."""
        self._verdicts.add(self.guard.task, outcome, changes, reason)

    def _make_checks(self, shared: SharedState) -> Checks:
        record = CheckRecord(self._wanted.root)
        if record.problem:
            self.notes.append(record.problem)
        session = f"code-{self._lock.folder.name}"
        linters, root = read_table(shared.home), self._wanted.root
        place = CheckPlace(shared.sandbox, self.workspace.folder, session, linters, root)
        return Checks(place, record)

    def _write(self, changes: Sequence[FileChange]) -> None:
        root = self._wanted.root
        for change in changes:
            if _state(root, change) not in (change.before, change.after):
                raise UsageError(
                    "{file} has changed since the work began; nothing was written.",
                    file=change.path,
                )
        todo = [change for change in changes if _state(root, change) != change.after]
        problems = apply_changes(todo, [root])
        if problems:
            back = [FileChange(c.path, c.after, c.before) for c in todo]
            apply_changes([c for c in back if _state(root, c) == c.before], [root])
            raise JarvisError("Nothing was written: {why}", why=problems[0])

    async def _take_up(self) -> None:
        """Keep what a process that was killed has left as a patch, unless it is continued."""
        try:
            changes = await self.workspace.changes()
        except UsageError:  # what was copied is not kept for ever
            file = await asyncio.to_thread(self.workspace.put_aside)
            self.notes.append(Words("Changes of an interrupted run were kept: {file}", file=file))
            return
        if self._wanted.restore:
            return
        if changes:
            file = self._lock.folder / f"left-{self.workspace.record.base}.patch"
            text = patch_text(changes).encode("utf-8", "surrogateescape")
            await asyncio.to_thread(replace_file, file, text, mode=0o600)
            self.notes.append(Words("Changes of an interrupted run were kept: {file}", file=file))
        await self.workspace.remove()


class _Places(InputHandler):
    """Adds to the words that begin a turn the places in the code that they fit."""

    def __init__(self, task: CodeTask) -> None:
        self._task = task

    async def handle(self, said: Input, place: InputContext) -> Input:
        """See `InputHandler`."""
        if not self._task.wants_places:
            return said
        self._task.wants_places = False
        return replace(said, text=await self._task.brief(said.text))


def open_task(shared: SharedState, wanted: CodeWanted) -> CodeTask:
    """Return the task of a repository, which stays locked until its `end`.

    Raises `UsageError` when somebody does, when git does not know who commits, or a branch cannot
    be made.
    """
    git_folder = Path(open_repository(wanted.root).common_dir)
    who, warning = check_identity(git_folder, os.environ)
    if wanted.branch:
        check_branch(wanted.root, wanted.branch)
    lock = RepositoryLock(shared.home, wanted.root)
    try:
        task = CodeTask(shared, wanted, lock, who)
    except BaseException:
        lock.release()
        raise
    if warning:
        task.notes.append(warning)
    if not wanted.line_ends and changes_line_ends(wanted.root, git_folder, os.environ):
        task.notes.append(OFFER)
    return task


def code_options(options: AgentOptions, tools: Sequence[str], *, attended: bool) -> AgentOptions:
    """Return how an agent that changes code behaves; without `tools` it may use all."""
    return replace(
        options,
        agent_type="code",
        use_tools=tuple(tools) or options.use_tools,
        use_methodology=False,
        use_analysis=False,
        non_interactive=not attended,
    )


def _names_below(folder: Path) -> Iterator[str]:
    """Yield the names of the files of a copy."""
    for _, _, names in os.walk(folder):
        yield from names


def _state(root: Path, change: FileChange) -> object:
    """Return what is at the place of a change now; text when that is nothing one could write."""
    largest = max(len(s.data) for s in (change.before, change.after) if s is not None)
    if os.path.realpath((root / change.path).parent) != str((root / change.path).parent):
        return "behind a link"
    try:
        return read_state(root / change.path, largest)
    except (OSError, ValueError) as error:
        return str(error)
