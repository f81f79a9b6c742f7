"""Lines that a `.gitignore` lacks, by what the repository holds: what builds, editors and we leave.

Only added to the copy, so that the user sees and accepts them as any other change; what is there
stays as it is, line ends and comments included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file

FILE = ".gitignore"
_LARGEST = 1_000_000
_ALWAYS = ("# Jarvis", ".jarvis/cache/", ".DS_Store", "*.swp")
_BY_SUFFIX: Mapping[str, tuple[str, ...]] = {
    ".py": ("# Python", "__pycache__/", "*.pyc", ".venv/", ".pytest_cache/", "*.egg-info/"),
    ".rs": ("# Rust", "target/"),
    ".js": ("# Node", "node_modules/", "npm-debug.log*"),
    ".ts": ("# Node", "node_modules/", "npm-debug.log*"),
    ".go": ("# Go", "*.test"),
    ".java": ("# Java", "*.class", ".gradle/"),
    ".c": ("# C and C++", "*.o", "*.a", "*.so"),
    ".cpp": ("# C and C++", "*.o", "*.a", "*.so"),
    ".cs": ("# .NET", "bin/", "obj/"),
}


def complete_gitignore(root: Path, paths: Iterable[str]) -> Collection[str]:
    """Append to the `.gitignore` of a folder what it lacks for files of these paths; the lines that
    were added. Raises `JarvisError` when it cannot be written."""
    suffixes = {Path(path).suffix for path in paths}
    groups = [_ALWAYS, *(lines for suffix, lines in _BY_SUFFIX.items() if suffix in suffixes)]
    try:
        data = read_regular(root / FILE, limit=_LARGEST, root=root)
    except SkippedFile:
        if (root / FILE).is_symlink() or (root / FILE).exists():
            return ()  # a link, or nothing that is text: left alone
        data = b""
    known = {line.strip().strip("/") for line in data.decode("utf-8", "replace").splitlines()}
    added: list[str] = []
    for title, *lines in dict.fromkeys(groups):
        missing = [line for line in lines if line.strip("/") not in known]
        known |= {line.strip("/") for line in missing}
        if missing:
            added += ["", title, *missing] if data or added else [title, *missing]
    if added:
        end = "\r\n" if b"\r\n" in data else "\n"
        start = end if data and not data.endswith(b"\n") else ""
        text = start + "".join(f"{line}{end}" for line in added)
        replace_file(root / FILE, data + text.encode())
    return tuple(line for line in added if line and not line.startswith("#"))
