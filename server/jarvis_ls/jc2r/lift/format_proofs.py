"""Calls that print, sound for every caller: the format is written there, and what it asks for are
numbers of these types, or texts that are written there, too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of

STREAMS = frozenset({"sys::stdin", "sys::stdout", "sys::stderr"})
_CONVERSION = re.compile(r"%[-+ #0']*\d*(?:\.\d*)?(hh|h|ll|l|j|z|t)?([a-zA-Z%])")
_WORDS = {"i32", "u32"}
_LONG = {"i64", "u64", "isize", "usize"}
_PLACES = {"printf": (-1, 0), "fprintf": (0, 1), "puts": (-1, 0), "perror": (-1, 0)}
"""For each function where the stream and where the text is."""
_PLACES |= {"fputs": (1, 0), "fputc": (1, -1), "putc": (1, -1), "fflush": (0, -1)}
_FORMATS = frozenset({"printf", "fprintf"})
_CLOSING = frozenset({"sys::fclose", "sys::freopen", "sys::fcloseall"})
_AROUND = ("block", "unsafe_block", "parenthesized_expression", "type_cast_expression")
_HIDDEN = re.compile(r"\\x25|\\u")
"""A percent sign, as an escape."""
_SUFFIX = re.compile(r"-?[\d_.]+([iuf]\d+|[iu]size)\Z")
_SAME = re.compile(r"\.(?:wrapping_\w+|rotate_\w+|abs|min|max)\Z")


def proof_of_printing(source: Source, call: Node, name: str) -> str:
    """Return why a call of `sys::name` prints whatever its arguments are; empty when it may do
    more, or it is no such function."""
    if name not in _PLACES:
        return ""
    stream, text = _PLACES[name]
    given = arguments_of(call)
    if max(stream, text) >= len(given):
        return ""
    if stream >= 0 and _flat(source, given[stream]) not in STREAMS:
        return ""
    said = None if text < 0 else text_of(source, given[text])
    if text >= 0 and said is None:
        return ""
    if name in _FORMATS and not _are_right(source, said or "", given[text + 1 :]):
        return ""
    return f"`{name}` gets a stream that is always there" * (text < 0) or (
        f"`{name}` gets texts that end with a zero, and the numbers that its format names"
        if name in _FORMATS
        else f"`{name}` gets a text that ends with a zero"
    )


def text_of(source: Source, argument: Node) -> str | None:
    """Return the text between the quotes whose address an argument is; None when it is another
    value, or does not end with a zero."""
    node = bare(argument)
    while node is not None and node.type == "type_cast_expression":
        node = bare(field(node, "value"))
    method = None if node is None else field(node, "function")
    name = None if method is None else field(method, "field")
    value = None if method is None else bare(field(method, "value"))
    if name is None or value is None or source.text(name) != b"as_ptr":
        return None
    if value.type != "string_literal":
        return None
    text = source.text(value).decode("utf-8", "replace")
    if text.startswith('c"'):
        return text[2:-1]
    return text[2:-3] if text.startswith('b"') and text.endswith('\\0"') else None


def keeps_streams(sources: Iterable[Source]) -> bool:
    """Return whether nothing gives a standard stream another value or closes it: no name for it is
    there where anything is closed."""
    kept, named, closes = True, False, False
    for source in sources:
        for name in below(source.root, "scoped_identifier"):
            text = _flat(source, name)
            closes = closes or text in _CLOSING
            if text not in STREAMS:
                continue
            place = name
            while place.parent is not None and place.parent.type in _AROUND:
                place = place.parent
            around = place.parent
            if around is None or around.type == "reference_expression":
                kept = False
            elif around.type == "arguments" and around.parent is not None:
                called = field(around.parent, "function")
                kept = kept and (called is None or _flat(source, called) not in _CLOSING)
            elif around.type == "assignment_expression" and field(around, "left") == place:
                kept = False
            else:
                named = True
    return kept and not (named and closes)


def _are_right(source: Source, form: str, given: list[Node]) -> bool:
    wanted = _CONVERSION.findall(form)
    plain = _CONVERSION.sub("", form)
    asked = [(size, kind) for size, kind in wanted if kind != "%"]
    if "%" in plain or _HIDDEN.search(form) or len(asked) != len(given):
        return False
    return all(
        _is_right(source, size, kind, value)
        for (size, kind), value in zip(asked, given, strict=True)
    )


def _is_right(source: Source, size: str, kind: str, value: Node) -> bool:
    if kind == "s":
        return size == "" and text_of(source, value) is not None
    told = _type_of(source, value)
    if kind in "feEgGaA" and size in ("", "l"):
        return told == "f64"
    if kind in "diuoxXc":
        return told in (_WORDS if size in ("", "h", "hh") else _LONG) and (kind, size) != ("c", "l")
    return False


def _type_of(source: Source, value: Node | None) -> str:
    """Return the type of a number, as its text says it; empty when it does not."""
    node = bare(value)
    if node is None:
        return ""
    text = _flat(source, node)
    if node.type == "type_cast_expression":
        kind = field(node, "type")
        return "" if kind is None else _flat(source, kind)
    if suffix := _SUFFIX.match(text):
        return suffix[1]
    if node.type == "identifier":
        declared = declaration_of(source, node)
        kind = None if declared is None else field(declared, "type")
        plain = declared is not None and declared.type in ("let_declaration", "parameter")
        return _flat(source, kind) if kind is not None and plain else ""
    if node.type == "call_expression":
        method = field(node, "function")
        if method is not None and method.type == "field_expression":
            name = field(method, "field")
            same = name is not None and _SAME.match(f".{_flat(source, name)}")
            return _type_of(source, field(method, "value")) if same else ""
    if node.type == "unary_expression" and node.children[0].type == "-":
        return _type_of(source, first(node))
    return ""


def _flat(source: Source, node: Node) -> str:
    return " ".join(source.text(node).decode("utf-8", "replace").split())
