"""The stage `verify`: what shows whether the crate behaves like the C, and its report."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.commands import units_of
from jarvis_ls.jc2r.config import folder_of
from jarvis_ls.jc2r.equivalence.record import Results
from jarvis_ls.jc2r.equivalence.verify import (
    Progress,
    Project,
    Settings,
    Verified,
    digest_of,
    verify_functions,
)
from jarvis_ls.jc2r.records import read_progress, read_state

REPORT = "equivalence.md"
STATES = ("equal", "differs", "unstable", "no_input", "not_run")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a verification came to."""

    verified: Verified
    report: Path
    """In words, for people."""

    @property
    def good(self) -> bool:
        """Whether nothing differs."""
        return not self.verified.count("differs") and not self.verified.count("unstable")


def verify_project(
    root: Path, *, settings: Settings, build_project: bool = False, reset: bool = False,
    progress: Progress = lambda *_: None,
) -> Outcome:  # fmt: skip
    """Compare the C at `root` with the crate of its last run.

    Raises `JarvisError` when there is no finished translation or something does not build.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    state = read_state(folder)
    functions, _ = read_progress(folder)
    crate = Path(state.crate)
    if not state.crate or not (crate / "src").is_dir():
        raise JarvisError("There is no finished translation; run `jc2r run --baseline`.")
    units = units_of(root, build=build_project, folder=folder / "build")
    project = Project(root, crate, folder, units)
    project.build()
    made = f"{digest_of(root, crate, units)} {settings.cases} {settings.seed}"
    results = Results(folder, "" if reset else made)
    if reset:
        results.close()
        results = Results(folder, made)
    try:
        in_rust = {(one.file, one.name) for one in functions if one.state != "c"}
        verified = verify_functions(project, in_rust, results, settings, progress)
    finally:
        results.close()
    report = folder / REPORT
    replace_file(report, summary(verified).encode())
    return Outcome(verified, report)


def summary(verified: Verified) -> str:
    """The report: how many functions are in which state, what differs, why others were not run."""
    lines = ["# Equivalence of C and Rust", "", "| state | functions |", "| --- | --- |"]
    lines += [f"| {state.replace('_', ' ')} | {verified.count(state)} |" for state in STATES]
    cases = sum(one["cases"] for one in verified.functions)
    left_out = sum(sum(one["excluded"].values()) for one in verified.functions)
    lines += ["", f"{cases} generated cases were compared; {left_out} more were left out because"
              " the C itself does something undefined with them, or does not end."]  # fmt: skip
    for state, title in (("differs", "What differs"), ("unstable", "What is not stable")):
        some = [one for one in verified.functions if one["state"] == state]
        if some:
            lines += ["", f"## {title}", ""]
            lines += [f"- {one['file']}:{one['line']}: `{one['function']}`" for one in some]
    reasons = Counter(
        one["reason"] for one in verified.functions if one["state"] in ("not_run", "no_input")
    )
    if reasons:
        lines += ["", "## Why functions were not compared one by one", ""]
        lines += [f"- {count} × {reason}" for reason, count in reasons.most_common()]
    lines += [f"\nnote: {note}" for note in verified.notes]
    return "\n".join(lines) + "\n"
