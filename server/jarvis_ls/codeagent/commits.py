"""Changes as commits of the user's repository, without git being run and without its index, its
work tree or a branch that is there being touched.

Only objects are added and one reference that is new: `refs/jarvis/*`, or a branch the user names.
What the user has not committed never gets into a commit of ours: a change is moved to the last
commit, and where that is not possible it is refused.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from jarvis_ls.codeagent.identity import Identity
from jarvis_ls.codeintel.change.repository import open_repository
from jarvis_ls.codeintel.diff import blocks
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.runtime.edits.file_change import FileChange, FileState, text_of

OWN = "refs/jarvis/"
"""References of ours."""
SUBJECT = 72
"""Characters of the first line of a message."""
_FOLDER, _FILE, _PROGRAM, _LINK = 0o040000, 0o100644, 0o100755, 0o120000
_UNFIT = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|[/.]$|/\.|\.lock(?:/|$)|^@$")
"""What git allows in no name of a reference: its Documentation/git-check-ref-format.adoc."""

_Node = tuple[int, bytes]
"""Mode and binary name of what a folder holds."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a commit says."""

    subject: str
    """What was wanted, in words; cut to a line."""
    prefix: str = ""
    """Put before the subject, with a blank."""
    suffix: str = ""
    """Put at the end, on a line of its own."""

    def text(self) -> str:
        """Return the whole."""
        line = " ".join(self.subject.split())
        line = f"{self.prefix} {line}".strip() if self.prefix else line
        if len(line) > SUBJECT:
            line = line[: SUBJECT - 1].rstrip() + "…"
        parts = [line or "Change", *([self.suffix] if self.suffix else [])]
        return "\n\n".join(parts) + "\n"


def check_branch(root: Path, name: str) -> str:
    """Return the reference of a branch that is to be made. Raises `UsageError` when there is one,
    or git has no branches of such a name."""
    if not name or _UNFIT.search(name) or name == "HEAD" or not name.isprintable():
        raise UsageError("{name} is not a valid branch name", name=repr(name))
    reference = f"refs/heads/{name}"
    known = {str(branch.path) for branch in open_repository(root).branches}
    if reference in known:
        raise UsageError("there is a branch {name} already", name=name)
    if any(
        other.startswith(f"{reference}/") or reference.startswith(f"{other}/") for other in known
    ):
        raise UsageError("{name} cannot be beside the branches there are", name=name)
    return reference


def own_reference(root: Path, session: str) -> str:
    """Return a reference of ours that is not there yet, for a commit of a session."""
    known = {str(reference.path) for reference in open_repository(root).references}
    names = (f"{OWN}{session}{f'-{number}' if number > 1 else ''}" for number in count(1))
    return next(name for name in names if name not in known)


def commit_changes(
    root: Path, changes: Sequence[FileChange], reference: str, message: Message, who: Identity
) -> str:
    """Add a commit of these changes on top of the last one and let a new `reference` name it;
    returns its name.

    Raises `JarvisError` when a change cannot be told from what the user has not committed, or the
    repository cannot be written.
    """
    repository = open_repository(root)
    from git import Actor, Commit, Reference, Tree

    try:
        parents = [repository.head.commit] if repository.head.is_valid() else []
        top = parents[0].tree.binsha if parents else None
        tree = _Trees(repository).change(top, changes)
        actor = Actor(who.name, who.email)
        made = Commit.create_from_tree(
            repository,
            Tree(repository, tree),
            message.text(),
            parent_commits=parents,
            author=actor,
            committer=actor,
        )
        Reference.create(repository, reference, made, logmsg=None)
    except JarvisError:
        raise
    except Exception as error:  # readers and writers of a repository anybody may have made
        raise JarvisError(
            "no commit could be made in {root}: {why}", root=root, why=_first_line(error)
        ) from error
    return str(made.hexsha)


class _Trees:
    """Writes the trees of a commit; those in which nothing changes stay."""

    def __init__(self, repository: object) -> None:
        self._odb = repository.odb  # type: ignore[attr-defined]

    def change(self, top: bytes | None, changes: Sequence[FileChange]) -> bytes:
        """Return the name of the folder that `top` becomes."""
        nested: dict[str, object] = {}
        for change in changes:
            place = nested
            *folders, name = change.path.split("/")
            for folder in folders:
                inner = place.setdefault(folder, {})
                if not isinstance(inner, dict):  # a file became a folder
                    inner = place[folder] = {}
                place = inner
            if not isinstance(place.get(name), dict) or change.after is not None:
                place[name] = change
        return self._folder(top, nested) or self._store(b"tree", b"")

    def _folder(self, old: bytes | None, nested: Mapping[str, object]) -> bytes | None:
        """Return the name of a folder after its changes; None when nothing is left in it."""
        entries = self._entries(old)
        for name, what in nested.items():
            key = os.fsencode(name)
            before = entries.get(key)
            if isinstance(what, FileChange):
                node = self._file(what, before)
            else:
                assert isinstance(what, dict)
                is_folder = before is not None and before[0] == _FOLDER
                inner = self._folder(before[1] if before and is_folder else None, what)
                node = None if inner is None else (_FOLDER, inner)
            if node is None:
                entries.pop(key, None)
            else:
                entries[key] = node
        if not entries:
            return None
        ordered = sorted(
            entries.items(), key=lambda item: item[0] + (b"/" if item[1][0] == _FOLDER else b"")
        )
        rows = (b"%o %b\0%b" % (mode, name, binary) for name, (mode, binary) in ordered)
        return self._store(b"tree", b"".join(rows))

    def _file(self, change: FileChange, committed: _Node | None) -> _Node | None:
        """Return what a file becomes in the commit; None when it is gone."""
        known = None if committed is None else self._state(committed)
        after = _moved(change, known)
        if after is None:
            return None
        mode = _LINK if after.kind == "link" else _PROGRAM if after.mode & 0o100 else _FILE
        return mode, self._store(b"blob", after.data)

    def _state(self, node: _Node) -> FileState | None:
        mode, name = node
        if mode == _LINK:
            return FileState("link", self._odb.stream(name).read())
        if mode & 0o170000 != 0o100000:
            return None  # a module, or a folder in the place of a file
        return FileState("file", self._odb.stream(name).read(), mode & 0o777)

    def _entries(self, folder: bytes | None) -> dict[bytes, _Node]:
        from git.objects.fun import tree_entries_from_data

        if folder is None:
            return {}
        found = tree_entries_from_data(self._odb.stream(folder).read())
        return {os.fsencode(name): (mode, binary) for binary, mode, name in found}

    def _store(self, kind: bytes, data: bytes) -> bytes:
        from gitdb import IStream

        return bytes(self._odb.store(IStream(kind, len(data), io.BytesIO(data))).binsha)


def _moved(change: FileChange, committed: FileState | None) -> FileState | None:
    """Return what the committed file becomes by a change that was made to what is on the disk.

    Raises `JarvisError` when the change builds on what is not committed.
    """
    before, after = change.before, change.after
    if _is_same(before, committed):
        return after
    unfit = JarvisError(
        "{path} holds changes of yours that are not committed, and the new ones build on them:"
        " commit yours first, or take the changes as a patch.",
        path=change.path,
    )
    if before is None or after is None or committed is None:
        raise unfit
    texts = [text_of(state.data) for state in (before, after, committed)]
    if any(state.kind != "file" for state in (before, after, committed)) or None in texts:
        raise unfit
    base, new, old = (str(text).split("\n") for text in texts)
    merged = _merge(base, new, old)
    if merged is None:
        raise unfit
    mode = after.mode if before.mode & 0o100 != after.mode & 0o100 else committed.mode
    return FileState("file", "\n".join(merged).encode(), mode)


def _merge(base: Sequence[str], new: Sequence[str], old: Sequence[str]) -> list[str] | None:
    """Return `old` with what became of `base` in `new`; None where both differ from `base` in
    lines that touch."""
    ours, theirs = blocks(base, old), blocks(base, new)
    for a, b, _, _ in theirs:
        if any(x <= b and a <= y for x, y, _, _ in ours):
            return None
    merged = list(old)
    for a, b, c, d in reversed(theirs):
        shift = sum((w - v) - (y - x) for x, y, v, w in ours if y < a)
        merged[a + shift : b + shift] = new[c:d]
    return merged


def _is_same(before: FileState | None, committed: FileState | None) -> bool:
    """Return whether a file on the disk is as it was committed."""
    if before is None or committed is None:
        return before is committed
    return before.kind == committed.kind and before.data == committed.data


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__
