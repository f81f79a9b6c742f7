"""Values of Rust expressions: literals, visible types and untrusted input."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.local.rust.shapes import (
    arguments,
    callee_names,
    macro_name,
    macro_tokens,
    peel,
    receiver_of,
    strip_generics,
)

WIDTHS = {
    "u8": 8,
    "i8": 8,
    "u16": 16,
    "i16": 16,
    "u32": 32,
    "i32": 32,
    "u64": 64,
    "i64": 64,
    "u128": 128,
    "i128": 128,
    "usize": 64,
    "isize": 64,
    "c_char": 8,
    "c_short": 16,
    "c_ushort": 16,
    "c_int": 32,
    "c_uint": 32,
    "c_long": 64,
    "c_ulong": 64,
    "size_t": 64,
    "ssize_t": 64,
    "socklen_t": 32,
    "off_t": 64,
}
"""Bits of integer types on 64-bit Unix."""

_WORD = re.compile(r"[A-Za-z_]\w*")
_KEYWORDS = frozenset(
    "self as mut ref usize u8 u16 u32 u64 i32 i64 isize let in if unsafe len unwrap".split()
)
_MAX_HOPS = 6
_MAX_TEXT = 2000
_NUMBERS = (
    (re.compile(r"\.parse(?:::<[^<>]*>)?\(\)|\bfrom_str_radix\("), "parsed text"),
    (
        re.compile(
            r"\bfrom_(?:be|le|ne)_bytes\b|\bread_[uif](?:8|16|32|64|128)\b"
            r"|\bget_[ui](?:16|32|64)(?:_le)?\("
        ),
        "decoded bytes",
    ),
)
NUMBER_TEXTS = (".parse", "from_str_radix", "e_bytes", "read_", "get_")
"""What the text of a function has one of that parses or decodes a number."""
_NUMBER_CALL = re.compile(
    rb"\.parse|from_str_radix|from_[bln]e_bytes|\b(?:read|get)_[uif](?:8|16|32|64|128)\b"
)
_SOURCES = (
    (re.compile(r"\benv::args(?:_os)?\b|\bargs\(\)|\bargs_os\(\)"), "the command line"),
    (re.compile(r"\benv::vars?(?:_os)?\b"), "the environment"),
    (
        re.compile(r"\bread_line\b|\bstdin\(\)|\bread_to_string\b|\bread_to_end\b|\.lines\(\)"),
        "a stream or file",
    ),
    (re.compile(r"\brecv(?:_from)?\(|\bpeek\("), "the network"),
    (
        re.compile(r"\.(?:query_string|query|path_info|param|params|cookie|headers?|form|body)\("),
        "a request",
    ),
    *_NUMBERS,
)
_EXTRACTORS = re.compile(r"^(?:web::|axum::|extract::)?(?:Query|Path|Form|Json)<")
_READERS = frozenset(
    {
        "read_line",
        "read_to_string",
        "read_to_end",
        "read",
        "read_exact",
        "recv",
        "recv_from",
        "peek",
    }
)
_METHOD_TYPES = {
    "len": "usize",
    "count": "usize",
    "capacity": "usize",
    "to_string": "String",
    "to_vec": "Vec",
    "as_str": "&str",
    "as_bytes": "&[u8]",
    "as_ptr": "*const",
    "as_mut_ptr": "*mut",
    "is_empty": "bool",
    "format": "String",
}


def literal_text(node: Node | None) -> str | None:
    """Return the contents of a string or byte string literal; None for others."""
    if node is None or node.type not in ("string_literal", "raw_string_literal"):
        return None
    return "".join(text(c) for c in node.named_children)


def peel_reference(node: Node | None) -> Node | None:
    """`node` without `&` in front."""
    if node is not None and node.type == "reference_expression":
        return field(node, "value")
    return node


def is_literal(node: Node | None, function: Function | None, unit: Unit) -> bool:
    """Return whether an expression is a literal or an immutable name of a literal."""
    node = peel(node)
    for _ in range(_MAX_HOPS):
        if node is None:
            return False
        if node.type.endswith("_literal"):
            return True
        if node.type == "call_expression" and called_name(node) in (
            "to_string",
            "to_owned",
            "into",
            "as_str",
            "as_bytes",
            "to_vec",
            "as_ref",
            "from",
        ):
            node = peel(receiver_of(node) or next(iter(arguments(node)), None))
            continue
        if node.type == "macro_invocation":
            return macro_name(node) in (
                "concat",
                "env",
                "include_str",
                "include_bytes",
                "file",
                "stringify",
            )
        if node.type == "match_expression":
            return _gives_literals(node)
        if node.type == "scoped_identifier":
            return text(field(node, "name")).isupper()
        if node.type != "identifier":
            return False
        name = text(node)
        variable = function.variable(name, node.start_byte) if function is not None else None
        if variable is None:
            return name in unit.facts.macros or name.isupper()
        if variable.initial is None or _is_mutable(variable.node):
            return False
        node = peel(variable.initial)
    return False


def _gives_literals(match: Node) -> bool:
    """Return whether every arm of a `match` gives a literal or leaves."""
    body = field(match, "body")
    arms = body.named_children[:64] if body is not None else []
    values = [field(arm, "value") for arm in arms if arm.type == "match_arm"]
    return bool(values) and all(
        value is not None
        and (
            value.type.endswith("_literal")
            or value.type in ("return_expression", "macro_invocation")
        )
        for value in values
    )


def integer(node: Node | None, function: Function | None, unit: Unit) -> int | None:
    """Return the value of an integer expression that is a literal or a name for one, or None."""
    node = peel(node)
    if node is None:
        return None
    if node.type == "integer_literal":
        return integer_text(text(node))
    if node.type == "unary_expression" and text(node).startswith("-"):
        value = integer(node.named_children[0], function, unit)
        return None if value is None else -value
    if node.type != "identifier":
        return None
    name = text(node)
    variable = function.variable(name, node.start_byte) if function is not None else None
    if variable is None:
        return integer_text(unit.facts.macros.get(name, ""))
    if variable.initial is None or function is None or _is_mutable(variable.node):
        return None
    value_node = peel(variable.initial)
    return integer_text(text(value_node)) if value_node is not None else None


def largest(node: Node | None, function: Function | None, unit: Unit) -> int | None:
    """Return the largest value of an integer expression: of a constant, or of the name that a `for`
    loop over a range of constants binds; None when it is not known.
    """
    known = integer(node, function, unit)
    node = peel(node)
    if known is not None or node is None or node.type != "identifier" or function is None:
        return known
    variable = function.variable(text(node), node.start_byte)
    loop = variable.node.parent if variable is not None else None
    if loop is None or loop.type != "for_expression":
        return None
    span = field(loop, "value")
    if span is None or span.type != "range_expression" or len(span.named_children) != 2:
        return None
    end = integer(span.named_children[1], function, unit)
    inclusive = any(child.type == "..=" for child in span.children)
    return end if inclusive or end is None else end - 1


def integer_text(written: str) -> int | None:
    """Return an integer literal of Rust as text to its value: `0o777`, `1_000u32`; or None."""
    match = re.fullmatch(
        r"(0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*)"
        r"(?:[iu](?:8|16|32|64|128|size))?",
        written.strip(),
    )
    if match is None:
        return None
    digits = match[1].replace("_", "")
    return int(digits, {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2], 10))


def type_of(node: Node | None, function: Function | None, unit: Unit) -> str:
    """Return the declared or visible type of an expression; empty when not known."""
    return _type_of(node, function, unit, _MAX_HOPS)


def words_in(node: Node | None) -> set[str]:
    """Return the names in an expression that may carry its value."""
    return set(_WORD.findall(text(node)[:_MAX_TEXT])) - _KEYWORDS


def array_length(node: Node | None, function: Function | None, unit: Unit) -> int | None:
    """Return the number of elements of a named array, where its declaration has it."""
    node = peel(node)
    if node is None:
        return None
    declared = type_of(node, function, unit)
    match = re.search(r"\[[^\[\];]*;\s*(\w+)\s*\]$", declared)
    if match:
        known = integer_text(match[1])
        return known if known is not None else integer_text(unit.facts.macros.get(match[1], ""))
    if node.type != "identifier" or function is None:
        return None
    variable = function.variable(text(node), node.start_byte)
    initial = variable.initial if variable is not None else None
    if initial is not None and initial.type == "macro_invocation" and macro_name(initial) == "vec":
        grows = not _GROWS.isdisjoint(callee_names(function))
        return None if grows else _elements(macro_tokens(initial), function, unit)
    if initial is None or initial.type != "array_expression":
        return None
    if any(child.type == ";" for child in initial.children):
        return integer(initial.named_children[-1], function, unit)
    return sum("comment" not in child.type for child in initial.named_children)


_GROWS = frozenset(
    "push extend resize insert append extend_from_slice truncate clear pop remove set_len "
    "drain".split()
)


def _elements(tokens: Node | None, function: Function, unit: Unit) -> int | None:
    """Return the number of elements of `vec![x; n]` or of a plain `vec![1, 2, 3]`."""
    if tokens is None:
        return None
    inner = tokens.children[1:-1]
    repeat = next((i for i, child in enumerate(inner) if child.type == ";"), None)
    if repeat is not None:
        count = inner[repeat + 1 :]
        return integer(count[0], function, unit) if len(count) == 1 else None
    if any(child.type not in (",", "integer_literal", "string_literal") for child in inner):
        return None
    return sum(child.is_named for child in inner)


def origin(node: Node | None, function: Function | None) -> str:
    """Return the taint source of an expression in words; empty for none.

    Names are followed to their `let`; buffers filled by reading are tainted.
    """
    return _origin(node, function, _SOURCES, filled=True)


def number_origin(node: Node | None, function: Function | None) -> str:
    """Return the taint source of a number: parsed text or decoded bytes.

    A count that a read returns is not one of them: it is bounded by the buffer.
    """
    return _origin(node, function, _NUMBERS, filled=False)


def input_numbers(function: Function) -> list[Variable]:
    """Return the variables that are initialised with parsed text or decoded bytes."""
    if not _NUMBER_CALL.search(function.node.text or b""):
        return []
    return [
        variable
        for variables in function.variables.values()
        for variable in variables
        if variable.initial is not None
        and any(pattern.search(text(variable.initial)[:_MAX_TEXT]) for pattern, _ in _NUMBERS)
    ]


def _origin(
    node: Node | None,
    function: Function | None,
    sources: tuple[tuple[re.Pattern[str], str], ...],
    *,
    filled: bool,
) -> str:
    if node is None:
        return ""
    seen: set[str] = set()
    pending = [node]
    for _ in range(24):
        if not pending:
            return ""
        current = pending.pop(0)
        written = text(current)[:_MAX_TEXT]
        for pattern, words in sources:
            if pattern.search(written):
                return words
        if function is None:
            continue
        for name in sorted(set(_WORD.findall(written)) - _KEYWORDS - seen)[:16]:
            seen.add(name)
            variable = function.variable(name, current.start_byte)
            if variable is None:
                continue
            if filled and variable.is_parameter and _EXTRACTORS.match(variable.type):
                return "a request"
            if filled and _is_filled(function, name, node.start_byte):
                return "a stream or file"
            source = (
                variable.initial if variable.initial is not None else _matched_value(variable.node)
            )
            if source is not None:
                pending.append(source)
    return ""


def _matched_value(name: Node) -> Node | None:
    """Return the value that a pattern destructures: `x` of `if let Some(n) = x`, the range of a
    `for`, the value of a `match`.
    """
    below = name
    for outer in ancestors(name):
        if outer.type in ("let_declaration", "let_condition", "for_expression"):
            value = field(outer, "value")
            return value if value is not None and value != below else None
        if outer.type == "match_arm":
            matched = outer.parent.parent if outer.parent is not None else None
            return field(matched, "value")
        if outer.type in ("block", "closure_expression", "function_item"):
            return None
        below = outer
    return None


def _is_filled(function: Function, name: str, before: int) -> bool:
    """Return whether `&mut name` is passed to a reading method before."""
    for use in function.uses(name, 0, before)[:64]:
        parent = use.parent
        if parent is None or parent.type != "reference_expression":
            continue
        outer_node = parent.parent
        call = (
            outer_node.parent if outer_node is not None and outer_node.type == "arguments" else None
        )
        if call is not None and called_name(call) in _READERS:
            return True
    return False


def _type_of(node: Node | None, function: Function | None, unit: Unit, fuel: int) -> str:
    if node is None or fuel <= 0:
        return ""
    kind = node.type
    if kind in ("parenthesized_expression", "try_expression") and node.named_child_count:
        return _type_of(node.named_children[0], function, unit, fuel - 1)
    if kind == "type_cast_expression":
        return text(field(node, "type"))
    if kind == "integer_literal":
        suffix = re.search(r"[iu](?:8|16|32|64|128|size)$", text(node))
        return suffix[0] if suffix else ""
    if kind == "string_literal" or kind == "raw_string_literal":
        return "&[u8]" if text(node).startswith("b") else "&str"
    if kind == "reference_expression":
        inner = _type_of(field(node, "value"), function, unit, fuel - 1)
        mutable = "mut " if any(c.type == "mutable_specifier" for c in node.children) else ""
        return f"&{mutable}{inner}" if inner else ""
    if kind == "macro_invocation":
        return {"vec": "Vec", "format": "String"}.get(macro_name(node), "")
    if kind == "struct_expression":
        return text(field(node, "name"))
    if kind == "field_expression":
        known = set(unit.facts.fields.get(text(field(node, "field")), ()))
        return known.pop().type if len(known) == 1 else ""
    if kind == "call_expression":
        return _type_of_call(node, unit)
    if kind == "self":
        return _type_of_self(function)
    if kind != "identifier":
        return ""
    variable = function.variable(text(node), node.start_byte) if function is not None else None
    if variable is None:
        declared = unit.facts.variables.get(text(node))
        return declared.type if declared is not None else ""
    if variable.type:
        return variable.type
    return _type_of(variable.initial, function, unit, fuel - 1)


def _type_of_self(function: Function | None) -> str:
    parameters = field(function.node, "parameters") if function is not None else None
    first = parameters.named_children[0] if parameters and parameters.named_child_count else None
    if first is None or first.type != "self_parameter":
        return ""
    return text(first).removesuffix("self") + "Self"


def _type_of_call(node: Node, unit: Unit) -> str:
    name = called_name(node)
    callee = field(node, "function")
    if callee is not None and callee.type == "field_expression":
        return _METHOD_TYPES.get(name, "")
    written = strip_generics(text(callee))
    owner, _, last = written.rpartition("::")
    if name in ("size_of", "size_of_val", "align_of"):
        return "usize"
    if owner and last in ("new", "with_capacity", "from", "default", "from_raw"):
        return owner.rpartition("::")[2]
    declared = unit.facts.functions.get(name) if not owner else None
    return declared.type if declared is not None else ""


def _is_mutable(name: Node) -> bool:
    holder = name.parent
    return holder is not None and (
        holder.type == "mut_pattern" or any(c.type == "mutable_specifier" for c in holder.children)
    )
