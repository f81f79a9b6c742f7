"""Commands that start our programs as a user's would, without importing everything anew."""

from __future__ import annotations

import atexit
import functools
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.forking import WORKERS, fork_instead

ROOT = Path(__file__).parent.parent.parent
_LAUNCH = Path(__file__).with_name("launch.py")


@functools.cache
def quick(program: str) -> tuple[str, ...]:
    """The command for a program of the nursery, which is started on first use; on a platform
    that cannot fork, the plain command."""
    if not sys.platform.startswith("linux"):
        return (sys.executable, "-m", program)
    return (sys.executable, "-I", "-S", str(_LAUNCH), _nursery(program))


@functools.cache
def _nursery(program: str) -> str:
    """Start the nursery of a program; return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="nursery-")
    path = str(Path(folder.name) / "socket")
    nursery = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "tests.support.nursery", program, path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert nursery.stdin is not None and nursery.stdout is not None
    assert nursery.stdout.readline() == b"ready\n"

    def end() -> None:
        nursery.communicate()
        folder.cleanup()

    atexit.register(end)
    return path


def fork_workers() -> None:
    """Let worker processes that tests start by `core.process` be forks of a nursery."""
    if sys.platform.startswith("linux"):
        fork_instead(lambda module: _nursery(module) if module in WORKERS else None)
