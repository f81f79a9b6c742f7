"""Handles: structures that are used only as the library itself makes them.

A function that returns a pointer to a structure, or puts one where a parameter points, is taken for
its constructor, and so is one whose name says that it sets up a structure it is handed. What is
made in this way is handed to the other functions, after some that change it; those whose names say
that they end it are not among these. What is undefined all the same is left out like any other
case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from jarvis_ls.harness.signature import Function, Kind, Signatures

RETURNED = -1
"""Place of a structure that is returned."""
_ENDING = re.compile(r"(?i)free|destroy|delete|close|release|dispose|finish|fini|drop|unref|end$")
_BEGINNING = re.compile(r"(?i)init|setup|set_up|construct|start|begin|reset|clear|new|create|make")
_STRUCTURE = re.compile(r"c:(?:\w[^@]*)?@S@(\w+)\|")


@dataclass(frozen=True, slots=True)
class Maker:
    """A function that makes a structure."""

    function: Function
    place: int
    """Parameter that leads to it; `RETURNED` when it is what the function returns."""
    inside: bool = False
    """Whether that parameter is the structure, and not where the pointer to it is put."""


class Handles:
    """Who makes and who changes structures."""

    def __init__(self, found: Signatures, may: Callable[[Function], bool]) -> None:
        """`may` says whether a function can be called at all, for what it does."""
        names: dict[str, set[str]] = {}
        for key in found.records:
            names.setdefault(_name(key), set()).add(key)
        self._sole = {name for name, keys in names.items() if len(keys) == 1}
        """Structures of which there is one of the name: a pointer to what is not known is to it."""
        self._makers: dict[str, list[Maker]] = {}
        self._changing: dict[str, list[Function]] = {}
        for function in found.functions:
            if function.name == "main" or function.variadic or not may(function):
                continue
            for name, maker in self._made_by(function):
                self._makers.setdefault(name, []).append(maker)
            if not is_ending(function.name) and not _BEGINNING.search(function.name):
                taken = [self.name_of(parameter.kind) for parameter in function.parameters]
                for name in {name for name in taken if name and taken.count(name) == 1}:
                    self._changing.setdefault(name, []).append(function)

    def name_of(self, kind: Kind) -> str:
        """Return what a pointer to a structure points to, in all files; empty for other types."""
        target = kind.target
        if kind.form != "pointer" or target is None or target.form not in ("record", "opaque"):
            return ""
        name = _name(target.name)
        known = target.form == "record" and target.name.count("|") == 1
        return name if name in self._sole or not known else target.name

    def makers(self, kind: Kind) -> list[Maker]:
        """Return who makes what a pointer points to."""
        return self._makers.get(self.name_of(kind), [])

    def changing(self, kind: Kind) -> list[Function]:
        """Return who changes it, and leaves it of use."""
        return self._changing.get(self.name_of(kind), [])

    def _made_by(self, function: Function) -> Iterable[tuple[str, Maker]]:
        taken = {self.name_of(parameter.kind) for parameter in function.parameters}
        name = self.name_of(function.result)
        if name and name not in taken and not is_ending(function.name):
            yield name, Maker(function, RETURNED)
        for place, parameter in enumerate(function.parameters):
            kind = parameter.kind
            if kind.form != "pointer" or kind.const or kind.target is None:
                continue
            if (
                (name := self.name_of(kind.target))
                and not kind.target.const
                and (name not in taken and not is_ending(function.name))
            ):
                yield name, Maker(function, place)
            elif (
                (name := self.name_of(kind))
                and kind.target.form == "record"
                and (
                    place == 0 and _BEGINNING.search(function.name) and not is_ending(function.name)
                )
            ):
                yield name, Maker(function, place, inside=True)


def is_ending(name: str) -> bool:
    """Return whether a function's name says that it ends what it is handed."""
    return _ENDING.search(name) is not None


def _name(key: str) -> str:
    found = _STRUCTURE.match(key)
    return f"struct {found[1]}" if found else key
