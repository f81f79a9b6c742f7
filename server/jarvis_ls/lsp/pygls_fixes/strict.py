"""Conversion of JSON to typed messages that refuses what does not fit.

Replaces the leniency of ``pygls.protocol.default_converter`` (2.1.1): there ``text: null``
becomes the text ``"None"``, ``line: 1.5`` the line 1, ``true`` a number, and messages that
LSP does not know become named tuples with mangled keys.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import converters
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from jarvis_ls.lsp.protocol import extensions


def converter() -> cattrs.Converter:
    """Return a converter for LSP's messages and ours; it raises on values of another type."""
    made = cattrs.Converter(detailed_validation=False)
    for kind in (str, int, float, bool):
        made.register_structure_hook(kind, _exactly(kind))
    converters.get_converter(made)
    for envelope in (JsonRPCRequestMessage, JsonRPCResponseMessage, JsonRPCNotification):
        made.register_structure_hook(envelope, _drop_type)
    for value in vars(extensions).values():
        if isinstance(value, type) and attrs.has(value) and value.__module__ == extensions.__name__:
            _register(made, value)
    return made


def request_types() -> dict[str, tuple[type, type]]:
    """Message classes of our own requests: method to request and response."""
    return {
        method: (
            attrs.make_class(
                "Request", {"id": _any(), "method": _any(), "jsonrpc": _any(), "params": _of(given)}
            ),
            JsonRPCResponseMessage,
        )
        for method, (given, _result) in extensions.REQUESTS.items()
    }


def _any() -> Any:
    return attrs.field(type=Any)


def _of(kind: type) -> Any:
    return attrs.field(type=kind)


def _exactly(kind: type) -> Callable[[Any, type], Any]:
    def check(value: Any, _: type) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind:
            raise ValueError(f"expected {kind.__name__}, got {type(value).__name__}")
        return value

    return check


def _drop_type(message: dict[str, Any], cls: type) -> Any:
    """Return a message of a method without a type keeps its parameters as plain JSON."""
    fields = [field.name for field in attrs.fields(typing.cast(Any, cls))]
    return cls(**{name: message.get(name) for name in fields})


def _register(made: cattrs.Converter, cls: type) -> None:
    renames: dict[str, Any] = {}
    for field in attrs.fields(typing.cast(Any, cls)):
        absent = field.default is None
        renames[field.name] = override(
            rename=extensions.camel_case(field.name), omit_if_default=absent
        )
    made.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, made, **renames))
    made.register_structure_hook(cls, make_dict_structure_fn(cls, made, **renames))
