"""What a root holds, with all contents in the store: only what has changed is read."""

from __future__ import annotations

from typing import Any

from jarvis_ls.runtime.edits.file_change import read_state
from jarvis_ls.runtime.edits.snapshots.look import Folder, Limits, Snapshot, Stamp
from jarvis_ls.runtime.edits.snapshots.store import CheckpointStore, Node, Tree, dump_tree

RACY_NS = 2_000_000_000
"""A file changed so shortly before it was read may change again without a new stamp."""


class StoredSnapshot:
    """A snapshot whose contents are in the store."""

    def __init__(self, generation: int, snapshot: Snapshot, racy_from: int) -> None:
        self.generation = generation
        self.snapshot = snapshot
        self.racy_from = racy_from
        self.digests: dict[str, dict[str, bytes]] = {}
        self.trees: dict[str, bytes] = {}

    @property
    def tree(self) -> bytes:
        """Digest of the root's tree; empty when nothing is known."""
        return self.trees.get("", b"")

    @classmethod
    def load(cls, store: CheckpointStore, root: str, generation: int) -> StoredSnapshot:
        """Load what an earlier process knew."""
        known = cls(generation, Snapshot(root), racy_from=0)
        try:
            data = store.index(root) or {"racy": 0, "folders": {}}
            known.racy_from = data["racy"]
            for path, (mode, tree, files, folders) in data["folders"].items():
                stamps = {
                    n: Stamp(k, m, s, (a, b, c)) for n, (k, m, s, a, b, c, _) in files.items()
                }
                known.snapshot.folders[path] = Folder(mode, stamps, folders)
                known.digests[path] = {n: bytes.fromhex(of[6]) for n, of in files.items()}
                known.trees[path] = bytes.fromhex(tree)
        except (KeyError, TypeError, ValueError):  # another version wrote it: it only saves time
            return cls(generation, Snapshot(root), racy_from=0)
        return known

    def dump(self) -> dict[str, Any]:
        """For `load`."""
        folders = {
            path: (
                folder.mode,
                self.trees[path].hex(),
                {
                    n: (s.kind, s.mode, s.size, *s.changed, self.digests[path][n].hex())
                    for n, s in folder.files.items()
                },
                folder.folders,
            )
            for path, folder in self.snapshot.folders.items()
        }
        return {"racy": self.racy_from, "folders": folders}

    def hash_all(self, store: CheckpointStore, before: StoredSnapshot, limits: Limits) -> None:
        """Put into the store what is not there yet."""
        deepest_first = sorted(
            self.snapshot.folders, key=lambda path: -path.count("/") - bool(path)
        )
        for path in deepest_first:
            folder = self.snapshot.folders[path]
            self._hash_folder(store, path, folder, before, limits)
            inner = {name: f"{path}/{name}" if path else name for name in folder.folders}
            same = (
                before.snapshot.folders.get(path) == folder
                and before.digests[path] == self.digests[path]
                and all(before.trees.get(of) == self.trees.get(of) for of in inner.values())
                and all(
                    before.snapshot.folders[of].mode == self.snapshot.folders[of].mode
                    for of in inner.values()
                    if of in self.snapshot.folders
                )
            )
            self.trees[path] = before.trees[path] if same else store.put(self._dump(path, inner))

    def _dump(self, path: str, inner: dict[str, str]) -> bytes:
        tree: Tree = {
            name: Node(stamp.kind, stamp.mode, self.digests[path][name])
            for name, stamp in self.snapshot.folders[path].files.items()
        }
        for name, of in inner.items():
            if of in self.trees:  # else it could not be read
                tree[name] = Node("folder", self.snapshot.folders[of].mode, self.trees[of])
        return dump_tree(tree)

    def _hash_folder(
        self,
        store: CheckpointStore,
        path: str,
        folder: Folder,
        before: StoredSnapshot,
        limits: Limits,
    ) -> None:
        old = before.snapshot.folders.get(path)
        digests = self.digests[path] = {}
        for name, stamp in list(folder.files.items()):
            if (
                old is not None
                and old.files.get(name) == stamp
                and max(stamp.changed[:2]) < before.racy_from
            ):
                digests[name] = before.digests[path][name]
                continue
            place = f"{path}/{name}" if path else name
            try:
                state = read_state(f"{self.snapshot.root}/{place}", limits.file_bytes)
            except (OSError, ValueError) as error:
                self.snapshot.skipped[place] = str(getattr(error, "strerror", None) or error)
                state = None
            if state is None:
                del folder.files[name]
            else:
                folder.files[name] = Stamp(state.kind, state.mode, stamp.size, stamp.changed)
                digests[name] = store.put(state.data)


def _depth(path: str) -> int:
    return path.count("/") + bool(path)
