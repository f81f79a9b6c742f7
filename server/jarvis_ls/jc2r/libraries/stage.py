"""`jc2r lib-replace` on a project: its last scan, or a new one, and the evaluation of that."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.crate.cargo import run_cargo
from jarvis_ls.jc2r.crate.config import alone, folder_of, read_config
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import read_state, record_stage
from jarvis_ls.jc2r.crate.vendor import CONFIG, VENDOR, read_dependencies, set_dependencies
from jarvis_ls.jc2r.libraries.call_graph import read_graph
from jarvis_ls.jc2r.libraries.crate_registry import SECONDS, CrateRegistry
from jarvis_ls.jc2r.libraries.evaluation import VENDORED, Asker, Evaluated, Evaluation, Plan, Tell
from jarvis_ls.jc2r.libraries.records import read_replacements
from jarvis_ls.jc2r.symbols.scanner import scan_project

LIB_REPLACE = "lib-replace"
"""The name of this stage in `run_state.json`."""


async def replace_libraries(
    root: Path,
    asker: Asker | None,
    registry: CrateRegistry,
    plan: Plan,
    *,
    build_project: bool = False,
    tell: Tell = lambda *_: None,
) -> Evaluated:
    """Find the functions of the project at `root` that libraries can do, and write the tables.
    Raises `JarvisError`."""
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        graph = read_graph(folder)
        if graph is None:
            await scan_project(root, build=build_project, graphs=False)
            graph = read_graph(folder)
        if graph is None or not graph.functions:
            raise JarvisError("There are no functions in {root}.", root=root)
        evaluation = Evaluation(root, folder, graph, registry, plan, read_config(root))
        done = await evaluation.run(asker, tell)
        if not done.stopped and not (done.left and asker is not None):
            state = read_state(folder)
            if state.crate:  # before there is a crate, no run has begun
                record_stage(folder, state, LIB_REPLACE)
        return done


def add_crates(folder: Path, crate: Path) -> None:
    """Let the crate need what replacements call; `folder` is `.jarvis/c2rust`. One commit; nothing
    is done when it is so already. Raises `JarvisError`."""
    wanted: dict[str, str] = {}
    for found in read_replacements(folder).values():
        wanted.update(found.crates)
    source = folder / VENDORED
    if wanted == read_dependencies(crate) or (wanted and not source.is_dir()):
        return
    history = History(crate)
    shutil.rmtree(crate / VENDOR, ignore_errors=True)
    if wanted:
        shutil.copytree(source, crate / VENDOR, symlinks=True)
    set_dependencies(crate, wanted)
    locked = run_cargo(crate, "generate-lockfile", seconds=SECONDS)
    if locked.returncode != 0:
        said = locked.stderr.decode(errors="replace").strip()[:1000]
        raise JarvisError("The crates cannot be used: {said}", said=said)
    changed = ["Cargo.toml", "Cargo.lock", CONFIG.as_posix(), VENDOR]
    history.commit(changed, "Crates that replace C functions")
