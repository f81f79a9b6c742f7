"""What the graph knows of a file: what it defines, which names it uses where, what it imports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from jarvis_ls.codeintel.graph.languages import GraphLanguage


class Kind(IntEnum):
    """What a definition defines; the numbers are in the database."""

    FUNCTION = 1
    METHOD = 2
    CLASS = 3
    """Also a struct, union, enumeration, interface, trait or record."""
    TYPE = 4
    VARIABLE = 5
    CONSTANT = 6
    MACRO = 7
    PROTOTYPE = 8
    """A function that is declared here and defined elsewhere, or by others."""
    NAMESPACE = 9
    IMPLEMENTATION = 10
    """An `impl` of Rust."""
    FILE = 11
    """What a file does outside of all its definitions."""


class Use(IntEnum):
    """How a name is used; the numbers are in the database."""

    CALL = 1
    NAME = 2
    """As a value, a type, or the argument of a macro."""
    MEMBER_CALL = 3
    """Of what is before a dot, an arrow or two colons."""
    MEMBER = 4
    OWN = 5
    """Of the object itself: behind `self.` or `this.`."""
    IMPORT = 6
    """In the statement that imports it."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that a file defines."""

    name: str
    """Last part of its name."""
    kind: Kind
    line: int
    """First line, from 1."""
    end_line: int
    """Last line."""
    signature: str
    """What is before its body, on one line."""
    container: str
    """Names of what it is defined in, joined by dots; empty at the top of a file."""
    is_exported: bool
    """Whether code outside of its file, crate, package or class may use it."""
    is_test: bool
    """Whether it is code that a test runner starts, or that only tests use."""
    start: int = 0
    """First byte."""
    end: int = 0
    """Byte after the last."""
    body: int = 0
    """First byte of the body; `end` without one."""
    at: int = -1
    """First byte of its name."""

    @property
    def qualified(self) -> str:
        """Return its name with what it is defined in."""
        return f"{self.container}.{self.name}" if self.container else self.name


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name is used."""

    scope: int
    """Number of the definition around it in its file; -1 outside of all."""
    use: Use
    """How it is used."""
    line: int
    """From 1."""


@dataclass(frozen=True, slots=True)
class Import:
    """A module, header or package that a file asks for."""

    module: str
    """As written, without quotes."""
    item: str = ""
    """The name that is taken from it, where one is."""


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """What one file defines and uses."""

    language: GraphLanguage
    """Its language."""
    is_test: bool
    """Whether only tests run it, by its path."""
    definitions: tuple[Definition, ...] = ()
    """In order of their place, those inside functions left out."""
    places: Mapping[str, list[Place]] = field(default_factory=dict)
    """Where each name is used."""
    imports: tuple[Import, ...] = ()
    """What it imports."""
    is_whole: bool = True
    """Whether all of it could be read."""
