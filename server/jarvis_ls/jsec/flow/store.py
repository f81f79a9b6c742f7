"""The functions of a program on disk, one file for each source, so that few are in memory.

Beside a cache they lie in `.jarvis/cache/flow`, else in a folder that is removed after the scan.
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
from jarvis_ls.jsec.flow.ir import FunctionIR
from jarvis_ls.jsec.flow.outline import Outline, from_tuple, pack, to_tuple, unpack

_MARK = b"jsec flow\n"
_SIGNATURE = 32
_LENGTH = 8
_MAX_BYTES = 1 << 28
_HELD_BYTES = 24_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where the functions of a scan lie."""

    folder: str
    """Path of the folder."""
    key: bytes
    """Signs what is in it."""
    version: str
    """Names the code that makes and reads it."""


class Store:
    """Reads and writes the functions of source files; those read last are held."""

    def __init__(self, place: Place) -> None:
        self._folder = Path(place.folder)
        self._key = hashlib.blake2b(
            f"{place.version}\0{sys.version_info[:2]}".encode(), key=place.key[:64], digest_size=32
        ).digest()
        self._held: OrderedDict[str, tuple[bytes, dict[str, tuple[int, int]], Outline]] = (
            OrderedDict()
        )
        self._size = 0

    def name(self, path: str, digest: str, context: str) -> str:
        """Name of what is kept for a source file, by the digests of its text and its headers."""
        text = f"{path}\0{digest}\0{context}".encode()
        return hashlib.blake2b(text, key=self._key, digest_size=16).hexdigest()

    def answers(self, path: str) -> str:
        """Name of what is kept of the analysis of a source file's functions."""
        return self.name(path, "answers", "")

    def put(self, name: str, outline: Outline, functions: Mapping[str, FunctionIR]) -> None:
        """Keep a file's functions. Raises `OSError` when the disk refuses."""
        packed = {key: pack(function) for key, function in functions.items()}
        ends, at = {}, 0
        for key, data in packed.items():
            ends[key] = at, at + len(data)
            at += len(data)
        head = marshal.dumps((to_tuple(outline), tuple(ends.items())), 2)
        body = len(head).to_bytes(_LENGTH, "little") + head + b"".join(packed.values())
        self.write(name, body)
        self._hold(name, body, ends, len(head), outline)

    def write(self, name: str, body: bytes) -> None:
        """Keep bytes under a name. Raises `OSError` when the disk refuses."""
        small = zlib.compress(body, 1)
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = self._folder / f"{name}.{os.getpid()}.new"
        try:
            temporary.write_bytes(_MARK + self._sign(name, small) + small)
            temporary.replace(self._folder / name)  # torn by a crash: the signature says so
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def read(self, name: str) -> bytes | None:
        """The bytes kept under a name; None when they are not there or not ours."""
        small = self._signed(name)
        return None if small is None else zlib.decompress(small)

    def _signed(self, name: str) -> bytes | None:
        try:
            data = read_regular(self._folder / name, limit=_MAX_BYTES)
        except SkippedFile:
            return None
        start = len(_MARK) + _SIGNATURE
        signature, small = data[len(_MARK) : start], data[start:]
        good = hmac.compare_digest(signature, self._sign(name, small))
        return small if good and data.startswith(_MARK) else None

    def has(self, name: str) -> bool:
        """Whether something of ours is kept under a name."""
        return name in self._held or self._signed(name) is not None

    def outline(self, name: str) -> Outline | None:
        """The outline of a file; None when it is not there or not ours."""
        held = self._get(name)
        return None if held is None else held[2]

    def function(self, name: str, key: str) -> FunctionIR | None:
        """One function of a file; None when it is not there."""
        held = self._get(name)
        if held is None or key not in held[1]:
            return None
        data, places, _ = held
        start, end = places[key]
        return unpack(data[start:end])

    def keep_only(self, units: Mapping[str, str]) -> None:
        """Remove what is kept of other files than these, by path, and of their earlier texts."""
        names = {*units.values(), *(self.answers(path) for path in units)}
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name not in names:
                    with contextlib.suppress(OSError):
                        Path(entry.path).unlink()

    def _get(self, name: str) -> tuple[bytes, dict[str, tuple[int, int]], Outline] | None:
        held = self._held.get(name)
        if held is not None:
            self._held.move_to_end(name)
            return held
        body = self.read(name)
        if body is None:
            return None
        size = int.from_bytes(body[:_LENGTH], "little")
        values, ends = marshal.loads(body[_LENGTH : _LENGTH + size])
        return self._hold(name, body, dict(ends), size, from_tuple(values))

    def _hold(
        self, name: str, body: bytes, ends: dict[str, tuple[int, int]], head: int, outline: Outline
    ) -> tuple[bytes, dict[str, tuple[int, int]], Outline]:
        before = self._held.pop(name, None)
        self._size += len(body) - (len(before[0]) if before is not None else 0)
        base = _LENGTH + head
        held = body, {k: (base + a, base + b) for k, (a, b) in ends.items()}, outline
        self._held[name] = held
        while self._size > _HELD_BYTES and len(self._held) > 1:
            _, (dropped, _, _) = self._held.popitem(last=False)
            self._size -= len(dropped)
        return held

    def _sign(self, name: str, data: bytes) -> bytes:
        digest = hashlib.blake2b(name.encode(), key=self._key, digest_size=_SIGNATURE)
        digest.update(data)
        return digest.digest()
