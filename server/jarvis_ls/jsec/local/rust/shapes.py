"""Syntax of Rust that rules match: paths with their imports, chains of method calls, macros and
signatures of functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import attributes, modifiers
from jarvis_ls.codeintel.functions import Call, Function, Unit
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function

_MAX_CHAIN = 64
_MAX_TEXT = 2000


def path_of(written: str, unit: Unit) -> str:
    """Return a path with the import of its first name resolved.

    `Command::new` is `std::process::Command::new` after `use std::process::Command`. Generic
    arguments are left out.
    """
    plain = strip_generics(written)
    first, separator, rest = plain.partition("::")
    known = unit.facts.types.get(first)
    if known is None or not known.type or not re.fullmatch(r"\w+(?:::\w+)*", known.type):
        return plain
    if known.type in ("struct", "enum", "union"):
        return plain
    return known.type + separator + rest


def strip_generics(written: str) -> str:
    """Return a path or type without generic arguments: `Vec::<u8>::new` is `Vec::new`."""
    if "<" not in written:
        return written
    kept, depth, last = [], 0, ""
    for character in written[:_MAX_TEXT]:
        if character == "<":
            depth += 1
        elif character == ">" and last != "-":
            depth -= 1
        elif depth == 0:
            kept.append(character)
        last = character
    return re.sub(r"::(?:::)+", "::", "".join(kept)).removesuffix("::")


def call_path(call: Call) -> str:
    """Return the path of a called free or associated function, with its import resolved."""
    return path_of(call.written, call.unit)


def is_qualified(node: Node) -> bool:
    """Return whether the call is of a macro, a method, or a function by a path."""
    callee = field(node, "function")
    return callee is None or callee.type in ("scoped_identifier", "field_expression")


def receiver_of(node: Node) -> Node | None:
    """Return the receiver of a method call; None for other calls and expressions."""
    callee = field(node, "function")
    if callee is not None and callee.type == "generic_function":
        callee = field(callee, "function")
    return field(callee, "value") if callee is not None else None


def chain(node: Node | None) -> Iterator[Node]:
    """Yield the calls of a method chain from `node` inwards: for `a.b().c()?` the call of `c`, then
    that of `b`, then `a`. Skips `?`, `.await`, references and parentheses.
    """
    for _ in range(_MAX_CHAIN):
        if node is None:
            return
        kind = node.type
        if kind in ("try_expression", "await_expression", "parenthesized_expression"):
            node = node.named_children[0] if node.named_child_count else None
            continue
        if kind in ("reference_expression", "type_cast_expression"):
            node = field(node, "value")
            continue
        yield node
        if kind == "call_expression":
            node = receiver_of(node)
        elif kind in ("field_expression", "index_expression"):
            inner = field(node, "value")
            node = inner if inner is not None else node.named_children[0]
        else:
            return


def outwards(node: Node) -> Iterator[Node]:
    """Yield the calls of a method chain outwards: for `a` in `a.b()?.c()` the call of `b`, then
    that of `c`.
    """
    for _ in range(_MAX_CHAIN):
        parent = node.parent
        if parent is None:
            return
        if parent.type in ("try_expression", "await_expression", "parenthesized_expression"):
            node = parent
            continue
        if parent.type == "generic_function":
            parent = parent.parent or parent
        if parent.type != "field_expression":
            return
        user = parent.parent
        if user is not None and user.type == "generic_function":
            user = user.parent
        if user is None or user.type != "call_expression":
            return
        yield user
        node = user


def peel(node: Node | None) -> Node | None:
    """Return `node` without parentheses, references, casts, `?`, `.await` and `unsafe`."""
    for _ in range(_MAX_CHAIN):
        if node is None:
            return None
        kind = node.type
        if kind in ("parenthesized_expression", "try_expression", "await_expression"):
            inner = node.named_children[0] if node.named_child_count else None
        elif kind in ("reference_expression", "type_cast_expression"):
            inner = field(node, "value")
        elif kind == "unsafe_block":
            block = node.named_children[-1] if node.named_child_count else None
            inner = block.named_children[0] if block and block.named_child_count == 1 else None
        else:
            return node
        if inner is None:
            return node
        node = inner
    return node


def arguments(node: Node) -> list[Node]:
    """Return the arguments of a call expression, without comments."""
    found = field(node, "arguments")
    children = found.named_children if found is not None else []
    return [child for child in children if "comment" not in child.type]


@once_per_function
def callee_names(function: Function) -> frozenset[str]:
    """Return the last names of all callees of a function, and the types of associated ones
    (`ManuallyDrop` and `new` for `ManuallyDrop::new`).
    """
    names: set[str] = set()
    for call in function.calls:
        names.add(call.name)
        if "::" in call.written:
            names.update(strip_generics(call.written).split("::")[-2:])
    return frozenset(names)


def is_dereferenced(use: Node) -> bool:
    """Return whether a name is dereferenced by `*`, in an expression or the tokens of a macro."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type == "unary_expression":
        return parent.children[0].type == "*"
    if parent.type != "token_tree":
        return False
    star = use.prev_sibling
    if star is None or star.text != b"*":
        return False
    before = star.prev_sibling
    return before is None or not before.is_named


def call_place(node: Node) -> tuple[int, int]:
    """Return the bytes to report for a call: from the name of a method in a multi-line chain."""
    callee = field(node, "function")
    if callee is not None and callee.type == "generic_function":
        callee = field(callee, "function")
    name = field(callee, "field")
    if name is None or name.start_point[0] == node.start_point[0]:
        return node.start_byte, node.end_byte
    return name.start_byte, node.end_byte


def macro_name(node: Node) -> str:
    """Return the last name of the macro of a `macro_invocation`."""
    return text(field(node, "macro")).rpartition("::")[2]


def macro_tokens(node: Node) -> Node | None:
    """Return the token tree of a macro invocation."""
    return next((c for c in node.named_children if c.type == "token_tree"), None)


def return_type(function: Function | None) -> str:
    """Return the return type as written; empty for none."""
    return "" if function is None else text(field(function.node, "return_type"))


def is_exported(function: Function) -> bool:
    """Return whether C code may call the function: `extern "C"` (or another C-like ABI)."""
    words = modifiers(function.node)
    return "extern" in words and '"Rust"' not in words


def is_public(function: Function) -> bool:
    """Return whether the function is declared `pub` (not `pub(crate)`)."""
    return any(c.type == "visibility_modifier" and c.text == b"pub" for c in function.node.children)


def holds(function: Function, *words: bytes) -> bool:
    """Return whether the text of a function has any of `words`, as a cheap prefilter."""
    data = function.unit.source.data
    for word in words:  # noqa: SIM110 - it is asked of every function: a generator is dear
        if data.find(word, function.start, function.end) >= 0:
            return True
    return False


def is_entry(function: Function) -> bool:
    """Return whether C code can call the function by itself: exported, and public or `no_mangle`.

    Private `extern "C"` functions are callbacks: they get what was registered with them.
    """
    named = is_public(function) or any("no_mangle" in a for a in attributes(function.node))
    return named and is_exported(function)


def impl_of(node: Node) -> Node | None:
    """Return the `impl` around a node, or None."""
    return next((a for a in ancestors(node) if a.type == "impl_item"), None)


def statement_of(node: Node) -> Node:
    """Return the statement, or the tail expression of a block, that `node` is part of."""
    statement = node
    for outer in ancestors(node):
        if outer.type in ("block", "declaration_list", "source_file"):
            break
        statement = outer
    return statement


def is_last(node: Node) -> bool:
    """Return whether nothing but comments follows in the block."""
    following = node.next_named_sibling
    for _ in range(16):
        if following is None or "comment" not in following.type:
            break
        following = following.next_named_sibling
    return following is None
