"""Calls that print, sound for every caller: the format is written there, and what it asks for are
numbers of these types, or texts that are written there, too."""

from __future__ import annotations

import re
from collections.abc import Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.expression_types import Declared, type_of
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, field, first
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of

_CONVERSION = re.compile(r"%[-+ #0']*(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t)?([a-zA-Z%])")
_WORDS = {"i32", "u32"}
_LONG = {"i64", "u64", "isize", "usize"}
_PLACES = {"printf": (-1, 0), "fprintf": (0, 1), "puts": (-1, 0), "perror": (-1, 0)}
"""For each function where the stream and where the text is."""
_PLACES |= {"fputs": (1, 0), "fputc": (1, -1), "putc": (1, -1), "fflush": (0, -1)}
_PLACES |= {"putchar": (-1, -1)}
_OWN = {"perror": "sys::stderr"}
"""Streams of functions that are given none; of the others it is the output."""
_READING = {
    **dict.fromkeys("strlen atoi atol atoll atof strchr strrchr".split(), (0,)),
    **dict.fromkeys("strcmp strcasecmp strncmp strncasecmp strstr strspn strcspn".split(), (0, 1)),
    "strpbrk": (0, 1),
}
"""Functions that only read texts, with the places of these; their other arguments are numbers."""
_FORMATS = frozenset({"printf", "fprintf"})
_SHOWN = ("&core::ffi::CStr", "&std::ffi::CStr", "&CStr")
_HIDDEN = re.compile(r"\\x25|\\u")
"""A percent sign, as an escape."""


def proof_of_printing(
    source: Source, call: Node, name: str, declared: Declared, streams: Set[str]
) -> str:
    """Return why a call of `sys::name` prints whatever its arguments are; empty when it may do
    more, or it is no such function. `streams` are those that are always there."""
    if name not in _PLACES:
        return ""
    stream, text = _PLACES[name]
    given = arguments_of(call)
    if max(stream, text) >= len(given):
        return ""
    own = _OWN.get(name, "sys::stdout")
    if (_stream(source, given[stream]) if stream >= 0 else own) not in streams:
        return ""
    said = None if text < 0 else text_of(source, given[text])
    if text >= 0 and not _is_text(source, given[text], declared):
        return ""
    if name in _FORMATS and said is None:
        return ""
    if name in _FORMATS and not _are_right(source, said or "", given[text + 1 :], declared):
        return ""
    return f"`{name}` gets a stream that is always there" * (text < 0) or (
        f"`{name}` gets texts that end with a zero, and the numbers that its format names"
        if name in _FORMATS
        else f"`{name}` gets a text that ends with a zero"
    )


def proof_of_reading(source: Source, call: Node, name: str, declared: Declared) -> str:
    """Return why a call of `sys::name` reads nothing but texts; empty when it may do more."""
    given = arguments_of(call)
    places = _READING.get(name, ())
    if not places or len(given) <= max(places):
        return ""
    if not all(_is_text(source, given[place], declared) for place in places):
        return ""
    return f"`{name}` reads texts that end with a zero"


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


def _stream(source: Source, argument: Node) -> str:
    """Return the stream that an argument is, or the constant that it names."""
    node = bare(argument)
    declared = None
    if node is not None and node.type == "identifier":
        declared = declaration_of(source, node)
    if declared is not None and declared.type == "let_declaration":
        changing = any(child.type == "mutable_specifier" for child in declared.children)
        node = None if changing else bare(field(declared, "value"))
        if node is not None and node.type == "unsafe_block":
            block = first(node)
            node = None if block is None or block.named_child_count != 1 else first(block)
    return "" if node is None else _flat(source, node)


def _are_right(source: Source, form: str, given: list[Node], declared: Declared) -> bool:
    plain = _CONVERSION.sub("", form)
    asked = [
        part
        for width, precision, size, kind in _CONVERSION.findall(form)
        for part in [("", "d")] * ((width == "*") + (precision == "*")) + [(size, kind)]
        if part[1] != "%"
    ]
    if "%" in plain or _HIDDEN.search(form) or len(asked) != len(given):
        return False
    return all(
        _is_right(source, size, kind, value, declared)
        for (size, kind), value in zip(asked, given, strict=True)
    )


def _is_right(source: Source, size: str, kind: str, value: Node, declared: Declared) -> bool:
    if kind == "s":
        return size == "" and _is_text(source, value, declared)
    told = type_of(source, value, declared)
    if kind in "feEgGaA" and size in ("", "l"):
        return told == "f64"
    if kind in "diuoxXc":
        return told in (_WORDS if size in ("", "h", "hh") else _LONG) and (kind, size) != ("c", "l")
    return False


def _is_text(source: Source, value: Node, declared: Declared) -> bool:
    """Return whether a value is the address of a text that is written there, of one that a `CStr`
    shows, or of one of two."""
    node = bare(value)
    while node is not None and node.type == "type_cast_expression":
        node = bare(field(node, "value"))
    if node is None or text_of(source, node) is not None:
        return node is not None
    if node.type == "call_expression":
        method = field(node, "function")
        name = None if method is None else field(method, "field")
        shown = None if method is None else field(method, "value")
        if name is None or shown is None:
            return False
        if source.text(name) in (b"cast_mut", b"cast_const"):
            return _is_text(source, shown, declared)
        return source.text(name) == b"as_ptr" and type_of(source, shown, declared) in _SHOWN
    if node.type != "if_expression":
        return False
    other = field(node, "alternative")
    blocks = [field(node, "consequence"), None if other is None else first(other)]
    return all(
        block is not None
        and block.named_child_count == 1
        and _is_text(source, block.named_children[0], declared)
        for block in blocks
    )


def _flat(source: Source, node: Node) -> str:
    return " ".join(source.text(node).decode("utf-8", "replace").split())
