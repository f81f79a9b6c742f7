"""What must be known of the functions of a unit to call them with generated inputs.

Types as the machine lays them out, the constants and strings a body speaks of, what it calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from jarvis_ls.codeintel import clang

Form = Literal[
    "void",
    "integer",
    "float",
    "bool",
    "pointer",
    "function",
    "record",
    "array",
    "file",
    "opaque",
    "unsupported",
]
FILES = ("struct _IO_FILE", "FILE")
"""What the type of a stream is called, without typedefs and with."""
MOST_HINTS = 64
"""Constants of one function that are kept."""
_DEEPEST = 16
_SIGNED = frozenset("CHAR_S SCHAR SHORT INT LONG LONGLONG WCHAR".split())
_UNSIGNED = frozenset("CHAR_U UCHAR USHORT UINT ULONG ULONGLONG CHAR16 CHAR32".split())
_FLOATS = ("FLOAT", "DOUBLE")
_ARRAYS = ("CONSTANTARRAY", "INCOMPLETEARRAY")
_FUNCTIONS = ("FUNCTIONPROTO", "FUNCTIONNOPROTO")


class Source(Protocol):
    """A file and how it is compiled."""

    @property
    def path(self) -> str:
        """Return its path below the project, with forward slashes."""

    @property
    def arguments(self) -> Sequence[str]:
        """Return what the preprocessor and the parser must know."""

    @property
    def language(self) -> str:
        """Return `c` or `c++`."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type as the machine sees it."""

    form: Form
    size: int = 0
    """In bytes; of a pointer 8."""
    signed: bool = False
    target: Kind | None = None
    """What a pointer points to, what an array consists of."""
    count: int = 0
    """Elements of an array."""
    name: str = ""
    """Key of a record, spelling of a function type, or what is not supported, in words."""
    const: bool = False
    """Of a pointer: whether what it points to is only read."""
    values: tuple[int, ...] = ()
    """Of an enumeration: its constants."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a record."""

    name: str
    offset: int
    """In bits."""
    kind: Kind
    width: int = 0
    """In bits, of a bit-field; else 0."""


@dataclass(frozen=True, slots=True)
class Record:
    """A structure or union."""

    size: int
    """In bytes."""
    union: bool
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    name: str
    kind: Kind
    bound: int = 0
    """How large an array is that it is an index of; 0 when that is not known."""
    passed: str = ""
    """In C++, how a value of `kind` is made an argument, which `{}` stands for."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is defined in the unit itself."""

    file: str
    name: str
    line: int
    static: bool
    variadic: bool
    type: str
    """Its type as the compiler writes it, without typedefs."""
    result: Kind
    parameters: tuple[Parameter, ...]
    calls: tuple[str, ...]
    """Names of functions it calls or takes the address of."""
    indirect: bool
    """Whether it calls through pointers."""
    variables: tuple[str, ...]
    """Names of file-level variables it refers to."""
    numbers: tuple[int, ...]
    """Whole numbers in its body."""
    fractions: tuple[float, ...]
    """Other numbers in its body."""
    strings: tuple[bytes, ...]
    """String literals in its body."""
    cpp: bool = False
    """Whether it is C++; then `name` has its namespaces and classes."""
    of_object: str = ""
    """Type of the object that it is a method of; empty for others."""
    constructor: tuple[Parameter, ...] = ()
    """What such an object is made with."""
    last: int = 0
    """Its last line."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that is defined at file level of the unit."""

    file: str
    name: str
    static: bool
    kind: Kind
    constant: bool = False
    """Whether nothing may change it."""


@dataclass
class Signatures:
    """What all units define."""

    functions: list[Function] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    """By the key that `Kind.name` gives."""
    taken: set[tuple[str, str]] = field(default_factory=set)
    """Functions whose address is in initialisers of variables: file of these, and name."""
    problems: list[str] = field(default_factory=list)
    """The first error in each unit that the parser objects to, with its place."""
    included: list[tuple[str, str]] = field(default_factory=list)
    """Functions that others may call of `.c` files that a file includes: file of that, and name."""

    @property
    def definitions(self) -> list[tuple[str, str, bool]]:
        """File, name and whether it is static, of every function and variable."""
        functions = [(function.file, function.name, function.static) for function in self.functions]
        functions += [(file, name, False) for file, name in self.included]
        return functions + [
            (variable.file, variable.name, variable.static) for variable in self.variables
        ]


def read_signatures(root: Path, units: Iterable[Source]) -> Signatures:
    """Of every C unit that can be parsed; the others define nothing here."""
    found = Signatures()
    for unit in units:
        if unit.language == "c":
            _Reader(root, unit, found).read()
    return found


def read_cpp_signatures(root: Path, unit: Source) -> Signatures:
    """Return the functions and methods that a unit in C++ defines; what cannot be called has a
    parameter that is unsupported."""
    found = Signatures()
    _CppReader(root, unit, found).read()
    return found


class _Reader:
    def __init__(self, root: Path, unit: Source, found: Signatures) -> None:
        self._root, self._unit, self._found = root, unit, found
        kinds = clang.cindex().CursorKind
        self._wanted = frozenset(
            getattr(kinds, name).value
            for name in (
                "CALL_EXPR",
                "DECL_REF_EXPR",
                "INTEGER_LITERAL",
                "FLOATING_LITERAL",
                "CHARACTER_LITERAL",
                "STRING_LITERAL",
                "ARRAY_SUBSCRIPT_EXPR",
            )
        )

    def _parse(self) -> Any | None:
        """Return the unit as the parser reads it; None when it objects to something."""
        top, problems = clang.parse(self._root / self._unit.path, self._unit.arguments)
        if not problems:
            return top
        first = problems[0]
        file = first.file.removeprefix(f"{self._root}/")
        self._found.problems.append(f"{file}:{first.line}: {first.text}")
        return None

    def read(self) -> None:
        top = self._parse()
        if top is None:
            return
        seen: dict[str, Any] = {}
        for cursor in clang.children(top.cursor):
            if clang.in_system_header(cursor) or cursor.location.file is None:
                continue
            name = cursor.kind.name
            if name == "FUNCTION_DECL" and cursor.is_definition():
                if Path(cursor.location.file.name) == self._root / self._unit.path:
                    self._function(cursor)
                elif cursor.location.file.name.endswith(".c") and cursor.linkage.name == "EXTERNAL":
                    self._found.included.append((self._unit.path, cursor.spelling))
            elif name == "VAR_DECL" and clang.is_made_here(cursor):
                seen[cursor.get_usr()] = cursor
                taken = self._body(cursor)[0]
                self._found.taken.update((self._unit.path, name) for name in taken)
        for cursor in seen.values():
            static = cursor.linkage.name == "INTERNAL"
            kind = self._kind(cursor.type)
            element = cursor.type.get_canonical()
            while element.kind.name in _ARRAYS:
                element = element.element_type
            constant = bool(element.is_const_qualified())
            self._found.variables.append(
                Variable(self._unit.path, cursor.spelling, static, kind, constant)
            )

    def _function(self, cursor: Any) -> None:
        type_ = cursor.type.get_canonical()
        calls, indirect, variables, numbers, fractions, strings, bounds = self._body(cursor)
        self._found.functions.append(
            Function(
                self._unit.path,
                cursor.spelling,
                cursor.location.line,
                cursor.linkage.name == "INTERNAL",
                type_.kind.name == "FUNCTIONPROTO" and type_.is_function_variadic(),
                type_.spelling,
                self._kind(cursor.result_type),
                tuple(
                    Parameter(
                        get_argument.spelling,
                        self._parameter(get_argument.type),
                        bounds.get(get_argument.spelling, 0),
                    )
                    for get_argument in cursor.get_arguments()
                ),
                calls,
                indirect,
                variables,
                numbers,
                fractions,
                strings,
                last=cursor.extent.end.line,
            )
        )

    def _body(
        self, cursor: Any
    ) -> tuple[
        tuple[str, ...],
        bool,
        tuple[str, ...],
        tuple[int, ...],
        tuple[float, ...],
        tuple[bytes, ...],
        dict[str, int],
    ]:
        calls: dict[str, None] = {}
        variables: dict[str, None] = {}
        numbers: dict[int, None] = {}
        fractions: dict[float, None] = {}
        strings: dict[bytes, None] = {}
        bounds: dict[str, int] = {}
        indirect = False
        for child in clang.descendants(cursor, self._wanted):
            name = child.kind.name
            if name == "CALL_EXPR":
                referenced = child.referenced
                indirect |= referenced is None or referenced.kind.name != "FUNCTION_DECL"
                if referenced is not None and referenced.kind.name == "CXX_METHOD":
                    calls[referenced.spelling] = None
            elif name == "DECL_REF_EXPR":
                referenced = child.referenced
                if referenced is None:
                    continue
                if referenced.kind.name == "FUNCTION_DECL":
                    calls[referenced.spelling] = None
                elif referenced.kind.name == "VAR_DECL" and (
                    referenced.semantic_parent.kind.name == "TRANSLATION_UNIT"
                ):
                    variables[referenced.spelling] = None
            elif name == "STRING_LITERAL":
                strings[child.spelling.strip('"').encode()[:64]] = None
            elif name == "ARRAY_SUBSCRIPT_EXPR":
                self._note_bound(child, bounds)
            else:
                value = clang.constant(child)
                if isinstance(value, int):
                    numbers[value] = None
                elif value is not None and math.isfinite(value):
                    fractions[value] = None
        return (
            tuple(calls),
            indirect,
            tuple(variables),
            tuple(numbers)[:MOST_HINTS],
            tuple(fractions)[:MOST_HINTS],
            tuple(strings)[:MOST_HINTS],
            bounds,
        )

    def _note_bound(self, subscript: Any, bounds: dict[str, int]) -> None:
        """Note that a parameter is an index of an array whose length is known."""
        parts = clang.children(subscript)
        if len(parts) != 2:
            return
        array, index = (_inner(part) for part in parts)
        type_ = array.type.get_canonical()
        if index.kind.name == "DECL_REF_EXPR" and type_.kind.name == "CONSTANTARRAY":
            referenced = index.referenced
            if referenced is not None and referenced.kind.name == "PARM_DECL":
                known = bounds.get(referenced.spelling, type_.element_count)
                bounds[referenced.spelling] = min(known, type_.element_count)

    def _parameter(self, type_: Any) -> Kind:
        if type_.get_canonical().kind.name in _ARRAYS:
            element = type_.get_canonical().element_type
            const = bool(element.is_const_qualified())
            return Kind("pointer", 8, target=self._kind(element), const=const)
        return self._kind(type_)

    def _kind(self, type_: Any, depth: int = 0) -> Kind:
        type_ = type_.get_canonical()
        name = type_.kind.name
        if depth > _DEEPEST:
            return Kind("opaque", name=type_.spelling)
        if name == "VOID":
            return Kind("void")
        if name == "BOOL":
            return Kind("bool", 1)
        if name in _SIGNED | _UNSIGNED:
            return Kind("integer", type_.get_size(), name in _SIGNED)
        if name in _FLOATS:
            return Kind("float", type_.get_size())
        if name == "ENUM":
            return self._enumeration(type_)
        if name == "POINTER":
            target = type_.get_pointee()
            if target.get_canonical().kind.name in _FUNCTIONS:
                return Kind("function", 8, name=target.get_canonical().spelling)
            kind = self._kind(target, depth + 1)
            return Kind("pointer", 8, target=kind, const=bool(target.is_const_qualified()))
        if name == "CONSTANTARRAY":
            element = self._kind(type_.element_type, depth + 1)
            return Kind("array", type_.get_size(), target=element, count=type_.element_count)
        if name == "RECORD":
            return self._record(type_, depth)
        return Kind("unsupported", max(0, type_.get_size()), name=type_.spelling)

    def _enumeration(self, type_: Any) -> Kind:
        declaration = type_.get_declaration()
        inner = self._kind(declaration.enum_type)
        values = tuple(
            child.enum_value
            for child in declaration.get_children()
            if child.kind.name == "ENUM_CONSTANT_DECL"
        )
        return Kind("integer", inner.size, inner.signed, values=values[:MOST_HINTS])

    def _record(self, type_: Any, depth: int) -> Kind:
        if type_.spelling in FILES:
            return Kind("file")
        declaration = type_.get_declaration()
        size = type_.get_size()
        definition = declaration.get_definition()
        if definition is None or size < 0:
            return Kind("opaque", name=type_.spelling)
        key = f"{definition.get_usr()}|{size}"
        if key not in self._found.records:
            union = definition.kind.name == "UNION_DECL"
            self._found.records[key] = Record(size, union, ())  # ends the circle
            fields = list(type_.get_fields())
            members = tuple(
                Member(
                    cursor.spelling,
                    type_.get_offset(cursor.spelling)
                    if cursor.spelling
                    else cursor.get_field_offsetof(),
                    self._kind(cursor.type, depth + 1),
                    cursor.get_bitfield_width() if cursor.is_bitfield() else 0,
                )
                for cursor in fields
            )
            if clang.in_system_header(definition) and any(
                _has_pointer(member) for member in members
            ):
                members = ()
                self._found.records[key] = Record(-1, union, ())
            else:
                self._found.records[key] = Record(size, union, members)
        if self._found.records[key].size < 0:
            return Kind("opaque", name=type_.spelling)
        return Kind("record", size, name=key)


_SCOPES = ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL")
_CLASSES = ("CLASS_DECL", "STRUCT_DECL")
_BODIES = ("FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "FUNCTION_TEMPLATE")
_TEXTS = ("std::string", "std::__cxx11::basic_string<char>", "std::basic_string<char>")
_VIEWS = ("std::string_view", "std::basic_string_view<char>")
_CHARACTER = Kind("integer", 1, signed=True)


class _CppReader(_Reader):
    """Reads free functions and the public methods of classes that can be made."""

    def read(self) -> None:
        top = self._parse()
        if top is not None:
            self._scope(top.cursor)

    def _scope(self, scope: Any) -> None:
        for cursor in clang.children(scope):
            if clang.in_system_header(cursor) or cursor.location.file is None:
                continue
            kind = cursor.kind.name
            if kind in _SCOPES or (kind in _CLASSES and cursor.is_definition()):
                self._scope(cursor)
            elif (
                kind in _BODIES
                and cursor.is_definition()
                and Path(cursor.location.file.name) == self._root / self._unit.path
            ):
                self._function_of_cpp(cursor)

    def _function_of_cpp(self, cursor: Any) -> None:
        type_ = cursor.type.get_canonical()
        calls, indirect, variables, numbers, fractions, strings, _ = self._body(cursor)
        parameters = self._parameters(cursor)
        owner = ""
        constructor: tuple[Parameter, ...] = ()
        parent = cursor.semantic_parent
        if cursor.kind.name == "CXX_METHOD" and not cursor.is_static_method():
            owner = parent.type.spelling
            constructor = self._constructor(parent)
        callable_ = cursor.kind.name in ("FUNCTION_DECL", "CXX_METHOD")
        if not callable_ or cursor.access_specifier.name in ("PRIVATE", "PROTECTED"):
            parameters = (_not_made(cursor.spelling), *parameters)
        self._found.functions.append(
            Function(
                self._unit.path,
                _qualify(cursor),
                cursor.location.line,
                cursor.linkage.name == "INTERNAL",
                type_.kind.name == "FUNCTIONPROTO" and type_.is_function_variadic(),
                type_.spelling,
                Kind("void") if cursor.result_type.kind.name == "VOID" else Kind("opaque"),
                parameters,
                calls,
                indirect,
                variables,
                numbers,
                fractions,
                strings,
                cpp=True,
                of_object=owner,
                constructor=constructor,
                last=cursor.extent.end.line,
            )
        )

    def _parameters(self, cursor: Any) -> tuple[Parameter, ...]:
        return tuple(
            self._argument(argument.spelling, argument.type) for argument in cursor.get_arguments()
        )

    def _argument(self, name: str, type_: Any) -> Parameter:
        whole = type_.get_canonical()
        is_reference = whole.kind.name in ("LVALUEREFERENCE", "RVALUEREFERENCE")
        inner = whole.get_pointee() if is_reference else whole
        plain = inner.spelling.removeprefix("const ")
        text = Kind("pointer", 8, target=_CHARACTER, const=True)
        if plain in _VIEWS:
            return Parameter(name, text, passed="*new std::string(harness_text({}))")
        if plain in _TEXTS:
            moved = whole.kind.name == "RVALUEREFERENCE"
            passed = "std::string(harness_text({}))"
            return Parameter(name, text, passed=passed if moved else f"*new {passed}")
        kind = self._parameter(inner)
        if kind.form == "record":
            return Parameter(name, Kind("pointer", 8, target=kind), passed=f"*({plain} *)({{}})")
        if kind.form in ("integer", "bool", "float", "pointer"):
            cast = f"({plain})({{}})" if kind.form != "pointer" else f"({inner.spelling})({{}})"
            return Parameter(name, kind, passed=f"*new {plain}({cast})" if is_reference else cast)
        return Parameter(name, kind)

    def _constructor(self, class_: Any) -> tuple[Parameter, ...]:
        """Return what an object of a class is made with: of its public constructors the one with
        the fewest parameters."""
        made: list[tuple[Parameter, ...]] = []
        declared = False
        for child in clang.children(class_):
            if child.kind.name == "CXX_METHOD" and child.is_pure_virtual_method():
                return (_not_made(class_.spelling),)
            if child.kind.name != "CONSTRUCTOR":
                continue
            if child.is_copy_constructor() or child.is_move_constructor():
                continue
            declared = True
            if child.access_specifier.name == "PUBLIC" and not child.is_deleted_method():
                made.append(self._parameters(child))
        if not declared:
            return ()
        return min(made, key=len, default=(_not_made(class_.spelling),))

    def _record(self, type_: Any, depth: int) -> Kind:
        """Return a structure that C has as well; others cannot be made of bytes."""
        if type_.is_pod():
            return super()._record(type_, depth)
        return Kind("unsupported", max(0, type_.get_size()), name=type_.spelling)


def _not_made(name: str) -> Parameter:
    return Parameter("this", Kind("unsupported", name=name))


def _qualify(cursor: Any) -> str:
    names = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind.name in (*_SCOPES, *_CLASSES):
        if parent.spelling and "(" not in parent.spelling:
            names.insert(0, parent.spelling)
        parent = parent.semantic_parent
    return "::".join(names)


def _has_pointer(member: Member) -> bool:
    return member.kind.form in ("pointer", "function", "opaque", "unsupported")


def _inner(cursor: Any) -> Any:
    """Return an expression without the conversions and parentheses around it."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
        below = clang.children(cursor)
        if len(below) != 1:
            break
        cursor = below[0]
    return cursor
