"""What the declarations of a file say to the rest of it: plain data that can be merged,
compared, cached and sent between processes."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from jarvis_ls.codeintel.installed_headers import View


class Declared(NamedTuple):
    """A declared variable, parameter, field or alias, as plain text. There are so many that how
    fast one is made matters."""

    name: str
    """Its name."""
    type: str
    """The type's words without declarator, such as `const char` or `struct node`."""
    pointers: int = 0
    """How many `*` are before the name (`&` of C++ not counted)."""
    arrays: tuple[str, ...] = ()
    """Text between each pair of `[]`; empty text for `[]`."""
    is_static: bool = False
    """Declared `static`."""


@dataclass(frozen=True, slots=True)
class FunctionMacro:
    """A macro with parameters."""

    parameters: tuple[str, ...]
    """Names of the parameters."""
    body: str
    """Replacement text on one line."""


@dataclass(slots=True)
class Facts:
    """Declarations of one file, or of a file and the headers it includes."""

    macros: dict[str, str] = field(default_factory=dict)
    """Object-like macros: name to replacement text."""
    function_macros: dict[str, FunctionMacro] = field(default_factory=dict)
    """Function-like macros."""
    variables: dict[str, Declared] = field(default_factory=dict)
    """Variables of file scope."""
    fields: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    """Struct, union and class fields by field name; several structs may have one of a name."""
    types: dict[str, Declared] = field(default_factory=dict)
    """Type names: `typedef` and `using` to what they represent."""
    enumerators: dict[str, int] = field(default_factory=dict)
    """Enumeration constants whose value is plain."""
    functions: dict[str, Declared] = field(default_factory=dict)
    """Functions declared or defined: the type is the return type."""
    defined: frozenset[str] = frozenset()
    """Functions defined in this file itself (never taken from headers)."""
    compared: frozenset[str] = frozenset()
    """Functions writing to the standard output whose result this file itself compares at once with
    what tells of failure."""
    stops: frozenset[str] = frozenset()
    """Functions defined in this file itself whose last statement ends the program."""
    includes: tuple[str, ...] = ()
    """Headers named by this file's own `#include \"…\"` and `#include <…>`, quotes removed."""
    foreign: bool = False
    """Whether these are declarations of one item that only other platforms compile."""

    asserting: bool = False
    """Whether this file itself removes `NDEBUG`, so that it evaluates assertions in every build."""
    beyond: View | None = field(default=None, compare=False, repr=False)
    """What headers outside of the project declare to the file; asked for names that nothing else
    declares."""

    def add(self, other: Facts) -> None:
        """Take over the declarations of `other`; a name said again wins, but for fields: structs
        that have one of a name stay known together."""
        self.beyond = other.beyond or self.beyond
        for name in _DECLARED:
            if values := getattr(other, name):
                getattr(self, name).update(values)
        if not other.fields:
            return
        again = {name: self.fields[name] for name in self.fields.keys() & other.fields.keys()}
        self.fields.update(other.fields)
        for name, known in again.items():
            values = other.fields[name]
            if known is not values and known != values:
                others = (declaration for declaration in known if declaration not in values)
                self.fields[name] = (*values, *others)[:_MOST_ALIKE]

    def fill(self, other: Facts) -> None:
        """Take over the declarations of `other` whose names nothing declares yet."""
        mappings = [getattr(self, name) for name in _DECLARED]
        for name, mapping in zip(_DECLARED, mappings, strict=True):
            for key, value in getattr(other, name).items():
                if not any(key in known for known in mappings):
                    mapping[key] = value
        for key, fields in other.fields.items():
            self.fields.setdefault(key, fields)

    def merge(self, others: Iterable[Facts]) -> Facts:
        """Merge these facts with those of included headers; names declared here win."""
        merged = Facts(
            defined=self.defined,
            compared=self.compared,
            stops=self.stops,
            includes=self.includes,
            asserting=self.asserting,
        )
        for other in others:
            merged.add(other)
        merged.add(self)
        return merged

    def alias_of(self, name: str) -> tuple[str, tuple[int, ...] | None]:
        """Return the function a macro represents, and where its arguments go.

        Returns the name a call of `name` ends up at, and for function-like macros the index
        of the macro's argument for each argument of the function (None when they are the
        same). `#define RUN system` gives `("system", None)`, `#define COPY(d, s) strcpy(d, s)`
        gives `("strcpy", (0, 1))`; a name that is no such macro is returned as it is.
        """
        if name not in self.macros and name not in self.function_macros:
            return name, None
        if name in self.functions:
            return name, None  # the macro is for builds without it, or does the same
        order: tuple[int, ...] | None = None
        for _ in range(8):  # a macro may name itself; C stops expanding there, so do we
            text = self.macros.get(name)
            if text is not None:
                if not text.isidentifier() or text == name:
                    break
                name = text
                continue
            forwarded = _forward(self.function_macros.get(name))
            if forwarded is None or forwarded[0] == name:
                break
            name, places = forwarded
            order = places if order is None else tuple(order[i] for i in places if i < len(order))
        return name, order


_DECLARED = ("macros", "function_macros", "variables", "types", "enumerators", "functions")
_MOST_ALIKE = 8
"""Fields of one name that are kept: more of them say nothing."""


@functools.lru_cache(maxsize=4096)
def _forward(macro: FunctionMacro | None) -> tuple[str, tuple[int, ...]] | None:
    if macro is None:
        return None
    name, bracket, rest = macro.body.strip().partition("(")
    name = name.strip()
    if not bracket or not name.isidentifier() or not rest.endswith(")"):
        return None
    words = [
        word.strip().removeprefix("(").removesuffix(")").strip() for word in rest[:-1].split(",")
    ]
    places = []
    for word in words:
        word = "..." if word in ("__VA_ARGS__", "##__VA_ARGS__", "## __VA_ARGS__") else word
        if word not in macro.parameters:
            return None
        places.append(macro.parameters.index(word))
    return name, tuple(places)
