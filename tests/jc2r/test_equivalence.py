"""`jc2r verify` as a process: equal functions are found equal, a planted fault is found."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from project import JC2R, jc2r, text_of, write
from toolchain import needs_cargo
from verified import functions

from jarvis_ls.jc2r.run.overview import read_overview
from tests.support.patience import HANGS

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r verify needs Linux"),
]

SHOP = {
    "shop.h": """
#include <stddef.h>
#include <stdio.h>
struct item { char name[12]; short price; double weight; struct item *next; };
extern int sold;
int total(const struct item *first);
long dot(const int *a, const int *b, size_t n);
void sort(int *a, int n, int (*less)(int, int));
int ascending(int a, int b);
int parse(const char *text, int *out);
char *join(const char *a, const char *b);
int fail(int code);
int overflow(int a, int b);
int remember(int n);
int past(int n);
struct pair { int a; double b; };
struct pair swap(struct pair one);
void wipe(const char *path);
float half(float x);
int lines(FILE *from, FILE *to);
char *label(int n);
""",
    "shop.c": """
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "shop.h"
int sold;
static int memory[4];
static char labels[40000];
char *label(int n) { labels[20000] = 'a'; labels[20001] = 'b'; return labels + 20000 + (n & 1); }
static const short steps[8] = {1, 2, 3, 5, 8, 13, 21, 34};
int total(const struct item *first) {
    int sum = 0;
    for (; first; first = first->next) sum += first->price + (int)(first->weight > 2.5);
    sold++;
    return sum;
}
long dot(const int *a, const int *b, size_t n) {
    long sum = 0;
    for (size_t i = 0; i < n; i++) sum += (long)a[i] * b[i];
    return sum;
}
int ascending(int a, int b) { return a < b; }
void sort(int *a, int n, int (*less)(int, int)) {
    if (less == NULL) less = ascending;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && less(a[j], a[j - 1]); j--) {
            int t = a[j]; a[j] = a[j - 1]; a[j - 1] = t;
        }
}
int parse(const char *text, int *out) {
    char *end;
    if (strcmp(text, "none") == 0) { errno = EINVAL; return -1; }
    *out = (int)strtol(text, &end, 10);
    printf("[%d]", *out);
    return *end == 0;
}
char *join(const char *a, const char *b) {
    char *both = malloc(strlen(a) + strlen(b) + 1);
    if (both == NULL) return NULL;
    strcpy(both, a);
    return strcat(both, b);
}
int fail(int code) {
    if (code == 77) { fputs("fatal\\n", stderr); exit(3); }
    if (code == 78) abort();
    return code;
}
int overflow(int a, int b) { return a * b; }
int remember(int n) { memory[n & 3] += steps[n & 7]; return memory[1]; }
static int pick(int n) { return steps[n]; }
int past(int n) {
    int a[4];
    for (int i = 0; i <= (n & 7); i++) a[i] = i;
    return a[0] + pick(n & 7);
}
struct pair swap(struct pair one) { struct pair two = {(int)one.b, one.a}; return two; }
void wipe(const char *path) { unlink(path); }
float half(float x) { return x / 2 + 0.1f; }
int lines(FILE *from, FILE *to) {
    int c, n = 0;
    while ((c = getc(from)) != EOF) if (c == ',' || c > 128) { n++; fprintf(to, "%d;", n); }
    rewind(from);
    return n + (ferror(from) != 0);
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The project, translated and found equal."""
    root = tmp_path_factory.mktemp("equivalence") / "shop"
    write(root, SHOP)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)  # where people stand
        done = jc2r("run", "--baseline")
        assert done.returncode == 0, done.stdout + done.stderr
        done = jc2r("verify", "--mutants", "0", "--cases", "30")
    assert done.returncode == 0, done.stdout + done.stderr
    return root, done.stdout


def test_every_function_that_can_be_called_is_equal(shop: tuple[Path, str]) -> None:
    root, said = shop
    found = functions(root)
    assert {name for name, one in found.items() if one["state"] == "equal"} == {
        "total",
        "dot",
        "ascending",
        "sort",
        "parse",
        "join",
        "fail",
        "overflow",
        "remember",
        "past",
        "pick",
        "swap",
        "half",
        "lines",
        "label",
    }
    assert text_of(found["wipe"]["reason"]) == "it calls unlink"
    assert "15 of 16 functions behave like the C" in said
    assert all(one["cases"] >= 3 for one in found.values() if one["state"] == "equal")
    report = (root / ".jarvis" / "c2rust" / "equivalence.md").read_text()
    assert "| behaves like the C | 15 |" in report and "1 × it calls unlink" in report
    assert "15 of 16 functions (94 %) were compared individually" in report


def test_what_is_undefined_in_the_c_is_left_out_and_told(shop: tuple[Path, str]) -> None:
    root, _ = shop
    found = functions(root)
    assert any("signed integer overflow" in why for why in found["overflow"]["excluded"])
    lines = (root / ".jarvis" / "c2rust" / "undefined.jsonl").read_text().splitlines()
    told = {(one["file"], one["evidence"][:12], one["cwe"][0]) for one in map(json.loads, lines)}
    assert ("shop.c", "int overflow", 190) in told
    assert any(text.startswith("for (int i") for _, text, _ in told)
    assert not any(text.startswith("int parse") for _, text, _ in told), "a null was ours"
    report = (root / ".jarvis" / "c2rust" / "equivalence.md").read_text()
    assert "- shop.c:" in report.partition("## Undefined behaviour in the C")[2]
    code = "import sys; from jarvis_ls.cli.jsec import main; sys.exit(main())"
    scanned = subprocess.run(
        [sys.executable, "-c", code, "scan", "--no-flow", "--format", "json", root],
        capture_output=True,
        text=True,
        check=True,
    )
    issues = {(one["rule"], one["line"]) for one in json.loads(scanned.stdout)["issues"]}
    assert {("undefined-behaviour-seen", one["line"]) for one in map(json.loads, lines)} <= issues


def test_only_its_own_folder_is_written(shop: tuple[Path, str]) -> None:
    root, _ = shop
    assert {one.name for one in root.iterdir()} == {*SHOP, ".jarvis"}


def test_the_same_again_is_known(shop: tuple[Path, str]) -> None:
    root, said = shop
    before = (root / ".jarvis" / "c2rust" / "equivalence.jsonl").read_bytes()
    assert jc2r("verify", "--mutants", "0", root, "--cases", "30").stdout == said
    assert (root / ".jarvis" / "c2rust" / "equivalence.jsonl").read_bytes() == before


FAULTS = [
    ("total", r"> 2\.5", "> 3.5"),
    ("sort", r"= 1(i32)?;", "= 2;"),
    ("join", r"strcpy\(both, a\b", "strcpy(both, b"),
    ("fail", r"exit\(3(i32)?\)", "exit(4)"),
    ("remember", r"& 3", "& 1"),
    ("lines", r"%d;", "%d,"),
    ("label", "& 1", "& 2"),
]


def test_planted_faults_are_found(shop: tuple[Path, str], tmp_path: Path) -> None:
    """Each fault is found in its function, and no other function is blamed."""
    root, _ = shop
    path = root.parent / "shop_rs" / "src" / "shop.rs"
    good = text = path.read_text()
    for name, old, new in FAULTS:
        start = text.index(f"fn {name}(")
        changed = re.sub(old, new, text[start:], count=1)
        assert changed != text[start:], name
        text = text[:start] + changed
    path.write_text(text)
    try:
        done = jc2r("verify", "--mutants", "0", root, "--cases", "30")
        report = (root / ".jarvis" / "c2rust" / "equivalence.md").read_text()
        again = jc2r(
            "verify", "--mutants", "0", root, "--cases", "30", LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1"
        )
    finally:
        path.write_text(good)
    assert done.returncode == 1, done.stdout
    assert "fail(code = 77): 调用的结束方式 在 C 中是 exit 3，在 Rust 中是 exit 4" in again.stdout
    assert {name for name, one in functions(root).items() if one["state"] == "differs"} == {
        name for name, _, _ in FAULTS
    }
    example = functions(root)["fail"]["example"]
    assert (example["c"]["end"], example["rust"]["end"]) == ("exit 3", "exit 4")
    assert example["request"]["arguments"] == [["i4", 77]], "as small as it gets"
    chinese = (root / ".jarvis" / "c2rust" / "equivalence.md").read_text()
    assert "## 差异" in chinese
    assert "  fail(code = 77): 调用的结束方式 在 C 中是 exit 3，在 Rust 中是 exit 4" in chinese
    assert not re.search("functions|differ", chinese)
    told = "fail(code = 77): how the call ends is exit 3 in C and exit 4 in Rust"
    assert told in done.stdout and told in report
    for name, _, _ in FAULTS:
        assert re.search(rf"(?m)^  {name}\(.+\): .+", report), name


def test_a_killed_run_goes_on_where_it_was(shop: tuple[Path, str]) -> None:
    root, said = shop
    file = root / ".jarvis" / "c2rust" / "equivalence.jsonl"
    process = subprocess.Popen(
        [*JC2R, "verify", "--mutants", "0", root, "--cases", "30", "--reset"],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + HANGS
    while time.monotonic() < deadline and process.poll() is None:
        if file.read_bytes().count(b"\n") >= 4:
            break
        time.sleep(0.02)
    assert process.poll() is None, "it was to be killed on its way"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = file.read_bytes().count(b"\n")
    assert kept >= 4
    assert jc2r("verify", "--mutants", "0", root, "--cases", "30").stdout == said
    assert len(functions(root)) == 16


def test_without_a_translation_the_command_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": "int a(void) { return 1; }\n"})
    done = jc2r("verify", tmp_path)
    assert done.returncode == 2 and "run `jc2r run --baseline`" in done.stderr


def test_without_sanitizers_the_c_is_built_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that has none: the comparison goes on, and the report says what it lacks."""
    tools = tmp_path / "tools"
    real = shutil.which("gcc") or shutil.which("cc")
    write(
        tools,
        {
            "gcc": '#!/bin/sh\ncase "$*" in *-fsanitize=*) echo none >&2; exit 1;; esac\n'
            f'exec {real} "$@"\n'
        },
    )
    (tools / "gcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    root = tmp_path / "p"
    write(root, {"a.c": "int a(const char *s) { int n = 0; while (s[n]) n++; return n; }\n"})
    assert jc2r("run", "--baseline", root).returncode == 0
    done = jc2r("verify", root, "--cases", "15")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 functions behave like the C" in done.stdout
    found = re.search(r"(\d+) of (\d+) mutants were killed", done.stdout)  # also by default
    assert found is not None and 0 < int(found[1]) <= int(found[2]), done.stdout
    strength = read_overview(root).strength
    assert strength is not None and (strength.killed, strength.planted) == (
        int(found[1]),
        int(found[2]),
    )
    assert "note: the C cannot be built with sanitizers" in done.stdout


def test_a_library_that_calls_what_its_user_brings_is_compared(tmp_path: Path) -> None:
    """As libbz2 without stdio does; what does not call it is compared like anything else."""
    write(
        tmp_path / "p",
        {
            "a.c": """void told_by_user(int code);
int check(int n) { if (n > 1000000) told_by_user(n); return n / 3; }
int plain(int n) { return n ^ 5; }
"""
        },
    )
    assert jc2r("run", "--baseline", tmp_path / "p").returncode == 0
    done = jc2r("verify", "--mutants", 0, "--cases", 10, tmp_path / "p")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 2 functions behave like the C" in done.stdout and "1 are not tested" in done.stdout
