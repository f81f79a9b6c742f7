"""Landlock: for Linux where no one may make namespaces. The workspace is copied; only the copy
and a folder for temporary files can be written, only programs and the copy can be read.

Weaker than namespaces, and said so: other processes of the machine can be seen (not touched),
absolute paths into the workspace lead to nothing that can be opened, and no owner or attribute of
a file can be changed, because Landlock does not tell inside from outside there. Modes and times of
what is inside are changed by a supervisor (`metadata`); where the kernel has none, nothing that is
compiled can be run, and the proof of the rung says so.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.sandbox import environment
from jarvis_ls.runtime.sandbox.base import Output, Ran, Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.bwrap import NOBODY
from jarvis_ls.runtime.sandbox.changed import all_changes, came_of
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, check_roots
from jarvis_ls.runtime.sandbox.process import Ended, check_started, run_planned
from jarvis_ls.runtime.sandbox.seccomp import filter_program, seccomp_call, supervised_calls
from jarvis_ls.runtime.sandbox.waiting import in_thread
from jarvis_ls.runtime.sandbox.working import Needs, prepare_copies, working_folder

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_INTERNET = (2, 10)


class Landlock(Sandbox):
    """See the module."""

    name = "landlock"

    def __init__(self, home: Path, settings: SandboxSettings) -> None:
        super().__init__()
        self._settings = settings
        self._user = NOBODY if os.geteuid() == 0 else None
        # A user without rights must be able to reach it.
        self._home = home if self._user is None else Path(tempfile.gettempdir(), "jarvis-0")

    async def run(self, script: Script, roots: Sequence[Path], output: Output | None = None) -> Ran:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, script.session, self.name)
        async with working_folder(self._home, self._user, self.kept, needs) as folder:
            places = await in_thread(lambda: self._places(folder, roots), folder.stopped.set)
            ended = check_started(await self._start(folder, script, places, output))
            found = await in_thread(lambda: all_changes(places))
        return came_of(ended, "landlock (copy)", found)

    async def prepare(self, roots: Sequence[Path], session: str) -> None:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, session, self.name)
        await prepare_copies(
            self._home, self._user, self.kept, needs, lambda folder: self._places(folder, roots)
        )

    def _places(self, folder: RunFolder, roots: Sequence[Path]) -> list[Workplace]:
        return [folder.copy(n, root, self._settings, self._user) for n, root in enumerate(roots)]

    async def _start(
        self, folder: RunFolder, script: Script, places: Sequence[Workplace], output: Output | None
    ) -> Ended:
        text = folder.script(script)
        temporary = folder.path / "tmp"
        home = temporary / "home"
        home.mkdir(parents=True)
        if self._user is not None:
            for private in (temporary, home):
                os.chown(private, self._user, self._user)
        self._link(script, home)
        plan = self._plan(script, places, text, temporary)
        bounds = folder.bounds(script, self._settings, places)
        return await run_planned("confine", plan, bounds, output, grace=True)

    def _link(self, script: Script, home: Path) -> None:
        """Put links where other rungs show something in the home folder, such as the crates that
        are there already: nothing can be bound here."""
        for source, place in environment.readable(self._settings, script):
            inside = Path(place)
            if inside.is_relative_to(environment.HOME):
                link = home / inside.relative_to(environment.HOME)
                link.parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(link):
                    link.symlink_to(source)
                if self._user is not None:
                    os.chown(link.parent, self._user, self._user)

    def _plan(
        self, script: Script, places: Sequence[Workplace], text: Path, temporary: Path
    ) -> dict[str, Any]:
        variables = environment.variables(
            self._settings.environment,
            script.environment,
            isolation=self.name,
            network=script.network,
        )
        variables |= {"HOME": str(temporary / "home"), "TMPDIR": str(temporary)}
        readable = [place for place, _ in environment.system_folders()]
        readable += [source for source, _ in environment.readable(self._settings, script)]
        families = _INTERNET if script.network else ()
        return {
            "parent": os.getpid(),
            "user": self._user,
            "folder": places[0].folder,
            "command": [script.interpreter, str(text)],
            "environment": variables,
            "network": script.network,
            "readable": [*readable, str(text), "/proc"],
            "writable": [str(temporary), *(place.folder for place in places)],
            "devices": _DEVICES,
            "supervised": supervised_calls(),
            "seccomp": seccomp_call(),
            "filter": filter_program(families=families, metadata="supervised", ipc=False).hex(),
            "strict": filter_program(families=families, metadata="refused", ipc=False).hex(),
            "limits": {
                "RLIMIT_CORE": 0,
                "RLIMIT_FSIZE": self._settings.file_bytes,
                "RLIMIT_NOFILE": 4096,
                "RLIMIT_NPROC": self._settings.processes,
            },
        }


def missing() -> str:
    """Return why Landlock is not available, in words; empty when it is."""
    if not filter_program():
        return f"no filter of system calls is known for {os.uname().machine}"
    version = ctypes.CDLL(None, use_errno=True).syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return "this kernel has no Landlock, or it is switched off"
    return "" if version >= 3 else "this kernel's Landlock is too old (Linux 6.2 is needed)"
