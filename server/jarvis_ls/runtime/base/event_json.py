"""Events and other frozen records as plain JSON values, and back.

Reading is driven by the records' own type hints. Fields a newer version added are left out,
fields an older one lacked get their default, so that old sessions open in new versions and the
other way round.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from jarvis_ls.runtime.base import events
from jarvis_ls.runtime.base.events import Event

_Record = TypeVar("_Record")
_Read = Callable[[Any], Any]
_PLAIN = (str, int, float, bool)


def to_json(record: Any) -> dict[str, Any]:
    """Return a record as plain JSON values."""
    return asdict(record)


def event_from_json(data: Any) -> Event:
    """Return the event `to_json` made. Raises `ValueError` when `data` is none."""
    event: Event = read(Event, data)
    return event


def entry_from_json(data: Any) -> events.Entry:
    """Return the entry `to_json` made. Raises `ValueError` when `data` is none."""
    entry: events.Entry = read(events.Entry, data)
    return entry


def record_from_json(record: type[_Record], data: Any) -> _Record:
    """Return the record of this class that `to_json` made. Raises `ValueError` when `data` is
    none.
    """
    made: _Record = read(record, data)
    return made


def read(hint: Any, data: Any) -> Any:
    """Convert `data` to the hinted type. Raise `ValueError` when it does not fit."""
    try:
        return _reader(hint)(data)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a record of this kind: {error}") from error


@cache
def _reader(hint: Any) -> _Read:
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: value
    if origin in (Union, types.UnionType):
        return _one_of(parts)
    if origin is Literal:
        return _literal(parts)
    if origin is tuple:
        item = _reader(parts[0])
        return lambda value: tuple(item(part) for part in _of((list, tuple), value))
    if origin is dict:
        item = _reader(parts[1])
        return lambda value: {key: item(part) for key, part in _of(dict, value).items()}
    if is_dataclass(hint):
        return _dataclass(hint)
    if hint is float:
        return lambda value: float(_of((int, float), value))
    return lambda value: _of(hint, value)


def _dataclass(record: Any) -> _Read:
    hints = get_type_hints(record)
    readers = {field.name: _reader(hints[field.name]) for field in fields(record)}
    needed = {
        f.name for f in fields(record) if f.default is MISSING and f.default_factory is MISSING
    }
    usual: Any = None if needed else record()
    usual_json = None if needed else asdict(usual)

    @lru_cache(maxsize=64)
    def shape(names: tuple[str, ...], kinds: tuple[type, ...]) -> tuple[list[str], list[str]]:
        """Return the fields that need conversion, and the names that are no fields."""
        if missing := needed - set(names):
            raise ValueError(f"{record.__name__} lacks {', '.join(sorted(missing))}")
        plain = {
            n
            for n, kind in zip(names, kinds, strict=True)
            if kind in _PLAIN and kind is hints.get(n)
        }
        return [n for n in names if n in readers and n not in plain], [
            n for n in names if n not in readers
        ]

    def build(value: Any) -> Any:
        if value == usual_json:
            return usual
        # A long session has thousands of records of few shapes, most of their fields plain.
        known = dict(_of(dict, value))
        deeper, unknown = shape(tuple(known), tuple(map(type, known.values())))
        for name in unknown:
            del known[name]
        for name in deeper:
            known[name] = readers[name](known[name])
        return record(**known)

    return build


def _one_of(parts: tuple[Any, ...]) -> _Read:
    """Return a reader for a union: records by their `kind`, else one type or None."""
    by_kind: dict[str, _Read] = {}
    other: _Read | None = None
    for part in parts:
        if part is type(None):
            continue
        kind = (
            next((f.default for f in fields(part) if f.name == "kind"), None)
            if (is_dataclass(part))
            else None
        )
        if isinstance(kind, str):
            by_kind[kind] = _reader(part)
        else:
            other = _reader(part)

    def build(value: Any) -> Any:
        if value is None and type(None) in parts:
            return None
        if by_kind:
            kind = _of(dict, value).get("kind")
            if kind not in by_kind:
                raise ValueError(f"unknown kind {kind!r}")
            return by_kind[kind](value)
        assert other is not None
        return other(value)

    return build


def _literal(allowed: tuple[Any, ...]) -> _Read:
    def build(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(map(str, allowed))}")
        return value

    return build


def _of(wanted: Any, value: Any) -> Any:
    if not isinstance(value, wanted):
        raise ValueError(f"{type(value).__name__} where {wanted} should be")
    return value
