"""The quick way of writing diagnostics gives what the general one gives."""

from __future__ import annotations

import json

from lsprotocol import types

from jarvis_ls.core.finding import Finding, Message, Related, Span
from jarvis_ls.lsp.convert import diagnostic_json, remarks, to_diagnostic
from jarvis_ls.lsp.findings import FileState
from jarvis_ls.lsp.pygls_fixes import strict
from jarvis_ls.lsp.user_messages import Messages

HERE = Span(2, 3, 2, 9)


def finding(**values: object) -> Finding:
    fields: dict[str, object] = {
        "rule": "r",
        "language": "c/cpp",
        "category": "unsafe_api",
        "pattern": "p",
        "cwe": (120, 787),
        "file": "a.c",
        "span": HERE,
        "evidence": "e",
        "message": Message("m 😀"),
        "suggestion": Message("s"),
        "confidence": 0.5,
        "severity": "medium",
        "fingerprint": "f",
        "related": (Related("b.c", HERE, Message("there")),),
    }
    return Finding(**{**fields, **values})  # type: ignore[arg-type]


def general(one: types.Diagnostic) -> object:
    return json.loads(json.dumps(strict.converter().unstructure(one)))


def test_both_ways_are_one():
    say = Messages()
    found = [
        finding(),
        finding(cwe=(), related=(), category="crypto", severity="high"),
        finding(trace=(Related("a.c", HERE, Message("step")),), severity="low"),
    ]
    for one in found:
        diagnostic = to_diagnostic(one, say, lambda file: f"file:///{file}")
        assert diagnostic_json(diagnostic) == general(diagnostic)
    state = FileState([], notes=["a note"], timed_out=True)
    for diagnostic in remarks(state, say):
        assert diagnostic_json(diagnostic) == general(diagnostic)


def test_a_related_place_that_cannot_be_found_is_left_out():
    diagnostic = to_diagnostic(finding(), Messages(), lambda _file: None)
    assert "relatedInformation" not in diagnostic_json(diagnostic)
