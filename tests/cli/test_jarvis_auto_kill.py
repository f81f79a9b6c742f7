"""`jarvis auto` killed at any moment, by SIGKILL or Ctrl-C, is resumed where it was."""

from __future__ import annotations

import asyncio
import random
import signal
from pathlib import Path

import pytest

from tests.cli.test_jarvis_command import place
from tests.support.auto_killing import OPTIONS, kill_and_resume, script


@pytest.mark.parametrize("lines", [1, 4, 9, 16, 24, 33])
async def test_a_killed_run_is_resumed_and_does_nothing_twice(tmp_path: Path, lines: int) -> None:
    async with place(tmp_path) as here:
        await kill_and_resume(here, lines, random.Random(lines))


async def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = script(here)
        process = await here.start("auto", "-m", "All", *OPTIONS, "--json")
        assert process.stdout is not None
        seen = b""
        while b'"DO-a is done."' not in seen:
            line = await process.stdout.readline()
            assert line, seen.decode()
            seen += line
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
        assert process.returncode == 130, err.decode()
        assert b'"state": "stopped"' in out
        before = len(model.asked)
        status, text, told = await here.run("auto", "-s", "last", *OPTIONS)
        assert (status, text) == (0, "All is summed up.\n"), told
        assert "DO-a" not in model.asked[before:]


async def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        script(here)
        process = await here.start("auto", "-m", "All", *OPTIONS, "--json")
        assert process.stdout is not None
        await process.stdout.readline()
        status, _, err = await here.run("auto", "-s", "last", *OPTIONS)
        assert status == 2, err
        await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0
