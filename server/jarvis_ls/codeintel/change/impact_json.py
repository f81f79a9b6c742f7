"""An impact report as JSON data, for other programs; the field names are kept."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel.change.impact import FindingChange, ImpactReport
from jarvis_ls.codeintel.change.symbol_changes import SymbolChange
from jarvis_ls.codeintel.graph.callers import Caller

FORMAT = 1
"""Version of the format; it grows when a field changes its meaning."""


def impact_to_json(report: ImpactReport) -> dict[str, Any]:
    """Return the report as plain data."""
    return {
        "version": FORMAT,
        "files": list(report.files),
        "risk": report.risk.name.lower(),
        "reasons": [str.__str__(reason) for reason in report.reasons],
        "advice": [str.__str__(advice) for advice in report.advice],
        "symbols": [_symbol(change) for change in report.changes],
        "callers": [caller_to_json(caller) for caller in report.callers],
        "dependents": [{"path": path, "depth": depth} for path, depth in report.dependents],
        "tests": [
            {"path": test.path, "name": test.name, "depth": test.depth} for test in report.tests
        ],
        "findings": None
        if report.findings is None
        else {
            "new": [_finding(finding) for finding in report.findings.new],
            "gone": [_finding(finding) for finding in report.findings.gone],
        },
        "complete": report.is_whole,
    }


def caller_to_json(caller: Caller) -> dict[str, Any]:
    """Return a caller as plain data."""
    return {
        "path": caller.path,
        "name": caller.name,
        "line": caller.line,
        "depth": caller.depth,
        "via": caller.via,
        "certain": caller.is_certain,
    }


def _symbol(change: SymbolChange) -> dict[str, Any]:
    definition = change.definition
    return {
        "path": change.path,
        "name": definition.qualified,
        "kind": definition.kind.name.lower(),
        "line": definition.line,
        "change": change.change.value,
        "exported": definition.is_exported,
        "test": definition.is_test,
        "signature": definition.signature,
        "signature_before": change.before,
        "moved_from": change.moved_from,
    }


def _finding(finding: FindingChange) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "path": finding.path,
        "line": finding.line,
        "severity": finding.severity,
        "message": finding.message,
    }
