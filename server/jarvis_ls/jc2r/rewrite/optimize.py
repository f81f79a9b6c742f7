"""The stage `optimize`: what clippy is sure of, one lint at a time, in a copy of the crate.

A lint's suggestions are kept when the crate builds with them and behaves like the C, and are one
commit then. All lints are tried together first; only when they differ together is each compared
alone. Formatted before, compared after; what is refused is not tried again on this translation.
"""

from __future__ import annotations

import fnmatch
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import Words, from_json, to_json
from jarvis_ls.jc2r.build.compile_commands import units_of
from jarvis_ls.jc2r.crate.cargo import program
from jarvis_ls.jc2r.crate.config import alone, folder_of
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import read_progress, read_state, record_stage
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.lift.compiler import Message, check, with_changes
from jarvis_ls.jc2r.lift.crate_copy import CrateCopy, duplicate_crate
from jarvis_ls.jc2r.lift.sources import find_crate, replace_sources
from jarvis_ls.jc2r.lift.stage import find_difference

OPTIMIZE = "optimize"
"""The name of this stage in `run_state.json`; a folder, too."""
PROGRESS = "optimize_progress.json"
REPORT = "optimize_report.json"
_ROUNDS = 4
"""Times a lint may find more after its suggestions were applied."""
_CLIPPY = "clippy::"
_LIMIT = Words("the limit of comparisons is reached")

Tell = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Extent:
    """What is optimized, and how far."""

    include: tuple[str, ...] = ()
    """Patterns of files, relative to the crate; empty: all below `src`."""
    exclude: tuple[str, ...] = ()
    lints: tuple[str, ...] = ()
    """Names of lints, `clippy::…`; empty: all."""
    comparisons: int = 0
    """How often the crate may be compared with the C; 0 means no limit."""
    dry_run: bool = False
    """Whether only what could be done is told."""
    build_project: bool = False


@dataclass(slots=True)
class Step:
    """What became of the suggestions of one lint."""

    lint: str
    places: int
    """Warnings that come with a change that clippy is sure of."""
    kept: bool = False
    why: str = ""
    """Why they were not kept, in words."""
    commit: str = ""


@dataclass(slots=True)
class Optimized:
    """What a run came to."""

    steps: list[Step] = field(default_factory=list)
    files: int = 0
    """Files that were looked at."""
    before: int = 0
    """Warnings of clippy in them."""
    after: int = 0
    comparisons: int = 0
    """How often the crate was compared with the C."""
    refused: dict[str, str] = field(default_factory=dict)
    """Lints that earlier runs have taken back, and why."""


def optimize_project(
    root: Path, *, settings: Settings, extent: Extent, tell: Tell = lambda *_: None
) -> Optimized:
    """Apply what clippy is sure of to the crate of the last run of the project at `root`.

    A killed run leaves the crate with the lints that were kept; the next one goes on. Raises
    `JarvisError` when there is no finished translation, no clippy, or the crate differs from the C
    before anything is done.
    """
    if program("cargo-clippy") is None:
        raise JarvisError("clippy is not installed: rustup component add clippy, or your packages.")
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        in_rust = read_progress(folder).in_rust
        crate = find_crate(folder, state)
        work = folder / OPTIMIZE
        copy = duplicate_crate(crate, work)
        units = units_of(root, build=extent.build_project, folder=folder / "build")

        def differs() -> str:
            found = find_difference(root, copy, units, work, in_rust, settings)
            return "" if found is None else found.text

        run = _Run(crate, copy, folder, state.translation, extent, differs, tell)
        done = run.run()
        if not extent.dry_run:
            record_stage(folder, state, OPTIMIZE)
        return done


class _Run:
    """One run over one crate, in its copy."""

    def __init__(
        self,
        crate: Path,
        copy: Path,
        folder: Path,
        made: str,
        extent: Extent,
        differs: Callable[[], str],
        tell: Tell,
    ) -> None:
        self._crate, self._copy, self._folder, self._made = crate, copy, folder, made
        self._files = CrateCopy(copy)
        self._extent, self._differs, self._tell = extent, differs, tell
        self._done = Optimized(refused=_read_refused(folder, made))
        self._results: dict[str, dict[Path, bytes]] = {}
        """Texts of the crate after each lint that builds."""

    def run(self) -> Optimized:
        """Try all lints; those that were kept are in the crate."""
        done = self._done
        warnings = self._warnings()
        done.files = len([s for s in self._files.sources() if self._is_wanted(s.path)])
        done.before = done.after = len(warnings)
        places = Counter(w.code for w in warnings if w.changes and w.code not in done.refused)
        done.steps = [Step(lint, count) for lint, count in sorted(places.items())]
        if self._extent.dry_run or not done.steps:
            return done
        start = self._files.texts()
        built = self._build_all()
        if built and (why := self._compare()):
            self._files.restore(start)
            built = self._one_by_one(built, why)
        self._keep(built)
        done.after = len(self._warnings())
        self._write_report()
        return done

    def _build_all(self) -> list[Step]:
        """Apply the lints one after the other; return those with which the crate builds."""
        built = []
        for number, step in enumerate(self._done.steps):
            self._tell(number, len(self._done.steps), step.lint)
            if self._apply(step):
                built.append(step)
        return built

    def _one_by_one(self, steps: Sequence[Step], why: str) -> list[Step]:
        """Return the lints after which the crate behaves like the C, each compared alone."""
        if not self._is_at_limit() and self._compare():
            raise JarvisError(
                "The crate behaves differently from the C even before optimizing: {why}", why=why
            )
        kept = []
        for number, step in enumerate(steps):
            self._tell(number, len(steps), step.lint)
            before = self._files.texts()
            if not self._apply(step):
                continue
            if other := self._compare():
                self._files.restore(before)
                is_known = other is not _LIMIT
                step.why = Words("it behaves differently: {why}", why=other) if is_known else _LIMIT
            else:
                kept.append(step)
        return kept

    def _apply(self, step: Step) -> bool:
        """Apply the suggestions of a lint; return whether the crate builds with them."""
        start = self._files.texts()
        for _ in range(_ROUNDS):
            found = [w for w in self._warnings() if w.code == step.lint and w.changes]
            if not self._change(found):
                break
        errors = [message for message in check(self._copy) if message.level == "error"]
        if errors:
            step.why = Words("it does not build: {why}", why=errors[0].text)
        elif self._files.texts() == start:
            step.why = Words("its suggestions cannot be applied")
        else:
            self._results[step.lint] = self._files.texts()
            return True
        self._files.restore(start)
        return False

    def _change(self, warnings: Sequence[Message]) -> bool:
        """Apply the changes of warnings that do not overlap; return whether there were any."""
        before = self._files.texts()
        for path in {warning.path for warning in warnings}:
            mine = [warning for warning in warnings if warning.path == path]
            self._files.write(path, with_changes(path.read_bytes(), mine))
        return self._files.texts() != before

    def _compare(self) -> str:
        """Return what the copy does otherwise than the C, empty when that is nothing."""
        if self._is_at_limit():
            return _LIMIT
        self._done.comparisons += 1
        return self._differs()

    def _is_at_limit(self) -> bool:
        return 0 < self._extent.comparisons <= self._done.comparisons

    def _keep(self, steps: Sequence[Step]) -> None:
        """Put the lints that were kept into the crate, a commit each."""
        history = History(self._crate)
        for step in steps:
            texts = self._results[step.lint]
            replace_sources(
                self._crate, {path.relative_to(self._copy): texts[path] for path in texts}
            )
            history.commit(["src"], f"Optimized: {step.lint}")
            step.kept, step.why, step.commit = True, "", history.head()
        for step in self._done.steps:
            if not step.kept and step.why and step.why is not _LIMIT:
                self._done.refused[step.lint] = step.why
        self._write_progress()

    def _warnings(self) -> list[Message]:
        return [
            message
            for message in check(self._copy, command="clippy")
            if message.code.startswith(_CLIPPY)
            and self._is_wanted(message.path)
            and (not self._extent.lints or message.code in self._extent.lints)
        ]

    def _is_wanted(self, path: Path) -> bool:
        return is_wanted(path.relative_to(self._copy).as_posix(), self._extent)

    def _write_progress(self) -> None:
        kept = [step for step in self._done.steps if step.kept]
        record = {
            "made": self._made,
            "steps_completed": [step.lint for step in kept],
            "step_commits": {step.lint: step.commit for step in kept},
            "last_commit": kept[-1].commit if kept else "",
            "refused": to_json(self._done.refused),
        }
        replace_file(self._folder / PROGRESS, (json.dumps(record, indent=1) + "\n").encode())

    def _write_report(self) -> None:
        done = self._done
        record = {
            "files_scanned": done.files,
            "warnings": [done.before, done.after],
            "comparisons": done.comparisons,
            "steps": to_json([asdict(step) for step in done.steps]),
        }
        replace_file(self._folder / REPORT, (json.dumps(record, indent=1) + "\n").encode())


def is_wanted(name: str, extent: Extent) -> bool:
    """Return whether a file, relative to the crate, is one of those that are optimized."""
    include = extent.include or ("src/*",)
    return any(fnmatch.fnmatch(name, pattern) for pattern in include) and not any(
        fnmatch.fnmatch(name, pattern) for pattern in extent.exclude
    )


def _read_refused(folder: Path, made: str) -> dict[str, str]:
    try:
        record: Any = json.loads(read_regular(folder / PROGRESS, limit=1_000_000))
    except (SkippedFile, ValueError, RecursionError):
        return {}
    if not isinstance(record, dict) or record.get("made") != made:
        return {}
    refused = from_json(record.get("refused"))
    return {str.__str__(k): v for k, v in refused.items()} if isinstance(refused, dict) else {}
