"""What Frama-C's Eva refutes, and above all what it must not: with the real tool, where it is here.

It is not installed in CI: with what it needs of OCaml it takes some 700 MB.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.rungs.eva import Eva
from jarvis_ls.jsec.proof.toolchain import Toolchain, find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder

_TOOLS = find_toolchain()
needs_eva = pytest.mark.skipif(
    bool(Eva().missing(_TOOLS)), reason=f"Eva cannot be asked here: {Eva().missing(_TOOLS)}"
)
pytestmark = pytest.mark.watches()
PLACE = "/* here */"


def refute(folder: Path, code: str, cwe: int) -> Evidence | None:
    """What Eva says of the line that is marked."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (work / "a.c").write_text(code)
    line = next(n for n, text in enumerate(code.splitlines(), 1) if PLACE in text)
    text = code.splitlines()[line - 1]
    column = len(text) - len(text.lstrip()) + 1
    finding = Finding(
        rule="any",
        language="c/cpp",
        category="",
        pattern="",
        cwe=(cwe,),
        file="a.c",
        span=Span(line, column, line, text.index(PLACE)),
        evidence="",
        message=Message(""),
        suggestion=Message(""),
        confidence=0.5,
        severity="medium",
        fingerprint="a",
    )
    bench = Workbench(work.resolve(), Ladder(folder / "home"), _TOOLS)
    return asyncio.run(Eva().attempt(finding, bench, Budget(40.0)))


SOUND = {
    "an index that a loop computes": (
        """\
static int table[8];
static int depth(unsigned char n) { int value = 0; while (n) { value++; n /= 2; } return value; }
int main(int argc, char **argv)
{
    table[depth((unsigned char)argc) - (argc != 0 && 0)] = 1; /* here */
    return table[0];
}
""".replace("table[8]", "table[9]"),
        787,
    ),
    "a variable that is always set": (
        """\
int main(int argc, char **argv)
{
    int value, i;
    for (i = 0; i < 3; i++)
        value = i;
    return value; /* here */
}
""",
        457,
    ),
    "a division, whatever is passed": (
        "int share(int whole, unsigned char parts)\n{\n"
        "    return whole / (parts + 1); /* here */\n}\n",
        369,
    ),
}
FLAWED = {
    "an index that is one too far": (
        SOUND["an index that a loop computes"][0].replace("table[9]", "table[8]"),
        787,
    ),
    "a variable that is not always set": (
        SOUND["a variable that is always set"][0].replace("i < 3", "i < argc"),
        457,
    ),
    "an index that is wrong only behind an access that was wrong before": (
        """\
static int table[4], other[4];
int main(int argc, char **argv)
{
    int i = argc, seen = table[i];
    other[i] = seen; /* here */
    return other[0];
}
""",
        787,
    ),
    "an index of numbers that wrap around": (
        """\
static int table[4];
int main(int argc, char **argv)
{
    int i = argc * 100000000 + 2147483547;
    if (i > 3)
        return 0;
    table[i] = 1; /* here */
    return table[0];
}
""",
        787,
    ),
    "what a longer string than Eva's own context brings": (
        """\
#include <string.h>
char last(const char *text)
{
    char copy[4];
    strcpy(copy, text); /* here */
    return copy[0];
}
""",
        121,
    ),
    "what a jump leaves": (
        """\
#include <setjmp.h>
static jmp_buf start;
static int table[4];
int main(int argc, char **argv)
{
    int i = 0;
    if (setjmp(start))
        i = 7;
    table[i] = 1; /* here */
    if (i == 0)
        longjmp(start, 1);
    return 0;
}
""",
        787,
    ),
}


@needs_eva
@pytest.mark.parametrize("name", SOUND)
def test_sound_places_are_refuted_with_what_that_assumes(tmp_path: Path, name: str) -> None:
    found = refute(tmp_path, *SOUND[name])
    assert found is not None
    assert (found.verdict, found.strength) == (Verdict.REFUTED, Strength.PROVEN)
    assert found.assumptions
    assert dict(found.functions).keys() == {"a.c:"}


@needs_eva
@pytest.mark.parametrize("name", FLAWED)
def test_flawed_places_are_never_refuted(tmp_path: Path, name: str) -> None:
    assert refute(tmp_path, *FLAWED[name]) is None


def test_what_is_missing_is_named() -> None:
    assert "frama-c" in Eva().missing(Toolchain("gcc", "gcc"))
