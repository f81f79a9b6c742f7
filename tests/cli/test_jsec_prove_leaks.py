"""`jsec prove` on functions that lose what they allocate or open, with real compilers."""

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
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct list {
    char **items;
    int count, size;
};

int copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"); /* the file that is read */
    FILE *out = fopen(to, "w"); /* the file that is written */
    if (in == NULL || out == NULL)
        return -1;
    fclose(in);
    fclose(out);
    return 0;
}

int first_byte(const char *name)
{
    char c;
    int d = open(name, O_RDONLY); /* a descriptor */
    if (d < 0)
        return -1;
    if (read(d, &c, 1) < 0)
        return -2;
    close(d);
    return c;
}

char *join(const char *a, const char *b)
{
    char *x = malloc(strlen(a) + strlen(b) + 1); /* memory */
    char *y = malloc(strlen(b) + 1);
    if (x == NULL)
        return NULL;
    if (y == NULL)
        return NULL;
    strcpy(y, b);
    strcat(strcpy(x, a), y);
    free(y);
    return x;
}

int push(struct list *l, const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return -1;
    l->items = realloc(l->items, (l->count + 1) * sizeof *l->items); /* a block of the caller */
    if (l->items == NULL) {
        free(copy);
        return -1;
    }
    l->items[l->count++] = copy;
    return 0;
}

static char *buffer;

int grow(int page)
{
    buffer = realloc(buffer, page + 1); /* a block that is kept */
    return buffer == NULL ? -1 : page;
}

char *enlarge(char *text, int size)
{
    text = realloc(text, size); /* a block that the caller has still */
    if (text == NULL)
        return NULL;
    return text;
}
"""

STACKS = """\
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *handle, *prefix;
};
struct emitter {
    int error;
    struct {
        struct item *start, *end, *top;
    } items;
};

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

int extend(void **start, void **top, void **end)
{
    void *new_start;
    if ((char *)*end - (char *)*start >= INT_MAX / 2)
        return 0;
    new_start = realloc(*start, ((char *)*end - (char *)*start) * 2);
    if (!new_start)
        return 0;
    *top = (char *)new_start + ((char *)*top - (char *)*start);
    *end = (char *)new_start + ((char *)*end - (char *)*start) * 2;
    *start = new_start;
    return 1;
}

#define PUSH(context, stack, value) \\
    (((stack).top != (stack).end || \\
      extend((void **)&(stack).start, (void **)&(stack).top, (void **)&(stack).end)) ? \\
         (*((stack).top++) = value, 1) : \\
         ((context)->error = 1, 0))

int append_kept(struct emitter *e, struct item value)
{
    struct item *other, copy = {NULL, NULL};
    for (other = e->items.start; other != e->items.top; other++)
        if (strcmp(other->handle, value.handle) == 0)
            return 0;
    copy.handle = copy_of(value.handle);
    copy.prefix = copy_of(value.prefix);
    if (!copy.handle || !copy.prefix)
        goto error;
    if (!PUSH(e, e->items, copy))
        goto error;
    return 1;
error:
    free(copy.handle);
    free(copy.prefix);
    return 0;
}

int append_lost(struct emitter *e, struct item value)
{
    struct item *other, copy = {NULL, NULL};
    for (other = e->items.start; other != e->items.top; other++)
        if (strcmp(other->handle, value.handle) == 0)
            return 0;
    copy.handle = copy_of(value.handle);
    copy.prefix = copy_of(value.prefix);
    if (!copy.handle || !copy.prefix)
        goto error;
    if (!PUSH(e, e->items, copy))
        goto error;
    return 1;
error:
    free(copy.handle);
    return 0;
}

int overwritten(struct emitter *e, const char *text)
{
    e->items.top->handle = malloc(strlen(text) + 1);
    if (text[0] == 'x')
        e->items.top->handle = NULL;
    return 1;
}

void consume(const char *text)
{
    char *copy = copy_of("x");
    if (copy != NULL && text != NULL)
        copy[0] = text[0];
    free(copy);
}

int hand_over(void)
{
    consume(copy_of("abc"));
    return 0;
}

int released_by_sum(const char *text, unsigned many)
{
    char *copy = NULL;
    if (many * 2 > 10)
        copy = strdup(text);
    if (copy)
        copy[0] = 'x';
    if (many + many > 10)
        free(copy);
    return 0;
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
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "project").mkdir()
    (folder / "project" / "lib.c").write_text(LIBRARY)
    return folder


@pytest.fixture(scope="module")
def proofs(place: Path) -> dict[str, dict[str, Any]]:
    """What is proven of each finding, by the comment on its line."""
    folder = str(place / "project")
    done = jsec(
        "prove",
        "--all",
        folder,
        "--trust",
        "--format",
        "json",
        "--min-confidence",
        "0",
        home=place / "home",
    )
    assert done.stdout, done.stderr
    lines = LIBRARY.splitlines()
    return {
        lines[finding["line"] - 1].partition("/* ")[2].removesuffix(" */"): finding["proof"]
        for finding in json.loads(done.stdout)["findings"]
    }


@pytest.mark.parametrize(
    ("what", "failing"),
    [
        ("the file that is read", "'fopen' fails at lib.c:15"),
        ("the file that is written", "'fopen' fails at lib.c:14"),
        ("a descriptor", "'read' fails at lib.c:29"),
        ("memory", "'malloc' fails at lib.c:38"),
        ("a block that is kept", "'realloc' fails at lib.c:67"),
    ],
)
def test_what_is_lost_when_a_call_fails_is_reproduced(
    proofs: dict[str, dict[str, Any]], what: str, failing: str
) -> None:
    proof = proofs[what]
    assert proof["verdict"] == "reproduced", proof
    assert failing in proof["message"]["text"]


def test_what_is_lost_of_a_made_up_structure_depends_on_the_caller(
    proofs: dict[str, dict[str, Any]],
) -> None:
    assert proofs["a block of the caller"]["verdict"] == "depends_on_caller"


def test_what_the_caller_has_still_is_not_lost(proofs: dict[str, dict[str, Any]]) -> None:
    proof = proofs["a block that the caller has still"]
    assert proof["verdict"] == "unproven"
    assert "lost nothing" in proof["message"]["text"]


def test_the_case_is_replayed_until_it_is_repaired(
    place: Path, proofs: dict[str, dict[str, Any]]
) -> None:
    file = place / "project" / "lib.c"
    case = proofs["a descriptor"]["case_id"]
    again = jsec("replay", case, str(place / "project"), "--trust", home=place / "home")
    assert again.returncode == 1, again.stderr
    file.write_text(LIBRARY.replace("        return -2;\n", "        return close(d);\n"))
    repaired = jsec("replay", case, str(place / "project"), "--trust", home=place / "home")
    file.write_text(LIBRARY)
    assert repaired.returncode == 0, repaired.stdout


def test_what_is_released_is_refuted_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("z3")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "stack.c").write_text(STACKS)
    done = jsec(
        "prove",
        "--all",
        str(tmp_path / "project"),
        "--trust",
        "--format",
        "json",
        "--min-confidence",
        "0",
        "--budget",
        "8",
        home=tmp_path / "home",
    )
    assert done.stdout, done.stderr
    lines = STACKS.splitlines()
    begins = {
        name: lines.index(next(line for line in lines if f" {name}(" in line and "{" not in line))
        + 1
        for name in (
            "append_kept",
            "append_lost",
            "overwritten",
            "consume",
            "hand_over",
            "released_by_sum",
        )
    }
    verdicts: dict[str, set[str]] = {}
    for finding in json.loads(done.stdout)["findings"]:
        if finding["rule"] == "memory-leak":
            around = max((at, name) for name, at in begins.items() if at <= finding["line"])
            verdicts.setdefault(around[1], set()).add(finding["proof"]["verdict"])
    assert "append_kept" not in verdicts
    assert verdicts.pop("released_by_sum") == {"refuted"}
    assert {"append_lost", "overwritten", "hand_over"} <= verdicts.keys()
    assert all("refuted" not in found for found in verdicts.values()), verdicts
