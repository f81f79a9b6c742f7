"""JSON for programs: one object, or one finding a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.store import line_of
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.scan.result import ScanResult


def render_json(result: ScanResult, findings: Sequence[Finding]) -> str:
    """`{"summary": …, "issues": […]}` with the gravest finding first."""
    head: dict[str, Any] = {"summary": summary_of(result, findings)}
    if result.gaps is not None:
        head["gaps"] = [gap.to_json() for gap in result.gaps]
    return one_a_line(head, "issues", (finding.to_json() for finding in findings)) + "\n"


def one_a_line(head: Mapping[str, Any], name: str, items: Iterable[Any]) -> str:
    """Return an object with the members of `head`, of which there is one at least, and `name` with
    the items, each on a line of its own: Python's encoder is several times slower where it indents.
    """
    return written_one_a_line(head, name, map(json.dumps, items))


def written_one_a_line(head: Mapping[str, Any], name: str, texts: Iterable[str]) -> str:
    """Return what `one_a_line` does, of items that are JSON already."""
    before = json.dumps(head, indent=2).removesuffix("\n}")
    lines = ",".join("\n    " + text for text in texts)
    return f'{before},\n  "{name}": [{lines}\n  ]\n}}'


def render_jsonl(_result: ScanResult, findings: Sequence[Finding]) -> str:
    """One finding a line."""
    return b"".join(line_of(finding.to_json()) for finding in findings).decode()
