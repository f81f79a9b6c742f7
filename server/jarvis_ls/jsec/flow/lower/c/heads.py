"""The types of functions as their heads say them, kept while a document is edited elsewhere.

Where the text outside of the bodies of functions is as it was, and so is what is known of headers
and macros, a head says what it said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir.types import Type

Head = tuple[str, Type, bool]
"""The name of a function, qualified as it is written, its type, and whether it is `static`."""


class Heads:
    """Those of one document."""

    def __init__(self) -> None:
        self._around = b""
        """Names the text outside of bodies."""
        self._facts: Facts | None = None
        self._known: dict[int, Head] = {}
        """By the number of the function in the document."""
        self._numbers: dict[int, int] = {}
        """By where its definition starts now."""

    def begin(self, unit: Unit, nodes: Iterable[Node]) -> None:
        """Look at the text of a document with these nodes at its top; forget what may have
        changed."""
        data, at = unit.source.data, 0
        digest = hashlib.blake2b(digest_size=16)
        self._numbers = {}
        for node in nodes:
            body = node.child_by_field_name("body") if node.type == "function_definition" else None
            if body is not None:
                digest.update(data[at : body.start_byte] + b"\0")
                at = body.end_byte
                self._numbers[node.start_byte] = len(self._numbers)
        digest.update(data[at:])
        around = digest.digest()
        if around != self._around or not _say_the_same(unit.facts, self._facts):
            self._known.clear()
        self._around, self._facts = around, unit.facts

    def of(self, node: Node) -> Head | None:
        """Return what the head of a definition is known to say."""
        return None if node.has_error else self._known.get(self._numbers.get(node.start_byte, -1))

    def keep(self, node: Node, head: Head) -> None:
        """Keep what a head says that declares nothing itself."""
        number = self._numbers.get(node.start_byte)
        # a structure without a name has that of its place
        if number is not None and not node.has_error and "'@" not in repr(head):
            self._known[number] = head


def _say_the_same(facts: Facts, before: Facts | None) -> bool:
    """Return whether declarations give the same meaning to the names of types."""
    return (
        before is not None
        and facts.beyond is before.beyond
        and facts.types == before.types
        and facts.macros == before.macros
        and facts.enumerators == before.enumerators
    )
