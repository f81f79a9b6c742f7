"""A user who trusts the folders of the tests."""

import json
import os
from collections.abc import Iterator

import pytest
from toolchain import needs_cargo, watches_translator


def pytest_itemcollected(item: pytest.Item) -> None:
    """What reads, translates or builds a whole project takes minutes in all."""
    fixtures = getattr(item, "fixturenames", ())
    if needs_cargo.mark in item.iter_markers() or "tmp_path" in fixtures:
        item.add_marker(watches_translator)


@pytest.fixture(scope="module", autouse=True)
def home_of_one_who_trusts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Who does not trust a project has another home: see `test_hostile_workspace`."""
    home = tmp_path_factory.mktemp("home")
    trusted = os.path.realpath(tmp_path_factory.getbasetemp())
    (home / "trusted.json").write_text(json.dumps([trusted]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JARVIS_HOME", str(home))
        yield
