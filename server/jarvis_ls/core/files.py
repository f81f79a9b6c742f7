"""Reading and writing in untrusted folders.

A workspace may hold links, pipes and devices under any name. What is read here is a regular
file below its root, no larger than asked for; what is written below `.jarvis` never leaves it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile

STATE = ".jarvis"
"""Name of the folder that holds what we know of a workspace, and of the user's own one."""

OUTSIDE = "a symbolic link that points outside the folder"
NOWHERE = "a symbolic link that leads nowhere"
TOO_LARGE = "larger than the size limit"
NOT_READABLE = "not readable"

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _umask() -> int:
    """Return the process's umask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_UMASK = _umask()  # once, at the start: other threads must not make files in between


def kind_of(mode: int) -> str:
    """Return the kind of a file that is not regular, in words; empty for a regular file."""
    for test, words in _KINDS:
        if test(mode):
            return words
    return "" if stat.S_ISREG(mode) else "not a regular file"


def read_regular(path: str | Path, *, limit: int, root: str | Path | None = None) -> bytes:
    """Return the bytes of a regular file; nothing else is opened, and no final link is followed.

    Raises `SkippedFile` with the reason when it is something else, has more than `limit`
    bytes, cannot be read, or is outside `root` (real path) through a link on the way to it.
    """
    if root is not None and not _inside(path, root):
        raise SkippedFile(OUTSIDE)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise SkippedFile(_reason(path, error)) from None
    except ValueError:  # a NUL in the name
        raise SkippedFile(NOT_READABLE) from None
    try:
        return read_open(descriptor, limit=limit)[0]
    except OSError as error:
        raise SkippedFile(_reason(path, error)) from None


def read_open(descriptor: int, *, limit: int) -> tuple[bytes, int]:
    """Bytes and mode of the regular file behind `descriptor`, which is closed in any case.

    Raises `SkippedFile` when it is something else or has more than `limit` bytes, `OSError`
    when it cannot be read.
    """
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if kind := kind_of(status.st_mode):
            raise SkippedFile(kind)
        if status.st_size > limit:
            raise SkippedFile(TOO_LARGE)
        data = file.read(status.st_size + 1)
        if len(data) > status.st_size:  # it grows, or its size is not told
            data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        raise SkippedFile(TOO_LARGE)
    return data, status.st_mode


def state_folder(root: Path, *names: str) -> Path:
    """Return the folder `.jarvis/<names>` of a workspace, made when it is missing.

    Raises `JarvisError` when something else is in its place: a file, or a link, through
    which we would write outside the workspace.
    """
    folder = root
    for name in (STATE, *names):
        folder = folder / name
        try:
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
            mode = folder.lstat().st_mode
        except OSError as error:
            raise JarvisError("{folder}: {why}", folder=folder, why=error.strerror) from None
        if not stat.S_ISDIR(mode):
            raise JarvisError("{folder} is not a folder; nothing is stored there", folder=folder)
    return folder


def user_folder() -> Path:
    """Return the user's own state: `$JARVIS_HOME`, else `~/.jarvis`."""
    home = os.environ.get("JARVIS_HOME")
    return Path(home) if home else Path.home() / STATE


def shown_folder(path: Path) -> str:
    """Return a folder of the user's as people write it: `~/…` below their home."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Give a file new contents so that a reader, or a crash, meets the old or the new whole.

    The new file gets `mode`, or what is usual for new files. Raises `JarvisError` naming the
    file when the disk is full or refuses; the old contents then stay.
    """
    temporary = ""
    try:
        import tempfile  # it loads much, and few processes write

        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:48]}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        usual = 0o666 & ~_UMASK
        os.chmod(temporary, usual if mode is None else stat.S_IMODE(mode))  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
        raise write_error(path, error) from None
    _sync_folder(path.parent)


def keep_out_of_git(folder: Path, *names: str) -> None:
    """Tell git, in the folder itself, to leave files of these names alone; what a `.gitignore`
    there says already stays. A disk that refuses costs only that."""
    ignore = folder / ".gitignore"
    if not ignore.exists() and not ignore.is_symlink():
        with contextlib.suppress(JarvisError):
            replace_file(ignore, "".join(f"{name}\n" for name in names).encode())


def write_error(path: Path, error: OSError) -> JarvisError:
    """Return the error for a user when a file could not be written."""
    return JarvisError("cannot write {path}: {why}", path=path, why=error.strerror or error)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):  # some file systems cannot; the rename is done anyway
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _inside(path: str | Path, root: str | Path) -> bool:
    real = os.path.realpath(os.path.dirname(path))  # noqa: PTH120 - str either way
    top = os.fspath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def _reason(path: str | Path, error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "a symbolic link"
    if error.errno == errno.EISDIR:
        return "a folder"
    if error.errno == errno.ENXIO:  # what opening a socket gives
        with contextlib.suppress(OSError):
            return kind_of(os.lstat(path).st_mode) or NOT_READABLE
    if error.errno in (errno.EACCES, errno.EPERM):
        return NOT_READABLE
    return f"{NOT_READABLE} ({(error.strerror or 'input/output error').lower()})"
