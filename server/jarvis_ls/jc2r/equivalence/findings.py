"""Undefined behaviour of the C that was seen on the way, in the record format of jsec's findings.

Only what does not hang on memory the harness made: there the length may just have been guessed
wrong. The inputs are generated, so a caller may rule them out; the confidence says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding, Message, Span, fingerprint

RULE = "undefined-behaviour-seen"
CONFIDENCE = 0.5
_MAX_BYTES = 64_000_000
_CWE = (("signed integer overflow", 190), ("shift", 1335), ("division by zero", 369),
        ("outside the range", 681), ("out of bounds", 125), ("stack-buffer", 121),
        ("global-buffer", 125), ("misaligned", 188))  # fmt: skip


def findings_of(root: Path, records: Sequence[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """A finding for each place, once, in order of file and line."""
    seen: dict[tuple[str, int, str], str] = {}
    for record in records:
        for one in record.get("undefined", ()):
            if not one["of_input"]:
                file = Path(one["file"]).relative_to(root).as_posix()
                seen.setdefault((file, one["line"], one["what"]), record["function"])
    found = []
    for number, ((file, line, what), function) in enumerate(sorted(seen.items()), 1):
        found.append(_finding(root, file, line, what, function).with_gid(number).to_json())
    return found


def _finding(root: Path, file: str, line: int, what: str, function: str) -> Finding:
    lines = read_regular(root / file, limit=_MAX_BYTES).decode("utf-8", "replace").split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    start = len(text) - len(text.lstrip()) + 1
    cwe = next((number for words, number in _CWE if words in what), 758)
    return Finding(
        rule=RULE, language="c/cpp", category="undefined_behaviour", pattern=what, cwe=(cwe, 758),
        file=file, span=Span(line, start, line, len(text.rstrip()) + 1),
        evidence=text.strip()[:200],
        message=Message("{what}, when {function} is called with generated arguments",
                        (("what", what), ("function", function))),
        suggestion=Message("Check the arguments before this line, or say in a comment which"
                           " values callers may pass."),
        confidence=CONFIDENCE, severity="medium",
        fingerprint=fingerprint(RULE, file, text, 1),
    )  # fmt: skip
