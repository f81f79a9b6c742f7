"""A container engine for tests: one that answers already, or a private one, which needs root."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from jarvis_ls.runtime.sandbox.engine import sockets
from tests.support.patience import HANGS

_SECONDS = HANGS


@contextlib.contextmanager
def container_engine() -> Iterator[str]:
    """Why there is none, in words; empty when one answers."""
    if sockets():
        yield ""
    elif os.geteuid() != 0:
        yield "no container engine answers, and only root can start one"
    elif shutil.which("dockerd") is None or shutil.which("containerd") is None:
        yield "no container engine answers, and docker.io is not installed"
    else:
        with _private_engine() as problem:
            yield problem


@contextlib.contextmanager
def _private_engine() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="jarvis-dockerd-", dir="/var/tmp"))
    socket = folder / "docker.sock"
    log = (folder / "log").open("wb")
    engine = subprocess.Popen(
        [
            "dockerd",
            "--iptables=false",
            "--ip6tables=false",
            "--bridge=none",
            "--data-root",
            str(folder / "data"),
            "--exec-root",
            str(folder / "exec"),
            "--pidfile",
            str(folder / "pid"),
            "--host",
            f"unix://{socket}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    before = os.environ.get("DOCKER_HOST")
    try:
        if _answers(engine, socket):
            os.environ["DOCKER_HOST"] = f"unix://{socket}"
            yield ""
        else:
            said = (folder / "log").read_text(errors="replace").strip().splitlines()[-1:]
            yield f"dockerd does not start here: {said}"
    finally:
        if before is None:
            os.environ.pop("DOCKER_HOST", None)
        else:
            os.environ["DOCKER_HOST"] = before
        _end(engine)
        log.close()
        _unmount(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _answers(engine: subprocess.Popen[bytes], socket: Path) -> bool:
    import docker

    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and engine.poll() is None:
        if socket.exists():
            with contextlib.suppress(docker.errors.DockerException):
                client = docker.DockerClient(base_url=f"unix://{socket}")
                try:
                    return bool(client.ping())
                finally:
                    client.close()
        time.sleep(0.1)
    return False


def _end(engine: subprocess.Popen[bytes]) -> None:
    """End the daemon and the containerd it has started."""
    children = []
    with contextlib.suppress(psutil.Error):
        children = psutil.Process(engine.pid).children(recursive=True)
    engine.send_signal(signal.SIGTERM)
    try:
        engine.wait(HANGS)
    except subprocess.TimeoutExpired:
        engine.kill()
        engine.wait()
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.kill()


def _unmount(folder: Path) -> None:
    """What a daemon that was killed leaves mounted below a folder."""
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for mount in sorted(mounts, reverse=True):
        if mount.startswith(f"{folder}/"):
            subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
