"""The shapes of Rust code that rules ask about: paths behind imports, chains of method calls,
macros, and what a function looks like from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, Unit, ancestors, field, text
from jarvis_ls.codeintel.extract.rust import attributes, modifiers
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.memo import once_per_function

_MAX_CHAIN = 64
_MAX_TEXT = 2000


def path_of(written: str, unit: Unit) -> str:
    """A path as written, with the import behind its first name put in.

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
    """A path or type without what stands in angle brackets: `Vec::<u8>::new` is `Vec::new`."""
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
    """The path a call of a free or associated function goes to, imports put in."""
    return path_of(call.written, call.unit)


def is_qualified(node: Node) -> bool:
    """Whether a macro is called, a method, or a function by a path."""
    callee = field(node, "function")
    return callee is None or callee.type in ("scoped_identifier", "field_expression")


def receiver_of(node: Node) -> Node | None:
    """What a method is called on; None for other calls and expressions."""
    callee = field(node, "function")
    if callee is not None and callee.type == "generic_function":
        callee = field(callee, "function")
    return field(callee, "value") if callee is not None else None


def chain(node: Node | None) -> Iterator[Node]:
    """The calls of a method chain from `node` inwards: for `a.b().c()?` the call of `c`, then
    that of `b`, then `a`. Looks through `?`, `.await`, references and parentheses."""
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
    """Calls that go on from `node` as their receiver: for `a` in `a.b()?.c()` the call of `b`,
    then that of `c`."""
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
    """`node` without parentheses, references, casts, `?`, `.await` and `unsafe` around it."""
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
    """Arguments of a call expression, comments left out."""
    held = field(node, "arguments")
    return [c for c in held.named_children if "comment" not in c.type] if held is not None else []


@once_per_function
def called_in(function: Function) -> frozenset[str]:
    """Last names of everything a function calls, and the types they are called on
    (`ManuallyDrop` and `new` for `ManuallyDrop::new`)."""
    names: set[str] = set()
    for call in function.calls:
        names.add(call.name)
        if "::" in call.written:
            names.update(strip_generics(call.written).split("::")[-2:])
    return frozenset(names)


def dereferenced(use: Node) -> bool:
    """Whether `*` stands before a name: in an expression, or among the tokens of a macro."""
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
    """Bytes to report for a call: of a method in a chain over several lines from its name on."""
    callee = field(node, "function")
    if callee is not None and callee.type == "generic_function":
        callee = field(callee, "function")
    name = field(callee, "field")
    if name is None or name.start_point[0] == node.start_point[0]:
        return node.start_byte, node.end_byte
    return name.start_byte, node.end_byte


def macro_name(node: Node) -> str:
    """Last name of the macro a `macro_invocation` uses."""
    return text(field(node, "macro")).rpartition("::")[2]


def macro_tokens(node: Node) -> Node | None:
    """The token tree of a macro invocation."""
    return next((c for c in node.named_children if c.type == "token_tree"), None)


def return_type(function: Function | None) -> str:
    """The return type as written; empty for none."""
    return "" if function is None else text(field(function.node, "return_type"))


def is_exported(function: Function) -> bool:
    """Whether C code may call the function: `extern "C"` (or another C-like ABI)."""
    words = modifiers(function.node)
    return "extern" in words and '"Rust"' not in words


def is_public(function: Function) -> bool:
    """Declared plainly `pub` (not `pub(crate)`)."""
    return any(c.type == "visibility_modifier" and c.text == b"pub" for c in function.node.children)


def holds(function: Function, *words: bytes) -> bool:
    """Whether the text of a function has one of `words`: a cheap look before a closer one."""
    written = function.node.text or b""
    return any(word in written for word in words)


def is_entry(function: Function) -> bool:
    """Whether C code can call the function by itself: exported, and public or `no_mangle`.

    Private `extern "C"` functions are callbacks: they get what was registered with them.
    """
    named = is_public(function) or any("no_mangle" in a for a in attributes(function.node))
    return named and is_exported(function)


def impl_of(node: Node) -> Node | None:
    """The `impl` around a node, or None."""
    return next((a for a in ancestors(node) if a.type == "impl_item"), None)


def statement_of(node: Node) -> Node:
    """The statement, or the tail expression of a block, that `node` is part of."""
    statement = node
    for outer in ancestors(node):
        if outer.type in ("block", "declaration_list", "source_file"):
            break
        statement = outer
    return statement


def is_last(node: Node) -> bool:
    """Whether nothing but comments follows in the block."""
    following = node.next_named_sibling
    for _ in range(16):
        if following is None or "comment" not in following.type:
            break
        following = following.next_named_sibling
    return following is None
