"""`jsec prove --invariant`: expressions that are proven, survive, are broken, or are refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.check_invariant import check_invariant
from jarvis_ls.jsec.proof.invariants import InvariantStore, Outcome
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder
from tests.cli.test_jsec_prove import home, jsec, needs_compiler, scan

__all__ = ["home"]
pytestmark = needs_compiler
TEXT = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int copy(const char *text, int n)
{
    char place[16];
    int used = n & 7;
    if (n > 100)
        return 0;
    strcpy(place, text);
    return place[used];
}

int main(int argc, char **argv)
{
    char *p = malloc(4);
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (argc > 2)
        copy(argv[2], n);
    free(p);
    return 0;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one program."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.c").write_text(TEXT)
    return folder


def check(project: Path, home: Path, expression: str) -> tuple[int, dict[str, Any]]:
    """Check an invariant of the copy; status and record."""
    finding = next(issue for issue in scan(project, home).values() if issue["line"] == 11)
    done = jsec(
        *("prove", finding["id"], str(project), "--trust", "--format", "json"),
        *("--invariant", expression),
        home=home,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def test_what_always_holds_is_proven(project: Path, home: Path) -> None:
    status, told = check(project, home, "used >= 0 && used < 8")
    assert (status, told["outcome"]) == (0, "proven"), told
    assert told["evidence"]["assumptions"]
    assert told["rules_out"] is False


def test_what_a_run_makes_false_is_broken(project: Path, home: Path) -> None:
    status, told = check(project, home, "strlen(text) < 16")
    assert (status, told["outcome"]) == (1, "broken"), told
    assert told["evidence"]["case"]


def test_what_no_run_makes_false_survives(project: Path, home: Path) -> None:
    status, told = check(project, home, "n != -31337001 && text[0] != 1")
    assert (status, told["outcome"]) == (0, "survived"), told
    assert told["evidence"]["runs"] > 0
    assert told["evidence"]["strength"] == "survived"


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "n = 1",
        "n++",
        'system("id")',
        '1)); system("id"); ((1',
        "1 /* ",
        "1 // ",
        "({ 1; })",
        "n\n#include </etc/passwd>",
        "'\\",
        "\u4f60",
        "1" * 600,
        "(" * 300,
    ],
)
def test_what_is_no_plain_expression_is_refused(project: Path, expression: str) -> None:
    bench = Workbench(project.resolve(), Ladder(project), Toolchain())
    with pytest.raises(UsageError):
        asyncio.run(check_invariant(finding_of("f"), expression, bench, Budget(5)))


def test_an_invariant_that_rules_the_finding_out(project: Path) -> None:
    text = TEXT.replace("strcpy(place, text);", "place[used] = 1;")
    (project / "a.c").write_text(text)
    bench = Workbench(project.resolve(), Ladder(project), Toolchain())
    found = asyncio.run(check_invariant(finding_of("f"), "used < 16", bench, Budget(9)))
    assert (found.outcome, found.rules_out) == (Outcome.PROVEN, True)


def test_an_unknown_name_is_undecided(project: Path) -> None:
    bench = Workbench(project.resolve(), Ladder(project), Toolchain())
    found = asyncio.run(check_invariant(finding_of("f"), "missing > 1", bench, Budget(9)))
    assert found.outcome is Outcome.UNDECIDED
    assert "missing" in found.evidence.message


def test_it_is_kept_and_dies_with_the_function(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, told = check(project, home, "used < 8")
    monkeypatch.setenv("JARVIS_HOME", str(home))
    finding = finding_of(told["fingerprint"])
    name = told["id"]
    before = decode("a.c", TEXT.encode())
    store = InvariantStore(project.resolve())
    kept = store.find(name, lambda _: before)
    assert kept is not None and kept.outcome is Outcome.PROVEN
    assert not store.holds(name, finding, lambda _: before)  # it says nothing of the copy
    after = decode("a.c", TEXT.replace("n & 7", "n & 15").encode())
    assert store.find(name, lambda _: after) is None
    path = project / ".jarvis/sec/invariants.jsonl"
    path.write_text(path.read_text().replace("used < 8", "used < 9"))
    assert InvariantStore(project.resolve()).find(name, lambda _: before) is None


def finding_of(fingerprint: str) -> Finding:
    """A finding of that name."""
    message = Message("")
    return Finding(
        rule="any",
        language="c/cpp",
        category="",
        pattern="",
        cwe=(121,),
        file="a.c",
        span=Span(11, 5, 11, 24),
        evidence="",
        message=message,
        suggestion=message,
        confidence=0.5,
        severity="medium",
        fingerprint=fingerprint,
    )
