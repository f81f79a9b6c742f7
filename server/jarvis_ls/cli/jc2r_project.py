"""What the commands of `jc2r` that compare C with Rust have in common."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jarvis_ls.cli.trust import COMPARING, require_trust
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the folder of the project."""
    parser.add_argument(
        "path",
        nargs="?",
        type=Path,
        default=Path(),
        help="folder of the C project (default: the current folder)",
    )


def add_build(parser: argparse.ArgumentParser) -> None:
    """Add the option that runs the project's own build."""
    parser.add_argument(
        "--build",
        action="store_true",
        help="run the project's build in a copy to get its compile commands",
    )


def find_project(path: Path) -> Path:
    """Return the real path of a project. Raises `UsageError` when there is no such folder."""
    root = path.resolve()
    if not root.is_dir():
        raise UsageError("{path}: no such folder.", path=path)
    return root


def open_project(options: argparse.Namespace, only_linux: Words) -> Path:
    """Return the real path of the project, whose code may be run. `only_linux` is said elsewhere.

    Raises `JarvisError` on another system, and `UsageError` when there is no such folder or the
    user does not trust it.
    """
    if not sys.platform.startswith("linux"):
        raise JarvisError(only_linux)
    root = find_project(options.path)
    leave_out(root)
    require_trust(root, given=options.trust, why=COMPARING)
    return root
