"""The client's settings, taken as they come: a wrong value costs that value, not the rest."""

from __future__ import annotations

import typing
from typing import Any

import attrs

from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import RuleLevel, Settings

_LEVELS = typing.get_args(RuleLevel)


def read_settings(value: Any, complaints: list[str]) -> Settings:
    """Return settings from JSON; each value that is not used adds its name to ``complaints``.

    ``value`` is the section itself or an object with the section in it.
    """
    if isinstance(value, dict) and extensions.SETTINGS_SECTION in value:
        value = value[extensions.SETTINGS_SECTION]
    if not isinstance(value, dict):
        return Settings()
    chosen: dict[str, Any] = {}
    for field in attrs.fields(Settings):
        name = extensions.camel_case(field.name)
        if value.get(name) is None:
            continue
        try:
            chosen[field.name] = _CHECKS[field.name](value[name])
        except (TypeError, ValueError):
            complaints.append(name)
    return Settings(**chosen)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _number(low: float, high: float) -> typing.Callable[[Any], float]:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise TypeError(value)
        return min(max(value, low), high)

    return check


def _whole(low: int, high: int) -> typing.Callable[[Any], int]:
    number = _number(low, high)
    return lambda value: int(number(value))


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError(value)
    return value


def _levels(value: Any) -> dict[str, RuleLevel]:
    if not isinstance(value, dict) or not all(level in _LEVELS for level in value.values()):
        raise ValueError(value)
    return value


_CHECKS: dict[str, typing.Callable[[Any], Any]] = {
    "enable": _boolean,
    "debounce": _whole(0, 10_000),
    "workspace_scan": _boolean,
    "min_confidence": _number(0.0, 1.0),
    "rules": _levels,
    "exclude": _texts,
    "max_file_size": _whole(1, 1 << 30),
    "flow": _boolean,
    "installed_headers": _boolean,
    "value_hints": _boolean,
    "crate_folder": _text,
    "project_build": _boolean,
}
