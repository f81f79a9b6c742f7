"""The baseline translation: C and Rust are built and run, and must say the same."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from expressions import program
from project import JC2R, jc2r, text_of, write
from toolchain import needs_cargo, run

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.build.compile_commands import Unit
from jarvis_ls.jc2r.run.overview import read_overview
from jarvis_ls.jc2r.translate.crate import translate

CONSTRUCTS = Path(__file__).parent / "constructs"


SEEDS = range(6)


def by_c(source: Path, folder: Path) -> tuple[int, str, str]:
    binary = folder / f"c-{source.stem}"
    subprocess.run(
        ["cc", "-w", "-O1", "-o", binary, source, "-lm", "-lpthread"], check=True, timeout=120
    )
    return run(binary)


def _tables() -> str:
    """A program with long tables of numbers, written in every way C has for them."""
    forms = ("{}", "0x{:02X}u", "0{:o}")
    small = ", ".join(forms[n % 3].format(n % 256) for n in range(500))
    signed = ",\n".join(f"{(-1) ** n * n}" for n in range(700))
    return (
        f"#include <stdio.h>\nstatic unsigned char b[600] = {{ /* 7 */ {small} }}; // 8\n"
        f"static short s[] = {{{signed},}};\n"
        f"static int w[] = {{{',   '.join(map(str, range(400)))},   sizeof(int)}};\n"
        f"static const unsigned long u[300] = {{{', '.join(f'-{n}L' for n in range(300))}}};\n"
        "int main(void) { unsigned long t = 0;\n"
        "  for (int i = 0; i < 600; i++) t = t * 31 + b[i];\n"
        "  for (unsigned i = 0; i < sizeof s / sizeof *s; i++) t = t * 31 + s[i];\n"
        "  for (int i = 0; i < 300; i++) t = t * 7 + u[i];\n"
        "  for (int i = 0; i < 401; i++) t = t * 7 + w[i];\n"
        '  printf("%lu\\n", t); return 0; }\n'
    )


def _cases() -> str:
    """A program with a switch of more arms than blocks can be nested, and with one that falls
    through in places."""
    far = "".join(
        f"case {n * n % 6007}: {{ r = {n}; {'break' if n % 3 else 'return r'}; }}\n"
        for n in range(3000)
    )
    near = "".join(f"case {n}: r += {n};{' break;' if n % 4 else ''}\n" for n in range(40))
    return (
        f"#include <stdio.h>\nstatic int far(int n) {{ int r = -1; switch (n) {{\n{far}"
        "default: if (n % 2) return 7; else break; } return r + 1; }\n"
        f"static int near(int n) {{ int r = 0; for (;;) {{ switch (n) {{\n{near}"
        "case 50 ... 60: n = 3; continue; case 41: { int k; k = r; n = k; } default: r--; } "
        "return r * 2 + n; } }\n"
        "int main(void) { unsigned t = 0; for (int n = -5; n < 6100; n++)\n"
        '  t = t * 31 + far(n) * 3 + near(n); printf("%u\\n", t); return 0; }\n'
    )


@pytest.fixture(scope="module")
def constructs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """The constructs and random programs as one project, translated and built once."""
    root = tmp_path_factory.mktemp("baseline") / "constructs"
    shutil.copytree(CONSTRUCTS, root)
    write(root, {f"random_{seed}.c": program(seed) for seed in SEEDS})
    write(root, {"numbers.c": _tables(), "cases.c": _cases()})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root, root.parent / "constructs_rs", done.stdout


NAMES = [
    *sorted(path.stem for path in CONSTRUCTS.glob("*.c")),
    *(f"random_{seed}" for seed in SEEDS),
    "numbers",
    "cases",
]


@needs_cargo
@pytest.mark.parametrize("name", NAMES)
def test_the_same_is_said_both_ways(
    constructs: tuple[Path, Path, str], name: str, tmp_path: Path
) -> None:
    root, crate, _ = constructs
    assert run(crate / "target" / "release" / name) == by_c(root / f"{name}.c", tmp_path)


@needs_cargo
def test_what_stays_in_c_is_named_and_the_rest_is_rust(constructs: tuple[Path, Path, str]) -> None:
    root, crate, said = constructs
    progress = json.loads((root / ".jarvis" / "c2rust" / "progress.json").read_text())
    left = [
        (one["name"], text_of(one["reason"]))
        for one in progress["functions"]
        if one["state"] == "c"
    ]
    fixed = "a variable initialised with a function at a fixed address"
    sized = (
        "fields must have a constant size: 'variable length array in structure' extension"
        " will never be supported"
    )
    included = "stepped from a header is not translated: inline assembly"
    packed = "a packed struct with a member aligned to 64 bytes"
    jumping = "the attribute cleanup beside jumps"
    beside = "other variables of section steps are laid out around it in a fixed order"
    assert left == [
        ("jumps", jumping),
        ("in4", packed),
        ("stepped", "inline assembly"),
        ("ignored", fixed),
        ("handlers", fixed),
        ("nested", "function definition is not allowed here"),
        ("spread", sized),
        ("jumps", "inline assembly"),
        ("halved", "_Float16"),
        ("vectors", "vector types"),
        ("turns", "functions that stay in C use it"),
        ("wide", "long double"),
        ("twice", "inline assembly"),
        ("caught", "setjmp"),
        ("exact", "long double"),
        ("raised", "long double"),
        ("first", "a flexible array with an initialiser"),
        ("beside", "inline assembly"),
        ("first", beside),
        ("second", beside),
        ("twice", "inline assembly"),
        ("main", included),
    ]
    count = sum(one["state"] == "baseline" for one in progress["functions"])
    assert said.startswith(f"{count} of {count + 15} functions in Rust, "), "variables are none"
    assert "remains.c:6: twice stays in C: inline assembly" in said
    assert (root / ".jarvis" / "c2rust" / "build.log").read_text() == "", "no warnings"
    text = (crate / "src" / "bin" / "remains.rs").read_text()
    assert "fn shared(" in text and "fn twice(" not in text
    code = (crate / "c" / "remains.c").read_text()
    assert "setjmp(back)" in code and "return depth * 2" not in code


@needs_cargo
def test_macros_that_mean_one_number_are_constants(constructs: tuple[Path, Path, str]) -> None:
    _, crate, _ = constructs
    text = (crate / "src" / "bin" / "macros.rs").read_text()
    shared = (crate / "src" / "types.rs").read_text()
    assert "/// How many there are.\npub const COUNT: i32 = 5;\n" in text
    assert "/// the last\n/// of them\npub const LAST: i32 = 4; // (COUNT - 1)\n" in text
    assert "pub const POLY: u32 = 0xedb88320;\n" in text
    assert "/// one of them\npub const CELL: u64 = 24; // sizeof(struct cell)\n" in text
    assert "CELL.wrapping_mul(3" in text and "(24u64" in text.partition("fn halls")[2][:200]
    assert "[COUNT, LAST, 2i32.wrapping_add(3i32), 0, SIZE]" in text, "a sum is no single number"
    assert "table[LAST as usize] =" in text and "COUNT => {" in text
    assert "pub const MODE_MASK: u32 = 7; // (MODE_READ | 6u)\n" in shared
    assert "(count as u32) | types::MODE_MASK" in text
    assert "n.wrapping_add(LOCAL)" in text and "a.wrapping_mul(4i32)" in text


@needs_cargo
def test_macros_with_parameters_are_functions_where_a_call_means_the_same(
    constructs: tuple[Path, Path, str],
) -> None:
    _, crate, _ = constructs
    text = (crate / "src" / "bin" / "inlines.rs").read_text()
    made = dict(re.findall(r"#\[inline\(always\)\]\npub unsafe fn (\w+)\((.*?)\)", text))
    assert made == {
        "TRIPLE": "x: i32",
        "LARGER": "a: i32, b: i32",
        "SUM": "a: i32, b: i32",
        "NEXT": "n: i32",
        "DOUBLED": "n: i32",
        "LETTER": "c: i32",
        "OF": "p: *mut types::halves",
        "CALLED": "n: i32",
        "TOLD": "s: *const i8",
        "NONE": "",
        "FROM": "p: *mut i8",
        "SCALED": "f: f64",
        "LOW": "w: i64",
        "HIGH": "w: i64",
        "LIKE": "r#type: i32",
    }
    assert (
        "/// The larger of two.\n/// of numbers\n#[inline(always)]\n"
        "pub unsafe fn LARGER(a: i32, b: i32) -> i32 {\n"
    ) in text
    assert "/// Three times a number.\n#[inline(always)]\npub unsafe fn TRIPLE(" in text
    assert "LARGER(a.wrapping_add(1i32), LIMIT)" in text and "LARGER(LARGER(a, b), c as" in text
    assert "while LETTER((*s) as i32) {" in text, "what asks a question gives a bool"
    assert "if 3i32 > 4i32" in text, "a static is set to no call"
    assert "a.wrapping_add(1i32.wrapping_mul(2i32))" in text, "an argument that does not stay whole"


@needs_cargo
def test_the_crate_is_built_anew_only_when_something_changed(
    constructs: tuple[Path, Path, str],
) -> None:
    root, crate, _ = constructs
    manifest = (crate / "Cargo.toml").stat().st_mtime_ns
    assert "no changes" in jc2r("run", "--baseline", root).stdout
    assert (crate / "Cargo.toml").stat().st_mtime_ns == manifest
    assert sorted(path.name for path in root.iterdir() if path.suffix == ".rs") == []


def built_by_cc(binary: Path, *arguments: Path | str) -> None:
    subprocess.run(["cc", "-w", "-o", binary, *arguments], check=True, timeout=60)


@needs_cargo
def test_what_the_own_build_makes_is_translated_too(tmp_path: Path) -> None:
    """Sources, tables and headers; the project is left alone."""
    root = tmp_path / "makes"
    write(
        root,
        {
            "Makefile": "makes: main.o gen/version.o\n\t$(CC) -o $@ main.o gen/version.o\n"
            "gen/version.o: gen/version.c\n\t$(CC) -DN=3 -Igen -c -o $@ gen/version.c\n"
            "gen/version.c: makes.h\n\tmkdir -p gen; (echo '#include \"../makes.h\"';"
            " echo '#include \"own.h\"'; echo 'one *version(void) {"
            " static one o; o.n += N + OWN; return &o; }') > $@\n"
            "\techo '#define OWN 4' > gen/own.h\n"
            "main.o: main.c table.h\n\t$(CC) -c main.c\n"
            "table.h:\n\techo 'static int table[] = { 5, 6 };' > $@\n"
            "\techo 'static int at(int n) { return table[n]++; }' >> $@\n",
            "makes.h": "typedef struct { int n; } one;\none *version(void);\n",
            "main.c": '#include <stdio.h>\n#include "makes.h"\n#include "table.h"\n'
            'int main(void) { one *o = version(); printf("%d %d %d\\n", o->n,'
            " at(1) + at(1), table[0]); return version()->n; }\n",
        },
    )
    before = sorted(path.name for path in root.iterdir())
    for _ in range(2):  # the second time from what the first one kept
        done = jc2r("run", "--baseline", "--build", root)
        assert done.returncode == 0, done.stdout + done.stderr
        assert " functions in Rust" in done.stdout and "stays in C" not in done.stdout
    assert sorted(path.name for path in root.iterdir()) == sorted([".jarvis", *before])
    shutil.copytree(root, tmp_path / "c", ignore=shutil.ignore_patterns(".jarvis"))
    subprocess.run(["make", "-s"], cwd=tmp_path / "c", check=True, timeout=60)
    program = tmp_path / "makes_rs" / "target" / "release" / "main"
    assert run(program) == run(tmp_path / "c" / "makes") == (14, "7 13 5\n", "")
    assert "fn version(" in (tmp_path / "makes_rs" / "src" / "version.rs").read_text()


@needs_cargo
def test_files_that_know_each_other(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "shop.h": "#ifndef S\n#define S\n#include <stdarg.h>\ntypedef struct item { int "
            "price; }"
            " item;\nextern int sold;\nint sell(item *one);\nint say(const char *f, ...);\n"
            "#endif\n",
            "shop.c": '#include "shop.h"\nint sold; static int tax = 2;\n'
            "static int taxed(int p) { return p + tax; }\n"
            "int sell(item *one) { sold++; tax++; return taxed(one->price); }\n",
            "say.c": '#include <stdio.h>\n#include "shop.h"\nstatic int lines;\n'
            "static void count(void) { lines += sold; }\n"
            "int say(const char *f, ...) { va_list l; int n; count(); va_start(l, f);"
            " n = vprintf(f, l); va_end(l); return n * 100 + lines; }\n",
            "main.c": '#include "shop.h"\nint main(void) { item one = {40}; int got = sell(&one);'
            ' int said = say("%d %d\\n", got, sold); return said & 127; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    binary = tmp_path / "c-shop"
    sources = [root / name for name in ("shop.c", "say.c", "main.c")]
    built_by_cc(binary, *sources)
    assert run(tmp_path / "shop_rs" / "target" / "release" / "main") == run(binary)


@needs_cargo
def test_a_file_is_called_as_make_calls_it(tmp_path: Path) -> None:
    """In Rust, and in what stays in C; no path of this machine is in the program."""
    root = tmp_path / "called"
    write(
        root,
        {
            "src/main.c": '#include <stdio.h>\n#include <setjmp.h>\n#include "../inc/where.h"\n'
            "static jmp_buf back;\n"
            'static const char *kept(void) { return setjmp(back) ? "" : __FILE__; }\n'
            'int main(void) { printf("%s %s %s\\n", __FILE__, kept(), WHERE); }\n',
            "inc/where.h": "static const char *where(void) { return __FILE__; }\n"
            "#define WHERE where()\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0 and "kept stays in C" in done.stdout, done.stdout + done.stderr
    subprocess.run(["cc", "-w", "src/main.c", "-o", tmp_path / "c"], cwd=root, check=True)
    program = tmp_path / "called_rs" / "target" / "release" / "main"
    assert run(program) == run(tmp_path / "c")
    assert str(tmp_path) not in (tmp_path / "called_rs" / "build.rs").read_text()


@needs_cargo
def test_a_record_that_files_see_differently(tmp_path: Path) -> None:
    root = tmp_path / "views"
    write(
        root,
        {
            "view.h": "struct page;\ntypedef struct view { int x; struct view *up; struct page "
            "*page;\n"
            "#ifdef WIDE\nlong wide;\n#endif\n} view;\n"
            "struct page { view *first; int n; };\n"
            "int depth(view *v); int pages(view *v); int wide(view *v); view *made(int x);\n",
            "a.c": '#define WIDE\n#include "view.h"\n#include <stdlib.h>\nview *made(int x) { '
            "view *v ="
            " calloc(1, sizeof *v); v->x = x; v->wide = x * 2; v->page = calloc(1, sizeof"
            " *v->page); v->page->first = v; return v; }\n",
            "b.c": '#include "view.h"\nint depth(view *v) { int n = 0; for (; v; v = v->up) n '
            "+= v->x;"
            " return n; }\n",
            "c.c": '#define WIDE\n#include "view.h"\nint wide(view *v) { view *w = '
            "v->page->first->up;"
            " return w ? (int)w->wide + wide(w) : (int)v->wide; }\n",
            "d.c": '#include "view.h"\nint pages(view *v) { return v->page->first->x + '
            "depth(v); }\n",
            "main.c": '#define WIDE\n#include "view.h"\n#include <stdio.h>\nint main(void) { '
            "view *v ="
            ' made(3), *w = made(4); v->up = w; w->up = 0; printf("%d %d %d\\n", depth(v),'
            " pages(v), wide(v)); return 0; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 of 5 functions in Rust" in done.stdout
    binary = tmp_path / "c-views"
    built_by_cc(binary, *root.glob("*.c"))
    assert run(tmp_path / "views_rs" / "target" / "release" / "main") == run(binary)
    assert (tmp_path / "views_rs" / "src" / "types.rs").read_text().count("struct view") == 2


@needs_cargo
def test_comments_stay_with_what_they_are_about(tmp_path: Path) -> None:
    root = tmp_path / "said"
    write(
        root,
        {
            "said.h": "#define MANY 4 /* not of TWICE */\n#define TWICE(x) ((x) * 2)\n"
            "/* of THRICE */\n#define THRICE(x) ((x) * 3)\n"
            "/* Of pair,\n * which is two. */\ntypedef struct pair {\n    int a; /* of a */\n"
            "    // of b\n    /* and more */\n    int b;\n    int c, d;\n} pair;\n"
            "/* of nothing */\n\nunion either { int whole; char *name; };\n",
            "said.c": '/* The file. */\n\n#include "said.h"\nint seen; /* of seen */\nint other '
            "= 1;\n"
            "typedef int number; /* of a type */\n"
            "/* of f */\nint f(number n, pair *p, union either *e)\n{\n"
            "    n += 1; // of plus\n"
            "    if (n > 2) { /* of then */\n        n -= 2;    // of minus\n    }\n"
            "    /* of times */\n    n *= TWICE(seen) + THRICE(other);\n"
            "    return n + (p && e); /* of return */\n    // the end\n}\n",
        },
    )
    assert jc2r("run", "--baseline", root).returncode == 0
    code = (tmp_path / "said_rs" / "src" / "said.rs").read_text()
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    follows = {line: lines[n + 1] for n, line in enumerate(lines[:-1]) if line.startswith("//")}
    assert follows["/// of seen"].startswith("#[no_mangle]")
    assert "static mut seen" in code.partition("/// of seen")[2].splitlines()[2]
    assert "// of a type" in lines and "/// of f" in lines, "which is of nothing that is here"
    assert follows["// of plus"].startswith("n = n.wrapping_add(1")
    assert follows["// of minus"].startswith("n = n.wrapping_sub(2")
    assert follows["// of times"].startswith("n = n.wrapping_mul(")
    assert follows["// of return"].startswith("return ")
    types = (tmp_path / "said_rs" / "src" / "types.rs").read_text()
    assert "/// Of pair,\n/// which is two.\n#[repr(C)]\n" in types
    assert (
        "pub struct pair {\n    /// of a\n    pub a: i32,\n    /// of b\n    /// and more\n"
        "    pub b: i32,\n    pub c: i32,\n    pub d: i32,\n}\n" in types
    )
    assert "of nothing" not in types
    assert "not of TWICE" not in code and "fn THRICE" in code.partition("/// of THRICE")[2]


@needs_cargo
def test_a_file_that_does_not_compile_leaves_the_others(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(
        root,
        {
            "good.c": "int good(int n) { return n + 1; }\n",
            "bad.c": '#include "nowhere.h"\nint bad(void) { return NOWHERE; }\n',
            "plus.cpp": "int plus() { return 1; }\n",
            "also.C": "int also() { return 1; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 1
    assert done.stdout.startswith("1 of 4 functions in Rust"), "as the editor counts them"
    assert Counter(one.state for one in read_overview(root).functions) == {"baseline": 1, "c": 3}
    assert "bad.c: not translated, with 1 function: " in done.stdout and "nowhere.h" in done.stdout
    assert "plus.cpp: not translated, with 1 function: C++ is not translated" in done.stdout
    assert "also.C: not translated, with 1 function: C++ is not translated" in done.stdout
    assert "fn good(" in (tmp_path / "p_rs" / "src" / "good.rs").read_text()


def test_a_folder_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root, {"a.c": "int a(void) { return 1; }\n"})
    write(
        tmp_path / "p_rs", {"Cargo.toml": '[package]\nname = "mine"\n', "src/lib.rs": "// mine\n"}
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 2 and "was not created by jc2r" in done.stderr
    assert (tmp_path / "p_rs" / "src" / "lib.rs").read_text() == "// mine\n"
    assert jc2r("run", "--baseline", root, "--crate", root).returncode == 2


@needs_cargo
def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(
        root,
        {
            f"m{n}.c": program(n, 30)
            .replace("int main(", f"int main{n}(")
            .replace("static ", f"static /*{n}*/ ")
            for n in range(8)
        },
    )
    for pause in (0.15, 0.4, 0.8, 1.2):
        started = subprocess.Popen(
            [*JC2R, "run", "--baseline", str(root)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(pause)
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    again = tmp_path / "fresh"
    assert jc2r("run", "--baseline", root, "--crate", again).returncode == 0
    for path in sorted((again / "src").rglob("*.rs")):
        other = tmp_path / "p_rs" / path.relative_to(again)
        assert other.read_text() == path.read_text().replace("fresh", "p_rs"), path


@needs_cargo
def test_a_run_that_was_killed_while_it_claimed_the_folder_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root, {"a.c": "int half(int n) { return n / 2; }\n"})
    crate = tmp_path / "p_rs"
    crate.mkdir()
    (crate / ".Cargo.toml.k3v9").write_text("# Made")
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    assert not list(crate.glob(".Cargo.toml.*"))


@needs_cargo
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="words of that processor")
def test_vectors_of_the_processor_are_those_of_rust(tmp_path: Path) -> None:
    root = tmp_path / "wide"
    write(root, {"wide.c": Path(__file__).with_name("vectors.c").read_text(encoding="utf-8")})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 of 10 functions in Rust" in done.stdout
    built_by_cc(tmp_path / "c", root / "wide.c")
    rust = tmp_path / "wide_rs" / "target" / "release" / "wide"
    assert run(rust) == run(tmp_path / "c") and run(rust)[0] == 0
    assert (
        '#[target_feature(enable = "avx2")]'
        in (tmp_path / "wide_rs" / "src" / "bin" / "wide.rs").read_text()
    )


@needs_cargo
def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "many"
    write(
        root, {"many.c": "".join(f"int f{n}(int x) {{ return x + {n}; }}\n" for n in range(3000))}
    )
    first = subprocess.Popen(
        [*JC2R, "run", "--baseline", root],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        lock = root / ".jarvis" / "c2rust" / "lock"
        while not lock.exists() or not lock.read_bytes().strip():
            assert first.poll() is None
            time.sleep(0.01)
        for command in (["run", "--baseline", root], ["verify", root], ["lift", root]):
            refused = jc2r(*command)
            assert refused.returncode == 2
            assert f"Another run is using this project (process {first.pid})" in refused.stderr
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3000 of 3000 functions in Rust" in done.stdout


@needs_cargo
def test_choices_between_constants_do_not_grow_with_their_depth(tmp_path: Path) -> None:
    root = tmp_path / "most"
    sizes = "0"
    for n in range(1, 12):
        sizes = f"MAX(sizeof(char[{n * 7 % 13 + 1}]), {sizes})"
    write(
        root,
        {
            "most.c": "#include <stdio.h>\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
            "static int calls;\nstatic int one(void) { calls++; return 1; }\n"
            f"int main(void) {{ char room[{sizes}]; unsigned long n = {sizes};\n"
            "int k = (one(), 1) ? (2 ? 3 : 4) : 5, l = calls ? 1 ? 6 : 7 : 8;\n"
            'printf("%zu %lu %d %d %d\\n", sizeof room, n, k, l, calls); return 0; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    built_by_cc(tmp_path / "c-most", root / "most.c")
    assert run(tmp_path / "most_rs" / "target" / "release" / "most") == run(tmp_path / "c-most")
    assert len((tmp_path / "most_rs" / "src" / "bin" / "most.rs").read_text()) < 4000


@needs_cargo
def test_functions_in_functions_run_by_way_of_the_stack(tmp_path: Path) -> None:
    root = tmp_path / "inner"
    write(
        root,
        {
            "inner.c": "#include <stdio.h>\nstatic int twice(int (*f)(int)) { return f(1) + "
            "f(2); }\n"
            "static int sum(int k) { int add(int n) { k += n; return k; }"
            " return twice(add); }\n"
            'int main(void) { printf("%d\\n", sum(40)); return 0; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r": (\w+) stays in C", done.stdout)) == {"sum"}
    rust = tmp_path / "inner_rs" / "target" / "release" / "inner"
    assert run(rust) == (0, "84\n", "")


@needs_cargo
def test_a_function_of_another_file_that_is_declared_without_parameters(tmp_path: Path) -> None:
    root = tmp_path / "fatal"
    write(
        root,
        {
            "main.c": "extern void say();\n"
            'int main(void) { say(3, "a", (char *) 0, "b", (char *) 0, 0.5f); return 0; }\n',
            "say.c": "#include <stdio.h>\nvoid say(int n, char *a, char *b, char *c, char *d, "
            "double e)"
            ' { printf("%d %s %d %s %d %g\\n", n, a, !b, c, !d, e); }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 functions in Rust" in done.stdout
    said = run(tmp_path / "fatal_rs" / "target" / "release" / "main")
    assert said == (0, "3 a 1 b 1 0.5\n", "")


@needs_cargo
def test_what_is_only_handed_on_may_be_of_a_type_that_rust_lacks(tmp_path: Path) -> None:
    root = tmp_path / "handed"
    write(
        root,
        {
            "main.c": "#include <stdio.h>\n#include <stdlib.h>\n"
            'static void show(const char *s) { printf("%Lg\\n", strtold(s, NULL)); }\n'
            'int main(void) { show("2.5"); return 3; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 2 functions in Rust" in done.stdout
    assert "show stays in C: long double" in done.stdout
    assert run(tmp_path / "handed_rs" / "target" / "release" / "main") == (3, "2.5\n", "")


@needs_cargo
def test_elements_of_constants_of_unknown_length_are_pointed_to(tmp_path: Path) -> None:
    root = tmp_path / "rows"
    write(
        root,
        {
            "rows.h": "struct row { char name[8]; struct { char in[4]; } deep[1]; };\n"
            "extern const struct row rows[];\nextern char const words[][8];\n",
            "rows.c": '#include "rows.h"\nchar const words[][8] = {"uno", "due"};\n'
            'const struct row rows[] = {{"ab", {{"x"}}}, {"cd", {{"y"}}}};\n',
            "main.c": '#include <stdio.h>\n#include "rows.h"\n'
            'int main(void) { const struct row *p = rows; printf("%s %s %s %s\\n",'
            " rows[1].name, words[1], rows[0].deep[0].in, p[1].name); return 0; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0 and "1 of 1 functions" in done.stdout, done.stdout + done.stderr
    assert run(tmp_path / "rows_rs" / "target" / "release" / "main") == (0, "cd due x cd\n", "")


@needs_cargo
def test_files_that_define_one_name_twice_each_mean_their_own(tmp_path: Path) -> None:
    root = tmp_path / "twins"
    write(
        root,
        {
            "a/value.c": "int value(void) { return 10; }\nint count = 1;\n",
            "a/main.c": "int value(void);\nextern int count;\n"
            "int main(void) { return value() + count; }\n",
            "b/value.c": "int value(int more) { return 20 + more; }\nlong count = 4;\n",
            "b/say.c": "int value(int);\nextern long count;\n"
            "int main(void) { return value(3) + (int)count; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "twins_rs" / "target" / "release"
    assert (run(built / "main")[0], run(built / "say")[0]) == (11, 27)


@needs_cargo
def test_twice_as_many_functions_are_looked_at_twice_as_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = 0
    plain = clang._visit

    def counted(cursor: Any, visitor: Any) -> None:
        def visit(*given: Any) -> int:
            nonlocal seen
            seen += 1
            return int(visitor(*given))

        plain(cursor, visit)

    monkeypatch.setattr(clang, "_visit", counted)
    looks = []
    for count in (60, 120):
        root = tmp_path / f"of{count}"
        text = "".join(f"int f{n}(int n) {{ return ({n} + n) * 2; }}\n" for n in range(count))
        write(root, {"a.c": text})
        seen = 0
        found = translate(root, [Unit("a.c", ())], tmp_path / f"crate{count}")
        assert len(found.modules[0].functions) == count
        looks.append(seen)
    assert looks[1] < 2.2 * looks[0], looks
