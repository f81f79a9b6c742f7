"""Types, constants and functions that headers outside of the project declare, for names that
neither the project nor our tables know.

A declaration there is read when its name is asked for. Where several differ, or one cannot be
read, the name stays unknown.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

from jarvis_ls.codeintel.conditionals import live_children
from jarvis_ls.codeintel.installed_headers import View
from jarvis_ls.codeintel.nodes import first_named, text
from jarvis_ls.codeintel.parse import Node, Tree, parse
from jarvis_ls.jsec.flow.ir.declarations import RecordIR
from jarvis_ls.jsec.flow.ir.types import FunctionType, Record, Type, record_type
from jarvis_ls.jsec.flow.lower.c.literals import TypeNames, constant

_TAGGED: Final = frozenset({"struct_specifier", "union_specifier"})
_CAST: Final = re.compile(r"\(\s*[A-Za-z_][\w\s]*[\s*]*\)\s*[\w(~+-]")
_WRAPPED: Final = re.compile(r"~|\b\d\w*[uU]")
"""Numbers whose sign is another than arithmetic without a width gives."""
_LONGEST: Final = 300
_DEEPEST: Final = 10


class DeclaredTypes(TypeNames):
    """The types of a file, as far as declarations elsewhere are read with them."""

    records: dict[str, RecordIR]
    """Structures, unions and classes by their tag."""
    origin: str
    """The name whose declaration is read outside of the project; empty for the file's own."""

    @abstractmethod
    def record(self, node: Node, alias: str = "") -> Type:
        """Take over a struct, union or class, and give its type."""

    @abstractmethod
    def specifier_type(self, node: Node) -> Type:
        """Return the type that precedes the declarators of a declaration or parameter."""

    @abstractmethod
    def declarator(self, node: Node | None, base: Type) -> tuple[str, Type]:
        """Return name and type of a declarator of a declaration with type `base`."""


class InstalledNames:
    """The names that a file does not declare, asked of the headers that it reaches. The types of
    the file hold it, so it is given them each time and holds them never."""

    def __init__(self, beyond: View | None) -> None:
        self._beyond = beyond
        self._values: dict[str, int | None] = {}
        self._functions: dict[str, FunctionType | None] = {}
        self._depth = 0
        self.records: set[str] = set()
        """Structures that were found there."""

    def type(self, types: DeclaredTypes, name: str) -> Type | None:
        """Return the type of a name; None when it is none, or not known."""
        if self._beyond is None or self._depth > _DEEPEST:
            return None
        found: dict[Type, None] = {}
        with self._within(types, name):
            for node in self._declarations(name):
                if node.has_error:
                    return None
                if node.type == "type_definition":
                    found.update(dict.fromkeys(self._aliases(types, node, name)))
            if not found:
                self._define(types, name)
                return record_type(name) if name in types.records else None
        return next(iter(found)) if len(found) == 1 else None

    def record(self, types: DeclaredTypes, name: str) -> None:
        """Take over the structure or union with that tag, if there is one."""
        if self._beyond is not None and self._depth <= _DEEPEST:
            with self._within(types, name):
                self._define(types, name)

    def constant(self, types: DeclaredTypes, name: str) -> int | None:
        """Return the value of a macro or an enumerator."""
        if self._beyond is None:
            return None
        if name not in self._values:
            self._values[name] = None  # one that is asked for on the way to itself has none
            if self._depth <= _DEEPEST:
                with self._within(types, name):
                    self._values[name] = self._constant(types, name)
        return self._values[name]

    def member(self, name: str) -> tuple[str, ...]:
        """Return the members that the name of one represents, the outermost first."""
        return self._beyond.member(name) if self._beyond is not None else ()

    def function(self, types: DeclaredTypes, name: str) -> FunctionType | None:
        """Return the type of a function."""
        if self._beyond is None:
            return None
        if name not in self._functions:
            self._functions[name] = None
            with self._within(types, name):
                self._functions[name] = self._function(types, name)
        return self._functions[name]

    @contextmanager
    def _within(self, types: DeclaredTypes, name: str) -> Iterator[None]:
        before, types.origin = types.origin, f"{name}:"
        self._depth += 1
        try:
            yield
        finally:
            types.origin = before
            self._depth -= 1

    def _declarations(self, name: str) -> Iterator[Node]:
        assert self._beyond is not None
        for written in self._beyond.declarations(name):
            node = _parse_declaration(written)[1]
            if node is not None:
                yield node

    def _aliases(self, types: DeclaredTypes, node: Node, name: str) -> Iterator[Type]:
        """Yield the type that a `typedef` gives a name."""
        declarators = node.children_by_field_name("declarator")
        if not any(name in text(declarator) for declarator in declarators):
            return
        kind = node.child_by_field_name("type")
        base = (
            types.record(kind, name)
            if kind is not None and kind.type in _TAGGED
            else types.specifier_type(node)
        )
        if isinstance(base, Record):
            self._note(types, base.name)
        for declarator in declarators:
            declared, type_ = types.declarator(declarator, base)
            if declared == name:
                yield type_

    def _define(self, types: DeclaredTypes, name: str) -> None:
        bodies = {
            node.text: node
            for top in self._declarations(name)
            for node in _tagged_nodes(top)
            if text(node.child_by_field_name("name")) == name
        }
        if len(bodies) == 1 and not (node := next(iter(bodies.values()))).has_error:
            types.record(node)
            self._note(types, name)

    def _note(self, types: DeclaredTypes, name: str) -> None:
        """Keep a structure if all of it is known: of others, such as those with bit-fields, what
        a member does to the bytes is not."""
        record = types.records.get(name)
        if record is not None and record.size > 0:
            self.records.add(name)
        elif record is not None:
            del types.records[name]

    def _constant(self, types: DeclaredTypes, name: str) -> int | None:
        assert self._beyond is not None
        body = self._beyond.constant(name)
        if body is not None and body != name:
            if not body or len(body) > _LONGEST or _CAST.search(body):
                return None
            value = constant(body, types)
            return None if value is not None and value < 0 and _WRAPPED.search(body) else value
        found = {
            value
            for node in self._declarations(name)
            for kind in _enumerations(node)
            for value in (self._enumerator(types, kind.child_by_field_name("body"), name),)
        }
        return found.pop() if len(found) == 1 else None

    def _enumerator(self, types: DeclaredTypes, body: Node | None, name: str) -> int | None:
        """Return the value of an enumerator; None when how the program is compiled decides it."""
        before: int | None = -1
        for child in live_children(body) if body is not None else ():
            if child.type.startswith("preproc_"):
                before = None
            if child.type != "enumerator":
                continue
            written = child.child_by_field_name("value")
            if written is not None:
                before = constant(text(written), types)
            elif before is not None:
                before += 1
            if text(child.child_by_field_name("name")) == name:
                return before
        return None

    def _function(self, types: DeclaredTypes, name: str) -> FunctionType | None:
        found: dict[FunctionType, None] = {}
        for node in self._declarations(name):
            if node.type != "declaration":
                continue
            base = types.specifier_type(node)
            for declarator in node.children_by_field_name("declarator"):
                declared, type_ = types.declarator(declarator, base)
                if declared == name and isinstance(type_, FunctionType):
                    if node.has_error:
                        return None
                    found[type_] = None
        return next(iter(found)) if len(found) == 1 else None


@lru_cache(2_000)
def _parse_declaration(written: str) -> tuple[Tree, Node | None]:
    """Return the tree of a declaration and its node; the tree has to be kept for the node."""
    tree = parse(written.encode("utf-8", "replace"), "c")
    return tree, first_named(tree.root_node)


def _enumerations(node: Node) -> Iterator[Node]:
    """Yield the enumeration that a declaration defines."""
    kind = node if node.type == "enum_specifier" else node.child_by_field_name("type")
    if kind is not None and kind.type == "enum_specifier" and not kind.has_error:
        yield kind


def _tagged_nodes(top: Node) -> Iterator[Node]:
    """Yield the structures and unions with a body in a declaration."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if node.type in _TAGGED and node.child_by_field_name("body") is not None:
            yield node
        if node.type != "function_declarator":
            waiting += node.named_children
