"""Build, lint and tests at risk after each edit: in the sandbox, each within its time.

They run beside the agent: what is known within a few seconds is told with the edit, the rest with
the next one, or when the agent thinks it is done. Only complaints are told that the files as they
were before the task do not give: when there are any, the same check is run once on those.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from jarvis_ls.codeagent.build_systems import systems_of
from jarvis_ls.codeagent.check_record import FILE, CheckRecord
from jarvis_ls.codeagent.diagnostics import (
    Diagnostic,
    failed_tests,
    new_diagnostics,
    read_diagnostics,
    tail_of,
)
from jarvis_ls.codeagent.edit_guard import Edit
from jarvis_ls.codeagent.lint_tools import LintTable, tools_for
from jarvis_ls.codeagent.npm_packages import linked_packages
from jarvis_ls.codeagent.test_runs import FROM_SOURCES, test_runs
from jarvis_ls.codeintel.change.impact import ImpactReport
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.edits.file_change import FileChange
from jarvis_ls.runtime.sandbox.base import Ran, Script
from jarvis_ls.runtime.sandbox.ladder import Ladder

WAIT = 5.0
"""Seconds that an edit waits for them."""
_TOLD = 12
"""Complaints of one check that are told."""
_LARGEST = 4_000_000
"""Bytes of files as they were before the task that a check is run on."""
_MISSING = "\x1emissing"
_NO_MODULE = "No module named pytest"

logger = logging.getLogger(__name__)


class Kind(IntEnum):
    """What a check looks at, in the order they run."""

    LINT = 1
    BUILD = 2
    TESTS = 3


SECONDS = {Kind.LINT: 30.0, Kind.BUILD: 120.0, Kind.TESTS: 120.0}
"""How long a check may take."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    kind: Kind
    name: str
    """As the record of checks has it, such as `build.cargo`."""
    program: str
    """What must be there."""
    command: str
    """What is run."""
    folder: str = ""
    """Below the root; empty for the root itself."""


@dataclass(frozen=True, slots=True)
class CheckPlace:
    """Where checks run."""

    ladder: Ladder
    """The sandbox."""
    folder: Path
    """The copy."""
    session: str
    """Whose builds a check continues with."""
    linters: LintTable
    """Which linter reads which file."""
    root: Path
    """The project that was copied."""


class Checks:
    """The checks of one task."""

    def __init__(self, place: CheckPlace, record: CheckRecord, wait: float = WAIT) -> None:
        self._place = place
        self._record = record
        self._wait = wait
        self._running: asyncio.Task[None] | None = None
        self._before: dict[Check, tuple[Diagnostic, ...]] = {}
        """What checks gave for the files as they were."""
        self._told: dict[str, tuple[Diagnostic, ...]] = {}
        self._notes: list[str] = []
        self.found: dict[str, tuple[Diagnostic, ...]] = {}
        """New complaints by the name of the check; none for what passed."""

    async def after_edit(self, edit: Edit, impact: ImpactReport | None) -> str:
        """Begin the checks of an edit, and return what is known within a few seconds."""
        await self._stop()
        self._running = asyncio.create_task(self._run(edit, impact))
        await asyncio.wait({self._running}, timeout=self._wait)
        return self._news()

    async def finish(self) -> str:
        """Wait for the checks of the last edit; return the complaints that were not told yet."""
        if self._running is not None:
            await asyncio.wait({self._running})
        return self._news(only_complaints=True)

    def take_notes(self) -> list[str]:
        """Return what the user should know of checks that could not be run, each once."""
        notes, self._notes = self._notes, []
        return notes

    def forget(self) -> None:
        """Compare with the files as they are from now on."""
        self._before.clear()
        self._told.clear()
        self.found = {}

    async def close(self) -> None:
        """End what runs."""
        await self._stop()
        for session in self._sessions():
            self._place.ladder.forget(session)

    async def _stop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    async def _run(self, edit: Edit, impact: ImpactReport | None) -> None:
        try:
            await self._run_all(edit, impact)
        except Exception:  # the agent goes on without checks; a fault of ours must not be silent
            logger.exception("the checks of an edit failed")
            self._note(Words("Checks of the last edit failed; they are not complete."))

    async def _run_all(self, edit: Edit, impact: ImpactReport | None) -> None:
        failed_build = False
        self.found = {}
        for check in self._plan(edit, impact):
            if check.name in self._record.disabled or (check.kind is Kind.TESTS and failed_build):
                continue
            try:
                new = await self._check(check, edit)
            except JarvisError as error:  # no sandbox, or it could not be started
                self._note(Words("{check} was not run: {why}", check=check.name, why=error))
                return
            if new is not None:
                known = self.found.get(check.name, ())
                self.found[check.name] = tuple(dict.fromkeys([*known, *new]))
                failed_build = failed_build or (check.kind is Kind.BUILD and bool(new))

    def _plan(self, edit: Edit, impact: ImpactReport | None) -> Iterator[Check]:
        paths = [c.path for c in edit.changes if c.after is not None and c.after.kind == "file"]
        root = self._place.folder
        for tool, files in tools_for(self._place.linters, root, paths):
            yield Check(Kind.LINT, f"lint.{tool.name}", tool.program, tool.line(files))
        for folder, system in systems_of(root, [change.path for change in edit.changes]):
            yield Check(Kind.BUILD, f"build.{system.name}", system.program, system.command, folder)
        for run in test_runs(root, impact.tests if impact is not None else ()):
            yield Check(Kind.TESTS, f"tests.{run.name}", run.program, run.command)

    async def _check(self, check: Check, edit: Edit) -> Sequence[Diagnostic] | None:
        """Return what a check newly complains of; None when it could not be run."""
        ran = await self._script(check, (), 0)
        if ran is None or not self._is_judged(check, ran):
            return None
        found = self._read(check, ran)
        if not found:
            return ()
        if check not in self._before:
            before = await self._script(check, edit.changes, 1)
            if before is None or before.ended:
                return None
            self._before[check] = tuple(self._read(check, before))
        return new_diagnostics(self._before[check], found)

    def _is_judged(self, check: Check, ran: Ran) -> bool:
        """Return whether a check could be run; what could not is remembered."""
        if _MISSING in ran.output or (_NO_MODULE in ran.output and ran.exit):
            self._disable(check, Words("{program} is not there", program=check.program))
        elif ran.ended:
            self._disable(check, Words("it was ended: {why}", why=ran.ended))
        else:
            return True
        return False

    def _disable(self, check: Check, why: str) -> None:
        try:
            self._record.disable(check.name, why)
        except JarvisError as error:
            logger.warning("the record of checks: %s", error)
        self._note(
            Words(
                "{check} is not run in this repository from now on: {why} (.jarvis/{file})",
                check=check.name,
                why=why,
                file=FILE,
            )
        )

    def _read(self, check: Check, ran: Ran) -> list[Diagnostic]:
        found = read_diagnostics(ran.output, str(self._place.folder), check.folder)
        if not ran.exit and check.kind is not Kind.LINT:
            return []  # warnings of a build that succeeds
        if not found and ran.exit:
            return [tail_of(ran.output, ran.exit)]
        return (check.kind is Kind.TESTS and failed_tests(found)) or found

    async def _script(
        self, check: Check, originals: Sequence[FileChange], number: int
    ) -> Ran | None:
        """Run a check, with the original texts of some files; None when these are too large."""
        if sum(len(c.before.data) for c in originals if c.before is not None) > _LARGEST:
            return None
        text = "\n".join(
            [
                *(_restore(change) for change in originals),
                f"cd -- {shlex.quote(f'./{check.folder}')} || exit 0",
                f"command -v {shlex.quote(check.program)} >/dev/null 2>&1 ||"
                " { printf '\\036missing\\n'; exit 127; }",
                f"{{ {check.command}\n}} </dev/null 2>&1",
            ]
        )
        session = self._sessions()[number]
        sandbox = await self._place.ladder.best(trusted=True, session=session)
        script = Script(
            "bash",
            text,
            SECONDS[check.kind],
            environment=FROM_SOURCES,
            session=session,
            readable=linked_packages(self._place.root, self._place.folder),
        )
        return await sandbox.run(script, [self._place.folder])

    def _sessions(self) -> tuple[str, str]:
        """Return whose builds are continued: of the files as they are, and as they were."""
        return f"{self._place.session}-checks", f"{self._place.session}-before"

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)

    def _news(self, *, only_complaints: bool = False) -> str:
        """Return what was not told yet, in words for a model."""
        parts: list[str] = []
        for name, found in self.found.items():
            told = self._told.get(name, ())
            if found == told:
                continue
            self._told[name] = found
            if not found:
                if not only_complaints:
                    parts.append(Words("{check}: what it complained of is fixed", check=name))
                continue
            parts.append(Words("{check}, new since your changes:", check=name))
            parts += [f"  {diagnostic}" for diagnostic in found[:_TOLD]]
            if len(found) > _TOLD:
                parts.append(Words("  … {count} more", count=len(found) - _TOLD))
        return together(parts, "\n") if parts else ""


def _restore(change: FileChange) -> str:
    """Return shell lines that make a file what it was before the task."""
    path = shlex.quote(f"./{change.path}")
    if change.before is None:
        return f"rm -rf -- {path}"
    folder = shlex.quote(f"./{change.path.rpartition('/')[0]}")
    if change.before.kind == "link":
        return f"ln -sfn -- {shlex.quote(change.before.data.decode('utf-8', 'replace'))} {path}"
    text = base64.encodebytes(change.before.data).decode()
    return f"mkdir -p -- {folder}\nbase64 -d > {path} <<'ORIGINAL'\n{text}ORIGINAL"
