"""Exported functions in two layers: what the inner one takes, what the shim checks, what stays."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from jarvis_ls.jc2r.lift.layers import layers
from jarvis_ls.jc2r.lift.rust import parse_source

C = """\
#include <stddef.h>
#include <string.h>
typedef struct { int x, y; struct { int z; } in; } point;
unsigned sum(const unsigned char *p, size_t n) {
    unsigned s = 0;
    for (size_t i = 0; i < n; i++) s += p[i];
    return s;
}
unsigned adler(const unsigned char *p, unsigned n) {
    unsigned a = 1, b = 0;
    while (n--) { a = (a + *p++) % 65521; b = (b + a) % 65521; }
    return b << 16 | a;
}
void fill(int *p, unsigned n, int v) { int *end = p + n; while (p < end) *p++ = v; }
void mix(const unsigned char *a, unsigned char *b, int n) {
    for (int i = 0; i < n; i++) b[i] ^= a[i];
}
int get_x(const point *p) { if (!p) return -1; return p->x; }
void shift(point *p, int dx) { if (p) p->x += dx; }
int total(const point *p) { return get_x(p) + p->y; }
void read_z(point *p, int *z) { *z = p->in.z; p->y = *z + 1; }
void two(point *a, point *b) { a->x = 1; b->x = 2; a->y = a->x; }
void clear(unsigned char *b, unsigned n) { memset(b, 0, n); }
unsigned cleared(unsigned char *b, unsigned n) { clear(b, n); return sum(b, n); }
size_t length(const char *s, size_t most) { size_t i = 0; while (i < most && s[i]) i++; return i; }
int hex(const unsigned char *p, unsigned n, char *out) {
    char *at = out;
    for (unsigned i = 0; i < n; i++) {
        *at++ = "0123456789abcdef"[p[i] >> 4];
        *at++ = "0123456789abcdef"[p[i] & 15];
    }
    *at++ = 0;
    return (int)(at - out);
}
unsigned quote(char *to, size_t size, char c) {
    unsigned n = 0;
    if (!to) size = 0;
    if (size > n) *to++ = c;
    n++;
    if (size > n) *to = c;
    return n;
}
int histogram(const unsigned char *p, size_t n) {
    int counts[4] = {0}, *most = counts;
    for (size_t i = 0; i < n; i++) most[p[i] & 3]++;
    return most[1] - most[2];
}
"""
INNER = {
    "sum": "p: &[u8]",
    "adler": "p: &[u8]",
    "fill": "p: &mut [i32], v: i32",
    "mix": "a: &[core::cell::Cell<u8>], b: &[core::cell::Cell<u8>], n: i32",
    "get_x": "p: Option<&types::point>",
    "shift": "p: Option<&mut types::point>, dx: i32",
    "total": "p: &types::point",
    "read_z": "p: &mut types::point, z: &mut i32",
    "clear": "b: &mut [u8]",
    "cleared": "b: &mut [u8]",
    "hex": "p: &[u8], out: &mut Vec<i8>",
    "quote": "to: Option<&mut [i8]>, mut size: u64, c: i8",
    "histogram": "p: &[u8]",
}
"""Parameters of the inner functions."""
STAYING = ("two", "length")
"""Two structures may be one, and a string may end before its length."""
USER = """\
#![allow(warnings)]
use p_rs::a;
fn main() {
    let mut bytes = [1u8, 2, 3, 4];
    let at = bytes.as_mut_ptr();
    match std::env::args().nth(1).as_deref() {
        Some("values") => unsafe {
            a::mix(at, at.wrapping_add(1), 3); // one of the other, as in C
            println!("{:?} {}", bytes, a::sum(at, 4));
            let mut text = [7i8; 6];
            println!("{} {:?}", a::hex(at, 2, text.as_mut_ptr()), text);
            println!("{} {}", a::sum(std::ptr::null(), 9), a::get_x(std::ptr::null()));
        },
        Some("null") => unsafe { println!("{}", a::total(std::ptr::null())) },
        Some("overlap") => unsafe {
            let mut p: p_rs::types::point = std::mem::zeroed();
            let z = &raw mut p.y;
            a::read_z(&raw mut p, z);
        },
        _ => println!("{}", a::sum_inner(&bytes)),
    }
}
"""


@pytest.fixture(scope="module")
def lifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = tmp_path_factory.mktemp("layers") / "p"
    write(root, {"a.c": C})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    done = jc2r("lift", "--cases", 6, "--format", "json", root)
    assert done.returncode == 0, done.stderr
    return root.parent / "p_rs", json.loads(done.stdout)


@needs_cargo
def test_inner_functions_are_safe_and_take_slices_and_references(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    text = " ".join((lifted[0] / "src" / "a.rs").read_text().split())
    for name, parameters in INNER.items():
        found = re.search(rf"pub fn {name}_inner\(([^)]*?),? ?\)", text)
        assert found is not None, name
        assert found[1] == parameters, name
        assert f'pub unsafe extern "C" fn {name}(' in text, name
    for name in STAYING:
        assert f"fn {name}_inner" not in text, name
        assert f'pub unsafe extern "C" fn {name}(' in text, name


@needs_cargo
def test_inner_functions_call_inner_functions(lifted: tuple[Path, dict[str, Any]]) -> None:
    text = " ".join((lifted[0] / "src" / "a.rs").read_text().split())
    assert "get_x_inner(Some(p))" in text
    assert "clear_inner(&mut b[..]" in text
    assert "sum_inner(&b[..]" in text


@needs_cargo
def test_what_is_safe_was_called_without_a_crash(lifted: tuple[Path, dict[str, Any]]) -> None:
    report = lifted[1]
    assert report["not_called"] == ""
    assert report["sound_safe"] == len(INNER)
    assert {f["name"] for f in report["functions"] if f["state"] == "sound"} == {
        f"{name}_inner" for name in INNER
    }


@needs_cargo
def test_shims_check_what_c_hands_over(lifted: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Cargo.toml": '[package]\nname = "user"\nversion = "0.1.0"\nedition = "2021"\n'
            f'[dependencies]\np_rs = {{ path = "{lifted[0]}" }}\n[workspace]\n',
            "src/main.rs": USER,
        },
    )
    built = subprocess.run(
        ["cargo", "build", "--offline", "-q"], cwd=tmp_path, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr

    def run(word: str) -> subprocess.CompletedProcess[str]:
        program = [str(tmp_path / "target" / "debug" / "user"), word]
        return subprocess.run(program, capture_output=True, text=True)

    assert run("safe").stdout == "10\n"
    assert run("values").stdout == "[1, 3, 0, 4] 8\n5 [48, 49, 48, 51, 0, 7]\n0 -1\n"
    assert "total: `p` is null" in run("null").stderr
    assert "read_z: `p` and `z` overlap" in run("overlap").stderr


def inner(text: str) -> str:
    """What the layers make of one file; the text itself when they have nothing to do."""
    system = parse_source(Path("src/sys.rs"), b'extern "C" {\n}\n')
    source = parse_source(Path("src/a.rs"), text.encode())
    assert not source.root.has_error, text
    made = layers([source, system], set()).get(0)
    if made is None:
        return text
    assert not parse_source(Path("src/a.rs"), made).root.has_error, made
    return " ".join(made.decode().split())


F = '#[no_mangle] pub unsafe extern "C" fn '
SUM = (
    F + "f(p: *const u8, n: u32) -> u32 { let mut s: u32 = 0; let mut i: u32 = 0;"
    " while i < n { s = s.wrapping_add((*p.offset(i as isize)) as u32);"
    " i = i.wrapping_add(1); } s }"
)


@pytest.mark.parametrize(
    "text",
    [
        SUM.replace("s }", "KEPT = p; s }"),  # it is kept
        SUM.replace("s }", "(p as usize) as u32 }"),  # its address is the result
        SUM.replace("s = s", "let q: *const u8 = sys::next(p); s = s"),  # it is handed on
        SUM.replace("i < n", "i < m"),  # nothing says how much there is
        SUM.replace("while i", "n = g(); while i"),  # the length is another one
        SUM.replace("s }", "q = p; q = other; s }").replace(
            "let mut s", "let mut q: *const u8 = other; let mut s"
        ),  # another pointer may be it
        SUM.replace("s = s", "if (*p.offset(i as isize)) == 0u8 { return s; } s = s"),
        F + "f(p: *mut types::a, q: *mut types::a) { (*p).x = 1; (*q).x = 2; }",
        F + "f(p: *mut u8, n: u32, k: u32) { if k > 3u32 { *p.offset(k as isize) = 1u8; } }",
        F + "f(mut p: *mut types::a) { (*p).x = 1; p = (*p).next; }",
    ],
)
def test_a_pointer_that_is_more_than_its_elements_stays(text: str) -> None:
    assert inner(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SUM, "s.wrapping_add(p[i as usize] as u32)"),
        (
            SUM.replace("p: *const u8", "p: *const i8").replace("(*p", "(*(p as *const u8)"),
            "s.wrapping_add((p[i as usize] as u8) as u32)",
        ),
        (F + "f(p: *mut i32, q: *mut i32) { *p = 1i32; *q = *p; }", "p.set(1i32); q.set(p.get());"),
        (
            F + "f(p: *mut types::a) -> i32 { if p.is_null() || (*p).n == 0i32 { return 1i32; }"
            " (*p).n }",
            "let Some(p) = p else { return 1i32; }; if p.n == 0i32 { return 1i32; } p.n }",
        ),
        (
            F + "f(p: *const u8) -> u32 { ((*p.offset(0)) as u32) | ((*p.offset(2)) as u32) }",
            "sys::elements(p as *const u8, 3)",
        ),
    ],
)
def test_accesses_are_elements_and_fields(text: str, expected: str) -> None:
    made = inner(text)
    assert expected in made, made


SIZE = "pub const SIZE: i32 = 16; "
CONTEXT = (
    SIZE + "pub struct c { pub state: [u32; 4], pub buffer: [u8; 16], pub count: u64 } static T:"
    " [u8; 4] = [1u8, 2u8, 3u8, 4u8]; "
)
MIX = (
    F + "mix(state: *mut u32, block: *const u8) { *state.offset(3) = (*block.offset(15)) as u32; } "
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # so many bytes are read, and every element of a loop over numbers is written
            SIZE + F + "f(state: *mut u32, block: *const u8) { let mut x: [u32; 4] = [0; 4];"
            " sys::memcpy((x.as_mut_ptr()) as *mut core::ffi::c_void, block as *const"
            " core::ffi::c_void, types::SIZE as u64); for i in 0i32..4i32 {"
            " *state.offset(i as isize) = x[i as usize]; } }",
            "(sys::elements_mut(state as *mut u32, 4), sys::elements(block as *const u8, 16))",
        ),
        (  # the elements of a table, of which each turn takes four
            F + "f(to: *mut u8, n: u32) { for i in 0i32..4i32 {"
            " *to.offset(i.wrapping_mul(4i32) as isize).offset(3) = n as u8; } }",
            "sys::elements_mut(to as *mut u8, 16)",
        ),
        (  # a length in bytes
            F + "f(to: *mut u32, from: *const u8, len: u64) { let mut i: u64 = 0; while i < len /"
            " 4u64 { *to.offset(i as isize) = (*from.offset(i.wrapping_mul(4u64) as isize)) as u32;"
            " i = i.wrapping_add(1); } }",
            "(sys::elements_mut(to as *mut u32, (len / 4) as i64), sys::elements(from as *const u8,"
            " len as i64)); f_inner(to, from)",
        ),
        (SUM.replace("i < n", "i < 9u32"), "sys::elements(p as *const u8, 9)"),
        (  # a walk of known length
            F + "f(mut p: *mut u8) { *p = 1u8; p = p.offset(2); *p = 3u8; if known { return; } }",
            "sys::elements_mut(p as *mut u8, 3)",
        ),
        (  # in a loop, with an index that is not the pointer's, and after it
            F + "f(mut p: *mut i16, k: i32) { let mut i: i32 = 1i32; 'l1: while i <= 8i32 {"
            " if k > i { *p = 1i16; } else { *p.offset(1) = 2i16; } i = i.wrapping_add(1);"
            " p = p.offset(1); } *({ let __old = p; p = p.offset(1); __old }) = 3i16; }",
            "sys::elements_mut(p as *mut i16, 9)",
        ),
        (  # a loop that ends at the bottom
            F + "f(mut p: *const u8) -> u8 { let mut s: u8 = 0; let mut j: i32 = 0; 'l1: loop {"
            " s = s.wrapping_add(*p.offset(7)); p = p.offset(8); j = j.wrapping_add(1);"
            " if !(j < 16i32) { break 'l1; } } s }",
            "sys::elements(p as *const u8, 128)",
        ),
        (  # parts of it are handed on
            F + "e(p: *mut u8, x: u32) { *p.offset(3) = x as u8; } " + F + "f(to: *mut u8,"
            " from: *const u32, len: u64) { let mut i: u64 = 0; while i < len / 4u64 {"
            " e(to.offset(i.wrapping_mul(4u64) as isize) as *mut u8, *from.offset(i as isize));"
            " i = i.wrapping_add(1); } }",
            "(sys::elements_mut(to as *mut u8, len as i64), sys::elements(from as *const u32,"
            " (len / 4) as i64)); f_inner(to, from)",
        ),
        (  # it is called a length
            F + "f(data: *const u8, len: u64, from: u64) -> u8 { *data.offset(from as isize) }",
            "fn f_inner(data: &[u8], mut from: u64) -> u8",
        ),
        (  # members of a structure are lent apart from each other
            CONTEXT + MIX + F + "f(c: *mut types::c) {"
            " mix(&raw mut (*c).state as *mut u32, (*c).buffer.as_mut_ptr() as *const u8); }",
            "mix_inner(&mut (*c).state[..], &(*c).buffer[..]);",
        ),
        (  # and the elements of a table that nothing writes to
            CONTEXT + SUM + F + "g(c: *mut types::c) -> u32 { (*c).count = 1u64;"
            " f(T.as_ptr() as *const u8, 4u32) }",
            "f_inner(&T[..][..4])",
        ),
        (
            CONTEXT + MIX + F + "f(c: *mut types::c) { (*c).count = 0u64;"
            " sys::memset(c as *mut core::ffi::c_void, 0i32, 40u64); }",
            "const { assert!(core::mem::size_of::<types::c>() == 40) }; *c ="
            " unsafe { core::mem::zeroed::<types::c>() };",
        ),
    ],
)
def test_numbers_of_elements_are_found(text: str, expected: str) -> None:
    made = inner(text)
    assert expected in made, made


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (MIX.replace("*block.offset(15)", "*block.offset(other())"), "block: *const u8)"),
        (
            F + "f(p: *mut u32) { for i in 0i32..n() { *p.offset(i as isize) = 1u32; } }",
            "f(p: *mut u32)",
        ),
        (
            F + "f(p: *const u8, n: u64) { sys::memcpy(x, p as *const core::ffi::c_void, n / 2); }",
            "f(p: *const u8, n: u64)",
        ),
        (  # a walk that something else ends
            F + "f(mut p: *const u8, n: u32) -> u8 { let mut i: u32 = 0; while g(i) {"
            " p = p.offset(1); i = i.wrapping_add(1); } *p }",
            "f(mut p: *const u8, n: u32)",
        ),
        (
            F + "f(mut p: *const u8) -> u8 { 'l1: loop { if g() { break 'l1; } p = p.offset(1); }"
            " *p }",
            "f(mut p: *const u8)",
        ),
        (  # a length in bytes, perhaps
            F + "f(p: *const u32, len: u64, k: u64) -> u32 { *p.offset(k as isize) }",
            "f(p: *const u32, len: u64, k: u64)",
        ),
    ],
)
def test_what_says_no_number_of_elements_stays_a_pointer(text: str, stays: str) -> None:
    made = inner(text)
    assert stays in made and "elements(block" not in made and "elements(p" not in made, made
