"""Changing the user's `config.toml`: one model group, one provider; everything else stays, with its
comments and its order.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.settings_file import DIRECTIVE, FILE, lay_schema
from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.lock import hold
from jarvis_ls.core.toml import read_toml
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.llm.providers import ALIASES, Provider

_LIMIT = 1_000_000
Table = MutableMapping[str, Any]
MakeTable = Callable[[Table, str], Table]


def write_model(home: Path, group: str, model: str, provider: Provider | None = None) -> Path:
    """Make `model` the only one of a group, and describe its provider when one is given. Returns
    the file.

    Raises `ConfigError` when the file there cannot be understood or changed; it then stays as it
    is. Raises `JarvisError` when it cannot be written.
    """

    def change(settings: Table, table: MakeTable) -> None:
        if provider is not None:
            _describe(table(table(settings, "model_providers"), provider.name), provider)
        groups = table(settings, "model_groups")
        names = [name for name in groups if ALIASES.get(name, name) == group]
        table(groups, names[-1] if names else group)["models"] = [model]

    hint = Words(
        "Write models = [{model}] into [model_groups.{group}] yourself.",
        model=f'"{model}"',
        group=group,
    )
    return change_settings(home, change, hint)


def change_settings(home: Path, change: Callable[[Table, MakeTable], None], hint: str = "") -> Path:
    """Let `change` alter the user's settings; its second argument gives the table of a name in
    another, made when it is missing. Returns the file.

    Raises `ConfigError` when the file there cannot be understood or changed; it then stays as it
    is, and `hint` says what the user can do. Raises `JarvisError` when it cannot be written.
    """
    import tomlkit

    path = home / FILE
    home.mkdir(parents=True, exist_ok=True)
    with hold(home / "config.lock", str(path)):
        text, mode = _read(path)
        try:
            plain = read_toml(text)
            document = tomlkit.parse(text)
            change(plain, partial(_table, dict))
            change(document, partial(_table, tomlkit.table))
            written = tomlkit.dumps(document)
            is_right = read_toml(written) == plain
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                "{path} was not changed, because it cannot be read: {why}.", path=path, why=error
            ) from None
        if not is_right:  # tomlkit has faults with tables that are spread over a file
            raise ConfigError(
                "{path} was not changed: its form is too unusual. {hint}", path=path, hint=hint
            )
        replace_file(path, written.encode(), mode=mode)
        if written.startswith(DIRECTIVE):
            lay_schema(home)
    return path


def _read(path: Path) -> tuple[str, int | None]:
    """Return the text and the rights of a file; those of a new one when there is none."""
    if not os.path.lexists(path):
        return DIRECTIVE, None
    try:
        text = read_regular(path, limit=_LIMIT).decode()
    except SkippedFile as error:
        raise ConfigError("{path}: {why}.", path=path, why=error.reason) from None
    except UnicodeDecodeError as error:
        raise ConfigError("{path}: {why}.", path=path, why=error) from None
    return text, stat.S_IMODE(path.stat().st_mode)


def _describe(table: Table, provider: Provider) -> None:
    if provider.type != "openai" or "type" in table:
        table["type"] = provider.type
    if provider.base is not None:
        table["base"] = provider.base
    table.pop("env_key", None)
    if provider.env_keys:
        table["env_keys"] = list(provider.env_keys)
        table.pop("needs_key", None)
    else:
        table.pop("env_keys", None)
        table["needs_key"] = False


def _table(new: Callable[[], Table], within: Table, name: str) -> Table:
    if name not in within:
        within[name] = new()
    found = within[name]
    if not isinstance(found, MutableMapping):
        raise TypeError(f"{name} is not a table")
    return found
