"""Reads files of C with libclang into the trees of `syntax`.

Bodies are read when they are asked for. What is not followed raises `Unsupported` there.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.for_loops import for_parts
from jarvis_ls.codeintel.languages import language_of, options_for
from jarvis_ls.jsec.proof.symbolic import cplusplus
from jarvis_ls.jsec.proof.symbolic import declarations as declared
from jarvis_ls.jsec.proof.symbolic.syntax import (
    VOID,
    CType,
    Form,
    Function,
    Kind,
    Member,
    Node,
    Unsupported,
    Variable,
)

_SIGNED = frozenset("CHAR_S SCHAR SHORT INT LONG LONGLONG WCHAR INT128".split())
_UNSIGNED = frozenset("BOOL CHAR_U UCHAR USHORT UINT ULONG ULONGLONG CHAR16 CHAR32 UINT128".split())
_FLOATS = frozenset({"FLOAT", "DOUBLE", "LONGDOUBLE"})
_FUNCTIONS = frozenset({"FUNCTIONPROTO", "FUNCTIONNOPROTO"})
_POINTERS = frozenset({"POINTER", "NULLPTR"}) | declared.REFERENCES
_SIZED = (
    _SIGNED
    | _UNSIGNED
    | _FLOATS
    | _POINTERS
    | frozenset("ENUM RECORD CONSTANTARRAY INCOMPLETEARRAY VARIABLEARRAY VOID".split())
)
_BINARY = dict(
    zip(
        (3, 4, 5, 6, 7, 8, 9, 17, 18, 19, 11, 12, 13, 14, 15, 16, 20, 21, 33),
        "* / % + - << >> & ^ | < > <= >= == != && || ,".split(),
        strict=True,
    )
)
_UPDATES = dict(zip(range(23, 33), "* / % + - << >> & ^ |".split(), strict=True))
"""`CXBinaryOperatorKind`."""
_ASSIGN = 22
_STEPS = {1: (1, True), 2: (-1, True), 3: (1, False), 4: (-1, False)}
_UNARY = {7: "+", 8: "-", 9: "~", 10: "!"}
_ADDRESS, _DEREF, _EXTENSION = 5, 6, 13
"""`CXUnaryOperatorKind`."""
_STRING = re.compile(r'(?:L|u8|u|U)?"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NOEXCEPT = re.compile(r" noexcept(?:\(.*\))?$")
_DEEPEST = 300


@dataclass(slots=True)
class Unit:
    """What one file defines."""

    functions: dict[str, Function] = field(default_factory=dict)
    """By name."""
    globals: dict[str, tuple[Variable, Any]] = field(default_factory=dict)
    """Variables with their cursors, by key."""
    bodies: dict[str, Any] = field(default_factory=dict)
    """Cursors of function bodies, by name."""
    system: set[str] = field(default_factory=set)
    """Functions that headers of the system declare."""
    other_names: set[str] = field(default_factory=set)
    """Names in templates and what else is not followed."""
    unseen: set[str] = field(default_factory=set)
    """Functions that may be called without their name."""
    methods: set[str] = field(default_factory=set)
    """Functions that belong to classes."""
    is_dynamic: bool = False
    """Whether code runs before `main` that gives variables their values."""


class Reader:
    """Reads the files of one program."""

    def __init__(self, root: Path, arguments: Sequence[str]) -> None:
        """`arguments` are those of the compiler for all files."""
        self._root = root
        self._arguments = [*arguments, "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0"]
        self._types: dict[str, CType] = {}
        self._units: list[Any] = []
        self._is_cplusplus = False
        """Whether the function that is read is C++."""
        self._gives_reference = False
        """Whether it returns a reference."""
        self.this: Variable | None = None
        """The object of the method that is read; None in other functions."""
        self.record: Any | None = None
        """Its class."""
        self.files: set[str] = set()
        """Files of the project that were read, headers too."""

    def read(self, file: str, text: bytes | None = None) -> Unit:
        """Return what a file defines; `text` stands in for what is on the disk. Raises
        `Unsupported` when it does not compile."""
        path = self._root / file
        arguments = options_for(language_of(file) or "c", self._arguments)
        top, problems = clang.parse(path, arguments, text=text)
        if problems:
            raise Unsupported(f"{file}:{problems[0].line}: {problems[0].text}")
        self._units.append(top)
        self.files.add(file)
        self.files |= {self._relative(str(found.include.name)) for found in top.get_includes()}
        self.files.discard("")
        found = Unit()
        is_cplusplus = declared.is_cplusplus(top.cursor)
        for cursor in declared.declarations(top.cursor):
            name = cursor.kind.name
            if name in declared.FUNCTIONS:
                self._declare_function(cursor, found)
            elif clang.in_system_header(cursor):
                continue
            elif is_cplusplus and name != "VAR_DECL":
                found.other_names |= declared.names_in_others(cursor)
            elif name == "VAR_DECL":
                found.is_dynamic |= declared.is_dynamic(cursor)
                variable = self.variable(cursor)
                known = found.globals.get(variable.key)
                if known is None or clang.initializer(cursor) is not None:
                    found.globals[variable.key] = (variable, cursor)
        if is_cplusplus and found.methods and declared.has_class_templates(top.cursor):
            found.unseen |= found.methods
        return found

    def _declare_function(self, cursor: Any, found: Unit) -> None:
        name = declared.symbol(cursor)
        if clang.in_system_header(cursor):
            found.system.add(name)
            return
        if not cursor.is_definition():
            return
        body = next((c for c in clang.children(cursor) if c.kind.name == "COMPOUND_STMT"), None)
        if declared.is_allocator(cursor) and not declared.is_method(cursor):
            raise Unsupported("an allocator of the project's own")
        if body is None:  # such as a function that is one `try`
            found.other_names |= declared.names_below(cursor)
            return
        type_ = cursor.type.get_canonical()
        file = self.file_of(cursor)
        if declared.is_method(cursor):
            found.methods.add(name)
        if declared.is_called_unseen(cursor):
            found.unseen.add(name)
        found.functions[name] = Function(
            name,
            file,
            cursor.linkage.name in declared.INTERNAL,
            cplusplus.parameters_of(self, cursor, file),
            self.type(cursor.result_type),
            type_.kind.name == "FUNCTIONPROTO" and bool(type_.is_function_variadic()),
            cursor.extent.start.line,
            cursor.extent.end.line,
            _signature(type_),
        )
        found.bodies[name] = cursor

    def body(self, function: Function, unit: Unit) -> Node:
        """Return the body of a function. Raises `Unsupported`."""
        cursor = unit.bodies[function.name]
        below = clang.children(cursor)
        body = next(c for c in below if c.kind.name == "COMPOUND_STMT")
        self._is_cplusplus = declared.is_cplusplus(cursor)
        if not self._is_cplusplus:
            return self._statement(body)
        if any(c.kind.name == "CXX_TRY_STMT" for c in below):
            raise Unsupported("try")
        cplusplus.check_parameters(cursor)
        self.this = cplusplus.object_of(cursor, function.file)
        self.record = cursor.semantic_parent if self.this is not None else None
        result = cursor.result_type.get_canonical().kind.name
        self._gives_reference = result in declared.REFERENCES
        if cursor.kind.name != "CONSTRUCTOR":
            return self._statement(body)
        first = cplusplus.initialisers(self, cursor)
        return self.node(body, Kind.BLOCK, [*first, self._statement(body)], None)

    def initial(self, cursor: Any) -> Node | None:
        """Return the initialiser of a variable; None without one."""
        found = clang.initializer(cursor)
        self._is_cplusplus = declared.is_cplusplus(cursor)
        if self._is_cplusplus and declared.is_static(cursor) and declared.is_dynamic(cursor):
            raise Unsupported("a variable that code initialises")
        return None if found is None else self.expression(found)

    def variable(self, cursor: Any) -> Variable:
        """Return the variable that a declaration makes or names."""
        is_global = declared.is_at_file_scope(cursor)
        is_static = cursor.storage_class.name == "STATIC"
        name = cursor.spelling
        file = self.file_of(cursor)
        if is_global:
            key = declared.full_name(cursor)
            if cursor.linkage.name in declared.INTERNAL:
                key = f"{file}:{key}"
        elif cursor.storage_class.name == "EXTERN":
            key, is_global = name, True
        else:
            key = f"{file}:{cursor.location.line}:{cursor.location.column}:{name}"
        element = cursor.type.get_canonical()
        while element.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
            element = element.element_type.get_canonical()
        return Variable(
            key,
            name,
            self.type(cursor.type),
            is_global or is_static,
            bool(element.is_const_qualified()),
        )

    def file_of(self, cursor: Any) -> str:
        """Return the file that a cursor is in, relative to the project; empty outside of it."""
        location = cursor.location.file
        return self._relative(str(location.name)) if location is not None else ""

    def _relative(self, name: str) -> str:
        prefix = f"{self._root}/"
        found = os.path.normpath(name)
        return found[len(prefix) :] if found.startswith(prefix) else ""

    def type(self, type_: Any, depth: int = 0) -> CType:
        """Return a type as the machine lays it out."""
        canonical = type_.get_canonical()
        key = canonical.spelling
        if "(anonymous" in key or "(unnamed" in key:
            return self._lay_out(canonical, depth)
        known = self._types.get(key)
        if known is None:
            known = self._lay_out(canonical, depth)
            self._types[key] = known
        return known

    def _lay_out(self, type_: Any, depth: int) -> CType:
        name = type_.kind.name
        if name in _FUNCTIONS:
            return CType(Form.FUNCTION)
        if name not in _SIZED:
            return CType(Form.OTHER)  # libclang crashes when asked for the size of some
        volatile = bool(type_.is_volatile_qualified())
        size = max(0, type_.get_size())
        if name == "VOID":
            return VOID
        if name == "ENUM":
            below = type_.get_declaration().enum_type.get_canonical().kind.name
            return CType(Form.INTEGER, size, signed=below in _SIGNED, volatile=volatile)
        if name in _SIGNED or name in _UNSIGNED:
            if size > 8:
                return CType(Form.OTHER, size)
            return CType(
                Form.INTEGER,
                size,
                signed=name in _SIGNED,
                boolean=name == "BOOL",
                volatile=volatile,
            )
        if name in _FLOATS:
            return CType(Form.FLOAT, size, volatile=volatile)
        if name in _POINTERS:
            below = type_.get_pointee().get_canonical()
            step = below.get_size() if below.kind.name in _SIZED else 1
            return CType(
                Form.POINTER,
                8,
                step=step if step > 0 else 1,
                volatile=volatile,
                reference=name in declared.REFERENCES,
            )
        if name in ("CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY"):
            if depth > _DEEPEST:
                return CType(Form.OTHER, size)
            return CType(Form.ARRAY, size, element=self.type(type_.element_type, depth + 1))
        if name == "RECORD":
            return self._record(type_, size, depth)
        return CType(Form.OTHER, size)

    def _record(self, type_: Any, size: int, depth: int) -> CType:
        declaration = type_.get_declaration()
        union = declaration.kind.name == "UNION_DECL"
        if depth > _DEEPEST or union:
            return CType(Form.RECORD, size, union=True)
        members = []
        for cursor in type_.get_fields():
            offset = (
                type_.get_offset(cursor.spelling)
                if cursor.spelling
                else cursor.get_field_offsetof()
            )
            if cursor.is_bitfield() or offset < 0:
                return CType(Form.RECORD, size, union=True)  # members share their bytes
            members.append(Member(cursor.spelling, offset // 8, self.type(cursor.type, depth + 1)))
        return CType(Form.RECORD, size, members=tuple(members))

    def node(self, cursor: Any, kind: Kind, parts: Sequence[Node | None], value: object) -> Node:
        """Return a node for a cursor, with its type."""
        type_ = VOID if kind.value >= Kind.BLOCK.value else self.type(cursor.type)
        start = cursor.extent.start
        return Node(
            kind,
            type_,
            tuple(parts),
            value,
            self.file_of(cursor),
            start.line,
            cursor.extent.end.line,
        )

    def _statement(self, cursor: Any) -> Node:
        name = cursor.kind.name
        below = clang.children(cursor)
        match name:
            case "COMPOUND_STMT":
                return self.node(cursor, Kind.BLOCK, self._statements(below), None)
            case "DECL_STMT":
                if self._is_cplusplus and cplusplus.guards(self, cursor):
                    raise Unsupported("an object that ends with a statement")
                return self._declarations(cursor)
            case "IF_STMT":
                if len(below) not in (2, 3):
                    raise Unsupported("if")
                if self._is_cplusplus and declared.begins_with_statement(cursor, below[1]):
                    raise Unsupported("a statement in an if")
                parts: list[Node | None] = [self.expression(below[0]), self._statement(below[1])]
                parts.append(self._statement(below[2]) if len(below) == 3 else None)
                return self.node(cursor, Kind.IF, parts, None)
            case "WHILE_STMT":
                if len(below) != 2:
                    raise Unsupported("while")
                parts = [self.expression(below[0]), self._statement(below[1])]
                return self.node(cursor, Kind.WHILE, parts, None)
            case "DO_STMT":
                parts = [self._statement(below[0]), self.expression(below[1])]
                return self.node(cursor, Kind.DO, parts, None)
            case "FOR_STMT":
                return self._for(cursor)
            case "SWITCH_STMT":
                if len(below) != 2:
                    raise Unsupported("switch")
                parts = [self.expression(below[0]), self._statement(below[1])]
                return self.node(cursor, Kind.SWITCH, parts, None)
            case "CASE_STMT":
                numbers = [self._constant(c) for c in below[:-1]]
                inner = self._statement(below[-1])
                return self.node(cursor, Kind.CASE, [inner], (numbers[0], numbers[-1]))
            case "DEFAULT_STMT":
                return self.node(cursor, Kind.DEFAULT, [self._statement(below[-1])], None)
            case "BREAK_STMT":
                return self.node(cursor, Kind.BREAK, [], None)
            case "CONTINUE_STMT":
                return self.node(cursor, Kind.CONTINUE, [], None)
            case "RETURN_STMT":
                return self.node(cursor, Kind.RETURN, [self._result(c) for c in below], None)
            case "GOTO_STMT":
                label = next(c.spelling for c in below)
                return self.node(cursor, Kind.GOTO, [], label)
            case "LABEL_STMT":
                return self.node(cursor, Kind.LABEL, [self._statement(below[-1])], cursor.spelling)
            case "NULL_STMT":
                return self.node(cursor, Kind.EMPTY, [], None)
        if cursor.kind.is_statement():
            raise Unsupported(name)
        return self.expression(cursor)

    def _statements(self, cursors: Sequence[Any]) -> list[Node]:
        """Return statements; what comes behind objects with destructors is guarded by these."""
        found: list[Node] = []
        for number, cursor in enumerate(cursors):
            guards = cplusplus.guards(self, cursor) if self._is_cplusplus else ()
            found.append(self._declarations(cursor) if guards else self._statement(cursor))
            if guards:
                parts = self._statements(cursors[number + 1 :])
                for guard in reversed(guards):
                    inner = self.node(cursor, Kind.BLOCK, parts, None)
                    parts = [self.node(cursor, Kind.GUARDED, [inner, guard], None)]
                return found + parts
        return found

    def _result(self, cursor: Any) -> Node:
        if self._is_cplusplus and self._gives_reference:
            return cplusplus.bind(self, cursor, None)
        return self.expression(cursor)

    def _constant(self, cursor: Any) -> int:
        value = clang.constant(cursor)
        if not isinstance(value, int):
            raise Unsupported("a case that is no number")
        return value

    def _for(self, cursor: Any) -> Node:
        found = for_parts(cursor)
        if found is None:
            raise Unsupported("for")
        start, condition, step, body = found
        return self.node(
            cursor,
            Kind.FOR,
            [
                self._statement(start) if start is not None else None,
                self.expression(condition) if condition is not None else None,
                self.expression(step) if step is not None else None,
                self._statement(body),
            ],
            None,
        )

    def _declarations(self, cursor: Any) -> Node:
        parts = [self._declaration(child) for child in clang.children(cursor)]
        return self.node(cursor, Kind.BLOCK, parts, "open")

    def _declaration(self, cursor: Any) -> Node:
        if cursor.kind.name != "VAR_DECL":
            if self._is_cplusplus and not declared.is_without_code(cursor):
                raise Unsupported("a declaration with code")
            return self.node(cursor, Kind.EMPTY, [], None)
        variable = self.variable(cursor)
        type_ = cursor.type.get_canonical()
        if type_.kind.name == "VARIABLEARRAY":
            return self._with_size(cursor, variable, type_)
        if self._is_cplusplus:
            if variable.is_global and declared.is_dynamic(cursor):
                raise Unsupported("a variable that code initialises")
            found = cplusplus.declaration(self, cursor, variable)
            if found is not None:
                return found
        value = None if cursor.storage_class.name == "EXTERN" else self.initial(cursor)
        return self.node(cursor, Kind.DECLARE, [value], (variable, cursor))

    def _with_size(self, cursor: Any, variable: Variable, type_: Any) -> Node:
        element = type_.element_type.get_canonical()
        size = element.get_size()
        if size <= 0:
            raise Unsupported("array of arrays of variable length")
        sizes = [c for c in clang.children(cursor) if c.kind.is_expression()]
        if len(sizes) != 1:
            raise Unsupported("array of variable length")
        return self.node(cursor, Kind.SIZED, [self.expression(sizes[0])], (variable, size))

    def expression(self, cursor: Any) -> Node:
        """Return the tree of an expression. Raises `Unsupported`."""
        name = cursor.kind.name
        below = [c for c in clang.children(cursor) if not c.kind.is_reference()]
        if self._is_cplusplus:
            found = cplusplus.expression(self, cursor, below)
            if found is not None:
                return found
        match name:
            case "PAREN_EXPR":
                return self.expression(below[0])
            case "UNEXPOSED_EXPR" | "CSTYLE_CAST_EXPR":
                if len(below) != 1:
                    return self._number(cursor)
                if "va_list" in below[0].type.get_canonical().spelling:
                    raise Unsupported("va_arg")
                is_written = name == "CSTYLE_CAST_EXPR"
                return self.node(cursor, Kind.CONVERT, [self.expression(below[0])], is_written)
            case "DECL_REF_EXPR":
                return self._reference(cursor)
            case "STRING_LITERAL":
                return self.node(cursor, Kind.STRING, [], self._string(cursor))
            case "UNARY_OPERATOR":
                return self._unary(cursor, below)
            case "BINARY_OPERATOR" | "COMPOUND_ASSIGNMENT_OPERATOR":
                return self._binary(cursor, below)
            case "CONDITIONAL_OPERATOR":
                if len(below) != 3:
                    raise Unsupported("conditional")
                return self.node(cursor, Kind.CHOICE, [self.expression(c) for c in below], None)
            case "ARRAY_SUBSCRIPT_EXPR":
                parts = [self.expression(c) for c in below]
                if parts[0].type.form is Form.INTEGER:
                    parts.reverse()
                return self.node(cursor, Kind.INDEX, parts, None)
            case "MEMBER_REF_EXPR":
                return self._member(cursor, below)
            case "CALL_EXPR":
                if not below:
                    raise Unsupported("call")
                parts = [self.expression(c) for c in below]
                return self.node(cursor, Kind.CALL, parts, called_signature(cursor))
            case "INIT_LIST_EXPR":
                if any(_is_designated(c) for c in below):
                    raise Unsupported("designated initialiser")
                return self.node(cursor, Kind.LIST, [self.expression(c) for c in below], None)
            case "StmtExpr":
                if len(below) != 1:
                    raise Unsupported("statements in an expression")
                parts = [self._statement(c) for c in clang.children(below[0])]
                return self.node(cursor, Kind.BLOCK, parts, None)
            case "COMPOUND_LITERAL_EXPR":
                return self.node(cursor, Kind.LITERAL, [self.expression(below[-1])], cursor.hash)
        return self._number(cursor)

    def _number(self, cursor: Any) -> Node:
        value = clang.constant(cursor)
        if value is None:
            raise Unsupported(cursor.kind.name)
        return self.node(cursor, Kind.NUMBER, [], value)

    def _reference(self, cursor: Any) -> Node:
        referenced = cursor.referenced
        if referenced is None:
            raise Unsupported("name")
        match referenced.kind.name:
            case "ENUM_CONSTANT_DECL":
                return self.node(cursor, Kind.NUMBER, [], int(referenced.enum_value))
            case "FUNCTION_DECL":
                return self.node(cursor, Kind.FUNCTION, [], declared.symbol(referenced))
            case "VAR_DECL" | "PARM_DECL":
                variable = self.variable(referenced)
                found = self.node(cursor, Kind.VARIABLE, [], variable)
                if not variable.type.reference:
                    return found
                return cplusplus.dereference(replace(found, type=variable.type), found.type)
        raise Unsupported(referenced.kind.name)

    def _unary(self, cursor: Any, below: Sequence[Any]) -> Node:
        operator = clang.unary_operator(cursor)
        parts = [self.expression(c) for c in below]
        if operator in _STEPS or operator == _ADDRESS:
            self._check_place(parts[0])
        if operator in _STEPS:
            return self.node(cursor, Kind.STEP, parts, _STEPS[operator])
        if operator == _ADDRESS:
            return self.node(cursor, Kind.ADDRESS, parts, None)
        if operator == _DEREF:
            return self.node(cursor, Kind.DEREF, parts, None)
        if operator in _UNARY:
            return self.node(cursor, Kind.UNARY, parts, _UNARY[operator])
        if operator == _EXTENSION:
            return parts[0]
        raise Unsupported("unary operator")

    def _binary(self, cursor: Any, below: Sequence[Any]) -> Node:
        operator = clang.binary_operator(cursor)
        parts = [self.expression(c) for c in below]
        if operator == _ASSIGN or operator in _UPDATES:
            self._check_place(parts[0])
        if operator == _ASSIGN:
            return self.node(cursor, Kind.ASSIGN, parts, None)
        if operator in _UPDATES:
            return self.node(cursor, Kind.UPDATE, parts, _UPDATES[operator])
        if operator in _BINARY:
            return self.node(cursor, Kind.BINARY, parts, _BINARY[operator])
        raise Unsupported("binary operator")

    def _check_place(self, node: Node) -> None:
        """Raise `Unsupported` where C++ changes an object, and C a copy of it."""
        if self._is_cplusplus and not cplusplus.is_place(node):
            raise Unsupported("a change of a result")

    def _member(self, cursor: Any, below: Sequence[Any]) -> Node:
        referenced = cursor.referenced
        if len(below) > 1 or referenced is None or referenced.kind.name != "FIELD_DECL":
            raise Unsupported("member")
        if referenced.is_bitfield():
            raise Unsupported("bit-field")
        if below:
            base = below[0].type.get_canonical()
            object_ = self.expression(below[0])
        else:
            base = referenced.semantic_parent.type.get_canonical()
            object_ = cplusplus.this_near(self, cursor)
        is_arrow = not below or base.kind.name == "POINTER"
        record = base.get_pointee().get_canonical() if base.kind.name == "POINTER" else base
        bits = record.get_offset(cursor.spelling)
        type_ = self.type(referenced.type)
        if bits < 0:
            raise Unsupported("member")
        found = self.node(cursor, Kind.ARROW if is_arrow else Kind.MEMBER, [object_], bits // 8)
        if not type_.reference:
            return found
        return cplusplus.dereference(replace(found, type=type_), found.type)

    def _string(self, cursor: Any) -> bytes | None:
        """Return the bytes of a literal with its terminator; None when they are not certain."""
        type_ = cursor.type.get_canonical()
        count = type_.element_count
        width = type_.element_type.get_size()
        match = _STRING.fullmatch(cursor.spelling)
        if match is None or width not in (1, 4):
            return None
        try:
            text = ast.literal_eval('b"' + match[1].replace("\n", "\\n") + '"')
        except (SyntaxError, ValueError):
            return None
        assert isinstance(text, bytes)
        if len(text) > count:
            return None
        data = text + bytes(count - len(text))  # an initialiser is as long as its array
        return b"".join(bytes([byte]) + bytes(width - 1) for byte in data)


def called_signature(call: Any) -> str | None:
    """Return how the type of what is called by its address is spelled; None of a call by name."""
    if declared.is_named(call):
        return None
    callee = clang.children(call)[0]
    while callee.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and clang.children(callee):
        callee = clang.children(callee)[0]
    named = callee.referenced if callee.kind.name == "DECL_REF_EXPR" else None
    if named is not None and named.kind.name == "FUNCTION_DECL":
        return None
    type_ = callee.type.get_canonical()
    if type_.kind.name == "POINTER":
        type_ = type_.get_pointee().get_canonical()
    return _signature(type_)


def _signature(type_: Any) -> str:
    """Return how the type of a function is spelled: with or without `noexcept` it may be called."""
    return _NOEXCEPT.sub("", type_.spelling)


def _is_designated(cursor: Any) -> bool:
    return bool(cursor.kind.name == "UNEXPOSED_EXPR" and cursor.type.kind.name == "VOID")
