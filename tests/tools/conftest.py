"""The workspace tools work in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "project"
    root.mkdir()
    return Desk(root)
