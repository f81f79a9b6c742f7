"""A source whose runs say whether they came to a place: the statement there sets a variable first.

Lines stay where they are, so that reports of the marked source hold for the other.
"""

from __future__ import annotations

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.nodes import ancestors
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Span

REACHED = "harness_reached"
"""The variable, which the harness defines."""
_MARK = f"{{ extern volatile int {REACHED}; {REACHED} = 1; }} ".encode()
_NOT_WRAPPED = frozenset({"compound_statement", "case_statement", "labeled_statement"})
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_MAX_DEPTH = 40


TOLD = "JARVIS: reached"
"""What a program writes to standard error when it comes to the place first."""
_TELL = b"{ extern void jsec_reached(void); jsec_reached(); } "


def mark_place(source: Source, span: Span) -> bytes | None:
    """Return the text of a file of C in which the statement around a span says that it is reached;
    None when there is none, as in a macro."""
    return insert_before(source, span, _MARK)


def tell_place(source: Source, span: Span) -> bytes | None:
    """Return the same for a program without a harness: see `TOLD`."""
    return insert_before(source, span, _TELL)


def insert_before(source: Source, span: Span, code: bytes, *, loops: bool = True) -> bytes | None:
    """Return the text of a file of C with a statement before that around a span, on its line; None
    when there is none, as in a macro, and without `loops` when it is a loop."""
    if language_of(source.path, source.data) != "c":
        return None
    start = source.offset(span.line, span.column)
    end = max(start, source.offset(span.end_line, span.end_column))
    node = parse(source.data, "c").root_node.descendant_for_byte_range(start, end)
    if node is None:
        return None
    data = source.data
    for around, _ in zip([node, *ancestors(node)], range(_MAX_DEPTH), strict=False):
        if around.type == "function_definition" or around.type.startswith("preproc"):
            return None
        at = around.start_byte
        above = around.parent.type if around.parent is not None else ""
        if around.type == "declaration" and above == "compound_statement":
            return data[:at] + code + data[at:]
        if around.type.endswith("_statement") and around.type not in _NOT_WRAPPED:
            if around.type in _LOOPS and not loops:
                return None
            whole = data[at : around.end_byte]
            return data[:at] + b"{ " + code + whole + b" }" + data[around.end_byte :]
    return None
