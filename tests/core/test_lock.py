"""Locks between processes: who comes second is told who holds it, and what a process held when it
was killed is free."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_ls.core import lock as module
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.lock import Lock, hold

HOLDER = """
import pathlib, sys
from jarvis_ls.core.lock import Lock
held = Lock.take(pathlib.Path(sys.argv[1]))
print(held if isinstance(held, str) else "held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until the block ends, or it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            other.kill()


def test_who_comes_second_is_told_the_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held_elsewhere(path) as other:
        assert Lock.take(path) == f"process {other.pid}"
        other.kill()
        other.wait()
        mine = Lock.take(path)
        assert isinstance(mine, Lock)
    assert Lock.take(path) == f"process {os.getpid()}"
    mine.release()
    again = Lock.take(path)
    assert isinstance(again, Lock)
    again.release()


def test_a_change_waits_and_then_says_who_kept_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.2)
    path = tmp_path / "new" / "lock"
    with hold(path, "the memory"):
        assert path.exists()
    with held_elsewhere(path) as other:
        told = rf"process {other.pid} has held the memory for 0 s; nothing was changed"
        with pytest.raises(JarvisError, match=told), hold(path, "the memory"):
            raise AssertionError("held by two")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_lock_follows_no_link_and_changes_no_other_file(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(JarvisError, match="cannot write"):
        Lock.take(tmp_path / "lock")
    with pytest.raises(JarvisError, match="cannot write"):
        Lock.take(target / "lock")
    assert target.read_text() == "precious"
