"""`jsec explain-function`: what functions do to their callers, over the files of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import jsec, write

LIST = """#include <stdlib.h>
#include <string.h>
#include "store.h"

static struct node *first;

struct node *find(struct node *list, const char *name) {
    for (; list; list = list->next)
        if (!strcmp(list->name, name))
            return list;
    return NULL;
}

struct node *make(const char *name) {
    struct node *node = zeroed(sizeof *node);
    if (!node)
        return NULL;
    node->name = name;
    return node;
}

void keep(struct node *node) { first = node; }

void drop(struct node *node) {
    if (node)
        discard(node);
}

int plain(int n) { return n; }
"""
HEADER = """#include <stddef.h>
struct node { struct node *next; const char *name; };
void *zeroed(size_t size);
void discard(void *block);
"""
MEMORY = """#include <stdlib.h>
#include "store.h"
void *zeroed(size_t size) { return calloc(1, size); }
void discard(void *block) { free(block); }
"""
INPUT = """#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int number(FILE *file) {
    int n;
    if (fread(&n, sizeof n, 1, file) != 1)
        return -1;
    return n;
}

int fill(int fd, char *bytes, size_t size) { return read(fd, bytes, size) < 0 ? -1 : 0; }

void leave(void) { exit(1); }

static int find(int n) { return n > 3; }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"list.c": LIST, "store.h": HEADER, "memory.c": MEMORY, "input.c": INPUT}
    return write(tmp_path_factory.mktemp("project") / "p", files)


@pytest.mark.parametrize(
    ("name", "effects"),
    [
        (
            "list.c:find",
            {
                "Returns NULL on 3 of 8 paths.",
                "Returns 'list', or a pointer into what it points to.",
            },
        ),
        (
            "make",
            {
                "Returns NULL on 1 of 2 paths.",
                "Returns what it allocates or opens: the caller has to release it.",
                "Stores 'name' where it outlives the call.",
            },
        ),
        ("keep", {"Stores 'node' where it outlives the call."}),
        ("drop", {"Releases 'node' on 1 of 2 paths."}),
        ("discard", {"Releases 'block'."}),
        (
            "number",
            {
                "Returns a negative number on 1 of 2 paths.",
                "Returns untrusted input from fread().",
            },
        ),
        (
            "fill",
            {
                "Returns a negative number on 1 of 2 paths.",
                "Returns a number from -1 to 0.",
                "Fills what 'bytes' points to with untrusted input from read().",
            },
        ),
        ("leave", {"Does not return."}),
        ("plain", set()),
    ],
)
def test_what_a_function_does_is_told(project: Path, name: str, effects: set[str]) -> None:
    done = jsec("explain-function", name, "--format", "json", cwd=project)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert set(found["effects"]) == effects
    text = (project / found["file"]).read_text().splitlines()[found["line"] - 1]
    assert f"{found['name']}(" in text


def test_all_functions_of_a_name_are_told_with_their_places(project: Path) -> None:
    done = jsec("explain-function", "find", cwd=project)
    assert done.returncode == 0
    heads = [line.split()[:2] for line in done.stdout.splitlines() if line and line[0] != " "]
    assert heads == [["find", "input.c:16"], ["find", "list.c:7"]]
    assert "Returns a number from 0 to 1." in done.stdout


def test_a_function_of_cpp_is_named_with_and_without_its_file(tmp_path: Path) -> None:
    root = write(tmp_path / "p", {"a.cpp": "namespace ns { int *none() { return nullptr; } }\n"})
    for name in ("a.cpp:ns::none", "ns::none", "none"):
        (found,) = json.loads(jsec("explain-function", name, "--format", "json", cwd=root).stdout)
        assert (found["name"], found["line"]) == ("ns::none", 1)
        assert found["effects"] == ["Returns NULL on every path."]


def test_a_scan_before_changes_nothing(project: Path) -> None:
    before = jsec("explain-function", "make", cwd=project).stdout
    jsec("scan", "-qq", cwd=project)
    assert jsec("explain-function", "make", cwd=project).stdout == before


def test_a_function_that_is_nowhere_is_an_error(project: Path) -> None:
    done = jsec("explain-function", "nowhere", str(project), cwd=project.parent, status=2)
    assert "no function 'nowhere' with a body" in done.stderr
