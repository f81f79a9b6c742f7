"""Undefined behaviour of the C that was seen on the way, for `jsec`, which tells of it.

Only what does not hang on memory the harness made: there the length may just have been guessed
wrong. The inputs are generated, so a caller may rule them out; the confidence says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import read_regular

UNDEFINED = "undefined.jsonl"
"""Where they are kept below `.jarvis/c2rust`."""
CONFIDENCE = 0.5
_MAX_BYTES = 64_000_000
_CWE = (
    ("signed integer overflow", 190),
    ("shift", 1335),
    ("division by zero", 369),
    ("outside the range", 681),
    ("out of bounds", 125),
    ("stack-buffer", 121),
    ("global-buffer", 125),
    ("misaligned", 188),
)
_OTHER = 758
"""Undefined behaviour of any kind."""


def findings_of(root: Path, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a record for each place of the results `records` of functions, once, in order of file
    and line: file, line, its text, what is undefined there, and which function was called.
    """
    seen: dict[tuple[str, int, str], str] = {}
    for record in records:
        for fault in record.get("undefined", ()):
            if not fault["of_input"]:
                file = Path(fault["file"]).relative_to(root).as_posix()
                seen.setdefault((file, fault["line"], fault["what"]), record["function"])
    texts = {file: _lines(root / file) for file, _, _ in seen}
    return [
        {
            "file": file,
            "line": line,
            "pattern": what,
            "function": function,
            "evidence": texts[file][line - 1].strip()[:200] if line <= len(texts[file]) else "",
            "cwe": [next((number for words, number in _CWE if words in what), _OTHER), _OTHER],
            "confidence": CONFIDENCE,
        }
        for (file, line, what), function in sorted(seen.items())
    ]


def _lines(path: Path) -> list[str]:
    return read_regular(path, limit=_MAX_BYTES).decode("utf-8", "replace").split("\n")
