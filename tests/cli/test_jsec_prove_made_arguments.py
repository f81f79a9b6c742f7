"""`jsec prove` where what a function is given is made for it: filled structures, files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.jsec.proof.toolchain import find_toolchain
from tests.cli.test_jsec_prove import jsec

STORE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char name[32];
    char *note;
};
struct store {
    struct item *items;
    size_t count, capacity;
};

struct store *store_open(void)
{
    return calloc(1, sizeof(struct store));
}

static int grow(struct store *store)
{
    size_t capacity = store->capacity ? store->capacity * 2 : 4;
    store->items = realloc(store->items, capacity * sizeof *store->items); /* lost */
    if (store->items == NULL)
        return -1;
    store->capacity = capacity;
    return 0;
}

int store_add(struct store *store, const char *name)
{
    struct item *item;
    if (strlen(name) >= sizeof item->name || (store->count == store->capacity && grow(store) != 0))
        return -1;
    item = &store->items[store->count];
    strcpy(item->name, name);
    item->note = malloc(8);
    if (item->note == NULL)
        return -1;
    strcpy(item->note, "new");
    store->count++;
    return 0;
}

static struct item *find(struct store *store, const char *name)
{
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->items[i].name, name) == 0)
            return &store->items[i];
    return NULL;
}

int store_remove(struct store *store, const char *name)
{
    struct item *item = find(store, name);
    if (item == NULL)
        return -1;
    free(item->note);
    printf("%s\\n", item->note); /* released */
    *item = store->items[--store->count];
    return 0;
}

size_t store_note(struct store *store, const char *name)
{
    struct item *item = find(store, name);
    size_t length = 0;
    if (item != NULL && item->note != NULL) {
        length = strlen(item->note);
        free(item->note);
        item->note = NULL;
    }
    return length;
}

void store_close(struct store *store)
{
    for (size_t i = 0; i < store->count; i++)
        free(store->items[i].note);
    free(store->items);
    free(store);
}
"""
CELL = """\
#include <cstdlib>
#include <cstring>

class Cell {
    char *text;

public:
    Cell() : text(NULL) {}
    void set(const char *from)
    {
        free(text);
        text = strdup(from);
    }
    size_t take(int times)
    {
        if (text == NULL)
            return 0;
        free(text);
        size_t length = strlen(text); /* taken */
        text = NULL;
        return length * times;
    }
};

size_t taken(Cell &cell)
{
    return cell.take(1);
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


def prove(folder: Path, name: str, text: str) -> dict[str, dict[str, Any]]:
    """What is proven of each finding in a file, by the comment on its line."""
    (folder / "project").mkdir(exist_ok=True)
    (folder / "project" / name).write_text(text)
    asked = "prove", "--all", str(folder / "project"), "--trust", "--format", "json"
    done = jsec(*asked, "--min-confidence", "0", home=folder / "home")
    assert done.stdout, done.stderr
    lines = text.splitlines()
    return {
        lines[finding["line"] - 1].partition("/* ")[2].removesuffix(" */"): finding["proof"]
        for finding in json.loads(done.stdout)["findings"]
    }


def test_what_was_filled_before_comes_to_the_flaw(tmp_path: Path) -> None:
    proofs = prove(tmp_path, "store.c", STORE)
    proof = proofs["released"]
    assert proof["verdict"] == "depends_on_caller"
    assert proof["report"]["kind"] == "heap-use-after-free"
    assert "what store_open makes after store_add" in proof["message"]["text"]
    case, project = proof["case_id"], tmp_path / "project"
    assert jsec("replay", case, str(project), "--trust", home=tmp_path / "home").returncode == 1
    printed = '    printf("%s\\n", item->note); /* released */\n'
    repaired = STORE.replace(
        "    free(item->note);\n" + printed, printed + "    free(item->note);\n"
    )
    assert repaired != STORE
    (project / "store.c").write_text(repaired)
    assert jsec("replay", case, str(project), "--trust", home=tmp_path / "home").returncode == 0


def test_a_table_that_is_full_is_lost_when_it_cannot_grow(tmp_path: Path) -> None:
    proof = prove(tmp_path, "store.c", STORE)["lost"]
    assert proof["verdict"] == "reproduced"
    assert "when 'realloc' fails" in proof["message"]["text"]


def test_nothing_is_confirmed_of_what_is_done_rightly(tmp_path: Path) -> None:
    grown = STORE.replace(
        "    store->items = realloc(store->items, capacity * sizeof *store->items); /* lost */\n"
        "    if (store->items == NULL)\n        return -1;\n",
        "    void *items = realloc(store->items, capacity * sizeof *store->items);\n"
        "    if (items == NULL)\n        return -1;\n    store->items = items;\n",
    ).replace("    free(item->note);\n    printf", "    printf")
    proofs = prove(tmp_path, "store.c", grown)
    confirmed = [proof for proof in proofs.values() if proof["verdict"] == "reproduced"]
    assert confirmed == []


def test_methods_fill_an_object_before_another_is_called(tmp_path: Path) -> None:
    proof = prove(tmp_path, "cell.cpp", CELL)["taken"]
    assert proof["verdict"] == "depends_on_caller"
    assert "after" in proof["message"]["text"] and "set" in proof["message"]["text"]


def test_the_function_itself_is_called_where_no_call_of_another_comes_to_it(
    tmp_path: Path,
) -> None:
    reader = """\
#include <stdio.h>
#include <string.h>

size_t keep(const char *line)
{
    char name[8];
    strcpy(name, line); /* kept */
    return strlen(name);
}

size_t keep_all(int descriptor)
{
    char line[200];
    size_t all = 0;
    FILE *file = fdopen(descriptor, "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        all += keep(line);
    fclose(file);
    return all;
}
"""
    proof = prove(tmp_path, "reader.c", reader)["kept"]
    assert proof["verdict"] == "depends_on_caller"
    assert "a caller of 'keep' passes line = " in proof["message"]["text"]


@pytest.mark.skipif(
    not find_toolchain().has_fuzzer, reason="clang with libFuzzer (libclang-rt-dev) is not here"
)
@pytest.mark.parametrize(
    ("head", "end"),
    [
        ('const char *path)\n{\n    FILE *file = fopen(path, "rb");', "fclose(file);"),
        ("FILE *file)\n{", ""),
    ],
)
def test_contents_of_files_are_made_by_their_name_and_as_streams(
    tmp_path: Path, head: str, end: str
) -> None:
    reader = f"""\
#include <stdio.h>
#include <string.h>

int load({head}
    unsigned char begin[8], name[16];
    size_t length = 0;
    if (file == NULL)
        return -1;
    if (fread(begin, 1, sizeof begin, file) == sizeof begin && begin[0] == 'Q' && begin[1] == 0) {{
        length = begin[4] | begin[5] << 8;
        length = fread(name, 1, length, file); /* too much */
    }}
    {end}
    return (int)length;
}}
"""
    proof = prove(tmp_path, "reader.c", reader)["too much"]
    assert proof["verdict"] == "depends_on_caller"
    assert proof["report"]["kind"] == "stack-buffer-overflow"
