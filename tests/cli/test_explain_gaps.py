"""`jsec scan --explain-gaps`: what the analysis does not know, how often it matters, and where."""

from __future__ import annotations

import json
from pathlib import Path

from commands import jsec, write

OWN = """#include <glib.h>
#include <stdio.h>
#include "vendor/thing.h"
#include "own.h"

#define TORN(x) else { x
#define PLUS(a, b) ((a) + (b))

static int twice(int n) { return PLUS(n, n); }

void run(thing_t *thing, gint count, own_t *own) {
    void (*hook)(int) = 0;
    char *text = g_strdup("x");
    TORN(1); }
    thing_start(thing, twice(count));
    thing_start(thing, 2);
    THING_CHECK(thing);
    hook(1);
    elsewhere(own);
    printf("%d", count);
    g_free(text);
}
"""
OTHER = """#include "vendor/thing.h"
#include "own.h"
void elsewhere(own_t *own) { thing_t *other = 0; thing_start(other, own->n); }
"""
HEADER = "typedef struct { int n; } own_t;\nvoid elsewhere(own_t *own);\n"


def project(root: Path) -> None:
    write(root, {"a.c": OWN, "b.c": OTHER, "own.h": HEADER})


def test_what_is_not_known_is_counted_with_a_place(tmp_path: Path) -> None:
    project(tmp_path)
    run = jsec("scan", "--explain-gaps", "--format", "json", "--no-cache", cwd=tmp_path)
    gaps = json.loads(run.stdout)["gaps"]
    found = {(gap["kind"], gap["name"]): (gap["count"], gap["file"], gap["line"]) for gap in gaps}
    assert found == {
        ("header", "vendor/thing.h"): (2, "a.c", 3),
        ("macro", "TORN"): (1, "a.c", 14),
        ("macro", "THING_CHECK"): (1, "a.c", 17),
        ("type", "thing_t"): (2, "a.c", 11),
        ("function", "thing_start"): (3, "a.c", 15),
    }
    assert all(gap["advice"] for gap in gaps)


def test_the_most_frequent_comes_first_in_words(tmp_path: Path) -> None:
    project(tmp_path)
    run = jsec("scan", "--explain-gaps", "--no-cache", cwd=tmp_path)
    after = run.stdout.partition("headers that are not found")[2]
    assert "vendor/thing.h  a.c:3" in after
    assert "thing_start  a.c:15" in after
    assert "are looked for among scanned" in after


def test_nothing_is_said_where_all_is_known(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": "int f(int n) { return n; }\n", "b.rs": "fn f() {}\n"})
    run = jsec("scan", "--explain-gaps", "--no-cache", cwd=tmp_path)
    assert "knows all headers" in run.stdout
    assert (
        json.loads(
            jsec("scan", "--explain-gaps", "--format", "json", "--no-cache", cwd=tmp_path).stdout
        )["gaps"]
        == []
    )


def test_without_the_option_nothing_is_summed_up(tmp_path: Path) -> None:
    project(tmp_path)
    assert "gaps" not in json.loads(
        jsec("scan", "--format", "json", "--no-cache", cwd=tmp_path).stdout
    )


def test_other_formats_say_which_ones_have_it(tmp_path: Path) -> None:
    project(tmp_path)
    run = jsec("scan", "--explain-gaps", "--format", "sarif", cwd=tmp_path, status=2)
    assert "--format text or json" in run.stderr


def test_odd_files_are_no_hindrance(tmp_path: Path) -> None:
    write(tmp_path, {"empty.c": "", "torn.c": "void f( { g(", "deep.c": "void f(void){" * 3000})
    (tmp_path / "odd.c").write_bytes(b"\xff\xfe\x00v\x00o int \xe4 f(\xff) { x_\xfe(1); }")
    run = jsec("scan", "--explain-gaps", "--format", "json", "--no-cache", cwd=tmp_path)
    assert isinstance(json.loads(run.stdout)["gaps"], list)
