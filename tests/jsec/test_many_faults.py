"""One function with thousands of flaws: twice as much of it takes at most about twice the work."""

from __future__ import annotations

import cProfile
import pstats

from flow_programs import faults, lowered


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
