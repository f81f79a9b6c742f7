"""Thousands of flaws in a function or file: twice as much takes at most about twice the work."""

from __future__ import annotations

import cProfile
import pstats

import pytest
from flow_programs import faults, lowered

from jarvis_ls.codeintel.source import decode
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.findings.flow_findings import settle


def flawed(count: int) -> str:
    frees = "".join(f"    if (c == {number}) free(p);\n" for number in range(count))
    return f"#include <stdlib.h>\nvoid f(char *p, int c) {{\n{frees}}}\n"


def calls(count: int) -> tuple[int, int]:
    """Flaws that are found, and the calls of functions that it takes."""
    file = lowered(flawed(count))
    with cProfile.Profile() as profile:
        found = faults(file)
    return len(found), pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


def test_twice_as_many_flaws_take_twice_the_work() -> None:
    calls(10)  # what is worked out once
    few, once = calls(200)
    many, twice = calls(400)
    assert few > 150 and many > 350
    assert twice < 2.5 * once, (once, twice)


def settle_calls(text: str) -> tuple[int, int]:
    """Findings of a file, rules and data flow together, and the calls that joining them takes."""
    source = decode("a.c", text.encode())
    analysis = Engine().analyse(source, "c")
    found = faults(lowered(text))
    with cProfile.Profile() as profile:
        told = settle(
            source,
            "c",
            analysis.findings,
            found,
            lambda _: source,
            functions=analysis.placed_functions,
        )
    return len(told), pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "line",
    [
        "    free(p);\n",
        "}\nvoid f%d(char *p) { free(p); free(p);\n",
        "}\nvoid f%d(void) { char *q = malloc(8); q[0] = 1;\n",
        "}\nvoid f%d(const char *s) { char b[8]; strcpy(b, s);\n",
    ],
    ids=["one function", "functions", "leaks", "copies"],
)
def test_joining_rules_and_flow_takes_linear_time(line: str) -> None:
    def text(count: int) -> str:
        lines = (line % number if "%d" in line else line for number in range(count))
        return "void f(char *p) {\n" + "".join(lines) + "}\n"

    settle_calls(text(10))  # what is worked out once
    few, once = settle_calls(text(200))
    many, twice = settle_calls(text(400))
    assert few > 150 and many > 350
    assert twice < 2.3 * once, (once, twice)
