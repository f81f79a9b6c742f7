"""Memory that is no longer needed, returned to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARSING = """
import json
from jarvis_ls.core.memory import give_back, resident

def parse(documents):
    kept = []
    for number in range(documents):
        text = '{"a": [1.5, "text %d"]}' % number
        kept.append([json.loads(text, object_pairs_hook=dict) for _ in range(20)])

parse(200)
give_back()
before = resident()
parse(10_000)
give_back()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a process takes is read from /proc")
def test_names_that_were_looked_up_hold_no_memory_back() -> None:
    """CPython keeps names that `json` has made for each of its calls; 3 MB lay between them."""
    command = [sys.executable, "-c", PARSING]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_000_000
