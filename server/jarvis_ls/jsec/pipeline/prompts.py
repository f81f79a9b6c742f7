"""What the agents of the pipeline read: a text file for each role, filled with candidates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import filled
from jarvis_ls.jsec.pipeline.agent_port import Role
from jarvis_ls.runtime.base.prompt_files import read_prompt

_LONGEST = 400
"""Characters of a message or a line that are told."""


def fill_prompt(role: Role, notes: str, **places: str) -> str:
    """Return the prompt of a role. `notes` are the user's own words, for all agents."""
    told = f"\nAdditional notes of the user:\n{notes.strip()}" if notes.strip() else ""
    text = read_prompt("jarvis_ls.jsec.pipeline", role.value)
    text = filled(text, {**places, "notes": told}).strip()
    return text.encode("utf-8", "backslashreplace").decode()  # names of files may be no text


def candidates_in_words(findings: Iterable[Finding]) -> str:
    """Return candidates, one a line as JSON, so that no text of theirs ends its own quotes."""
    return json_lines(
        {
            "gid": finding.gid,
            "category": finding.category,
            "pattern": finding.pattern,
            "rule": finding.rule,
            "cwe": finding.cwe[0] if finding.cwe else None,
            "file": finding.file,
            "line": finding.span.line,
            "evidence": finding.evidence[:_LONGEST],
            "description": str(finding.message)[:_LONGEST],
            "confidence": finding.confidence,
            "severity": finding.severity,
            **({"proof": finding.proof.verdict} if finding.proof else {}),
        }
        for finding in findings
    )


def json_lines(records: Iterable[dict[str, Any]]) -> str:
    """Return records one a line; nothing in them can close the tag around them."""
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    return "\n".join(line.replace("<", "\\u003c") for line in lines)


def batches(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return items in parts of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]
