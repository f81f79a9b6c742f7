"""Types, records and constants of a file, from its trees and from what its headers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from jarvis_ls.codeintel.conditionals import live_children
from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import SEVERAL
from jarvis_ls.codeintel.nodes import first_named, text
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.jsec.flow.ir.c_types import (
    ANY,
    CONTAINERS,
    FIXED,
    INT,
    NAMED,
    UNPLACED,
    VOID,
    align_of,
    size_of,
)
from jarvis_ls.jsec.flow.ir.declarations import RecordIR
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    FunctionType,
    Integer,
    Pointer,
    Record,
    Type,
    array_of,
    container_of,
    float_of,
    function_type,
    integer,
    pointer_to,
    record_type,
    reference_to,
)
from jarvis_ls.jsec.flow.library.c_tables import LIBRARY
from jarvis_ls.jsec.flow.lower.c.installed import DeclaredTypes, InstalledNames
from jarvis_ls.jsec.flow.lower.c.literals import constant

_QUALIFIERS: Final = frozenset(
    "const volatile struct union enum class static extern register restrict __restrict "
    "typename inline mutable constexpr".split()
)
_TAGGED: Final = frozenset({"struct_specifier", "union_specifier", "class_specifier"})
_MAX_NESTED: Final = 64
"""Structs in structs whose members are known; of what is deeper nothing is."""
_MAX_DEPTH: Final = 40
_PACKED: Final = re.compile(r"\b(?:__)?packed(?:__)?\b")
_ALIGNED: Final = re.compile(r"\b(?:__)?aligned(?:__)?\s*\(\s*(\d{1,5})\s*\)")
_KNOWN: Final = {**LIBRARY.types, **NAMED}
"""Types that libraries declare, by name."""


class Types(DeclaredTypes):
    """The types a file can name."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.facts = unit.facts
        self.records: dict[str, RecordIR] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        """Bytes and alignment of each record."""
        self.enumerators: dict[str, int] = dict(unit.facts.enumerators)
        self._around = ""
        """The record whose members are taken over; its constants have a name with that, too."""
        self._signs: set[str] = set()
        """Tags of the enums with constants below zero."""
        self.methods: dict[tuple[str, str], FunctionType] = {}
        """Function types of member functions by class and name."""
        self.overloads: dict[tuple[str, str], list[FunctionType]] = {}
        """Function types of each name, by class, or empty outside of classes."""
        self.erased: set[str] = set()
        """Parameters of the templates around."""
        self._named: dict[str, Type] = {}
        self._busy: set[str] = set()
        self._defining: set[str] = set()
        """Records whose members are being read."""
        self.installed = InstalledNames(unit.facts.beyond)
        """What headers outside of the project declare."""
        self.origin = ""
        """The name whose declaration is read there; empty for the file's own."""

    def extent(self) -> tuple[int, ...]:
        """Return how much is known: the same before and after what declares nothing."""
        return (
            len(self._named),
            len(self.records),
            len(self.enumerators),
            len(self._signs),
            len(self.installed.records),
        )

    def overload(self, owner: str, name: str, type_: FunctionType) -> None:
        """Take in a function; another one of the same name may be known."""
        known = self.overloads.setdefault((owner, name), [])
        if all(other.parameters != type_.parameters for other in known):
            known.append(type_)

    def size(self, type_: Type) -> int:
        """Return the bytes of a type; 0 when not known."""
        return size_of(type_, self.sizes)

    def by_name(self, name: str) -> Type:
        """Return the type a name represents."""
        known = self._named.get(name)
        if known is not None:
            return known
        if name in self._busy:
            return ANY
        self._busy.add(name)
        found = self._look_up(name)
        self._busy.discard(name)
        self._named[name] = found
        return found

    def define(self, name: str, type_: Type) -> None:
        """Take over a `typedef`; of several that differ it is not known which is meant."""
        declared = self.facts.types.get(name)
        unclear = declared is not None and declared.type == SEVERAL
        self._named[name] = ANY if unclear else type_

    def is_named(self, name: str) -> bool:
        """Return whether this file has said what a name represents."""
        return name in self._named

    def _look_up(self, name: str) -> Type:
        if name in self.erased:
            return ANY
        if name in FIXED:
            return NAMED[name]
        declared = self.facts.types.get(name)
        if declared is not None and declared.type == SEVERAL:
            return ANY
        if declared is not None:
            written = declared.type.split()
            if written[:1] == ["enum"]:  # of a header: whether it is signed is not seen
                return INT
            if written[-1:] == [name] and len(written) > 2:  # struct tag name
                declared = declared._replace(type=" ".join(written[:-1]))
            if declared.type.split()[-1:] != [name]:
                return self.of_declaration(declared)
        if name in self.records:
            return record_type(name)
        macro = self.facts.macros.get(name)
        found = _KNOWN.get(name)
        if found is not None:
            return self.words(macro) if macro and macro in NAMED else self._shipped_type(found)
        if name in LIBRARY.structures and macro is None:
            return self._shipped_type(record_type(name))
        if name in CONTAINERS:
            return container_of(name, ANY)
        if macro:
            return self.words(macro)
        return self.installed.type(self, name) or record_type(name)

    def installed_constant(self, name: str) -> int | None:
        """Return the value that a header outside of the project gives a name."""
        return self.installed.constant(self, name)

    def _shipped_type(self, type_: Type) -> Type:
        """Return a type of a library, whose members are known from then on."""
        if not isinstance(type_, Record) or type_.name in self.records:
            return type_
        declared = LIBRARY.structures.get(type_.name)
        if declared is not None:
            node = _structure(declared)
            if node is not None:
                self.record(node)
        elif isinstance(type_, Record) and type_.name not in self.records:
            self.installed.record(self, type_.name)
        return type_

    def is_class(self, name: str) -> bool:
        """Return whether a name is that of a class, here or in a header."""
        if name in self.records:
            return True
        declared = self.facts.types.get(name)
        return declared is not None and declared.type == f"class {name}"

    def of_declaration(self, declared: Declared) -> Type:
        """Return the type of a declaration known as text."""
        found = self.words(declared.type)
        for _ in range(min(declared.pointers, 8)):
            found = pointer_to(found)
        for size in reversed(declared.arrays[:8]):
            count = constant(size, self)
            found = array_of(found, -1 if count is None else count)
        return found

    def words(self, written: str) -> Type:
        """Return the type that words such as `const unsigned char` name."""
        known = self._named.get(written)
        if known is not None:
            return known
        names = [w for w in written.replace("::", " ").split() if w not in _QUALIFIERS]
        names = [w for w in names if w != "std"]
        stars = sum(w.count("*") for w in names)
        names = [w.strip("*") for w in names if w.strip("*")]
        found = self._from_words(names)
        for _ in range(min(stars, 8)):
            found = pointer_to(found)
        return found

    def _from_words(self, names: list[str]) -> Type:
        if not names:
            return INT
        if len(names) == 1:
            return self.by_name(names[0])
        if set(names) <= {"unsigned", "signed", "long", "short", "int", "char", "double"}:
            signed = "unsigned" not in names
            if "char" in names:
                return integer(1, signed)
            if "double" in names:
                return float_of(16 if "long" in names else 8)
            if "short" in names:
                return integer(2, signed)
            return integer(8 if "long" in names else 4, signed)
        return self.by_name(names[-1])

    def specifier_type(self, node: Node) -> Type:
        """Return the type that precedes the declarators of a declaration or parameter."""
        kind = node.child_by_field_name("type")
        if kind is None:
            return ANY
        # a look at a sibling costs the depth of the tree
        torn = kind.next_sibling if node.has_error and kind.type == "type_identifier" else None
        if torn is not None and torn.type == "ERROR":
            # a macro such as `local` was taken for the type; what follows it is that
            words = text(torn).split()
            if words and all(word.isidentifier() for word in words):
                return self.words(" ".join(words))
        return self.of(kind)

    def of(self, node: Node) -> Type:
        """Return the type a type node names."""
        kind = node.type
        if kind in ("primitive_type", "type_identifier", "sized_type_specifier"):
            return self.words(text(node))
        if kind in _TAGGED:
            return self.record(node)
        if kind == "enum_specifier":
            self.enumeration(node)
            return integer(4, text(node.child_by_field_name("name")) in self._signs)
        if kind == "template_type":
            return self._template(node)
        if kind == "qualified_identifier":
            inner = node.child_by_field_name("name")
            return ANY if inner is None else self.of(inner)
        if kind == "type_descriptor":
            base = self.specifier_type(node)
            declarator = node.child_by_field_name("declarator")
            return base if declarator is None else self.declarator(declarator, base)[1]
        return ANY

    def _template(self, node: Node) -> Type:
        name = text(node.child_by_field_name("name"))
        arguments = node.child_by_field_name("arguments")
        if name == "function" and arguments is not None and arguments.named_child_count == 1:
            called = self.of(arguments.named_children[0])
            return pointer_to(called) if isinstance(called, FunctionType) else ANY
        if name not in CONTAINERS:
            return self.by_name(name)
        inner = (
            [self.of(c) for c in arguments.named_children if c.type == "type_descriptor"]
            if arguments is not None
            else []
        )
        if name in ("auto_ptr", "unique_ptr", "shared_ptr"):
            return container_of(name, inner[0] if len(inner) == 1 else ANY)  # others have a deleter
        return container_of(name, inner[-1 if "map" in name else 0] if inner else ANY)

    def enumeration(self, node: Node) -> None:
        """Take over the constants of an `enum`; with one below zero its type is signed."""
        body = node.child_by_field_name("body")
        name = text(node.child_by_field_name("name"))
        if body is not None:
            self._signs.discard(name)  # of those without a name the last counts
            self._named.setdefault(name, INT)
        value = -1
        for child in live_children(body) if body is not None else ():
            if child.type.startswith("preproc_"):
                return  # which constants come before the others is not known
            if child.type != "enumerator":
                continue
            written = child.child_by_field_name("value")
            found = constant(text(written), self) if written is not None else value + 1
            if found is None:
                return
            value = found
            if value < 0:
                self._signs.add(name)
            constant_name = text(child.child_by_field_name("name"))
            self.enumerators[constant_name] = value
            if self._around:
                self.enumerators[f"{self._around}::{constant_name}"] = value

    def record(self, node: Node, alias: str = "") -> Type:
        """Take over a struct, union or class, and give its type."""
        name_node = node.child_by_field_name("name")
        name = text(name_node).rpartition("::")[2] or alias or f"@{self.origin}{node.start_byte}"
        body = node.child_by_field_name("body")
        if name in self._defining or name in self.records:
            return record_type(name)
        if body is None or len(self._defining) >= _MAX_NESTED:
            return self._shipped_type(record_type(name))
        self._defining.add(name)
        self._named[name] = record_type(name)
        record = RecordIR(name)
        before, self._around = self._around, name
        self._members(body, record, is_union=node.type == "union_specifier", node=node)
        self._around = before
        self.records[name] = record
        if record.size:
            self.sizes[name] = (record.size, record.align)
        self._defining.discard(name)
        return record_type(name)

    def _members(self, body: Node, record: RecordIR, *, is_union: bool, node: Node) -> None:
        offset, align, sure = 0, 1, not body.has_error
        packed, least = _attributes(node)
        methods: set[str] = set()
        virtual: set[str] = set()
        statics: set[str] = set()
        given: set[str] = set()
        bit_fields: set[str] = set()
        record.bases = tuple(_bases(node))
        for base in record.bases:
            known = self.records.get(base)
            if known is None:
                sure = False
                continue
            sure = sure and known.size > 0
            record.fields.update(known.fields)
            offset, align = offset + known.size, max(align, known.align)
            virtual |= known.virtual
        for child, is_open in _fields(body):
            sure = sure and not is_open
            bits = any(c.type == "bitfield_clause" for c in child.named_children)
            if bits and self.origin:  # several may share a byte
                sure = False
            own_packed, own_least = _attributes(child)
            if child.type == "enum_specifier":
                self.enumeration(child)
            words = [
                text(c)
                for c in child.children
                if not c.is_named or "specifier" in c.type or c.type == "virtual"
            ]
            declarators = child.children_by_field_name("declarator")
            base_type = self._member_type(child, record.name, declarators)
            if not declarators and isinstance(base_type, Record) and base_type.name[:1] == "@":
                inner = self.records.get(base_type.name)  # members of an unnamed struct or union
                if inner is not None:
                    sure = sure and (inner.size > 0 or not self.origin)
                    at = 0 if is_union else _round(offset, 1 if packed else inner.align)
                    for name, (below, type_) in inner.fields.items():
                        record.fields[name] = at + below, type_
                    offset = max(offset, at + inner.size)
                    align = max(align, 1 if packed else inner.align)
            for declarator in declarators:
                name, type_ = self.declarator(declarator, base_type)
                if isinstance(type_, FunctionType):
                    methods.add(name)
                    if "virtual" in words:
                        virtual.add(name)
                    continue
                if "static" in words:
                    statics.add(name)
                    continue
                if child.child_by_field_name("default_value") is not None:
                    given.add(name)
                size, its_align = self.size(type_), align_of(type_, self.sizes)
                if packed or own_packed:
                    its_align = 1
                its_align = max(its_align, own_least)
                at = 0 if is_union else _round(offset, its_align)
                # where it is is not known behind a member whose size is not
                place = at if sure or is_union else UNPLACED + 8 * _number(name)
                record.fields[name] = place, type_
                if bits:
                    bit_fields.add(name)
                if size == 0 and not text(declarator).replace(" ", "").endswith(("[]", "[0]")):
                    sure = False
                offset = max(offset, at + (size or 8))
                align = max(align, its_align)
        for base in record.bases:
            methods |= self.records[base].methods if base in self.records else set()
        if virtual and offset and not any(b in self.records for b in record.bases):
            offset += 8
        record.methods, record.virtual = frozenset(methods), frozenset(virtual)
        record.statics, record.given = frozenset(statics), frozenset(given)
        record.bit_fields = frozenset(bit_fields)
        record.align = align = max(align, least)
        record.size = max(_round(offset, align), 1) if sure else 0

    def _member_type(self, child: Node, owner: str, declarators: list[Node]) -> Type:
        """Return the type of a member. A record without a name gets that of its owner and of the
        member, by which other files know it as well (`codeintel.extract.c`)."""
        kind = child.child_by_field_name("type")
        if kind is None or kind.type not in _TAGGED or not declarators or owner[:1] == "@":
            return self.specifier_type(child)
        if kind.child_by_field_name("name") is not None:
            return self.specifier_type(child)
        return self.record(kind, f"{owner}.{self.declarator(declarators[0], ANY)[0]}")

    def member(self, type_: Type, name: str) -> tuple[int, Type]:
        """Offset and type of a member; a place of its own for one that is not known."""
        if isinstance(type_, Record):
            record = self.records.get(type_.name)
            if record is not None and name in record.fields:
                return record.fields[name]
            inner = (
                self._inner_member(type_, name) if type_.name in self.installed.records else None
            )
            if inner is not None:
                return inner
        declared = self.facts.fields.get(name, ())
        if len(declared) > 1 and isinstance(type_, Record):
            # a record without a name says whose it is
            own = f"struct {type_.name}.{name}"
            declared = tuple(d for d in declared if d.type == own) or declared
        found = {self.of_declaration(d) for d in declared[:4]}
        alike = found.pop() if len(found) == 1 else ANY
        # a number of a record without a name may be wider than the one of that name elsewhere
        unsure = isinstance(alike, Integer) and not isinstance(type_, Record)
        return UNPLACED + 8 * _number(name), ANY if unsure else alike

    def _inner_member(self, type_: Type, name: str) -> tuple[int, Type] | None:
        """Return the member of a member that a macro such as `st_mtime` represents."""
        offset = 0
        for part in self.installed.member(name):
            record = self.records.get(type_.name) if isinstance(type_, Record) else None
            if record is None or part not in record.fields:
                return None
            below, type_ = record.fields[part]
            offset += below
        return (offset, type_) if offset < UNPLACED and self.installed.member(name) else None

    def declarator(self, node: Node | None, base: Type) -> tuple[str, Type]:
        """Return name and type of a declarator of a declaration with type `base`."""
        name = ""
        for _ in range(_MAX_DEPTH):
            if node is None:
                break
            kind = node.type
            if kind in ("identifier", "field_identifier"):
                name = text(node)
                break
            inner = node.child_by_field_name("declarator")
            if kind in ("pointer_declarator", "abstract_pointer_declarator"):
                base = pointer_to(base)
            elif kind in ("reference_declarator", "abstract_reference_declarator"):
                base = reference_to(base)
                inner = node.named_children[0] if node.named_child_count else None
            elif kind in ("array_declarator", "abstract_array_declarator"):
                base, inner = self._array(node, base)
            elif kind in ("function_declarator", "abstract_function_declarator"):
                base = self.function(node, base)
                wrapped = _name_in_macro(inner)
                if wrapped:
                    return wrapped, base
            elif kind in (
                "parenthesized_declarator",
                "abstract_parenthesized_declarator",
                "attributed_declarator",
            ):
                inner = next(
                    (
                        c
                        for c in node.named_children
                        if "declarator" in c.type or "identifier" in c.type
                    ),
                    None,
                )
            elif kind == "init_declarator":
                pass
            else:
                name = text(node)
                break
            node = inner
        return name, base

    def _array(self, node: Node, base: Type) -> tuple[Type, Node | None]:
        """Return the type of `node`, whose sizes are from the outside in, and what it
        declares.
        """
        sizes: list[int | None] = []
        inner: Node | None = node
        while inner is not None and inner.type == node.type and len(sizes) < 8:
            written = inner.child_by_field_name("size")
            sizes.append(constant(text(written), self) if written is not None else None)
            inner = inner.child_by_field_name("declarator")
        for size in sizes:
            base = array_of(base, -1 if size is None or size < 0 else size)
        return base, inner

    def function(self, node: Node, result: Type) -> FunctionType:
        """Return the type of a function declarator."""
        parameters = node.child_by_field_name("parameters")
        found: list[Type] = []
        constant_: list[bool] = []
        variadic = False
        for child in parameters.named_children if parameters is not None else ():
            if child.type == "variadic_parameter":
                variadic = True
            elif child.type in ("parameter_declaration", "optional_parameter_declaration"):
                declarator = child.child_by_field_name("declarator")
                found.append(self.declarator(declarator, self.specifier_type(child))[1])
                said = any(
                    c.type == "type_qualifier" and text(c) == "const" for c in child.children
                )
                # of `const char **` the pointer is written, the characters are not
                inner = found[-1].inner if isinstance(found[-1], (Pointer, Array)) else ANY
                constant_.append(said and not isinstance(inner, Pointer))
        if found == [VOID]:
            found = []
        return function_type(
            result, tuple(_decay(t) for t in found), variadic=variadic, const=tuple(constant_)
        )


@lru_cache(256)
def _structure(declared: str) -> Node | None:
    """Return the node of the structure that a line declares."""
    first = first_named(parse(declared.encode(), "c").root_node)
    if first is None or first.type == "struct_specifier":
        return first
    return first.child_by_field_name("type")


def _name_in_macro(inner: Node | None) -> str:
    """Return the name of a function that is declared as `MACRO(name)(parameters)`."""
    if inner is None or inner.type != "function_declarator":
        return ""
    macro, listed = inner.child_by_field_name("declarator"), inner.child_by_field_name("parameters")
    if macro is None or macro.type != "identifier" or listed is None:
        return ""
    named = listed.named_children
    return text(named[0]) if len(named) == 1 and text(named[0]).isidentifier() else ""


def _decay(type_: Type) -> Type:
    if isinstance(type_, Array):
        return pointer_to(type_.inner)
    return pointer_to(type_) if isinstance(type_, FunctionType) else type_


def _fields(body: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the declarations of members, and whether the project decides that they are there."""
    stack = [(child, False) for child in live_children(body)][::-1]
    while stack:
        node, is_open = stack.pop()
        if node.type.startswith("preproc_"):
            stack.extend((child, True) for child in reversed(node.named_children))
        elif node.type in ("field_declaration", "declaration", "function_definition"):
            yield node, is_open


def _bases(node: Node) -> Iterator[str]:
    for child in node.children:
        if child.type == "base_class_clause":
            for base in child.named_children:
                if "identifier" in base.type or base.type == "template_type":
                    yield text(base).rpartition("::")[2].partition("<")[0]


def _attributes(node: Node) -> tuple[bool, int]:
    """Return whether a structure or member is packed, and the alignment it has at least."""
    packed, least = False, 1
    for child in node.children:
        if child.type == "attribute_specifier":
            written = text(child)
            packed = packed or _PACKED.search(written) is not None
            numbers = [int(number) for number in _ALIGNED.findall(written)]
            least = max([least, *(n for n in numbers if n & (n - 1) == 0 and n)])
    return packed, least


def _round(offset: int, align: int) -> int:
    return -(-offset // align) * align if align > 1 else offset


def _number(name: str) -> int:
    """Return a number for a name, the same in every run."""
    value = 0
    for byte in name.encode():
        value = (value * 31 + byte) & 0xFFFFF
    return value
