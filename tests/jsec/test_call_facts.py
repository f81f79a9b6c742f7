"""What all calls of a static function have in common."""

from __future__ import annotations

from jarvis_ls.codeintel.source import decode
from jarvis_ls.jsec.proof.call_facts import CallFacts, call_facts

TEXT = """
#include <stdlib.h>
static int at(const int *t, int i, char *w) { return t[i] + w[0]; }
static int other(int *p) { return *p; }
static int (*g)(int *) = other;
static int set(char *to, int n) { for (int i = 0; i < n; i++) to[i] = 1; return 0; }
static int free_for_all(int n) { return n; }
int f(int i, char *x)
{
    int t[4] = {0};
    char b[3];
    free_for_all(i);
    if (i < 0 || i > 3)
        return 0;
    set(b, 3);
    set(x, 2);
    return other(t) + at(t, i, b);
}
int h(void) { int t[4] = {0}; return at(t, 2, malloc(3)); }
"""


def facts(name: str, text: str = TEXT) -> CallFacts:
    return call_facts(decode("a.c", text.encode()), name)


def test_bounds_and_pointers_that_all_callers_agree_on() -> None:
    assert facts("at") == CallFacts(frozenset({0}), {1: (0, 3)})
    assert facts("set") == CallFacts(frozenset(), {1: (2, 3)})


def test_a_number_that_a_caller_does_not_bound_has_no_narrow_range() -> None:
    assert facts("free_for_all").ranges.get(0, (-(1 << 31), (1 << 31) - 1)) == (
        -(1 << 31),
        (1 << 31) - 1,
    )


def test_nothing_is_known_where_callers_may_be_elsewhere() -> None:
    assert facts("other") == CallFacts()
    assert facts("missing") == CallFacts()
    assert facts("at", "static int at(int i) { return at(") == CallFacts()
