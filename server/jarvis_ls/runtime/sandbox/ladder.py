"""The ladder: the best sandbox of this machine that has proven its claims, else none.

A rung that cannot be built, or that a probe got out of, is passed over with its reason. A proof
holds for one boot of one kernel, one user, one version of the programs; a cheap look is taken
even then. Nothing is ever run on less than was promised.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, write_error
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.sandbox.base import NoSandbox, Rung, Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.proof import Trap, identity, prove

logger = logging.getLogger(__name__)

_FILE = "proofs.json"
_LARGEST = 100_000
_CHECK_SECONDS = 20.0
_CHECK = 'cat "$0" >/dev/null; echo x >> {0}/victim; echo x > {0}/late; cat {0}/secret; echo done'


class Ladder:
    """Finds the sandbox to use."""

    def __init__(self, home: Path, settings: SandboxSettings | None = None) -> None:
        """`home` is the user's own folder."""
        self._home = home
        self.settings = settings or SandboxSettings()
        self._best: Sandbox | None = None
        self._plain: Sandbox | None = None
        self._finding = asyncio.Lock()
        self._preparing: dict[str, asyncio.Task[None]] = {}
        self.rejected: dict[Rung, str] = {}
        """Why rungs are not used, in words."""

    async def best(self, *, trusted: bool = False, session: str = "") -> Sandbox:
        """Return the best rung that holds, for a script of a session when what was begun to be
        prepared for that is ready.

        Raises `NoSandbox` when none does. Running without isolation is possible only when the
        user's settings say so and the workspace is `trusted`.
        """
        if sys.platform != "linux":
            raise NoSandbox("Scripts are run on Linux only so far: no sandbox is known for here.")
        if self.settings.isolation == "none" and trusted:
            from jarvis_ls.runtime.sandbox.plain import Plain

            if self._plain is None:
                self._plain = Plain(self._home, self.settings)
            return self._plain
        if (task := self._preparing.get(session)) is not None:
            await asyncio.wait({task})
        async with self._finding:
            if self._best is None:
                self._best = await self._find()
            return self._best

    def expected(self) -> str:
        """Return the name of the rung that scripts will run on, as far as it is known without
        trying, and what cannot be done there; empty when it is not known.
        """
        if self.settings.isolation == "none":
            return "none"
        if self._best is not None:
            return _describe(self._best.name, self._best.builds)
        proven = self._proofs()
        found = next((rung for rung in self.settings.rungs if rung in proven), "")
        proof = proven.get(found)
        return _describe(found, not isinstance(proof, list) or proof[-1] is not False)

    def prepare(self, roots: Sequence[Path], session: str, *, trusted: bool) -> None:
        """Begin to find the best rung and to make the copies that a session's first script needs,
        so that it has not to wait for them. What fails is told when a script needs it."""
        if session in self._preparing or not roots:
            return
        task = asyncio.create_task(self._prepare(roots, session, trusted=trusted))
        self._preparing[session] = task

    async def _prepare(self, roots: Sequence[Path], session: str, *, trusted: bool) -> None:
        try:
            sandbox = await self.best(trusted=trusted)
            await sandbox.prepare(roots, session)
        except JarvisError as error:
            logger.info("no copy was prepared for the scripts of %s: %s", session, error)
        except Exception:  # a fault of ours must not be silent, and scripts can be run all the same
            logger.exception("the preparation for the scripts of %s failed", session)

    async def end_preparation(self, session: str) -> None:
        """End what was begun to be prepared for a session; when this returns nothing of it runs."""
        if (task := self._preparing.pop(session, None)) is not None:
            task.cancel()
            await asyncio.wait({task})

    def forget(self, session: str) -> None:
        """Let go of what is kept for a session that was closed."""
        for sandbox in (self._best, self._plain):
            if sandbox is not None:
                sandbox.kept.forget(session)

    async def _find(self) -> Sandbox:
        self.rejected.clear()
        for rung in self.settings.rungs:
            for sandbox, program in await asyncio.to_thread(self._candidates, rung):
                reason = await self._problem(sandbox, program)
                if not reason:
                    return sandbox
                self.rejected[rung] = reason
        said = together([f"{rung}: {reason}" for rung, reason in self.rejected.items()], "; ")
        raise NoSandbox(
            "No sandbox holds on this machine, so no script is run. {said}. "
            "Installing bubblewrap, or a container engine that runs, usually helps. "
            'Or choose to run scripts without isolation: isolation = "none" in [sandbox] of your '
            "own config.toml, for workspaces that you trust.",
            said=said or Words("None is allowed by the settings"),
        )

    async def _problem(self, sandbox: Sandbox, program: str) -> str:
        """Return why a sandbox may not be used; empty when it may."""
        made = {name: value for name, value in vars(sandbox).items() if name != "kept"}
        about = [*identity(program), repr(self.settings), repr(made)]
        known = await asyncio.to_thread(self._proofs)
        for builds in (True, False):
            if known.get(sandbox.name) == [*about, builds] and await _still_holds(sandbox):
                sandbox.builds = builds
                return ""
        proof = await prove(sandbox)
        if proof.holds:
            kept = {**known, sandbox.name: [*about, proof.builds]}
            await asyncio.to_thread(self._remember, kept)
            sandbox.builds = proof.builds
        return proof.reason

    def _candidates(self, rung: Rung) -> list[tuple[Sandbox, str]]:
        """Sandboxes of a rung, best first, each with the program it is on."""
        make: dict[str, Callable[[], list[tuple[Sandbox, str]]]] = {
            "engine": self._engines,
            "bwrap": self._bubblewraps,
            "landlock": self._landlocks,
        }
        return make[rung]() if rung in make else []

    def _engines(self) -> list[tuple[Sandbox, str]]:
        from jarvis_ls.runtime.sandbox.engine import find_engines

        try:
            found = find_engines(self._home, self.settings)
        except JarvisError as error:
            self.rejected["engine"] = str(error)
            return []
        return [(engine, engine.identity) for engine in found]

    def _bubblewraps(self) -> list[tuple[Sandbox, str]]:
        from jarvis_ls.runtime.sandbox.bwrap import Bubblewrap, find_program, needs_stage

        program = find_program()
        if not program:
            self.rejected["bwrap"] = "bubblewrap is not installed"
            return []
        staged = Bubblewrap(self._home, self.settings, program=program, stage=True, overlay=True)
        if needs_stage():
            return [(staged, program)]
        plain = Bubblewrap(self._home, self.settings, program=program, stage=False, overlay=False)
        return [(staged, program), (plain, program)]

    def _landlocks(self) -> list[tuple[Sandbox, str]]:
        from jarvis_ls.runtime.sandbox.landlock import Landlock, missing

        if reason := missing():
            self.rejected["landlock"] = reason
            return []
        return [(Landlock(self._home, self.settings), "")]

    def _proofs(self) -> dict[str, object]:
        try:
            found = json.loads(read_regular(self._home / "sandbox" / _FILE, limit=_LARGEST))
        except (SkippedFile, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _remember(self, proofs: dict[str, object]) -> None:
        place = self._home / "sandbox" / _FILE
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(place, error) from None
        replace_file(place, json.dumps(proofs).encode())


def _describe(rung: str, builds: bool) -> str:
    return rung if builds else f"{rung} (nothing that is compiled there can be run there)"


async def _still_holds(sandbox: Sandbox) -> bool:
    """Return a cheap look: the sandbox starts, and neither writes nor reads outside."""
    with Trap(0) as trap:
        script = Script("sh", _CHECK.format(trap.outside), _CHECK_SECONDS)
        try:
            ran = await sandbox.run(script, [trap.workspace])
        except JarvisError:
            return False
        return (
            ran.output.rstrip().endswith("done")
            and not trap.sprung()
            and (not trap.has_secret(ran.output))
        )
