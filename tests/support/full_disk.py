"""A session on a disk that fills up, in a process of its own; run as a script by `run`.

Two ways: a small tmpfs in a mount name space of its own, where the system allows one; and a limit
on the size of files, which is always there.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jarvis_ls.runtime.session.session import Session

WAYS = ("tmpfs", "limit")
ROOM = 262144


def run(way: str, folder: Path) -> dict[str, Any]:
    """What the process tells. Skips, saying why, where no tmpfs can be mounted."""
    command = [sys.executable, __file__, way, str(folder)]
    if way == "tmpfs":
        if shutil.which("unshare") is None:
            pytest.skip("FULL DISK NOT TESTED ON A TMPFS: there is no unshare here")
        mount = f'mount -t tmpfs -o size={ROOM} none "$0" && exec "$@"'
        wrapper = ["unshare", "--mount", "--map-root-user", "sh", "-c", mount, str(folder)]
        tried = subprocess.run([*wrapper, "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            pytest.skip(f"FULL DISK NOT TESTED ON A TMPFS: {tried.stderr.strip()}")
        command = [*wrapper, *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """`folder` as a file system of two megabytes, which fills for real. Skips, saying why, where
    none can be made."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.name != "posix" or os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("only root can make a small file system, and not everywhere")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def main(way: str, folder: Path) -> None:
    """Fill the disk, and tell what became of the session."""
    from jarvis_ls.core.errors import JarvisError
    from jarvis_ls.runtime.base.messages import Usage, User
    from jarvis_ls.runtime.session.store import SessionStore

    filler = folder / "filler"
    if way == "tmpfs":
        filler.write_bytes(b"x" * 196608)
    store = SessionStore(folder)
    session = store.create("/work")
    if way == "limit":
        _limit(ROOM)
    kept, error = 0, None
    while error is None and kept < 1000:
        try:
            session.append("root", User(f"{kept} " + "x" * 1000))
            kept += 1
        except JarvisError as raised:
            error = raised
    session.spend("root", Usage(7))
    reader = store.open(session.id, read_only=True)
    reopened = [m.text.split()[0] for m in reader.messages("root")]
    assert reopened == [str(n) for n in range(kept)], reopened
    beside = {}
    if way == "tmpfs":
        beside["full"] = _beside(session, folder)
        filler.unlink()
        beside["room"] = _beside(session, folder)
    else:
        _limit(None)
    session.append("root", User(f"{kept} " + "x" * 1000))
    session.close()
    last = store.open(session.id)
    print(
        json.dumps(
            {
                "kept": kept,
                "reopened": len(reopened),
                "again": len(last.messages("root")),
                "damage": list(reader.damage + last.damage),
                "error": str(error),
                "types": [kind.__name__ for kind in type(error).__mro__],
                "spent": last.spent().input,
                "beside": beside,
            }
        )
    )


def _beside(session: Session, folder: Path) -> dict[str, str]:
    """What becomes of what is only kept beside the session: its history, the log of a call, a
    title, another session."""
    from jarvis_ls.core.errors import JarvisError
    from jarvis_ls.runtime.base.messages import User
    from jarvis_ls.runtime.llm.call_log import CallLog
    from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Request, TextDelta
    from jarvis_ls.runtime.session.history import History
    from jarvis_ls.runtime.session.store import SessionStore

    said: dict[str, str] = {}

    def log() -> None:
        call = CallLog(session.path / "calls").begin(
            "p/m", ModelInfo("m"), Request([User("x" * 9000)])
        )
        call.chunk(TextDelta("y" * 9000))
        call.end()

    def history() -> None:
        kept = History(session.path)
        asyncio.run(kept.record(session))
        if kept.problem:
            raise JarvisError(kept.problem)

    def create() -> None:
        SessionStore(folder).create("/other").close()

    for name, work in {
        "log": log,
        "history": history,
        "create": create,
        "title": lambda: session.set_title("t"),
    }.items():
        try:
            work()
            said[name] = ""
        except JarvisError as error:
            said[name] = str(error)
    return said


def _limit(size: int | None) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
