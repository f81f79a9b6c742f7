"""Where checkpoints are: contents by their hash, in one SQLite file of the user's own folder.

Objects are bytes named by their SHA-256: contents of files, targets of links, and trees (the
entries of one folder). Equal ones are kept once, over all sessions. SQLite gives what loose
files would not: a take is there whole or not at all, also after `kill -9` or on a full disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError

FILE = "checkpoints.db"

_BUSY_SECONDS = 60
_BATCH_BYTES = 32_000_000
_DAY = 86400
_STALE_SECONDS = 30 * _DAY
_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (digest BLOB PRIMARY KEY, packed INTEGER, data BLOB);
CREATE TABLE IF NOT EXISTS checkpoints
    (id TEXT PRIMARY KEY, session TEXT NOT NULL, created REAL, reason TEXT, data TEXT);
CREATE INDEX IF NOT EXISTS checkpoints_of ON checkpoints (session, id);
CREATE TABLE IF NOT EXISTS included (session TEXT, path TEXT, PRIMARY KEY (session, path));
CREATE TABLE IF NOT EXISTS indexes
    (root TEXT PRIMARY KEY, tree BLOB, used REAL, data BLOB);
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value INTEGER);
INSERT OR IGNORE INTO state VALUES ('generation', random() & 0xFFFFFFFFFFFF);
"""


@dataclass(frozen=True, slots=True)
class Node:
    """One entry of a tree."""

    kind: str
    """`file`, `link` or `folder`."""
    mode: int
    """Permission bits."""
    digest: bytes
    """Of the contents, the target, or the tree."""


Tree = dict[str, Node]
"""The entries of one folder by name."""


class CheckpointStore:
    """An open store; use it in one thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database
        self._waiting: dict[bytes, bytes] = {}
        self._waiting_bytes = 0

    @property
    def generation(self) -> int:
        """Changes whenever objects have been removed; no two stores begin with the same."""
        row = self._db.execute("SELECT value FROM state WHERE name = 'generation'").fetchone()
        return int(row[0])

    def put(self, data: bytes) -> bytes:
        """Keep an object; its digest. It is written with the next `flush`, at the latest."""
        digest = hashlib.sha256(data).digest()
        if digest not in self._waiting:
            self._waiting[digest] = data
            self._waiting_bytes += len(data)
            if self._waiting_bytes > _BATCH_BYTES:
                self.flush()
        return digest

    def flush(self) -> None:
        """Write what waits."""
        rows = [(digest, *_pack(data)) for digest, data in self._waiting.items()]
        if rows:
            with self.writing():
                self._db.executemany("INSERT OR IGNORE INTO objects VALUES (?, ?, ?)", rows)
        self._waiting.clear()
        self._waiting_bytes = 0

    def get(self, digest: bytes) -> bytes:
        """Return an object. Raises `JarvisError` when it is missing or damaged."""
        if digest in self._waiting:
            return self._waiting[digest]
        row = self._db.execute(
            "SELECT packed, data FROM objects WHERE digest = ?", (digest,)
        ).fetchone()
        data = None
        if row is not None:
            with contextlib.suppress(zlib.error):
                data = zlib.decompress(row[1]) if row[0] else bytes(row[1])
        if data is None or hashlib.sha256(data).digest() != digest:
            raise JarvisError("A part of this checkpoint is damaged; it cannot be used.")
        return data

    def put_tree(self, tree: Tree) -> bytes:
        """Keep a tree; its digest."""
        return self.put(dump_tree(tree))

    def tree(self, digest: bytes | None) -> Tree:
        """Return a tree; empty without a digest."""
        if digest is None:
            return {}
        return {
            name: Node(kind, mode, bytes.fromhex(of))
            for name, kind, mode, of in json.loads(self.get(digest))
        }

    def add(self, checkpoint: str, session: str, reason: str, data: dict[str, Any]) -> None:
        """Record a checkpoint."""
        self._db.execute(
            "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?)",
            (checkpoint, session, time.time(), reason, json.dumps(data)),
        )

    def replace(self, checkpoint: str, data: dict[str, Any]) -> None:
        """Give a checkpoint other data."""
        self._db.execute(
            "UPDATE checkpoints SET data = ? WHERE id = ?", (json.dumps(data), checkpoint)
        )

    def checkpoints(self, session: str, first: str = "") -> list[tuple[str, float, str, Any]]:
        """Id, time, reason and data of a session's checkpoints from `first` on, oldest first."""
        rows = self._db.execute(
            "SELECT id, created, reason, data FROM checkpoints WHERE session = ? AND id >= ?"
            " ORDER BY id",
            (session, first),
        )
        return [(i, created, reason, json.loads(data)) for i, created, reason, data in rows]

    def count(self, session: str) -> int:
        """Count the checkpoints of a session."""
        row = self._db.execute("SELECT count(*) FROM checkpoints WHERE session = ?", (session,))
        return int(row.fetchone()[0])

    def include(self, session: str, paths: Iterable[str]) -> None:
        """Remember paths that are examined although git ignores them."""
        rows = [(session, path) for path in paths]
        self._db.executemany("INSERT OR IGNORE INTO included VALUES (?, ?)", rows)

    def included(self, session: str) -> list[str]:
        """Return the paths that `include` recorded."""
        rows = self._db.execute("SELECT path FROM included WHERE session = ?", (session,))
        return [row[0] for row in rows]

    def index(self, root: str) -> Any:
        """Return the stored index of a root; None when there is none."""
        row = self._db.execute("SELECT data FROM indexes WHERE root = ?", (root,)).fetchone()
        if row is None:
            return None
        try:
            return json.loads(zlib.decompress(row[0]))
        except (zlib.error, ValueError):
            return None  # it only saves time

    def keep_index(self, root: str, tree: bytes, data: Any) -> None:
        """Keep something about a root, which speaks of objects in `tree`."""
        packed = zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)
        with self.writing():
            self._db.execute(
                "INSERT OR REPLACE INTO indexes VALUES (?, ?, ?, ?)",
                (root, tree, time.time(), packed),
            )

    def remove(self, session: str, checkpoints: Iterable[str]) -> None:
        """Remove checkpoints, and with the last one what else a session kept."""
        self._db.executemany(
            "DELETE FROM checkpoints WHERE session = ? AND id = ?",
            [(session, checkpoint) for checkpoint in checkpoints],
        )
        if not self.count(session):
            self._db.execute("DELETE FROM included WHERE session = ?", (session,))

    def is_due(self) -> bool:
        """Return whether it is a day since `collect` ran."""
        row = self._db.execute("SELECT value FROM state WHERE name = 'collected'").fetchone()
        return row is None or not 0 <= time.time() - row[0] < _DAY

    def collect(self) -> int:
        """Remove sessions that took no checkpoint for 30 days, and objects nothing speaks of any
        more; how many objects they were."""
        now = time.time()
        with self.writing():
            self._db.execute("INSERT OR REPLACE INTO state VALUES ('collected', ?)", (int(now),))
            self._db.execute("DELETE FROM indexes WHERE used < ?", (now - _STALE_SECONDS,))
            self._db.execute(
                "DELETE FROM checkpoints WHERE session IN (SELECT session FROM checkpoints"
                " GROUP BY session HAVING max(created) < ?)",
                (now - _STALE_SECONDS,),
            )
            self._db.execute(
                "DELETE FROM included WHERE session NOT IN (SELECT session FROM checkpoints)"
            )
            used = self._reachable()
            every = [bytes(row[0]) for row in self._db.execute("SELECT digest FROM objects")]
            gone = [(digest,) for digest in every if digest not in used]
            if gone:
                self._db.executemany("DELETE FROM objects WHERE digest = ?", gone)
                self._db.execute("UPDATE state SET value = value + 1 WHERE name = 'generation'")
        self._db.execute("PRAGMA incremental_vacuum").fetchall()
        return len(gone)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Run a transaction: all or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _reachable(self) -> set[bytes]:
        trees = [bytes(row[0]) for row in self._db.execute("SELECT tree FROM indexes")]
        used: set[bytes] = set()
        for (text,) in self._db.execute("SELECT data FROM checkpoints"):
            data = json.loads(text)
            trees.extend(bytes.fromhex(root["tree"]) for root in data["roots"])
            used.update(bytes.fromhex(of[2]) for of in data["extra"].values() if of is not None)
        while trees:
            digest = trees.pop()
            if digest in used:
                continue
            used.add(digest)
            for node in self.tree(digest).values():
                if node.kind == "folder":
                    trees.append(node.digest)
                else:
                    used.add(node.digest)
        return used


@contextlib.contextmanager
def open_store(home: Path) -> Iterator[CheckpointStore]:
    """Open the store of a user's folder, and create it when missing.

    Raises `JarvisError` when it cannot be used; a damaged one is moved aside first, so that the
    next call starts over.
    """
    path = home / FILE
    database = None
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        path.chmod(0o600)
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")  # heard only while it is empty
        if database.execute("PRAGMA journal_mode = WAL").fetchone():
            database.execute("PRAGMA synchronous = NORMAL")
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone():
            database.executescript(_SCHEMA)
        yield CheckpointStore(database)
    except sqlite3.DatabaseError as error:
        if database is not None:
            database.close()
        raise _explain(path, error) from None
    except OSError as error:
        raise JarvisError(
            "Checkpoints cannot be kept in {path}: {why}", path=path, why=error.strerror
        ) from None
    finally:
        if database is not None:
            database.close()


def dump_tree(tree: Tree) -> bytes:
    """Return the bytes that represent a tree; equal trees give equal bytes."""
    rows = [(name, n.kind, n.mode, n.digest.hex()) for name, n in sorted(tree.items())]
    return json.dumps(rows, separators=(",", ":")).encode()


def _explain(path: Path, error: sqlite3.DatabaseError) -> JarvisError:
    words = str(error)
    if "malformed" in words or "not a database" in words:
        aside = path.with_name(f"{FILE}.damaged-{int(time.time())}")
        with contextlib.suppress(OSError):
            path.rename(aside)
            for suffix in ("-wal", "-shm"):
                path.with_name(FILE + suffix).unlink(missing_ok=True)
        return JarvisError(
            "The checkpoint store was damaged ({words}) and moved to {aside}; a new one was"
            " started. Earlier turns cannot be restored.",
            words=words,
            aside=aside,
        )
    return JarvisError("Checkpoints cannot be kept in {path}: {words}", path=path, words=words)


def _pack(data: bytes) -> tuple[int, bytes]:
    packed = zlib.compress(data, 1)
    return (1, packed) if len(packed) < len(data) * 0.9 else (0, data)
