"""What a called function of C++ puts where a reference of its caller leads is not lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Verdict
from jarvis_ls.jsec.proof.rungs.function_harness import FunctionHarness
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder
from tests.cli.test_jsec_prove import needs_compiler

pytestmark = [
    pytest.mark.watches(),
    needs_compiler,
    pytest.mark.skipif(not find_toolchain().cpp, reason="no C++ compiler is here"),
]

OPENS = """\
#include <fcntl.h>

void start(int &opened)
{
    GIVEN = open("/dev/null", O_RDONLY);
}
"""


@pytest.mark.parametrize(("given", "is_lost"), [("opened", False), ("int mine", True)])
def test_what_the_caller_gets_is_not_lost(tmp_path: Path, given: str, is_lost: bool) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.cpp").write_text(OPENS.replace("GIVEN", given))
    finding = Finding(
        rule="any",
        language="c/cpp",
        category="",
        pattern="",
        cwe=(404,),
        file="a.cpp",
        span=Span(5, 5, 5, 40),
        evidence="",
        message=Message(""),
        suggestion=Message(""),
        confidence=0.5,
        severity="medium",
        fingerprint="a",
    )
    bench = Workbench(work.resolve(), Ladder(tmp_path / "home"), find_toolchain())
    found = asyncio.run(FunctionHarness().attempt(finding, bench, Budget(30.0)))
    assert found is not None
    expected = Verdict.REPRODUCED if is_lost else Verdict.UNPROVEN
    assert found.verdict is expected, str(found.message)
