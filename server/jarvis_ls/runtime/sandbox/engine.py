"""A container engine, Docker or Podman, that answers on a local socket.

The image is an empty one with the programs of this machine bound into it read-only (or one the
user names), so that nothing is fetched from anywhere. The container has no rights, no network,
a read-only root, and the workspace as an overlay or a copy. It ends with the connection to the
server that started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import json
import os
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.sandbox import environment
from jarvis_ls.runtime.sandbox.base import Output, Ran, Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.bwrap import NOBODY, SCRIPT
from jarvis_ls.runtime.sandbox.changed import all_changes, came_of
from jarvis_ls.runtime.sandbox.container import TIMEOUT, Container
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, check_roots, has_other_owners
from jarvis_ls.runtime.sandbox.kept import bring
from jarvis_ls.runtime.sandbox.process import STOPPED, Ended, Heard, watch
from jarvis_ls.runtime.sandbox.seccomp import filter_program
from jarvis_ls.runtime.sandbox.waiting import in_thread, to_the_end
from jarvis_ls.runtime.sandbox.working import Needs, prepare_copies, working_folder

LABEL = "jarvis-sandbox"

_PROCESSES = 20_000
_HOME = "/run/jarvis/home"
"""Where the engine shows what belongs into the home folder, which is made when a script begins."""
# Ends with its standard input, which the engine closes when the server is gone.
_INIT = (
    'exec 3<&0; (cat <&3 >/dev/null; kill -9 -1) & mkdir -p "$HOME/.cargo" "$HOME/.m2"'
    ' "$HOME/go/pkg";'
    " for one in .cargo/registry .cargo/git .m2/repository go/pkg/mod;"
    f' do [ -d "{_HOME}/$one" ] && ln -s "{_HOME}/$one" "$HOME/$one"; done;'
    ' "$@" 3<&- </dev/null; exit $?'
)
# A filter of system calls within that of the engine, which may be an older one.
_FILTER = """
import ctypes, os, signal, sys
data = bytes.fromhex(sys.argv[1])
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
given = Program(len(data) // 8, data)
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or (data and libc.prctl(22, 2, ctypes.byref(given), 0, 0)):
    sys.exit("sandbox: " + os.strerror(ctypes.get_errno()))
signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and a script must not
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    print(sys.argv[2] + ": " + error.strerror, flush=True)
    os._exit(127)
"""


class Engine(Sandbox):
    """See the module."""

    name = "engine"

    def __init__(
        self, home: Path, settings: SandboxSettings, *, socket: str, kind: str, overlay: bool
    ) -> None:
        """`kind` is `docker` or `podman`; with `overlay` workspaces are not copied where that is
        possible."""
        super().__init__()
        self._home = home
        self._settings = settings
        self._socket = socket
        self._kind = kind
        self._overlay = overlay
        self._user = os.geteuid() or NOBODY
        self._group = os.getegid() if os.geteuid() else NOBODY

    @property
    def identity(self) -> str:
        """The identity that a proof applies to."""
        return self._socket

    async def run(self, script: Script, roots: Sequence[Path], output: Output | None = None) -> Ran:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        if self._kind == "podman" and any(mark in str(root) for root in roots for mark in ',"\n'):
            raise JarvisError(
                "Podman cannot be given a folder whose name holds a comma, a quote or a new line."
                ' Rename it, or set rungs = ["bwrap"] in [sandbox] of the settings.'
            )
        needs = Needs(roots, script.session, self.name)
        async with working_folder(self._home, None, self.kept, needs) as folder:
            places = await in_thread(lambda: bring(self._places(folder, roots)), folder.stopped.set)
            ended = await self._start(folder, script, places, output)
            found = await in_thread(lambda: all_changes(places))
        copies = "copy" if any(place.is_copy for place in places) else "overlay"
        return came_of(ended, f"{self._kind} ({copies})", found)

    async def prepare(self, roots: Sequence[Path], session: str) -> None:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, session, self.name)
        await prepare_copies(
            self._home, None, self.kept, needs, lambda folder: self._places(folder, roots)
        )

    def _places(self, folder: RunFolder, roots: Sequence[Path]) -> list[Workplace]:
        owner = NOBODY if os.geteuid() == 0 else None
        places = []
        for number, root in enumerate(roots):
            plain = not any(mark in f"{root}{folder.path}" for mark in ':,\\"')
            mine = owner is None and not has_other_owners(root, self._user, self._group)
            if self._overlay and plain and mine:
                places.append(folder.overlay(number, root))
            else:
                places.append(folder.copy(number, root, self._settings, owner))
        return places

    async def _start(
        self, folder: RunFolder, script: Script, places: Sequence[Workplace], output: Output | None
    ) -> Ended:
        loop = asyncio.get_running_loop()
        heard = Heard(output)

        def hear(data: bytes) -> None:
            loop.call_soon_threadsafe(heard.add, data)

        running = Container(self, folder, script, places, hear)
        started = time.monotonic()
        why = ""
        working = loop.run_in_executor(None, running.run)
        stopping = asyncio.ensure_future((script.stop or asyncio.Event()).wait())
        watching = asyncio.ensure_future(watch(folder.bounds(script, self._settings, places)))
        awaited: set[asyncio.Future[Any]] = {working, stopping, watching}
        try:
            done, _ = await asyncio.wait(
                awaited, timeout=script.timeout, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            await to_the_end(asyncio.to_thread(running.end))
            with contextlib.suppress(JarvisError):
                await to_the_end(working)
            raise
        finally:
            stopping.cancel()
            watching.cancel()
        if working not in done:
            if stopping in done:
                why = STOPPED
            elif watching in done:
                why = watching.result()
            else:
                why = Words("it ran longer than {seconds} s", seconds=f"{script.timeout:g}")
            await in_thread(running.end)
        (code, out_of_memory), cancelled = await to_the_end(working)
        await asyncio.sleep(0)  # what was heard last
        if cancelled:
            raise asyncio.CancelledError
        if out_of_memory:
            most = f"{self._settings.memory // 1_000_000:,}"
            why = Words("it used more than {most} MB of memory", most=most)
        seconds = time.monotonic() - started
        return Ended(None if why else code, heard.text(), why, seconds)

    def connect(self) -> Any:
        """Return a client of the engine. Raises `JarvisError` when it does not answer."""
        return _connect(self._socket)

    def options(
        self, client: Any, folder: RunFolder, script: Script, places: Sequence[Workplace]
    ) -> dict[str, Any]:
        """Return the options that create the container."""
        from docker.types import LogConfig, Mount, Ulimit

        text = folder.script(script)
        variables = environment.variables(
            self._settings.environment,
            script.environment,
            isolation=self._kind,
            network=script.network,
        )
        mounts = [Mount(SCRIPT, str(text), type="bind", read_only=True)]
        for number, place in enumerate(places):
            source, kind = place.folder, "bind"
            if not place.is_copy:
                source, kind = self._volume(client, folder, number, place), "volume"
            mounts.append(Mount(place.root, source, type=kind))
        if not self._settings.image:
            mounts += self._programs(script)
        python = "python3" if self._settings.image else own_python()
        return {
            "image": self._settings.image or _image(client),
            "entrypoint": ["/bin/sh", "-c", _INIT, "sh"],
            "command": [
                python,
                "-I",
                "-S",
                "-c",
                _FILTER,
                filter_program().hex(),
                script.interpreter,
                SCRIPT,
            ],
            "user": f"{self._user}:{self._group}",
            "environment": variables,
            "working_dir": places[0].root,
            "network_mode": "bridge" if script.network else "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "read_only": True,
            "tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={self._settings.memory // 4}"},
            "mounts": mounts,
            "mem_limit": self._settings.memory,
            "memswap_limit": self._settings.memory,
            "pids_limit": self._settings.processes,
            "ulimits": [
                Ulimit(name="nofile", soft=4096, hard=4096),
                Ulimit(name="nproc", soft=_own_processes(), hard=_own_processes()),
                Ulimit(name="core", soft=0, hard=0),
                Ulimit(
                    name="fsize", soft=self._settings.file_bytes, hard=self._settings.file_bytes
                ),
            ],
            # It is heard as it comes: what the engine wrote down could fill the disk.
            "log_config": LogConfig(type=LogConfig.types.NONE),
            "oom_score_adj": 1000,
            "hostname": "sandbox",
            "stdin_open": True,
            "labels": {LABEL: str(folder.path)},
        }

    def _programs(self, script: Script) -> list[Any]:
        from docker.types import Mount

        mounts = [
            Mount(place, place, type="bind", read_only=True)
            for place, target in environment.system_folders()
            if not target
        ]
        for source, place in environment.readable(self._settings, script):
            if f"{place}/".startswith(tuple(f"{folder}/" for folder in environment.SYSTEM)):
                continue
            target = place.replace(f"{environment.HOME}/", f"{_HOME}/")
            mounts.append(Mount(target, source, type="bind", read_only=True))
        return mounts

    def _volume(self, client: Any, folder: RunFolder, number: int, place: Workplace) -> str:
        layers = f"lowerdir={place.root},upperdir={place.folder},workdir={place.work}"
        options = {
            "type": "overlay",
            "device": "overlay",
            "o": f"{layers},userxattr,index=off,metacopy=off",
        }
        name = f"{folder.path.name}-{number}"
        client.volumes.create(
            name, driver="local", driver_opts=options, labels={LABEL: str(folder.path)}
        )
        return name


def find_engines(home: Path, settings: SandboxSettings) -> list[Engine]:
    """Engines that answer here, each with overlays and without. Raises `JarvisError` saying why
    when there is none."""
    problems = []
    for socket in sockets():
        try:
            client = _connect(socket)
        except JarvisError as error:
            problems.append(str(error))
            continue
        try:
            names = json.dumps(client.version())
            clean(client)
        finally:
            client.close()
        kind = "podman" if "odman" in names else "docker"
        return [
            Engine(home, settings, socket=socket, kind=kind, overlay=overlay)
            for overlay in (True, False)
        ]
    raise JarvisError("; ".join(problems) or "no container engine answers on a local socket")


def sockets() -> list[str]:
    """Sockets of engines that are there."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.geteuid()}")
    named = os.environ.get("DOCKER_HOST", "")
    places = [named.removeprefix("unix://")] if named.startswith("unix://") else []
    places += [
        f"{runtime}/docker.sock",
        "/var/run/docker.sock",
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    ]
    return [place for place in dict.fromkeys(places) if os.path.exists(place)]  # noqa: PTH110


def own_python() -> str:
    """Our interpreter, which is among the programs bound into the empty image."""
    return f"{sys.base_prefix}/bin/python{sys.version_info[0]}.{sys.version_info[1]}"


def _own_processes() -> int:
    """Return a limit Podman may set without being allowed to raise limits; ours is `pids_limit`."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return _PROCESSES if hard == resource.RLIM_INFINITY else min(hard, _PROCESSES)


def clean(client: Any) -> None:
    """Remove containers and volumes of servers that are gone."""
    filters = {"label": LABEL}
    for container in client.api.containers(all=True, filters=filters):
        if not _is_used(container.get("Labels", {})):
            client.api.remove_container(container["Id"], force=True, v=True)
    for volume in client.api.volumes(filters=filters).get("Volumes") or []:
        if not _is_used(volume.get("Labels") or {}):
            with contextlib.suppress(Exception):
                client.api.remove_volume(volume["Name"], force=True)


def _is_used(labels: dict[str, str]) -> bool:
    """Return whether the run a container belongs to is under way: its folder is locked."""
    import fcntl

    try:
        with open(f"{labels.get(LABEL, '')}/lock", "rb") as lock:  # noqa: PTH123
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _connect(socket: str) -> Any:
    try:
        import docker
    except ImportError:
        raise JarvisError("the Python package docker is not installed") from None
    try:
        client = docker.DockerClient(base_url=f"unix://{socket}", timeout=TIMEOUT)
        client.ping()
    except docker.errors.DockerException as error:
        raise JarvisError(
            "the engine at {socket} does not answer: {why}", socket=socket, why=error
        ) from None
    return client


def _image(client: Any) -> str:
    """Return the empty image, made when it is missing."""
    import docker

    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name in ("proc", "sys", "dev", "run", "etc", "root", "home", "var"):
            _add(tar, name, tarfile.DIRTYPE, "")
        _add(tar, "tmp", tarfile.DIRTYPE, "", 0o1777)  # what is mounted there takes its mode
        _add(tar, "var/tmp", tarfile.SYMTYPE, "/tmp")
        for place, target in environment.system_folders():
            _add(tar, place.lstrip("/"), tarfile.SYMTYPE if target else tarfile.DIRTYPE, target)
    content = data.getvalue()
    repository, tag = f"localhost/{LABEL}", hashlib.sha256(content).hexdigest()[:12]
    name = f"{repository}:{tag}"
    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        said = client.api.import_image_from_data(content, repository=repository, tag=tag)
        made = json.loads(said.strip().splitlines()[-1])["status"]
        client.api.tag(made, repository, tag)  # Podman forgets the name it was given
    return name


def _add(tar: tarfile.TarFile, name: str, kind: bytes, target: str, mode: int = 0o755) -> None:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.mode = mode
    entry.linkname = target
    tar.addfile(entry)
