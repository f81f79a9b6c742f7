"""Which workspace folders bring something of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from jarvis_ls.core.files import STATE


def with_state(roots: Iterable[Path], home: Path) -> list[Path]:
    """Return the roots whose `.jarvis` is not the user's own state folder.

    Who opens the home folder as a workspace has the same folder in both roles; what is in it is
    the user's, and is read once.
    """
    own = os.path.realpath(home)
    return [root for root in roots if os.path.realpath(root / STATE) != own]
