"""Why an `unwrap` or `expect` may panic, by the receiver of the call.

Calls inside macros (`println!("{}", x.unwrap())`) are tokens, not nodes; both are found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.rust.guards import tests_before
from jarvis_ls.jsec.local.rust.shapes import arguments, chain, peel, receiver_of
from jarvis_ls.jsec.local.rust.values import is_literal

UNWRAPS = """
(call_expression function: (field_expression field: (field_identifier) @site)
 (#any-of? @site "unwrap" "expect"))
(token_tree (identifier) @site (#any-of? @site "unwrap" "expect"))
"""
"""Names of `unwrap` and `expect` in calls and among the tokens of macros."""

PANIC_MACROS = frozenset(
    {"panic", "unreachable", "todo", "unimplemented", "assert", "assert_eq", "assert_ne"}
)

Kind = Literal["external", "lock", "plain"]

_LOCKS = frozenset(
    "lock read write join wait wait_while wait_timeout into_inner get_mut try_borrow "
    "try_borrow_mut borrow take_lock".split()
)
_EXTERNAL = {
    "parse": "parsing text",
    "from_str": "parsing text",
    "from_str_radix": "parsing text",
    "from_utf8": "decoding bytes",
    "from_utf16": "decoding bytes",
    "to_str": "decoding bytes",
    "into_string": "decoding bytes",
    "from_slice": "parsing bytes",
    "from_reader": "parsing input",
    "deserialize": "parsing input",
    "decode": "decoding input",
    "from_hex": "decoding input",
    "read_line": "reading input",
    "read_to_string": "reading input",
    "read_to_end": "reading input",
    "read_exact": "reading input",
    "read_until": "reading input",
    "recv_from": "receiving data",
    "open": "opening a file",
    "create": "creating a file",
    "create_dir_all": "creating a directory",
    "create_dir": "creating a directory",
    "canonicalize": "resolving a path",
    "metadata": "reading file metadata",
    "read_dir": "listing a directory",
    "read_link": "reading a symbolic link",
    "var": "reading an environment variable",
    "connect": "connecting to a peer",
    "accept": "accepting a connection",
    "bind": "binding a socket",
    "write_all": "writing output",
    "flush": "writing output",
    "output": "running a command",
    "spawn": "starting a process",
    "query_row": "running a query",
    "json": "decoding a response",
}
_ARGS = frozenset({"nth", "next", "get", "last"})
_TESTS = tuple(
    "is_some is_ok is_none is_err contains_key contains is_empty len Some Ok is_some_and "
    "starts_with peek is_match is_char_boundary ends_with all any".split()
)
_HOLDERS = frozenset({"impl_item", "mod_item"})
_MAX_SHOWN = 60
_WORD = re.compile(r"[A-Za-z_]\w*")
_ARGS_SOURCE = re.compile(r"\bargs(?:_os)?\(\)|\benv::args|\.lines\(\)|\.split\w*\(|\bargv?\b")


@dataclass(frozen=True, slots=True)
class Unwrap:
    """A call of `unwrap` or `expect`."""

    name: str
    """`unwrap` or `expect`."""
    place: tuple[int, int]
    """Bytes to report: from the name to the end of the call."""
    call: Node | None
    """The call, unless it is among the tokens of a macro."""
    value: str
    """Text of its receiver, at most 60 characters."""
    kind: Kind
    """Whether it fails by untrusted input, by a poisoned lock, or otherwise."""
    doing: str
    """The operation that fails, when it is `external`."""


def unwrap_at(name: Node, function: Function | None, unit: Unit, *kinds: Kind) -> Unwrap | None:
    """Return the call at the name `unwrap` or `expect`, when it is one of these kinds.

    None when it is no such call, cannot fail (a literal, or a value that is checked before), is
    in a macro's definition, or is only run by tests.
    """
    in_tokens = name.type == "identifier"
    receiver = _tokens_before(name) if in_tokens else None
    if in_tokens and receiver is None:
        return None
    call = None if in_tokens else name.parent.parent if name.parent is not None else None
    value_node = receiver_of(call) if call is not None else None
    value = receiver if receiver is not None else text(value_node)
    called = (
        called_name(value_node)
        if value_node is not None and (value_node.type == "call_expression")
        else _last_called(value)
    )
    has_arguments = not value.endswith("()")
    kind, doing = _kind(called, value, has_arguments)
    if kind not in kinds or not _is_result_unwrap(name, call):
        return None
    if value_node is not None and _cannot_fail(value_node, function, unit):
        return None
    if _is_tested(value, function, name.start_byte) or _is_ignored(name, function):
        return None
    place = (name.start_byte, call.end_byte if call is not None else name.end_byte)
    return Unwrap(text(name), place, call, _excerpt(value), kind, doing)


def _excerpt(value: str) -> str:
    words = " ".join(value[-200:].split())
    return words if len(words) <= _MAX_SHOWN else "…" + words[-_MAX_SHOWN:]


def _is_result_unwrap(name: Node, call: Node | None) -> bool:
    """Return whether `unwrap` has no argument and `expect` only its message."""
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
        return "external", "reading a command line argument"
    if called == "recv" or (called in ("from_str", "from_slice") and "serde" in value):
        return "external", "receiving data"
    return "plain", ""


def _cannot_fail(value: Node, function: Function | None, unit: Unit) -> bool:
    """Return whether the value depends on literals only, so that it fails always or never."""
    core = peel(value)
    if core is None:
        return False
    if _is_fixed_part(core) or text(core) in ("CString::new(Vec::new())", "CString::default()"):
        return True
    roots = list(chain(core))
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


def _is_fixed_part(value: Node) -> bool:
    """Return whether it is the conversion of a part of constant size to an array: the type says
    that size, and a wrong one would fail with the first call."""
    if value.type != "call_expression" or called_name(value) != "try_into":
        return False
    part = peel(receiver_of(value))
    if part is None or part.type != "index_expression":
        return False
    bounds = part.named_children[-1]
    return bounds.type == "range_expression" and all(
        end.type == "integer_literal" or text(end).isupper() for end in bounds.named_children
    )


def _is_tested(value: str, function: Function | None, at: int) -> bool:
    """Return whether the same value is checked, as with `is_some`, before byte `at`."""
    words = set(_WORD.findall(value[:200]))
    words -= {
        "self",
        "unwrap",
        "as_ref",
        "as_mut",
        "as_deref",
        "clone",
        "get",
        "next",
        "first",
        "last",
        "take",
        "pop",
        "iter",
        "find",
        "mut",
        "chars",
    }
    if not words:
        return False
    return any(
        words & test.words and any(word in test.words for word in _TESTS)
        for test in tests_before(function, at)
    )


def _is_ignored(name: Node, function: Function | None) -> bool:
    """Return whether it is in test code, in a `const` or `static`, or in a macro's definition."""
    around = list(ancestors(name, None if function is None else function.node))
    if any(_is_left_out(outer) for outer in around):
        return True
    if function is not None and _is_function_ignored(function):
        return True
    is_own = function is not None and all(outer.type not in _HOLDERS for outer in around)
    return not is_own and in_test(name)


def _is_left_out(outer: Node) -> bool:
    kind = outer.type
    return kind in ("macro_definition", "const_item") or (
        kind == "macro_invocation" and "lazy" in text(outer.named_children[0])
    )


@once_per_function
def _is_function_ignored(function: Function) -> bool:
    return in_test(function.node) or any(_is_left_out(outer) for outer in ancestors(function.node))


def _tokens_before(name: Node) -> str | None:
    """Return the text of the receiver of a method among tokens; None when it is no method."""
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


_SEPARATORS = frozenset(
    {
        b",",
        b";",
        b"=",
        b"=>",
        b"(",
        b"{",
        b"[",
        b"==",
        b"&&",
        b"||",
        b"+",
        b"!",
        b"in",
        b"let",
        b"return",
        b">",
        b"<",
    }
)


def _last_called(value: str) -> str:
    """Return the name of the last call in the text of a method chain."""
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
