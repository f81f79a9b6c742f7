"""The sources of the crate as `optimize` found them, so that one can go back to them."""

from __future__ import annotations

import shutil
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.crate.config import alone
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import LIFT, VERIFY, read_state, record_stage
from jarvis_ls.jc2r.evolve.desk import Desk
from jarvis_ls.jc2r.lift.rust import parse_source
from jarvis_ls.jc2r.lift.sources import find_crate, replace_sources
from jarvis_ls.jc2r.lift.stage import BEGUN
from jarvis_ls.jc2r.lift.unsafe_count import Counts, count
from jarvis_ls.jc2r.rewrite.optimize import OPTIMIZE

SOURCES = "before-optimize"
"""Below the folder of the staged path."""


def keep_sources(desk: Desk) -> None:
    """Keep the sources of the crate in one step. Raises `JarvisError`."""
    known = read_state(desk.folder)
    crate = find_crate(desk.folder, known, built=False)
    new, final = desk.work / f"{SOURCES}.new", desk.work / SOURCES
    try:
        for folder in (new, final):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(crate / "src", new, symlinks=True)
        new.rename(final)
    except (OSError, shutil.Error) as error:
        raise JarvisError("{path}: {error}", path=final, error=error) from None
    desk.state.kept = known.translation


def count_kept(desk: Desk) -> Counts:
    """Return the counts of the sources that were kept."""
    crate = find_crate(desk.folder, read_state(desk.folder), built=False)
    return count(parse_source(path, data) for path, data in _read_kept(desk, crate).items())


def restore_sources(desk: Desk) -> bool:
    """Put the sources that were kept into the crate, as a commit; return whether there are any of
    the translation that is there. Raises `JarvisError`."""
    with alone(desk.folder):
        known = read_state(desk.folder)
        if not desk.state.kept or desk.state.kept != known.translation:
            return False
        crate = find_crate(desk.folder, known, built=False)
        replace_sources(crate, _read_kept(desk, crate))
        History(crate).commit(["src"], "Back to the sources before optimizing")
        (desk.folder / LIFT / BEGUN).unlink(missing_ok=True)
        for name in (LIFT, OPTIMIZE, VERIFY):
            if name in known.done:
                record_stage(desk.folder, known, name, done=False)
    return True


def _read_kept(desk: Desk, crate: Path) -> dict[Path, bytes]:
    """Return the sources that were kept, by their paths in the crate."""
    folder = desk.work / SOURCES
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*.rs")))
    return {
        Path("src") / path: (folder / path).read_bytes()
        for path in paths
        if (crate / "src" / path).is_file()
    }
