"""One Rust file to what is interpreted.

Functions are named `fn name` and `fn Type::name`, so that they are never taken for functions of C
with the same name; those that C may call (`#[no_mangle]`) keep it. Modules do not count: a name
means what is nearest, as in `program`.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.rust_tests import is_test_path
from jarvis_ls.codeintel.top_level_items import Item, items
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.declarations import FileIR, FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.rust_types import RustTypes, shape
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Float,
    FunctionType,
    Integer,
    Type,
    function_type,
    opaque,
    tuple_of,
)
from jarvis_ls.jsec.flow.lower.builder import TooLarge, first_functions
from jarvis_ls.jsec.flow.lower.c.mutated_globals import mutated_globals
from jarvis_ls.jsec.flow.lower.c.unparsed_writes import written_loosely
from jarvis_ls.jsec.flow.lower.rust.context import Outer, Signature
from jarvis_ls.jsec.flow.lower.rust.function import Body

log = logging.getLogger(__name__)

_MAX_NESTED = 8


class RustLowering:
    """One file: what it declares is known first, its functions are lowered when asked for. The
    same face as `lower.Lowering`."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        digest = hashlib.blake2b(unit.source.data, digest_size=16).hexdigest()
        self.file = FileIR(unit.source.path, unit.language, digest=digest)
        self._aliases: dict[str, Node] = {}
        self._constants: dict[str, int] = {}
        types = RustTypes(self._aliases, self._constants)
        self._outer = Outer(unit.source.path, types, self._constants)
        self.definitions: dict[str, tuple[Node, str]] = {}
        self._typed: list[tuple[Node, str]] = []

    def declare(self, root: Node, found: Sequence[Item] | None = None) -> None:
        """Take in all that the file with the tree `root` declares; which items are tests is read
        here, from the path alone, whatever was `found`."""
        in_test = is_test_path(self.unit.source.path)
        for item in items(root, "rust", in_test=in_test):
            if not item.in_test:
                self._declare(item.node, "", _attributes(item.prefix), 0)
        for node, record in self._typed:
            self._sign(node, record)
        for full in sorted(self._outer.several):
            self._tell_apart(full)
        size = len(self.unit.source.data)
        self.definitions, self.file.left_out = first_functions(self.definitions, size)

    @property
    def spans(self) -> dict[str, Span]:
        """Return the bytes of each function that is defined, by key."""
        return {
            key: (definition[0].start_byte, definition[0].end_byte)
            for key, definition in self.definitions.items()
        }

    @property
    def imported(self) -> dict[str, FunctionType]:
        """Return nothing: Rust has no headers."""
        return {}

    @property
    def found_beyond(self) -> set[str]:
        """Return nothing: Rust has no headers."""
        return set()

    def import_again(self, functions: Iterable[str], records: Iterable[str]) -> None:
        """Do nothing: Rust has no headers."""

    @property
    def prototypes(self) -> dict[str, FunctionType]:
        """Return what names the types of the functions, for those that call them."""
        return {
            f"fn {key}": function_type(opaque(repr(signature)), None, variadic=False)
            for key, signature in self._outer.signatures.items()
        }

    @property
    def records(self) -> dict[str, RecordIR]:
        """None: members are by name."""
        return {}

    def is_torn(self, key: str) -> bool:
        """Return whether the definition of a function has a syntax error."""
        return self.definitions[key][0].has_error

    def function(self, key: str) -> FunctionIR | None:
        """Return the function with a key."""
        node, record = self.definitions[key]
        body = Body(self._outer)
        try:
            return body.lower(node, key, record)
        finally:
            body.let_go()

    def whole(self) -> FileIR:
        """Return the file with all its functions."""
        written: set[str] = set()
        failed, large = [], []
        for key in self.definitions:
            try:
                function = self.function(key)
            except TooLarge:
                large.append(key)
                continue
            except Exception:  # one function must not hide what is wrong in the others
                log.exception("%s: lowering %s failed", self.file.path, key)
                failed.append(key)
                continue
            if function is not None:
                self.file.functions[key] = function
                written |= mutated_globals(function)
        self.file.failed, self.file.large = tuple(failed), tuple(large)
        written |= self.loose((function.span for function in self.file.functions.values()), {})
        self.file.written = frozenset(written)
        self.file.prototypes = self.prototypes
        return self.file

    def loose(self, lowered: Iterable[Span], kept: dict[bytes, set[str]]) -> set[str]:
        """Return the variables that text outside of the `lowered` functions may change."""
        names = written_loosely(self.unit.source.data, lowered, (), kept)
        return {name for name in names if name in self.file.globals}

    def _declare(self, node: Node, record: str, marks: str, depth: int) -> None:
        kind = node.type
        if kind == "function_item":
            self._define(node, record, marks, depth)
        elif kind in ("impl_item", "trait_item"):
            self._members(node, depth)
        elif kind == "type_item":
            target = node.child_by_field_name("type")
            if target is not None:
                self._aliases[text(node.child_by_field_name("name"))] = target
        elif kind in ("const_item", "static_item"):
            self._variable(node)
        elif kind == "struct_item":
            self._struct(node)
        elif kind == "foreign_mod_item":
            body = node.child_by_field_name("body")
            for child in body.named_children if body is not None else ():
                if child.type == "function_signature_item":
                    self._outer.foreign.add(text(child.child_by_field_name("name")))
                    self._typed.append((child, ""))

    def _members(self, node: Node, depth: int) -> None:
        named = node.child_by_field_name("type") or node.child_by_field_name("name")
        if named is not None and named.type == "generic_type":
            named = named.child_by_field_name("type")
        record = text(named).rpartition("::")[2].partition("<")[0].strip("&'() ")
        body = node.child_by_field_name("body")
        if not record.isidentifier() or body is None:
            return
        if text(node.child_by_field_name("trait")) == "Drop":
            self._outer.dropping.add(record)
        for child in body.named_children:
            if child.type == "function_item":
                self._define(child, record, "", depth)

    def _define(self, node: Node, record: str, marks: str, depth: int) -> None:
        name = text(node.child_by_field_name("name"))
        body = node.child_by_field_name("body")
        if not name or body is None or "test" in marks:
            return
        plain = "no_mangle" in marks or "export_name" in marks
        full = f"{record}::{name}" if record else name
        key = full if plain and not record else f"fn {full}"
        if key in self.definitions:
            self._outer.several.add(full)
            key = f"{key}#{node.start_point.row}"
        self.definitions.setdefault(key, (node, record))
        if plain:
            self._outer.plain.add(name)
        if record:
            self._outer.methods.setdefault(name, set()).add(record)
        self._typed.append((node, record))
        for child in body.named_children if depth < _MAX_NESTED else ():
            if child.type in ("function_item", "const_item", "static_item", "impl_item"):
                self._declare(child, "", "", depth + 1)

    def _tell_apart(self, full: str) -> None:
        """Of several functions with one name, none is known to be the one that is called."""
        first = self.definitions.pop(f"fn {full}", None)
        if first is not None:
            self.definitions[f"fn {full}#{first[0].start_point.row}"] = first

    def _sign(self, node: Node, record: str) -> None:
        types = self._outer.types
        listed = node.child_by_field_name("parameters")
        params = tuple(
            types.of(child.child_by_field_name("type"), record)
            for child in (listed.named_children if listed is not None else ())
            if child.type == "parameter"
        )
        given = node.child_by_field_name("return_type")
        result = types.of(given, record) if given is not None else tuple_of(())
        has_self = listed is not None and any(
            c.type == "self_parameter" for c in listed.named_children
        )
        name = text(node.child_by_field_name("name"))
        full = f"{record}::{name}" if record else name
        self._outer.signatures[full] = Signature(params, result, has_self)

    def _struct(self, node: Node) -> None:
        name = text(node.child_by_field_name("name"))
        body = node.child_by_field_name("body")
        fields: dict[str, Node] = {}
        for child in body.named_children if body is not None else ():
            if child.type == "field_declaration":
                type_ = child.child_by_field_name("type")
                if type_ is not None:
                    fields[text(child.child_by_field_name("name"))] = type_
        if body is not None and body.type == "ordered_field_declaration_list":
            types = body.children_by_field_name("type")
            fields = {str(index): type_ for index, type_ in enumerate(types)}
        self._outer.structs[name] = fields

    def _variable(self, node: Node) -> None:
        name = text(node.child_by_field_name("name"))
        value = node.child_by_field_name("value")
        type_ = self._outer.types.of(node.child_by_field_name("type"))
        number = self._outer.types.constant(text(value)) if value is not None else None
        changes = any(child.type == "mutable_specifier" for child in node.children)
        if number is not None and not changes and isinstance(type_, Integer):
            self._constants[name] = number
        self._outer.globals[name] = type_
        self.file.globals[name] = GlobalIR(name, _stored_type(type_), False, not changes, (), False)


def _stored_type(type_: Type) -> Type:
    stored = shape(type_)
    return stored if isinstance(stored, (Integer, Float, Array)) else ANY


def _attributes(prefix: Iterable[Node]) -> str:
    return " ".join(text(node) for node in prefix if node.type == "attribute_item")
