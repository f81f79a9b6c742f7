"""What runs of a program take from the CPU seconds of a finding."""

from __future__ import annotations

import asyncio
from pathlib import Path

from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.toolchain import Toolchain
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
