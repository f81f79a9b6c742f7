"""Recorded cases, cases generated from them, mutants and cargo tests of a small program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from project import JC2R, jc2r, write
from toolchain import needs_cargo

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r verify needs Linux"),
]

WORDS = {
    "count.h": "int count(const char *text, int letter);\nint depth(const char *text, int n);\n",
    "count.c": """#include "count.h"
int count(const char *text, int letter) {
    int n = 0;
    for (; *text; text++) if (*text == letter) n++;
    return n;
}
int depth(const char *text, int n) {
    int level = 0, most = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] == '(') level++;
        if (text[i] == ')') level--;
        if (level > most) most = level;
        if (level < 0) return -1;
    }
    return level == 0 ? most : -2;
}
""",
    "words.c": """#include <stdio.h>
#include <string.h>
#include "count.h"
int main(int argc, char **argv) {
    char text[4096];
    size_t n = fread(text, 1, sizeof text - 1, stdin);
    text[n] = 0;
    if (argc > 1 && strcmp(argv[1], "-v") == 0) fprintf(stderr, "%s: %zu bytes\\n", argv[0], n);
    if (argc > 2) {
        FILE *out = fopen(argv[2], "w");
        fprintf(out, "%d\\n", count(text, 'a'));
        fclose(out);
    }
    printf("%d\\n", depth(text, (int)n));
    return count(text, 'x') > 2 ? 3 : 0;
}
""",
}


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The project, translated, and the C program."""
    root = tmp_path_factory.mktemp("programs") / "words"
    write(root, WORDS)
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    program = root.parent / "c" / "words"
    program.parent.mkdir()
    subprocess.run(
        ["cc", "-w", "-o", program, root / "words.c", root / "count.c"], check=True, timeout=60
    )
    return root, program


def record(root: Path, stdin: bytes, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*JC2R, "record", "--path", *map(str, (root, *arguments))],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        cwd=root,
    )


def records(root: Path, kind: str) -> list[dict[str, Any]]:
    lines = (root / ".jarvis" / "c2rust" / "equivalence.jsonl").read_text().splitlines()
    return [one for one in map(json.loads, lines) if one["kind"] == kind]


def test_a_case_keeps_what_goes_in_and_what_comes_out(words: tuple[Path, Path]) -> None:
    root, program = words
    done = record(root, b"(a(b))", "--name", "nested", program, "-v", "out.txt")
    assert done.returncode == 0, done.stderr
    done = record(root, b"xaxbx)", "--name", "many", "--as", "other", program, "-v")
    assert b"many: exit status 3" in done.stdout
    assert record(root, b"", "--name", "many", program).returncode == 2, "a name is given once"
    lines = (root / ".jarvis" / "c2rust" / "cases.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert first["expected"]["files"] == {"out.txt": ["MQo=", 0o644]}
    assert first["program"] == first["as"] == "words" and first["arguments"] == ["-v", "out.txt"]
    assert (second["as"], second["expected"]["status"]) == ("other", 3)
    assert not (root / "out.txt").exists(), "it ran elsewhere"


def test_cases_mutants_and_cargo_tests(words: tuple[Path, Path]) -> None:
    root, _ = words
    done = jc2r("verify", root, "--cases", "20", "--explore", "2", "--mutants", "12")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 recorded cases match" in done.stdout
    (explored,) = records(root, "explored")
    assert explored["cases"] > 5 and explored["kept"] >= 1 and explored["differences"] == []
    (mutants,) = records(root, "mutants")
    assert mutants["planted"] + mutants["equivalent"] + mutants["not_built"] == 12
    assert mutants["killed"] + len(mutants["survivors"]) == mutants["planted"]
    assert mutants["killed"] >= 7 and mutants["by_functions"] >= 1
    report = (root / ".jarvis" / "c2rust" / "equivalence.md").read_text()
    assert f"{mutants['killed']} of {mutants['planted']} mutants were killed" in report

    crate = root.parent / "words_rs"
    tested = subprocess.run(
        [shutil.which("cargo") or "cargo", "test", "--offline", "--release", "--test", "recorded"],
        cwd=crate,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    status = next((crate / "tests" / "recorded").glob("*many")) / "status"
    status.write_text("4")
    tested = subprocess.run(
        [shutil.which("cargo") or "cargo", "test", "--offline", "--release", "--test", "recorded"],
        cwd=crate,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert tested.returncode != 0 and "exit status 3, expected 4" in tested.stdout


def test_a_program_that_differs_is_found(words: tuple[Path, Path]) -> None:
    root, _ = words
    path = root.parent / "words_rs" / "src" / "count.rs"
    good = path.read_text()
    bad = good.replace("level.wrapping_sub(1", "level.wrapping_sub(2")
    assert bad != good
    build = ["cargo", "build", "--offline", "--release", "--quiet"]
    path.write_text(bad)
    try:
        subprocess.run(build, cwd=root.parent / "words_rs", check=True, timeout=120)
        done = jc2r("verify", root, "--programs")
    finally:
        path.write_text(good)
        subprocess.run(build, cwd=root.parent / "words_rs", check=True, timeout=120)
    assert done.returncode == 1
    assert "nested: differs: stdout differs at byte 0" in done.stdout


def test_cases_are_generated_however_long_the_recorded_ones_take(tmp_path: Path) -> None:
    """All of them once would take longer than the time that is given."""
    root, program = tmp_path / "slow", tmp_path / "slow-c"
    write(
        root,
        {
            "slow.c": "#include <unistd.h>\n#include <stdio.h>\n"
            'int main(void) { usleep(300000); printf("%d\\n", getchar()); return 0; }\n'
        },
    )
    assert jc2r("run", "--baseline", root).returncode == 0
    subprocess.run(["cc", "-o", program, root / "slow.c"], check=True, timeout=60)
    assert record(root, b"a", "--name", "0", "--main", "slow", program).returncode == 0
    cases = root / ".jarvis" / "c2rust" / "cases.jsonl"
    one = json.loads(cases.read_text())
    cases.write_text("".join(json.dumps({**one, "name": str(n)}) + "\n" for n in range(10)))
    done = jc2r("verify", root, "--programs", "--explore", "2", "--mutants", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    (explored,) = records(root, "explored")
    assert explored["cases"] + explored["excluded"] > 0 and explored["differences"] == []


def test_the_projects_own_tests_run_on_the_rust(words: tuple[Path, Path]) -> None:
    """The test of the project tells C from Rust by what only the crate can say."""
    root, _ = words
    make = (
        "all: words libcount.a\nwords: words.o libcount.a\n\tcc -o words words.o libcount.a\n"
        "libcount.a: count.o\n\tar crs libcount.a count.o\n%.o: %.c\n\tcc -c -w $<\n"
        "check: all\n\ttest `printf '(())' | ./words` = 2\n"
        "\t! ar t libcount.a | grep -q rust || echo seen > rust-was-here\n"
    )
    (root / "Makefile").write_text(make)
    done = jc2r("check", "--path", root, "--", "make", "check")
    copy = root / ".jarvis" / "c2rust" / "own-tests"
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Rust: exit status 0, with libcount.a, words replaced" in done.stdout
    assert (copy / "rust-was-here").exists() and not (root / "words.o").exists()
    (own,) = records(root, "own_tests")
    assert (own["c"], own["rust"]) == (0, 0)
    (root / "Makefile").write_text(
        make.replace("cc -o words", "cc -o counter")
        .replace("all: words", "all: counter")
        .replace("./words", "./counter")
        .replace("\nwords:", "\ncounter:")
    )
    done = jc2r("check", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "with counter, libcount.a replaced" in done.stdout, "its only program, by another name"
    done = jc2r("check", "--path", root, "--", "false")
    assert done.returncode == 1 and "not tested: they do not pass with the C" in done.stdout
    done = jc2r("check", "--path", root, "--", "sh", "-c", "touch count.c && make check")
    assert done.returncode == 1, "it has run the C twice"
    assert "not tested: the command rebuilds counter, libcount.a from the C" in done.stdout


def test_the_projects_own_tests_run_on_the_rust_as_it_is_now(words: tuple[Path, Path]) -> None:
    """What somebody has changed in the crate is built first."""
    root, _ = words
    (root / "Makefile").write_text(
        "check: words\n\ttest `printf '(())' | ./words` = 2\nwords: words.c count.c\n"
        "\tcc -w -o words words.c count.c\n"
    )
    path = root.parent / "words_rs" / "src" / "count.rs"
    good = path.read_text()
    path.write_text(good.replace("level.wrapping_sub(1", "level.wrapping_sub(2"))
    try:
        assert path.read_text() != good
        done = jc2r("check", "--path", root, "--", "make", "check")
        assert "Rust: exit status 2, with words replaced" in done.stdout, done.stdout
        path.write_text("nothing of this is Rust")
        done = jc2r("check", "--path", root, "--", "make", "check")
        assert done.returncode == 2 and "does not build" in done.stderr
    finally:
        path.write_text(good)


def test_what_only_tests_define_does_not_stand_in_the_way(tmp_path: Path) -> None:
    """A file of the tests has no `main`, and so is in the crate beside the library's, also one that
    needs what only the build of the tests makes; two archives of the project are one crate, with
    one state."""
    root = tmp_path / "parts"
    files = {
        "a.c": "int state = 1;\nint a(void) { return ++state; }\n",
        "b.c": "int a(void); extern int state;\nint b(void) { return a() * 10 + state; }\n",
        "tests/support.c": "int wanted(void) { return 22; }\n",
        "tests/mock.c": "extern int made_later;\nint *mock(void) { return &made_later; }\n",
        "tests/check.c": "int a(void); int b(void); int wanted(void); extern int state;\n"
        "int main(void) { return b() == wanted() && state == 2 && a() == 3 ? 0 : 1; }\n",
        "Makefile": "check: tests/checked tests/shared\n\ttests/checked\n"
        "\tar t liba.a | grep -q rust && echo seen > rust-was-here || true\n"
        "\t! nm -D libab.so | grep -q ' mock' && tests/shared\n"
        "tests/checked: tests/check.o tests/support.o libb.a liba.a\n\tcc -o $@ $^\n"
        "tests/shared: tests/check.o tests/support.o libab.so\n"
        "\tcc -o $@ $^ -Wl,-rpath,$(CURDIR)\n"
        "libab.so: a.c b.c\n\tcc -w -shared -fPIC -o $@ $^\n"
        "lib%.a: %.o\n\tar crs $@ $<\n%.o: %.c\n\tcc -c -w $< -o $@\n",
    }
    write(root, files)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    told = "with liba.a, libab.so, libb.a replaced and 2 programs relinked"
    assert f"Rust: exit status 0, {told}" in done.stdout
    assert (root / ".jarvis" / "c2rust" / "own-tests" / "rust-was-here").exists()


def test_a_makefile_that_links_objects_gets_objects_of_the_crate(tmp_path: Path) -> None:
    """They share the state of the project; the tests that fail with them are named."""
    root = tmp_path / "objects"
    files = {
        "state.c": "static int count;\nint seen;\nint next(void) { seen++; return ++count; }\n",
        "sums.c": "int next(void);\nint sum(int n) { return n + next(); }\n",
        "check.c": "#include <stdio.h>\nint next(void); int sum(int n); extern int seen;\n"
        "int main(void) { int good = next() == 1 && sum(5) == 7 && next() == 3 && seen == 3;\n"
        'printf("%s: sums\\n", good ? "PASS" : "FAIL"); return !good; }\n',
        "other.c": "int sum(int n);\nint main(void) { return sum(1) == 2 ? 0 : 1; }\n",
        "Makefile": "check: first second\n\t./second\n\t./first\nfirst: check.o state.o sums.o\n"
        "\tcc -o $@ $^\nsecond: other.o state.o sums.o\n\tcc -o $@ $^\n"
        "%.o: %.c\n\tcc -c -w $<\n",
    }
    write(root, files)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    told = "Rust: exit status 0, with state.o, sums.o replaced and 2 programs relinked"
    assert told in done.stdout
    path = root.parent / "objects_rs" / "src" / "sums.rs"
    good = path.read_text()
    path.write_text(good.replace("n.wrapping_add", "n.wrapping_sub").replace("(n) +", "(n) -"))
    assert path.read_text() != good, good
    done = jc2r("check", "--trust", root, "--", "make", "check")
    assert done.returncode == 1 and "Rust: exit status 2" in done.stdout, done.stdout
    (root / "Makefile").write_text(files["Makefile"].replace("\t./second\n", ""))
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 1 and "failed with the Rust: sums" in done.stdout, done.stdout


def test_what_a_program_of_the_build_made_is_not_made_again(tmp_path: Path) -> None:
    """A program that writes a header gives way, too, and looks no newer than the header."""
    root = tmp_path / "tables"
    files = {
        "generate.c": "#include <stdio.h>\nint main(void) { for (int i = 0; i < 4; i++)"
        ' printf("%d,\\n", i * i); return 0; }\n',
        "table.h": "0,\n1,\n4,\n9,\n",
        "square.c": 'static const int table[] = {\n#include "table.h"\n};\n'
        "int square(int n) { return n < 0 || n > 3 ? -1 : table[n]; }\n",
        "check.c": "int square(int n);\nint main(void) { return square(3) == 9 ? 0 : 1; }\n",
        "Makefile": "check: checked\n\t./checked\nchecked: check.o libsquare.a\n\tcc -o $@ $^\n"
        "libsquare.a: square.o\n\tar crs $@ $^\nsquare.o: square.c table.h\n"
        "table.h: generate\n\t./generate > $@\ngenerate: generate.o\n\tcc -o $@ $<\n"
        "%.o: %.c\n\tcc -c -w $<\n",
    }
    write(root, files)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    told = "Rust: exit status 0, with generate, libsquare.a replaced and 1 programs relinked"
    assert told in done.stdout


def test_programs_behind_scripts_of_libtool_are_linked_again(tmp_path: Path) -> None:
    root = tmp_path / "wrapped"
    script = "#! /bin/sh\\n# check - temporary wrapper script for .libs/tester\\n"
    script += '# Generated by libtool\\nexec .libs/tester \\"\\$$@\\"\\n'
    files = {
        "half.c": "int half(int n) { return n / 2; }\n",
        "check.c": "int half(int n);\nint main(void) { return half(7) == 3 ? 0 : 1; }\n",
        "other.c": "int half(int n);\nint main(void) { return half(8) == 4 ? 0 : 1; }\n",
        "Makefile": "test: tester\n\t./tester\ntester: check.o libhalf.a\n\tmkdir -p .libs\n"
        f'\tcc -o .libs/tester $^\n\tprintf "{script}" > tester\n\tchmod +x tester\n'
        "libhalf.a: half.o\n\tar crs $@ $<\n%.o: %.c\n\tcc -c -w $<\n",
    }
    write(root, files)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "with libhalf.a replaced and 1 programs relinked" in done.stdout


TWO_WAYS = {
    "step.c": "int step(int n) {\n#ifdef BY_TWO\n    return n + 2;\n#else\n    return n + 1;\n"
    "#endif\n}\n",
    "walk.c": "int step(int n);\nint main(void) {\n#ifdef BY_TWO\n    return step(1) != 3;\n"
    "#else\n    return step(1) != 2;\n#endif\n}\n",
    "Makefile": "all: one two\none: walk.o step.o\n\tcc -o $@ walk.o step.o\n"
    "two: walk2.o step2.o\n\tcc -o $@ walk2.o step2.o\n"
    "walk.o: walk.c\n\tcc -c walk.c\nstep.o: step.c\n\tcc -c step.c\n"
    "walk2.o: walk.c\n\tcc -DBY_TWO -c walk.c -o walk2.o\n"
    "step2.o: step.c\n\tcc -DBY_TWO -c step.c -o step2.o\n"
    "check: all\n\t./one\n\t./two\n",
}


def test_what_is_compiled_in_two_ways_gives_way_only_to_the_same_way(tmp_path: Path) -> None:
    """Of two objects of one file the one that the library of the crate has gives way; programs get
    the crate's program of their way, whatever it is called, where nothing else gives way."""
    root = tmp_path / "ways"
    write(root, TWO_WAYS)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Rust: exit status 0, with step.o replaced and 2 programs relinked" in done.stdout
    assert "another configuration: step2.o" in done.stdout
    root = tmp_path / "programs"
    whole = TWO_WAYS["walk.c"].replace("int step(int n);", TWO_WAYS["step.c"])
    make = TWO_WAYS["Makefile"].replace(" step.o", "").replace(" step2.o", "")
    write(root, {"walk.c": whole.replace("int step", "static int step"), "Makefile": make})
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Rust: exit status 0, with one, two replaced" in done.stdout


def test_a_command_that_runs_nothing_of_a_library_has_tested_nothing(tmp_path: Path) -> None:
    root = tmp_path / "idle"
    files = {
        "half.c": "int half(int n) { return n / 2; }\n",
        "Makefile": "check: libhalf.a\n\techo all good\nlibhalf.a: half.o\n\tar crs $@ $<\n",
    }
    write(root, files)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 1, done.stdout
    assert "not tested: the command does not run what was replaced" in done.stdout


def test_a_shared_library_needs_what_that_of_the_c_needs(tmp_path: Path) -> None:
    root = tmp_path / "needing"
    files = {
        "sum.c": "unsigned long crc32(unsigned long, const unsigned char *, unsigned);\n"
        "int sum(int n) { return (int)(crc32(0, (const unsigned char *)0, 0) + n); }\n",
        "Makefile": "Z = $(shell echo -l:libz.so.1)\ncheck: tested\n\t./tested\n"
        "tested: libsum.so\n\techo 'int sum(int); int main(void) { return sum(7) != 7; }' >made.c\n"
        "\tcc -o $@ made.c -L. -lsum -Wl,-rpath,$(CURDIR)\nlibsum.so: sum.c\n"
        "\tcc -shared -fPIC -o $@ $< $(Z)\n",
    }
    write(root, files)
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "libsum.so replaced" in done.stdout


FAILING = {
    "twice.c": "#include <stdio.h>\n#include <stdlib.h>\n"
    'int main(int n, char **a) { printf("%d\\n", 2 * atoi(a[n - 1])); return 0; }\n',
    "Makefile": "twice: twice.c\n\tcc -o $@ $<\ncheck: twice\n\tsh check.sh\n",
}


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            "echo took $$; test `./twice 4` = 8 && echo PASS: four; echo FAIL: root; exit 1",
            "The same tests fail with the C and with the Rust",
        ),
        (
            "date +%N; ./twice 21; exit 3",
            "The same tests fail with the C and with the Rust",
        ),
        ("echo PASS: nothing; echo FAIL: more; exit 1", "and do not run the crate"),
        ("ls no-such-file", "and do not run the crate"),
        (
            "./twice 4; test -e again && exit 0; touch again; exit 4",
            "they do not pass with the C",
        ),
    ],
)
def test_tests_that_fail_with_the_c_must_fail_alike(tmp_path: Path, script: str, told: str) -> None:
    root = tmp_path / "failing"
    write(root, {**FAILING, "check.sh": f"{script}\n"})
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert told in done.stdout, done.stdout + done.stderr
    alike = told.startswith("The same")
    assert done.returncode == (0 if alike else 1)
    if not alike:
        return
    path = root.parent / "failing_rs" / "src" / "bin" / "twice.rs"
    good = path.read_text()
    path.write_text(good.replace("2i32.wrapping_mul", "3i32.wrapping_mul").replace("2 *", "3 *"))
    assert path.read_text() != good, good
    done = jc2r("check", "--trust", "--path", root, "--", "make", "check")
    assert done.returncode == 1 and "The same tests" not in done.stdout, done.stdout


def test_bad_cases_are_named(words: tuple[Path, Path]) -> None:
    root, program = words
    done = record(root, b"", "--file", "/etc/passwd", program)
    assert done.returncode == 2 and b"relative to this folder" in done.stderr
    done = record(root, b"", root / "nothing")
    assert done.returncode == 2 and b"no such program" in done.stderr
    file = root / ".jarvis" / "c2rust" / "cases.jsonl"
    good = file.read_bytes()
    bad = {"name": "x", "program": "words", "files": {"../out": ["", 420]}}
    file.write_bytes(good + json.dumps(bad).encode() + b"\n")
    done = jc2r("verify", root, "--programs")
    file.write_bytes(good)
    assert done.returncode == 2 and "record 3 is not a case" in done.stderr
    assert "is outside" in done.stderr


SUM = """#include <stdio.h>
int main(void) {
    int sum = 0, c, at = 0;
    while ((c = getchar()) != EOF) {
        at = at * 3 + 1;
        sum += c >= '0' && c <= '9' ? (c - '0') * at : 0;
    }
    printf("%d\\n", sum);
    return sum % 7;
}
"""


def test_who_recorded_nothing_is_told_what_would_show_more(tmp_path: Path) -> None:
    root = tmp_path / "sum"
    write(root, {"sum.c": SUM})
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("verify", root, "--mutants", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "jc2r record PROGRAM ARGUMENTS" in done.stdout
    report = root / ".jarvis" / "c2rust" / "equivalence.md"
    assert "jc2r record PROGRAM ARGUMENTS" in report.read_text()

    program = tmp_path / "sum.out"
    subprocess.run(["cc", "-w", "-o", program, root / "sum.c"], check=True, timeout=60)
    assert record(root, b"12345x", "--main", "sum", program).returncode == 0
    done = jc2r("verify", root, "--mutants", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 recorded cases match" in done.stdout
    assert "jc2r record PROGRAM ARGUMENTS" not in done.stdout
