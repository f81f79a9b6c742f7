"""The stage `lift`: passes over the crate of a project, under the tests of `jc2r verify`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.baseline.crate import build
from jarvis_ls.jc2r.commands import Units, units_of
from jarvis_ls.jc2r.config import folder_of
from jarvis_ls.jc2r.equivalence import cases as recorded
from jarvis_ls.jc2r.equivalence.programs import build_programs, replay
from jarvis_ls.jc2r.equivalence.record import Results
from jarvis_ls.jc2r.equivalence.verify import Project, Settings, digest_of, verify_functions
from jarvis_ls.jc2r.history import History
from jarvis_ls.jc2r.lift.lifting import Lifted, Lifting
from jarvis_ls.jc2r.records import LIFT, LIFTED, read_progress, read_state


def lift_project(
    root: Path, *, settings: Settings, build_project: bool = False,
    stage: Callable[[str], None] = lambda _: None,
) -> Lifted:  # fmt: skip
    """Lift the crate of the last run of the project at `root`, one commit for each pass.

    What a killed run leaves is the crate as it was, or with some of the passes. Raises
    `JarvisError` when there is no finished translation, something does not build, or the crate
    differs from the C before anything is done.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    state = read_state(folder)
    functions, _ = read_progress(folder)
    crate = Path(state.crate)
    if not state.crate or not (crate / "src").is_dir():
        raise JarvisError("There is no finished translation; run `jc2r run --baseline`.")
    units = units_of(root, build=build_project, folder=folder / "build")
    in_rust = {(one.file, one.name) for one in functions if one.state != "c"}
    work = folder / LIFT
    history = History(crate)

    def kept(name: str) -> None:
        history.commit(["src"], f"Lifted: {name}")

    def test(copy: Path) -> str:
        return _difference(root, copy, units, work, in_rust, settings)

    done = Lifting(crate, work, test).run(kept, stage)
    stage("build")
    built = build(crate)
    if built.returncode != 0:
        raise JarvisError(f"The lifted crate does not build:\n{built.stderr.strip()[:2000]}")
    report = {
        "before": asdict(done.before), "after": asdict(done.after),
        "passes": [asdict(one) for one in done.passes],
    }  # fmt: skip
    replace_file(folder / LIFTED, (json.dumps(report, indent=1) + "\n").encode())
    state.done[LIFT] = time.time()
    text = json.dumps(asdict(state), indent=1) + "\n"
    replace_file(folder / "run_state.json", text.encode())
    return done


def _difference(
    root: Path, crate: Path, units: Units, work: Path, in_rust: set[tuple[str, str]],
    settings: Settings,
) -> str:  # fmt: skip
    """What the crate does otherwise than the C, empty when nothing."""
    try:
        project = Project(root, crate, work, units)
        project.build()
        results = Results(work, digest_of(root, crate, units))
        try:
            verified = verify_functions(project, in_rust, results, settings)
            for one in verified.functions:
                if one["state"] in ("differs", "unstable"):
                    return f"{one['file']}: {one['function']}"
            cases = recorded.read_cases(folder_of(root) / recorded.FILE)
            if cases:
                build(crate)  # what fails to build has no program, and so differs
                programs = build_programs(project, work / "equivalence", careful=False)
                for one in replay(cases, programs, results):
                    if one["state"] == "differs":
                        return f"case {one['name']}"
        finally:
            results.close()
    except JarvisError as error:
        return str(error)
    return ""
