"""What `jsec` is asked to scan: the project, its settings, its files, a document on standard
input."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import STATE, TOO_LARGE
from jarvis_ls.core.ignored import printable
from jarvis_ls.jsec.findings.baseline import Baseline, load_baseline
from jarvis_ls.jsec.scan.folder import project_root
from jarvis_ls.jsec.scan.headers_beside import with_headers_beside
from jarvis_ls.jsec.scan.source_files import (
    Listing,
    Skipped,
    SourceFile,
    is_source,
    list_sources,
)
from jarvis_ls.jsec.settings.rule_names import known_rules, unknown_rule
from jarvis_ls.jsec.settings.settings import Settings, load_settings, settings_from


@dataclass(slots=True)
class Job:
    """A scan as the command line asks for it."""

    root: Path
    """Real path of the folder that paths are relative to and whose state is used."""
    settings: Settings
    """Of the folder and the command line."""
    listing: Listing
    """The files, those whose headers may be needed among them."""
    only: list[str] | None
    """The files that are scanned; None for all."""
    baseline: Baseline | None
    """Known findings."""
    whole: bool
    """Whether all of `root` is scanned."""


def prepare(options: argparse.Namespace, *, least: float = 0.0) -> Job:
    """Read settings and baseline and list the files.

    `least` is the lowest confidence of findings where neither settings nor options name one.
    Raises `UsageError` or `ConfigError` when something asked for is not there or not right.
    """
    if getattr(options, "explain_gaps", False) and options.format not in ("text", "json"):
        raise UsageError("--explain-gaps needs --format text or json")
    document = getattr(options, "stdin_filename", None)
    if document is not None and [str(path) for path in options.paths] not in ([], ["-"]):
        raise UsageError("--stdin-filename scans one document; name no files or folders")
    paths = _existing([document.absolute().parent] if document is not None else options.paths)
    root = _root(paths) if document is None else _project_of([_real(paths[0])])
    settings = _settings(root, options, least)
    whole = document is None and len(paths) == 1 and _real(paths[0]) == root
    if document is not None:
        listing = _read_document(document, root, settings)
    else:
        listing = list_sources(root, settings, () if whole else paths)
    only = None
    if not whole:
        only = [file.path for file in listing.files]
        if any((root / name).is_dir() for name in (".git", STATE)):
            listing = _with_project(listing, list_sources(root, settings))
        else:
            listing = with_headers_beside(listing)
    baseline = None if options.no_baseline else load_baseline(root, options.baseline)
    return Job(root, settings, listing, only, baseline, whole)


def _existing(paths: Sequence[Path]) -> Sequence[Path]:
    """Return the files and folders named, or the current folder. Raises `UsageError`."""
    for path in paths:
        if not os.path.lexists(path):
            raise UsageError("{path}: no such file or directory", path=path)
        if _is_locked(path):
            raise UsageError("{path}: directory is not readable", path=path)
    return paths or [Path()]


def _settings(root: Path, options: argparse.Namespace, least: float) -> Settings:
    """Return the settings of the project with the options over them."""
    settings = load_settings(root, Settings(min_confidence=least))
    flags = {"exclude": options.exclude}
    if options.no_flow:
        flags["flow"] = False
    for name in ("min_confidence", "max_file_size"):
        if getattr(options, name) is not None:
            flags[name] = getattr(options, name)
    settings = settings_from(flags, "command line", settings)
    if options.rule:
        known = known_rules().union(pattern.id for pattern in settings.patterns)
        for rule in options.rule:
            if rule not in known:
                raise UsageError(unknown_rule(rule, known))
    return settings


def _read_document(document: Path, root: Path, settings: Settings) -> Listing:
    """Return the document on standard input as the file that it is saved as. Raises `UsageError`
    when its name says that it is in no language we read."""
    if not is_source(document.name):
        raise UsageError("{path}: not a name of a C, C++ or Rust file", path=document)
    place = _real(document.absolute().parent) / document.name
    path = printable(str(place.relative_to(root)))
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    given = sys.stdin.buffer.read(settings.max_file_size + 1)
    if len(given) > settings.max_file_size:
        return Listing(str(root), skipped=[Skipped(path, TOO_LARGE)])
    return Listing(str(root), [SourceFile(path, str(place), len(given), given)])


def _is_locked(path: Path) -> bool:
    """Return whether it is a folder that we may not look into."""
    try:
        return path.is_dir() and not os.access(path, os.R_OK | os.X_OK)
    except PermissionError:  # a link into such a folder
        return True


def _with_project(chosen: Listing, project: Listing) -> Listing:
    """Return the chosen files, and behind them those of the project that may hold their headers."""
    files = {file.path: file for file in chosen.files}
    for file in project.files:
        files.setdefault(file.path, file)  # a document that is not saved stays what it is
    return Listing(chosen.root, list(files.values()), chosen.skipped)


def _root(paths: Sequence[Path]) -> Path:
    """Return the project of the files named, or the nearest folder that all of them are in."""
    real = [_real(path) for path in paths]
    folders = [path if path.is_dir() else path.parent for path in real]
    if len(paths) == 1 and folders == real:
        return project_root(folders[0])
    return _project_of(folders)


def _project_of(folders: Sequence[Path]) -> Path:
    """Return the project of files in these folders: that of the current one if it holds them."""
    here = _real(Path())
    if all(folder == here or here in folder.parents for folder in folders):
        return project_root(here)
    return project_root(Path(os.path.commonpath(folders)))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
