"""What flow proves in Rust: each flaw and its repaired twin, however the value gets there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.flow.program.file_outline import outline_of
from jarvis_ls.jsec.flow.program.program import Program
from jarvis_ls.jsec.scan.file_scanner import analysis_of
from tests.support.starting import quick

LIVING = "Box::into_raw(Box::new(1))"
FREED = "{ let q = Box::into_raw(Box::new(1)); unsafe { drop(Box::from_raw(q)) }; q }"

FAMILIES = {
    "null-dereference": ("*mut i32", "std::ptr::null_mut()", LIVING, "unsafe { *p = 2 };"),
    "use-after-free": ("*mut i32", FREED, LIVING, "unsafe { *p = 2 };"),
    "double-free": ("*mut i32", FREED, LIVING, "unsafe { drop(Box::from_raw(p)) };"),
    "buffer-read-over": (
        "usize",
        "12",
        "7",
        "let a = [0u8; 10]; let _x = unsafe { *a.get_unchecked(p) };",
    ),
    "buffer-write-stack": (
        "usize",
        "12",
        "7",
        "let mut a = [0u32; 10]; let q = a.as_mut_ptr(); unsafe { *q.add(p) = 1 };",
    ),
    "buffer-write-heap": (
        "usize",
        "12",
        "7",
        "let a = [0u8; 20]; let mut b = vec![0u8; 10];"
        " unsafe { std::ptr::copy_nonoverlapping(a.as_ptr(), b.as_mut_ptr(), p) };",
    ),
    "divide-by-zero": ("u32", "0", "4", "let _r = 100 / p;"),
    "truncation": ("u64", "300", "200", "let _r = p as u8;"),
    "negative-to-huge": ("i64", "0 - 5", "5", "let _r = p as usize;"),
    "unwrap-none": ("Option<u32>", "None", "Some(3)", "let _r = p.unwrap();"),
    "length-unwritten": (
        "usize",
        "5",
        "0",
        "let mut v: Vec<u8> = Vec::with_capacity(8); unsafe { v.set_len(p) };",
    ),
    "command-injection": (
        "String",
        'std::env::var("X").unwrap()',
        'String::from("ls")',
        'Command::new("sh").arg("-c").arg(&p).status();',
    ),
    "path-absolute": (
        "String",
        'std::env::var("X").unwrap()',
        'String::from("a")',
        "File::open(&p);",
    ),
}
"""Type of a value, where it is a flaw, where it is none, and what is done with it."""

FLOWS = {
    "direct": "fn f() { let p: @type = @value; @use }",
    "flag": "fn f() { let flag = true; let p: @type = if flag { @value } else { @good }; @use }",
    "loop": "fn f() { let p: @type = loop { break @value; }; @use }",
    "while": "fn f() { let mut i = 0; let mut p: @type = @good;"
    " while i < 3 { p = @value; i += 1; } @use }",
    "match": "fn f() { let k = 2; let p: @type = "
    "match k { 1 => @good, 2 => @value, _ => @good }; @use }",
    "question": "fn g() -> Result<@type, String> { Ok(@value) }"
    " fn f() -> Result<(), String> { let p = g()?; @use Ok(()) }",
    "if-let": "fn f() { if let Some(p) = Some(@value) { @use } }",
    "let-else": "fn f() { let Some(p) = Some(@value) else { return }; @use }",
    "field": "struct Held { value: @type } "
    "fn f() { let h = Held { value: @value }; let p = h.value; @use }",
    "tuple": "fn f() { let (p, _n): (@type, u8) = (@value, 1); @use }",
    "closure": "fn f() { let p: @type = (|| @value)(); @use }",
    "parameter": "fn g(p: @type) { @use } fn f() { g(@value) }",
    "method": "struct Held { value: @type } impl Held { fn g(self) { let p = self.value; @use } }"
    " fn f() { let h = Held { value: @value }; h.g() }",
    "returned": "fn g() -> @type { @value } fn f() { let p = g(); @use }",
    "files": "mod other { pub fn g() -> @type { @value } }\n---\n"
    "fn f() { let p = other::g(); @use }",
}


OPEN = {("length-unwritten", "parameter"), ("length-unwritten", "method")}
"""Where the twin is a flaw for other callers: any length but that given is one."""


def faults_of(*texts: str) -> list[Fault]:
    """What is proven in a program of a few files."""
    files, outlines = {}, []
    for index, text in enumerate(texts):
        source = Source(f"src/part{index}.rs", text.encode())
        file = lower(Unit(source, "rust", Facts()), parse(source.data, "rust").root_node)
        files[source.path] = file
        outlines.append(outline_of(file, source.data))
    follow = analysis_of(Program(outlines, lambda path, key: files[path].functions.get(key)))
    return [
        fault
        for file in files.values()
        for one in file.functions.values()
        for fault in follow(one).faults
    ]


def written(family: str, flow: str, *, flawed: bool) -> list[str]:
    """The files of one case."""
    type_, bad, good, use = FAMILIES[family]
    places = {"@use": use, "@good": good, "@type": type_, "@value": bad if flawed else good}
    text = FLOWS[flow]
    for name, held in places.items():
        text = text.replace(name, held)
    return text.split("\n---\n")


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("family", FAMILIES)
def test_flaw_and_twin(family: str, flow: str) -> None:
    found = [one for one in faults_of(*written(family, flow, flawed=True)) if one.kind == family]
    assert found, "the flaw"
    assert found[0].steps[-1].message == family
    if (family, flow) in OPEN:
        return
    twin = [one.kind for one in faults_of(*written(family, flow, flawed=False))]
    assert family not in twin, "its repaired twin"


PROVEN = """pub unsafe fn make() -> *mut u32 { Box::into_raw(Box::new(7)) }
"""
USED = """mod other;
fn main() {
    let p = unsafe { other::make() };
    unsafe { drop(Box::from_raw(p)) };
    println!("{}", unsafe { *p });
    let table = [1u8, 2, 3];
    let index = pick();
    let found = unsafe { *table.get_unchecked(index) };
    let small: u64 = 200;
    let byte = small as u8;
    show(found, byte);
}
fn pick() -> usize { 2 }
"""


def test_scan_tells_the_way_and_drops_refuted_guesses(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "other.rs").write_text(PROVEN)
    (tmp_path / "src" / "main.rs").write_text(USED)
    without = _scan(tmp_path, "--no-flow")
    guesses = {one["rule"] for one in without}
    assert {"get-unchecked-without-bound", "as-truncates-number"} <= guesses
    assert all(len(one["trace"]) == 1 for one in without)
    findings = {one["rule"]: one for one in _scan(tmp_path)}
    told = findings["raw-pointer-used-after-free"]
    assert told["line"] == 5
    assert [(step["file"], step["line"]) for step in told["trace"]] == [
        ("src/main.rs", 3),
        ("src/other.rs", 1),
        ("src/main.rs", 4),
        ("src/main.rs", 5),
    ]
    assert not {"get-unchecked-without-bound", "as-truncates-number"} & findings.keys()


def _scan(folder: Path, *options: str) -> list[dict[str, Any]]:
    command = [*quick("jarvis_ls.cli.jsec"), "scan", str(folder), "--jobs", "1"]
    command += ["--min-confidence", "0"]
    done = subprocess.run(
        [*command, "--format", "json", *options], capture_output=True, text=True, check=False
    )
    report: dict[str, Any] = json.loads(done.stdout)
    found: list[dict[str, Any]] = report["issues"]
    return found
