"""What a checkpoint says of a root, and what it does not speak about."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from jarvis_ls.runtime.edits.file_change import FileState
from jarvis_ls.runtime.edits.snapshots.look import Ignores
from jarvis_ls.runtime.edits.snapshots.store import CheckpointStore, Node
from jarvis_ls.runtime.edits.snapshots.stored_snapshot import StoredSnapshot


class Past:
    """One root as a checkpoint knows it."""

    def __init__(
        self, store: CheckpointStore, root: dict[str, Any], wanted: Sequence[str], extra: Any
    ) -> None:
        top = root["path"].rstrip("/") + "/"
        self._store = store
        self._top = top
        self._tree = bytes.fromhex(root["tree"])
        self._skipped: dict[str, str] = root["skipped"]
        self._truncated: bool = root["truncated"]
        self._wanted = {path[len(top) :] for path in wanted if path.startswith(top)}
        self._extra = {
            path[len(top) :]: None
            if node is None
            else Node(node[0], node[1], bytes.fromhex(node[2]))
            for path, node in extra.items()
            if path.startswith(top)
        }
        self._ignored: dict[str, tuple[bool, Ignores]] = {}

    def differences(self, now: bytes) -> Iterator[tuple[str, Node | None, Node | None]]:
        """Path, entry now and entry then of all that differs, folders before what is in them."""
        seen = set()
        for path, here, there in differences(self._store, now, self._tree, ""):
            if there is None and path in self._extra:
                there = self._extra[path]
            seen.add(path)
            if here != there:
                yield path, here, there
        for path, there in self._extra.items():
            if path in seen or self._entry(self._tree, path) is not None:
                continue
            here = self._entry(now, path)
            if here != there:
                yield path, here, there

    def hidden(self, now: StoredSnapshot) -> Iterator[str]:
        """Yield the files of this checkpoint that the present snapshot says nothing about.

        Those that exist would be overwritten. Those that do not are created: a checkpoint taken
        before must say that they were absent, also where they are ignored.
        """
        for path, here, there in self.differences(now.tree):
            if here is None and there is not None and there.kind != "folder":
                place = self._top + path
                exists = os.path.lexists(place)
                if not exists or os.path.islink(place) or os.path.isfile(place):  # noqa: PTH113, PTH114
                    yield path

    def looked_at(self, absolute: str) -> bool:
        """Return whether this checkpoint says what a file was."""
        if not absolute.startswith(self._top):
            return False
        path = absolute[len(self._top) :]
        return self._entry(self._tree, path) is not None or self.spoke_of(path)

    def spoke_of(self, path: str) -> bool:
        """Return whether a file that is not in the checkpoint was not there then."""
        if path in self._extra or path in self._wanted:
            return True
        if self._truncated or path in self._skipped:
            return False
        parts = path.split("/")
        above = ["/".join(parts[:depth]) for depth in range(len(parts))]
        if any(folder in self._skipped for folder in above):
            return False
        folder, ignores = "", self._rules("", Ignores())
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if ignores.match(folder + "/"):
                return False
            ignores = self._rules(folder, ignores)
        return not ignores.match(path)

    def _rules(self, folder: str, ignores: Ignores) -> Ignores:
        node = self._entry(self._tree, f"{folder}/.gitignore" if folder else ".gitignore")
        if node is None or node.kind != "file":
            return ignores
        return ignores.below(f"{folder}/" if folder else "", self._store.get(node.digest))

    def _entry(self, tree: bytes, path: str) -> Node | None:
        node: Node | None = Node("folder", 0, tree)
        for part in path.split("/"):
            if node is None or node.kind != "folder":
                return None
            node = self._store.tree(node.digest).get(part)
        return node


def state_of(store: CheckpointStore, node: Node | None) -> FileState | None:
    """Return the file state of an entry; None for a folder and for no entry."""
    if node is None or node.kind == "folder":
        return None
    kind = "link" if node.kind == "link" else "file"
    return FileState(kind, store.get(node.digest), node.mode)  # type: ignore[arg-type]


def differences(
    store: CheckpointStore, old: bytes | None, new: bytes | None, prefix: str
) -> Iterator[tuple[str, Node | None, Node | None]]:
    """Entries of two trees that differ, folders before what is in them."""
    if old == new:
        return
    before, after = store.tree(old), store.tree(new)
    for name in sorted(before.keys() | after.keys()):
        x, y = before.get(name), after.get(name)
        if x == y:
            continue
        x_tree = x.digest if x is not None and x.kind == "folder" else None
        y_tree = y.digest if y is not None and y.kind == "folder" else None
        if x is None or y is None or x_tree is None or y_tree is None or x.mode != y.mode:
            yield prefix + name, x, y
        if x_tree is not None or y_tree is not None:
            yield from differences(store, x_tree, y_tree, f"{prefix}{name}/")
