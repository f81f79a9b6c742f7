"""Contracts of import-linter of our own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from importlinter import Contract, ContractCheck, output
from importlinter.application.contract_utils import ImportGraph
from importlinter.domain import fields


class ShortModules(Contract):
    """No module of these packages has more than `most` lines: what only translates stays short."""

    packages = fields.ListField(subfield=fields.StringField())
    most = fields.IntegerField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """See `Contract`."""
        long = {}
        for package in self.packages:
            for module in sorted({package} | graph.find_descendants(package)):
                spec = importlib.util.find_spec(module)
                assert spec is not None and spec.origin is not None, module
                lines = len(Path(spec.origin).read_text(encoding="utf-8").splitlines())
                if lines > self.most:
                    long[module] = lines
        return ContractCheck(kept=not long, metadata={"long": long})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """See `Contract`."""
        for module, lines in check.metadata["long"].items():
            output.print_error(f"{module} has {lines} lines, at most {self.most} are allowed.")
