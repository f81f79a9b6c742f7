"""Who allocated memory and who releases it, in the words of the program."""

from __future__ import annotations

import pytest
from flow_programs import faults, lowered


def said(text: str, path: str = "a.c") -> list[tuple[str, dict[str, str]]]:
    return [(fault.kind, dict(fault.args)) for fault in faults(lowered(text, path))]


@pytest.mark.parametrize(
    ("made", "freed", "allocator", "release"),
    [
        ("kmalloc(8, 0)", "free(p)", "kmalloc", "free"),
        ("malloc(8)", "kfree(p)", "malloc", "kfree"),
        ('strdup("x")', "OPENSSL_free(p)", "strdup", "OPENSSL_free"),
        ("HeapAlloc(heap, 0, 8)", "LocalFree(p)", "HeapAlloc", "LocalFree"),
    ],
)
def test_a_mismatch_names_both_functions(
    made: str, freed: str, allocator: str, release: str
) -> None:
    text = f"void f(void *heap) {{ char *p = {made}; if (!p) return; {freed}; }}"
    (kind, args) = next(found for found in said(text) if found[0] == "mismatched-free")
    assert (kind, args["allocator"], args["release"]) == ("mismatched-free", allocator, release)


@pytest.mark.parametrize(
    ("made", "freed"),
    [
        ("kmalloc(8, 0)", "kfree(p)"),
        ("g_malloc(8)", "free(p)"),
        ("HeapAlloc(heap, 0, 8)", "HeapFree(heap, 0, p)"),
        ('OPENSSL_strdup("x")', "OPENSSL_free(p)"),
    ],
)
def test_what_belongs_together_is_no_mismatch(made: str, freed: str) -> None:
    text = f"void f(void *heap) {{ char *p = {made}; if (!p) return; {freed}; }}"
    assert said(text) == []


def test_delete_of_malloc_is_said_in_words_of_cpp() -> None:
    text = "void f() { char *p = (char *) malloc(8); if (p) delete p; }"
    args = dict(said(text, "a.cpp"))["mismatched-free"]
    assert (args["allocator"], args["release"]) == ("malloc", "delete")


def test_a_leak_names_the_function_that_allocated() -> None:
    text = 'void f(int k) { char *p = g_strdup("x"); if (k) return; g_free(p); }'
    assert dict(said(text))["leak"]["allocator"] == "g_strdup"


@pytest.mark.parametrize(
    "before",
    ["__attribute__((cleanup(give_back))) char", "_cleanup_free_ char", "g_autofree char"],
)
def test_what_is_released_at_the_end_of_its_scope_does_not_leak(before: str) -> None:
    macro = "#define _cleanup_free_ __attribute__((cleanup(give_back)))\n"
    text = f"{macro}int f(int k) {{ {before} *p = malloc(8); if (k) return 1; return p != 0; }}"
    assert said(text) == []
    without = text.replace(before, "char")
    assert [kind for kind, _ in said(without)] == ["leak"]


@pytest.mark.parametrize("count", [2, 8, 30])
@pytest.mark.parametrize("end", ["return p;", "*out = p; return 0;", "keep(p); return 0;"])
def test_one_of_many_allocations_that_is_handed_on_does_not_leak(count: int, end: str) -> None:
    chain = " else ".join(f'if (k == {n}) p = strdup("x{n}");' for n in range(count))
    made = f"static char *make(int k) {{ char *p = 0; {chain} return p; }}"
    text = f"char *f(int k, char **out) {{ char *p = 0; {chain} {end} }}"
    assert said(text) == []
    assert said(f"{made} char *f(int k, char **out) {{ char *p = make(k); {end} }}") == []


def test_one_of_a_few_allocations_that_is_forgotten_leaks() -> None:
    chain = " else ".join(f'if (k == {n}) p = strdup("x{n}");' for n in range(3))
    text = f"int f(int k) {{ char *p = 0; {chain} return p != 0; }}"
    assert {kind for kind, _ in said(text)} == {"leak"}
