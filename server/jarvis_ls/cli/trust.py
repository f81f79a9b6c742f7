"""The folders whose files a user trusts, as an editor keeps them: asked once, remembered."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.cli.choices import chosen
from jarvis_ls.cli.language import speak
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import read_regular, replace_file, user_folder
from jarvis_ls.core.words import Words

FILE = "trusted.json"
CHOICES = "[y]es, [n]o"
CODING = "Agents change a copy of the repository; its code is built and tested there."
BUILDING = "With --build, the project's own build is run."
COMPARING = "Functions and programs of the project are run to compare them."
PROVING = "The project's code is built and run to find evidence."
REPAIRING = "The project's code and tests are built and run to judge a repair."
TESTING = "The project's own tests are run."
FOREIGN = "{crate} was made by jc2r, but not here: what it has built already may be run."
"""What of a folder would run, in words."""


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what the user would be asked."""
    parser.add_argument(
        "--trust", action="store_true", help="trust this folder: what it brings may be run"
    )


def is_trusted(folder: Path, home: Path) -> bool:
    """Return whether the user has trusted a folder, or one above it, at an earlier time."""
    known = _trusted_folders(home)
    return any(str(place) in known for place in (folder, *folder.parents))


def remember_trust(folder: Path, home: Path) -> None:
    """Keep that the user trusts a folder. Raises `JarvisError`."""
    home.mkdir(parents=True, exist_ok=True)
    known = [*_trusted_folders(home), str(folder)]
    replace_file(home / FILE, json.dumps(known, indent=2).encode() + b"\n", mode=0o600)


def require_trust(folder: Path, *, given: bool, why: str | Words) -> None:
    """Go on only when the user trusts `folder`: by option (`given`), from an earlier time, or now
    asked at the terminal. `why` says what of the folder would run.

    Raises `UsageError` when they do not, or there is no user to ask.
    """
    home = user_folder()
    if given or is_trusted(folder, home):
        return
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        question = Words("{why} Do you trust the files in {folder}?", why=why, folder=folder)
        if _is_agreed(f"{speak(question)} {CHOICES} "):
            remember_trust(folder, home)
            return
    raise UsageError(
        "{why} Do that only if you trust the files in {folder}: use --trust, or run it at a"
        " terminal, where you are asked and the answer is saved.",
        why=why,
        folder=folder,
    )


def _is_agreed(question: str) -> bool:
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        letter = chosen(CHOICES, line)
        if letter in ("y", "n"):
            return letter == "y"


def _trusted_folders(home: Path) -> Sequence[str]:
    try:
        known = json.loads(read_regular(home / FILE, limit=1_000_000))
    except (JarvisError, OSError, ValueError, RecursionError):
        return ()
    if not isinstance(known, list):
        return ()
    return [folder for folder in known if isinstance(folder, str)]
