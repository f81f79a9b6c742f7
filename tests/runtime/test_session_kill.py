"""A process that writes a session may be killed at any moment: nothing is lost or doubled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support import session_killing

KILLS = 120


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_nothing_is_lost_or_doubled_by_kills(tmp_path: Path) -> None:
    counted = session_killing.run(tmp_path, KILLS, seed=4)
    assert counted["kills"] == KILLS
    assert counted["acknowledged"] > KILLS  # the writers did get to work
    assert counted["in_flight_kept"] + counted["in_flight_gone"] > 0  # and were interrupted at it
