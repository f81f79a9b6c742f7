"""The graph of symbols of a workspace, as this user knows it."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jarvis_ls.codeintel.graph.store import SymbolStore


def open_symbols(root: Path) -> SymbolStore:
    """Return the graph of a workspace; the caller closes it.

    A graph that came with the folder, and says what its author likes, is not this user's.
    """
    from jarvis_ls.codeintel.change.difference import open_graph
    from jarvis_ls.jsec.scan.cache import user_key

    owner = hmac.new(user_key(), b"symbols\0" + bytes(root), hashlib.sha256).hexdigest()
    return open_graph(root, owner)
