"""One model's section of the settings: `[models."provider/model"]`.

Values of headers that are secrets are named by the variable that holds them (`env_headers`); one
that looks like a secret is refused where it would be readable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.redaction import Redactor, names_secret
from jarvis_ls.runtime.llm.platforms.base import ModelInfo

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How hard a model may be told to reason; providers know some of them."""
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}\Z")
_OURS = frozenset(
    "messages input model stream stream_options store tools max_tokens max_completion_tokens "
    "max_output_tokens temperature".split()
)
"""Parameters that have settings of their own, or must be as they are."""


def read_model(name: str, table: Mapping[str, Any]) -> tuple[ModelInfo, dict[str, str]]:
    """Return a model as its section describes it, and the variables of its secret headers.

    Raises `ConfigError`, naming the key.
    """
    for key, value in table.items():
        if key not in _CHECKS:
            raise ConfigError("Unknown setting models.{name}.{key}.", name=repr(name), key=key)
        wanted, check = _CHECKS[key]
        if not check(value):
            raise ConfigError(
                "models.{name}.{key} must be {wanted}.", name=repr(name), key=key, wanted=wanted
            )
    values = {key: value for key, value in table.items() if key != "env_headers"}
    _check_extra(name, values.get("extra", {}))
    _check_headers(name, values.get("headers", {}))
    secret = dict(table.get("env_headers", {}))
    return ModelInfo(name.partition("/")[2] or name, **values), secret


def _check_extra(name: str, extra: Mapping[str, Any]) -> None:
    for key in sorted(_OURS & extra.keys()):
        raise ConfigError(
            "models.{name}.extra.{key} cannot be set: it is decided by the conversation or by"
            " another setting.",
            name=repr(name),
            key=key,
        )
    if Redactor().values(dict(extra)) != json.loads(json.dumps(extra)):
        raise ConfigError(
            "models.{name}.extra: keys do not belong in a settings file.", name=repr(name)
        )


def _check_headers(name: str, headers: Mapping[str, str]) -> None:
    hider = Redactor()
    for header, value in headers.items():
        if names_secret(header) or hider.text(value) != value:
            raise ConfigError(
                "models.{name}.headers.{header}: secrets do not belong in a settings file; put it"
                " in an environment variable and name the variable in env_headers.",
                name=repr(name),
                header=header,
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return isinstance(value, dict)


def _are_headers(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _HEADER.match(name) and isinstance(text, str) and text.isprintable()
        for name, text in value.items()
    )


_NUMBER = (Words("a number"), _is_number)
_COUNT = (Words("a whole number above 0"), _is_count)
_FLAG = (Words("true or false"), _is_flag)
_HEADERS = (Words("a table of names and texts"), _are_headers)
_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "window": _COUNT,
    "max_output": _COUNT,
    "tools": _FLAG,
    "images": _FLAG,
    "upload": _FLAG,
    "thinking": (
        Words("true, false or a number of tokens"),
        lambda value: _is_flag(value) or _is_count(value),
    ),
    "reasoning_effort": (
        Words("one of {names}", names=", ".join(EFFORTS)),
        lambda value: value in EFFORTS,
    ),
    "reasoning_back": _FLAG,
    "max_completion_tokens": _FLAG,
    "api": (Words("chat or responses"), lambda value: value in ("chat", "responses")),
    "extra": (Words("a table of parameters"), _is_json),
    "headers": _HEADERS,
    "env_headers": (Words("a table of headers and names of variables"), _are_headers),
    "input_price": _NUMBER,
    "output_price": _NUMBER,
    "cached_price": _NUMBER,
}
