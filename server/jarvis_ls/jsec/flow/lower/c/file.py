"""One file to what is interpreted."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from typing import Final

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import MAX_DEPTH, Node
from jarvis_ls.codeintel.top_level_items import Item, items
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.declarations import FileIR, FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import Array, FunctionType, Record, Type, record_type
from jarvis_ls.jsec.flow.lower.builder import TooLarge, first_functions
from jarvis_ls.jsec.flow.lower.c.context import Outer
from jarvis_ls.jsec.flow.lower.c.function import Body, _function_declarator
from jarvis_ls.jsec.flow.lower.c.heads import Head, Heads
from jarvis_ls.jsec.flow.lower.c.locals import is_constant
from jarvis_ls.jsec.flow.lower.c.macros import Macros, with_library_macros
from jarvis_ls.jsec.flow.lower.c.mutated_globals import mutated_globals
from jarvis_ls.jsec.flow.lower.c.no_return import never_returning
from jarvis_ls.jsec.flow.lower.c.static_initialisers import initialiser
from jarvis_ls.jsec.flow.lower.c.types import Types
from jarvis_ls.jsec.flow.lower.c.unparsed_writes import PASTED, written_loosely
from jarvis_ls.jsec.flow.lower.rust.file import RustLowering

log = logging.getLogger(__name__)

_TAGGED: Final = frozenset({"struct_specifier", "union_specifier", "class_specifier"})
_Pending = tuple[Node, str, str, FunctionType, bool]


def lower(unit: Unit, root: Node, found: Sequence[Item] | None = None) -> FileIR:
    """Return the functions, variables and types of a file with the tree `root`; `found` are its
    items where they are known."""
    lowering = lowering_of(unit)
    lowering.declare(root, found)
    return lowering.whole()


def lowering_of(unit: Unit) -> Lowering | RustLowering:
    """Return the lowering for the language of a file."""
    return RustLowering(unit) if unit.language == "rust" else Lowering(unit)


class Lowering:
    """One file: what it declares is known first, its functions are lowered when asked for."""

    def __init__(self, unit: Unit) -> None:
        unit = Unit(unit.source, unit.language, with_library_macros(unit.facts))
        self.unit = unit
        self.types = Types(unit)
        self.outer = Outer(self.types, Macros(unit.facts, unit.language))
        digest = hashlib.blake2b(unit.source.data, digest_size=16).hexdigest()
        self.file = FileIR(unit.source.path, unit.language, digest=digest)
        self.file.stops = never_returning(unit.source.data)
        self.pending: list[_Pending] = []
        self._declarations: list[Span] = []
        self.definitions: dict[str, _Pending] = {}
        self.heads: Heads | None = None
        """What is known of functions from an earlier state of the file."""
        self._is_foreign = False
        """Whether what only other platforms compile is being taken in: it declares what nothing
        else does."""

    def declare(self, root: Node, found: Sequence[Item] | None = None) -> None:
        """Take in all that the file with the tree `root` declares, which has the items `found`."""
        spaces = _Spaces(root)
        foreign = []
        if found is None:
            found = list(items(root, self.unit.language))
        if self.heads is not None:
            self.heads.begin(self.unit, [item.node for item in found])
        for item in found:
            space = spaces.of(item.node)
            if item.foreign:
                foreign.append((item.node, space))
            else:
                self._declare(item.node, space)
        self._is_foreign = True
        for node, space in foreign:
            self._declare(node, space)
        for pending in self.pending:
            known = self.definitions.setdefault(pending[1], pending)
            if self.unit.language == "cpp" and known[3].parameters != pending[3].parameters:
                shape = hashlib.blake2b(
                    repr(pending[3].parameters).encode(), digest_size=4
                ).hexdigest()
                self.definitions.setdefault(f"{pending[1]}#{shape}", pending)
        size = len(self.unit.source.data)
        self.definitions, self.file.left_out = first_functions(self.definitions, size)

    @property
    def spans(self) -> dict[str, Span]:
        """Return the bytes of each function that is defined, by key."""
        return {
            key: (pending[0].start_byte, pending[0].end_byte)
            for key, pending in self.definitions.items()
        }

    def is_torn(self, key: str) -> bool:
        """Return whether the definition of a function has a syntax error."""
        return self.definitions[key][0].has_error

    @property
    def prototypes(self) -> dict[str, FunctionType]:
        """Types of the functions that are declared or defined."""
        return self.outer.functions

    @property
    def imported(self) -> dict[str, FunctionType]:
        """Types of the functions that are called and that only installed headers declare."""
        return self.outer.imported

    @property
    def found_beyond(self) -> set[str]:
        """Structures that only headers outside of the project define, as far as they are used."""
        return self.types.installed.records

    def import_again(self, functions: Iterable[str], records: Iterable[str]) -> None:
        """Look up what an earlier state of the file asked of headers outside of the project."""
        for name in sorted(functions):
            type_ = self.types.installed.function(self.types, name)
            if type_ is not None:
                self.outer.imported[name] = type_
        for name in sorted(records):
            self.types.by_name(name)

    @property
    def records(self) -> dict[str, RecordIR]:
        """Structs, unions and classes."""
        return self.types.records

    def function(self, key: str) -> FunctionIR | None:
        """Return the function with a key; None when it has no body."""
        node, name, record, type_, static = self.definitions[key]
        shape = key[len(name) :]
        return self._function(node, name, record, type_, static=static, shape=shape)

    def whole(self) -> FileIR:
        """Return the file with all its functions."""
        written: set[str] = set()
        failed, large = [], []
        for name in self.definitions:
            try:
                function = self.function(name)
            except TooLarge:
                large.append(name)
                continue
            except Exception:  # one function must not hide what is wrong in the others
                log.exception("%s: lowering %s failed", self.file.path, name)
                failed.append(name)
                continue
            if function is not None:
                self.file.functions[name] = function
                written |= mutated_globals(function)
        self.file.failed, self.file.large = tuple(failed), tuple(large)
        written |= self.loose((function.span for function in self.file.functions.values()), {})
        self.file.written = frozenset(written)
        self.file.records = self.records
        self.file.prototypes = self.prototypes
        self.file.imported = self.imported
        return self.file

    def loose(self, lowered: Iterable[Span], kept: dict[bytes, set[str]]) -> set[str]:
        """Return the variables that text outside of the `lowered` functions may change; `kept` is
        what is known of parts of the text."""
        names = written_loosely(self.unit.source.data, lowered, self._declarations, kept)
        pasted = tuple(n.removesuffix(PASTED) for n in names if n.endswith(PASTED))
        if pasted:
            names |= {n for n in self.file.globals if n.startswith(pasted)}
        return {n for n in names if n in self.file.globals or n in self.types.facts.variables}

    def _function(
        self, node: Node, name: str, record: str, type_: FunctionType, *, static: bool, shape: str
    ) -> FunctionIR | None:
        body = Body(self.outer, self.file.globals, self.file.path)
        try:
            return body.lower(node, name, record, type_, static=static, shape=shape)
        finally:
            body.let_go()

    def _declare(self, node: Node, space: str) -> None:
        kind = node.type
        if kind == "template_declaration":
            self._template(node, space)
        elif kind == "function_definition":
            self._definition(node, space)
        elif kind == "type_definition":
            self._typedef(node)
        elif kind in _TAGGED:
            self._record(node, space)
        elif kind == "enum_specifier":
            self.types.enumeration(node)
        elif kind == "declaration":
            self._declaration(node, space)
            if node.start_point.column == 0:  # others may be of functions that are torn open
                self._declarations.append((node.start_byte, node.end_byte))
        elif kind == "alias_declaration":
            target = node.child_by_field_name("type")
            name = text(node.child_by_field_name("name"))
            if target is not None and not (self._is_foreign and self.types.is_named(name)):
                self.types.define(name, self.types.of(target))

    def _template(self, node: Node, space: str) -> None:
        listed = node.child_by_field_name("parameters")
        names = (
            {text(c.named_children[-1]) for c in listed.named_children if c.named_child_count}
            if listed is not None
            else set()
        )
        self.types.erased |= names
        for child in node.named_children:
            if child != listed:
                self._declare(child, space)

    def _definition(self, node: Node, space: str, record: str = "") -> None:
        head = self._head(node)
        if head is None:
            return
        name, type_, static = head
        if not isinstance(type_, FunctionType) or not name:
            return
        owner, _, short = name.rpartition("::")
        owner = owner.rpartition("::")[2] or record
        if owner and not self.types.is_class(owner):
            owner, space = record, space or owner
        full = "::".join(part for part in (space, owner, short) if part)
        self.types.overload(owner, short, type_)
        if owner:
            self.types.methods.setdefault((owner, short), type_)
            known = self.types.records.get(owner)
            static = known is not None and (static or short in known.statics)
        elif not (self._is_foreign and short in self.outer.functions):
            self.outer.functions[short] = type_
        self.pending.append((node, full, owner, type_, static))

    def _head(self, node: Node) -> Head | None:
        """Return what the head of a function that is defined says; None where it is torn."""
        known = self.heads.of(node) if self.heads is not None else None
        if known is not None:
            return known
        declarator = _function_declarator(node)
        if declarator is None or _is_torn(node, declarator):
            return None
        before = self.types.extent()
        result = self.types.specifier_type(node)
        name, type_ = self.types.declarator(node.child_by_field_name("declarator"), result)
        head = name, type_, any(text(c) == "static" for c in node.children)
        if self.heads is not None and self.types.extent() == before:
            self.heads.keep(node, head)
        return head

    def _record(self, node: Node, space: str) -> None:
        type_ = self.types.record(node)
        body = node.child_by_field_name("body")
        if body is None or not isinstance(type_, Record):
            return
        for child in body.named_children:
            if child.type in ("field_declaration", "declaration"):
                base = self.types.specifier_type(child)
                for declarator in child.children_by_field_name("declarator"):
                    name, inner = self.types.declarator(declarator, base)
                    if isinstance(inner, FunctionType):
                        self.types.methods[(type_.name, name)] = inner
                        self.types.overload(type_.name, name, inner)
                    elif any(text(c) == "static" for c in child.children):
                        self.outer.globals[name] = inner
                        self.file.globals[name] = GlobalIR(name, inner, False, False, None, True)
            elif child.type == "function_definition":
                self._definition(child, space, type_.name)
            elif child.type == "template_declaration":
                for inner_node in child.named_children:
                    if inner_node.type == "function_definition":
                        self._definition(inner_node, space, type_.name)

    def _typedef(self, node: Node) -> None:
        kind = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        alias = text(declarators[0]) if declarators else ""
        if kind is not None and kind.type in _TAGGED:
            base = self.types.record(kind, alias if alias.isidentifier() else "")
        else:
            base = self.types.specifier_type(node)
        for declarator in declarators:
            name, type_ = self.types.declarator(declarator, base)
            if type_ != record_type(name) and not (self._is_foreign and self.types.is_named(name)):
                self.types.define(name, type_)

    def _declaration(self, node: Node, space: str) -> None:
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in _TAGGED:
            self._record(kind, space)
        base = self.types.specifier_type(node)
        words = {
            text(c)
            for c in node.children
            if c.type in ("storage_class_specifier", "type_qualifier")
        }
        if _is_behind_macro(node):
            self._unclear(node)
            return
        for declarator in node.children_by_field_name("declarator"):
            name, type_ = self.types.declarator(declarator, base)
            if not name:
                continue
            if isinstance(type_, FunctionType):
                self.outer.functions.setdefault(name, type_)
                self.types.overload("", name, type_)
                continue
            self._variable(name.rpartition("::")[2], type_, words, declarator)

    def _unclear(self, node: Node) -> None:
        """Declare variables of which nothing is known: a macro was taken for their type."""
        torn = [child for child in node.children if child.type == "ERROR"]
        names = [text(name) for part in torn for name in _identifiers(part)]
        names += [text(d) for d in node.children_by_field_name("declarator")]
        for name in names:
            if name.isidentifier() and name not in self.types.facts.types:
                self.outer.globals[name] = ANY
                self.file.globals.setdefault(name, GlobalIR(name, ANY, False, False, (), False))

    def _variable(self, name: str, type_: Type, words: set[str], node: Node) -> None:
        value = node.child_by_field_name("value")
        if isinstance(type_, Array) and type_.count < 0 and value is not None:
            body = Body(self.outer, self.file.globals, self.file.path)
            type_ = body.locals.array_type(type_, value)
            body.let_go()
        extern = "extern" in words and value is None
        known = self.file.globals.get(name)
        if known is not None and self._is_foreign:
            return
        if known is not None and not (known.extern or extern or _alike(known.type, type_)):
            self.outer.globals[name] = ANY  # a macro or an `#if` makes them several variables
            self.file.globals[name] = GlobalIR(name, ANY, known.static, False, (), False)
            return
        self.outer.globals[name] = type_
        init = initialiser(self.outer, name, type_, value)
        if extern and name in self.file.globals:
            return
        fixed = is_constant(type_, words, node)
        self.file.globals[name] = GlobalIR(name, type_, "static" in words, fixed, init, extern)


def _is_behind_macro(node: Node) -> bool:
    """Return whether the name of a type was taken for a variable, since a macro such as `EXPORT`
    before it was taken for the type.
    """
    first = node.child_by_field_name("declarator")
    torn = first.next_sibling if first is not None and node.has_error else None
    return (
        first is not None
        and first.type == "identifier"
        and torn is not None
        and (torn.type == "ERROR")
    )


def _alike(type_: Type, other: Type) -> bool:
    """Return whether two declarations may be of one variable: an array may get its size later, but
    has no other one, as in the branches of an `#if`."""
    if isinstance(type_, Array) and isinstance(other, Array):
        sizes = {type_.count, other.count} - {-1}
        return type_.inner is other.inner and len(sizes) < 2
    return type_ is other


class _Spaces:
    """The namespaces of a file by position; what nests deeper than what is analysed has the name of
    the last."""

    def __init__(self, root: Node) -> None:
        self._ranges: list[tuple[int, int, str]] = []
        self._next = 0
        self._open: list[tuple[int, int, str]] = []
        inside = root.children if b"namespace" in (root.text or b"") else ()
        stack = [(child, "", 0) for child in inside]
        while stack:
            node, outer, depth = stack.pop()
            if node.type == "namespace_definition" and depth < MAX_DEPTH:
                name = text(node.child_by_field_name("name"))
                inner = "::".join(part for part in (outer, name) if part)
                self._ranges.append((node.start_byte, node.end_byte, inner))
                body = node.child_by_field_name("body")
                stack += [(child, inner, depth + 1) for child in (body.children if body else ())]
            elif node.type in (
                "linkage_specification",
                "declaration_list",
                "preproc_ifdef",
                "preproc_if",
                "preproc_else",
            ):
                stack += [(child, outer, depth) for child in node.children]
        self._ranges.sort()

    def of(self, node: Node) -> str:
        """Return the full name of the namespace around a node; they are asked for in their
        order.
        """
        while self._next < len(self._ranges) and self._ranges[self._next][0] <= node.start_byte:
            self._open.append(self._ranges[self._next])
            self._next += 1
        while self._open and self._open[-1][1] < node.end_byte:
            self._open.pop()
        return self._open[-1][2] if self._open else ""


def _is_torn(node: Node, declarator: Node) -> bool:
    """Return whether a prototype with a macro behind it was read as the head of the next
    function.
    """
    older = [c for c in node.children if c.type == "declaration"]
    listed = declarator.child_by_field_name("parameters")
    if not older or listed is None:
        return False
    if any(c.type == "parameter_declaration" for c in listed.named_children):
        return True
    names = {
        text(i)
        for c in older
        for d in c.children_by_field_name("declarator")
        for i in _identifiers(d)
    }
    return any(text(c) not in names for c in listed.named_children if c.type == "identifier")


def _identifiers(node: Node) -> list[Node]:
    found, work = [], [node]
    while work:
        current = work.pop()
        if current.type == "identifier":
            found.append(current)
        elif len(found) < 64:
            work.extend(current.named_children)
    return found
