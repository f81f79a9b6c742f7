"""What holds for all tests."""

import gc
import os
from pathlib import Path

import pytest

from tests.support.properties import load_profile
from tests.support.stamps import Stamps
from tests.support.starting import fork_workers

os.environ["JARVIS_COMPILED"] = "0"  # the sources are tested, not what `npm start` made of them

LONGEST = tuple(
    "test_compiled.py test_migration.py test_hostile.py test_lift.py test_translation.py "
    "test_linking.py test_sandbox.py test_recovery.py test_mcp.py test_jarvis_command.py "
    "test_jsec_prove.py test_jsec_prove_leaks.py test_jsec_prove_functions.py test_red_team.py "
    "test_panel.py test_background_scripts.py test_jarvis_auto_kill.py test_lift_signatures.py "
    "test_equivalence.py test_programs.py test_workspace.py test_jsec_ends.py "
    "test_jsec_command.py test_lift_killed.py test_bzip2.py test_hostile_workspace.py "
    "test_jarvis_eval.py test_onboarding.py test_jarvis_setup.py test_jarvis_extending.py "
    "test_code_actions.py test_checkpoints.py".split()
)
"""Files that take minutes, longest first: begun last, one would run alone at the end."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "watches(*paths): runs when a file below these has changed")
    config.pluginmanager.register(Stamps(config))


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: the collector need not go through them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def left_by_other_modules() -> None:
    """What earlier modules left stays to the end: each collection would go through all of it, and
    a worker's later tests would take many times as long as alone."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first; all others stay in their order."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(Path(item.path).name, len(rank)))


load_profile()
fork_workers()
