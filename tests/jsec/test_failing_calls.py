"""When a run shows that a program does not look whether a call failed, and when it does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Verdict
from jarvis_ls.jsec.proof.rungs.failing_calls import FailingCalls
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder

pytestmark = [
    pytest.mark.skipif(not find_toolchain().compiler, reason="a C compiler is not here"),
    pytest.mark.watches(),
]

PROGRAM = """\
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void tell(void)
{
    puts("failed");
}

int main(void)
{
    char text[100] = "";
    int descriptor = open("in.txt", O_RDONLY | O_CREAT, 0600);
    FILE *from = fopen("in.txt", "r"), *to = fopen("out.txt", "w");
    if (descriptor < 0 || from == NULL || to == NULL)
        return 1;
    BODY
    puts("end");
    return 0;
}
"""
IGNORED = {
    "a read that gives all it is asked for": "fread(text, 1, 99, stdin);",
    "a read of a descriptor": "read(0, text, 99);",
    "a stream that was written": 'fputs("a", to); fclose(to);',
}
NOT_IGNORED = {
    "a count that is tested": "if (fread(text, 1, 99, stdin) != 99) tell();",
    "bytes that are counted": "if (read(0, text, 99) != 99) tell();",
    "a stream that was only read": "fclose(from);",
    "a descriptor that was only read": "close(descriptor);",
}


def ask(folder: Path, body: str) -> Evidence | None:
    """Ask the rung about the line of the calls."""
    text = PROGRAM.replace("BODY", body)
    project = folder / "project"
    project.mkdir()
    (project / "a.c").write_text(text)
    line = next(n for n, content in enumerate(text.splitlines(), 1) if body in content)
    finding = Finding(
        rule="any",
        language="c/cpp",
        category="",
        pattern="",
        cwe=(252,),
        file="a.c",
        span=Span(line, 5, line, 5 + len(body)),
        evidence="",
        message=Message(""),
        suggestion=Message(""),
        confidence=0.5,
        severity="medium",
        fingerprint="f",
    )
    bench = Workbench(project.resolve(), Ladder(folder / "home"), find_toolchain())
    return asyncio.run(FailingCalls().attempt(finding, bench, Budget(20.0)))


@pytest.mark.parametrize("body", IGNORED.values(), ids=IGNORED)
def test_a_failure_that_nobody_looks_at_is_reproduced(tmp_path: Path, body: str) -> None:
    found = ask(tmp_path, body)
    assert found is not None and found.verdict is Verdict.REPRODUCED, found


@pytest.mark.parametrize("body", NOT_IGNORED.values(), ids=NOT_IGNORED)
def test_nothing_is_said_where_the_result_is_tested_or_nothing_is_lost(
    tmp_path: Path, body: str
) -> None:
    found = ask(tmp_path, body)
    assert found is not None and found.verdict is Verdict.UNPROVEN, found
