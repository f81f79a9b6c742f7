"""Repositories made for tests by the real git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder and return what it says."""
    run = subprocess.run(
        ["git", *arguments], cwd=root, env=ENVIRONMENT, capture_output=True, check=True
    )
    return run.stdout.decode()


def make_repository(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a repository with one commit of these files."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    write(root, files)
    commit(root, "first")
    return root


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)


def commit(root: Path, message: str) -> None:
    """Commit everything that is in the work tree."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)
