"""The panel's records as JSON: `snake_case` becomes `camelCase`, None is left out.

Writing is by hand, because thousands of events a second pass here; reading is strict: a value
of another type, an unknown `kind` or a list that is none is refused with the field's name.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any

import cattrs
from cattrs.gen import make_dict_structure_fn, override

from jarvis_ls.lsp.protocol.extensions import camel_case


def to_wire(value: Any) -> Any:
    """Return a record as plain JSON values."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [to_wire(item) for item in value]
    if isinstance(value, dict):
        return {key: to_wire(item) for key, item in value.items()}
    wire = {}
    for name, key in _NAMES.get(type(value)) or _names(type(value)):
        item = getattr(value, name)
        if type(item) in _PLAIN:
            wire[key] = item
        elif item is not None:
            wire[key] = to_wire(item)
    return wire


def from_wire(data: Any, kind: Any) -> Any:
    """Return the record (or one of the union) `kind` that JSON says. Raises `ValueError`."""
    try:
        return _reader().structure(data, kind)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


_PLAIN = frozenset((str, int, float, bool))
_NAMES: dict[Any, list[tuple[str, str]]] = {}


def _names(cls: Any) -> list[tuple[str, str]]:
    fields = dataclasses.fields(cls)
    return _NAMES.setdefault(cls, [(field.name, camel_case(field.name)) for field in fields])


@functools.cache
def _reader() -> cattrs.Converter:
    made = cattrs.Converter(detailed_validation=False)
    for kind in (str, int, float, bool):
        made.register_structure_hook(kind, _exactly)
    made.register_structure_hook_factory(dataclasses.is_dataclass, lambda cls: _record(made, cls))
    made.register_structure_hook_factory(_is_sequence, lambda kind: _sequence(made, kind))
    made.register_structure_hook_factory(_is_told_apart, lambda kind: _union(made, kind))
    return made


def _exactly(value: Any, kind: type) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _record(made: cattrs.Converter, cls: Any) -> Any:
    hints = typing.get_type_hints(cls)
    renames: dict[str, Any] = {
        field.name: override(rename=camel_case(field.name)) for field in dataclasses.fields(cls)
    }
    read = make_dict_structure_fn(cls, made, **renames)
    absent = {
        camel_case(field.name): None
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and type(None) in typing.get_args(hints[field.name])
    }

    def structure(data: Any, _: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError(f"{cls.__name__}: expected an object, got {type(data).__name__}")
        try:
            return read({**absent, **data}, cls)
        except KeyError as error:
            raise ValueError(f"{cls.__name__}: {error.args[0]} is missing") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{cls.__name__}: {error}") from None

    return structure


def _is_sequence(kind: Any) -> bool:
    return typing.get_origin(kind) in (list, tuple)


def _sequence(made: cattrs.Converter, kind: Any) -> Any:
    container, item = typing.get_origin(kind), typing.get_args(kind)[0]

    def structure(data: Any, _: Any) -> Any:
        if not isinstance(data, list):
            raise ValueError(f"expected a list, got {type(data).__name__}")
        return container(made.structure(value, item) for value in data)

    return structure


def _is_told_apart(kind: Any) -> bool:
    is_union = isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union
    return is_union and all(dataclasses.is_dataclass(member) for member in typing.get_args(kind))


def _union(made: cattrs.Converter, union: Any) -> Any:
    members = {
        next(field.default for field in dataclasses.fields(member) if field.name == "kind"): member
        for member in typing.get_args(union)
    }

    def structure(data: Any, _: Any) -> Any:
        kind = data.get("kind") if isinstance(data, dict) else None
        if not isinstance(kind, str) or kind not in members:
            raise ValueError(f"unknown kind {str(kind)[:50]!r}")
        return made.structure(data, members[kind])

    return structure
