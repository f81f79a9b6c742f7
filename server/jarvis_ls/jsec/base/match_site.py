"""What rules are shown: a place in an item, or a whole file."""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.top_level_items import Item

Placed = tuple[str, int, int]
"""Name and bytes of a function, relative to the start of its item."""


@dataclass(slots=True, eq=False)
class Site:
    """A place a node pattern found."""

    unit: Unit
    item: Item
    node: Node
    function: Function | None
    """The function around it."""


class WholeUnit:
    """A whole file, for rules that must see all of it."""

    def __init__(
        self, unit: Unit, found: list[Item], placed: Mapping[int, Sequence[Placed]]
    ) -> None:
        """`placed` are the functions of items by the item's first byte."""
        self.unit = unit
        self.items = found
        self._placed = placed
        self._functions: dict[int, list[Function]] = {}
        """Those of the items that were examined, by the item's first byte."""

    @functools.cached_property
    def functions(self) -> list[Function]:
        """Every function of the file, in order."""
        return [function for item in self.items for function in self._functions_of(item)]

    @functools.cached_property
    def by_name(self) -> dict[str, Function]:
        """Every function of the file by its name; of several of one name the last."""
        return {
            name: function
            for item in self.items
            for (name, _, _), function in zip(
                self._placed.get(item.start, ()), self._functions_of(item), strict=True
            )
        }

    def forget(self) -> None:
        """Drop what was worked out about the functions, which refers to them and to the tree."""
        kept = {name: self.__dict__[name] for name in ("unit", "items", "_placed", "_functions")}
        self.__dict__.clear()
        self.__dict__.update(kept)
        for functions in self._functions.values():
            for function in functions:
                function.forget()
        self._functions.clear()

    def mentioning(self, *words: bytes) -> list[Function]:
        """Functions in whose text one of these words, none of them empty, is, in order.

        One search through the file for each word, and a look at the items around what it finds:
        with every keystroke, the functions of all items would be too many.
        """
        data = self.unit.source.data
        places = sorted(at for word in words for at in _occurrences(data, word))
        return [
            function
            for item in self._items_around(places)
            for function in self._functions_of(item)
            if _is_between(places, function.start, function.end)
        ]

    def _items_around(self, places: list[int]) -> Iterator[Item]:
        """Yield the items that one of the places, which are in order, is in."""
        if not places:
            return
        last, index, before = places[-1], 0, 0
        for item in self.items:
            start = item.start
            if start < before:
                index = bisect_left(places, start)
            elif start > last:
                continue
            else:
                while places[index] < start:
                    index += 1
            before = start
            if places[index] < item.end:
                yield item

    def _functions_of(self, item: Item) -> list[Function]:
        known = self._functions.get(item.start)
        if known is None:
            known = self._functions[item.start] = [
                Function(self.unit, item, _spanning(item, item.start + start, item.start + end))
                for _, start, end in self._placed.get(item.start, ())
            ]
        return known


def _spanning(item: Item, start: int, end: int) -> Node:
    """Return the node of an item that spans just these bytes."""
    if item.node.byte_range == (start, end):
        return item.node
    return item.node.descendant_for_byte_range(start, end) or item.node


def _is_between(places: list[int], start: int, end: int) -> bool:
    """Return whether one of the places, which are in order, is between two bytes."""
    index = bisect_left(places, start)
    return index < len(places) and places[index] < end


def _occurrences(data: bytes, word: bytes) -> Iterator[int]:
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + max(1, len(word)))
