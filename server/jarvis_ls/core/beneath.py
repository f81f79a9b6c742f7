"""Reading and replacing files strictly below a folder, whatever is done to the tree meanwhile.

A path that was checked may be another one a moment later: somebody puts a link in its place.
Here every folder on the way is opened from the one above it and no link is followed, so that
what is read or written is below the root, or nothing is. Where the system cannot open that
way (Windows), the real path is compared before and after.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import (
    NOT_READABLE,
    OUTSIDE,
    kind_of,
    read_open,
    read_regular,
    replace_file,
    write_error,
)

BY_DESCRIPTOR = hasattr(os, "O_NOFOLLOW") and {os.open, os.stat, os.unlink} <= os.supports_dir_fd
"""Whether this system opens a file from an open folder."""

MAX_DEPTH = 128
"""Folders below the root; deeper trees trouble anyone who has to remove them."""
MAX_LENGTH = 3_500
"""Characters of a path from its root."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | _CLOEXEC


def read_beneath(root: Path, path: str, *, limit: int) -> tuple[bytes, int]:
    """Bytes and mode of the regular file `path` below `root`.

    `path` has forward slashes and is already free of links. Raises `FileNotFoundError` when
    there is nothing, and `SkippedFile` with the reason when it cannot be read.
    """
    parts = _parts(path)
    if not BY_DESCRIPTOR:
        return _read_by_path(root, root.joinpath(*parts), limit)
    try:
        with _folder(root, parts[:-1]) as folder:
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if kind := kind_of(status.st_mode):
                raise SkippedFile(kind)
            descriptor = os.open(parts[-1], _READ, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SkippedFile(_reason(error)) from None
    try:
        return read_open(descriptor, limit=limit)
    except OSError as error:
        raise SkippedFile(_reason(error)) from None


def replace_beneath(root: Path, path: str, data: bytes, *, mode: int | None = None) -> int:
    """Give `path` below `root` new contents, whole or not at all; the number of folders made.

    An old file keeps its owner where the system lets us. Raises `JarvisError` naming the file
    when it is no regular file, is behind a link, or cannot be written; the old contents stay.
    """
    parts = _parts(path)
    target = root.joinpath(*parts)
    made = 0
    try:
        if not BY_DESCRIPTOR:
            return _replace_by_path(root, target, data, mode)
        made = _make_folders(root, parts[:-1])
        with _folder(root, parts[:-1]) as folder:
            _replace_in(folder, parts[-1], data, mode)
    except OSError as error:
        remove_folders(root, path, made)
        raise write_error(target, error) from None
    except SkippedFile as error:
        remove_folders(root, path, made)
        raise JarvisError(
            "cannot write {target}: it is {why}", target=target, why=error.reason
        ) from None
    return made


def remove_beneath(root: Path, path: str) -> None:
    """Take away the regular file `path` below `root`. Raises `JarvisError` when it cannot be."""
    parts = _parts(path)
    target = root.joinpath(*parts)
    try:
        if not BY_DESCRIPTOR:
            _check_by_path(root, target)
            target.unlink()
            return
        with _folder(root, parts[:-1]) as folder:
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if kind := kind_of(status.st_mode):
                raise JarvisError("cannot delete {target}: it is {kind}", target=target, kind=kind)
            os.unlink(parts[-1], dir_fd=folder)
    except OSError as error:
        raise JarvisError(
            "cannot delete {target}: {why}", target=target, why=error.strerror or error
        ) from None
    except SkippedFile as error:
        raise JarvisError(
            "cannot delete {target}: it is {why}", target=target, why=error.reason
        ) from None


def remove_folders(root: Path, path: str, count: int) -> None:
    """Take away the `count` folders nearest to `path`, as far as they are empty."""
    folder = root.joinpath(*_parts(path)).parent
    for _ in range(count):
        try:
            folder.rmdir()
        except OSError:  # somebody put something there
            return
        folder = folder.parent


def _replace_in(folder: int, name: str, data: bytes, mode: int | None) -> None:
    old = _status(folder, name)
    if old is not None and (kind := kind_of(old.st_mode)):
        raise SkippedFile(kind)
    temporary = f".jarvis-{secrets.token_hex(8)}"
    descriptor = os.open(temporary, _NEW, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _dress(file.fileno(), old, mode)
            os.fsync(file.fileno())
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot; the rename is done anyway
        os.fsync(folder)


def _dress(descriptor: int, old: os.stat_result | None, mode: int | None) -> None:
    """Owner and mode of the new file: those of the old one. Bits that lend rights to anyone who
    runs the file are lost when the owner cannot be kept."""
    if old is not None:
        mode = old.st_mode if mode is None else mode
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
            try:
                os.fchown(descriptor, old.st_uid, old.st_gid)
            except OSError:
                mode &= 0o777
    if mode is not None:
        os.fchmod(descriptor, stat.S_IMODE(mode))


def _make_folders(root: Path, parts: list[str]) -> int:
    made = 0
    for depth in range(1, len(parts) + 1):
        with _folder(root, parts[: depth - 1]) as folder:
            try:
                os.mkdir(parts[depth - 1], dir_fd=folder)
            except FileExistsError:
                continue
            made += 1
    return made


@contextlib.contextmanager
def _folder(root: Path, parts: list[str]) -> Iterator[int]:
    """Descriptor of a folder below `root`, reached without following a link."""
    descriptor = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC)
    try:
        for part in parts:
            following = os.open(part, _FOLDER | _CLOEXEC, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = following
        yield descriptor
    finally:
        os.close(descriptor)


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise JarvisError("{path} is not a path inside a folder", path=repr(path))
    if len(parts) > MAX_DEPTH or len(path) > MAX_LENGTH:
        raise JarvisError("{path}… is too long a path", path=path[:60])
    return parts


def _read_by_path(root: Path, target: Path, limit: int) -> tuple[bytes, int]:
    if not os.path.lexists(target):
        raise FileNotFoundError(str(target))
    _check_by_path(root, target)
    data = read_regular(target, limit=limit)
    _check_by_path(root, target)
    return data, target.lstat().st_mode


def _replace_by_path(root: Path, target: Path, data: bytes, mode: int | None) -> int:
    missing = [folder for folder in target.parents if not os.path.lexists(folder)]
    there = target.parents[len(missing)]
    if Path(os.path.realpath(there)) != there or not (there == root or root in there.parents):
        raise SkippedFile(OUTSIDE)
    target.parent.mkdir(parents=True, exist_ok=True)
    old = None
    if os.path.lexists(target):
        _check_by_path(root, target)
        old = target.lstat().st_mode
    replace_file(target, data, mode=old if mode is None else mode)
    return len(missing)


def _check_by_path(root: Path, target: Path) -> None:
    real = Path(os.path.realpath(target))
    if real != target or root not in real.parents:
        raise SkippedFile(OUTSIDE)
    if kind := kind_of(target.lstat().st_mode):
        raise SkippedFile(kind)


def _reason(error: OSError) -> str:
    import errno

    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        return "behind a link, or behind something that is no folder"
    if error.errno in (errno.EACCES, errno.EPERM):
        return NOT_READABLE
    return f"{NOT_READABLE} ({(error.strerror or 'input/output error').lower()})"
