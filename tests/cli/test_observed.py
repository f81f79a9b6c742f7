"""What `jc2r verify` saw of the C, told by `jsec scan`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import issues, jsec, write
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.findings.sanitizer_findings import Observed, match_observed

CODE = re.compile(r"^\s*(/\* é \*/ )?x;")
RULE = "undefined-behaviour-seen"
TEXT = "int twice(int x)\n{\n    return x + x;\n}\n"
RECORD = {
    "file": "a.c",
    "line": 3,
    "evidence": "return x + x;",
    "function": "twice",
    "pattern": "signed integer overflow",
    "cwe": [190, 758],
    "confidence": 0.5,
}


def project(root: Path, text: str, *records: object) -> Path:
    lines = "".join(json.dumps(one) + "\n" for one in records)
    return write(root, {"a.c": text, ".jarvis/c2rust/undefined.jsonl": lines})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, 3),
        ("/* moved */\n\n" + TEXT, 5),
        (TEXT.replace("x + x", "x"), 0),
    ],
)
def test_it_is_told_where_the_line_is_by_now(tmp_path: Path, text: str, line: int) -> None:
    root = project(tmp_path / "p", text, RECORD)
    told = [one for one in issues("--no-flow", cwd=root) if one["rule"] == RULE]
    assert [one["line"] for one in told] == ([line] if line else [])
    for one in told:
        assert one["cwe"] == [190, 758] and one["column"] == 5 and "twice" in one["description"]


def test_every_report_tells_it_and_a_new_run_is_seen(tmp_path: Path) -> None:
    root = project(tmp_path / "p", TEXT)
    assert not issues("--no-flow", cwd=root)
    project(root, TEXT, RECORD)  # the answers of the scan before are kept
    said = jsec("scan", "--no-flow", "--fail-on", "medium", cwd=root, status=1).stdout
    assert "a.c:3" in said and "signed integer overflow" in said
    report = json.loads(jsec("scan", "--no-flow", "--format", "sarif", cwd=root).stdout)
    result = report["runs"][0]["results"][0]
    assert result["ruleId"] == RULE
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert "sanitizer" in report["runs"][0]["tool"]["driver"]["rules"][0]["help"]["text"]
    assert "generated" in jsec("explain", RULE, cwd=root).stdout
    write(root, {"a.c": TEXT.replace(";", "; // jsec-ignore: " + RULE + " x is small", 1)})
    assert not issues("--no-flow", cwd=root)


def test_records_that_are_not_ours_are_left_out(tmp_path: Path) -> None:
    wrong = [
        3,
        {},
        {**RECORD, "cwe": "190"},
        {**RECORD, "line": None},
        {**RECORD, "file": ""},
        {**RECORD, "confidence": 7},
        {**RECORD, "file": "../a.c"},
    ]
    root = project(tmp_path / "p", TEXT, *wrong, RECORD)
    assert len(issues("--no-flow", cwd=root)) == 1


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(["x;", "  x; // é", "y;", "é = x;", "", "/* x; */", "/* é */ x;"]),
        max_size=8,
    ),
    st.integers(),
)
def test_it_is_told_only_at_a_line_with_its_words(lines: list[str], line: int) -> None:
    seen = Observed("a.c", line, "x;", "overflow", "f", (190,), 0.5)
    found = match_observed(Source("a.c", "\n".join(lines).encode()), "c", [seen])
    assert bool(found) == any(CODE.search(text) for text in lines)
    for one in found:
        text = lines[one.span.line - 1]
        assert text[one.span.column - 1 : one.span.end_column - 1] == "x;" and CODE.search(text)
