"""How much agents of a session may do without being asked: a choice of the user's.

The mode is kept with the session. It changes only what would be asked: what a rule forbids stays
forbidden, and what a rule says to ask is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import Mode

MODES: tuple[Mode, ...] = get_args(Mode)
KEY = "mode"
"""Under this name the session's data holds it."""
IN_COPY = "in_copy"
"""Under this name the session's data tells that agents change a copy of the user's files."""
PLANNING = Words("Plan mode: nothing is written or run until the user leaves it.")
NAMES: Mapping[Mode, str] = {
    "ask": Words("Ask before changes"),
    "edits": Words("Accept edits"),
    "plan": Words("Plan only"),
}


def mode_of(data: Mapping[str, Any]) -> Mode:
    """Return the mode that a session's data names; `ask` without a known one."""
    found = data.get(KEY)
    return next((mode for mode in MODES if mode == found), "ask")


def is_in_copy(data: Mapping[str, Any]) -> bool:
    """Return whether a session's data tells that agents change a copy of the user's files."""
    return data.get(IN_COPY) is True
