"""A folder made ready for a scan: its settings, its files, what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jsec.findings.baseline import Baseline, load_baseline
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.source_files import Listing, list_sources
from jarvis_ls.jsec.settings.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Folder:
    """What `scan` is given of a folder."""

    settings: Settings
    listing: Listing
    baseline: Baseline


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
