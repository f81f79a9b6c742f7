"""Settings as they come from a file or an editor, checked value by value: what is wrong is reported
with the key it is at.

Each check gives the value it was given, or raises `ValueError` with what it must be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.finding import SEVERITIES, Severity
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.regex import compile_regex

Level = Literal["off", "high", "medium", "low"]
"""What a rule may be set to."""

T = TypeVar("T")
D = TypeVar("D")


class Reader:
    """Takes values out of a table, and complains with the place of what is wrong."""

    def __init__(self, values: Mapping[str, Any], name: str, prefix: str) -> None:
        self._values = dict(values)
        self._name = name
        self._prefix = prefix
        self._known: list[str] = []

    def take(self, key: str, check: Callable[[Any], T], default: D) -> T | D:
        """Return the checked value of `key`; `default` when it is absent."""
        self._known.append(key)
        if key not in self._values:
            return default
        try:
            return check(self._values.pop(key))
        except ValueError as error:
            raise self.error(key, str(error)) from None

    def need(self, key: str, check: Callable[[Any], T]) -> T:
        """Return the checked value of `key`, which must be there."""
        value = self.take(key, check, None)
        if value is None:
            raise self.error(key, "is missing")
        return value

    def tables(self, key: str, make: Callable[[str, Reader], T]) -> tuple[T, ...]:
        """One value for each table below `key`."""
        made = []
        for name, values in self.take(key, table, {}).items():
            reader = Reader(
                _table_at(self, f"{key}.{name}", values), self._name, f"{self._prefix}{key}.{name}."
            )
            made.append(make(name, reader))
            reader.finish()
        return tuple(made)

    def list_of_tables(self, key: str, make: Callable[[Reader], T]) -> tuple[T, ...]:
        """One value for each `[[key]]`."""
        made = []
        for number, values in enumerate(self.take(key, items, []), 1):
            place = f"{key}[{number}]"
            reader = Reader(_table_at(self, place, values), self._name, f"{self._prefix}{place}.")
            made.append(make(reader))
            reader.finish()
        return tuple(made)

    def finish(self) -> None:
        """Complain about keys no one asked for."""
        for key in self._values:
            known = ", ".join(sorted(self._known))
            raise self.error(key, f"is not known; known here: {known}")

    def error(self, key: str, what: str) -> ConfigError:
        """Return the error for a key."""
        return ConfigError(f"{self._name}: {self._prefix}{key}: {what}")


def table(value: Any) -> dict[str, Any]:
    """Return a table with names as keys."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError("must be a table")
    return value


def items(value: Any) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list")
    return list(value)


def text(value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def flag(value: Any) -> bool:
    """Return a boolean; raise `ValueError` for anything else."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Return a list of file patterns as in `.gitignore`."""
    written = tuple(text(pattern) for pattern in items(value))
    Globs(written)
    return written


def share(value: Any) -> float:
    """Return a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def size(value: Any) -> int:
    """Return a number of bytes."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 1 << 30:
        raise ValueError("must be a number of bytes from 1 to 1073741824")
    return value


def levels(value: Any) -> tuple[tuple[str, Level], ...]:
    """Rules with their levels."""
    allowed: tuple[str, ...] = get_args(Level)
    for rule, level in table(value).items():
        if level not in allowed:
            raise ValueError(f"'{rule}' must be one of {', '.join(allowed)}")
    return tuple(value.items())


def severity(value: Any) -> Severity:
    """Return a severity."""
    if value not in SEVERITIES:
        raise ValueError(f"must be one of {', '.join(SEVERITIES)}")
    return value  # type: ignore[no-any-return]


def languages(value: Any) -> tuple[LanguageName, ...]:
    """Return a list of languages."""
    names: tuple[str, ...] = get_args(LanguageName)
    chosen = items(value)
    if not chosen or not all(name in names for name in chosen):
        raise ValueError(f"must be a list of {', '.join(names)}")
    return tuple(chosen)


def numbers(value: Any) -> tuple[int, ...]:
    """One CWE number, or a list of them."""
    found = [value] if isinstance(value, int) else items(value)
    if not all(
        isinstance(entry, int) and not isinstance(entry, bool) and entry > 0 for entry in found
    ):
        raise ValueError("must be a list of CWE numbers")
    return tuple(found)


def position(value: Any) -> int:
    """Return the number of an argument, from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 99:
        raise ValueError("must be the number of an argument, from 1")
    return value


def name(value: Any) -> str:
    """Return the name of a function."""
    if not text(value).isidentifier():
        raise ValueError("must be the name of a function, without namespace or class")
    return text(value)


def one_of(allowed: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return a reader that accepts only these words."""

    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return check


def identifier(value: Any) -> str:
    """Return the id of a pattern."""
    written = text(value)
    allowed = written.isascii() and written.replace("-", "").replace("_", "").isalnum()
    if not allowed or len(written) > 80:
        raise ValueError("must be letters, digits, '-' and '_', at most 80")
    return written


def regex(value: Any) -> str:
    """Return a regular expression that is linear in the text."""
    compile_regex(text(value))
    return text(value)


def _table_at(reader: Reader, place: str, value: Any) -> dict[str, Any]:
    try:
        return table(value)
    except ValueError as error:
        raise reader.error(place, str(error)) from None
