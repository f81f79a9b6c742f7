"""`jc2r lift`: better Rust, as long as it behaves like the C."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import jc2r, write
from toolchain import needs_cargo

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift import (
    format_proofs,
    local_memory,
    names,
    simplify,
    standard_streams,
    steps,
    tidy,
    variables,
    visibility,
)
from jarvis_ls.jc2r.lift.compiler import Message
from jarvis_ls.jc2r.lift.expression_types import declarations_of
from jarvis_ls.jc2r.lift.inferred_types import drop_types
from jarvis_ls.jc2r.lift.literals import literals
from jarvis_ls.jc2r.lift.rust import Source, below, parse_source
from jarvis_ls.jc2r.lift.unsafe_operations import operation_of
from jarvis_ls.jc2r.run.overview import read_overview

C = """\
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
struct state { int table[8]; unsigned char *out; int used; };
static void put(struct state *s, int c) { s->out[s->used] = (unsigned char)c; s->used++; }
static void fill(struct state *s) {
    int i;
    for (i = 0; i < 8; i++) s->table[i] = i * 3;
    while (1) { if (s->used > 3) break; put(s, s->table[s->used] + 'a'); }
}
int first(const int *a, int n) {
    int found = 0, i;
    for (i = 0; i < 8; i++) if (a[i] > n) found = 1;
    if (found) return 1;
    return 0;
}
int *made(int howMany) {
    int theSum, *both;
    both = malloc((unsigned)howMany);
    theSum = howMany + 1;
    if (both) both[0] = theSum;
    return both;
}
static int calls_made;
int counted(void) { return ++calls_made; }
int called_once(int n) { int got = counted(); got = n + 1; return got; }
const char *named(void) { return "a name"; }
int plain(int a, int b) { int t[4]; int i; for (i = 0; i < 4; i++) t[i] = a * i; return t[b & 3]; }
int lettered(int i) { char mode[4] = "rwb"; mode[i & 1] = 'x'; return mode[0] + mode[1] * 2; }
int maybe(int *p) { if (p == NULL) return -1; *p += 2; return *p; }
static struct spot { int value; } seen[4];
int noted(int i) { int was = seen[i & 3].value; seen[i & 3].value = i; return was + abs(i); }
int run(unsigned char *out, int n) {
    struct state s;
    if (n < 8) return -1;
    memset(&s, 0, sizeof s);
    s.out = out;
    fill(&s);
    return s.used;
}
"""


@pytest.fixture(scope="module")
def lifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    root = tmp_path_factory.mktemp("lift") / "p"
    root.mkdir()
    (root / "a.c").write_text(C)
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    done = jc2r("lift", "--cases", 8, "--format", "json", root)
    assert done.returncode == 0, done.stderr
    return root, json.loads(done.stdout)


@needs_cargo
def test_what_is_only_looked_through_is_a_reference(
    lifted: tuple[Path, dict[str, object]],
) -> None:
    rust = (lifted[0].parent / "p_rs" / "src" / "a.rs").read_text()
    assert "fn put(s: &mut types::state, c: i32)" in rust
    assert "fn fill(s: &mut types::state)" in rust
    assert "fn maybe(p: *mut i32)" in rust  # it may be null
    assert 'pub unsafe extern "C" fn put' not in rust and "fn put" in rust  # private, and safe
    assert 'extern "C" fn plain(a: i32, b: i32) -> i32' in rust and "unsafe fn plain" not in rust
    assert "let mut found: bool = false" in rust and "for i in 0i32..8i32" in rust
    assert ".table[" in rust and "loop {" in rust and "// SAFETY: " in rust


@needs_cargo
def test_what_the_compilers_would_warn_of_is_not_there(
    lifted: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    crate = tmp_path / "p"
    shutil.copytree(lifted[0].parent / "p_rs", crate, ignore=shutil.ignore_patterns("target"))
    text = (crate / "src" / "a.rs").read_text()
    assert "fn made(how_many: i32)" in text and "let the_sum = how_many" in text
    assert (
        "counted()" in text.partition("fn called_once(")[2].partition("\n}")[0]
    )  # it has its effect
    assert 'mode: [i8; 4] = types::letters::<4>(b"rwb");' in text
    assert 'c"a name".as_ptr()' in text and "`how_many` points to" not in text
    assert not any("#![allow" in path.read_text() for path in (crate / "src").rglob("*.rs"))
    manifest = crate / "Cargo.toml"
    manifest.write_text(re.sub(r'(?m)^\w+ = "allow"\n', "", manifest.read_text()))
    command = "clippy" if shutil.which("cargo-clippy") else "check"
    done = subprocess.run(
        ["cargo", command, "--offline", "--quiet", "--lib", "--message-format=short"],
        cwd=crate,
        capture_output=True,
        text=True,
        check=True,
    )
    left = [line for line in done.stderr.splitlines() if line.startswith("src/a.rs")]
    assert all("`got`" in line for line in left), done.stderr  # nothing reads it, in C as well


@needs_cargo
def test_what_stays_unsafe_says_what_it_depends_on(lifted: tuple[Path, dict[str, object]]) -> None:
    text = (lifted[0].parent / "p_rs" / "src" / "a.rs").read_text()
    lines = text.splitlines()
    places = [at for at, line in enumerate(lines) if "unsafe {" in line]
    assert "static mut SEEN: [types::spot; 4] =" in text, "there is nothing unsafe in it"
    for name in re.findall(r"unsafe (?:extern \S+ )?fn (\w+)", text):
        above = text.partition(f"fn {name}(")[0].rpartition("\n}\n")[2]
        assert re.search(r"/// # Safety\n///\n/// - .*`\w+", above), (name, above)
    assert len(places) >= 2 and any("let " in lines[at] for at in places)
    said = [_comment(lines, at) for at in places]
    assert all(one.startswith("// SAFETY: ") for one in said), "\n".join(lines)
    for name in ("`s.out`", "`SEEN`", "`abs`", "`types::state`"):
        assert any(name in one for one in said), (name, said)


def _comment(lines: list[str], at: int) -> str:
    """The comment above a line, or at the beginning of the block that it opens."""
    first = at
    while first and lines[first - 1].strip().startswith("//"):
        first -= 1
    return " ".join(line.strip() for line in lines[first : max(at, first + 1)] or lines[at + 1 :])


@needs_cargo
def test_the_counts_go_down_and_every_pass_says_what_became_of_it(
    lifted: tuple[Path, dict[str, object]],
) -> None:
    report = lifted[1]
    before, after = report["before"], report["after"]
    assert isinstance(before, dict) and isinstance(after, dict)
    for name in ("unsafe_functions", "unsafe_lines", "raw_pointers"):  # shims are lines, too
        assert after[name] < before[name], name
    passes = report["passes"]
    assert isinstance(passes, list)
    assert all(one["kept"] or one["why"] for one in passes)
    kept = {one["name"]: one for one in passes if one["kept"]}
    assert kept.keys() >= {"indexing", "references", "safety"}
    assert kept["references"]["changed"] >= 2 and kept["safety"]["changed"] >= 1
    assert kept["lints"]["after"] == after
    assert any(one["changed"] == 0 for one in passes if not one["kept"])
    told = (lifted[0] / ".jarvis" / "c2rust" / "lift.md").read_text()
    assert f"| references | {kept['references']['changed']} |" in told
    assert f"| lines in unsafe code | {before['unsafe_lines']} | {after['unsafe_lines']} |" in told


@needs_cargo
def test_the_stage_and_its_counts_are_in_the_overview(
    lifted: tuple[Path, dict[str, object]],
) -> None:
    stage = read_overview(lifted[0]).stages[-1]
    assert (stage.name, stage.state) == ("lift", "done") and stage.at > 0
    counts = {name: after < before for name, before, after in stage.counts}
    assert counts == {"unsafe_functions": True, "unsafe_lines": True, "raw_pointers": True}
    passes = {one.name: one for one in read_overview(lifted[0]).passes}
    assert passes["references"].changed >= 2
    assert any(
        now < was for name, was, now in passes["references"].counts if name == "raw_pointers"
    )


@needs_cargo
def test_the_lifted_crate_is_verified_and_in_the_history(
    lifted: tuple[Path, dict[str, object]],
) -> None:
    done = jc2r("verify", "--mutants", 0, "--cases", 8, lifted[0])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "; 0 differ" in done.stdout
    log = subprocess.run(
        ["git", "-C", lifted[0].parent / "p_rs", "log", "--format=%s"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Lifted: references" in log.splitlines()
    again = jc2r("run", "--baseline", lifted[0])
    assert "no changes" in again.stdout  # and it is not translated anew


@needs_cargo
def test_every_program_is_lifted_whichever_cargo_comes_to_first(tmp_path: Path) -> None:
    """Cargo begins no program more once one does not compile, and two or more at a time."""
    root = tmp_path / "tools"
    root.mkdir()
    names = [f"tool{number}" for number in range(7)]
    for name in names:
        (root / f"{name}.c").write_text(
            "#include <stdio.h>\n#include <stdlib.h>\n"
            f"static int of_{name}(int n) {{ return abs(n) + 1; }}\n"
            f'int main(int argc, char **argv) {{ printf("%d\\n", of_{name}(argc)); }}\n'
        )
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("lift", "--cases", 4, root)
    assert done.returncode == 0, done.stdout + done.stderr
    programs = {
        name: (tmp_path / "tools_rs" / "src" / "bin" / f"{name}.rs").read_text() for name in names
    }
    unsafe = re.compile(r'unsafe (extern "C" )?fn of_')
    assert [name for name, text in programs.items() if unsafe.search(text)] == []


@needs_cargo
def test_functions_that_differ_before_are_left_alone_and_the_rest_is_lifted(tmp_path: Path) -> None:
    root = tmp_path / "p"
    sums = "int twice(const int *a) { return *a * 2; }\nint less(int a) { return a - 1; }\n"
    program = '#include "sums.c"\nint main(int n, char **v) { return twice(&n) + less(n); }\n'
    write(root, {"sums.c": sums, "check.c": program})  # both define `twice` and `less`
    assert jc2r("run", "--baseline", root).returncode == 0
    crate = tmp_path / "p_rs" / "src"
    changed = (crate / "sums.rs").read_text().replace("wrapping_sub(1", "wrapping_sub(2")
    (crate / "sums.rs").write_text(changed)

    done = jc2r("lift", "--cases", 4, root)

    assert done.returncode == 0, done.stderr
    text = " ".join((crate / "sums.rs").read_text().split())
    assert "Left alone, since they behave differently from the C: less" in done.stdout
    assert re.search(r'unsafe extern "C" fn less\(\w*\s?a: i32\)', text), text
    assert "fn twice_inner(a: &i32)" in text, text


def test_without_a_translation_it_says_what_to_do(tmp_path: Path) -> None:
    done = jc2r("lift", tmp_path)
    assert done.returncode == 2 and "jc2r run --baseline" in done.stderr


PLACES = st.sampled_from(["(*s).a", "x", "(*s).t[1]", "*p"])
VALUES = st.sampled_from(["1", "(y as i32)", "f(2)", "(if y > 1 { 2 } else { 3 })"])


@given(PLACES, VALUES, st.sampled_from(["wrapping_add", "wrapping_mul"]))
def test_a_compound_is_shortened_only_where_nothing_else_happens(
    place: str, value: str, method: str
) -> None:
    text = (
        f"unsafe fn g() {{ {{ let __at = &raw mut {place}; *__at = (*__at).{method}({value}); }} }}"
    )
    one = parse_source(Path("g.rs"), text.encode())
    made = simplify.compounds(one, one.functions[0]).decode()
    assert ("__at" in made) == ("f(" in value or "if " in value)
    assert not parse_source(Path("g.rs"), made.encode()).root.has_error


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if (*a) { (b) = (c); }", "if *a { b = c; }"),
        ("(s.f)(x);", "(s.f)(x);"),
        ("x = (if a { 1 } else { 2 }).g();", "x = (if a { 1 } else { 2 }).g();"),
        ("f((a + b), (c));", "f(a + b, c);"),
        ("x = ((a) + (b)) * c;", "x = (a + b) * c;"),
    ],
)
def test_parentheses_that_mean_something_stay(before: str, after: str) -> None:
    one = parse_source(Path("g.rs"), f"fn g() {{ {before} }}".encode())
    made = simplify.parentheses(one, one.functions[0]).decode()
    assert made == f"fn g() {{ {after} }}"


def said(rule: Callable[[Source, Node], bytes], body: str) -> str:
    one = parse_source(Path("g.rs"), f"fn g(n: i32) {{ {body} }}".encode())
    made = rule(one, one.functions[0]).decode()
    assert not parse_source(Path("g.rs"), made.encode()).root.has_error
    return " ".join(made.split())


STEP = "i = i.wrapping_add(1);"


@pytest.mark.parametrize(
    "body",
    [
        f"let mut i: i32 = 0; i = 0i32; while i < n {{ f(i); {STEP} }}",
        f"let mut i: i32 = 0; i = n; 'l: while i <= 9i32 {{ if a[i] > 1 {{ break 'l; }} {STEP} }}",
        f"let mut i: i32 = 0; i = 0; while i < 3 {{ {STEP} }} i = 4; while i < 9 {{ f(i); "
        f"{STEP} }}",
        f"{{ let mut i: i32 = 0i32; while i < n {{ {{ f(i); }} {STEP} }} }}",
        f"{{ let mut i: i32 = 0i32; while i < n {{ f(i); {STEP} }} }}"
        f" {{ let mut i: i32 = n; 'l: while i <= 9 {{ if i == n {{ break 'l; }} {STEP} }} }}",
        f"let mut i: i32 = 2i32; while i < n {{ f(i); {STEP} }} g();",
    ],
)
def test_an_index_that_only_counts_becomes_a_range(body: str) -> None:
    made = said(variables.iterators, body)
    assert "while" not in made and "let mut i" not in made and "wrapping_add" not in made
    assert made.count("for i in") == body.count("while")


@pytest.mark.parametrize(
    "body",
    [
        f"let mut i: i32 = 0; i = 0; while i < n {{ {STEP} }} f(i);",  # used afterwards
        f"let mut i: i32 = 0; i = 0; while i < n {{ i = 7; {STEP} }}",  # set inside
        f"let mut i: i32 = 0; i = 0; while i < n {{ f(&raw mut i); {STEP} }}",
        f"let mut i: i32 = 0; i = 0; while i < n {{ n = 3; {STEP} }}",  # the end moves
        f"let mut i: i32 = 0; i = 0; while i < h(n) {{ {STEP} }}",
        f"let mut i: i32 = 0; i = 0; while i < n {{ if i == 2 {{ continue; }} {STEP} }}",
        f"let mut i: i32 = 0; i = i + 1; while i < n {{ {STEP} }}",  # begins with what it was
        "let mut i: i32 = 0; i = 0; while i < n { i = i.wrapping_add(2); }",
        f"{{ let mut i: i32 = 0; while i < n {{ {STEP} }} f(i); }}",
        f"{{ let mut i: i32 = 0; while i < n {{ let i: i32 = 3; f(i); {STEP} }} }}",
        f"{{ let mut i: i32 = 0; f(&raw const i); while i < n {{ f(i); {STEP} }} }}",
        f"{{ let mut i: i32 = 0; while i < n {{ f(&raw mut i); {STEP} }} }}",
    ],
)
def test_an_index_that_does_more_stays(body: str) -> None:
    assert said(variables.iterators, body) == said(lambda one, node: one.text(node), body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "let mut b: u8 = 0; b = 1u8; if b != 0 { f(); }",
            "let mut b: bool = false; b = true; if b { f(); }",
        ),
        (
            "let mut b: i32 = 1; b = ((n > 2) as i32); if (b == 0i32) { f(); }",
            "let mut b: bool = true; b = n > 2; if (!b) { f(); }",
        ),
        (
            "let mut b: u8 = 0; b = 1u8; return b;",
            "let mut b: bool = false; b = true; return b as u8;",
        ),
        (
            "let mut b: i32 = 0; if n > 2 { b = 1i32; return b; } b",
            "let mut b: bool = false; if n > 2 { b = true; return b as i32; } b as i32",
        ),
        ("let mut b: i32 = 0; b = 1i32; { b }", ""),
        ("let mut b: i32 = 0; b = 2i32; if b != 0 { f(); }", ""),
        ("let mut b: i32 = 0; b = 1i32; f(b); if b != 0 { f(); }", ""),
        ("let mut b: i32 = 0; b = 1i32; if b != 1 { f(); }", ""),
    ],
)
def test_flags(body: str, expected: str) -> None:
    assert said(variables.flags, body) == f"fn g(n: i32) {{ {expected or body} }}"


UNINIT = "let mut w: core::mem::MaybeUninit<[u32; %d]> = core::mem::MaybeUninit::uninit(); "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            UNINIT % 64 + "(*w.as_mut_ptr())[1] = 2u32; f(&raw mut (*w.as_mut_ptr()) as *mut u32);",
            "let mut w: [u32; 64] = [0; 64]; w[1] = 2u32; f(&raw mut w as *mut u32);",
        ),
        (UNINIT % 64 + "f(w.as_mut_ptr());", "let mut w: [u32; 64] = [0; 64]; f((&raw mut w));"),
        (
            UNINIT.replace("[u32; %d]", "types::s") + "(*w.as_mut_ptr()).a = 1;",
            "let mut w: types::s = unsafe { core::mem::zeroed::<types::s>() }; w.a = 1;",
        ),
        (UNINIT % 64 + "f(&raw mut w);", ""),  # its own type is wanted
        (UNINIT % 999_999 + "(*w.as_mut_ptr())[1] = 2u32;", ""),  # zeros would take too long
    ],
)
def test_memory_that_begins_uninitialized(body: str, expected: str) -> None:
    assert said(local_memory.beginnings, body) == f"fn g(n: i32) {{ {expected or body} }}"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (
            "f(p as *mut u8); (*p).l[1] = (*p).l[0];",
            "let mut p: [u32; 4] = [0; 4]; f(p.as_mut_ptr() as *mut u8); p[1] = p[0];",
        ),
        ("(*p).l[1] = (*p).c[0] as u32;", ""),  # both members
        ("f(p); (*p).l[1] = 1;", ""),  # the union itself
        ("w[0] = 1; (*p).l[1] = 1;", ""),  # the bytes, too
        ("(*p).s[1] = 1;", ""),  # fewer than the bytes
    ],
)
def test_bytes_seen_as_numbers(rest: str, expected: str) -> None:
    unions = {b"U": {b"c": b"[u8; 16]", b"l": b"[u32; 4]", b"s": b"[u16; 4]"}}
    before = "let mut w: [u8; 16] = [0; 16]; let p: *mut U = (w.as_mut_ptr()) as *mut U;"
    made = said(lambda one, node: local_memory.views(one, node, unions), f"{before} {rest}")
    assert " ".join(made.split()) == f"fn g(n: i32) {{ {expected or f'{before} {rest}'} }}"


OLD = "{ let __old = p; p = p.offset(1); __old }"
AFTER = "p = p.offset(1);"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"*({OLD}) = x;", f"*p = x; {AFTER}"),
        (f"let x: u8 = (*({OLD})) as u8;", f"let x: u8 = (*p) as u8; {AFTER}"),
        (f"a[n as usize] = f(*({OLD}));", f"a[n as usize] = f(*p); {AFTER}"),
        (f"if n > 1 {{ *({OLD}) = x; }}", f"if n > 1 {{ *p = x; {AFTER} }}"),
        (f"*({OLD}) = *p;", ""),  # which of them is seen depends on the order
        (f"*({OLD}) = *({OLD});", ""),
        (f"f(n > 1 && *({OLD}) == 0);", ""),  # not always
        (f"return *({OLD});", ""),
        (f"let q = &raw mut p; f(*({OLD}));", ""),  # others see it
        ("*({ let __old = P; P = P.offset(1); __old }) = x;", ""),
        ("if !({ p = f(x); p }).is_null() { g(p); }", "p = f(x); if !p.is_null() { g(p); }"),
        ("if ({ p = f(x); p }) == q && n > 1 { g(p); }", "p = f(x); if p == q && n > 1 { g(p); }"),
        ("if n > 1 && ({ p = f(x); p }) == q { g(p); }", ""),
        ("while ({ p = f(x); p }) == q { g(p); }", ""),
        ("if n > 1 {} else if ({ p = f(x); p }) == q { g(p); }", ""),
    ],
)
def test_changes_in_expressions_are_statements(before: str, after: str) -> None:
    head = "let mut p = h();"
    made = said(steps.steps, f"{head} {before}")
    assert made == f"fn g(n: i32) {{ {head} {after or before} }}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "if n > 1 { return 1; } else { return 2; } 0",
            "if n > 1 { return 1; } else { return 2; }",
        ),
        ("loop { if n > 1 { return 1; } } 0", "loop { if n > 1 { return 1; } }"),
        (
            "loop { 'b: { break 'b; } while n > 1 { break; } } 0",
            "loop { 'b: { break 'b; } while n > 1 { break; } }",
        ),
        ("'a: loop { while n > 1 { break 'a; } } 0", ""),
        (
            "match n { 1 => return 2, _ => { return 3; } } 0",
            "match n { 1 => return 2, _ => { return 3; } }",
        ),
        ("match n { 1 => return 2, _ => {} } 0", ""),
        ("'a: loop { match n { 1 => { return 3; break 'a; } _ => {} } } 0", ""),
        ("if n > 1 { return 1; } 0", ""),
        ("'a: { if n > 1 { break 'a; return 1; } else { return 2; } } 0", ""),
        ("(); f();", "f();"),
    ],
)
def test_what_is_never_reached_goes(before: str, after: str) -> None:
    after = after or before.replace("; break 'a;", ";").replace("break 'a; return 1;", "break 'a;")
    assert said(tidy.ends, before) == f"fn g(n: i32) {{ {after} }}"


def test_constants_that_nothing_names_leave_programs_and_stay_in_headers() -> None:
    text = b"pub const A: u8 = 1;pub const B: u8 = A;/// C.\npub const C: u8 = 3;fn f() -> u8 { B }"
    header = parse_source(Path("types.rs"), b"pub const D: u8 = 1;")
    made = visibility.private([parse_source(Path("bin/p.rs"), text), header])
    assert made == {0: text.replace(b"pub const", b"const")}
    only = [parse_source(Path("bin/p.rs"), b"pub const A: i32 = 1;\nfn f() {}")]
    assert visibility.private(only) == {0: b"\nfn f() {}"}


def test_what_is_dereferenced_is_not_the_value_that_goes_there() -> None:
    source = parse_source(Path("g.rs"), b"unsafe fn f(s: *mut t, len: u32) { (*s).size = len; }")
    start, end = source.data.index(b"(*s)"), source.data.index(b"; }")
    text = "dereference of raw pointer is unsafe and requires unsafe block"
    message = Message(source.path, "E0133", "error", text, start, end, ())
    assert source.text(operation_of(source, message).node) == b"s"


ITEMS = """
pub struct point { pub x: i32, pub y: *mut i32, pub deep: [i32; 2] }
static N: i32 = 1; static two: i32 = 2;
static A: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(1);
static T: [&core::ffi::CStr; 2] = [c"a", c"b"]; static W: &core::ffi::CStr = c"w";
static B: [i8; 4] = [0; 4]; static O: [Option<&core::ffi::CStr>; 1] = [None];
fn h() -> i32 { 1 } fn half() -> f64 { 0.5 }
"""


@pytest.mark.parametrize(
    ("call", "sound"),
    [
        ('sys::printf(c"%d of %ld: %5.2f\\n".as_ptr(), n, 3i64, x as f64)', True),
        ('sys::fprintf(sys::stderr, c"%s: %u%%\\n".as_ptr(), c"a".as_ptr(), n as u32)', True),
        ('sys::puts(b"text\\0".as_ptr() as *const i8)', True),
        ('sys::printf(c"%s".as_ptr(), t)', False),  # any pointer
        ('sys::printf(c"%d %d".as_ptr(), n)', False),
        ('sys::printf(c"%d".as_ptr(), n as i64)', False),
        ('sys::printf(c"%n".as_ptr(), n)', False),
        ('sys::printf(c"%*d %-*s|".as_ptr(), n, n, n, c"a".as_ptr())', True),
        ('sys::printf(c"%*d".as_ptr(), 3i64, n)', False),
        ('sys::printf(c"%.*s".as_ptr(), n, t)', False),
        (
            'sys::printf(c"%d %s".as_ptr(), N, if n > 0 { c"a".as_ptr() } else { c"".as_ptr() })',
            True,
        ),
        ('sys::printf(c"%s".as_ptr(), if n > 0 { c"a".as_ptr() } else { t })', False),
        ('sys::printf(c"%u %d %d".as_ptr(), A.load(Relaxed), p.x, p.deep[1])', True),
        ('sys::printf(c"%d".as_ptr(), A.load(Relaxed))', True),
        ('sys::printf(c"%d".as_ptr(), p.y)', False),  # a pointer
        ('sys::printf(c"%d".as_ptr(), p.deep)', False),
        ('sys::printf(c"%d %f".as_ptr(), h() + 1, half())', True),
        ('sys::printf(c"%ld".as_ptr(), h())', False),
        ('sys::printf(c"%d".as_ptr(), m::two)', False),  # it has two types
        ('{ let s = unsafe { sys::stderr }; sys::fputs(c"a".as_ptr(), s) }', True),
        ('sys::printf(c"%s %s".as_ptr(), T[n as usize].as_ptr().cast_mut(), W.as_ptr())', True),
        ("sys::puts(T[1].as_ptr())", True),
        ("sys::printf(T[1].as_ptr())", False),  # a format that is not written there
        ('sys::printf(c"%s".as_ptr(), B.as_ptr())', False),  # an array of letters
        ('sys::printf(c"%s".as_ptr(), O[0].map_or(core::ptr::null(), g))', False),
        ('{ let s = other(); sys::fputs(c"a".as_ptr(), s) }', False),
        ('sys::printf(c"\\x25s".as_ptr())', False),
        ("sys::printf(t)", False),
        ('sys::fprintf(f, c"a".as_ptr())', False),
        ('sys::puts(b"text".as_ptr() as *const i8)', False),  # no zero at its end
    ],
)
def test_printing_is_sound_where_all_is_written_there(call: str, sound: bool) -> None:
    parameters = "n: i32, x: f32, t: *const i8, f: *mut types::_IO_FILE, p: &mut types::point"
    text = f"fn g({parameters}) {{ {call}; }} {ITEMS}"
    one = parse_source(Path("g.rs"), text.encode())
    other = parse_source(Path("m.rs"), b"pub static two: i64 = 1;")
    node, name = next(
        (node, name)
        for node in below(one.functions[0], "call_expression")
        if (name := one.text(node).decode().partition("(")[0].removeprefix("sys::"))
        in ("printf", "fprintf", "puts", "fputs")
    )
    declared = declarations_of([one, other])
    proof = format_proofs.proof_of_printing(one, node, name, declared, standard_streams.STREAMS)
    assert bool(proof) == sound


@pytest.mark.parametrize(
    ("call", "sound"),
    [
        ('sys::strlen(c"a".as_ptr())', True),
        ('sys::strcmp(T[0].as_ptr(), b"a\\0".as_ptr() as *const i8)', True),
        ("sys::strcmp(T[0].as_ptr(), t)", False),
        ("sys::strchr(W.as_ptr(), n)", True),
        ("sys::strncmp(W.as_ptr(), B.as_ptr(), 3)", False),
        ("sys::strcpy(B.as_ptr() as *mut i8, W.as_ptr())", False),
    ],
)
def test_reading_is_sound_where_all_texts_are_known(call: str, sound: bool) -> None:
    text = f"fn g(n: i32, t: *const i8) {{ {call}; }} {ITEMS}"
    one = parse_source(Path("g.rs"), text.encode())
    node = next(below(one.functions[0], "call_expression"))
    name = call.partition("(")[0].removeprefix("sys::")
    declared = declarations_of([one])
    assert bool(format_proofs.proof_of_reading(one, node, name, declared)) == sound


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("sys::fputc(n, sys::stderr);", "stdin stdout stderr"),
        ("let f = unsafe { sys::stdout };", "stdin stdout stderr"),
        (
            "let f = unsafe { sys::stdout }; sys::fputc(n, f); sys::fclose(g);",
            "stdin stdout stderr",
        ),
        ("let f = unsafe { sys::stdout }; h(f); sys::fclose(g);", "stdin stderr"),
        ("let f = sys::stdout; sys::fclose(f);", "stdin stderr"),
        ("sys::fclose(sys::stdout);", "stdin stderr"),
        ("let f = h(); sys::fclose(f); (*o).to = sys::stderr;", "stdin stdout"),
        ("(*o).to = sys::stderr;", "stdin stdout stderr"),
        ("h(sys::fclose); (*o).to = sys::stdin;", "stdout stderr"),
        ("sys::fcloseall();", ""),
        ("to(1, sys::stdout); sys::fclose(h());", "stdin stdout stderr"),
        ("to(1, sys::stdin); other::kept(sys::stderr); sys::fclose(h());", "stdin stdout"),
        ("sys::setbuf(sys::stdout, b);", "stdin stderr"),
        ("sys::setvbuf(sys::stdout, core::ptr::null_mut(), 1, 0);", "stdin stdout stderr"),
        ("sys::freopen(a, b, sys::stderr);", "stdin stdout"),
        ("sys::stderr = f;", "stdin stdout"),
        ("h(&raw mut sys::stderr);", "stdin stdout"),
        (
            "let mut f: F = core::ptr::null_mut(); (*o).to = sys::stderr;"
            " if n > 0 { f = sys::fopen(a, b); } else { f = sys::stdin; } sys::fclose(f);",
            "stdout stderr",
        ),
        (
            "let mut f = sys::fopen(a, b); h(&raw mut f); sys::fclose(f); (*o).to = sys::stdin;",
            "stdout stderr",
        ),
        (
            "let mut f = sys::fopen(a, b); f = g; sys::fclose(f); (*o).to = sys::stdin;",
            "stdout stderr",
        ),
    ],
)
def test_standard_streams_stay_where_nothing_closes_them(body: str, kept: str) -> None:
    others = "fn to(n: i32, f: F) { sys::fputc(n, f); } fn kept(f: F) { sys::fputc(n, f); g(f); }"
    one = parse_source(Path("g.rs"), f"unsafe fn g(n: i32) {{ {body} }} {others}".encode())
    found = standard_streams.kept_streams([one])
    assert found == {f"sys::{name}" for name in kept.split()}


def test_arms_of_one_statement_have_no_block() -> None:
    before = "match n { 1 => { a = 2; } 2 => { b += 1; } 3 => { return; } 4 => { f(); } _ => {} }"
    after = "match n { 1 => a = 2, 2 => b += 1, 3 => return, 4 => { f(); } _ => {} }"
    assert said(tidy.arms, before) == f"fn g(n: i32) {{ {after} }}"


def test_a_variable_is_named_as_in_rust_whatever_others_are_called() -> None:
    one = parse_source(Path("g.rs"), b"static b: i32 = 1; fn f(n: i32) {} fn g(N: i32, B: i32) {}")
    assert names.variables(one, one.functions[1]) == b"fn g(n: i32, B: i32) {}"
    entry = b'fn main() { extern "C" { static mut environ: *mut i8; } let x = environ; }'
    one = parse_source(Path("g.rs"), entry)
    assert names.variables(one, one.functions[0]) == entry


def test_items_are_named_as_in_rust_in_their_module_alone() -> None:
    one = b"""#[export_name = "a__makeIt"]
fn makeIt(keep: &u8) -> i32 { addUp(1) + b::addUp(2) + a.addUp }
// From C: unsafe extern "C" fn addUp_from_c(n: i32) -> i32 { addUp(n) }
unsafe extern "C" fn addUp(n: i32) -> i32 { assert!(n == limit && s.addUp > self::limit); n }
static mut limit: i32 = 3;
static told: i32 = 3;
use crate::{limit, sys};
#[no_mangle]
pub extern "C" fn keepIt() { println!("{told}"); }
fn optA() {} fn opt_a() {} fn Drop() {} fn twoWays__listed() {}
"""
    two = b"fn addUp(limit: i32) -> i32 { crate::a::addUp(limit) + sys::addUp(1) + a::optA() }"
    sources = [parse_source(Path(f"{name}.rs"), text) for name, text in (("a", one), ("b", two))]
    made = names.items(sources, {"addUp"})
    assert b"fn addUp" in made[0] and 1 not in made
    made = names.items(sources, set())
    expected = one.replace(b"makeIt(", b"make_it(").replace(b"addUp", b"add_up")
    expected = expected.replace(b"a.add_up", b"a.addUp").replace(b"s.add_up", b"s.addUp")
    expected = expected.replace(b"limit", b"LIMIT").replace(b"{LIMIT, sys", b"{limit, sys")
    expected = expected.replace(b"Ways__listed", b"_ways_listed")
    assert made[0] == expected
    assert (
        made[1]
        == b"fn add_up(limit: i32) -> i32 { crate::a::add_up(limit) + sys::addUp(1) + a::optA() }"
    )


@pytest.mark.parametrize(
    ("place", "rest", "lent"),
    [
        ("a[n as usize]", "*__at = (*__at).wrapping_add(1);", True),
        ("(*p).b", "*__at = (*__at).wrapping_add(n);", True),
        ("(*p).b", "*__at = (*__at).wrapping_add((*q).c);", False),  # perhaps the same
        ("(*p).b", "*__at = (*__at).wrapping_add(f());", False),
        ("a[n as usize]", "f(__at);", False),  # a pointer is wanted
        ("STATIC[n as usize]", "*__at = 1;", False),
    ],
)
def test_a_place_is_lent_where_no_other_is_in_use(place: str, rest: str, lent: bool) -> None:
    before = "let mut a: [u8; 4] = [0; 4]; let p = h(); { let __at = &raw mut %s; %s }"
    expected = before.replace("&raw mut", "&mut") if lent else before
    made = said(local_memory.lent_places, before % (place, rest))
    assert made == f"fn g(n: i32) {{ {expected % (place, rest)} }}"


@needs_cargo
def test_what_was_lifted_is_told_in_the_language_of_the_terminal(
    lifted: tuple[Path, dict[str, object]],
) -> None:
    done = jc2r("lift", "--cases", 2, lifted[0], LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1")
    assert done.returncode == 0, done.stderr
    assert "references: 改动了 " in done.stdout and "\n裸指针类型：" in done.stdout
    told = (lifted[0] / ".jarvis" / "c2rust" / "lift.md").read_text()
    assert told.startswith("# 重构\n") and "| unsafe 代码中的行数 |" in told
    assert not any(word in done.stdout + told for word in ("changed", "taken", "lines in"))


@needs_cargo
@pytest.mark.parametrize(
    ("use", "members"), [("fputs(t, f);", ""), ("fputs(t, f); f->_flags |= 4;", "_flags: i32")]
)
def test_a_stream_has_no_members_where_none_is_used(tmp_path: Path, use: str, members: str) -> None:
    root = tmp_path / "p"
    code = f"#include <stdio.h>\nvoid say(FILE *f, const char *t) {{ {use} }}\n"
    write(root, {"a.c": code})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    types = (tmp_path / "p_rs" / "src" / "types.rs").read_text()
    stream = types.partition("pub struct _IO_FILE {")[2].partition("}")[0]
    assert members in stream if members else stream.split() == ["_opaque:", "[u8;", "0],"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if n == 3i32 {}", "if n == 3 {}"),
        ("if f() != -1i32 {}", "if f() != -1 {}"),
        ("if 0u8 < t[1] {}", "if 0 < t[1] {}"),
        ("let k: u64 = 7u64;", "let k: u64 = 7;"),
        ("n = (2i32);", "n = (2);"),
        ("n &= !1i32;", ""),
        ("m(n.wrapping_add(1i32).wrapping_mul(2i32));", "m(n.wrapping_add(1).wrapping_mul(2));"),
        ("m(n.wrapping_shl(4u32));", "m(n.wrapping_shl(4));"),
        ("for i in 0i32..n {}", "for i in 0..n {}"),
        ("let s = types::point { x: 1i32 };", "let s = types::point { x: 1 };"),
        ("let k = 7u64;", ""),  # it would be an `i32`
        ("let k = 1u64 << n;", ""),
        ("let k = 1u64 << 2u64;", ""),
        ("n <<= 3u8;", ""),
        ("for i in 0u64..8u64 {}", ""),
        ("m(3u64.wrapping_add(4u64));", ""),
        ("sys::printf(t, 1i64);", ""),
        ("m(Some(1u8));", ""),
        ("m((1u64 << 3) + 5u64);", ""),
        ("if (1u64 << 40) == 0u64 {}", ""),
        ("m(0u8 as i32);", ""),
    ],
)
def test_numbers_have_no_type_that_is_known_anyway(before: str, after: str) -> None:
    assert said(literals, before) == f"fn g(n: i32) {{ {after or before} }}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("let k: i32 = h();", "let k = h();"),
        ("let mut k: u32 = unsafe { A.load(Relaxed) };", "let mut k = unsafe { A.load(Relaxed) };"),
        (
            "let k: i32 = n.wrapping_add(1); let q: i32 = k;",
            "let k = n.wrapping_add(1); let q = k;",
        ),
        ("let p: *mut i8 = m(); let q: *const i8 = m();", "let p = m(); let q: *const i8 = m();"),
        ("let k: i64 = 7;", ""),
        ("let k: i64 = h() as i64;", ""),
        ("let k: i32 = generic(3);", ""),
        ("let k: i32;", ""),
        ("let k: i32 = unsafe { f(); h() };", ""),
        ("let k: &[i32] = t;", ""),
    ],
)
def test_variables_have_no_type_that_their_value_has(before: str, after: str) -> None:
    head = "fn g(n: i32, t: &[i32; 3])"
    more = f"{ITEMS} fn m() -> *mut i8 {{ p }} fn generic<T>(t: T) -> T {{ t }}"
    one = parse_source(Path("g.rs"), f"{head} {{ {before} }} {more}".encode())
    made = drop_types(one, one.functions[0], declarations_of([one])).decode()
    assert made == f"{head} {{ {after or before} }}"
