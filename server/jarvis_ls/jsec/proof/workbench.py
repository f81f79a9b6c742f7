"""The copy of a workspace in which its code is built and run.

Every script begins with a fresh copy: what one run leaves cannot change the next. Files that a rung
brings along (a harness, inputs) are put into a folder of their own beside the copy, `$BENCH`.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.runtime.sandbox.base import Script
from jarvis_ls.runtime.sandbox.ladder import Ladder

INTERPOSERS = Path(__file__).with_name("interposers.c")
WALL = 6.0
"""Seconds by the clock for a CPU second: the machine has other things to do."""
_LEAST_SECONDS = 2.0
_LARGEST_SOURCE = 8_000_000
_GUARD = Path(__file__).with_name("guard.sh")
_COST = re.compile(r"\n\x1ecost (\d+) (\w+)\s*$")


@dataclass(frozen=True, slots=True)
class Output:
    """What a script has printed."""

    text: str
    """Standard output and errors."""
    seconds: float
    """CPU seconds of all its processes; when the clock ended it, what it may have taken."""
    ended: str
    """Why it was ended before it was done; empty otherwise."""
    over: bool = False
    """Whether it was ended because the budget was spent."""
    made: tuple[tuple[str, bytes], ...] = ()
    """Names and contents of the files that it has left in `$BENCH`."""


class Workbench:
    """Runs scripts on copies of one workspace."""

    def __init__(
        self,
        root: Path,
        sandbox: Ladder,
        tools: Toolchain,
        changed: Mapping[str, bytes] | None = None,
    ) -> None:
        """`root` is the real path of a workspace that the user trusts; `changed` has texts that
        stand in for files in the copy."""
        self.root = root
        self._changed = dict(changed or {})
        self.tools = tools
        self.sandbox = sandbox
        self._sources: dict[str, Source | None] = {}
        self._kept: list[object] = []
        self.results: dict[object, object] = {}
        """What rungs keep for the next finding, by a key that has their name in it."""

    def with_change(self, file: str, data: bytes) -> Workbench:
        """Return a workbench in whose copies a file has another text."""
        return Workbench(self.root, self.sandbox, self.tools, {**self._changed, file: data})

    def add(self, files: Mapping[str, bytes]) -> None:
        """Put files into all copies from now on."""
        self._changed.update(files)

    def keep(self, owned: object) -> None:
        """Keep something for as long as this is there."""
        self._kept.append(owned)

    async def run(
        self, script: str, budget: Budget, files: Mapping[str, bytes] | None = None
    ) -> Output:
        """Run a `bash` script in the copy, with `files` in `$BENCH`, and count what it took.

        When the budget is spent all of it is ended, whatever it is at. The names of files have no
        folder. Raises `NoSandbox` when no sandbox holds, and `JarvisError` when the copy cannot be
        made.
        """
        seconds = max(_LEAST_SECONDS, budget.left * WALL)
        with tempfile.TemporaryDirectory(prefix="jsec-proof-") as name:
            bench = Path(name).resolve()
            bench.chmod(0o755)
            (bench / INTERPOSERS.name).write_bytes(INTERPOSERS.read_bytes())
            for file, data in (files or {}).items():
                (bench / file).write_bytes(data)
            change = ""
            for number, (file, data) in enumerate(self._changed.items()):
                (bench / f"changed{number}").write_bytes(data)
                place = shlex.quote(f"./{file}")
                change += f'mkdir -p "$(dirname {place})"\n' if "/" in file else ""
                change += f'cat "$BENCH/changed{number}" >{place} || exit 1\n'
            (bench / "script").write_text(change + script, errors="surrogateescape")
            limit = max(1, round(100 * budget.left))
            sandbox = await self.sandbox.best(trusted=True)
            ran = await sandbox.run(
                Script(
                    "bash",
                    f"BENCH={bench}\nexport BENCH\nLIMIT={limit}\n{_GUARD.read_text()}",
                    seconds,
                    environment={"LC_ALL": "C"},
                    stop=budget.stop,
                ),
                [self.root, bench],
            )
        made = tuple(
            (change.path, change.after.data)
            for change in ran.changes
            if change.root == 1 and change.after is not None
        )
        cost = _COST.search(ran.output)
        if cost is None:
            took = min(ran.seconds, budget.left)  # on a busy machine most of the time was waiting
            budget.spend(took)
            return Output(ran.output, took, ran.ended, made=made)
        took, left, over = int(cost[1]) / 100, budget.left, cost[2] == "over"
        budget.spend(took)
        why = ran.ended
        if over:
            why = Words(
                "the {seconds} CPU seconds that were left of its budget were not enough",
                seconds=f"{left:.0f}",
            )
        return Output(ran.output[: cost.start()], took, why, over, made)

    def source(self, file: str) -> Source | None:
        """Return the text of a file of the workspace; None when it cannot be read."""
        if file in self._changed:
            return decode(file, self._changed[file])
        if file not in self._sources:
            try:
                data = read_regular(self.root / file, limit=_LARGEST_SOURCE, root=self.root)
                self._sources[file] = decode(file, data)
            except SkippedFile:
                self._sources[file] = None
        return self._sources[file]

    def source_of(self, finding: Finding) -> Source | None:
        """Return the text that a finding is in."""
        return self.source(finding.file)
