"""What runs of a program take from the CPU seconds of a finding."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from folders import write

from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Build, Case
from jarvis_ls.jsec.proof.runner import LEVELS, run_cases
from jarvis_ls.jsec.proof.toolchain import Toolchain, find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder
from tests.cli.test_jsec_prove import needs_compiler


@needs_compiler
def test_what_waits_for_the_machine_takes_no_more_than_it_was_given(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    bench = Workbench(work.resolve(), Ladder(home), Toolchain("gcc", "gcc"))
    budget = Budget(5.0)
    own = budget.without(4.8)
    assert own.seconds == 2.5
    own = budget.without(4.5).without(4.5).without(4.5)
    output = asyncio.run(bench.run("sleep 30", own))
    assert output.ended
    assert 0 < own.spent <= own.seconds
    budget.spend(own.spent)
    assert budget.left > 4


SPLIT = {
    "a.c": "int twice(int);\nint main(int n, char **words)\n{\n    (void)words;\n"
    "    return twice(n) == 2 ? 0 : 1;\n}\n",
    "b.c": "int twice(int n)\n{\n    return 2 * n;\n}\n",
}


@needs_compiler
def test_what_was_compiled_for_one_finding_is_not_compiled_for_the_next(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    write(work, SPLIT)
    tools = find_toolchain()
    bench = Workbench(work.resolve(), Ladder(home), tools)
    plain = Build(tools.compiler, tools.linker, (), ("a.c", "b.c"))
    harness = "extern int twice(int);\nint main(void) { return twice(2) == 4 ? 0 : 1; }\n"
    called = replace(plain, sources=("b.c",), harness=harness)
    changed = replace(called, rewritten=(("b.c", "    return 2 * n;", "    return 3 * n;"),))

    def run(build: Build) -> tuple[int, int]:
        done = asyncio.run(run_cases(bench, [Case(build)], LEVELS[0], Budget(20.0)))
        assert not done.failure
        return done.compiled, done.done[0].status

    assert run(plain) == (3, 0)  # and what stands between it and the C library
    assert run(called) == (0, 0)
    assert run(changed) == (1, 1)
    assert run(changed) == (0, 1)
    assert run(called) == (0, 0)


@needs_compiler
def test_lines_that_become_alike_are_not_taken_for_one_another(tmp_path: Path) -> None:
    """And a file of the project may be called as the one that stands before the C library."""
    work, home = tmp_path / "work", tmp_path / "home"
    name = "interposers.c"
    write(work, {name: "int low(int n)\n{\n    n += 1;\n    n *= 5;\n    return n;\n}\n"})
    tools = find_toolchain()
    bench = Workbench(work.resolve(), Ladder(home), tools)
    harness = "extern int low(int);\nint main(void) { return low(2); }\n"
    plain = Build(tools.compiler, tools.linker, (), (name,), harness)
    seen = []
    for old in ("", "    n += 1;", "    n *= 5;"):
        rewritten = ((name, old, "    n += 0;"),) if old else ()
        build = replace(plain, rewritten=rewritten)
        done = asyncio.run(run_cases(bench, [Case(build)], LEVELS[0], Budget(20.0)))
        assert not done.failure
        seen.append(done.done[0].status)
    assert seen == [15, 10, 3]


@needs_compiler
def test_a_build_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    names = [f"part{number}" for number in range(60)]
    body = "".join(f"int f{line}(int n) {{ return n + {line}; }}\n" for line in range(400))
    write(work, {f"{name}.c": body.replace("int f", f"int {name}_") for name in names})
    write(work, {"main.c": "int main(void) { return 0; }\n"})
    tools = find_toolchain()
    bench = Workbench(work.resolve(), Ladder(home), tools)
    files = ("main.c", *(f"{name}.c" for name in names))
    case = Case(Build(tools.compiler, tools.linker, (), files))
    compiled = rounds = 0
    while compiled <= len(files):  # the interposers are compiled too
        done = asyncio.run(run_cases(bench, [case], LEVELS[0], Budget(1.0)))
        assert done.compiled
        compiled += done.compiled
        rounds += 1
    assert rounds > 1
    done = asyncio.run(run_cases(bench, [case], LEVELS[0], Budget(20.0)))
    assert (done.compiled, done.failure, done.done[0].status) == (0, "", 0)
