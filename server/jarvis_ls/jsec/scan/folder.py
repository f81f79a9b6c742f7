"""A folder made ready for a scan: its settings, its files, what is known of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import STATE, user_folder
from jarvis_ls.jsec.findings.baseline import Baseline, load_baseline
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.source_files import Listing, list_sources
from jarvis_ls.jsec.settings.settings import FILE as SETTINGS_FILE
from jarvis_ls.jsec.settings.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Folder:
    """What `scan` is given of a folder."""

    settings: Settings
    listing: Listing
    baseline: Baseline


def project_root(folder: Path) -> Path:
    """Return the folder of the project that a folder is in, whose `.jarvis` is used: the nearest
    one upwards that has it, else the folder itself.

    The search ends at the top of the repository. Outside of one, only settings that somebody wrote
    make a project, since a `.jarvis` in a folder such as `/tmp` may be there for other reasons.
    What another user than the owner of `folder` has put above it does not count, nor does the
    user's own state in their home.
    """
    folder = Path(os.path.realpath(folder))
    if _is_project(folder):
        return folder
    owner = _owner(folder)
    in_repository = any(os.path.lexists(place / ".git") for place in (folder, *folder.parents))
    for place in (folder, *folder.parents):
        is_named = in_repository or os.path.lexists(place / SETTINGS_FILE)
        if is_named and _is_project(place) and _owner(place / STATE) == owner:
            return place
        if os.path.lexists(place / ".git"):
            break
    return folder


def _is_project(folder: Path) -> bool:
    """Return whether a folder has a `.jarvis` that is not the user's own state."""
    state = folder / STATE
    own = (user_folder(), Path("~", STATE).expanduser())
    return os.path.isdir(state) and state not in own  # noqa: PTH112 - never raises


def _owner(path: Path) -> int | None:
    """Return the number of the user that a file belongs to; None when that cannot be read."""
    try:
        return path.lstat().st_uid
    except OSError:
        return None


def read_folder(root: Path) -> Folder:
    """Read settings and baseline of a folder and list its files. Raises `JarvisError` when one of
    them is damaged."""
    settings = load_settings(root)
    return Folder(settings, list_sources(root, settings), load_baseline(root))


def open_cache(root: Path, settings: Settings, aside: Path | None = None) -> Cache | None:
    """Return what earlier scans have kept, as `Cache` does; None where nothing can be kept, which
    makes a scan slower and nothing else."""
    try:
        return Cache(root, settings.patterns, settings.functions, settings.observed, aside=aside)
    except (JarvisError, OSError):
        return None
