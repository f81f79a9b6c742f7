"""A program of its own: prepares what bubblewrap shall see, gives up all rights, becomes it.

It is run by `python -I -S` with a plan on standard input's place (a JSON file) and imports
nothing of ours. With `stage` it makes a mount namespace in which the folders a script needs
are below `/tmp`, overlays among them: bubblewrap then finds them there as a user who could
not have reached them. Started by root it continues as a user without any right.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
from typing import Any, NoReturn

_NEW_NS, _NEW_USER = 0x00020000, 0x10000000
_BIND, _MOVE, _REC, _PRIVATE, _NOSUID, _NODEV = 0x1000, 0x2000, 0x4000, 0x40000, 2, 4
_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def main(plan_path: str) -> NoReturn:
    """Carry out the plan; ends by becoming bubblewrap."""
    with open(plan_path, encoding="utf-8") as file:  # noqa: PTH123
        plan = json.load(file)
    try:
        _launch(plan)
    except OSError as error:
        raise SystemExit(f"sandbox: {error.filename or ''} {error.strerror}") from None


def _launch(plan: dict[str, Any]) -> NoReturn:
    _die_with_parent(plan["parent"])
    if plan["stage"]:
        _stage(plan)
    for name, value in plan["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    _first_to_go()
    if plan["user"] is not None:
        os.setgroups([])
        os.setresgid(plan["user"], plan["user"], plan["user"])
        os.setresuid(plan["user"], plan["user"], plan["user"])
        _die_with_parent(plan["parent"])  # which a change of user forgets
    os.chdir("/")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and a script must not
    os.execv(plan["bwrap"], _arguments(plan))


def _arguments(plan: dict[str, Any]) -> list[str]:
    mounts: list[str] = []
    for source, place, how in plan["mounts"]:
        mounts += [f"--{how}", source, place]
    return [plan["bwrap"], *plan["before"], *mounts, *plan["after"]]


def _stage(plan: dict[str, Any]) -> None:
    uid, gid = os.getuid(), os.getgid()
    _unshare(_NEW_NS if uid == 0 else _NEW_NS | _NEW_USER)
    if uid != 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    _mount(None, "/", None, _REC | _PRIVATE, None)
    stage = plan["stage"]
    _mount("tmpfs", stage, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for number, mount in enumerate(plan["mounts"]):
        source, _, how = mount
        if how == "symlink":
            continue
        target = f"{stage}/{number}"
        if isinstance(source, list):
            os.mkdir(target)  # noqa: PTH102
            _overlay(target, *source)
        else:
            if os.path.isdir(source):  # noqa: PTH112
                os.mkdir(target)  # noqa: PTH102
            else:
                os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
            _mount(source, target, None, _BIND | _REC, None)
        mount[0] = f"/tmp/{number}"
    os.chdir("/")
    _mount(stage, "/tmp", None, _MOVE, None)


def _overlay(target: str, lower: str, upper: str, work: str) -> None:
    """Mount an overlay; folders are named by descriptors, for names may hold `:` and `,`."""
    flags = os.O_PATH | os.O_DIRECTORY
    names = [f"/proc/self/fd/{os.open(folder, flags)}" for folder in (lower, upper, work)]
    options = "lowerdir={},upperdir={},workdir={},index=off,metacopy=off,xino=off,".format(*names)
    options += "redirect_dir=off" if os.getuid() == 0 else "redirect_dir=nofollow,userxattr"
    _mount("overlay", target, "overlay", _NOSUID | _NODEV, options)


def _die_with_parent(parent: int) -> None:
    if _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        _fail("prctl")
    if parent not in (os.getppid(), 0):
        raise SystemExit("sandbox: the server that started this is gone")


def _first_to_go() -> None:
    """When memory runs out, the kernel shall end us before anything of the user's."""
    _write("/proc/self/oom_score_adj", "1000")


def _unshare(what: int) -> None:
    if _libc.unshare(what) != 0:
        _fail("unshare")


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None
) -> None:
    words = [None if w is None else os.fsencode(w) for w in (source, target, kind, options)]
    if _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        _fail(f"mount of {target}")


def _fail(what: str) -> NoReturn:
    raise SystemExit(f"sandbox: {what}: {os.strerror(ctypes.get_errno())}")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(text)
