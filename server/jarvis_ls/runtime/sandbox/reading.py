"""Reading the user's settings of sandboxes: the table `[sandbox]` of `config.toml`.

    [sandbox]
    isolation = "best"         # "none": without isolation, in trusted workspaces only
    rungs = ["bwrap"]          # engine, bwrap, landlock: those that are tried, best first
    image = "my-tools:1"       # for a container engine; default: this machine's programs
    readable = ["~/sdk"]       # more folders that scripts may read
    environment = ["MY_FLAG"]  # variables that scripts get
    memory = 4_000_000_000     # bytes of one script
    processes = 1024
    written_bytes = 8_000_000_000  # of all files a script and those before it have left
    written_files = 500_000

A workspace has no say in this.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, get_args

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.sandbox.base import Rung, SandboxSettings


def read_sandbox(table: Mapping[str, Any]) -> SandboxSettings:
    """Return the settings a table represents. Raises `ConfigError` naming the key that is wrong."""
    known = {field.name: field.default for field in dataclasses.fields(SandboxSettings)}
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise ConfigError("[sandbox]: there is no setting {key}.", key=repr(key))
        given[key] = _check(key, value, known[key])
    return SandboxSettings(**given)


def _check(key: str, value: Any, default: Any) -> Any:
    if key == "isolation":
        if value not in ("best", "none"):
            raise ConfigError('[sandbox]: isolation must be "best" or "none".')
        return value
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ConfigError("[sandbox]: {key} must be a list of strings.", key=key)
        if key == "rungs" and set(value) - (set(get_args(Rung)) - {"none"}):
            raise ConfigError("[sandbox]: rungs may be engine, bwrap and landlock.")
        return tuple(value)
    if isinstance(default, int):
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise ConfigError("[sandbox]: {key} must be a whole number above zero.", key=key)
        return value
    if not isinstance(value, str):
        raise ConfigError("[sandbox]: {key} must be a string.", key=key)
    return value
