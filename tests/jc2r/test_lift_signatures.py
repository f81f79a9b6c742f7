"""Lifting passes that change signatures or own memory: what they make, what they leave alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from jarvis_ls.jc2r.lift.out_parameters import outs
from jarvis_ls.jc2r.lift.reference_parameters import references
from jarvis_ls.jc2r.lift.rust import Source, parse_source
from jarvis_ls.jc2r.lift.slices import slices
from jarvis_ls.jc2r.lift.vectors import vectors

SYSTEM = parse_source(Path("src/sys.rs"), b'extern "C" {\n}\n')
Pass = Callable[[list[Source], set[str]], dict[int, bytes]]
F = 'unsafe extern "C" fn '


def across(make: Pass, text: str) -> str:
    """What a pass makes of one file; the text itself when it has nothing to do."""
    one = parse_source(Path("src/a.rs"), text.encode())
    assert not one.root.has_error, text
    made = make([one, SYSTEM], set()).get(0)
    if made is None:
        return text
    assert not parse_source(Path("src/a.rs"), made).root.has_error, made
    return " ".join(made.decode().split())


def call(body: str) -> str:
    return f" {F}caller(p: *mut i32, k: i32) {{ let mut x: i32 = 0; {body} }}"


SUM = (
    F + "sum(a: *const i32, n: i32) -> i32 { let mut s: i32 = 0;"
    " for i in 0i32..n { s = s.wrapping_add(*a.offset(i as isize)); } s }"
)
FILL = (
    F + "fill(a: *mut u8, n: u32, with: u8) { for i in 0u32..n { *a.offset(i as isize) = with; } }"
)


def test_a_pointer_with_its_length_becomes_a_slice() -> None:
    made = across(slices, SUM + call("x = sum(p, k); x = sum(t.as_mut_ptr() as *const i32, 4i32);"))
    assert "unsafe fn sum(a: &[i32]) -> i32 { let n: i32 = a.len() as i32;" in made
    assert "s.wrapping_add(a[i as usize])" in made
    assert "sum(sys::elements(p, (k) as i64))" in made and "sum(&t[..4])" in made
    assert (
        '// From C: unsafe extern "C" fn sum_from_c(a: *const i32, n: i32) -> i32'
        " { sum(sys::elements(a, (n) as i64)) }"
    ) in made
    made = across(slices, FILL + call("fill(p as *mut u8, k as u32, 3u8);"))
    assert "fn fill(a: &mut [u8], mut with: u8)" in made
    assert "a[i as usize] = with;" in made
    made = across(slices, SUM.replace("s }", "s.wrapping_add(n) }") + call("x = sum(p, k);"))
    assert "fn sum(a: &[i32], mut n: i32)" in made, "a negative length is more than an end"


def test_what_only_works_out_a_number_stands_in_no_slice_s_way() -> None:
    larger = "pub unsafe fn LARGER(a: i32, b: i32) -> i32 { if a > b { a } else { b } } "
    largest = SUM.replace(
        "s.wrapping_add(*a.offset(i as isize))", "LARGER(s, *a.offset(i as isize))"
    ) + call("x = sum(p, k);")
    assert "s = LARGER(s, a[i as usize]);" in across(slices, larger + largest)
    for other in (
        larger.replace("{ a }", "{ seen }"),
        larger.replace("{ a }", "{ f(a) }"),
        larger.replace("b: i32", "b: *mut i32"),
        larger.replace("{ a }", "{ a = 1; a }"),
    ):
        assert across(slices, other + largest) == other + largest


@pytest.mark.parametrize(
    "text",
    [
        SUM.replace("s }", "s.wrapping_add(*a.offset(n as isize)) }"),  # beyond the length
        SUM.replace("*a.offset(i as isize)", "*a.offset(i.wrapping_add(1) as isize)"),
        SUM.replace("for i", "n = 3i32; for i"),  # the length changes
        SUM.replace("s }", "KEPT = a; s }"),  # it is kept
        SUM.replace("s }", "other(a); s }"),  # handed on
        SUM.replace("s = s", "if s > 9i32 { return s; } s = s"),  # it may stop before the end
        SUM.replace("for i", "if n > 9i32 { return 0i32; } for i"),  # some ways do not look at it
        SUM.replace("0i32..n", "1i32..n"),  # the first need not be there
        SUM.replace("s = s", "TOTAL = 1i32; s = s"),  # a shared variable may be one of the elements
        SUM.replace("(a", "(to: *mut i32, a").replace("s = s", "*to = s; s = s"),  # two may be one
        "#[no_mangle]\npub " + SUM,  # C calls it too
        SUM + " static CHOSEN: F = sum;",
    ],
)
def test_a_pointer_that_is_more_than_elements_stays(text: str) -> None:
    arguments = "p, p, k" if "to:" in text else "p, k"
    whole = "static mut TOTAL: i32 = 0; " + text + call(f"x = sum({arguments});")
    assert across(slices, whole) == whole


SPLIT = F + "split(n: i32, rest: *mut i32) -> i32 { *rest = n % 7i32; "
LOW = F + "low(n: i32, to: *mut u8) { *to = n as u8; }"


def test_a_value_that_is_only_carried_out_is_returned() -> None:
    calls = call("let mut y: i32 = 0; x = split(k, &raw mut y); split(x, &raw mut y);")
    early = "if n < 0i32 { *rest = 1i32; return 0i32; } n / 7i32 }"
    made = across(outs, SPLIT + early + calls)
    assert "unsafe fn split(mut n: i32) -> (i32, i32) { let mut rest: i32; rest = n % 7i32;" in made
    assert "rest = 1i32; return (0i32, rest); } (n / 7i32, rest) }" in made
    assert "x = { let (__value, __out) = split(k); y = __out; __value };" in made
    assert "(_, y) = split(x);" in made
    assert (
        "fn split_from_c(n: i32, rest: *mut i32) -> i32"
        " { let (value, out) = split(n); *rest = out; value }"
    ) in made
    made = across(outs, LOW + call("let mut y: u8 = 0; low(k, &raw mut y);"))
    assert "fn low(mut n: i32) -> u8 { let mut to: u8; to = n as u8; to }" in made
    assert "y = low(k);" in made


def test_what_c_would_call_is_lent_what_has_become_a_reference() -> None:
    """A parameter that carries a value out went before, and the other is looked through."""
    line = (
        f"// From C: {F}halves_from_c(n: i32, low: *mut i32, high: *mut i32)"
        " { *low = halves(sys::half(n, 2), high); }\n"
    )
    both = line + "unsafe fn halves(n: i32, high: *mut i32) -> i32 { *high = n; n / 2i32 }"
    made = across(references, both + call("x = halves(k, p);"))
    assert "fn halves(n: i32, high: &mut i32)" in made and "x = halves(k, p);" in made
    assert "{ *low = halves(sys::half(n, 2), &mut *high); }" in made


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (SPLIT + "KEPT = rest; 0i32 }", "split(k, &raw mut x);"),  # it is kept
        (SPLIT + "*rest.offset(1 as isize) }", "split(k, &raw mut x);"),
        (SPLIT + "0i32 }", "split(k, p);"),  # what it points to has other names
        (SPLIT + "0i32 }", "split(k, &raw mut TOTAL);"),
        (SPLIT + "0i32 }", "split(k, &raw mut x); let q: *mut i32 = &raw mut x;"),
        ("#[no_mangle]\npub " + SPLIT + "0i32 }", "split(k, &raw mut x);"),
        (SPLIT.replace("*mut i32", "*mut types::pair") + "0i32 }", "split(k, &raw mut x);"),
    ],
)
def test_a_parameter_that_does_more_than_carry_out_stays(text: str, calls: str) -> None:
    whole = "static mut TOTAL: i32 = 0; " + text + call(calls)
    assert across(outs, whole) == whole


def owned(body: str) -> str:
    one = parse_source(Path("src/a.rs"), f"fn g(n: i32) -> i32 {{ {body} }}".encode())
    assert not one.root.has_error, body
    made = vectors(one, one.functions[0]).decode()
    assert not parse_source(Path("src/a.rs"), made.encode()).root.has_error, made
    return " ".join(made.split()).removeprefix("fn g(n: i32) -> i32 { ").removesuffix(" }")


NEW = "let mut t: *mut i32 = (sys::malloc((n as u64).wrapping_mul(4u64))) as *mut i32;"
FREE = "sys::free(t as *mut core::ffi::c_void);"
PAIR = "let mut p: *mut types::pair = (sys::malloc(8u64)) as *mut types::pair;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"{NEW} if t.is_null() {{ return 1; }} (*t.offset(n as isize)) = *t.offset(3); {FREE}",
            "let mut t: Vec<i32> = sys::zeroed::<i32>((n as u64)); if t.is_empty() { return 1; }"
            " t[n as usize] = t[3]; t = Vec::new();",
        ),
        (
            f"{NEW} sys::memset(t as *mut core::ffi::c_void, 0, 4u64); {FREE}",
            "let mut t: Vec<i32> = sys::zeroed::<i32>((n as u64));"
            " sys::memset(t.as_mut_ptr() as *mut core::ffi::c_void, 0, 4u64); t = Vec::new();",
        ),
        (
            f"{PAIR} (*p).a = n; sys::free(p as *mut core::ffi::c_void);",
            "let mut p: Box<types::pair> = { const { "
            "assert!(core::mem::size_of::<types::pair>() == 8) };"
            " Box::new(unsafe { core::mem::zeroed::<types::pair>() }) }; (*p).a = n;"
            " core::mem::drop(p);",
        ),
        (
            f"{PAIR} if p.is_null() {{ return 1; }} (*p).a = n; sys::free(p as *mut "
            "core::ffi::c_void);",
            "let mut p: Vec<types::pair> = { const { "
            "assert!(core::mem::size_of::<types::pair>() == 8) };"
            " sys::zeroed::<types::pair>(1) }; if p.is_empty() { return 1; } p[0].a = n;"
            " p = Vec::new();",
        ),
    ],
)
def test_memory_with_one_owner_is_a_vector_or_a_box(body: str, expected: str) -> None:
    assert owned(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        NEW,  # nobody frees it here
        f"{NEW} drop_it(t); {FREE}",  # another may free it
        f"{NEW} KEPT = t; {FREE}",
        f"{NEW} (*s).t = t; {FREE}",
        f"{NEW} t = sys::realloc(t as *mut core::ffi::c_void, 64u64) as *mut i32; {FREE}",
        f"{NEW} let q: *mut i32 = t; {FREE}",  # two names
        f"{NEW} t = t.offset(1 as isize); {FREE}",
        f"{NEW} t = (sys::malloc(8u64)) as *mut i32; {FREE}",  # two of them
        f"{NEW} q = sys::strcpy(t as *mut i8, w); {FREE}",  # what comes back points into it
        f"{NEW.replace('4u64', '3u64')} {FREE}",  # no whole elements
        f"{FREE} return t;",
    ],
)
def test_memory_that_others_keep_free_or_change_stays(body: str) -> None:
    assert owned(body) == body


def test_a_pointer_to_what_the_function_sees_otherwise_stays_a_pointer() -> None:
    """One may not change what the other shows: two of a type, or a variable of all functions."""
    both = F + "both(a: *mut i32, b: *const i32) -> i32 { *a = 1i32; *b }"
    whole = both + call("both(p, p);")
    assert across(references, whole) == whole
    seen = "static mut TOTAL: i32 = 0; " + F + "seen(a: *mut i32) -> i32 { *a = 1i32; inner() } "
    inner = F + "inner() -> i32 { TOTAL }"
    whole = seen + inner + call("seen(&raw mut TOTAL);")
    assert across(references, whole) == whole
    assert "fn seen(a: &mut i32)" in across(references, seen + inner + call("seen(p);"))


LONGER = """#include <stdlib.h>
struct list { int n; int t[1]; };
int longer(int n) {
    struct list *p = malloc(sizeof *p + 7 * sizeof(int));
    int i, r;
    for (i = 0; i < 8; i++) p->t[i] = n + i;
    r = p->t[n & 7];
    free(p);
    return r;
}
int table(int n) { int t[4], i; for (i = 0; i < 4; i++) t[i] = n ^ i; return t[n & 3]; }
struct pair { long a, b; };
int paired(int w) {
    struct pair *p = malloc(sizeof *p);
    long r;
    p->a = w;
    p->b = 3;
    r = p->a ^ p->b;
    free(p);
    return (int)r;
}
int squares(int n) {
    int *room = malloc(n * sizeof(int)), sum = 0;
    if (!room) return -1;
    for (int i = 0; i < n; i++) room[i] = i * 3;
    for (int i = 0; i < n; i++) sum ^= room[i];
    free(room);
    return sum;
}
"""


@needs_cargo
def test_a_function_that_behaves_otherwise_after_a_pass_is_left_out_of_it(tmp_path: Path) -> None:
    """C's way to have more elements than the type says: with Rust's check the program would end.
    What has no memory leaves the same `errno` as in C."""
    root = tmp_path / "p"
    write(root, {"a.c": LONGER})
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("lift", "--cases", 8, "--format", "json", root)
    assert done.returncode == 0, done.stderr
    passes = {one["name"]: one for one in json.loads(done.stdout)["passes"]}
    assert passes["indexing"]["kept"]
    text = (tmp_path / "p_rs" / "src" / "a.rs").read_text()
    assert "sys::zeroed::<i32>(n as u64)" in text, passes["vectors"]
    assert "// SAFETY: zero is a value of `i32`.\n    let mut room: Vec<i32> = unsafe {" in text
    paired = text.partition("fn paired(")[2]
    assert "zero bytes are a value.\n        Box::new(unsafe {" in paired
    longer, _, table = text.partition("fn table(")
    assert ".offset(" in longer and "t[i as usize] =" in table
    done = jc2r("verify", "--mutants", 0, "--cases", 8, root)
    assert "4 of 4 functions behave like the C" in done.stdout, done.stdout + done.stderr
