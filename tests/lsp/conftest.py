"""Servers under test keep the user's state in a folder of the test run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("JARVIS_HOME")
    os.environ["JARVIS_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    if before is None:
        del os.environ["JARVIS_HOME"]
    else:
        os.environ["JARVIS_HOME"] = before
