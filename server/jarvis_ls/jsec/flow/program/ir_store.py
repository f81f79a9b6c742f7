"""The functions of a program on disk, one file for each source, so that few are in memory.

Beside a cache they are in `.jarvis/cache/flow`, else in a folder that is removed after the scan.
Each file is signed with the user's own key, because what is read from it is trusted: a folder
from somewhere else must not bring functions of its making with it. What is damaged, torn or of
another version is as good as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import marshal
import os
import sys
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.program.file_outline import Outline, from_tuple, pack, to_tuple, unpack

_MARK = b"jsec flow\n"
_SIGNATURE = 32
_LENGTH = 8
_MAX_BYTES = 1 << 28
_HELD_BYTES = 12_000_000
"""Bytes of files, as they are kept, that are held in memory."""


@dataclass(frozen=True, slots=True)
class StoreFolder:
    """Where the functions of a scan are."""

    folder: str
    """Path of the folder."""
    key: bytes
    """Signs what is in it."""
    version: str
    """Names the code that makes and reads it."""
    spare: str = ""
    """Folder for what does not fit there any more; empty: there is none."""
    lasting: bool = True
    """Whether a later scan finds it there."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A file of the store in memory: each function in it is packed by itself, so that one is read
    without the others."""

    data: bytes
    outline: slice
    """Where in `data` the packed outline is."""
    functions: dict[str, tuple[int, int]]
    """Where the packed functions are, by key."""


class Store:
    """Reads and writes the functions of source files; those read last are held."""

    def __init__(self, place: StoreFolder) -> None:
        self.lasting = place.lasting
        """Whether a later scan finds what is kept."""
        self._folder = Path(place.folder)
        self._folders = [self._folder, *([Path(place.spare)] if place.spare else [])]
        self._key = hashlib.blake2b(
            f"{place.version}\0{sys.version_info[:2]}".encode(), key=place.key[:64], digest_size=32
        ).digest()
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._size = 0

    def name(self, path: str, digest: str, context: str) -> str:
        """Return the name of what is kept for a source file, by the digests of its text and its
        headers."""
        text = f"{path}\0{digest}\0{context}".encode()
        return hashlib.blake2b(text, key=self._key, digest_size=16).hexdigest()

    def answers(self, path: str) -> str:
        """Return the name of what is kept of the analysis of a source file's functions."""
        return self.name(path, "answers", "")

    def put(self, name: str, outline: Outline, functions: Mapping[str, FunctionIR]) -> None:
        """Keep a file's functions. Raises `OSError` when the disk refuses."""
        packed = {key: pack(function) for key, function in functions.items()}
        lengths = marshal.dumps(tuple((key, len(data)) for key, data in packed.items()), 2)
        head = marshal.dumps(to_tuple(outline), 4)
        ends = [len(part).to_bytes(_LENGTH, "little") for part in (lengths, head)]
        self._write(name, b"".join((*ends, lengths, head, *packed.values())))

    def write(self, name: str, body: bytes) -> None:
        """Keep bytes under a name. Raises `OSError` when the disk refuses."""
        self._write(name, zlib.compress(body, 1))

    def _write(self, name: str, data: bytes) -> None:
        signed = _MARK + self._sign(name, data) + data
        for folder in self._folders[:-1]:
            with contextlib.suppress(OSError):  # it is full: the next one takes it
                return self._write_to(folder, name, signed)
        return self._write_to(self._folders[-1], name, signed)

    @staticmethod
    def _write_to(folder: Path, name: str, signed: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{name}.{os.getpid()}.new"
        try:
            temporary.write_bytes(signed)
            temporary.replace(folder / name)  # torn by a crash: the signature says so
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def read(self, name: str) -> bytes | None:
        """Return the bytes kept under a name; None when they are not there or not ours."""
        small = self._read_signed(name)
        return None if small is None else zlib.decompress(small)

    def _read_signed(self, name: str) -> bytes | None:
        start = len(_MARK) + _SIGNATURE
        for folder in self._folders:
            try:
                data = read_regular(folder / name, limit=_MAX_BYTES)
            except SkippedFile:
                continue
            signature, small = data[len(_MARK) : start], data[start:]
            good = hmac.compare_digest(signature, self._sign(name, small))
            if good and data.startswith(_MARK):
                return small
        return None

    def payload(self, name: str) -> bytes | None:
        """Return what is kept under a name, to be kept in another store; None when it is not there
        or not ours."""
        return self._read_signed(name)

    def put_payload(self, name: str, data: bytes) -> None:
        """Keep what another store of the same version has kept. Raises `OSError` when the disk
        refuses."""
        self._write(name, data)

    def has(self, name: str) -> bool:
        """Return whether something of ours is kept under a name."""
        return name in self._held or self._read_signed(name) is not None

    def outline(self, name: str) -> Outline | None:
        """Return the outline of a file; None when it is not there or not ours."""
        held = self._get(name)
        if held is None:
            return None
        return from_tuple(marshal.loads(held.data[held.outline]))

    def function(self, name: str, key: str) -> FunctionIR | None:
        """One function of a file; None when it is not there."""
        held = self._get(name)
        if held is None or key not in held.functions:
            return None
        start, end = held.functions[key]
        return unpack(held.data[start:end])

    def keep_only(self, units: Mapping[str, str]) -> None:
        """Remove what is kept of other files than these, by path, and of their earlier texts."""
        names = {*units.values(), *(self.answers(path) for path in units)}
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name not in names:
                    with contextlib.suppress(OSError):
                        Path(entry.path).unlink()

    def _get(self, name: str) -> _Held | None:
        held = self._held.get(name)
        if held is not None:
            self._held.move_to_end(name)
            return held
        data = self._read_signed(name)
        if data is None:
            return None
        held = self._held[name] = _open(data)
        self._size += len(data)
        while self._size > _HELD_BYTES and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self._size -= len(dropped.data)
        return held

    def _sign(self, name: str, data: bytes) -> bytes:
        digest = hashlib.blake2b(name.encode(), key=self._key, digest_size=_SIGNATURE)
        digest.update(data)
        return digest.digest()


def _open(data: bytes) -> _Held:
    """Return where the parts of a file of the store are."""
    first, second = (int.from_bytes(data[at : at + _LENGTH], "little") for at in (0, _LENGTH))
    at = 2 * _LENGTH + first
    outline = slice(at, at + second)
    functions, start = {}, outline.stop
    for key, length in marshal.loads(data[2 * _LENGTH : at]):
        functions[key] = start, start + length
        start += length
    return _Held(data, outline, functions)
