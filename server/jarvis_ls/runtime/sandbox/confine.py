"""A program of its own: confines a script by Landlock, a filter of system calls and limits,
and ends whatever is left of it when the script, the time or the server has ended.

It is run by `python -I -S` with a plan (a JSON file) and imports of ours only what runs with it.
The parent half stays outside as the reaper of all descendants, and carries out for them the
changes of modes and times that `metadata` allows; the child half gives up all rights.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import struct
from typing import Any, NoReturn

from jarvis_ls.runtime.sandbox.metadata import Supervisor

_NO_NEW_PRIVS, _SECCOMP, _SUBREAPER, _PDEATHSIG = 38, 22, 36, 1
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NEW_LISTENER = 8
_EXECUTE, _READ_FILE, _READ_DIR = 1, 4, 8
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_ONLY = _EXECUTE | 2 | _READ_FILE | 1 << 14 | 1 << 15
_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Rights over files that a version of Landlock knows."""

_libc = ctypes.CDLL(None, use_errno=True)


def main(plan_path: str) -> NoReturn:
    """Carry out the plan; ends with the script's own exit status."""
    with open(plan_path, encoding="utf-8") as file:  # noqa: PTH123
        plan = json.load(file)
    _check(_libc.prctl(_SUBREAPER, 1, 0, 0, 0), "prctl")
    signal.signal(signal.SIGTERM, _end)
    wakes, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _end_with_parent(plan)
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        _become(plan, theirs)
    theirs.close()
    os.close(1)
    os.close(2)
    status = _follow(child, _supervisor(plan, ours), wakes)
    _kill_all()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _end_with_parent(plan: dict[str, Any]) -> None:
    """Ask to be told when the server ends; also after a change of user, which forgets it."""
    _check(_libc.prctl(_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "prctl")
    if os.getppid() != plan["parent"]:
        _kill_all()
        raise SystemExit("sandbox: the server that started this is gone")


def _supervisor(plan: dict[str, Any], channel: socket.socket) -> Supervisor | None:
    """Return who answers the calls of the script, as its own user; None when no one need."""
    with channel:
        _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    if not descriptors:
        return None
    if plan["user"] is not None:
        _change_user(plan["user"])
        _end_with_parent(plan)
    names = {int(number): name for number, name in plan["supervised"].items()}
    return Supervisor(descriptors[0], names, plan["writable"])


def _follow(child: int, supervisor: Supervisor | None, wakes: int) -> int:
    """Answer calls and reap what ends until the script has ended; its status."""
    events = select.poll()
    events.register(wakes, select.POLLIN)
    if supervisor is not None:
        events.register(supervisor.listener, select.POLLIN)
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    return ended[1]
        for descriptor, event in events.poll():
            if descriptor == wakes:
                os.read(wakes, 4096)
            elif event & select.POLLIN and supervisor is not None:
                supervisor.answer()
            else:
                events.unregister(descriptor)


def _change_user(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _become(plan: dict[str, Any], channel: socket.socket) -> NoReturn:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and a script must not
    os.setsid()
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("1000")
    if plan["user"] is not None:
        _change_user(plan["user"])
    for name, value in plan["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    os.chdir(plan["folder"])
    if plan.get("confined", True):
        _check(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
        _landlock(plan)
        _filter(plan, channel)
    channel.close()
    command = plan["command"]
    try:
        os.execvpe(command[0], command, plan["environment"])
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", flush=True)
        os._exit(127)


def _landlock(plan: dict[str, Any]) -> None:
    version = _libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 3:
        raise SystemExit("sandbox: this kernel's Landlock does not keep files from being cut")
    every = (1 << _BITS.get(version, 16)) - 1
    ports = 3 if version >= 4 and not plan["network"] else 0
    scoped = 3 if version >= 6 else 0
    rules = struct.pack("<QQQ", every, ports, scoped)[: 24 if scoped else 16 if version >= 4 else 8]
    ruleset = _libc.syscall(_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    _check(ruleset, "landlock")
    for rights, paths in ((_READ, plan["readable"]), (every, plan["writable"])):
        for path in paths:
            _allow(ruleset, path, rights & every)
    for path in plan["devices"]:
        _allow(ruleset, path, 2 | _READ_FILE)
    _check(_libc.syscall(_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it is not there, or not for this user
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= _FILE_ONLY
    _check(_libc.syscall(_ADD, ruleset, 1, struct.pack("<Qi", rights, place), 0), "landlock")
    os.close(place)


def _filter(plan: dict[str, Any], channel: socket.socket) -> None:
    """Put the filter on; the calls it hands over go to who holds the other end of `channel`. Where
    the kernel has no one to hand them to, the stricter filter refuses them."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    program = bytes.fromhex(plan["filter"])
    given = Program(len(program) // 8, program)
    number = ctypes.c_long(plan["seccomp"])
    listener = _libc.syscall(number, 1, _NEW_LISTENER, ctypes.byref(given))
    if listener >= 0:
        socket.send_fds(channel, [b"l"], [listener])
        os.close(listener)
        return
    program = bytes.fromhex(plan["strict"])
    given = Program(len(program) // 8, program)
    _check(_libc.prctl(_SECCOMP, 2, ctypes.byref(given), 0, 0), "seccomp")


def _end(*_: object) -> NoReturn:
    _kill_all()
    os._exit(143)


def _kill_all() -> None:
    """End every descendant; those whose parents die become our children."""
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        living = _descendants(os.getpid())
        if not living:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):  # so that none can fork away
            for pid in living:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _descendants(top: int) -> list[int]:
    found: list[int] = []
    waiting = [top]
    while waiting:
        pid = waiting.pop()
        try:
            tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
            texts = []
            for task in tasks:
                with open(f"/proc/{pid}/task/{task}/children") as file:  # noqa: PTH123
                    texts.append(file.read())
        except OSError:
            continue
        children = [int(child) for text in texts for child in text.split()]
        found += children
        waiting += children
    return found


def _check(result: int, what: str) -> None:
    if result < 0:
        print(f"sandbox: {what}: {os.strerror(ctypes.get_errno())}", flush=True)
        os._exit(126)
