"""Checkpoints: the files of a workspace as they were before a turn, and the way back.

Contents are kept in a store of our own below the user's folder (see `snapshots.store`), not in
a shadow git repository. Git would bring the user's filters, attributes, line-end conversion,
hooks and `safe.directory` with it, needs an index on disk for every root, sees nested
repositories as one opaque entry, forgets empty folders and most mode bits, and may not be
installed. Nothing here runs git or looks below `.git`, so branches, index and stash cannot be
touched, whatever they are in the middle of.

Kept are files, links, empty folders and permission bits of every root, tracked by git or not.
Not kept: `.git` and `.jarvis`, what git ignores (unless `include` asked for it, which anyone who
writes an ignored file does first), special files, and files over a size limit. Those are never
removed or overwritten by a restore either: what is in no checkpoint stays as it is.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.runtime.base.events import ProposedEdit
from jarvis_ls.runtime.edits.file_change import FileChange, FileState, read_state
from jarvis_ls.runtime.edits.snapshots.look import Limits, look
from jarvis_ls.runtime.edits.snapshots.past import Past, state_of
from jarvis_ls.runtime.edits.snapshots.restoring import Restoring
from jarvis_ls.runtime.edits.snapshots.store import CheckpointStore, open_store
from jarvis_ls.runtime.edits.snapshots.stored_snapshot import RACY_NS, StoredSnapshot

KEPT = 200
"""Checkpoints a session keeps by itself; older ones go, and all of them 30 days after the last."""

_TRIES = 4
Edits = list[ProposedEdit]
Changes = list[FileChange]


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """One checkpoint as lists show it."""

    id: str
    """Ids sort by time."""
    created: float
    """Seconds since 1970."""
    reason: str
    """Why it was taken: the words given to `take`."""
    roots: tuple[str, ...]
    """Folders it is about."""
    files: int
    """How many files it holds."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Paths it says nothing about, each with the reason."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    undo: str
    """Id of the checkpoint taken right before: restoring it undoes this."""
    written: tuple[Path, ...]
    """Files that have their old contents again."""
    removed: tuple[Path, ...]
    """Files that were made after the checkpoint."""
    kept: dict[Path, str]
    """Files that should have changed and were left as they are, each with the reason."""


class Checkpoints:
    """The checkpoints of one session."""

    def __init__(self, home: Path, session: str, limits: Limits | None = None) -> None:
        """`home` is the user's own folder (`core.files.user_folder()`)."""
        self._home = home
        self._session = session
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._known: dict[str, StoredSnapshot] = {}

    async def take(self, roots: Sequence[Path], reason: str = "") -> str:
        """Keep what the roots hold now; the id brings it back.

        Raises `JarvisError` when the store cannot be written (the text says why).
        """
        return await asyncio.to_thread(self._lock_file, self._take, list(roots), reason)

    async def restore(
        self, checkpoint: str, roots: Sequence[Path], paths: Iterable[Path | str] | None = None
    ) -> Restored:
        """Make the roots what they were, or only `paths` (files, or folders with all in them;
        relative ones start at the first root).

        A checkpoint is taken first, only what differs is written, each file whole or not at
        all. Raises `UsageError` for an unknown id, `JarvisError` when the store fails.
        """
        only = None if paths is None else [Path(roots[0], path) for path in paths]
        return await asyncio.to_thread(
            self._lock_file, self._restore, checkpoint, list(roots), only
        )

    async def changes(self, checkpoint: str, roots: Sequence[Path]) -> Edits:
        """Return how the roots differ from a checkpoint now, for display."""
        return [change.edit() for change in await self.file_changes(checkpoint, roots)]

    async def file_changes(self, checkpoint: str, roots: Sequence[Path]) -> Changes:
        """Return how the roots differ from a checkpoint now, with all bytes."""
        return await asyncio.to_thread(self._lock_file, self._changes, checkpoint, list(roots))

    async def include(self, paths: Iterable[Path]) -> None:
        """From now on these absolute paths count although git ignores them.

        To be called before they are written: what they are now is added to the last checkpoint.
        Paths that checkpoints look at anyway need nothing. Raises `JarvisError` when what is
        there cannot be kept.
        """
        await asyncio.to_thread(self._lock_file, self._include, list(paths))

    async def prune(self, keep: int = KEPT) -> int:
        """Remove all but the last `keep` checkpoints and what only they needed; how many."""
        return await asyncio.to_thread(self._lock_file, self._prune, keep)

    def _lock_file(self, run: Any, *arguments: Any) -> Any:
        with self._lock, open_store(self._home) as store:
            return run(store, *arguments)

    # Taking

    def _take(self, store: CheckpointStore, roots: list[Path], reason: str) -> str:
        wanted = store.included(self._session)
        checkpoint = self._record(store, roots, reason, wanted)
        if store.count(self._session) > KEPT + KEPT // 4:
            self._prune(store, KEPT)
        elif store.is_due():
            store.collect()
        return checkpoint

    def _record(
        self, store: CheckpointStore, roots: list[Path], reason: str, wanted: Sequence[str]
    ) -> str:
        for _ in range(_TRIES):
            generation = store.generation
            data = {
                "roots": [self._root(store, root, wanted) for root in roots],
                "wanted": list(wanted),
                "extra": {},
            }
            with store.writing():
                if store.generation == generation:
                    checkpoint = f"{time.time_ns():016x}-{os.urandom(4).hex()}"
                    store.add(checkpoint, self._session, reason, data)
                    return checkpoint
        raise JarvisError("No checkpoint was made: other processes keep cleaning the store.")

    def _root(self, store: CheckpointStore, root: Path, wanted: Sequence[str]) -> dict[str, Any]:
        now = self._now(store, root, wanted)
        return {
            "path": str(root),
            "tree": now.tree.hex(),
            "files": sum(len(folder.files) for folder in now.snapshot.folders.values()),
            "skipped": now.snapshot.skipped,
            "truncated": now.snapshot.truncated,
        }

    def _now(self, store: CheckpointStore, root: Path, wanted: Sequence[str]) -> StoredSnapshot:
        """Record the current contents of a root, with all of it in the store."""
        name = str(root)
        generation = store.generation
        before = self._known.get(name)
        if before is None or before.generation != generation:
            before = StoredSnapshot.load(store, name, generation)
        top = name.rstrip("/") + "/"
        inside = [path[len(top) :] for path in wanted if path.startswith(top)]
        started = time.time_ns()
        try:
            snapshot = look(name, self._limits, wanted=inside, never=[str(self._home)])
        except OSError as error:
            raise JarvisError(
                "{root} cannot be read: {why}", root=root, why=error.strerror
            ) from None
        known = StoredSnapshot(generation, snapshot, racy_from=started - RACY_NS)
        known.hash_all(store, before, self._limits)
        store.flush()
        self._known[name] = known
        if known.tree != before.tree:
            store.keep_index(name, known.tree, known.dump())
        return known

    # Looking back

    def _find(self, store: CheckpointStore, checkpoint: str) -> tuple[Any, dict[str, Any]]:
        """Return the data of a checkpoint, and later inclusions: path to entry."""
        later = store.checkpoints(self._session, checkpoint)
        if not later or later[0][0] != checkpoint:
            raise UsageError("This checkpoint no longer exists.")
        extra: dict[str, Any] = {}
        for _, _, _, data in later:
            for path, node in data["extra"].items():
                extra.setdefault(path, node)
        return later[0][3], extra

    def _changes(self, store: CheckpointStore, checkpoint: str, roots: list[Path]) -> Changes:
        data, extra = self._find(store, checkpoint)
        wanted = _unite(store.included(self._session), data["wanted"])
        found = []
        for number, root in enumerate(roots):
            then = next((r for r in data["roots"] if r["path"] == str(root)), None)
            if then is None:
                continue
            now = self._now(store, root, wanted)
            past = Past(store, then, data["wanted"], extra)
            for path, here, there in past.differences(now.tree):
                before, after = state_of(store, there), state_of(store, here)
                if here is None:
                    after = self._unseen(root / path)
                if before != after and (before is not None or past.spoke_of(path)):
                    found.append(FileChange(path, before, after, number))
        return found

    def _unseen(self, place: Path) -> FileState | None:
        """Return a file that is where no snapshot looks."""
        try:
            return read_state(place, self._limits.file_bytes)
        except (OSError, ValueError):
            return None

    def _restore(
        self,
        store: CheckpointStore,
        checkpoint: str,
        roots: list[Path],
        only: Sequence[Path] | None,
    ) -> Restored:
        data, extra = self._find(store, checkpoint)
        wanted = _unite(store.included(self._session), data["wanted"])
        pasts = {r["path"]: Past(store, r, data["wanted"], extra) for r in data["roots"]}
        known = [root for root in roots if str(root) in pasts]
        hidden = [
            f"{root}/{path}"
            for root in known
            for path in pasts[str(root)].hidden(self._now(store, root, wanted))
        ]  # would be overwritten or created, and no checkpoint speaks of them yet
        undo = self._record(store, known, f"before going back to {checkpoint}", wanted + hidden)
        done = Restoring(store, only)
        for root in known:
            done.root(root, self._known[str(root)], pasts[str(root)])
        return Restored(undo, tuple(done.written), tuple(done.removed), done.kept)

    def _list(self, store: CheckpointStore) -> tuple[CheckpointInfo, ...]:
        return tuple(
            CheckpointInfo(
                checkpoint,
                created,
                reason,
                tuple(root["path"] for root in data["roots"]),
                sum(root["files"] for root in data["roots"]),
                {f"{r['path']}/{p}": why for r in data["roots"] for p, why in r["skipped"].items()},
            )
            for checkpoint, created, reason, data in store.checkpoints(self._session)
        )

    def _include(self, store: CheckpointStore, paths: Sequence[Path]) -> None:
        known = set(store.included(self._session))
        last = store.checkpoints(self._session)[-1:]
        pasts = [Past(store, r, data["wanted"], {}) for *_, data in last for r in data["roots"]]
        new = [str(path) for path in paths if str(path) not in known]
        new = [path for path in new if not any(past.looked_at(path) for past in pasts)]
        if not new:
            return
        nodes = {path: self._node(store, path) for path in new} if last else {}
        store.flush()
        with store.writing():
            store.include(self._session, new)
            for checkpoint, _, _, data in last:
                tops = [root["path"].rstrip("/") + "/" for root in data["roots"]]
                for path, node in nodes.items():
                    if any(path.startswith(top) for top in tops):
                        data["extra"].setdefault(path, node)
                store.replace(checkpoint, data)

    def _node(self, store: CheckpointStore, path: str) -> Any:
        try:
            state = read_state(path, self._limits.file_bytes)
        except (OSError, ValueError) as error:
            raise JarvisError(
                "No checkpoint of {path} can be made: {why}", path=path, why=error
            ) from None
        if state is None:
            return None
        return [state.kind, state.mode, store.put(state.data).hex()]

    def _prune(self, store: CheckpointStore, keep: int) -> int:
        every = [row[0] for row in store.checkpoints(self._session)]
        gone = every[: len(every) - keep] if keep > 0 else every
        if gone:
            with store.writing():
                store.remove(self._session, gone)
            store.collect()
        return len(gone)

    async def list(self) -> tuple[CheckpointInfo, ...]:
        """Return the session's checkpoints, oldest first."""
        return await asyncio.to_thread(self._lock_file, self._list)


def _unite(included: Sequence[str], spoken_of: Sequence[str]) -> list[str]:
    """Return the paths to look at although they are ignored: the session's, and a checkpoint's."""
    return list(dict.fromkeys([*included, *spoken_of]))
