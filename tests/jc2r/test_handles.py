"""Structures that only the library itself can make are made by it, in C and in Rust."""

from __future__ import annotations

import re
from pathlib import Path

from project import jc2r, write
from toolchain import needs_cargo
from verified import functions

STACK = {
    "stack.h": """\
typedef struct stack stack;
struct ring { unsigned char *data; unsigned size, used; };
struct map;
stack *stack_new(void);
void stack_free(stack *one);
int stack_push(stack *one, int value);
int ring_init(struct ring *one, unsigned size);
int map_open(struct map **out, int slots);
int map_set(struct map *one, int key, int value);
""",
    "stack.c": """\
#include <stdlib.h>
#include "stack.h"
struct node { int value; struct node *next; };
struct stack { struct node *top; int count; };
struct map { int slots, used; int *keys; };
stack *stack_new(void) { return calloc(1, sizeof(stack)); }
void stack_free(stack *one)
{
    while (one->top) { struct node *next = one->top->next; free(one->top); one->top = next; }
    free(one);
}
int stack_push(stack *one, int value)
{
    struct node *made = malloc(sizeof *made);
    made->value = value & 7; made->next = one->top; one->top = made;
    return ++one->count;
}
int ring_init(struct ring *one, unsigned size)
{
    one->size = size % 16 + 1; one->used = 0; one->data = malloc(one->size);
    return one->data ? 0 : -1;
}
int ring_put(struct ring *one, unsigned char c)
{
    if (one->used == one->size) return -1;
    one->data[one->used++] = c;
    return one->used;
}
int map_open(struct map **out, int slots)
{
    struct map *made = calloc(1, sizeof *made);
    made->slots = (slots & 7) + 1; made->keys = calloc(made->slots, sizeof(int));
    *out = made;
    return made->slots;
}
int map_set(struct map *one, int key, int value)
{
    if (one->used == one->slots) return -1;
    one->keys[one->used++] = key ^ value;
    return one->used;
}
""",
    "use.c": """\
#include "stack.h"
int twice(stack *one) { return stack_push(one, 1) + stack_push(one, 2); }
int fill(struct map *one) { return map_set(one, 1, 2); }
""",
}


@needs_cargo
def test_what_the_library_makes_is_handed_to_its_functions(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root, STACK)
    assert jc2r("run", "--baseline", root).returncode == 0
    verify: list[object] = ["verify", "--mutants", 0, "--cases", 20, root]
    done = jc2r(*verify)
    assert done.returncode == 0, done.stdout + done.stderr
    found = functions(root)
    assert {name: one["state"] for name, one in found.items() if one["state"] != "equal"} == {}
    assert len(found) == 9 and "9 of 9 functions behave like the C" in done.stdout
    assert min(found[name]["cases"] for name in ("twice", "fill", "stack_free")) >= 5

    rust = tmp_path / "p_rs" / "src" / "stack.rs"
    text, start = rust.read_text(), rust.read_text().index("fn stack_push(")
    changed = re.sub(r"& 7", "& 3", text[start:], count=1)
    assert changed != text[start:]
    rust.write_text(text[:start] + changed)
    done = jc2r(*verify)
    assert done.returncode == 1, done.stdout
    blamed = {name for name, one in functions(root).items() if one["state"] == "differs"}
    assert "stack_push" in blamed and not blamed & {"ring_put", "fill", "map_open", "stack_new"}


FLOW = {
    "flow.h": """\
struct flow { const unsigned char *next; unsigned avail; int state, sum; unsigned held; };
""",
    "flow.c": """\
#include "flow.h"
int flow_init(struct flow *one) { one->state = 0; one->sum = 0; one->held = 0; return 0; }
int flow_feed(struct flow *one)
{
    for (;;) {
        if (one->state == 0) {
            if (one->avail == 0) return 0;
            one->held = *one->next++; one->avail--;
            one->state = 1;
        }
        if (one->avail == 0) return 1;
        one->sum += one->held ^ *one->next++; one->avail--;
        one->state = 0;
    }
}
unsigned pack(unsigned char *to, unsigned room, const unsigned char *from, unsigned count)
{
    unsigned at;
    if (count == 0 || count > 200 || room < count + 4) return 0;
    to[0] = 'P'; to[1] = 'k'; to[2] = 7; to[3] = (unsigned char)count;
    for (at = 0; at < count; at++) to[at + 4] = from[at] ^ 0x55;
    return count + 4;
}
int unpack(const unsigned char *from, unsigned count)
{
    int sum = 0; unsigned at;
    if (count < 4 || from[0] != 'P' || from[1] != 'k') return -1;
    if (from[2] != 7) return -2;
    if (from[3] + 4u > count) return -3;
    for (at = 0; at < from[3]; at++) sum += from[at + 4] ^ 0x55;
    return sum;
}
""",
}


@needs_cargo
def test_streams_are_fed_in_pieces_and_what_is_packed_is_unpacked(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root, FLOW)
    assert jc2r("run", "--baseline", root).returncode == 0
    verify: list[object] = ["verify", "--mutants", 0, "--cases", 60, root]
    done = jc2r(*verify)
    assert done.returncode == 0 and "4 of 4 functions behave like the C" in done.stdout, done.stdout
    rust = tmp_path / "p_rs" / "src" / "flow.rs"
    good = rust.read_text()
    for name, old, new in (
        ("flow_feed", r"\(\*one\)\.state = 1i32;", ""),  # seen only when the next piece comes
        ("unpack", r"\^ 85i32", "^ 84i32"),  # seen only in what `pack` has made
    ):
        start = good.index(f"fn {name}(")
        changed = re.sub(old, new, good[start:], count=1)
        assert changed != good[start:], (name, old, good)
        rust.write_text(good[:start] + changed)
        done = jc2r(*verify)
        blamed = {one for one, found in functions(root).items() if found["state"] == "differs"}
        assert blamed == {name}, (old, done.stdout)
