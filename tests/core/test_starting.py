"""How tests start programs: as a start of their own would be."""

from __future__ import annotations

import subprocess

from tests.support.starting import ROOT, quick


def test_a_worker_that_a_thread_starts_holds_no_lock_of_the_others() -> None:
    command = quick("tests.support.busy_main_thread")
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert run.stdout == "True\n", run.stderr


def test_a_module_that_a_program_starts_has_its_own_arguments_session_and_status() -> None:
    command = quick("tests.support.run_of_its_own")
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert run.stdout == "['a b'] here True 3\n", run.stderr
    assert run.stderr == ""
