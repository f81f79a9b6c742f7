"""Taking a skill out of an untrusted archive (zip or tar).

Everything is decided before a byte is written: no absolute names, no `..`, no links, no devices,
at most 2,000 entries, 50 MB in all, and no more than a hundred times the archive's own size.
Sizes are counted again while unpacking, because what an archive says of itself may be false.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.skills.audit import MAX_ENTRIES, MAX_TOTAL

MAX_ARCHIVE = 50_000_000
MAX_RATIO = 100
MAX_NAME = 200
_SMALL = 100_000
"""Bytes that may come out of however small an archive."""
_BAD = set('<>:"|?*\\')
_RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10))}


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    """Parts with forward slashes, checked."""
    size: int
    """As the archive says."""
    open: Callable[[], IO[bytes]]


def unpack_skill(archive: Path, skills: Path, *, replace: bool = False) -> Path:
    """Unpack a skill below the folder `skills`; gives its folder, named after the skill.

    The archive holds `SKILL.md` at its top, or one folder that does. Raises `UsageError` saying
    what is wrong with it; nothing is then left behind. Blocks.
    """
    try:
        size = archive.stat().st_size
    except OSError as error:
        raise UsageError(
            "{archive} cannot be read: {why}", archive=archive, why=error.strerror
        ) from None
    if size > MAX_ARCHIVE:
        raise UsageError(
            "{archive} has {size} bytes; skills have {most} at most",
            archive=archive,
            size=size,
            most=MAX_ARCHIVE,
        )
    skills.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".unpack-", dir=skills))
    try:
        try:
            with _members(archive) as members:
                _write(members, temporary, min(MAX_TOTAL, max(_SMALL, size * MAX_RATIO)))
        except (
            zipfile.BadZipFile,
            tarfile.TarError,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            NotImplementedError,
            ValueError,
        ) as error:
            raise UsageError(
                "{archive} cannot be unpacked: {why}", archive=archive, why=error
            ) from None
        return _place_at(temporary, archive, skills, replace)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _members(archive: Path) -> Iterator[list[_Member]]:
    data = archive.read_bytes()
    if data.startswith(b"PK"):
        _check_directory(data)
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            yield _of_zip(opened)
        return
    with tarfile.open(fileobj=io.BytesIO(_unpack(data)), mode="r:") as opened_tar:
        yield _of_tar(opened_tar)


def _check_directory(data: bytes) -> None:
    """Refuse a zip whose list of entries alone is out of all proportion."""
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - 65_557))
    if end < 0 or len(data) < end + 22:
        raise UsageError("it is not a complete zip file")
    if int.from_bytes(data[end + 12 : end + 16], "little") > MAX_ENTRIES * 1_000:
        raise UsageError("it has more than {most} entries", most=MAX_ENTRIES)


def _unpack(data: bytes) -> bytes:
    """Return the tar inside a compressed one, never more than a skill may have."""
    room = MAX_TOTAL + MAX_ENTRIES * 2_048
    if data.startswith(b"\x1f\x8b"):
        found = gzip.GzipFile(fileobj=io.BytesIO(data)).read(room + 1)
    elif data.startswith(b"BZh"):
        found = bz2.BZ2File(io.BytesIO(data)).read(room + 1)
    elif data.startswith(b"\xfd7zXZ"):
        found = lzma.LZMADecompressor(memlimit=256_000_000).decompress(data, room + 1)
    else:
        found = data
    if len(found) > room:
        raise UsageError("it unpacks to more than {most} bytes", most=MAX_TOTAL)
    return found


def _of_zip(archive: zipfile.ZipFile) -> list[_Member]:
    infos = archive.infolist()
    _check_count(len(infos))
    found = []
    for info in infos:
        kind = (info.external_attr >> 16) & 0o170000
        if kind not in (0, 0o100000, 0o040000):
            raise UsageError(
                "{filename} is neither a file nor a folder", filename=repr(info.filename)
            )
        if info.flag_bits & 0x1:
            raise UsageError("{filename} is encrypted", filename=repr(info.filename))
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UsageError(
                "{filename} uses an unsupported compression method", filename=repr(info.filename)
            )
        name = _name(info.filename)
        if not info.is_dir():
            found.append(_Member(name, info.file_size, partial(archive.open, info)))
    return _check(found)


def _of_tar(archive: tarfile.TarFile) -> list[_Member]:
    found = []
    for count, info in enumerate(archive, 1):
        _check_count(count)
        name = _name(info.name)
        if info.isdir():
            continue
        if not info.isreg() or info.sparse:
            raise UsageError("{name} is neither a file nor a folder", name=repr(info.name))
        found.append(_Member(name, info.size, partial(_extract, archive, info)))
    return _check(found)


def _extract(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    stream = archive.extractfile(info)
    if stream is None:
        raise UsageError("{name} has no contents", name=repr(info.name))
    return stream


def _check(members: list[_Member]) -> list[_Member]:
    seen: set[str] = set()
    for member in members:
        folded = member.name.casefold()
        if folded in seen:
            raise UsageError("{name} occurs twice", name=repr(member.name))
        seen.add(folded)
    above = {name.rsplit("/", n)[0] for name in seen for n in range(1, name.count("/") + 1)}
    if above & seen:
        raise UsageError("a file and a folder have the same name")
    return members


def _write(members: list[_Member], folder: Path, room: int) -> None:
    if sum(member.size for member in members) > room:
        raise UsageError(
            "it unpacks to more than {room} bytes, which is suspicious for its size", room=room
        )
    for member in members:
        target = folder / member.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with member.open() as source, target.open("xb") as file:
            while piece := source.read(65536):
                room -= len(piece)
                if room < 0:
                    raise UsageError(
                        "it unpacks to more than it declares, which is suspicious for its size"
                    )
                file.write(piece)


def _place_at(temporary: Path, archive: Path, skills: Path, replace: bool) -> Path:
    top = temporary
    if not (top / "SKILL.md").is_file():
        inside = list(top.iterdir())
        if len(inside) != 1 or not (inside[0] / "SKILL.md").is_file():
            raise UsageError("{archive} has no SKILL.md at its top level", archive=archive)
        top = inside[0]
    name = top.name if top != temporary else _stem(archive)
    target = skills / name
    if not name or name.startswith("."):
        raise UsageError("the name of {archive} is not a valid skill name", archive=archive)
    old = skills / f".old-{os.urandom(6).hex()}"
    if os.path.lexists(target):
        if not replace:
            raise UsageError("a skill {name} exists already; nothing was changed", name=name)
        target.rename(old)
    try:
        top.rename(target)
    except OSError as error:
        if os.path.lexists(old):
            old.rename(target)
        raise UsageError(
            "cannot create {target}: {why}", target=target, why=error.strerror
        ) from None
    if os.path.lexists(old):
        shutil.rmtree(old, ignore_errors=True)
    return target


def _name(name: str) -> str:
    """Return a member's name when it stays below the folder and every system takes it."""
    parts = name.rstrip("/").split("/")
    if parts and parts[0] == ".":
        parts = parts[1:]
    wrong = (
        not name
        or len(name) > MAX_NAME
        or name.startswith("/")
        or any(
            part in ("", ".", "..")
            or part != part.rstrip(". ")
            or part.split(".")[0].lower() in _RESERVED
            or any(mark in _BAD or ord(mark) < 32 for mark in part)
            for part in parts
        )
    )
    if wrong and parts:
        raise UsageError("{name} is not a valid file name in a skill", name=repr(name[:MAX_NAME]))
    return "/".join(parts)


def _check_count(count: int) -> None:
    if count > MAX_ENTRIES:
        raise UsageError("it has more than {most} entries", most=MAX_ENTRIES)


def _stem(archive: Path) -> str:
    name = archive.name
    for end in (
        ".zip",
        ".skill",
        ".tar",
        ".tgz",
        ".tar.gz",
        ".tar.bz2",
        ".tar.xz",
        ".tbz2",
        ".txz",
    ):
        if name.lower().endswith(end):
            name = name[: -len(end)]
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")
