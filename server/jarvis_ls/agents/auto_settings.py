"""The `[auto]` section of the user's settings: how auto mode watches its agents.

[auto]
timeout = 600.0       # seconds a task may take before it is ended and tried again
interval = 5.0        # seconds between two looks at the agents
stuck = 3             # looks without progress after which an agent is stuck
error_rate = 0.5      # share of failed tool calls above which an agent is corrected
retries = 3           # how often a task that failed is tried again
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jarvis_ls.core.errors import ConfigError

LARGEST = {"timeout": 604_800.0, "interval": 3_600.0, "stuck": 1_000, "retries": 100}
"""The largest value of each setting that makes sense."""


@dataclass(frozen=True, slots=True)
class AutoSettings:
    """How auto mode watches its agents."""

    timeout: float = 600.0
    """Seconds a task may take."""
    interval: float = 5.0
    """Seconds between two looks at the agents."""
    stuck: int = 3
    """Intervals without progress after which an agent is stuck."""
    error_rate: float = 0.5
    """Share of failed tool calls above which an agent is corrected."""
    retries: int = 3
    """How often a task that failed is tried again."""


def read_auto_settings(table: Mapping[str, Any]) -> AutoSettings:
    """Return the settings. Raises `ConfigError` naming the key that is wrong."""
    for key in table:
        if key not in AutoSettings.__slots__:
            raise ConfigError("Unknown setting auto.{key}.", key=key)
    values: dict[str, Any] = {}
    for key in ("timeout", "interval"):
        if key in table:
            values[key] = _read_seconds(table, key)
    for key, least in (("stuck", 1), ("retries", 0)):
        if key in table:
            values[key] = _read_count(table, key, least)
    if "error_rate" in table:
        rate = table["error_rate"]
        if type(rate) not in (int, float) or not 0 < rate <= 1:
            raise ConfigError("auto.error_rate must be a number above 0 and at most 1.")
        values["error_rate"] = float(rate)
    return AutoSettings(**values)


def _read_seconds(table: Mapping[str, Any], key: str) -> float:
    value, most = table[key], LARGEST[key]
    if type(value) not in (int, float) or not 0 < value <= most:
        raise ConfigError(
            "auto.{key} must be a number above 0 and at most {most}.", key=key, most=f"{most:g}"
        )
    return float(value)


def _read_count(table: Mapping[str, Any], key: str, least: int) -> int:
    value, most = table[key], int(LARGEST[key])
    if type(value) is not int or not least <= value <= most:
        raise ConfigError(
            "auto.{key} must be a whole number from {least} to {most}.",
            key=key,
            least=least,
            most=most,
        )
    return value
