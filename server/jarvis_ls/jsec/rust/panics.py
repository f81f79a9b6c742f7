"""What can make an `unwrap` or `expect` panic, told from what it is called on.

Calls inside macros (`println!("{}", x.unwrap())`) are tokens and no nodes; both are seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from jarvis_ls.codeintel.code import Function, Unit, ancestors, called_name, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rust.guards import tests_before
from jarvis_ls.jsec.rust.shapes import arguments, chain, peel, receiver_of
from jarvis_ls.jsec.rust.values import is_literal

UNWRAPS = """
(call_expression function: (field_expression field: (field_identifier) @site)
 (#any-of? @site "unwrap" "expect"))
(token_tree (identifier) @site (#any-of? @site "unwrap" "expect"))
"""
"""Names of `unwrap` and `expect` in calls and among the tokens of macros."""

PANIC_MACROS = frozenset({"panic", "unreachable", "todo", "unimplemented", "assert", "assert_eq",
                          "assert_ne"})  # fmt: skip

Kind = Literal["external", "lock", "plain"]

_LOCKS = frozenset({"lock", "read", "write", "join", "wait", "wait_while", "wait_timeout",
                    "into_inner", "get_mut", "try_borrow", "try_borrow_mut", "borrow",
                    "take_lock"})  # fmt: skip
_EXTERNAL = {
    "parse": "parsing text", "from_str": "parsing text", "from_str_radix": "parsing text",
    "from_utf8": "decoding bytes", "from_utf16": "decoding bytes", "to_str": "decoding bytes",
    "into_string": "decoding bytes", "from_slice": "parsing bytes", "from_reader": "parsing input",
    "deserialize": "parsing input", "decode": "decoding input", "from_hex": "decoding input",
    "read_line": "reading", "read_to_string": "reading", "read_to_end": "reading",
    "read_exact": "reading", "read_until": "reading", "recv_from": "receiving",
    "open": "opening a file", "create": "creating a file", "create_dir_all": "creating a folder",
    "create_dir": "creating a folder", "canonicalize": "resolving a path",
    "metadata": "asking for a file", "read_dir": "listing a folder", "read_link": "reading a link",
    "var": "reading the environment", "connect": "connecting", "accept": "accepting",
    "bind": "binding a socket", "write_all": "writing", "flush": "writing", "output": "a command",
    "spawn": "starting a process", "query_row": "a query", "json": "decoding a response",
}  # fmt: skip
_ARGS = frozenset({"nth", "next", "get", "last"})
_TESTS = ("is_some", "is_ok", "is_none", "is_err", "contains_key", "contains", "is_empty", "len",
          "Some", "Ok", "is_some_and", "starts_with", "peek", "is_match", "is_char_boundary",
          "ends_with", "all", "any")  # fmt: skip
_MAX_SHOWN = 60
_WORD = re.compile(r"[A-Za-z_]\w*")
_ARGS_SOURCE = re.compile(r"\bargs(?:_os)?\(\)|\benv::args|\.lines\(\)|\.split\w*\(|\bargv?\b")


@dataclass(frozen=True, slots=True)
class Unwrap:
    """One `unwrap` or `expect`."""

    name: str
    """`unwrap` or `expect`."""
    place: tuple[int, int]
    """Bytes to report: from the name to the end of the call."""
    call: Node | None
    """The call, unless it lies among the tokens of a macro."""
    value: str
    """Text of what it is called on, at most 60 characters."""
    kind: Kind
    """Whether it fails by what comes from outside, by a poisoned lock, or otherwise."""
    doing: str
    """Words for what fails, when it is `external`."""


def unwrap_at(name: Node, function: Function | None, unit: Unit) -> Unwrap | None:
    """What is unwrapped at the name `unwrap` or `expect`.

    None when it is no such call, cannot fail (literals, or a test of the same value stands
    before it), lies in a macro's definition, or is only run by tests.
    """
    in_tokens = name.type == "identifier"
    receiver = _tokens_before(name) if in_tokens else None
    if in_tokens and receiver is None:
        return None
    call = None if in_tokens else name.parent.parent if name.parent is not None else None
    value_node = receiver_of(call) if call is not None else None
    value = receiver if receiver is not None else text(value_node)
    if not _is_result_unwrap(name, call):
        return None
    if value_node is not None and _cannot_fail(value_node, function, unit):
        return None
    if _tested(value, function, name.start_byte) or _is_ignored(name):
        return None
    called = called_name(value_node) if value_node is not None and (
        value_node.type == "call_expression"
    ) else _last_called(value)  # fmt: skip
    has_arguments = not value.endswith("()")
    kind, doing = _kind(called, value, has_arguments)
    place = (name.start_byte, call.end_byte if call is not None else name.end_byte)
    return Unwrap(text(name), place, call, _shown(value), kind, doing)


def _shown(value: str) -> str:
    words = " ".join(value[-200:].split())
    return words if len(words) <= _MAX_SHOWN else "…" + words[-_MAX_SHOWN:]


def _is_result_unwrap(name: Node, call: Node | None) -> bool:
    """`unwrap()` takes nothing and `expect` one message; others of that name are other things."""
    count = len(arguments(call)) if call is not None else None
    if call is None:
        tokens = name.next_sibling
        count = 0 if tokens is not None and tokens.text == b"()" else 1
        if tokens is None or tokens.type != "token_tree":
            return False
    return count == (0 if text(name) == "unwrap" else 1)


def _kind(called: str, value: str, has_arguments: bool) -> tuple[Kind, str]:
    if called in _LOCKS and not has_arguments:
        return "lock", ""
    if called in _EXTERNAL and not (called == "decode" and not has_arguments):
        return "external", _EXTERNAL[called]
    if called in _ARGS and _ARGS_SOURCE.search(value[-200:]):
        return "external", "taking an argument"
    if called == "recv" or (called in ("from_str", "from_slice") and "serde" in value):
        return "external", "receiving"
    return "plain", ""


def _cannot_fail(value: Node, function: Function | None, unit: Unit) -> bool:
    """Whether the value is made from literals only, so that the first run shows any mistake."""
    made = peel(value)
    if made is None:
        return False
    roots = list(chain(made))
    first = roots[-1]
    if len(roots) == 1 and first.type == "macro_invocation":
        return text(first).startswith(("write!", "writeln!", "env!", "option_env!"))
    if first.type == "call_expression":
        if not arguments(first) and len(roots) == 1:
            return False
    elif not is_literal(first, function, unit):
        return False
    return all(
        is_literal(argument, function, unit) or argument.type == "closure_expression"
        for node in roots[:8]
        if node.type == "call_expression"
        for argument in arguments(node)
    ) and (first.type != "call_expression" or bool(arguments(first)))


def _tested(value: str, function: Function | None, at: int) -> bool:
    """Whether a test of the same value, such as `is_some`, stands before byte `at`."""
    words = set(_WORD.findall(value[:200]))
    words -= {"self", "unwrap", "as_ref", "as_mut", "as_deref", "clone", "get", "next", "first",
              "last", "take", "pop", "iter", "find", "mut", "chars"}  # fmt: skip
    if not words:
        return False
    return any(
        words & test.words and any(word in test.words for word in _TESTS)
        for test in tests_before(function, at)
    )


def _is_ignored(name: Node) -> bool:
    """In code only tests run, in a `const` or `static`, or in a macro's definition."""
    for outer in ancestors(name):
        if outer.type in ("macro_definition", "const_item"):
            return True
        if outer.type == "macro_invocation" and "lazy" in text(outer.named_children[0]):
            return True
    return in_test(name)


def _tokens_before(name: Node) -> str | None:
    """Text of the tokens that a name among tokens is called on; None when it is no method."""
    dot = name.prev_sibling
    if dot is None or dot.type != ".":
        return None
    start = dot
    sibling = dot.prev_sibling
    for _ in range(48):
        if sibling is None or sibling.text in _SEPARATORS:
            break
        start = sibling
        sibling = sibling.prev_sibling
    holder = name.parent
    if holder is None or start is dot:
        return None
    offset = holder.start_byte
    whole = holder.text or b""
    return whole[start.start_byte - offset : dot.start_byte - offset].decode("utf-8", "replace")


_SEPARATORS = frozenset({b",", b";", b"=", b"=>", b"(", b"{", b"[", b"==", b"&&", b"||", b"+",
                         b"!", b"in", b"let", b"return", b">", b"<"})  # fmt: skip


def _last_called(value: str) -> str:
    """Name of the last call in the text of a method chain."""
    depth = 0
    for index in range(len(value) - 1, max(-1, len(value) - 400), -1):
        character = value[index]
        if character == ")":
            depth += 1
        elif character == "(":
            depth -= 1
            if depth == 0:
                match = re.search(r"(\w+)(?:::<[^()]*>)?$", value[max(0, index - 80) : index])
                return match[1] if match else ""
    return ""
