"""Reads files of C with libclang into the trees of `syntax`.

Bodies are read when they are asked for. What is not followed raises `Unsupported` there.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.for_loops import for_parts
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
_POINTERS = frozenset({"POINTER"})
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


class Reader:
    """Reads the files of one program."""

    def __init__(self, root: Path, arguments: Sequence[str]) -> None:
        """`arguments` are those of the compiler for all files."""
        self._root = root
        self._arguments = [*arguments, "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0"]
        self._types: dict[str, CType] = {}
        self._units: list[Any] = []
        self._function = ""
        self.files: set[str] = set()
        """Files of the project that were read, headers too."""

    def read(self, file: str, text: bytes | None = None) -> Unit:
        """Return what a file defines; `text` stands in for what is on the disk. Raises
        `Unsupported` when it does not compile."""
        path = self._root / file
        top, problems = clang.parse(path, self._arguments, text=text)
        if problems:
            raise Unsupported(f"{file}:{problems[0].line}: {problems[0].text}")
        self._units.append(top)
        self.files.add(file)
        self.files |= {self._relative(str(found.include.name)) for found in top.get_includes()}
        self.files.discard("")
        found = Unit()
        for cursor in clang.children(top.cursor):
            name = cursor.kind.name
            if name == "FUNCTION_DECL":
                self._declare_function(cursor, found)
            elif name == "VAR_DECL" and not clang.in_system_header(cursor):
                variable = self.variable(cursor)
                known = found.globals.get(variable.key)
                if known is None or clang.initializer(cursor) is not None:
                    found.globals[variable.key] = (variable, cursor)
        return found

    def _declare_function(self, cursor: Any, found: Unit) -> None:
        if clang.in_system_header(cursor):
            found.system.add(cursor.spelling)
            return
        if not cursor.is_definition():
            return
        body = next((c for c in clang.children(cursor) if c.kind.name == "COMPOUND_STMT"), None)
        if body is None:
            return
        self._function = cursor.spelling
        type_ = cursor.type.get_canonical()
        file = self.file_of(cursor)
        found.functions[cursor.spelling] = Function(
            cursor.spelling,
            file,
            cursor.linkage.name == "INTERNAL",
            tuple(self.variable(parameter) for parameter in cursor.get_arguments()),
            self.type(cursor.result_type),
            type_.kind.name == "FUNCTIONPROTO" and bool(type_.is_function_variadic()),
            cursor.extent.start.line,
            cursor.extent.end.line,
            type_.spelling,
        )
        found.bodies[cursor.spelling] = body

    def body(self, function: Function, unit: Unit) -> Node:
        """Return the body of a function. Raises `Unsupported`."""
        self._function = function.name
        return self._statement(unit.bodies[function.name])

    def initial(self, cursor: Any) -> Node | None:
        """Return the initialiser of a variable; None without one."""
        found = clang.initializer(cursor)
        return None if found is None else self._expression(found)

    def variable(self, cursor: Any) -> Variable:
        """Return the variable that a declaration makes or names."""
        is_global = (
            cursor.semantic_parent is not None
            and cursor.semantic_parent.kind.name == "TRANSLATION_UNIT"
        )
        is_static = cursor.storage_class.name == "STATIC"
        name = cursor.spelling
        file = self.file_of(cursor)
        if is_global:
            key = f"{file}:{name}" if cursor.linkage.name == "INTERNAL" else name
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
            return CType(Form.POINTER, 8, step=step if step > 0 else 1, volatile=volatile)
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

    def _node(self, cursor: Any, kind: Kind, parts: Sequence[Node | None], value: object) -> Node:
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
                return self._node(cursor, Kind.BLOCK, [self._statement(c) for c in below], None)
            case "DECL_STMT":
                return self._node(cursor, Kind.BLOCK, [*map(self._declaration, below)], "open")
            case "IF_STMT":
                if len(below) not in (2, 3):
                    raise Unsupported("if")
                parts: list[Node | None] = [self._expression(below[0]), self._statement(below[1])]
                parts.append(self._statement(below[2]) if len(below) == 3 else None)
                return self._node(cursor, Kind.IF, parts, None)
            case "WHILE_STMT":
                if len(below) != 2:
                    raise Unsupported("while")
                parts = [self._expression(below[0]), self._statement(below[1])]
                return self._node(cursor, Kind.WHILE, parts, None)
            case "DO_STMT":
                parts = [self._statement(below[0]), self._expression(below[1])]
                return self._node(cursor, Kind.DO, parts, None)
            case "FOR_STMT":
                return self._for(cursor)
            case "SWITCH_STMT":
                if len(below) != 2:
                    raise Unsupported("switch")
                parts = [self._expression(below[0]), self._statement(below[1])]
                return self._node(cursor, Kind.SWITCH, parts, None)
            case "CASE_STMT":
                numbers = [self._constant(c) for c in below[:-1]]
                inner = self._statement(below[-1])
                return self._node(cursor, Kind.CASE, [inner], (numbers[0], numbers[-1]))
            case "DEFAULT_STMT":
                return self._node(cursor, Kind.DEFAULT, [self._statement(below[-1])], None)
            case "BREAK_STMT":
                return self._node(cursor, Kind.BREAK, [], None)
            case "CONTINUE_STMT":
                return self._node(cursor, Kind.CONTINUE, [], None)
            case "RETURN_STMT":
                return self._node(cursor, Kind.RETURN, [self._expression(c) for c in below], None)
            case "GOTO_STMT":
                label = next(c.spelling for c in below)
                return self._node(cursor, Kind.GOTO, [], label)
            case "LABEL_STMT":
                return self._node(cursor, Kind.LABEL, [self._statement(below[-1])], cursor.spelling)
            case "NULL_STMT":
                return self._node(cursor, Kind.EMPTY, [], None)
        if cursor.kind.is_statement():
            raise Unsupported(name)
        return self._expression(cursor)

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
        return self._node(
            cursor,
            Kind.FOR,
            [
                self._statement(start) if start is not None else None,
                self._expression(condition) if condition is not None else None,
                self._expression(step) if step is not None else None,
                self._statement(body),
            ],
            None,
        )

    def _declaration(self, cursor: Any) -> Node:
        if cursor.kind.name != "VAR_DECL":
            return self._node(cursor, Kind.EMPTY, [], None)
        variable = self.variable(cursor)
        type_ = cursor.type.get_canonical()
        if type_.kind.name == "VARIABLEARRAY":
            return self._with_size(cursor, variable, type_)
        value = None if cursor.storage_class.name == "EXTERN" else self.initial(cursor)
        return self._node(cursor, Kind.DECLARE, [value], (variable, cursor))

    def _with_size(self, cursor: Any, variable: Variable, type_: Any) -> Node:
        element = type_.element_type.get_canonical()
        size = element.get_size()
        if size <= 0:
            raise Unsupported("array of arrays of variable length")
        sizes = [c for c in clang.children(cursor) if c.kind.is_expression()]
        if len(sizes) != 1:
            raise Unsupported("array of variable length")
        return self._node(cursor, Kind.SIZED, [self._expression(sizes[0])], (variable, size))

    def _expression(self, cursor: Any) -> Node:
        name = cursor.kind.name
        below = [c for c in clang.children(cursor) if not c.kind.is_reference()]
        match name:
            case "PAREN_EXPR":
                return self._expression(below[0])
            case "UNEXPOSED_EXPR" | "CSTYLE_CAST_EXPR":
                if len(below) != 1:
                    return self._number(cursor)
                if "va_list" in below[0].type.get_canonical().spelling:
                    raise Unsupported("va_arg")
                is_written = name == "CSTYLE_CAST_EXPR"
                return self._node(cursor, Kind.CONVERT, [self._expression(below[0])], is_written)
            case "DECL_REF_EXPR":
                return self._reference(cursor)
            case "STRING_LITERAL":
                return self._node(cursor, Kind.STRING, [], self._string(cursor))
            case "UNARY_OPERATOR":
                return self._unary(cursor, below)
            case "BINARY_OPERATOR" | "COMPOUND_ASSIGNMENT_OPERATOR":
                return self._binary(cursor, below)
            case "CONDITIONAL_OPERATOR":
                if len(below) != 3:
                    raise Unsupported("conditional")
                return self._node(cursor, Kind.CHOICE, [self._expression(c) for c in below], None)
            case "ARRAY_SUBSCRIPT_EXPR":
                parts = [self._expression(c) for c in below]
                if parts[0].type.form is Form.INTEGER:
                    parts.reverse()
                return self._node(cursor, Kind.INDEX, parts, None)
            case "MEMBER_REF_EXPR":
                return self._member(cursor, below)
            case "CALL_EXPR":
                if not below:
                    raise Unsupported("call")
                parts = [self._expression(c) for c in below]
                return self._node(cursor, Kind.CALL, parts, called_signature(cursor))
            case "INIT_LIST_EXPR":
                if any(_is_designated(c) for c in below):
                    raise Unsupported("designated initialiser")
                return self._node(cursor, Kind.LIST, [self._expression(c) for c in below], None)
            case "StmtExpr":
                if len(below) != 1:
                    raise Unsupported("statements in an expression")
                parts = [self._statement(c) for c in clang.children(below[0])]
                return self._node(cursor, Kind.BLOCK, parts, None)
            case "COMPOUND_LITERAL_EXPR":
                return self._node(cursor, Kind.LITERAL, [self._expression(below[-1])], cursor.hash)
        return self._number(cursor)

    def _number(self, cursor: Any) -> Node:
        value = clang.constant(cursor)
        if value is None:
            raise Unsupported(cursor.kind.name)
        return self._node(cursor, Kind.NUMBER, [], value)

    def _reference(self, cursor: Any) -> Node:
        referenced = cursor.referenced
        if referenced is None:
            raise Unsupported("name")
        match referenced.kind.name:
            case "ENUM_CONSTANT_DECL":
                return self._node(cursor, Kind.NUMBER, [], int(referenced.enum_value))
            case "FUNCTION_DECL":
                return self._node(cursor, Kind.FUNCTION, [], referenced.spelling)
            case "VAR_DECL" | "PARM_DECL":
                return self._node(cursor, Kind.VARIABLE, [], self.variable(referenced))
        raise Unsupported(referenced.kind.name)

    def _unary(self, cursor: Any, below: Sequence[Any]) -> Node:
        operator = clang.unary_operator(cursor)
        parts = [self._expression(c) for c in below]
        if operator in _STEPS:
            return self._node(cursor, Kind.STEP, parts, _STEPS[operator])
        if operator == _ADDRESS:
            return self._node(cursor, Kind.ADDRESS, parts, None)
        if operator == _DEREF:
            return self._node(cursor, Kind.DEREF, parts, None)
        if operator in _UNARY:
            return self._node(cursor, Kind.UNARY, parts, _UNARY[operator])
        if operator == _EXTENSION:
            return parts[0]
        raise Unsupported("unary operator")

    def _binary(self, cursor: Any, below: Sequence[Any]) -> Node:
        operator = clang.binary_operator(cursor)
        parts = [self._expression(c) for c in below]
        if operator == _ASSIGN:
            return self._node(cursor, Kind.ASSIGN, parts, None)
        if operator in _UPDATES:
            return self._node(cursor, Kind.UPDATE, parts, _UPDATES[operator])
        if operator in _BINARY:
            return self._node(cursor, Kind.BINARY, parts, _BINARY[operator])
        raise Unsupported("binary operator")

    def _member(self, cursor: Any, below: Sequence[Any]) -> Node:
        if len(below) != 1:
            raise Unsupported("member")
        referenced = cursor.referenced
        if referenced is None or referenced.is_bitfield():
            raise Unsupported("bit-field")
        base = below[0].type.get_canonical()
        is_arrow = base.kind.name == "POINTER"
        record = base.get_pointee().get_canonical() if is_arrow else base
        bits = record.get_offset(cursor.spelling)
        if bits < 0:
            raise Unsupported("member")
        kind = Kind.ARROW if is_arrow else Kind.MEMBER
        return self._node(cursor, kind, [self._expression(below[0])], bits // 8)

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
    callee = clang.children(call)[0]
    while callee.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and clang.children(callee):
        callee = clang.children(callee)[0]
    named = callee.referenced if callee.kind.name == "DECL_REF_EXPR" else None
    if named is not None and named.kind.name == "FUNCTION_DECL":
        return None
    type_ = callee.type.get_canonical()
    if type_.kind.name == "POINTER":
        type_ = type_.get_pointee().get_canonical()
    return str(type_.spelling)


def _is_designated(cursor: Any) -> bool:
    return bool(cursor.kind.name == "UNEXPOSED_EXPR" and cursor.type.kind.name == "VOID")
