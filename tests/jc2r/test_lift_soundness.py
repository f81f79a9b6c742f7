"""What `jc2r lift` calls safe, no caller can make crash."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from project import jc2r, write
from toolchain import needs_cargo

C = """\
#include <stdlib.h>
#include <string.h>
struct view { const unsigned char *data; int size; };
int first_byte(struct view v) { return v.data[0]; }
static int last(struct view *v) { return v->data[v->size - 1]; }
int ends(struct view *v) { return last(v); }
static int rows[4] = {1, 2, 3, 4};
int row(int i) { int *p = rows; return p[i]; }
static int fetch(int i) { const int *p = rows; return *(p + i); }
int fetched(int i) { return fetch(i & 3); }
int *unchecked(int n) { int *p = malloc(sizeof *p); *p = n; return p; }
int squares(int n) {
    if (n < 1 || n > 9) return 0;
    int *p = malloc(sizeof *p * (unsigned)n);
    if (!p) return -1;
    p[0] = n * n;
    int r = p[0];
    free(p);
    return r;
}
static int total;
int add(int n) { total += n & 7; return total; }
static int *kept;
void keep(int *p) { kept = p; }
void set(int *p, int v) { *p = v; }
int both(int *a, int *b) { *a = 1; *b = 2; return *a; }
typedef union { int i; float f; char *p; } num;
int bits(float f) { num n; n.f = f; return n.i; }
int through(num n) { return *n.p; }
int (*handler)(int);
int call(int n) { return handler ? handler(n) : -1; }
int letter(int i) { char mode[4] = "rwb"; mode[i & 1] = 'x'; return mode[0] + mode[1] * 2; }
int absolute(int i) { return abs(i); }
"""
UNSAFE = {
    "first_byte": "- `v.data` points to valid memory.",
    "last": "- `v.data` points to valid memory, also at offset",
    "ends": "- The preconditions of `last` hold.",
    "row": "- `rows` points to valid memory, also at offset `i as isize`.",
    "fetch": "- `rows` points to valid memory, also at offset `i as isize`.",
    "fetched": "- The preconditions of `fetch` hold.",
    "unchecked": "- There is memory left: `malloc` must not return null.",
    "add": "- No other thread uses `total` meanwhile.",
    "keep": "- No other thread uses `kept` meanwhile.",
    "set": "- `p` points to valid memory.",
    "both": "- `a` points to valid memory.",
    "through": "- `n.p`: the member of the union that was stored last.",
    "call": "- No other thread uses `handler` meanwhile.",
}
"""Functions that callers can make crash, and the precondition that each must name."""
SAFE = {
    "squares": "// SAFETY: zero is a value of `i32`.",
    "bits": "// SAFETY: `n` began as zeros, and all bytes are a value of `i32`.",
    "letter": "// SAFETY: both arrays have the same length, and every byte is a value of `i8`.",
    "absolute": "// SAFETY: `abs` takes numbers only and is defined for all of them.",
}
"""Functions that none can, with what makes that true."""


@pytest.fixture(scope="module")
def lifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = tmp_path_factory.mktemp("sound") / "p"
    write(root, {"a.c": C})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    done = jc2r("lift", "--cases", 6, "--format", "json", root)
    assert done.returncode == 0, done.stderr
    return root, json.loads(done.stdout)


def functions(root: Path) -> dict[str, tuple[str, str, str]]:
    """What is above each function, its head, and its body."""
    text = (root.parent / "p_rs" / "src" / "a.rs").read_text()
    found = re.findall(r"((?:^(?:///|#\[).*\n)*)^(.*\bfn (\w+)\(.*)\{\n((?:.*\n)*?)^\}", text, re.M)
    return {name: (above, head, body) for above, head, name, body in found}


@needs_cargo
def test_what_callers_can_make_crash_stays_unsafe_and_says_by_what(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    found = functions(lifted[0])
    for name, demand in UNSAFE.items():
        above, head, body = found[name]
        assert "unsafe " in head, name
        assert demand in above.replace("\n///  ", ""), (name, above)
        assert "// SAFETY: the caller keeps what `# Safety` demands" in body, name


@needs_cargo
def test_what_none_can_make_crash_is_safe_and_says_why(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    found = functions(lifted[0])
    for name, reason in SAFE.items():
        _, head, body = found[name]
        assert "unsafe " not in head, name
        assert reason in " ".join(body.split()), (name, body)


@needs_cargo
def test_an_exported_function_takes_no_reference(lifted: tuple[Path, dict[str, Any]]) -> None:
    """C may hand over a null pointer, or the same one twice."""
    for name, (above, head, _) in functions(lifted[0]).items():
        assert "no_mangle" not in above or "&" not in head, name


@needs_cargo
def test_lifting_again_makes_nothing_safe_that_is_not(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    """What is in `unsafe` blocks already, the compiler does not name."""
    before = {name: head for name, (_, head, _) in functions(lifted[0]).items()}
    done = jc2r("lift", "--cases", 2, lifted[0])
    assert done.returncode == 0, done.stderr
    assert {name: head for name, (_, head, _) in functions(lifted[0]).items()} == before
