"""What expressions are known to be from the text alone: literals, constants, and the declared sizes
of what they name.

Nothing is followed through a function: a local counts when it is only ever set to one value.
"""

from __future__ import annotations

import re

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.guards import written_between

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)[uUlLzZ]*")
_SIZES = {
    "char": 1,
    "bool": 1,
    "_Bool": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "short": 2,
    "int16_t": 2,
    "uint16_t": 2,
    "wchar_t": 4,
    "int": 4,
    "float": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "unsigned": 4,
    "signed": 4,
    "long": 8,
    "double": 8,
    "int64_t": 8,
    "uint64_t": 8,
    "size_t": 8,
    "ssize_t": 8,
    "off_t": 8,
    "time_t": 8,
    "intptr_t": 8,
    "uintptr_t": 8,
    "ptrdiff_t": 8,
}


_OPEN_CONVERSION = re.compile(r"(?<!%)(?:%%)*%[-+ #0-9.*]*$")
"""The end of a text in the middle of a conversion of printf() or scanf()."""

_OF_LIBRARY = {"BUFSIZ": 8192, "PATH_MAX": 4096, "MAXPATHLEN": 4096, "MAX_PATH": 260}
"""Sizes that headers of the system define, which are rarely part of a project."""


def _in_format(before: str, macro: str) -> str:
    """Return what stands for a macro of unknown text in a literal: inside a conversion a width, or
    the conversion itself where it is named as those of <inttypes.h>, GLib or APR are."""
    if not _OPEN_CONVERSION.search(before):
        return ""
    return "lu" if macro.startswith(("PRI", "SCN")) or macro.endswith(("FORMAT", "FMT")) else "1"


def string_literal(node: Node | None, function: Function | None = None) -> str | None:
    """Return the text of a string literal, seen through macros of the file, parentheses, `?:` of
    two literals, and a local or file-scope variable that only ever holds one literal.

    Returns the text between the quotes (escapes as written), or None when it may be anything.
    """
    if node is None:
        return None
    node = bare(node)
    kind = node.type
    if kind in ("string_literal", "raw_string_literal"):
        return text(node).strip().lstrip("LuUR8").strip('"')
    if kind == "concatenated_string":
        parts = [
            (c, string_literal(c, function)) for c in node.named_children if c.type != "comment"
        ]
        joined = ""
        for part, known in parts:
            joined += _in_format(joined, text(part)) if known is None else known
        return joined
    if kind == "conditional_expression":
        yes = string_literal(field(node, "consequence"), function)
        no = string_literal(field(node, "alternative"), function)
        return yes if yes is not None and no is not None else None
    if kind == "call_expression" and text(field(node, "function")) in (
        "_",
        "N_",
        "gettext",
        "dgettext",
        "ngettext",
        "Q_",
        "tr",
        "_T",
        "TEXT",
        "QT_TR_NOOP",
    ):
        arguments = field(node, "arguments")
        for child in arguments.named_children if arguments is not None else ():
            if (found := string_literal(child, function)) is not None:
                return found
        return None
    if kind == "identifier" and function is not None:
        return _literal_variable(node, function)
    return None


def constant(node: Node | None, function: Function | None, unit: Unit | None = None) -> int | None:
    """Return the value of an integer expression known at compile time, or None.

    Sees literals, macros, enumerators, `sizeof` of plain types and arrays, locals set once to
    a constant, and arithmetic of these.
    """
    if unit is None:
        if function is None:
            return None
        unit = function.unit
    return _constant(node, function, unit, 24)


def constant_text(written: str, unit: Unit) -> int | None:
    """Return the value of an integer written as text: a number or a macro of the file."""
    for _ in range(8):
        written = written.strip()
        while written.startswith("(") and written.endswith(")"):
            written = written[1:-1].strip()
        match = _NUMBER.fullmatch(written.removeprefix("-"))
        if match:
            digits = match[1].replace("'", "")
            octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
            value = int(digits, 8 if octal else 0)
            return -value if written.startswith("-") else value
        if written in unit.facts.enumerators:
            return unit.facts.enumerators[written]
        following = unit.facts.macros.get(written)
        if following is None:
            known = _OF_LIBRARY.get(written)
            return _arithmetic(written, unit) if known is None else known
        written = following
    return None


def declaration(node: Node | None, function: Function | None) -> Variable | Declared | None:
    """Return the declaration of the variable or field an expression names, or None.

    A field is known when every struct of the file and its project headers that has a field of
    this name declares it alike, and what has it is not of a type that is not seen.
    """
    if node is None:
        return None
    node = bare(node)
    if node.type == "identifier":
        if function is None:
            return None
        name = function.unit.text(node)
        local = function.variable(name, node.start_byte)
        return function.unit.facts.variables.get(name) if local is None else local
    if node.type == "field_expression" and function is not None:
        known = set(function.unit.facts.fields.get(text(field(node, "field")), ()))
        if len(known) != 1 or _is_of_unseen_type(field(node, "argument"), function):
            return None
        return known.pop()
    return None


def _is_of_unseen_type(node: Node | None, function: Function) -> bool:
    """Return whether a variable of C has a named type that neither its file nor a header of the
    project declares: its fields are not those of others that have the same names.
    """
    if node is None or node.type != "identifier" or function.unit.language != "c":
        return False
    declared = declaration(node, function)
    words = [] if declared is None else [w for w in declared.type.split() if w != "const"]
    if len(words) != 1 or words[0] in ("struct", "union"):  # one without a name is written here
        return False
    return words[0] not in function.unit.facts.types


def array_size(node: Node | None, function: Function | None) -> int | None:
    """Return the number of elements of the array an expression names, or None.

    `&a[0]` counts as `a`; a pointer has no size here.
    """
    if node is None or function is None:
        return None
    node = bare(node)
    if node.type == "pointer_expression" and operator_of(node) == "&":
        inner = bare(field(node, "argument") or node)
        if inner.type == "subscript_expression" and text(_index_of(inner)) == "0":
            node = bare(field(inner, "argument") or inner)
    declared = declaration(node, function)
    if declared is None or not declared.arrays or declared.pointers:
        return None
    if isinstance(declared, Variable) and declared.is_parameter:
        return None
    if declared.arrays[0] == "" and isinstance(declared, Variable):
        literal = string_literal(declared.initial)
        return None if literal is None else literal_length(literal) + 1
    return constant_text(declared.arrays[0], function.unit)


def literal_length(literal: str) -> int:
    """Return the length of the text of a string literal; an escape is one character."""
    return len(
        re.sub(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", "x", literal)
    )


def element_size(declared: Variable | Declared | None) -> int | None:
    """Bytes of one element of a declared array or of what a pointer points to, or None."""
    if declared is None:
        return None
    if declared.pointers > 1 or (declared.pointers == 1 and declared.arrays):
        return 8
    words = declared.type.split()
    if "long" in words and "double" in words:
        return 16
    sizes = [_SIZES[word] for word in words if word in _SIZES]
    if not sizes:
        return None
    return max(sizes) if "long" in words else sizes[-1] if "short" not in words else 2


def _literal_variable(node: Node, function: Function) -> str | None:
    name = text(node)
    macro = function.unit.facts.macros.get(name)
    if macro is not None:
        return macro.strip('"') if macro.startswith('"') and macro.endswith('"') else None
    variable = function.variable(name, node.start_byte)
    if variable is None or variable.is_parameter or variable.is_array:
        return None
    first = string_literal(variable.initial)
    if variable.initial is not None and first is None:
        return None
    return _literals_assigned(function).get(name, first)


@once_per_function
def _literals_assigned(function: Function) -> dict[str, str | None]:
    """By variable, the string literal it is last assigned; None when it is also assigned
    something else, or its address is taken."""
    found: dict[str, str | None] = {}
    for assignment in function.nodes("assign"):
        name = text(field(assignment, "left"))
        literal = string_literal(field(assignment, "right"))
        found[name] = literal if found.get(name, "") is not None else None
    for node in function.nodes("deref"):
        if operator_of(node) == "&":
            found[text(field(node, "argument"))] = None
    return found


def _constant(node: Node | None, function: Function | None, unit: Unit, fuel: int) -> int | None:
    if node is None or fuel <= 0:
        return None
    node = bare(node)
    kind = node.type
    if kind in ("number_literal", "integer_literal"):
        return constant_text(text(node), unit)
    if kind == "char_literal":
        inner = text(node).strip("'")
        return ord(inner) if len(inner) == 1 else 0 if inner == "\\0" else None
    if kind == "identifier":
        return _constant_name(node, function, unit, fuel)
    if kind == "binary_expression":
        left = _constant(field(node, "left"), function, unit, fuel - 1)
        right = _constant(field(node, "right"), function, unit, fuel - 1)
        return None if left is None or right is None else _apply(operator_of(node), left, right)
    if kind == "unary_expression" and operator_of(node) == "-":
        value = _constant(field(node, "argument"), function, unit, fuel - 1)
        return None if value is None else -value
    if kind == "sizeof_expression":
        return _sizeof(node, function)
    return None


def _constant_name(node: Node, function: Function | None, unit: Unit, fuel: int) -> int | None:
    name = text(node)
    variable = function.variable(name, node.start_byte) if function is not None else None
    if variable is None:
        return constant_text(name, unit)
    assert function is not None
    if variable.is_parameter or variable.initial is None or variable.is_array:
        return None
    if written_between(function, name, variable.node.end_byte, variable.scope[1]):
        return None
    return _constant(variable.initial, function, unit, fuel - 1)


def _apply(operator: str, left: int, right: int) -> int | None:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if operator == "/" and right:
        return left // right
    if operator == "%" and right:
        return left % right
    if operator == "<<" and 0 <= right < 64:
        return left << right
    if operator == ">>" and 0 <= right < 64:
        return left >> right
    return None


def _arithmetic(written: str, unit: Unit) -> int | None:
    """Evaluate `A + 1` and the like: two operands at the top level of a macro's text."""
    match = re.fullmatch(r"\s*([^-+*/()]+?)\s*([-+*]|<<)\s*([^-+*/()]+?)\s*", written)
    if not match or len(written) > 200:
        return None
    left, right = constant_text(match[1], unit), constant_text(match[3], unit)
    return None if left is None or right is None else _apply(match[2], left, right)


def _sizeof(node: Node, function: Function | None) -> int | None:
    named = field(node, "type")
    if named is not None:
        if "*" in text(named):
            return 8
        return element_size(Declared("", text(named)))
    value = field(node, "value")
    if value is None or function is None:
        return None
    declared = declaration(value, function)
    if declared is None:
        name = text(bare(value))
        return element_size(Declared("", name)) if name in _SIZES else None
    if declared.arrays and not (isinstance(declared, Variable) and declared.is_parameter):
        count, size = array_size(value, function), element_size(declared)
        return None if count is None or size is None else count * size
    return 8 if declared.pointers else element_size(declared)


def _index_of(subscript: Node) -> Node | None:
    return field(subscript, "index") or next(
        (c for c in (field(subscript, "indices") or subscript).named_children[-1:]), None
    )
