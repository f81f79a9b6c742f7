"""Where an agent works, for its prompt: folder, system, date, repository, sandbox, who is there.

Nothing is run for it: the state of a repository is read from its files, which a hostile one can
write as it likes, so names from there are cut and made visible.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.assembly.git_changes import Changed, count_changed
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.runtime.tools.permissions import shown

LISTED = 24
"""Entries of the first folder that are named."""
_MOST = 40
"""Characters of a name."""
_LIMIT = 4_000_000
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
"""Files of a repository, and what they say is under way."""


def place_text(
    roots: Sequence[Path], *, trusted: bool, attended: bool, sandbox: str, listing: str
) -> str:
    """Return what stays the same over a session, one paragraph."""
    lines = [f"System: {platform.system()} {platform.release()}, {platform.machine()}."]
    if roots:
        lines.insert(0, f"Folder: {shown(roots[0].as_posix())} (paths are relative to it).")
    if listing:
        lines.append(f"In it: {listing}")
    if not trusted:
        lines.append(
            "The user has not said that this workspace can be trusted: nothing is written or run."
        )
    elif sandbox == "none":
        lines.append("Scripts run without isolation, on a copy of the workspace.")
    else:
        known = sandbox or "the best that holds here, found with the first one"
        lines.append(f"Scripts run in a sandbox: {known}.")
    if not attended:
        lines.append(
            "There is no user to answer or to allow anything: what needs consent is refused. "
            "Decide yourself and say what you assumed."
        )
    return "\n".join(lines)


def state_text(roots: Sequence[Path]) -> str:
    """Return what may change between two tasks: date and state of the repository."""
    now = datetime.datetime.now().astimezone()
    repository = git_state(roots[0]) if roots else ""
    return f"Today: {now:%Y-%m-%d (%A)}." + (f" Git: {repository}." if repository else "")


def top_level(root: Path) -> str:
    """Return the names of the entries of a folder on one line, folders with a slash."""
    try:
        with os.scandir(root) as entries:
            found = sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.name not in (".git", STATE)
            )
    except OSError:
        return ""
    names = [_name(name) + ("/" if is_folder else "") for name, is_folder in found[:LISTED]]
    more = f" … {len(found) - LISTED} more" if len(found) > LISTED else ""
    return " ".join(names) + more


def git_state(root: Path) -> str:
    """Return branch, commit, what is under way and how many files are changed in the repository
    around a folder; empty without one. Only files of the repository are read.
    """
    top = next((above for above in (root, *root.parents) if _git_folder(above)), root)
    folder = _git_folder(top)
    head = _line(folder / "HEAD") if folder is not None else ""
    if folder is None or not head:
        return ""
    shared = _line(folder / "commondir")  # a further work tree keeps its references elsewhere
    common = Path(os.path.normpath(folder / shared)) if shared else folder
    parts: list[str] = []
    reference = head.removeprefix("ref: ")
    if reference != head:
        branch = _name(reference.removeprefix("refs/heads/"))
        commit = _line(common / reference) if ".." not in reference else ""
        commit = commit or _pack(common, reference)
        parts.append(f"branch {branch}")
        parts.append(f"commit {commit[:10]}" if _COMMIT.fullmatch(commit) else "no commit yet")
    elif _COMMIT.fullmatch(head):
        parts.append(f"detached at {head[:10]}")
    parts += dict.fromkeys(
        f"{what} under way" for file, what in _UNDER_WAY.items() if os.path.lexists(folder / file)
    )
    if parts and (changed := count_changed(top, folder, common)) is not None:
        parts.append(_in_words(changed))
    return ", ".join(parts)


def _in_words(changed: Changed) -> str:
    """Return what was counted; untracked files and what is staged are not among them."""
    count = f"{changed.files}{'' if changed.is_whole else ' or more'}"
    text = f"{count} changed files" if count != "1" else "1 changed file"
    conflicts = f", {changed.conflicts} in conflict" if changed.conflicts else ""
    return f"{text} (not staged; untracked not counted){conflicts}"


def _git_folder(root: Path) -> Path | None:
    """Return the folder of the repository whose work tree begins here."""
    git = root / ".git"
    if git.is_dir():
        return git
    written = _line(git)
    pointed = written.removeprefix("gitdir: ")
    return None if not written or pointed == written else Path(os.path.normpath(root / pointed))


def _pack(folder: Path, reference: str) -> str:
    for line in _text(folder / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == reference:
            return commit
    return ""


def _line(path: Path) -> str:
    return _text(path).partition("\n")[0].strip()


def _text(path: Path) -> str:
    try:
        return read_regular(path, limit=_LIMIT).decode("utf-8", "replace")
    except SkippedFile:
        return ""


def _name(name: str) -> str:
    """Return a name that cannot pass for more than one word of the prompt."""
    word = "_".join(shown(name.encode("utf-8", "replace").decode()).split())
    return word if len(word) <= _MOST else word[: _MOST - 1] + "…"
