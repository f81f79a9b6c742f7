"""Bubblewrap: own namespaces, no rights, the programs of this machine read-only, and the
workspace as an overlay (or a copy, where no overlay is possible).

Never run as root: started by root, it continues as a user that owns nothing here. Folders are
bound one by one from a list; nothing else of this machine is there to be found.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.sandbox import environment
from jarvis_ls.runtime.sandbox.base import Output, Ran, Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.changed import all_changes, came_of
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, check_roots, has_other_owners
from jarvis_ls.runtime.sandbox.kept import bring
from jarvis_ls.runtime.sandbox.process import Ended, check_started, run_planned
from jarvis_ls.runtime.sandbox.seccomp import NETWORKED, SHARED, filter_program
from jarvis_ls.runtime.sandbox.waiting import in_thread
from jarvis_ls.runtime.sandbox.working import Needs, prepare_copies, working_folder

NOBODY = 65534
"""User a script runs as when we are root."""
SCRIPT = "/run/jarvis/script"

_SHARED_MEMORY = "/dev/shm"

_INIT = 'ulimit -p "$0" 2>/dev/null || ulimit -u "$0" || exit 126; "$@"; exit $?'
"""The first process inside: sets a limit, reaps orphans, and ends all when the script ends. That
of bubblewrap has no filter of system calls, and a script may trace (debuggers, leak checkers)."""


class Bubblewrap(Sandbox):
    """See the module."""

    name = "bwrap"

    def __init__(
        self, home: Path, settings: SandboxSettings, *, program: str, stage: bool, overlay: bool
    ) -> None:
        """`program` is bubblewrap; with `stage` mounts are prepared before it starts (needed
        for overlays and by root), with `overlay` workspaces are not copied."""
        super().__init__()
        self._home = home
        self._settings = settings
        self._program = program
        self._stage = stage
        self._overlay = overlay and stage
        self._user = NOBODY if os.geteuid() == 0 else None

    async def run(self, script: Script, roots: Sequence[Path], output: Output | None = None) -> Ran:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, script.session, self.name)
        async with working_folder(self._home, None, self.kept, needs) as folder:
            places = await in_thread(lambda: bring(self._places(folder, roots)), folder.stopped.set)
            ended = check_started(await self._start(folder, script, places, output))
            found = await in_thread(lambda: all_changes(places))
        copies = "copy" if any(place.is_copy for place in places) else "overlay"
        return came_of(ended, f"bwrap ({copies})", found)

    async def prepare(self, roots: Sequence[Path], session: str) -> None:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, session, self.name)
        await prepare_copies(
            self._home, None, self.kept, needs, lambda folder: self._places(folder, roots)
        )

    def _places(self, folder: RunFolder, roots: Sequence[Path]) -> list[Workplace]:
        uid, gid = os.geteuid(), os.getegid()
        places = []
        for number, root in enumerate(roots):
            if self._overlay and self._user is None and not has_other_owners(root, uid, gid):
                places.append(folder.overlay(number, root))
            else:
                places.append(folder.copy(number, root, self._settings, self._user))
        return places

    async def _start(
        self, folder: RunFolder, script: Script, places: Sequence[Workplace], output: Output | None
    ) -> Ended:
        text = folder.script(script)
        rules = folder.path / "seccomp"
        rules.write_bytes(filter_program(families=SHARED if script.network else NETWORKED))
        with rules.open("rb") as file:
            plan = self._plan(folder, script, text, places, file.fileno())
            bounds = folder.bounds(script, self._settings, places)
            return await run_planned("launch", plan, bounds, output, pass_fds=[file.fileno()])

    def _plan(
        self,
        folder: RunFolder,
        script: Script,
        text: Path,
        places: Sequence[Workplace],
        rules: int,
    ) -> dict[str, Any]:
        stage = ""
        if self._stage:
            stage = str(folder.path / "stage")
            Path(stage).mkdir()
        isolation = self.name
        variables = environment.variables(
            self._settings.environment,
            script.environment,
            isolation=isolation,
            network=script.network,
        )
        before = [
            "--unshare-all",
            "--unshare-user",
            "--die-with-parent",
            "--new-session",
            "--as-pid-1",
            "--hostname",
            "sandbox",
            "--cap-drop",
            "ALL",
            "--clearenv",
        ]
        if script.network:
            before.append("--share-net")
        for name, value in variables.items():
            before += ["--setenv", name, value]
        known = _options(self._program)
        if "--disable-userns" in known:
            before.append("--disable-userns")
        before += ["--proc", "/proc", "--dev", "/dev", "--dir", "/var/tmp"]
        mounts = self._mounts(script, places, str(text))
        if "--size" in known:
            limit = ["--size", str(self._settings.memory // 4)]
            before += [*limit, "--tmpfs", "/tmp", "--dir", environment.HOME]
            before += [*limit, "--tmpfs", _SHARED_MEMORY]
        else:
            mounts = [*self._on_disk(folder), *mounts]
        after = ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", places[0].root]
        if filter_program():
            after += ["--seccomp", str(rules)]
        after += [
            "--",
            "/bin/sh",
            "-c",
            _INIT,
            str(self._settings.processes),
            script.interpreter,
            SCRIPT,
        ]
        return {
            "parent": os.getpid(),
            "stage": stage,
            "user": self._user,
            "bwrap": self._program,
            "before": before,
            "mounts": mounts,
            "after": after,
            "limits": {
                "RLIMIT_CORE": 0,
                "RLIMIT_FSIZE": self._settings.file_bytes,
                "RLIMIT_NOFILE": 4096,
            },
        }

    def _on_disk(self, folder: RunFolder) -> list[list[Any]]:
        """Return mounts of folders that count as written, for `/tmp` and shared memory.

        Before 0.7 bubblewrap cannot bound a file system in memory: half of that of the machine
        could be filled.
        """
        temporary = folder.path / "tmp"
        files, shared = temporary / "files", temporary / "shared"
        home = files / Path(environment.HOME).relative_to("/tmp")
        for place in (home, shared):
            place.mkdir(parents=True)
        if self._user is not None:
            for place in (temporary, files, home, shared):
                os.chown(place, self._user, self._user)
        return [[str(files), "/tmp", "bind"], [str(shared), _SHARED_MEMORY, "bind"]]

    def _mounts(self, script: Script, places: Sequence[Workplace], text: str) -> list[list[Any]]:
        mounts: list[list[Any]] = []
        for place, target in environment.system_folders():
            mounts.append([target, place, "symlink"] if target else [place, place, "ro-bind"])
        for source, place in environment.readable(self._settings, script):
            if not f"{place}/".startswith(tuple(f"{path}/" for path in environment.SYSTEM)):
                mounts.append([source, place, "ro-bind"])
        for copy in places:
            layers = [copy.root, copy.folder, copy.work]
            mounts.append([copy.folder if copy.is_copy else layers, copy.root, "bind"])
        mounts.append([text, SCRIPT, "ro-bind"])
        return mounts


def find_program() -> str:
    """Find bubblewrap; empty when there is none.

    The system's own is preferred: on some systems it alone may create user namespaces.
    """
    if os.access("/usr/bin/bwrap", os.X_OK):
        return "/usr/bin/bwrap"
    return shutil.which("bwrap") or ""


def needs_stage() -> bool:
    """Return whether we are root: bubblewrap then runs as somebody who cannot reach our folders."""
    return os.geteuid() == 0


@functools.cache
def _options(program: str) -> frozenset[str]:
    """Options this version of bubblewrap knows."""
    try:
        shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise JarvisError(
            "The sandbox did not start: {program}: {why}", program=program, why=error.strerror
        ) from None
    words = (shown.stdout + shown.stderr).split()
    return frozenset(word for word in words if word.startswith("--"))
