"""A start that loads less: what the protocol library brings and a server does not need.

Building the 500 record types of ``lsprotocol`` is most of the time until `initialize` is
answered. A third of that makes their ``repr``, which no one reads, and a sixth an ``==`` for each.
"""

from __future__ import annotations

import functools
import gc
import importlib
import sys
from typing import Any

import attrs

from jarvis_ls.core.memory import give_back


def load_protocol_types() -> None:
    """Import ``lsprotocol.types`` without a ``repr`` of its own for each type, and with one ``==``
    for all that do not say their own."""
    define = attrs.define

    @functools.wraps(define)
    def lean(maybe_cls: Any = None, **options: Any) -> Any:
        made = define(maybe_cls, **{"repr": False, "eq": False, **options})
        if made.__eq__ is object.__eq__:
            made.__eq__, made.__hash__ = _equal, None
        return made

    attrs.define = lean
    try:
        import lsprotocol.types  # noqa: F401
    finally:
        attrs.define = define


def _equal(self: Any, other: Any) -> Any:
    """Return whether both have the same type and equal fields, as attrs generates per class."""
    if other.__class__ is not self.__class__:
        return NotImplemented
    return attrs.astuple(self, recurse=False) == attrs.astuple(other, recurse=False)


def load_tls() -> None:
    """Make up for a start without TLS, which only agents need: from now on `ssl` can be imported,
    and asyncio, which was loaded without, knows it."""
    if sys.modules.get("ssl", sys) is not None:
        return
    del sys.modules["ssl"]
    import ssl
    from asyncio import base_events, selector_events, sslproto, streams

    importlib.reload(sslproto)
    for module in (base_events, selector_events, streams):
        module.ssl = ssl  # type: ignore[attr-defined]


def settle() -> None:
    """Give back what the start needed, and have collections pass over what stays for good."""
    give_back()
    gc.freeze()
    gc.enable()
