"""Changes of modes and times for a script that is confined by Landlock.

Landlock does not tell inside from outside where a mode or a time is changed, so the filter of
system calls stops every such call and hands it to the `Supervisor` (seccomp_unotify(2)), which
runs outside of the confinement, as the script's own user. It opens what the caller named, asks
the kernel where that is, and changes it by this descriptor only when it is in a folder the
script may write. The caller's own call never continues, so nothing can be exchanged in between, and
bits that give away rights (set-user-ID, set-group-ID) are taken off.

It runs in a program of its own (`confine`) and imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTIFICATION = struct.Struct("<QIIiIQ6Q")
"""Id, thread, flags; number of the call, architecture, address, arguments."""
_AT_FDCWD, _NO_FOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000
_OPENAT2, _NO_MAGIC_LINKS = 437, 0x02
_PATH_MAX = 4096
_KEPT_BITS = 0o1777
_UTIME_NOW = 0x3FFFFFFF
_OWN_DESCRIPTOR = re.compile(rb"/(?:proc/(?:thread-)?self|dev)/fd/([0-9]{1,9})")

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that waits for an answer."""

    id: int
    thread: int
    name: str
    arguments: tuple[int, ...]


class Supervisor:
    """Answers the calls that come in at a listener of seccomp."""

    def __init__(self, listener: int, names: Mapping[int, str], folders: Sequence[str]) -> None:
        """`names` of the calls by number; `folders` are those in which the script may write."""
        self.listener = listener
        self._names = names
        self._folders = [os.fsencode(os.path.realpath(folder)) for folder in folders]
        self._carry_out: dict[str, Callable[[Call], None]] = {
            "chmod": lambda call: self._chmod(call, _AT_FDCWD, *call.arguments[:2]),
            "fchmod": lambda call: self._chmod_descriptor(call),
            "fchmodat": lambda call: self._chmod(call, *call.arguments[:3]),
            "fchmodat2": lambda call: self._chmod(call, *call.arguments[:4]),
            "utime": lambda call: self._utime(call, _AT_FDCWD, *call.arguments[:2], unit=0),
            "utimes": lambda call: self._utime(call, _AT_FDCWD, *call.arguments[:2], unit=1000),
            "futimesat": lambda call: self._utime(call, *call.arguments[:3], unit=1000),
            "utimensat": lambda call: self._utime(
                call, *call.arguments[:3], flags=call.arguments[3]
            ),
        }

    def answer(self) -> None:
        """Take one call and answer it; one whose caller has ended meanwhile needs no answer."""
        buffer = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, buffer, True)
        except OSError:
            return
        number, thread, _, call, _, _, *arguments = _NOTIFICATION.unpack(buffer)
        name = self._names.get(call, "")
        why = 0
        try:
            if name not in self._carry_out:
                raise PermissionError(errno.EPERM, "")
            self._carry_out[name](Call(number, thread, name, tuple(arguments)))
        except OSError as error:
            why = error.errno or errno.EPERM
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _SEND, bytearray(struct.pack("<QqiI", number, 0, -why, 0)))

    def _chmod(self, call: Call, folder: int, path: int, mode: int, flags: int = 0) -> None:
        with self._locate(call, folder, path, flags) as place:
            os.chmod(f"/proc/self/fd/{place}", mode & _KEPT_BITS)  # noqa: PTH101

    def _chmod_descriptor(self, call: Call) -> None:
        with self._locate(call, call.arguments[0], 0, _EMPTY_PATH) as place:
            os.chmod(f"/proc/self/fd/{place}", call.arguments[1] & _KEPT_BITS)  # noqa: PTH101

    def _utime(
        self, call: Call, folder: int, path: int, times: int, *, flags: int = 0, unit: int = 1
    ) -> None:
        """Set times; they are in seconds (`unit` 0), or in seconds and units of so many ns."""
        given = struct.pack("<4q", 0, _UTIME_NOW, 0, _UTIME_NOW)
        if times:
            with self._memory(call) as memory:
                data = _read(memory, times, 16 if unit == 0 else 32)
            if len(data) < (16 if unit == 0 else 32):
                raise OSError(errno.EFAULT, "")
            if unit == 0:
                accessed, changed = struct.unpack("<2q", data)
                given = struct.pack("<4q", accessed, 0, changed, 0)
            elif unit == 1:
                given = data
            else:
                values = struct.unpack("<4q", data)
                given = struct.pack("<4q", values[0], values[1] * unit, values[2], values[3] * unit)
        if not path and call.name in ("utimensat", "futimesat"):
            flags |= _EMPTY_PATH
        with self._locate(call, folder, path, flags) as place:
            if _libc.utimensat(place, b"", given, _EMPTY_PATH) != 0:
                raise OSError(ctypes.get_errno(), "")

    @contextlib.contextmanager
    def _locate(self, call: Call, folder: int, path: int, flags: int) -> Iterator[int]:
        """Give what a caller named, opened without any right to its contents. Raise `OSError` for
        what is where the script may not write."""
        with contextlib.ExitStack() as stack:
            name = b""
            if path:
                name = _read(stack.enter_context(self._memory(call)), path, _PATH_MAX)
                name, end, _ = name.partition(b"\0")
                if not end:
                    raise OSError(errno.ENAMETOOLONG, "")
                if not name and not _sign_extend(flags) & _EMPTY_PATH:
                    raise OSError(errno.ENOENT, "")
            elif not flags & _EMPTY_PATH:
                raise OSError(errno.EFAULT, "")
            opened = self._open(call, _sign_extend(folder), name, flags)
            stack.callback(os.close, opened)
            self._check_valid(call)
            if not self._is_inside(os.readlink(os.fsencode(f"/proc/self/fd/{opened}"))):  # noqa: PTH115
                raise PermissionError(errno.EPERM, "")
            yield opened

    def _open(self, call: Call, folder: int, name: bytes, flags: int) -> int:
        if own := _OWN_DESCRIPTOR.fullmatch(name):  # how older C libraries change links
            return _descriptor(call, int(own[1]))
        if not name:
            return _here(call) if folder == _AT_FDCWD else _descriptor(call, folder)
        base = -1
        if not name.startswith(b"/"):
            base = _here(call) if folder == _AT_FDCWD else _descriptor(call, folder)
        try:
            how = os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if flags & _NO_FOLLOW else 0)
            given = struct.pack("<QQQ", how, 0, _NO_MAGIC_LINKS)
            _libc.syscall.restype = ctypes.c_long
            opened = int(_libc.syscall(_OPENAT2, base, name, given, ctypes.c_size_t(len(given))))
            if opened < 0:
                raise OSError(ctypes.get_errno(), "")
            return opened
        finally:
            if base >= 0:
                os.close(base)

    def _is_inside(self, path: bytes) -> bool:
        return any(path == folder or path.startswith(folder + b"/") for folder in self._folders)

    @contextlib.contextmanager
    def _memory(self, call: Call) -> Iterator[int]:
        """Give the memory of a caller, which is certain to be its own."""
        opened = os.open(f"/proc/{call.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._check_valid(call)
            yield opened
        finally:
            os.close(opened)

    def _check_valid(self, call: Call) -> None:
        """Raise `OSError` when the caller has ended: its number may be another's by now."""
        fcntl.ioctl(self.listener, _IS_VALID, bytearray(struct.pack("<Q", call.id)))


def _here(call: Call) -> int:
    return os.open(f"/proc/{call.thread}/cwd", os.O_PATH | os.O_CLOEXEC)


def _descriptor(call: Call, number: int) -> int:
    try:
        return os.open(f"/proc/{call.thread}/fd/{number}", os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        raise OSError(errno.EBADF, "") from None


def _read(memory: int, address: int, size: int) -> bytes:
    """Return up to `size` bytes at an address; fewer where the memory ends before."""
    try:
        return os.pread(memory, size, address)
    except (OSError, OverflowError):
        raise OSError(errno.EFAULT, "") from None


def _sign_extend(value: int) -> int:
    """Return the int that an argument of a system call represents."""
    return ctypes.c_int(value & 0xFFFFFFFF).value
