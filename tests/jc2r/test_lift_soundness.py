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
#include <stdio.h>
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
static int totals[2];
int add(int n) { totals[n & 1] += n & 7; return totals[n & 1]; }
static const int powers[4] = {1, 10, 100, 1000};
int power(unsigned i) { return powers[i]; }
static const int doubles[4] = {1, 2, 4, 8};
static int pick(const int *from, int i) { return from[i & 3]; }
int twofold(int i) { return pick(doubles, i); }
static unsigned seed = 1;
static int drawn = -1;
int draw(int most) {
    static int calls;
    seed = seed * 5 + 1;
    if (++calls > 3) drawn = most;
    return (int)(seed >> 3) ^ drawn;
}
static int watched;
int *watch(void) { return &watched; }
int seen(void) { return watched; }
static int *kept;
void keep(int *p) { kept = p; }
void set(int *p, int v) { *p = v; }
int both(int *a, int *b) { *a = 1; *b = 2; return *a; }
typedef union { int i; float f; char *p; } num;
int bits(float f) { num n; n.f = f; return n.i; }
int through(num n) { return *n.p; }
struct pair { char letter; int number; };
typedef union { struct pair whole; long long n; } parts;
static struct pair sums[2];
int sum(int n) { sums[n & 1].number += n & 7; return sums[n & 1].number; }
long long padded(struct pair p) { parts n; n.whole = p; return n.n >> 32; }
int (*handler)(int);
int call(int n) { return handler ? handler(n) : -1; }
struct bag { int *items; int count; };
void empty(struct bag *b) { free(b->items); b->items = NULL; b->count = 0; }
struct pot { int *stuff; };
void swap(struct pot *a, struct pot *b) { struct pot c = *a; *a = *b; *b = c; }
void drop(struct pot *a) { free(a->stuff); a->stuff = NULL; }
int letter(int i) { char mode[4] = "rwb"; mode[i & 1] = 'x'; return mode[0] + mode[1] * 2; }
int absolute(int i) { return abs(i); }
int report(int n) { fprintf(stderr, "%s: %d\\n", "report", n); return n + 1; }
int told(const char *t) { return fprintf(stderr, "%s\\n", t); }
void stop(int n) { if (n == 12345) exit(3); }
"""
UNSAFE = {
    "first_byte": "- `v.data` points to valid memory.",
    "last": "- `v.data` points to valid memory, also at offset",
    "ends": "- The preconditions of `last` hold.",
    "row": "- `ROWS` points to valid memory, also at offset `i as isize`.",
    "fetch": "- `ROWS` points to valid memory, also at offset `i as isize`.",
    "fetched": "- The preconditions of `fetch` hold.",
    "unchecked": "- There is memory left: `malloc` must not return null.",
    "sum": "- No other thread uses `SUMS` meanwhile.",
    "pick": "- `from` points to valid memory, also at offset `(i & 3i32) as isize`.",
    "twofold": "- The preconditions of `pick` hold.",
    "set": "- `p` points to valid memory.",
    "both": "- `a` points to valid memory.",
    "through": "- `n.p`: the member of the union that was stored last.",
    "padded": "- `n.n`: the member of the union that was stored last.",
    "empty": "- The preconditions of `free` hold.",
    "call": "- No other thread uses `handler` meanwhile.",
    "told": "- The preconditions of `fprintf` hold.",
}
"""Functions that callers can make crash, and the precondition that each must name."""
SAFE = {
    "squares": "// SAFETY: zero is a value of `i32`.",
    "bits": "// SAFETY: `n` began as zeros, and all bytes are a value of `i32`.",
    "letter": 'types::letters::<4>(b"rwb")',
    "add": "TOTALS[",
    "power": "POWERS[i as usize]",
    "draw": "SEED.load(Relaxed)",
    "watch": "WATCHED.as_ptr()",
    "seen": "WATCHED.load(Relaxed)",
    "keep": "KEPT.store(p, Relaxed)",
    "set_inner": "*p = v;",
    "both_inner": "a.set(1i32); b.set(2i32); a.get()",
    "absolute": "// SAFETY: `abs` takes numbers only and is defined for all of them.",
    "report": "`fprintf` gets texts that end with a zero, and the numbers that its format names",
    "stop": "std::process::exit(3i32)",
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
def test_a_variable_is_shared_soundly_where_every_use_of_it_is_seen(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    text = (lifted[0].parent / "p_rs" / "src" / "a.rs").read_text()
    assert "\nstatic POWERS: [i32; 4] = [" in text
    assert "\nstatic DOUBLES: [i32; 4] = [" in text  # lent to be read
    assert "static SEED: core::sync::atomic::AtomicU32 =" in text
    assert "static DRAWN: core::sync::atomic::AtomicI32 =" in text
    assert "static WATCHED: core::sync::atomic::AtomicI32 =" in text
    assert "static KEPT: core::sync::atomic::AtomicPtr<i32> =" in text
    assert "static TOTALS: [core::sync::atomic::AtomicI32; 2] =" in text
    for name in ("SUMS", "handler", "ROWS"):
        assert f"static mut {name}: " in text, name


@needs_cargo
def test_what_owns_memory_is_copied_only_where_the_c_does(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    types = (lifted[0].parent / "p_rs" / "src" / "types.rs").read_text()
    assert (
        "#[repr(C)]\n// Not `Copy`: it owns `items`, to be freed once.\npub struct bag {" in types
    )
    for name in ("pot", "view"):
        assert f"#[derive(Clone, Copy)]\npub struct {name} {{" in types


@needs_cargo
def test_an_exported_function_takes_no_reference(lifted: tuple[Path, dict[str, Any]]) -> None:
    """C may hand over a null pointer, or the same one twice."""
    for name, (above, head, _) in functions(lifted[0]).items():
        assert "no_mangle" not in above or "&" not in head, name


@needs_cargo
def test_every_safe_function_is_called_and_the_report_says_so(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    root, report = lifted
    assert report["not_called"] == "" and report["sound_safe"] == len(SAFE)
    states = {one["name"]: one for one in report["functions"]}
    assert {name for name, one in states.items() if one["state"] == "sound"} == SAFE.keys()
    for name, demand in UNSAFE.items():
        assert states[name]["state"] == "unsafe"
        assert any(why.startswith(demand[2:]) for why in states[name]["why"]), states[name]
    told = (root / ".jarvis" / "c2rust" / "lift.md").read_text()
    assert f"without a crash | | {len(SAFE)} |" in told
    assert "- `a::sum`: No other thread uses `SUMS` meanwhile." in told


@needs_cargo
def test_what_needs_unsafe_is_counted_after_each_pass(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    folder = lifted[0] / ".jarvis" / "c2rust" / "unsafe"
    kept = {one["name"] for one in lifted[1]["passes"] if one["kept"]}
    assert {path.stem for path in folder.iterdir()} == {"before", *kept}
    before, owned, after = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("before", "vectors", "lints")
    )
    assert before["a::keep"] == {
        "unsafe": 1,
        "blocks": 0,
        "derefs": 0,
        "offsets": 0,
        "calls": 0,
        "statics": 1,
        "unions": 0,
        "signature": 1,
    }
    assert before["a::last"]["derefs"] == 3 and after["a::last"]["derefs"] == 1
    assert before["a::squares"]["calls"] == 2 and owned["a::squares"]["calls"] == 1
    assert before["a::bits"]["unions"] == 2 and before["a::row"]["offsets"] == 1
    assert (after["a::squares"]["unsafe"], after["a::squares"]["blocks"]) == (0, 1)
    assert list(after) == sorted(after)


@needs_cargo
def test_lifting_again_makes_nothing_safe_that_is_not(
    lifted: tuple[Path, dict[str, Any]],
) -> None:
    """What is in `unsafe` blocks already, the compiler does not name."""

    def heads() -> dict[str, str]:
        return {n: head.removeprefix("pub ") for n, (_, head, _) in functions(lifted[0]).items()}

    before = heads()
    done = jc2r("lift", "--cases", 2, lifted[0])
    assert done.returncode == 0, done.stderr
    assert heads() == before


UNSOUND = """\
struct view { const unsigned char *data; int size; };
int head(struct view v) { return v.data[0]; }
int twice(struct view v) { return head(v) * 2; }
int length(struct view v) { return v.size; }
"""


@needs_cargo
@pytest.mark.parametrize(("closed", "is_safe"), [("stderr", False), ("file", True)])
def test_what_prints_is_unsafe_where_c_that_stays_closes_the_stream(
    tmp_path: Path, closed: str, is_safe: bool
) -> None:
    root = tmp_path / "p"
    stays = (
        "#include <setjmp.h>\n#include <stdio.h>\nstatic jmp_buf back;\n"
        'int report(int n) { fprintf(stderr, "%d\\n", n); return n + 1; }\n'
        "int ended(FILE *file) { return setjmp(back) ? -1 : fclose(" + closed + "); }\n"
    )
    write(root, {"a.c": stays})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    assert any((root.parent / "p_rs" / "c").rglob("*.c"))
    done = jc2r("lift", "--cases", 6, root)
    assert done.returncode == 0, done.stderr
    _, head, _ = functions(root)["report"]
    assert ("unsafe" not in head) is is_safe, head


@needs_cargo
def test_a_safe_function_that_crashes_becomes_unsafe_with_its_callers(tmp_path: Path) -> None:
    """Somebody's rewrite calls `head` safe, with a block that no rule looks into any more."""
    root = tmp_path / "p"
    write(root, {"a.c": UNSOUND})
    assert jc2r("run", "--baseline", root).returncode == 0
    module = tmp_path / "p_rs" / "src" / "a.rs"
    text = module.read_text().replace('unsafe extern "C" fn twice', 'extern "C" fn twice')
    text, done = re.subn(
        r'unsafe (extern "C" fn head\(.*\{\n)((?:.*\n)*?)\}', r"\1unsafe {\n\2}\n}", text, count=1
    )
    assert done == 1
    module.write_text(text)
    lifted = jc2r("lift", "--cases", 4, root)
    assert lifted.returncode == 0, lifted.stdout + lifted.stderr
    assert "a::head stays unsafe: lifted::a::head(lifted::types::view" in lifted.stdout
    assert "a crash: 1\n" in lifted.stdout
    text = module.read_text()
    assert 'unsafe extern "C" fn head' in text and 'unsafe extern "C" fn twice' in text
    assert 'pub extern "C" fn length' in text
