"""Locks that outlive a function and are held when it leaves, on ways through branches and calls."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from folders import Scan, write
from live_files import opened, settled

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.flow.domain.fault import Step
from jarvis_ls.jsec.flow.interp import lock_order
from jarvis_ls.jsec.live.records import TextChange

pytestmark = pytest.mark.watches()

HEAD = """\
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
extern pthread_mutex_t other;
static int total, limit;
struct queue { pthread_mutex_t lock; int used, size; struct queue *next; };
static void enter(void) { pthread_mutex_lock(&other); }
static void leave(void) { pthread_mutex_unlock(&other); }
"""
FLAWED = {
    "a lock of the file": """
int put(int n)
{
    pthread_mutex_lock(&gate); // 1
    if (total + n > limit) // 2
        return -1; // 3
    total += n;
    pthread_mutex_unlock(&gate);
    return 0;
}
""",
    "a lock that a parameter leads to": """
int add(struct queue *q, int n)
{
    if (pthread_mutex_lock(&q->lock) != 0) // 1
        return -2;
    if (q->used == q->size) // 2
        return -1; // 3
    q->used += n;
    pthread_mutex_unlock(&q->lock);
    return 0;
}
""",
    "functions of the program take it and give it back": """
int put(int n)
{
    enter(); // 1
    if (n < 0) // 3
        return -1; // 4
    total += n;
    leave();
    return 0;
}
""",
    "a jump goes past what gives it back": """
int put(int n)
{
    int result = -1;
    pthread_mutex_lock(&gate); // 1
    if (n < 0) // 2
        goto out;
    total += n;
    result = 0;
    pthread_mutex_unlock(&gate);
out:
    return result; // 3
}
""",
}
SOUND = {
    "given back on every way": """
int put(int n)
{
    pthread_mutex_lock(&gate);
    if (total + n > limit) {
        pthread_mutex_unlock(&gate);
        return -1;
    }
    total += n;
    pthread_mutex_unlock(&gate);
    return 0;
}
""",
    "a flag says whether it was taken": """
int put(int n, int alone)
{
    if (alone)
        pthread_mutex_lock(&gate);
    total += n;
    if (n > 5) {
        if (alone)
            pthread_mutex_unlock(&gate);
        return 1;
    }
    if (alone)
        pthread_mutex_unlock(&gate);
    return 0;
}
""",
    "what is found is handed out with its lock": """
struct queue *find(struct queue *all, int n)
{
    pthread_mutex_lock(&gate);
    for (; all; all = all->next)
        if (all->used == n)
            return all;
    pthread_mutex_unlock(&gate);
    return NULL;
}
""",
    "the caller holds it but for a while": """
int put(int n)
{
    leave();
    total += n;
    enter();
    if (n < 0)
        return -1;
    return 0;
}
int calls(int n)
{
    enter();
    int result = put(n);
    leave();
    return result;
}
""",
    "another function gives it back": """
int put(int n)
{
    enter();
    if (n < 0)
        return -1;
    return 0;
}
void done(void) { leave(); }
""",
    "who calls has it from one that was told of": """
static int start(int n)
{
    enter();
    if (n < 0) {
        leave();
        return -1;
    }
    return 0;
}
int put(int n)
{
    if (start(n) < 0)
        return -1;
    total += n;
    leave();
    return 0;
}
""",
}
CPP = """\
#include <mutex>
std::mutex gate;
int total;
struct Box { std::mutex m; int n; int add(int k); };
int Box::add(int k) {
    m.lock();
    if (k < 0)
        return -1;
    n += k;
    m.unlock();
    return 0;
}
int put(int n) {
    std::lock_guard<std::mutex> hold(gate);
    if (n < 0)
        return -1;
    total += n;
    return 0;
}
"""


def sure(findings: list[Finding]) -> list[Finding]:
    return [one for one in findings if one.rule == "missing-unlock" and one.confidence >= 0.52]


@pytest.mark.parametrize("name", FLAWED)
def test_a_lock_that_is_left_held_is_told_with_its_way(
    name: str, tmp_path: Path, scan_folder: Scan
) -> None:
    text = HEAD + FLAWED[name]
    (one,) = sure(scan_folder(write(tmp_path, {"a.c": text})).findings)
    steps = {step.span.line for step in one.trace}
    numbered = [n for n, line in enumerate(text.splitlines(), 1) if line[-1:].isdigit()]
    assert steps >= set(numbered) and one.trace[-1].span.line == numbered[-1]
    assert any(str(step.message) == "Lock acquired here." for step in one.trace)


@pytest.mark.parametrize("name", SOUND)
def test_a_lock_that_others_give_back_is_left_alone(
    name: str, tmp_path: Path, scan_folder: Scan
) -> None:
    assert not sure(scan_folder(write(tmp_path, {"a.c": HEAD + SOUND[name]})).findings)


def test_a_mutex_of_cpp(tmp_path: Path, scan_folder: Scan) -> None:
    (one,) = sure(scan_folder(write(tmp_path, {"a.cpp": CPP})).findings)
    assert [step.span.line for step in one.trace] == [6, 7, 8]
    assert "'m'" in str(one.message)


def test_without_flow_the_taking_leads_to_the_place(tmp_path: Path, scan_folder: Scan) -> None:
    text = HEAD + FLAWED["a lock of the file"]
    write(tmp_path, {"a.c": text, ".jarvis/jsec.toml": "flow = false\n"})
    (one,) = sure(scan_folder(tmp_path).findings)
    assert [str(step.message) for step in one.trace] == ["Locked here.", str(one.message)]


ORDERED = {
    "a.c": """#include <pthread.h>
pthread_mutex_t first, second, gate;
void take_second(void);
void forwards(void) {
    pthread_mutex_lock(&first);
    take_second();
    pthread_mutex_unlock(&first);
}
""",
    "b.c": """#include <pthread.h>
extern pthread_mutex_t first, second, gate;
extern int total;
void take_second(void) {
    pthread_mutex_lock(&second);
    total++;
    pthread_mutex_unlock(&second);
}
void backwards(void) {
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    total--;
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
}
""",
}


def inversions(findings: Iterable[Finding]) -> list[tuple[str, int]]:
    return [(one.file, one.span.line) for one in findings if one.rule == "lock-order-inversion"]


def test_locks_that_files_take_in_opposite_order(tmp_path: Path, scan_folder: Scan) -> None:
    found = scan_folder(write(tmp_path, dict(ORDERED))).findings
    assert inversions(found) == [("b.c", 11)]
    one = next(one for one in found if one.rule == "lock-order-inversion")
    assert [(step.file, step.span.line) for step in one.trace] == [
        ("a.c", 5),
        ("a.c", 6),
        ("b.c", 5),
        ("b.c", 10),
        ("b.c", 11),
    ]


@pytest.mark.parametrize(
    "change",
    [
        ("a.c", "pthread_mutex_t first,", "static pthread_mutex_t first; pthread_mutex_t"),
        ("b.c", "mutex_lock(&first)", "mutex_trylock(&first)"),
        ("a.c", "    take", "    pthread_mutex_unlock(&first); take"),
    ],
)
def test_orders_of_files_that_do_not_meet(
    tmp_path: Path, scan_folder: Scan, change: tuple[str, str, str]
) -> None:
    path, before, after = change
    assert before in ORDERED[path]
    changed = {**ORDERED, path: ORDERED[path].replace(before, after)}
    assert inversions(scan_folder(write(tmp_path, changed)).findings) == []


def test_a_lock_around_both_orders_keeps_them_apart(tmp_path: Path, scan_folder: Scan) -> None:
    guarded = {
        path: text.replace(
            f"    pthread_mutex_lock(&{lock});\n",
            (f"    pthread_mutex_lock(&gate);\n    pthread_mutex_lock(&{lock});\n"),
            1,
        )
        for (path, text), lock in zip(ORDERED.items(), ("first", "nothing"), strict=True)
    }
    assert inversions(scan_folder(write(tmp_path / "one", guarded)).findings) == [("b.c", 11)]
    guarded["b.c"] = guarded["b.c"].replace(
        "void backwards(void) {", "void backwards(void) {\n    pthread_mutex_lock(&gate);"
    )
    assert inversions(scan_folder(write(tmp_path / "both", guarded)).findings) == []


class Compared(tuple[str, tuple[int, int]]):
    """A place that counts how often it is compared with another."""

    count = 0

    def __gt__(self, other: object) -> bool:
        Compared.count += 1
        return super().__gt__(other)  # type: ignore[operator]


def test_orders_of_many_places_are_not_compared_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    place = lock_order._place
    monkeypatch.setattr(lock_order, "_place", lambda fault: Compared(place(fault)))

    def compared(places: int) -> int:
        Compared.count = 0
        faults = [
            lock_order.nesting(outer, inner, ["gate"], file, "f", (Step(file, (n, n + 1), ""),))
            for n in range(places)
            for outer, inner, file in (("a", "b", "a.c"), ("b", "a", "b.c"))
        ]
        assert lock_order.inversions(faults) == []
        return Compared.count

    assert 0 < compared(400) <= 2 * compared(200)


def test_an_edit_of_one_file_changes_the_order_that_is_told_of_another(tmp_path: Path) -> None:
    live = opened(tmp_path, ORDERED)
    assert inversions(settled(live, *ORDERED).findings) == [("b.c", 11)]
    live.change("a.c", 1, [TextChange(ORDERED["a.c"].replace("lock(&first)", "lock(&gate)", 1))])
    assert "b.c" in live.analyse("a.c").others
    assert inversions(settled(live, *ORDERED).findings) == []
    live.change("a.c", 2, [TextChange(ORDERED["a.c"])])
    assert inversions(settled(live, *ORDERED).findings) == [("b.c", 11)]
