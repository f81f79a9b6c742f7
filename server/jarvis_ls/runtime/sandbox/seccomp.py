"""A filter of system calls, as the classic BPF program the kernel takes.

What is refused has no place in a script: mounting, tracing, loading kernel code, new
namespaces, typing into a terminal. Calls newer than this list are answered as if the kernel did
not have them, so that no new door opens unseen.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Sequence
from typing import Literal

_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
_EPERM, _ENOSYS, _ENOTSUP = 1, 38, 95
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_NEW_USER, _TIOCSTI, _TIOCLINUX = 0x10000000, 0x5412, 0x541C
_NEW_LISTENER = 8
_FLAGS_OF_FILES = (0x40086602, 0x40046602, 0x40087602, 0x40047602, 0x401C5820, 0x40806685)
"""FS_IOC_SETFLAGS and FS_IOC_SETVERSION in both widths, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY: a
descriptor for reading is enough for some of them."""
NETWORKED = (1, 2, 10, 16)
"""Local sockets, IPv4, IPv6, netlink: what a network namespace keeps apart. Others, such as
those that reach from a virtual machine to its host, know nothing of namespaces."""
SHARED = (2, 10, 16)
"""Without local ones: where the machine's network is shared, so are its abstract sockets, those
of the desktop among them."""
_LAST = 462

Metadata = Literal["free", "supervised", "refused"]
_Calls = dict[str, tuple["int | None", "int | None"]]

# Name: number on x86_64, and on aarch64; None where there is no such call.
_REFUSED: _Calls = {
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "quotactl": (179, 60),
    "lookup_dcookie": (212, 18),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "modify_ldt": (154, None),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "nfsservctl": (180, 42),
}
_OWNERS: _Calls = {
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
}
_ATTRIBUTES: _Calls = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}
_METADATA: _Calls = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
_IPC: _Calls = {
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
_INSPECTED: dict[str, tuple[int, int]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "seccomp": (317, 277),
}
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def filter_program(
    *, families: Sequence[int] = NETWORKED, metadata: Metadata = "free", ipc: bool = True
) -> bytes:
    """Return the filter for this machine; empty when we know none for it.

    Only sockets of the given `families` can be made. `metadata` tells what becomes of calls that
    change modes and times of files: they are let through, handed to a supervisor, or refused;
    unless they are let through, no owner and no attribute of any file can be changed. Without
    `ipc` none of the machine's shared memory, semaphores and message queues can be reached, which
    is for who has no namespace of their own.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return b""
    column, arch = machine
    program = [
        _load(_ARCH),
        *_unless_equal(arch, _refuse(_EPERM)),
        _load(_NUMBER),
        *_if_at_least(_LAST + 1, _refuse(_ENOSYS)),
    ]
    for calls, then in _verdicts(metadata, ipc):
        for numbers in calls.values():
            number = numbers[column]
            if number is not None:
                program += _if_equal(number, then)
    program += _if_equal(_INSPECTED["clone3"][column], _refuse(_ENOSYS))  # flags out of sight
    for name in ("clone", "unshare"):
        body = [_load(_ARGUMENTS), *_if_any_bit(_NEW_USER, _refuse(_EPERM)), _load(_NUMBER)]
        program += _when(_INSPECTED[name][column], body)
    # Who has a listener of their own answers in place of ours.
    body = [_load(_ARGUMENTS + 8), *_if_any_bit(_NEW_LISTENER, _refuse(_EPERM)), _load(_NUMBER)]
    program += _when(_INSPECTED["seccomp"][column], body)
    requests = [_load(_ARGUMENTS + 8)]
    for request in (_TIOCSTI, _TIOCLINUX, *(() if metadata == "free" else _FLAGS_OF_FILES)):
        requests += _if_equal(request, _refuse(_EPERM))
    program += _when(_INSPECTED["ioctl"][column], [*requests, _load(_NUMBER)])
    sockets = [_load(_ARGUMENTS)]
    for family in families:
        sockets += _if_equal(family, _allow())
    program += _when(_INSPECTED["socket"][column], [*sockets, _refuse(_EPERM)])
    program.append(_allow())
    return b"".join(program)


def supervised_calls() -> dict[int, str]:
    """Return the calls that a supervisor gets, by their number on this machine."""
    column = _MACHINES[platform.machine()][0]
    found = ((numbers[column], name) for name, numbers in _METADATA.items())
    return {number: name for number, name in found if number is not None}


def seccomp_call() -> int:
    """Return the number of seccomp(2) on this machine."""
    return _INSPECTED["seccomp"][_MACHINES[platform.machine()][0]]


def _verdicts(metadata: Metadata, ipc: bool) -> list[tuple[_Calls, bytes]]:
    """Return calls, and what becomes of them."""
    found = [(_REFUSED, _refuse(_EPERM))]
    if metadata != "free":
        found += [
            (_METADATA, _notify() if metadata == "supervised" else _refuse(_EPERM)),
            (_OWNERS, _refuse(_EPERM)),
            (_ATTRIBUTES, _refuse(_ENOTSUP)),  # as on a file system that has none
        ]
    if not ipc:
        found.append((_IPC, _refuse(_EPERM)))
    return found


def _instruction(code: int, yes: int, no: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, 0, 0, offset)


def _refuse(errno: int) -> bytes:
    return _instruction(_RETURN, 0, 0, _ERRNO | errno)


def _notify() -> bytes:
    return _instruction(_RETURN, 0, 0, _NOTIFY)


def _allow() -> bytes:
    return _instruction(_RETURN, 0, 0, _ALLOW)


def _if_equal(value: int, then: bytes) -> list[bytes]:
    return [_instruction(_EQUAL, 0, 1, value), then]


def _unless_equal(value: int, then: bytes) -> list[bytes]:
    return [_instruction(_EQUAL, 1, 0, value), then]


def _if_at_least(value: int, then: bytes) -> list[bytes]:
    return [_instruction(_ABOVE, 0, 1, value), then]


def _if_any_bit(bits: int, then: bytes) -> list[bytes]:
    return [_instruction(_ANY_BIT, 0, 1, bits), then]


def _when(number: int, body: list[bytes]) -> list[bytes]:
    return [_instruction(_EQUAL, 0, len(body), number), *body]
