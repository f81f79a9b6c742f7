"""The user's settings file, read as tables; what is in them is for others to judge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.toml import read_toml

FILE = "config.toml"
SCHEMA = Path(__file__).with_name("config.schema.json")
"""What editors check the settings by; the first line of a new settings file names it."""
DIRECTIVE = f"#:schema ./{SCHEMA.name}\n"
_LIMIT = 1_000_000


def read_settings(home: Path, file: Path | None = None) -> dict[str, Any]:
    """Return the user's `config.toml`, or another file of theirs; empty without one. Raises
    `ConfigError` saying what is wrong.
    """
    return read_tables(file or home / FILE)


def section(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a table of the settings; empty when it is missing. Raises `ConfigError` for no
    table.
    """
    found = settings.get(name, {})
    if not isinstance(found, dict):
        raise ConfigError("[{name}] must be a table.", name=name)
    return found


def read_tables(path: Path, root: Path | None = None) -> dict[str, Any]:
    """Return the tables of a TOML file, which is inside of `root` if that is given; empty when it
    is missing. Raises `ConfigError` saying what is wrong."""
    if not os.path.lexists(path):
        return {}
    try:
        return read_toml(read_regular(path, limit=_LIMIT, root=root).decode("utf-8"))
    except SkippedFile as error:
        raise ConfigError("{path}: {why}.", path=path, why=error.reason) from None
    except ValueError as error:
        raise ConfigError("{path}: {why}.", path=path, why=error) from None


def lay_schema(home: Path) -> None:
    """Put the schema beside the user's settings. Raises `JarvisError` when it cannot be written."""
    replace_file(home / SCHEMA.name, SCHEMA.read_bytes())
