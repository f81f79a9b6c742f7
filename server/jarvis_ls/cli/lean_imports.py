"""Imports of a protocol's library, which take most of the time in which a server starts."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""Variable that tells pydantic to look for none; otherwise it reads about every package."""


@contextmanager
def lean_imports() -> Iterator[None]:
    """Collect no garbage within the block, for hardly anything that is imported becomes that, nor
    later among what was imported; and let pydantic look for no plugins.
    """
    before = os.environ.get(PLUGINS)
    os.environ[PLUGINS] = "1"
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        if before is None:
            del os.environ[PLUGINS]
        else:
            os.environ[PLUGINS] = before
