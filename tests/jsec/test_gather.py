"""What a file gives cause for throughout is told once, what happens now and then each time."""

from __future__ import annotations

import json
from pathlib import Path

from jarvis_ls.cli import jsec
from jarvis_ls.jsec.findings.merge_repeats import SLIPS

RULE = "unsafe-without-safety-comment"


def reader(number: int, note: str = "") -> str:
    return f"pub fn f{number}(p: &u8) -> u8 {{\n    unsafe {{ *(p as *const u8) }}{note}\n}}\n"


ALL = ["--min-confidence", "0"]


def told(folder: Path, text: str, capsys) -> list[dict]:
    (folder / "a.rs").write_text(text)
    assert jsec.main(["scan", str(folder), "--format", "jsonl", *ALL]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [one for one in found if one["rule"] == RULE and not one.get("suppressed")]


def ways(folder: Path, capsys) -> list[int]:
    """The lines that the one finding leads to."""
    assert jsec.main(["scan", str(folder), "--format", "sarif", *ALL]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (one,) = [
        found
        for found in run["results"]
        if found["ruleId"] == RULE and not found.get("suppressions")
    ]
    places = [place["physicalLocation"]["region"] for place in one["relatedLocations"]]
    return [region["startLine"] for region in places]


def test_slips_are_told_each(tmp_path, capsys):
    text = "".join(reader(number) for number in range(SLIPS))
    assert [one["line"] for one in told(tmp_path, text, capsys)] == [2, 5, 8]


def test_a_habit_is_told_once_and_leads_to_all_places(tmp_path, capsys):
    text = "".join(reader(number) for number in range(SLIPS + 2))
    (one,) = told(tmp_path, text, capsys)
    assert one["line"] == 2
    assert f"{SLIPS + 2} unsafe blocks in this file" in one["description"]
    assert ways(tmp_path, capsys) == [5, 8, 11, 14]


def test_what_is_suppressed_does_not_count_and_is_no_unused_suppression(tmp_path, capsys):
    note = f" // jsec-ignore: {RULE} aligned and alive, see the type"
    text = "".join(reader(number, note if number < 2 else "") for number in range(SLIPS + 2))
    assert [one["line"] for one in told(tmp_path, text, capsys)] == [8, 11, 14]
    text = "".join(reader(number, note if number == 1 else "") for number in range(SLIPS + 2))
    (one,) = told(tmp_path, text, capsys)
    assert one["line"] == 2
    assert ways(tmp_path, capsys) == [8, 11, 14]
    kept = (tmp_path / ".jarvis/sec/candidates.jsonl").read_text()
    assert "unused-suppression" not in kept


def test_unchecked_results_of_a_file_are_one_finding_once_flow_has_settled_each(
    tmp_path: Path, capsys
) -> None:
    fills = "".join(
        f"void fill{n}(void) {{ char *p = malloc(8); {test}p[0] = 0; free(p); }}\n"
        for n, test in enumerate(["if (!p) return; ", *[""] * (SLIPS + 1)])
    )
    (tmp_path / "a.c").write_text(f"#include <stdlib.h>\n{fills}")
    assert jsec.main(["scan", str(tmp_path), "--format", "jsonl", *ALL]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (habit,) = [finding for finding in found if finding["rule"] == "unchecked-allocation"]
    assert habit["line"] == 3
    assert f"{SLIPS + 1} results of allocations" in habit["description"]
    assert habit["confidence"] < 0.6


def test_a_flaw_that_two_rules_see_is_reported_by_the_one_that_says_more(
    tmp_path: Path, capsys
) -> None:
    code = "void f(int s) { char b[9]; recv(s, b, 9, 0); short n = (short)atoi(b); use(n); }\n"
    (tmp_path / "a.c").write_text(code)
    assert jsec.main(["scan", str(tmp_path), "--format", "jsonl", *ALL]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_rule = {finding["rule"]: finding for finding in found}
    assert "number-parsed-without-check" not in by_rule
    assert {197, 20} <= set(by_rule["truncated-input-value"]["cwe"])
