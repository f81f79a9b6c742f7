"""What flow proves, line by line: `// expect: kind` marks where, all other lines are silent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flow_programs import lowered

from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
from jarvis_ls.jsec.flow.program.in_memory import Files

MARK = re.compile(r"//\s*expect:\s*([\w-]+)")


PLACES = sorted((Path(__file__).parent / "flow" / "places").iterdir())
"""Programs whose lines say `expect:`."""


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.name)
def test_kinds(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    file = lowered(text, path.name)
    analysis = Interpreter(Files([file]))
    found = {
        (text[: fault.span[0]].count("\n"), fault.kind)
        for function in file.functions.values()
        for fault in analysis.root(function)
        if fault.is_flaw
    }
    lines = text.split("\n")
    wanted = {(n, m[1]) for n, line in enumerate(lines) if (m := MARK.search(line)) is not None}
    assert found == wanted


def test_a_branch_that_otherwise_ends_the_program_is_no_choice() -> None:
    text = """
void show(int n);
static void sum(int *all) { for (int i = 0; i < 10; i++) show(all[i]); }
void f(void) {
    int *all = (int *) malloc(10 * sizeof(int));
    if (all == NULL) %s;
    for (int i = 0; i < 5; i++) all[i] = i;
    sum(all);
    free(all);
}
"""
    for leaves, doubtful in (("exit(1)", False), ("show(1)", True)):
        file = lowered(text % leaves)
        analysis = Interpreter(Files([file]))
        found = {f.kind: f.doubtful for f in analysis.root(file.functions["f"])}
        assert found["uninitialized"] == doubtful
