"""What a rung of the ladder is."""

from __future__ import annotations

from typing import Protocol

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench


class Rung(Protocol):
    """One way to find evidence."""

    name: str
    """Such as `whole-program`; the name is part of records."""

    def missing(self, tools: Toolchain) -> str:
        """Return why this machine cannot do it, in `Words`; empty when it can."""

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """Return what it could show of a finding; None when it has nothing to say of its kind.

        Raises `JarvisError` when nothing can be run at all, such as `NoSandbox`.
        """
