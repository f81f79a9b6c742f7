"""A sandbox proves its claims: the probes run in it, and nothing they try may succeed.

What a probe says of itself is only half of it: whether a message arrived, a file changed or a
process lived on is seen from outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import hashlib
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.sandbox.base import Sandbox, Script

PROBES = Path(__file__).with_name("probes.py")

_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Proof:
    """What the probes found."""

    tried: tuple[str, ...]
    """Names of all attempts."""
    escaped: tuple[str, ...]
    """Those that got out."""
    problem: str = ""
    """Why the probes could not run; empty when they did."""
    builds: bool = True
    """Whether what is compiled inside can be run there."""

    @property
    def holds(self) -> bool:
        """Return whether the sandbox may be used."""
        return not self.problem and not self.escaped

    @property
    def reason(self) -> str:
        """The reason why it may not be used, in words."""
        if self.problem:
            return self.problem
        names = ", ".join(name.replace("_", " ") for name in self.escaped)
        return f"the self-test got out of it: {names}" if names else ""


async def prove(sandbox: Sandbox, *, seconds: int = 0, network: bool = False) -> Proof:
    """Try every way out; a child left behind is given `seconds` to show itself. With `network`
    it is allowed, and what goes through it counts as out all the same."""
    with contextlib.ExitStack() as stack:
        trap = stack.enter_context(Trap(seconds, limits=sandbox.name != "engine"))
        interpreter = await asyncio.to_thread(python_for, sandbox.name)
        script = Script(
            interpreter,
            PROBES.read_text(encoding="utf-8"),
            _TIMEOUT,
            network,
            environment={"JARVIS_PROBE": trap.known()},
        )
        try:
            ran = await sandbox.run(script, [trap.workspace])
        except JarvisError as error:
            return Proof((), (), str(error))
        said = dict(line.split("\t") for line in ran.output.splitlines() if line.count("\t") == 1)
        if not ran.output.rstrip().endswith("done"):
            words = ran.ended or ran.output.strip().rpartition("\n")[2][-300:]
            words = words or "it printed nothing"
            return Proof(tuple(said), (), f"the self-test did not run: {words}")
        builds = said.pop("modes_of_own_files", "able") == "able"
        if seconds:
            await asyncio.sleep(seconds)
        out = [name for name, result in said.items() if result == "out"]
        out += await asyncio.to_thread(trap.sprung)
        return Proof(tuple(said), tuple(dict.fromkeys(out)), builds=builds)


class Trap:
    """What is outside of the sandbox, and tells when it is touched."""

    def __init__(self, seconds: int, *, limits: bool = True) -> None:
        """`seconds` a child may take to show itself; without `limits` the number of processes is
        bounded by something a process cannot see."""
        self._seconds = seconds
        self._limits = limits
        self._token = secrets.token_hex(16)
        self._secret = secrets.token_hex(16)
        self._mark = f".jarvis-probe-{self._token}"
        self._heard: set[str] = set()
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Trap:
        self._folder = Path(tempfile.mkdtemp(prefix="jarvis-trap-", dir=_neutral()))
        self._folder.chmod(0o755)
        self.outside = self._folder / "outside"
        self.workspace = self._folder / "workspace"
        for folder in (self.outside, self.workspace):
            folder.mkdir()
        self.outside.chmod(0o777)  # only the sandbox shall be what keeps the probes from it
        (self.workspace / "file").write_text("f")
        (self.outside / "secret").write_text(self._secret)
        (self.outside / "victim").write_text("untouched")
        (self.outside / "victim").chmod(0o666)
        self._before = self._look()
        self._listen()
        self._memory = _shared_memory(self._secret.encode())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for sock in self._sockets:
            sock.close()
        _free(self._memory)
        shutil.rmtree(self._folder, ignore_errors=True)

    def known(self) -> str:
        """Return the data for the probes, as JSON."""
        command = Path("/proc/self/cmdline").read_bytes().decode(errors="replace")
        return json.dumps(
            {
                "outside": str(self.outside),
                "secret": self._secret,
                "token": self._token,
                "home": str(Path.home()),
                "mark": self._mark,
                "pid": os.getpid(),
                "parent": os.getppid(),
                "command": command,
                "tcp": self._tcp,
                "udp": self._udp,
                "unix": str(self._folder / "socket"),
                "dgram": str(self._folder / "dgram"),
                "engine": os.environ.get("DOCKER_HOST", "").removeprefix("unix://"),
                "abstract": self._token,
                "limits": self._limits,
                "seconds": self._seconds,
                "memory": self._memory,
            }
        )

    def has_secret(self, text: str) -> bool:
        """Return whether a text shows what only outside could be read."""
        return self._secret in text

    def sprung(self) -> list[str]:
        """Return the probes that escaped, as seen from outside the sandbox."""
        time.sleep(0.05)
        found = [f"{name} (it arrived)" for name in sorted(self._heard)]
        now = self._look()
        changed = {
            key for key in self._before.keys() | now.keys() if self._before.get(key) != now.get(key)
        }
        found += [f"touched {key} outside" for key in sorted(changed)]
        with contextlib.suppress(OSError):
            (Path.home() / self._mark).unlink()
            found.append("write home")
        return found

    def _look(self) -> dict[str, Any]:
        return {
            path.name: (
                path.lstat().st_mode,
                path.lstat().st_mtime_ns,
                path.lstat().st_ino,
                path.lstat().st_nlink,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in self.outside.iterdir()
        }

    def _listen(self) -> None:
        tcp = self._bind(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        udp = self._bind(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self._tcp, self._udp = tcp.getsockname()[1], udp.getsockname()[1]
        self._bind(socket.AF_UNIX, socket.SOCK_STREAM, str(self._folder / "socket"))
        self._bind(socket.AF_UNIX, socket.SOCK_DGRAM, str(self._folder / "dgram"))
        self._bind(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self._token)
        for name in ("socket", "dgram"):
            (self._folder / name).chmod(0o777)

    def _bind(self, family: int, kind: int, address: Any) -> socket.socket:
        sock = socket.socket(family, kind)
        sock.bind(address)
        self._sockets.append(sock)
        if kind == socket.SOCK_STREAM:
            sock.listen()
            run = self._accept
        else:
            run = self._receive
        threading.Thread(target=run, args=(sock,), daemon=True).start()
        return sock

    def _accept(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connected, _ = sock.accept()
                with connected:
                    connected.settimeout(2)
                    self._hear(connected.recv(200))

    def _receive(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._hear(sock.recv(200))

    def _hear(self, data: bytes) -> None:
        token, _, name = data.decode(errors="replace").partition(" ")
        if token == self._token:
            self._heard.add(name)


def _shared_memory(secret: bytes) -> int:
    """Memory of this machine that every process may read, by its number; negative without."""
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    number = int(libc.shmget(0, 4096, 0o1666))
    place = libc.shmat(number, None, 0) if number >= 0 else None
    if place not in (None, ctypes.c_void_p(-1).value):
        ctypes.memmove(place, secret, len(secret))
        libc.shmdt(ctypes.c_void_p(place))
    return number


def _free(memory: int) -> None:
    if memory >= 0:
        ctypes.CDLL(None).shmctl(memory, 0, None)


def python_for(rung: str) -> str:
    """Return a Python that can be run inside: ours, unless another user could not reach it."""
    own = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
    if rung == "landlock" and os.geteuid() == 0 and not _open_to_all(own):
        return "/usr/bin/python3"
    return own


@functools.cache
def version() -> str:
    """Return a digest of our own code: an old proof is invalid for a new sandbox."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def identity(program: str) -> list[Any]:
    """Return the identity that a proof applies to: boot, kernel, user, program."""
    facts: list[Any] = [os.uname().release, os.geteuid(), version()]
    with contextlib.suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with contextlib.suppress(OSError):
        status = Path(program).stat()
        facts += [program, status.st_ino, status.st_size, status.st_mtime_ns]
    return facts


def _open_to_all(path: str) -> bool:
    places: Iterator[Path] = iter([Path(path), *Path(path).parents])
    return all(place.exists() and place.stat().st_mode & 0o005 == 0o005 for place in places)


def _neutral() -> str:
    """Return a folder that is nobody's home, or None for the usual one."""
    return "/var/tmp" if os.access("/var/tmp", os.W_OK) else tempfile.gettempdir()
