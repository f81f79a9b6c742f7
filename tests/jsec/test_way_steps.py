"""Every finding says how its flaw comes about: what leads to it, in order, and then itself."""

from __future__ import annotations

from pathlib import Path

from folders import Scan, write

CONCURRENT = """\
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int total, counter;
void up(void) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    total++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
}
void down(void) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    total--;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
}
static void stop(int number) {
    printf("%d", number);
}
static void *count(void *x) {
    counter++;
    return x;
}
int main(void) {
    pthread_t one, two;
    signal(SIGINT, stop);
    if (pthread_create(&one, NULL, count, NULL) || pthread_create(&two, NULL, count, NULL))
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter;
}
"""
RUST = """\
use std::sync::Mutex;
pub struct Pair { a: Mutex<u32>, b: Mutex<u32> }
impl Pair {
    pub fn up(&self) -> u32 {
        let x = self.a.lock().unwrap();
        let y = self.b.lock().unwrap();
        *x + *y
    }
    pub fn down(&self) -> u32 {
        let y = self.b.lock().unwrap();
        let x = self.a.lock().unwrap();
        *x - *y
    }
}
"""
PLACES = {
    "lock-order-inversion": [7, 8, 14, 15],
    "unsafe-call-in-signal-handler": [29, 21],
    "unlocked-shared-variable": [30, 30, 24],
    "inconsistent-lock-order": [5, 6, 10, 11],
}


def test_what_threads_and_signals_do_has_its_way(tmp_path: Path, scan_folder: Scan) -> None:
    found = scan_folder(write(tmp_path, {"a.c": CONCURRENT, "pair.rs": RUST})).findings
    ways = {one.rule: [step.span.line for step in one.trace] for one in found}
    assert {rule: ways.get(rule) for rule in PLACES} == PLACES


def test_every_way_ends_where_the_flaw_is(tmp_path: Path, scan_folder: Scan) -> None:
    alone = "#include <stdio.h>\nvoid f(char *p) {\n    gets(p);\n}\n"
    found = scan_folder(write(tmp_path, {"a.c": CONCURRENT, "b.c": alone, "c.rs": RUST})).findings
    assert {len(one.steps) for one in found} >= {1, 2, 4}
    for one in found:
        last = one.steps[-1]
        assert (last.file, last.span, last.message) == (one.file, one.span, one.message)
        assert [step["line"] for step in one.to_json()["trace"]] == [
            step.span.line for step in one.steps
        ]


def test_no_size_is_made_up_for_a_type_that_nothing_defines(
    tmp_path: Path, scan_folder: Scan
) -> None:
    text = (
        "#include <stdlib.h>\nstruct seen { char c[12]; };\n"
        "int f(int n) { %s *p = malloc(sizeof *p); if (n) return 1; free(p); return 0; }\n"
    )
    files = {"a.c": text % "struct unseen", "b.c": text % "struct seen"}
    leaks = [
        finding
        for finding in scan_folder(write(tmp_path, files)).findings
        if finding.rule == "memory-leak"
    ]
    steps = [[str(step.message) for step in leak.trace] for leak in leaks]
    assert len(steps) == 2
    assert not any("bytes" in step for step in steps[0])
    assert any("bytes" in step for step in steps[1])
