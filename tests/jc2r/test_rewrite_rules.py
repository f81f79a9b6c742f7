"""`jc2r check-rewrite`: what a rewrite does to look safer than it is, and what it may do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from project import jc2r, write

MANIFEST = '[package]\nname = "p"\nversion = "0.1.0"\n\n[lints.rust]\nunsafe_code = "deny"\n'
BEFORE = {
    "Cargo.toml": MANIFEST,
    "src/lib.rs": "#![allow(dead_code)]\npub mod a;\npub mod sys;\n",
    "src/sys.rs": 'extern "C" { pub fn strlen(s: *const i8) -> u64; }\n',
    "src/a.rs": """use crate::sys;
static mut COUNT: i32 = 0;
#[no_mangle]
pub unsafe extern "C" fn weigh(data: *const u8, n: u64) -> i32 {
    let text = core::mem::transmute::<[u8; 4], [i8; 4]>(*b"abc\\0");
    let first = (data as usize + 1) as *const u8;
    return *first as i32 + sys::strlen(text.as_ptr()) as i32;
}
#[no_mangle]
pub unsafe extern "C" fn process(n: i32) -> i32 {
    return n;
}
#[cfg(test)]
mod tests {
    #[test]
    fn weighs() { assert_eq!(1 + 1, 2); assert!(2 > 1); }
    #[test]
    fn keeps() { assert_ne!(1, 2); }
}
""",
    "tests/recorded.rs": "#[test]\nfn recorded() { assert!(std::env::args().count() > 0); }\n",
    "tests/recorded/0/stdout": "42\n",
}
BODIES = {
    "unsafe-interface": [
        "pub unsafe fn more(n: i32) -> i32 { n }",
        # A function that is called safe and looks through any pointer it is handed.
        "pub fn look(p: *const u8) -> u8 {\n    // SAFETY: p is valid.\n    unsafe { *p }\n}",
        "struct Cell(i32);\nunsafe impl Sync for Cell {}",
        "unsafe trait Plain {}",
    ],
    "unexplained-unsafe": [
        "fn a(s: &[u8]) -> u8 { let p = s.as_ptr(); unsafe { *p } }",
        "fn b(s: &[u8]) -> u8 {\n    let p = s.as_ptr();\n    // SAFETY: this is fine.\n"
        "    unsafe { *p }\n}",
        "fn c(s: &[u8]) -> u8 {\n    let p = s.as_ptr();\n    // SAFETY: q is valid here.\n"
        "    unsafe { *p }\n}",
        "fn d(s: &[u8]) -> u8 {\n    let p = s.as_ptr();\n    // SAFETY: p was in the C too.\n"
        "    unsafe { *p }\n}",
    ],
    "unchecked": [
        "fn a(s: &[u8]) -> u8 {\n    // SAFETY: s is within bounds.\n"
        "    unsafe { *s.get_unchecked(9) }\n}",
        "fn b(n: Option<u8>) -> u8 {\n    // SAFETY: n is valid.\n"
        "    unsafe { n.unwrap_unchecked() }\n}",
        "fn c() -> ! {\n    // SAFETY: unreachable_unchecked is never reached.\n"
        "    unsafe { core::hint::unreachable_unchecked() }\n}",
    ],
    "extern-c": ['pub extern "C" fn more(n: i32) -> i32 { n }'],
    "foreign-call": [
        'extern "C" { fn abs(n: i32) -> i32; }',
        "fn a(n: i32) -> i32 {\n    // SAFETY: n is in range.\n"
        "    unsafe { crate::sys::abs(n) }\n}",
        "fn b() -> i32 {\n    // SAFETY: rand is valid.\n    unsafe { libc::rand() }\n}",
        "extern crate libc;",
    ],
    "own-memory": [
        'fn a() -> &\'static str { "/proc/self/mem" }',
        'fn b() -> &\'static str { "/pr\\u{6f}c/self/mem" }',
        'fn c() -> &\'static str { concat!("/pro", "c/self/", "mem") }',
        'fn d() -> &\'static [u8] { br"/proc/1/mem" }',
    ],
    "process": [
        "fn a() { std::process::exit(0) }",
        "use std::process as p;\nfn b() { p::abort() }",
        "use std::{mem, process};\nfn c() { process::abort(); mem::drop(1) }",
        'fn d() { Command::new("sh"); }',
    ],
    "effect": [
        'fn a() { let _ = std::fs::read("a"); }',
        "use std::net::TcpStream;",
        "fn b() { std::thread::spawn(|| 1); }",
        'fn c() { println!("42"); }',
        "use std::io::Write as _;",
    ],
    "integer-to-pointer": [
        "fn a(n: usize) -> *const u8 { n as *const u8 }",
        "fn b() -> *mut u8 { 4096 as *mut u8 }",
        "fn c(p: *const u8) -> *const u8 { (p as usize + 2) as *const u8 }",
        "fn d(s: &[usize]) -> *const u8 { let at = s[0]; at as *const u8 }",
        "fn e(n: usize) -> *const u8 { core::ptr::with_exposed_provenance(n) }",
        'fn f(n: usize) -> String { format!("{:?}", n as *const u8) }',
        "fn g(p: *const u8) -> *const u8 { let p = p as usize; p as *const u8 }",
        "fn h(p: Option<usize>) -> *const u8 { match p { Some(p) => p as *const u8, _ => f() } }",
    ],
    "transmute": [
        "fn a(n: u32) -> f32 {\n    // SAFETY: n is as many bytes.\n"
        "    unsafe { core::mem::transmute(n) }\n}",
        "use core::mem::transmute as convert;",
        "fn b(n: u32) -> f32 {\n    // SAFETY: n is as many bytes.\n"
        "    unsafe { core::mem::r#transmute(n) }\n}",
        "union Bits { n: u32, f: f32 }",
    ],
    "from-raw": [
        "fn a(s: &mut [u8]) -> &mut [u8] {\n    // SAFETY: s points to 9 elements.\n"
        "    unsafe { core::slice::from_raw_parts_mut(s.as_mut_ptr(), 9) }\n}",
        "fn b(s: *mut u8) -> Box<u8> {\n    // SAFETY: s is owned.\n"
        "    unsafe { Box::from_raw(s) }\n}",
    ],
    "static-mut": [
        "static mut LAST: u8 = 0;",
        "static LAST: core::cell::UnsafeCell<u8> = core::cell::UnsafeCell::new(0);",
    ],
    "assembly": [
        'core::arch::global_asm!("nop");',
        'fn a() {\n    // SAFETY: asm is one byte.\n    unsafe { core::arch::asm!("nop") }\n}',
        "use core::arch::x86_64::_mm_pause;",
    ],
    "allowed-lint": [
        "#[allow(unsafe_code)]\nfn a() {}",
        "#[expect(clippy::all)]\nfn b() {}",
        "fn c() { #[allow(unused)] let a = 1; }",
    ],
    "caught-panic": [
        "fn a() -> bool { std::panic::catch_unwind(|| 1).is_ok() }",
        "use std::panic::catch_unwind;",
        "fn b() { std::panic::set_hook(Box::new(|_| ())); }",
    ],
    "conditional": [
        "#[cfg(test)]\nfn a() -> i32 { 1 }",
        "fn b() -> i32 { if cfg!(debug_assertions) { 1 } else { 2 } }",
        "#[cfg_attr(test, inline)]\nfn c() {}",
    ],
    "observed-test": [
        'fn a() -> bool { std::env::var("X").is_ok() }',
        'fn b() -> bool { module_path!().contains("x") }',
        'fn c() -> bool { option_env!("X").is_some() }',
        'fn d() -> &\'static str { "under_test" }',
        "fn e() -> &'static str { std::any::type_name::<u8>() }",
    ],
    "attribute": [
        "#[no_mangle]\npub fn a() {}",
        '#[unsafe(export_name = "b")]\npub fn b() {}',
        '#[link_section = ".init_array"]\nstatic A: fn() = c;',
    ],
    "macro": [
        "macro_rules! m { ($e:expr) => { $e } }",
        'fn a(p: *const u8) -> String { format!("{}", unsafe { *p }) }',
    ],
    "included": [
        'include!("../other.rs");',
        'static A: &[u8] = include_bytes!("/etc/passwd");',
    ],
    "unfinished": ["fn a() -> i32 { todo!() }", "fn b() -> i32 { unimplemented!() }"],
    "syntax": ["fn a( {"],
}
CASES = [(rule, text) for rule, texts in BODIES.items() for text in texts]


def check(before: Path, after: Path, status: int) -> list[dict[str, Any]]:
    done = jc2r("check-rewrite", "--format", "json", before, after)
    assert done.returncode == status, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def cheats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The rules that are broken, by file: one file for each case."""
    folder = tmp_path_factory.mktemp("rules")
    write(folder / "before", BEFORE)
    write(folder / "after", BEFORE)
    names = [f"src/c{number}.rs" for number in range(len(CASES))]
    write(folder / "after", {name: text for name, (_, text) in zip(names, CASES, strict=True)})
    broken: dict[str, set[str]] = {name: set() for name in names}
    for violation in check(folder / "before", folder / "after", 1):
        broken[violation["file"]].add(violation["rule"])
        assert violation["code"] and violation["code"] in violation["message"]
    return broken


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{r}: {t[:40]}" for r, t in CASES])
def test_what_only_looks_safer_breaks_a_rule(cheats: dict[str, set[str]], number: int) -> None:
    assert CASES[number][0] in cheats[f"src/c{number}.rs"]


GOOD = """use crate::sys;
static mut COUNT: i32 = 0;
/// The sum of `data`.
pub fn weigh_safe(data: &[u8]) -> i32 {
    data.iter().fold(0i32, |sum, byte| sum.wrapping_add(i32::from(*byte)))
}
#[inline]
fn find(text: &[u8], wanted: u8) -> Option<usize> {
    let process = text.len();
    text.iter().take(process).position(|byte| *byte == wanted)
}
fn address(data: &[u8]) -> *const i8 {
    let start: *const u8 = data.as_ptr();
    let same = &raw const start as *const u8;
    assert!(!same.is_null(), "{}", data.len() as u32);
    start as *const i8
}
fn first(data: &[u8]) -> u8 {
    let start = data.as_ptr();
    if data.is_empty() {
        return 0;
    }
    // SAFETY: `start` points to the first of at least one element.
    unsafe { *start }
}
#[no_mangle]
pub unsafe extern "C" fn weigh(values: *const u8, mut n: u64) -> i32 {
    let text = core::mem::transmute::<[u8; 4], [i8; 4]>(*b"abc\\0");
    weigh_safe(&[]) + sys::strlen(text.as_ptr()) as i32
}
#[no_mangle]
pub extern "C" fn process(n: i32) -> i32 {
    if n > 2 { process(n - 1) } else { crate::process::run(n) }
}
#[cfg(test)]
mod tests {
    #[test]
    fn weighs() { assert_eq!(1 + 1, 2); assert!(2 > 1, "more"); }
    #[test]
    fn keeps() { assert_ne!(1, 2); }
    #[test]
    fn adds() { assert_eq!(super::weigh_safe(&[1, 2]), 3); }
}
"""


def test_plain_safe_rust_breaks_none(tmp_path: Path) -> None:
    write(tmp_path / "before", BEFORE)
    write(tmp_path / "after", BEFORE)
    write(
        tmp_path / "after", {"src/a.rs": GOOD, "src/process.rs": "pub fn run(n: i32) -> i32 { n }"}
    )
    write(tmp_path / "after", {"src/ffi.rs": '#[no_mangle]\npub extern "C" fn more() {}\n'})
    found = check(tmp_path / "before", tmp_path / "after", 1)
    assert [(one["rule"], one["file"]) for one in found] == [("attribute", "src/ffi.rs")]
    (tmp_path / "after" / "src" / "ffi.rs").unlink()
    assert check(tmp_path / "before", tmp_path / "after", 0) == []


def test_tests_exports_and_the_build_stay(tmp_path: Path) -> None:
    write(tmp_path / "before", BEFORE)
    after = tmp_path / "after"

    def broken(name: str, old: str = "", new: str = "") -> set[tuple[str, str]]:
        shutil.rmtree(after, ignore_errors=True)
        write(after, BEFORE)
        assert old in BEFORE.get(name, "")
        write(after, {name: BEFORE.get(name, "").replace(old, new) if old else new})
        found = check(tmp_path / "before", after, 1)
        return {(one["rule"], one["code"]) for one in found}

    source = "src/a.rs"
    assert broken(source, "    #[test]\n    fn keeps", "    fn keeps") == {("test", "keeps")}
    assert broken(source, "assert!(2 > 1);", "assert!(true);") == {("test", "weighs")}
    assert broken(source, " assert!(2 > 1);") == {("test", "weighs")}
    assert ("test", "keeps") in broken(source, "fn keeps", "#[ignore]\n    fn keeps")
    assert broken("tests/recorded/0/stdout", "42", "43") == {("test", "tests/recorded/0/stdout")}
    assert broken("tests/recorded.rs", "#[test]") == {("test", "recorded")}
    assert broken(source, "fn process(n: i32)", "fn process(n: i64)") == {("export", "process")}
    whole = BEFORE[source].partition("#[cfg(test)]")[0]
    assert broken(source, whole) == {("export", "weigh"), ("export", "process")}
    more = MANIFEST + '\n[dependencies]\nlibbz2-rs-sys = "0.2"\n'
    assert broken("Cargo.toml", MANIFEST, more) == {("dependency", "libbz2-rs-sys")}
    assert broken("Cargo.toml", "deny", "allow") == {("allowed-lint", "rust::unsafe_code")}
    assert broken("Cargo.toml", MANIFEST, "[package") == {("build", "Cargo.toml")}
    assert broken("build.rs", "", "fn main() {}\n") == {("build", "build.rs")}


def test_what_is_no_crate_is_a_usage_error(tmp_path: Path) -> None:
    write(tmp_path / "before", BEFORE)
    done = jc2r("check-rewrite", tmp_path / "before", tmp_path / "nowhere")
    assert done.returncode == 2 and "There is no crate" in done.stderr
    assert jc2r("check-rewrite", tmp_path / "before", tmp_path / "before").returncode == 0


def test_odd_files_are_read_to_their_end(tmp_path: Path) -> None:
    write(tmp_path / "before", BEFORE)
    write(tmp_path / "after", BEFORE)
    odd = tmp_path / "after" / "src"
    (odd / "empty.rs").write_bytes(b"")
    (odd / "bytes.rs").write_bytes(b"\xff\xfe fn \x00 a() {}")
    (odd / "deep.rs").write_text("fn a() { " + "(" * 20_000 + ")" * 20_000 + " }")
    (odd / "long.rs").write_text("fn a() { " + "a::" * 50_000 + "b(); }")
    (odd / "casts.rs").write_text(
        "fn a(p: *const u8) { " + "".join(f"let a{n} = p as *mut u8;" for n in range(3000)) + " }"
    )
    found = check(tmp_path / "before", tmp_path / "after", 1)
    assert {one["file"] for one in found} == {*("src/bytes.rs", "src/deep.rs", "src/long.rs")}
    assert {one["rule"] for one in found} == {"syntax"}
