"""`jsec prove` on a library: its functions are called one by one, with real compilers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.jsec.proof.toolchain import find_toolchain
from tests.support.starting import quick

LIBRARY = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIB_API(name) name
struct stack {
    int *values;
    int top, size;
};

static const char *const names[4] = {"none", "memory", "file", "end"};

struct stack *stack_new(int size)
{
    struct stack *s;
    if (size < 0 || size > 1000)
        return NULL;
    s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    s->values = calloc((size_t)size + 1, sizeof(int));
    s->top = 0;
    s->size = size;
    return s;
}

const char *LIB_API(stack_error)(struct stack *s, int *code)
{
    int error = s->top;
    if (error > 0)
        error = 0;
    *code = error; /* of whoever calls it */
    return names[0];
}

struct memory {
    void *(*get)(void *opaque, int items, int size);
};

static void *get_memory(void *opaque, int items, int size)
{
    void *v = malloc(items * size); /* guarded */
    (void)opaque;
    return v;
}

void *some_of(struct memory *m, int count)
{
    if (m->get == NULL)
        m->get = get_memory;
    return count < 0 || count > 100 ? NULL : m->get(NULL, count, 4);
}

const char *unguarded(int error)
{
    return names[error * -1]; /* unguarded */
}

const char *compared(const unsigned char *data, unsigned length)
{
    int error = 0;
    if (length >= 4 && *(const int *)data == 1179011410)
        error = length;
    return names[error * -1]; /* behind a comparison */
}

const char *word(const char *text)
{
    char wanted[8] = {0};
    int error = 0;
    for (int i = 0; i < 7; i++)
        wanted[i] = (char)('Q' + i * 3 % 7);
    if (strcmp(text, wanted) == 0)
        error = (int)strlen(text);
    return names[error * -1]; /* behind a word */
}

const char *within(const char *text)
{
    int error = -(int)(strlen(text) & 3);
    return names[error * -1]; /* never beyond */
}

const char *never(const char *text)
{
    int error = (int)strlen(text);
    if (strlen(text) + 1 == 0)
        return names[error * -1]; /* never reached */
    return names[0];
}

char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    strcpy(copy, text); /* without memory */
    return copy;
}

static int fill(int n)
{
    int a[8] = {0};
    for (int i = 0; i <= n; i++)
        a[i] = i; /* always */
    return a[0];
}

int start(void)
{
    return fill(8);
}

static const char *current;

int first_of_current(void)
{
    int a[2] = {0};
    int i = current == NULL ? 2 : 1;
    a[i] = 1; /* before it is set */
    return a[0];
}

void set_current(const char *text)
{
    current = text;
}

int lib_turned(int n);

int lib_turned_twice(int n)
{
    return lib_turned(lib_turned(n));
}
"""
OTHER = """\
int lib_turned(int n)
{
    return n < 1000 ? 1000 - n : 0;
}
"""

pytest.importorskip("clang.cindex")
pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux" or not find_toolchain().compiler,
        reason="no C compiler with sanitizers is here",
    ),
    pytest.mark.watches(),
]


def jsec(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*quick("jarvis_ls.cli.jsec"), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C", "JARVIS_HOME": str(home)},
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project and the home of the user."""
    folder = tmp_path_factory.mktemp("prove")
    (folder / "project" / "src").mkdir(parents=True)
    (folder / "project" / "src" / "lib.c").write_text(LIBRARY)
    # A function that is never reached calls it: it is not linked with what is called.
    (folder / "project" / "src" / "other.c").write_text(OTHER)
    return folder


@pytest.fixture(scope="module")
def proofs(place: Path) -> dict[str, dict[str, Any]]:
    """What is proven of each finding, by the comment on its line."""
    done = jsec(
        "prove", "--all", str(place / "project"), "--trust", "--format", "json", home=place / "home"
    )
    assert done.stdout, done.stderr
    lines = LIBRARY.splitlines()
    return {
        lines[finding["line"] - 1].partition("/* ")[2].removesuffix(" */"): finding["proof"]
        for finding in json.loads(done.stdout)["findings"]
        if finding["file"] == "src/lib.c"
    }


def test_a_function_without_arguments_reproduces_it(proofs: dict[str, dict[str, Any]]) -> None:
    proof = proofs["always"]
    assert (proof["verdict"], proof["rung"]) == ("reproduced", "function-harness")
    assert proof["report"]["kind"] in ("index-out-of-bounds", "stack-buffer-overflow")
    assert "'start'" in proof["message"]["text"]


def test_what_depends_on_calls_before_it_is_not_reproduced(
    proofs: dict[str, dict[str, Any]],
) -> None:
    proof = proofs["before it is set"]
    assert proof["verdict"] == "depends_on_caller"
    assert "before anything else" in proof["message"]["text"]


def test_what_a_caller_must_not_pass_is_named(proofs: dict[str, dict[str, Any]]) -> None:
    proof = proofs["of whoever calls it"]
    assert proof["verdict"] == "depends_on_caller"
    assert proof["message"]["values"]["values"] == "code = NULL"
    proof = proofs["unguarded"]
    assert proof["verdict"] == "depends_on_caller"
    assert proof["message"]["values"]["values"].startswith("error = ")


def test_a_static_function_whose_callers_guard_it_is_not_blamed(
    proofs: dict[str, dict[str, Any]],
) -> None:
    proof = proofs["guarded"]
    assert proof["verdict"] not in ("reproduced", "depends_on_caller", "refuted")
    assert proof["case_id"] == ""


def test_runs_that_came_to_the_place_are_told_from_others(
    proofs: dict[str, dict[str, Any]],
) -> None:
    proof = proofs["never beyond"]
    assert (proof["verdict"], proof["strength"]) == ("refuted", "unsat")
    proof = proofs["never reached"]
    assert proof["verdict"] == "unproven"
    assert "main" in proof["message"]["text"] or "did not come to it" in proof["message"]["text"]


def test_calls_of_the_library_are_let_fail(place: Path, proofs: dict[str, dict[str, Any]]) -> None:
    proof = proofs["without memory"]
    assert proof["verdict"] == "reproduced"
    assert "'malloc' fails at src/lib.c:" in proof["message"]["text"]
    case, project, home = proof["case_id"], place / "project", place / "home"
    source = project / "src" / "lib.c"
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 1
    guarded = "    if (copy == NULL)\n        return NULL;\n    strcpy(copy, text);"
    source.write_text(LIBRARY.replace("    strcpy(copy, text);", guarded))
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 0
    source.write_text(LIBRARY)


def test_coverage_leads_through_a_comparison(proofs: dict[str, dict[str, Any]]) -> None:
    proof = proofs["behind a comparison"]
    assert proof["verdict"] == "depends_on_caller"
    assert "data" in proof["message"]["values"]["values"]


@pytest.mark.skipif(
    not find_toolchain().has_fuzzer, reason="clang with libFuzzer (libclang-rt-dev) is not here"
)
def test_libfuzzer_leads_to_a_word_that_is_made_when_it_runs(
    proofs: dict[str, dict[str, Any]],
) -> None:
    proof = proofs["behind a word"]
    assert proof["verdict"] == "depends_on_caller"
    assert proof["message"]["values"]["values"] == 'text = "QTWSVRU"'


def test_the_case_is_replayed_until_it_is_repaired(
    place: Path, proofs: dict[str, dict[str, Any]]
) -> None:
    case, project, home = proofs["always"]["case_id"], place / "project", place / "home"
    source = project / "src" / "lib.c"
    line = LIBRARY[: LIBRARY.index("/* always */")].count("\n") + 1
    done = jsec("replay", case, str(project), "--trust", home=home)
    assert (done.returncode, f"lib.c:{line}" in done.stdout) == (1, True), done.stdout + done.stderr
    source.write_text(LIBRARY.replace("i <= n", "i < n"))
    done = jsec("replay", case, str(project), "--trust", home=home)
    assert done.returncode == 0, done.stdout + done.stderr
    source.write_text(LIBRARY)


def test_what_a_function_lacks_to_be_called_is_named(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.c").write_text(
        "#include <string.h>\nint missing(int n);\nint store(int n)\n{\n    int values[4];\n"
        "    memset(values, 0, sizeof values);\n    for (int i = 0; i <= 4; i++)\n"
        "        values[i] = n;\n    return missing(values[n & 3]);\n}\n"
    )
    places = str(tmp_path / "project"), "--trust", "--format", "json"
    done = jsec("prove", "--all", *places, home=tmp_path / "home")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["proof"]["verdict"] == "unproven"
    text = finding["proof"]["message"]["text"]
    assert "'store' cannot be called" in text and "missing" in text
