"""Which of the standard streams stay what and where they are, so that printing to them is sound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, name_of
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of, flat

STREAMS = frozenset({"sys::stdin", "sys::stdout", "sys::stderr"})
_CLOSING = {"sys::fclose": 0, "sys::pclose": 0, "sys::freopen": 2, "sys::fcloseall": -1}
"""Functions after which a stream may be gone, with the place of that; -1 for all of them."""
_OPENING = frozenset(
    f"sys::{name}"
    for name in "fopen fopen64 fdopen tmpfile tmpfile64 popen fmemopen open_memstream".split()
)
_BUFFERING = frozenset({"sys::setbuf", "sys::setbuffer", "sys::setvbuf"})
_WORD = re.compile(rb"\w+")
_AROUND = ("block", "unsafe_block", "parenthesized_expression", "type_cast_expression")


def kept_streams(sources: Sequence[Source], left: Iterable[bytes] = ()) -> frozenset[str]:
    """Return the standard streams that nothing gives another value or closes: one that is named
    where more is done than printing counts as closed where anything unknown is closed.

    `left` are the texts of the C that stays: where that closes or buffers anything, it may be
    each stream that it names, and each that is handed to it.
    """
    lost = _lost_in_c(left)
    elsewhere: set[str] = set()
    unknown = lost is not None
    lost = lost or set()
    functions: dict[str, list[tuple[Source, Node]]] = {}
    for source in sources:
        for function in source.functions:
            functions.setdefault(name_of(function), []).append((source, function))
    for source in sources:
        for name in below(source.root, "scoped_identifier"):
            text = _flat(source, name)
            if text in _CLOSING:
                gone = _closes(source, name, _CLOSING[text])
                unknown = unknown or gone is None
                lost |= gone or set()
            if text not in STREAMS:
                continue
            place = name
            while place.parent is not None and place.parent.type in _AROUND:
                place = place.parent
            around = place.parent
            changes = around is not None and (
                around.type == "assignment_expression" and field(around, "left") == place
            )
            if around is None or around.type == "reference_expression" or changes:
                lost.add(text)
                continue
            called = _called_with(source, around)
            if called in _BUFFERING and not _is_null(source, around):
                lost.add(text)  # perhaps a buffer that is gone when something is printed
            elif not called.startswith("sys::") and not (
                _is_only_printed_to(functions, called, around, place)
                or _is_printed_to(source, around)
            ):
                elsewhere.add(text)
    return STREAMS - lost - (elsewhere if unknown else set())


def _lost_in_c(texts: Iterable[bytes]) -> set[str] | None:
    """Return the standard streams that C may close or buffer; None when it closes nothing."""
    words: set[str] = set()
    for text in texts:
        words |= {f"sys::{word.decode('latin-1')}" for word in _WORD.findall(blank(text, "c"))}
    ends = words & {*_CLOSING, *_BUFFERING}
    return set(words & STREAMS) if ends else None


def _closes(source: Source, name: Node, place: int) -> set[str] | None:
    """Return the standard streams that the call of a closing function may close; None when that is
    not known."""
    call = name.parent
    if call is None or call.type != "call_expression" or field(call, "function") != name:
        return None
    if place < 0:
        return set(STREAMS)
    given = arguments_of(call)
    return _streams_in(source, given[place]) if place < len(given) else None


def _streams_in(source: Source, value: Node | None) -> set[str] | None:
    """Return the standard streams that a value may be; None when that is not known. A local
    variable is all that it is ever set to."""
    node = bare(value)
    while node is not None and node.type in ("type_cast_expression", "unsafe_block", "block"):
        if node.type == "type_cast_expression":
            node = bare(field(node, "value"))
        elif node.named_child_count == 1:
            node = bare(first(node))
        else:
            return None
    if node is None:
        return None
    if node.type == "scoped_identifier":
        text = _flat(source, node)
        return {text} if text in STREAMS else None
    if node.type == "call_expression":
        called = field(node, "function")
        text = "" if called is None else _flat(source, called)
        nothing = text.split("::<")[0] in ("core::ptr::null_mut", "core::ptr::null")
        return set() if text in _OPENING or nothing else None
    if node.type == "identifier":
        return _streams_of_local(source, node)
    return None


def _streams_of_local(source: Source, name: Node) -> set[str] | None:
    declared = declaration_of(source, name)
    if declared is None or declared.type != "let_declaration":
        return None
    function = declared
    while function.type != "function_item" and function.parent is not None:
        function = function.parent
    found: set[str] = set()
    for other in below(function, "identifier"):
        around = other.parent
        if source.text(other) != source.text(name) or around is None:
            continue
        value = None
        if around.type in ("reference_expression", "parameter", "closure_parameters"):
            return None
        if around.type == "let_declaration" and field(around, "pattern") == other:
            value = field(around, "value")
            if value is None:
                continue
        elif around.type == "assignment_expression" and field(around, "left") == other:
            value = field(around, "right")
        else:
            continue
        inner = bare(value)
        streams = (
            None if inner is not None and inner.type == "identifier" else _streams_in(source, value)
        )
        if streams is None:
            return None
        found |= streams
    return found


def _called_with(source: Source, around: Node) -> str:
    """Return the function that gets these arguments; empty when they are none."""
    call = around.parent if around.type == "arguments" else None
    called = None if call is None else field(call, "function")
    return "" if called is None else _flat(source, called)


def _is_null(source: Source, arguments: Node) -> bool:
    """Return whether the second of some arguments is no buffer."""
    given = arguments.named_children
    return len(given) > 1 and "null_mut" in _flat(source, given[1])


def _is_only_printed_to(
    functions: Mapping[str, list[tuple[Source, Node]]], called: str, arguments: Node, place: Node
) -> bool:
    """Return whether an argument is for a parameter that functions of the crate only print to."""
    found = functions.get(called.rsplit("::", 1)[-1], ()) if called else ()
    number = next((n for n, given in enumerate(arguments.named_children) if given == place), 0)
    for source, function in found:
        declared = list(below(field(function, "parameters") or function, "parameter"))
        body = field(function, "body")
        if number >= len(declared) or body is None:
            return False
        if not _is_for_c_alone(source, body, declared[number]):
            return False
    return bool(found)


def _is_printed_to(source: Source, declared: Node) -> bool:
    """Return whether all uses of a variable are as arguments of functions of the C library, none of
    which closes it."""
    if declared.type != "let_declaration" or declared.parent is None:
        return False
    return _is_for_c_alone(source, declared.parent, declared)


def _is_for_c_alone(source: Source, scope: Node, declared: Node) -> bool:
    pattern = field(declared, "pattern")
    if pattern is None or pattern.type != "identifier":
        return False
    for name in below(scope, "identifier"):
        if name == pattern or source.text(name) != source.text(pattern):
            continue
        text = "" if name.parent is None else _called_with(source, name.parent)
        if not text.startswith("sys::") or text in _CLOSING or text in _BUFFERING:
            return False
    return True


def _flat(source: Source, node: Node) -> str:
    return flat(source.text(node))
