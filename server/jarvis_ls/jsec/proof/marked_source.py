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
_MAX_DEPTH = 40


def mark_place(source: Source, span: Span) -> bytes | None:
    """Return the text of a file of C in which the statement around a span says that it is reached;
    None when there is none, as in a macro."""
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
            return data[:at] + _MARK + data[at:]
        if around.type.endswith("_statement") and around.type not in _NOT_WRAPPED:
            whole = data[at : around.end_byte]
            return data[:at] + b"{ " + _MARK + whole + b" }" + data[around.end_byte :]
    return None
