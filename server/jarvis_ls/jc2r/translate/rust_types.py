"""Types of C as types of Rust, written down once for a crate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.translate import complex_numbers
from jarvis_ls.jc2r.translate.c_types import (
    FUNCTIONS,
    WORDS,
    bits_of,
    element_of,
    field_name,
    is_array,
    is_const,
    is_open,
    is_variadic,
    kind,
    plain,
    record_name,
)
from jarvis_ls.jc2r.translate.comments import Comments
from jarvis_ls.jc2r.translate.names import Names, Unsupported
from jarvis_ls.jc2r.translate.vectors import vector

MAX_TEXT = 64_000_000
"""Bytes of a file whose comments are looked for."""
_UNITS = {2: "u16", 4: "u32", 8: "u64", 16: "u128"}
"""What has an alignment: a packed record may hold it, but none that declares one."""
_ALIGNED = re.compile(r"C, align\((\d+)\)")
_STREAM = "_IO_FILE"
"""What glibc calls a stream; only macros look into one."""
_OWN = "\0"
"""Represents the name of a record in its form."""
_OTHER = re.compile("\1([^\1]*)\1")
"""Represents a record that a form names, by its key."""


@dataclass
class _Form:
    """A record as a unit sees it, before records have names."""

    code: str
    """Its definition in Rust."""
    others: dict[str, Any]
    """Definitions of the records in it, by their keys."""
    is_opaque: bool


@dataclass
class _Written:
    """What a name represents."""

    form: _Form
    names: dict[str, str]
    """Names of the records in it, by their keys."""

    def text(self, name: str) -> str:
        """Return the definition in Rust of what is called `name`."""
        code = _OTHER.sub(lambda match: self.names[match[1]], self.form.code)
        return code.replace(_OWN, name)


class Types:
    """The types of a crate, written down once each, in the order they were first needed."""

    def __init__(self) -> None:
        self._used: dict[str, None] = {}
        """Names of records that some module uses."""
        self._sizes: dict[str, str] = {}
        """Definitions of what only has a size, by their name."""
        self._names: dict[str, list[str]] = {}
        """Names given to a C declaration, by its key."""
        self._written: dict[str, _Written] = {}
        """What they represent."""
        self._forms: dict[str, _Form] = {}
        """Records of the unit, by key."""
        self._others: dict[str, Any] | None = None
        """Records that the form at hand names."""
        self._seen: dict[str, str] = {}
        """The same for the unit at hand."""
        self._known: dict[int, str] = {}
        """Names of the unit's records by the hash of what declares them: asked for often."""
        self._rust: dict[int, str] = {}
        """What `of` said of the unit's types, by what libclang tells them by."""
        self._sound: set[int] = set()
        """Records of the unit whose members can be used, by hash."""
        self.paths: dict[tuple[int, int], list[str]] = {}
        """Ways to members of the unit's records, by the hashes of both."""
        self._given = Names()
        self.needed: set[str] = set()
        """Names of what `support` offers and some module uses."""
        self.has_wide_bits = False
        """Whether some record has bit-fields wider than an `int`."""
        self._padded: set[str] = set()
        """Records with bytes between their members that Rust would not leave, by key."""
        self._broken: dict[str, str] = {}
        """Why records cannot be translated, by key."""
        self._said: dict[str, dict[str, list[str]]] = {}
        """By the name of a record its comment, below no name, and those of its members."""
        self._texts: dict[str, Comments] = {}

    def reserve(self, names: set[str]) -> None:
        """Names that types must not have."""
        for name in names:
            self._given.give(name)

    def of(self, type_: Any) -> str:
        """Return the Rust type of a C type. Raises `Unsupported`."""
        type_ = plain(type_)
        name = type_.kind.name
        if name in WORDS:
            return WORDS[name]
        if self._others is not None:
            return self._make_type(type_, name)
        key = type_.data[0]
        if key not in self._rust:
            self._rust[key] = self._make_type(type_, name)
        return self._rust[key]

    def _make_type(self, type_: Any, name: str) -> str:
        if name == "VOID":
            return "core::ffi::c_void"
        if name == "POINTER":
            return self._pointer(type_)
        if is_open(type_):  # a pointer to its first element
            element = element_of(type_)
            return f"*{'const' if is_const(element) else 'mut'} {self.of(element)}"
        if name == "CONSTANTARRAY":
            return f"[{self.of(type_.element_type)}; {type_.element_count}]"
        if name == "INCOMPLETEARRAY":
            return f"[{self.of(type_.element_type)}; 0]"
        if name == "ENUM":
            return self.of(type_.get_declaration().enum_type)
        if name == "RECORD":
            return self._record(type_.get_declaration())
        if name == "COMPLEX":
            return f"types::{self.need(complex_numbers.name_of(type_))}"
        if name in FUNCTIONS:
            return self.function(type_)
        if name == "VECTOR":
            return vector(type_)
        words = {
            "LONGDOUBLE": "long double",
            "FLOAT128": "__float128",
            "HALF": "_Float16",
            "FLOAT16": "_Float16",
        }
        raise Unsupported(words.get(name, Words("type {name}", name=type_.spelling)))

    def parameter(self, type_: Any) -> str:
        """Return the Rust type of a parameter: one written like an array or function is a
        pointer.
        """
        if kind(type_) in FUNCTIONS:
            return f"Option<{self.function(type_)}>"
        if not is_array(type_) or is_open(type_):
            return self.of(type_)
        element = type_.get_canonical().element_type
        return f"*{'const' if is_const(element) else 'mut'} {self.of(element)}"

    def align(self, rust: str, to: int) -> tuple[str, str]:
        """Return a type aligned to so many bytes, and what makes a value of it; 0 represents its
        own.
        """
        if not to:
            return rust, ""
        self.need(f"Aligned{to}")
        return f"types::Aligned{to}<{rust}>", f"types::Aligned{to}"

    def function(self, type_: Any) -> str:
        """Return the type of a function."""
        type_ = type_.get_canonical()
        result = type_.get_result()
        parameters = []
        if type_.kind.name == "FUNCTIONPROTO":
            parameters = [self.parameter(argument_type) for argument_type in type_.argument_types()]
            if is_variadic(type_):
                parameters.append("...")
        back = "" if kind(result) == "VOID" else f" -> {self.of(result)}"
        return f'unsafe extern "C" fn({", ".join(parameters)}){back}'

    def _pointer(self, type_: Any) -> str:
        target = type_.get_pointee()
        if kind(target) in FUNCTIONS:
            return f"Option<{self.function(target)}>"
        word = "const" if is_const(target) else "mut"
        if is_open(target):  # rows of it are counted where they are used
            return self.of(target)
        return f"*{word} {self.of(target)}"

    def need(self, name: str) -> str:
        """Something of `support` is used, of which this gives the name."""
        self.needed.add(name)
        return name

    def begin(self) -> None:
        """Another unit begins: what it says of a record may differ from what others said."""
        self._seen.clear()
        self._forms.clear()
        self._known.clear()
        self._rust.clear()
        self._sound.clear()
        self.paths.clear()

    def learn(self, records: Iterable[Any]) -> None:
        """Name the records of a unit that are whole in it, with all that they lead to: a unit that
        sees less of one then takes that to which the rest of what it sees belongs."""
        self.begin()
        known = {_key(record): record for record in records}
        left, leading = list(known), dict[str, set[str]]()
        while left:
            key = left.pop()
            for other, record in self._form(known[key], key).others.items():
                leading.setdefault(other, set()).add(key)
                if other not in known:
                    known[other] = record
                    left.append(other)
        torn = {key for key in known if self._forms[key].is_opaque}
        left = list(torn)
        while left:
            found = leading.get(left.pop(), set()) - torn
            torn |= found
            left += found
        for key, record in known.items():
            if key not in torn:
                self._name_record(record, key)

    def definitions(self, code: Iterable[str] = ()) -> list[str]:
        """Return the definitions of all records that are used, in Rust. `code` is what uses them:
        when it never looks into a stream, that has no members."""
        if (stream := self._written.get(_STREAM)) is not None:
            members = re.findall(r"^    pub (\w+):", stream.form.code, flags=re.MULTILINE)
            whole = rf"(?<!\*mut )(?<!\*const )types::{_STREAM}\b"
            looked_into = re.compile(rf"\.(?:{'|'.join(members)})\b|{whole}")
            if members and not any(map(looked_into.search, code)):
                form = _Form(_opaque(_OWN), {}, is_opaque=True)
                self._written[_STREAM] = _Written(form, {})
        found: dict[str, str] = {}
        left = [*reversed(self._used)]
        while left:
            name = left.pop()
            if name not in found:
                found[name] = self._with_comments(name, self._written[name].text(name))
                left += reversed(self._written[name].names.values())
        texts = list(found.values())
        whole = "\n".join(texts)
        return texts + [code for name, code in self._sizes.items() if f"types::{name}," in whole]

    def _with_comments(self, name: str, code: str) -> str:
        """Return the definition of a record with what C says about it."""
        for member, said in self._said.get(name, {}).items():
            lines = "".join(f"    {line}\n" for line in said) if member else "\n".join(said)
            line = f"    pub {member}: "
            code = code.replace(line, lines + line, 1) if member else f"{lines}\n{code}"
        return code

    def _comments(self, definition: Any) -> dict[str, list[str]]:
        """Return what is said about a record of the project and about its members."""
        file = definition.location.file
        if file is None or clang.in_system_header(definition):
            return {}
        if file.name not in self._texts:
            try:
                data = read_regular(file.name, limit=MAX_TEXT)
            except SkippedFile:
                data = b""
            self._texts[file.name] = Comments(data)
        members = [
            get_field for get_field in definition.type.get_fields() if not get_field.is_bitfield()
        ]
        parts = [("", definition), *((field_name(member), member) for member in members)]
        about = self._texts[file.name].about
        found = {
            name: about(type_.extent.start.offset, type_.extent.end.offset) for name, type_ in parts
        }
        return {name: said for name, said in found.items() if said}

    def _record(self, declaration: Any) -> str:
        if self._others is not None:
            definition = declaration.get_definition() or declaration
            key = _key(definition)
            self._others[key] = definition
            return f"types::\1{key}\1"
        key = declaration.hash
        if key not in self._known:
            definition = declaration.get_definition() or declaration
            name = self._name_record(definition, _key(definition))
            self._used[name] = None
            self._known[key] = f"types::{name}"
        return self._known[key]

    def _name_record(self, definition: Any, key: str) -> str:
        """Return the name of a record: that which it has where an earlier unit saw it like this
        one, or a new one, as files may see a record of a header differently.
        """
        if key in self._seen:
            return self._seen[key]
        names = self._names.setdefault(key, [])
        for known in reversed(names):
            same = self._same(definition, key, known)
            if same is not None:
                self._seen.update((form, name) for form, (_, name) in same.items())
                for form, (record, name) in same.items():
                    if self._written[name].form.is_opaque:
                        self._write(record, form, name)
                return known
        name = self._given.give(record_name(definition) or "Anonymous")
        self._seen[key] = name
        names.append(name)
        self._write(definition, key, name)
        return name

    def _same(self, definition: Any, key: str, name: str) -> dict[str, tuple[Any, str]] | None:
        """Return the records that are seen here as they were when one was given a name, and their
        names, if this one and all that it leads to are; None otherwise. What only one of both times
        is known of says nothing against it.
        """
        found: dict[str, tuple[Any, str]] = {}
        left = [(definition, key, name)]
        while left:
            definition, key, name = left.pop()
            known = found[key][1] if key in found else self._seen.get(key)
            if known is not None:
                if known != name:
                    return None
                continue
            found[key] = (definition, name)
            form, written = self._form(definition, key), self._written[name]
            if form.is_opaque or written.form.is_opaque:
                continue
            if form.code != written.form.code:
                return None
            left += [(form.others[old], old, other) for old, other in written.names.items()]
        return found

    def _write(self, definition: Any, key: str, name: str) -> None:
        """Write down what a name represents, with the records in it."""
        form = self._form(definition, key)
        written = self._written[name] = _Written(form, {})
        self._said[name] = {} if form.is_opaque else self._comments(definition)
        for other, record in form.others.items():
            written.names[other] = self._name_record(record, other)

    def _form(self, definition: Any, key: str) -> _Form:
        if key not in self._forms:
            outer, self._others = self._others, {}
            try:
                code = self._define(definition, _OWN)
                self._forms[key] = _Form(code, self._others, code == _opaque(_OWN))
            finally:
                self._others = outer
        return self._forms[key]

    def check(self, type_: Any) -> None:
        """Check the members of a record. Raises `Unsupported` when they cannot be used."""
        declaration = type_.get_canonical().get_declaration()
        if declaration.hash in self._sound:
            return
        definition = declaration.get_definition()
        if definition is not None and (why := self._broken.get(_key(definition))):
            raise Unsupported(why)
        self._sound.add(declaration.hash)

    def _define(self, declaration: Any, name: str) -> str:
        if not declaration.is_definition():
            return _opaque(name)
        fields = list(declaration.type.get_fields())
        try:
            if "packed" in _representation(declaration):
                _check_packed(fields)
            members = [
                f"    pub {name}: {rust}," for name, rust in self._members(declaration, fields)
            ]
        except Unsupported as error:
            self._broken[_key(declaration)] = str(error)
            return self._sized_record(declaration, name)
        word = "union" if declaration.kind.name == "UNION_DECL" else "struct"
        representation = _representation(declaration)
        if (match := _ALIGNED.fullmatch(representation)) and int(match[1]) in _UNITS:
            representation = "C"
            members.append(f"    pub padding_aligned: [{_UNITS[int(match[1])]}; 0],")
            self._padded.add(_key(declaration))
        return "\n".join(
            [
                f"#[repr({representation})]",
                "#[derive(Clone, Copy)]",
                f"pub {word} {name} {{",
                *members,
                "}",
            ]
        )

    def _members(self, declaration: Any, fields: list[Any]) -> list[tuple[str, str]]:
        """Members with their types; neighbouring bit-fields are the bytes they are in, and what
        Rust would put too near to them is kept away by bytes without a meaning."""
        found: list[tuple[str, str]] = []
        is_union = declaration.kind.name == "UNION_DECL"
        largest = declaration.type.get_align()
        run: tuple[int, int] | None = None
        bits = end = 0

        def put(name: str, rust: str, place: int, size: int, align: int) -> None:
            nonlocal end
            if not is_union and -(-end // align) * align < place:
                found.append((f"padding_{end}", f"[u8; {place - end}]"))
                self._padded.add(_key(declaration))
            found.append((name, rust))
            end = place + size

        for field in fields:
            if field.is_bitfield():
                self.has_wide_bits |= field.get_bitfield_width() > 32
                first, last = bits_of(field)[0] // 8, (sum(bits_of(field)) + 7) // 8
                if run is not None and not is_union and first <= run[1]:
                    run = (run[0], max(run[1], last))
                    found[-1] = (f"bits_{run[0]}", f"[u8; {run[1] - run[0]}]")
                    end = run[1]
                elif is_union and run is not None:  # all of them begin with the record
                    run = (0, max(run[1], last))
                    found[bits] = ("bits_0", f"[u8; {run[1]}]")
                elif last > first:
                    run, bits = (first, last), len(found)
                    put(f"bits_{first}", f"[u8; {last - first}]", first, last - first, 1)
            else:
                run = run if is_union else None
                place = int(field.get_field_offsetof()) // 8
                align = max(1, min(largest, field.type.get_align()))
                put(
                    field_name(field),
                    self._member_type(field),
                    place,
                    max(0, field.type.get_size()),
                    align,
                )
        return found

    def is_padded(self, type_: Any) -> bool:
        """Return whether a record has members that C does not name."""
        declaration = type_.get_canonical().get_declaration()
        return _key(declaration.get_definition() or declaration) in self._padded

    def _member_type(self, member: Any) -> str:
        """Return the type of a member; one that Rust lacks is represented by its size in records
        that never travel in registers, and anyone who names such a member asks `of` again.
        """
        try:
            return self.of(member.type)
        except Unsupported:
            size, align = member.type.get_size(), member.type.get_align()
            if size <= 0 or align > 16 or member.semantic_parent.type.get_size() <= 16:
                raise
            name = f"Opaque{size}Aligned{align}"
            self._sizes.setdefault(name, _bytes(name, size, align))
            return f"types::{name}"

    def _sized_record(self, declaration: Any, name: str) -> str:
        """Return a record of the right size whose members are unknown."""
        size, align = declaration.type.get_size(), declaration.type.get_align()
        if size < 0:
            return _opaque(name)
        return _bytes(name, size, align)


def _key(declaration: Any) -> str:
    """Return what tells a record from others: its USR, and its place where it has no name, because
    those of system headers share one.
    """
    usr = str(declaration.get_usr())
    if record_name(declaration):
        return usr
    return f"{usr} {declaration.location.line}:{declaration.location.column}"


def _representation(declaration: Any) -> str:
    kinds = clang.cindex().CursorKind
    plain = [f for f in declaration.type.get_fields() if not f.is_bitfield()]
    natural = max((f.type.get_align() for f in plain), default=1)
    align = declaration.type.get_align()
    if any(child.kind == kinds.PACKED_ATTR for child in declaration.get_children()):
        return "C, packed"
    if align < natural:
        return f"C, packed({align})"
    return f"C, align({align})" if align > natural else "C"


def _check_packed(fields: Iterable[Any]) -> None:
    """Raise `Unsupported` for a member that Rust does not let a packed record hold."""
    for field in fields:
        align = element_of(field.type).get_align()
        if align > max(_UNITS):
            raise Unsupported("a packed struct with a member aligned to {align} bytes", align=align)


def _bytes(name: str, size: int, align: int) -> str:
    """Return what has a size and an alignment, and nothing that can be named."""
    unit = _UNITS.get(align)
    told = "C" if unit is not None or align <= 1 else f"C, align({align})"
    aligned = f"    padding_aligned: [{unit}; 0],\n" if unit is not None else ""
    return (
        f"#[repr({told})]\n#[derive(Clone, Copy)]\n"
        f"pub struct {name} {{\n    pub bytes: [u8; {size}],\n{aligned}}}"
    )


def _opaque(name: str) -> str:
    return f"#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{\n    _opaque: [u8; 0],\n}}"
