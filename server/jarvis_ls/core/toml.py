"""TOML by the standard library, or by its twin on Python 3.10, which has none."""

from __future__ import annotations

import sys
from typing import Any


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises `ValueError` saying what is wrong, with `lineno` where that is known.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return tables
