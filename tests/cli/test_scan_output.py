"""What `jsec scan` prints: order, formats, links, levels of quiet."""

from __future__ import annotations

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from commands import FLAWED, RULE, TWICE, command, jsec, write

from tests.support.patience import HANGS

LEAK = "#include <stdlib.h>\nint f(const char *s) { return atoi(s); }\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with findings of different weight: b.c has the gravest one."""
    folder = tmp_path / "project"
    return write(folder, {"a.c": FLAWED, "b.c": TWICE + LEAK.partition("\n")[2], "d/c.c": LEAK})


def scores(text: str) -> list[float]:
    return [float(score) for score in re.findall(r"  (?:high|medium|low) (\d\.\d\d)\n", text)]


def test_files_are_groups_and_the_gravest_comes_last(root: Path) -> None:
    text = jsec("scan", cwd=root).stdout
    heads = re.findall(r"^(\S+) · (\d+) findings?$", text, re.MULTILINE)
    assert heads == [("d/c.c", "1"), ("a.c", "1"), ("b.c", "2")]
    found = scores(text)
    assert len(found) == 4 and found[-1] == max(found)
    assert text.index("4 findings (") > text.rindex("double-free")


def test_the_limit_keeps_the_gravest(root: Path) -> None:
    text = jsec("scan", "--max-findings", "1", cwd=root).stdout
    assert text.startswith("b.c · 1 finding\n") and "double-free" in text
    assert "… and 3 more" in text and "4 findings (" in text


def test_concise_is_a_line_for_each_finding_as_compilers_write_them(root: Path) -> None:
    *lines, last = jsec("scan", "--format", "concise", cwd=root).stdout.splitlines()
    assert last.startswith("4 findings (")
    line = re.compile(r"(\S+):(\d+):(\d+): (high|medium|low): .+ \[([a-z-]+)\]")
    found = [match.groups() for text in lines if (match := line.fullmatch(text))]
    assert len(found) == len(lines) == 4
    assert found[-1] == ("b.c", "4", "5", "high", "double-free")


def test_paths_are_as_seen_from_the_current_folder(root: Path) -> None:
    write(root, {".jarvis/jsec.toml": ""})
    above = jsec("scan", "project", "--format", "concise", cwd=root.parent).stdout
    assert "project/d/c.c:2:" in above
    below = jsec("scan", "..", "--format", "concise", cwd=root / "d").stdout
    assert {line.partition(":")[0] for line in below.splitlines()[:-1]} == {
        "c.c",
        "../a.c",
        "../b.c",
    }
    beside = root.parent / "beside"
    beside.mkdir()
    absolute = jsec("scan", root, "--format", "concise", cwd=beside).stdout
    assert f"{root / 'a.c'}:4:5: " in absolute


def test_only_findings_of_a_severity(root: Path) -> None:
    assert "high" in jsec("scan", "--severity", "high", "--format", "concise", cwd=root).stdout
    text = jsec("scan", "--severity", "high", cwd=root).stdout
    assert text.startswith("b.c · 1 finding\n") and "1 finding (1 high" in text
    everything = jsec("scan", "--severity", "low", "--format", "json", cwd=root).stdout
    assert len(json.loads(everything)["issues"]) == 4
    assert jsec("scan", "--severity", "grave", cwd=root, status=2).stdout == ""


def test_levels_of_quiet(root: Path) -> None:
    for form in ("text", "concise"):
        quiet = jsec("scan", "-q", "--format", form, cwd=root).stdout
        assert "double-free" in quiet and "4 findings" not in quiet
    assert jsec("scan", "-qq", "--fail-on", "high", cwd=root, status=1).stdout == ""
    jsec("scan", "-qq", "--output", "report.txt", cwd=root)
    assert "4 findings (" in (root / "report.txt").read_text(encoding="utf-8")


def test_what_is_of_low_confidence_is_counted_and_shown_when_asked_for(root: Path) -> None:
    unsure = (
        '#include <stdio.h>\nvoid f(char *s) { char b[9]; snprintf(b, 9, "%s", s); puts(b); }\n'
    )
    write(root, {"u.c": unsure})
    text = jsec("scan", cwd=root).stdout
    hidden = re.search(r"hidden: (\d+) of low confidence \(--min-confidence 0 shows them\)", text)
    whole = json.loads(jsec("scan", "--min-confidence", "0", "--format", "json", cwd=root).stdout)
    low = [issue for issue in whole["issues"] if issue["confidence"] < 0.3]
    assert hidden is not None and int(hidden[1]) == len(low) > 0
    write(root, {".jarvis/jsec.toml": "min_confidence = 0\n"})
    assert "of low confidence" not in jsec("scan", cwd=root).stdout


def test_github_shows_findings_beside_the_lines(root: Path) -> None:
    lines = jsec("scan", "--format", "github", cwd=root, GITHUB_WORKSPACE=str(root.parent)).stdout
    first, *others = lines.splitlines()
    assert first.startswith("::error file=project/b.c,line=4,endLine=4,col=5,title=jsec double-")
    assert len(others) == 3 and all(line.startswith("::notice file=project/") for line in others)


def test_github_commands_cannot_be_forged(root: Path) -> None:
    write(root, {"x,y:%\n::error ::z.c": TWICE})
    lines = jsec("scan", "--format", "github", cwd=root, GITHUB_WORKSPACE="").stdout.splitlines()
    assert len(lines) == 5
    assert any("file=x%2Cy%3A%25%0A%3A%3Aerror %3A%3Az.c," in line for line in lines), lines


def test_gitlab_is_given_a_list_for_its_code_quality(root: Path) -> None:
    report = json.loads(
        jsec("scan", "--format", "gitlab", cwd=root, CI_PROJECT_DIR=str(root)).stdout
    )
    first = report[0]
    assert first["location"] == {"path": "b.c", "lines": {"begin": 4, "end": 4}}
    assert (first["check_name"], first["severity"]) == ("double-free", "critical")
    assert len({issue["fingerprint"] for issue in report}) == len(report) == 4


def test_junit_has_a_suite_for_each_file(root: Path) -> None:
    write(root, {'<&\x01">.c': TWICE})
    suites = ElementTree.fromstring(jsec("scan", "--format", "junit", cwd=root).stdout)
    assert (suites.get("tests"), suites.get("failures")) == ("5", "5")
    named = {suite.get("name"): suite for suite in suites}
    assert set(named) == {"a.c", "b.c", "d/c.c", '<&\\x01">.c'}
    cases = [(case.get("name"), case.find("failure")) for case in named["b.c"]]
    assert cases[0][0] == "double-free 4:5" and cases[0][1] is not None
    assert "b.c:4:5: 'p' is freed twice." in (cases[0][1].text or "")


def test_junit_has_a_passed_test_when_nothing_is_found(root: Path) -> None:
    none = jsec("scan", "--format", "junit", "--rule", "weak-hash", cwd=root).stdout
    suites = ElementTree.fromstring(none)
    assert (suites.get("tests"), suites.get("failures")) == ("1", "0")
    assert [case.get("name") for case in suites.iter("testcase")] == ["no findings"]


@pytest.mark.parametrize(
    ("environment", "linked"),
    [
        ({"VTE_VERSION": "7600"}, True),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"VTE_VERSION": "7600", "FORCE_HYPERLINK": "0"}, False),
        ({"VTE_VERSION": "7600", "NO_COLOR": "1"}, False),
        ({"VTE_VERSION": "7600", "TERM": "tmux-256color"}, False),
        ({}, False),
    ],
)
def test_links_are_for_terminals_that_open_them(
    root: Path, environment: dict[str, str], linked: bool
) -> None:
    known = ("VTE_VERSION", "TERM_PROGRAM", "FORCE_HYPERLINK", "NO_COLOR", "WT_SESSION")
    inherited = {name: value for name, value in os.environ.items() if name not in known}
    line = " ".join(f"'{word}'" for word in command("scan", "--severity", "high", "--jobs", "1"))
    run = subprocess.run(
        ["script", "-qec", line, "/dev/null"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
        env={**inherited, "TERM": "xterm", "JARVIS_HOME": str(root), **environment},
    )
    address = f"\x1b]8;;{(root / 'b.c').as_uri()}\x1b\\"
    assert (address in run.stdout) is linked
    assert ("https://cwe.mitre.org/data/definitions/415.html" in run.stdout) is linked


def test_a_pipe_has_no_links(root: Path) -> None:
    run = jsec("scan", "--color", "always", cwd=root, FORCE_HYPERLINK="1")
    assert "\x1b[1m" in run.stdout and "\x1b]8;;" not in run.stdout
    assert RULE in run.stdout
