"""The graph of a workspace in one SQLite file.

Names lead to the files that use them in one look-up, and the places in a file are one packed
value, so that a row stands for a name in a file and not for each of its uses. A file of another
version, of another owner, or that is torn is replaced: everything in it can be read again.

Several programs use the file at the same time: one of them writes, and who reads sees what was
there when it began to.
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.graph.languages import GraphLanguage
from jarvis_ls.codeintel.graph.records import (
    Definition,
    FileSymbols,
    Import,
    Kind,
    Use,
)
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.lock import hold

VERSION = 1
"""Of the schema and of what is read from a file; files of another version are replaced."""
_BUSY_MS = 120_000
"""How long another program is waited for: what it reads need not be read again."""
_EXPORTED, _TEST = 1, 2
_TABLES = """
CREATE TABLE owner (proof TEXT NOT NULL);
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, digest TEXT NOT NULL,
  stamp TEXT NOT NULL, language TEXT NOT NULL, is_test INT NOT NULL
);
CREATE TABLE definitions (
  file INT NOT NULL, number INT NOT NULL, name TEXT NOT NULL, kind INT NOT NULL,
  line INT NOT NULL, end_line INT NOT NULL, signature TEXT NOT NULL,
  container TEXT NOT NULL, flags INT NOT NULL, PRIMARY KEY (file, number)
) WITHOUT ROWID;
CREATE TABLE uses (
  file INT NOT NULL, name TEXT NOT NULL, places BLOB NOT NULL, PRIMARY KEY (file, name)
) WITHOUT ROWID;
CREATE TABLE imports (
  file INT NOT NULL, module TEXT NOT NULL, item TEXT NOT NULL, part TEXT NOT NULL,
  PRIMARY KEY (file, module, item, part)
) WITHOUT ROWID;
"""
_INDICES = """
CREATE INDEX IF NOT EXISTS definitions_by_name ON definitions (name);
CREATE INDEX IF NOT EXISTS uses_by_name ON uses (name);
CREATE INDEX IF NOT EXISTS imports_by_part ON imports (part);
"""


@dataclass(frozen=True, slots=True)
class File:
    """A file in the graph."""

    id: int
    """Its number in the database."""
    path: str
    """Below the workspace, with forward slashes."""
    digest: str
    """Of its content, as git names it; empty for one that was only listed."""
    stamp: str
    """Size and time of the file on the disk when it was read."""
    language: GraphLanguage
    """Its language."""
    is_test: bool
    """Whether only tests run it."""


@dataclass(frozen=True, slots=True)
class Located:
    """A definition and its file."""

    file: File
    """Where it is."""
    number: int
    """Among the definitions of its file."""
    definition: Definition
    """What it is, without bytes."""

    @property
    def key(self) -> tuple[int, int]:
        """Return what identifies it while the graph does not change."""
        return self.file.id, self.number


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name."""

    file: File
    """Where it is."""
    scope: int
    """Number of the definition around it; -1 outside of all."""
    use: Use
    """How it is used."""
    line: int
    """From 1."""


class SymbolStore:
    """The graph in a file, or in memory."""

    def __init__(self, path: Path | None = None, owner: str = "") -> None:
        """Open the database, made when it is missing.

        `owner` is what only the user of this machine can know: a file that came with the workspace
        does not have it, and is replaced. Raises `JarvisError` when nothing can be written there.
        """
        self._files: dict[int, File] = {}
        self._by_path: dict[str, File] = {}
        self._owner = owner
        self._path = path
        self._link = self._open(path)
        self._version = -1
        """Changes when another program has changed the file."""
        self._follow()

    def close(self) -> None:
        """Give the file back."""
        self._link.close()

    def copy(self) -> SymbolStore:
        """Return a copy in memory, to be changed without a trace."""
        other = SymbolStore()
        self._link.backup(other._link)
        other._load()
        return other

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes within as one; none of them when an exception leaves.

        Raises `JarvisError` when nothing can be written.
        """
        self._end_reading()
        try:
            self._link.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise JarvisError("{file}: {why}", file=self._path, why=str(error)) from None
        try:
            self._follow()
            yield
        except BaseException:
            self._link.execute("ROLLBACK")
            self._load()
            raise
        self._link.execute("COMMIT")

    def index(self) -> None:
        """Make the indices that reading needs, cheap when they are there, and read from now on what
        is there now, until the next change.
        """
        self._end_reading()
        for statement in _INDICES.split(";"):
            self._link.execute(statement)
        if self._path is not None and _mode_of(self._link) == "wal":  # other modes block writers
            self._link.execute("BEGIN")
            self._follow()

    def files(self) -> Iterable[File]:
        """Return all files, those that are in no language of the graph left out."""
        return self._by_path.values()

    def file(self, path: str) -> File | None:
        """Return a file by its path."""
        return self._by_path.get(path)

    def put(self, path: str, digest: str, stamp: str, symbols: FileSymbols) -> None:
        """Set what a file holds."""
        self.remove(path)
        row = (path, digest, stamp, symbols.language, symbols.is_test)
        number = self._link.execute(
            "INSERT INTO files (path, digest, stamp, language, is_test) VALUES (?, ?, ?, ?, ?)", row
        ).lastrowid
        assert number is not None
        self._remember(File(number, path, digest, stamp, symbols.language, symbols.is_test))
        self._link.executemany(
            "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_row(number, i, definition) for i, definition in enumerate(symbols.definitions)],
        )
        self._link.executemany(
            "INSERT INTO uses VALUES (?, ?, ?)",
            [(number, name, _pack(symbols, name)) for name in sorted(symbols.places)],
        )
        self._link.executemany(
            "INSERT OR IGNORE INTO imports VALUES (?, ?, ?, ?)",
            [(number, i.module, i.item, part) for i in symbols.imports for part in parts_of(i)],
        )

    def set_stamp(self, file: File, stamp: str) -> None:
        """Note that a file was written again with the content it had."""
        self._link.execute("UPDATE files SET stamp = ? WHERE id = ?", (stamp, file.id))
        self._remember(File(file.id, file.path, file.digest, stamp, file.language, file.is_test))

    def remove(self, path: str) -> None:
        """Forget a file."""
        file = self._by_path.pop(path, None)
        if file is None:
            return
        del self._files[file.id]
        for table in ("definitions", "uses", "imports"):
            self._link.execute(f"DELETE FROM {table} WHERE file = ?", (file.id,))
        self._link.execute("DELETE FROM files WHERE id = ?", (file.id,))

    def definitions_named(self, name: str) -> list[Located]:
        """Return the definitions with this last part of a name."""
        return self._locate("WHERE name = ?", name)

    def definitions_in(self, path: str) -> list[Located]:
        """Return the definitions of a file in order."""
        file = self._by_path.get(path)
        return self._locate("WHERE file = ?", file.id) if file is not None else []

    def scopes_in(self, path: str) -> Callable[[int], Located | None]:
        """Return what gives the definitions of a file by their numbers: of thousands a few are
        asked for."""
        file = self._by_path.get(path)
        query = "SELECT * FROM definitions WHERE file = ?"
        rows = [] if file is None else self._link.execute(query, (file.id,)).fetchall()
        return lambda number: self._to_located(rows[number]) if number < len(rows) else None

    def definition(self, file: File, number: int) -> Located | None:
        """Return a definition by its number in a file."""
        found = self._locate("WHERE file = ? AND number = ?", file.id, number)
        return found[0] if found else None

    def all_definitions(self) -> Iterator[Located]:
        """Yield every definition."""
        yield from self._locate("")

    def references(self, name: str) -> list[Reference]:
        """Return where a name is used, by file and line."""
        found: list[Reference] = []
        rows = self._link.execute("SELECT file, places FROM uses WHERE name = ?", (name,))
        for number, packed in rows:
            file = self._files[number]
            for scope, use, line in _unpack(packed):
                found.append(Reference(file, scope, use, line))
        found.sort(key=lambda r: (r.file.path, r.line))
        return found

    def links(self, most_definers: int) -> Iterator[tuple[int, int, str, int]]:
        """Yield which file uses a name that which other file defines, and in how many bytes of
        places; names that more files define are left out.
        """
        yield from self._link.execute(
            "SELECT u.file, d.file, d.name, length(u.places) FROM uses u JOIN ("
            " SELECT name, file FROM definitions GROUP BY name, file) d ON d.name = u.name"
            " WHERE u.file <> d.file AND d.name IN ("
            " SELECT name FROM definitions GROUP BY name HAVING count(DISTINCT file) <= ?)",
            (most_definers,),
        )

    def imports_of(self, file: File) -> list[Import]:
        """Return what a file imports."""
        rows = self._link.execute(
            "SELECT DISTINCT module, item FROM imports WHERE file = ?", (file.id,)
        )
        return [Import(module, item) for module, item in rows]

    def importing(self, part: str) -> list[tuple[File, Import]]:
        """Return the files with an import that names `part`, and that import."""
        rows = self._link.execute(
            "SELECT DISTINCT file, module, item FROM imports WHERE part = ?", (part,)
        )
        return [(self._files[number], Import(module, item)) for number, module, item in rows]

    def file_by_id(self, number: int) -> File:
        """Return a file by its number."""
        return self._files[number]

    def _locate(self, where: str, *values: object) -> list[Located]:
        rows = self._link.execute(f"SELECT * FROM definitions {where}", values)
        return [self._to_located(row) for row in rows]

    def _to_located(self, row: tuple[Any, ...]) -> Located:
        file, number, name, kind, line, end_line, signature, container, flags = row
        definition = Definition(
            name,
            _KINDS[kind],
            line,
            end_line,
            signature,
            container,
            bool(flags & _EXPORTED),
            bool(flags & _TEST),
        )
        return Located(self._files[file], number, definition)

    def _end_reading(self) -> None:
        if self._link.in_transaction:
            self._link.execute("COMMIT")

    def _follow(self) -> None:
        """Read the list of files when another program has changed it since."""
        self._link.execute("SELECT proof FROM owner").fetchone()  # from here on a state is held
        (version,) = self._link.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._version = version
            self._load()

    def _remember(self, file: File) -> None:
        self._files[file.id] = self._by_path[file.path] = file

    def _load(self) -> None:
        self._files.clear()
        self._by_path.clear()
        rows = self._link.execute("SELECT id, path, digest, stamp, language, is_test FROM files")
        for number, path, digest, stamp, language, is_test in rows:
            self._remember(File(number, path, digest, stamp, language, bool(is_test)))

    def _open(self, path: Path | None) -> sqlite3.Connection:
        if path is None:
            memory = sqlite3.connect(":memory:", isolation_level=None)
            self._make(memory)
            return memory
        try:
            return self._existing(path) or self._create(path)
        except (sqlite3.Error, OSError) as error:
            raise JarvisError("{file}: {why}", file=path, why=str(error)) from None

    def _create(self, path: Path) -> sqlite3.Connection:
        """Return a new database, or what another program has made meanwhile; none sees it half
        made."""
        with hold(path.with_suffix(".lock"), str(path)):
            existing = self._existing(path)
            if existing is not None:
                return existing
            new = path.with_suffix(".new")
            _discard(new)
            link = _connect(new)
            try:
                self._make(link)
            finally:
                link.close()
            _discard(path)
            new.replace(path)
            return _connect(path)

    def _existing(self, path: Path) -> sqlite3.Connection | None:
        """Return the database of a file when it is ours and whole."""
        if path.is_symlink() or not path.is_file():
            return None
        link = _connect(path)
        try:
            (version,) = link.execute("PRAGMA user_version").fetchone()
            owners = link.execute("SELECT proof FROM owner").fetchall()
            if version == VERSION and owners == [(self._owner,)]:
                link.execute("SELECT count(*) FROM files").fetchone()
                return link
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
        except sqlite3.DatabaseError:
            pass  # torn: it is replaced
        link.close()
        return None

    def _make(self, link: sqlite3.Connection) -> None:
        link.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
        link.execute("INSERT INTO owner VALUES (?)", (self._owner,))
        link.execute(f"PRAGMA user_version = {VERSION}")
        link.execute("COMMIT")


def parts_of(item: Import) -> set[str]:
    """Return the words by which a file may be the one that an import names."""
    module = item.module
    for sign in ("::", "/", ".", "{", "}", ",", " ", "\n", "\t", "\\", ";", "*"):
        module = module.replace(sign, "\0")
    words = {word for word in module.split("\0") if word}
    if item.item:
        words.add(item.item.rpartition(".")[2])
    return words


def _connect(path: Path) -> sqlite3.Connection:
    link = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_MS / 1000)
    for setting in (
        "trusted_schema = OFF",  # what a foreign file calls is not run
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "cache_size = -65536",
        "temp_store = MEMORY",
    ):
        with suppress(sqlite3.OperationalError):  # a disk that has no shared memory has no WAL
            link.execute(f"PRAGMA {setting}")
    return link


def _mode_of(link: sqlite3.Connection) -> str:
    (mode,) = link.execute("PRAGMA journal_mode").fetchone()
    return str(mode)


def _discard(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _row(file: int, number: int, definition: Definition) -> tuple[object, ...]:
    flags = _EXPORTED * definition.is_exported + _TEST * definition.is_test
    return (
        file,
        number,
        definition.name,
        int(definition.kind),
        definition.line,
        definition.end_line,
        definition.signature,
        definition.container,
        flags,
    )


def _pack(symbols: FileSymbols, name: str) -> bytes:
    """Return the places of a name as pairs of 32 bits: scope and use, line."""
    values = array("I")
    for place in symbols.places[name]:
        values.append(place.scope + 1 << 3 | place.use)
        values.append(place.line)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _unpack(packed: bytes) -> Iterator[tuple[int, Use, int]]:
    values = array("I")
    values.frombytes(packed)
    if sys.byteorder == "big":
        values.byteswap()
    for at in range(0, len(values) - 1, 2):
        yield (values[at] >> 3) - 1, _USES[values[at] & 7], values[at + 1]


_KINDS = {kind.value: kind for kind in Kind}
_USES = [Use(number) if number in range(1, 7) else Use.NAME for number in range(8)]
