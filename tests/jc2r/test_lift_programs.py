"""Lifting of programs: what nothing links to has no name for the linker, globals are atomics."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from jarvis_ls.jc2r.build.products import makes_libraries
from jarvis_ls.jc2r.lift.atomics import atomics
from jarvis_ls.jc2r.lift.crate_copy import duplicate_crate
from jarvis_ls.jc2r.lift.exports import exports
from jarvis_ls.jc2r.lift.rust import parse_source
from jarvis_ls.jc2r.lift.text_tables import text_tables

MAIN = """\
#include <stdio.h>
#include "tally.h"
int verbose = 1;
static const char *label = "sum";
static const char *names[] = {"none", "one", "two"};
const char *kind = "plain";
static const char *name_of(int n) { return names[n & 1]; }
static int seen;
static unsigned flags = 4;
static void note(int n) { seen += n; flags |= (unsigned)n; *where() = n; }
void report(struct tally *t) {
    t->sum *= 2;
    if (verbose) printf("%d %u %d %d\\n", seen, flags, t->sum, last);
    label = seen > 3 ? "more" : label;
}
int main(void) {
    struct tally t = {0, 0};
    for (int i = 0; i < 4; i++) { add(&t, i); note(i); }
    report(&t);
    puts(label);
    puts(name_of(t.count + 1));
    puts(kind);
    return t.count - 4;
}
"""
TALLY = """\
#include "tally.h"
int last = -1;
int *where(void) { return &last; }
void add(struct tally *t, int n) { t->sum += n; t->count++; }
"""
HEADER = """\
struct tally { int sum, count; };
extern int last;
int *where(void);
void add(struct tally *t, int n);
"""
FILES = {"main.c": MAIN, "tally.c": TALLY, "tally.h": HEADER}
MAKEFILE = "tool: main.o tally.o\n\t$(CC) -o $@ main.o tally.o\n"


def lift(root: Path) -> dict[str, object]:
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    done = jc2r("lift", "--cases", 6, "--format", "json", root)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def lifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    root = tmp_path_factory.mktemp("programs") / "p"
    write(root, {**FILES, "Makefile": MAKEFILE})
    return root.parent / "p_rs", lift(root)


@needs_cargo
def test_functions_of_a_program_are_its_own(lifted: tuple[Path, dict[str, object]]) -> None:
    tally = (lifted[0] / "src" / "tally.rs").read_text()
    main = (lifted[0] / "src" / "bin" / "main.rs").read_text()
    assert "no_mangle" not in tally + main
    assert "fn add(t: &mut types::tally, n: i32)" in tally and "unsafe" not in tally
    assert "fn report(t: &" in main and "_inner" not in tally + main


@needs_cargo
def test_globals_are_atomics(lifted: tuple[Path, dict[str, object]]) -> None:
    tally = (lifted[0] / "src" / "tally.rs").read_text()
    main = (lifted[0] / "src" / "bin" / "main.rs").read_text()
    assert "static mut" not in tally + main
    assert "LAST: core::sync::atomic::AtomicI32" in tally and "LAST.as_ptr()" in tally
    assert "tally::LAST.load(Relaxed)" in main
    assert "NAMES: [&core::ffi::CStr; 3] =" in main and 'KIND: &core::ffi::CStr = c"plain"' in main
    assert "FLAGS.fetch_or(" in main and "LABEL.store(" in main


@needs_cargo
def test_the_program_does_what_the_c_does(
    lifted: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    write(tmp_path, FILES)
    subprocess.run(["cc", "-o", "c", "main.c", "tally.c"], cwd=tmp_path, check=True)
    subprocess.run(["cargo", "build", "--offline", "--quiet"], cwd=lifted[0], check=True)
    c, rust = (
        subprocess.run([program], capture_output=True, check=False)
        for program in (tmp_path / "c", lifted[0] / "target" / "debug" / "main")
    )
    assert (
        (c.returncode, c.stdout)
        == (rust.returncode, rust.stdout)
        == (0, b"6 7 12 3\nmore\none\nplain\n")
    )
    report = lifted[1]
    assert report["left"] == [] and report["not_called"] == ""


@needs_cargo
def test_the_comparison_finds_functions_without_a_name_for_the_linker(
    lifted: tuple[Path, dict[str, object]],
) -> None:
    root = lifted[0].parent / "p"
    done = jc2r("verify", "--mutants", 0, "--cases", 6, root)
    assert done.returncode == 0 and "; 0 differ" in done.stdout, done.stdout + done.stderr
    assert "5 of 6 functions behave like the C" in done.stdout, done.stdout  # all but main
    text = (lifted[0] / "src" / "tally.rs").read_text()
    broken = text.replace("wrapping_add(n)", "wrapping_sub(n)")
    assert broken != text
    (lifted[0] / "src" / "tally.rs").write_text(broken)
    done = jc2r("verify", "--mutants", 0, "--cases", 6, root)
    (lifted[0] / "src" / "tally.rs").write_text(text)
    assert done.returncode != 0 and "add" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Makefile": MAKEFILE}, False),
        ({"Makefile": "libx.a: x.o\n\tar rcs $@ x.o\n"}, True),
        ({"Makefile": "# libx.a\ntool: x.o\n"}, False),
        ({"Makefile": "all:\n\t$(CC) -shared -o libx.so x.o\n"}, True),
        ({"Makefile.am": "bin_PROGRAMS = x\n", "Makefile.in": "AR = @AR@\nlibtool=no\n"}, False),
        ({"Makefile.am": "lib_LTLIBRARIES = libx.la\n"}, True),
        ({"CMakeLists.txt": "add_executable(x x.c)\n"}, False),
        ({"CMakeLists.txt": "project(x)\n", "src/CMakeLists.txt": "add_library(x x.c)\n"}, True),
        ({"meson.build": "executable('x', 'x.c')\n"}, False),
        ({"meson.build": "shared_library('x', 'x.c')\n"}, True),
        ({"x.c": "int x;\n"}, True),
    ],
)
def test_build_files_say_whether_others_may_link_to_it(
    tmp_path: Path, files: dict[str, str], expected: bool
) -> None:
    write(tmp_path, files)
    assert makes_libraries(tmp_path) is expected


OWN = b'#[no_mangle]\npub unsafe extern "C" fn %b() {}\n'
OUTSIDE = b'extern "C" {\n    pub fn named();\n}\n'


@pytest.mark.parametrize(
    ("name", "text", "gone"),
    [
        (b"own", b"", True),
        (b"named", b"", False),  # another module calls it by its name
        (b"left", b"", False),  # the C that is left does
        (b"malloc", b"", False),  # the C library does
        (b"asked", b'core::arch::global_asm!(".weak asked");\n', False),
    ],
)
def test_who_knows_a_name_keeps_it(name: bytes, text: bytes, gone: bool) -> None:
    program = parse_source(Path("src/bin/p.rs"), text + OWN % name)
    module = parse_source(Path("src/m.rs"), text + OWN % name)
    system = parse_source(Path("src/sys.rs"), OUTSIDE)
    made = exports([program, module, system], [b"void left(void);"], set(), library=True)
    assert (0 in made) is gone and 1 not in made
    made = exports([program, module, system], [b"void left(void);"], set(), library=False)
    assert (1 in made) is gone


def atomic(text: str, *others: str) -> str:
    """What the pass makes of one file; the text itself when it has nothing to do."""
    paths = [Path(f"src/{name}.rs") for name in "abc"]
    sources = [
        parse_source(path, one.encode()) for path, one in zip(paths, (text, *others), strict=False)
    ]
    made = atomics(sources, set()).get(0)
    if made is None:
        return text
    assert not parse_source(paths[0], made).root.has_error, made
    return made.decode()


HEAD = "use crate::sys;\npub static mut N: u8 = 3;\n"


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("N = N.wrapping_add(1);", "N.fetch_add(1, Relaxed);"),
        ("N = N | m;", "N.fetch_or(m, Relaxed);"),
        ("N = N | h();", "N.store(N.load(Relaxed) | h(), Relaxed);"),
        ("N = m | N;", "N.store(m | N.load(Relaxed), Relaxed);"),
        ("N = N.wrapping_mul(3);", "N.store(N.load(Relaxed).wrapping_mul(3), Relaxed);"),
        ("if a { N |= 1 }", "if a { { N.fetch_or(1, Relaxed); } }"),
        ("N -= 2;", "N.fetch_sub(2, Relaxed);"),
        ("N <<= f();", "{ let __by = f(); N.store(N.load(Relaxed) << __by, Relaxed) };"),
        ("g(&raw mut N);", "g(N.as_ptr());"),
        ("{ static mut N: u16 = 1; N = 2; }", "AtomicU16::new(1); N.store(2, Relaxed); }"),
    ],
)
def test_each_use_of_a_number(use: str, expected: str) -> None:
    made = atomic(f"{HEAD}fn f() {{ {use} }}\n")
    assert expected in made
    assert ("use core::sync::atomic::Ordering::Relaxed;" in made) is ("Relaxed)" in expected)
    assert (
        "pub static N: core::sync::atomic::AtomicU8 = core::sync::atomic::AtomicU8::new(3)" in made
    )


@pytest.mark.parametrize("use", ["h(&mut N);", "m!(N);", "S { N }.g();", "let x = &N;"])
def test_what_is_no_use_of_an_atomic_leaves_it_alone(use: str) -> None:
    text = f"{HEAD}fn f() {{ {use} }}\n"
    assert atomic(text) == text
    text = f"{HEAD}fn f() {{ N = 1; }}\n"
    assert atomic(text, "fn g() { h(&mut a::N); }\n") == text, "another module has such a use"
    assert "N.store(1, Relaxed)" in atomic(text, "fn g() { h(a::N); let x = b::N; }\n")


def test_pointers_and_what_they_point_to() -> None:
    text = "use crate::sys;\nstatic mut P: *const i8 = core::ptr::null();\n"
    made = atomic(text + "fn f(p: *const i8) { P = p; g(P, *P); }\n")
    assert "P: core::sync::atomic::AtomicPtr<i8> = " in made
    assert "P.store((p as *const i8).cast_mut(), Relaxed)" in made
    assert "g(P.load(Relaxed).cast_const(), *P.load(Relaxed).cast_const())" in made


def test_a_second_copy_is_newer_than_what_was_built_of_the_first(tmp_path: Path) -> None:
    crate = tmp_path / "p"
    write(crate, {"src/lib.rs": "pub fn f() {}\n"})
    copy = duplicate_crate(crate, tmp_path / "work")
    built = copy / "target"
    shutil.copytree(copy / "src", built)
    (copy / "src" / "lib.rs").write_text("pub fn g() {}\n")
    again = duplicate_crate(crate, tmp_path / "work")
    source = again / "src" / "lib.rs"
    assert source.read_text() == "pub fn f() {}\n"
    assert source.stat().st_mtime_ns > (built / "lib.rs").stat().st_mtime_ns


NAMES = """use crate::sys;
static mut NAMES: [[*mut i8; 2]; 2] = unsafe {
    [
        [c"a".as_ptr() as *mut i8, b"b\\n\\0".as_ptr() as *const i8 as *mut i8],
        [c"".as_ptr() as *mut i8, LAST],
    ]
};
"""


@pytest.mark.parametrize(
    ("last", "use", "kind", "expected"),
    [
        (
            'c"d".as_ptr() as *mut i8',
            "g(NAMES[i][0]);",
            "&CStr",
            "g(NAMES[i][0].as_ptr().cast_mut())",
        ),
        (
            'c"d".as_ptr() as *mut i8',
            "g(NAMES[i][0] as *const i8);",
            "&CStr",
            "g(NAMES[i][0].as_ptr())",
        ),
        ('c"d".as_ptr() as *mut i8', "if NAMES[i][1].is_null() {}", "&CStr", "if false {}"),
        (
            "core::ptr::null_mut()",
            "if NAMES[i][1].is_null() {}",
            "Option<&CStr>",
            "[1].is_none() {}",
        ),
        ("core::ptr::null_mut()", "g(NAMES[i][1]);", "Option<&CStr>", "map_or(core::ptr::null(), "),
    ],
)
def test_tables_of_texts(last: str, use: str, kind: str, expected: str) -> None:
    text = NAMES.replace("LAST", last) + f"fn f(i: usize) {{ {use} }}\n"
    made = text_tables([parse_source(Path("src/a.rs"), text.encode())], set())[0].decode()
    assert not parse_source(Path("src/a.rs"), made.encode()).root.has_error, made
    assert expected in made
    shown = kind.replace("CStr", "core::ffi::CStr")
    assert f"static NAMES: [[{shown}; 2]; 2] = [" in made and "unsafe" not in made
    some = "Some({})" if "Option" in kind else "{}"
    assert some.format('c"a"') in made and some.format('c"b\\n"') in made


@pytest.mark.parametrize(
    ("last", "use"),
    [
        ("BUFFER.as_ptr() as *mut i8", "g(NAMES[i][0]);"),
        ('c"d".as_ptr() as *mut i8', "NAMES[i][0] = p;"),
        ('c"d".as_ptr() as *mut i8', "g(&raw mut NAMES);"),
        ('c"d".as_ptr() as *mut i8', "g(&raw mut NAMES[i][0]);"),
        ('c"d".as_ptr() as *mut i8', "g(NAMES[i]);"),
        ('b"d\\0e\\0".as_ptr() as *mut i8', "g(NAMES[i][0]);"),  # a `CStr` ends at the first zero
    ],
)
def test_tables_that_are_more_than_texts_to_read_stay(last: str, use: str) -> None:
    text = NAMES.replace("LAST", last) + f"fn f(i: usize, p: *mut i8) {{ {use} }}\n"
    assert text_tables([parse_source(Path("src/a.rs"), text.encode())], set()) == {}


TABLES = """use crate::sys;
static mut T: [i32; 3] = [1, 2, 3];
static mut G: [[u8; 2]; 4] = [[0; 2]; 4];
static mut P: [*const i8; 2] = [core::ptr::null(); 2];
static mut X: f64 = 0.5;
"""


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("n = T[i as usize];", "n = T[i as usize].load(Relaxed);"),
        (
            "T[0] = T[0].wrapping_add(n);",
            "T[0].store(T[0].load(Relaxed).wrapping_add(n), Relaxed);",
        ),
        ("T[i] = { i += 1; n };", "{ let __new = { i += 1; n }; T[i].store(__new, Relaxed) };"),
        (
            "T[h()] |= 4;",
            "{ let __by = 4; let __number = &T[h()];"
            " __number.store(__number.load(Relaxed) | __by, Relaxed) };",
        ),
        (
            "T[i] += n;",
            "{ let __by = n; T[i].store(T[i].load(Relaxed).wrapping_add(__by), Relaxed) };",
        ),
        ("G[i][T[n]] = 1;", "G[i][T[n].load(Relaxed)].store(1, Relaxed);"),
        (
            "g(&raw mut G[1], G[0][1]);",
            "g((&raw const G[1]).cast_mut().cast::<[u8; 2]>(), G[0][1].load(Relaxed));",
        ),
        (
            "g(&raw mut T, T[0]);",
            "g((&raw const T).cast_mut().cast::<[i32; 3]>(), T[0].load(Relaxed));",
        ),
        ("g(&raw const T[n]);", "g(T[n].as_ptr().cast_const());"),
        ("p = P[1];", "p = P[1].load(Relaxed).cast_const();"),
        ("X = X * y;", "X.store(f64::to_bits(f64::from_bits(X.load(Relaxed)) * y), Relaxed);"),
        (
            "X += 2.0;",
            "{ let __by = 2.0; X.store(f64::to_bits(f64::from_bits(X.load(Relaxed)) + __by),"
            " Relaxed) };",
        ),
        ("g(&raw mut X);", "g(X.as_ptr().cast::<f64>());"),
    ],
)
def test_each_use_of_a_table_and_of_a_number_with_a_point(use: str, expected: str) -> None:
    assert f"fn f() {{ {expected} }}" in atomic(f"{TABLES}fn f() {{ {use} }}\n")


def test_a_table_begins_with_atomics() -> None:
    made = atomic(f"{TABLES}fn f() {{ n = T[0] + G[0][0]; X = P[0]; }}\n")
    sync = "core::sync::atomic::"
    number = f"{sync}AtomicI32::new"
    assert f"T: [{sync}AtomicI32; 3] = [{number}(1), {number}(2), {number}(3)];" in made
    inner = f"[const {{ {sync}AtomicU8::new(0) }}; 2]"
    assert f"G: [[{sync}AtomicU8; 2]; 4] = [const {{ {inner} }}; 4];" in made
    assert f"X: {sync}AtomicU64 = {sync}AtomicU64::new(f64::to_bits(0.5));" in made
    assert f"P: [{sync}AtomicPtr<i8>; 2] = [const" in made


@pytest.mark.parametrize(
    "use", ["g(&T, T[0]);", "n = T[0] + T.len();", "g(&raw mut T);", "a = T;", "g(&mut T[0]);"]
)
def test_a_table_stays_where_a_use_is_none_of_an_atomic(use: str) -> None:
    text = f"{TABLES}fn f() {{ {use} }}\n"
    assert "static mut T" in atomic(text)
