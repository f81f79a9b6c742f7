"""No isolation at all: a script runs as the user, on a copy of the workspace.

Only for those who have chosen it in their own settings, in a workspace they trust; every result
says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.sandbox import environment
from jarvis_ls.runtime.sandbox.base import Output, Ran, Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.changed import all_changes, came_of
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, check_roots
from jarvis_ls.runtime.sandbox.process import run_planned
from jarvis_ls.runtime.sandbox.waiting import in_thread
from jarvis_ls.runtime.sandbox.working import Needs, prepare_copies, working_folder

WARNING = Words(
    "Warning: this ran WITHOUT isolation, as your settings say. It could reach your files,"
    " your network and your keys."
)


class Plain(Sandbox):
    """See the module."""

    name = "none"

    def __init__(self, home: Path, settings: SandboxSettings) -> None:
        super().__init__()
        self._home = home
        self._settings = settings

    async def run(self, script: Script, roots: Sequence[Path], output: Output | None = None) -> Ran:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, script.session, self.name)
        async with working_folder(self._home, None, self.kept, needs) as folder:
            places = await in_thread(lambda: self._places(folder, roots), folder.stopped.set)
            text = folder.path / "script"
            text.write_text(script.text, encoding="utf-8", errors="surrogateescape")
            temporary = folder.path / "tmp"
            temporary.mkdir()
            variables = environment.variables(
                self._settings.environment,
                script.environment,
                isolation=self.name,
                network=True,
            )
            variables |= {"HOME": str(Path.home()), "TMPDIR": str(temporary)}
            plan = {
                "parent": os.getpid(),
                "user": None,
                "folder": places[0].folder,
                "command": [script.interpreter, str(text)],
                "environment": variables,
                "limits": {"RLIMIT_CORE": 0},
                "confined": False,
            }
            bounds = folder.bounds(script, self._settings, places)
            ended = await run_planned("confine", plan, bounds, output, grace=True)
            found = await in_thread(lambda: all_changes(places))
        ran = came_of(ended, "none (copy)", found)
        return replace(ran, left_out=(WARNING, *ran.left_out))

    async def prepare(self, roots: Sequence[Path], session: str) -> None:
        """See `Sandbox`."""
        check_roots(roots, self._home)
        needs = Needs(roots, session, self.name)
        await prepare_copies(
            self._home, None, self.kept, needs, lambda folder: self._places(folder, roots)
        )

    def _places(self, folder: RunFolder, roots: Sequence[Path]) -> list[Workplace]:
        return [folder.copy(n, root, self._settings) for n, root in enumerate(roots)]
