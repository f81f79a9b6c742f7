"""The workspace as a patch would make it: every script begins by putting the new texts into its
copy, at the same paths as the user's, so that compilation databases hold."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.workbench import Output, Workbench
from jarvis_ls.jsec.repair.patch import Patch


class PatchedBench(Workbench):
    """Runs scripts on copies of a workspace that a patch has changed."""

    def __init__(self, bench: Workbench, patch: Patch) -> None:
        super().__init__(bench.root, bench.sandbox, bench.tools)
        self._original = bench
        self._patch = patch

    async def run(
        self, script: str, budget: Budget, files: Mapping[str, bytes] | None = None
    ) -> Output:
        """See `Workbench`."""
        changed = {
            f"patched{number}": change.raw_after
            for number, change in enumerate(self._patch.changes)
        }
        lines = [
            f'cat "$BENCH/patched{number}" >{shlex.quote(f"./{change.path}")} || exit 1'
            for number, change in enumerate(self._patch.changes)
        ]
        return await super().run("\n".join([*lines, script]), budget, {**(files or {}), **changed})

    def source(self, file: str) -> Source | None:
        """See `Workbench`: the text afterwards."""
        return self._patch.source(file) or self._original.source(file)
