"""What is written to wrap around or to cut off is no flaw, whatever a run shows of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Report, Verdict
from jarvis_ls.jsec.proof.ladder import prove
from jarvis_ls.jsec.proof.meant_wraps import is_meant_to_wrap
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder

MEANT = {
    "random number": ("return «n * 1103515245u + 12345u»;", 190),
    "named factor": ("return n ^ «n * FNV_PRIME»;", 190),
    "hash": ("h = «h * 33 + (unsigned char)*s»;", 190),
    "hash by steps": ("«h *= 16777619u»;", 190),
    "exclusive or of a hash": ("h = «(h * 31) ^ n»;", 190),
    "golden ratio": ("return «n + 0x9e3779b9u»;", 190),
    "test of a sum": ("if («n + 16» < n) return 1;", 190),
    "test of a difference": ("if («n - h» > n) return 1;", 191),
    "range": ("return «(unsigned)c - '0'» < 10u;", 191),
    "lowest bit": ("return n & («0u - n»);", 191),
    "lowest bit by a sign": ("return n & («-n»);", 191),
    "masked": ("b = «(unsigned char)(n & 0xff)»;", 197),
    "lowest byte": ("p[0] = «(unsigned char)n»; p[1] = n >> 8;", 197),
    "second byte": ("p[0] = n; p[1] = «(unsigned char)(n >> 8)»;", 197),
}
FLAWED = {
    "doubled": ("return «n * 2»;", 190),
    "size of elements": ("p = malloc(«n * 24»);", 190),
    "square": ("return «n * n»;", 190),
    "milliseconds": ("return «n * 1000000u»;", 190),
    "a number that is read": ("h = «h * 10 + (unsigned char)(*s - '0')»;", 190),
    "room for more": ("p = malloc(«n + 65537»);", 190),
    "one less": ("return «n - 1»;", 191),
    "left over": ("if («n - 4» > 100) return 1;", 191),
    "test of another": ("if («n + 16» < h) return 1;", 190),
    "narrowed": ("b = «(unsigned char)n»;", 197),
    "blocks": ("b = «(unsigned char)(n >> 8)»;", 197),
    "bytes of another": ("b = «(unsigned char)n»; p[0] = h; p[1] = h >> 8;", 197),
}


def place(code: str, cwe: int, root: Path) -> tuple[Workbench, Finding]:
    """A finding at what is between the marks of a statement, in a file."""
    before, _, rest = code.partition("«")
    marked, _, after = rest.partition("»")
    head = "#define FNV_PRIME 16777619u\nunsigned f(unsigned n, unsigned h, int c, char *s)\n{\n"
    rest = "    unsigned char b = 0, *p = (unsigned char *)s;\n"
    text = f"{head}{rest}{before}{marked}{after}\n    return b;\n}}\n"
    (root / "a.c").write_text(text)
    line = text[: text.index(before + marked)].count("\n") + 1
    span = Span(line, len(before) + 1, line, len(before + marked) + 1)
    finding = Finding(
        rule="any",
        language="c/cpp",
        category="",
        pattern="",
        cwe=(cwe,),
        file="a.c",
        span=span,
        evidence=f"{before}{marked}{after}",
        message=Message(""),
        suggestion=Message(""),
        confidence=0.5,
        severity="medium",
        fingerprint="",
        trace=(),
    )
    return Workbench(root, Ladder(root / "home"), Toolchain()), finding


@pytest.mark.parametrize("name", MEANT)
def test_what_is_meant_is_known_by_its_form(name: str, tmp_path: Path) -> None:
    bench, finding = place(*MEANT[name], tmp_path)
    assert is_meant_to_wrap(bench, finding)


@pytest.mark.parametrize("name", FLAWED)
def test_what_looks_alike_is_not_meant(name: str, tmp_path: Path) -> None:
    bench, finding = place(*FLAWED[name], tmp_path)
    assert not is_meant_to_wrap(bench, finding)


def test_a_memory_error_is_one_whatever_the_form_is(tmp_path: Path) -> None:
    code, _ = MEANT["random number"]
    assert not is_meant_to_wrap(*place(code, 125, tmp_path))


class Wrapping:
    """A rung that has a report of a kind."""

    name = "wrapping"

    def __init__(self, kind: str) -> None:
        self._report = Report(kind, "a.c", 5, "f", "")

    def missing(self, tools: Toolchain) -> str:
        """Nothing is missing."""
        return ""

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence:
        """Return the report as evidence."""
        return Evidence(Verdict.REPRODUCED, self.name, "", report=self._report)


@pytest.mark.parametrize(
    ("kind", "name", "verdict"),
    [
        ("value-out-of-range", "hash", Verdict.UNPROVEN),
        ("unsigned-integer-overflow", "hash", Verdict.UNPROVEN),
        ("signed-integer-overflow", "hash", Verdict.REPRODUCED),
        ("value-out-of-range", "doubled", Verdict.REPRODUCED),
    ],
)
def test_a_run_that_wraps_shows_nothing_where_that_is_meant(
    kind: str, name: str, verdict: Verdict, tmp_path: Path
) -> None:
    bench, finding = place(*{**MEANT, **FLAWED}[name], tmp_path)
    found = asyncio.run(prove(finding, bench, Budget(2.0), [Wrapping(kind)]))
    assert found.verdict is verdict
    if verdict is Verdict.UNPROVEN:
        assert "on purpose" in str(found.message)
