"""Line ends that git changes when it writes and reads files, and a `.gitattributes` against it.

Settings of git are the user's and are not touched. The same is reached by one line in the copy,
which they see and accept as any other change: git leaves line ends alone, as without
`core.autocrlf` and `core.safecrlf`, and a carriage return at the end of a line is no fault, as with
`core.whitespace`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.codeagent.git_settings import read_setting
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import Words

FILE = ".gitattributes"
OFFER = Words(
    "git changes line ends in this repository (core.autocrlf); `jca --keep-line-ends` proposes a "
    ".gitattributes that leaves them as they are."
)
_LINE = "* -text whitespace=cr-at-eol"
_LARGEST = 1_000_000


def changes_line_ends(root: Path, git_folder: Path, environment: Mapping[str, str]) -> bool:
    """Return whether git changes line ends of a work tree, and no `.gitattributes` decides it.

    `git_folder` is the repository's.
    """
    setting = read_setting(git_folder, environment, "core", "autocrlf").lower()
    by_default = sys.platform == "win32" and not setting  # as git is installed there
    return (setting in ("true", "input") or by_default) and not _decides(_read(root))


def keep_line_ends(root: Path) -> None:
    """Have git leave line ends below a folder alone, unless its `.gitattributes` decides on them.

    Raises `JarvisError` when it cannot be written.
    """
    data = _read(root)
    if data is None or _decides(data):
        return
    end = b"\r\n" if b"\r\n" in data else b"\n"
    # First, since of several lines that fit a file the last one holds.
    replace_file(root / FILE, _LINE.encode() + end + data)


def _read(root: Path) -> bytes | None:
    """Return the file; None for a link, or what is no text."""
    try:
        return read_regular(root / FILE, limit=_LARGEST, root=root)
    except SkippedFile:
        is_there = (root / FILE).is_symlink() or (root / FILE).exists()
        return None if is_there else b""


def _decides(data: bytes | None) -> bool:
    """Return whether the text says of all files what is done with their line ends."""
    if data is None:
        return True
    for line in data.decode("utf-8", "replace").splitlines():
        pattern, *attributes = line.split() or [""]
        names = {attribute.lstrip("-!").partition("=")[0] for attribute in attributes}
        if pattern == "*" and names & {"text", "binary", "crlf", "eol"}:
            return True
    return False
