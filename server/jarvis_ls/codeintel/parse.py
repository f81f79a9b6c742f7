"""Syntax trees: fresh and incremental, and the queries that read them."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping, Sequence
from itertools import islice

import tree_sitter
from tree_sitter import Node as Node
from tree_sitter import Query as Query
from tree_sitter import Tree as Tree

from jarvis_ls.codeintel.comments import lexemes
from jarvis_ls.codeintel.deep_nesting import deep_parts
from jarvis_ls.codeintel.languages import LanguageName, grammar
from jarvis_ls.codeintel.macro_functions import with_heads
from jarvis_ls.codeintel.source import line_start
from jarvis_ls.codeintel.torn_conditionals import Part, apart, torn_parts

MAX_DEPTH = 600
"""Levels of nesting below an item that queries look into. Finding a node's parent costs time
proportional to its depth, so a bound keeps hostile nesting linear; what is deeper is reported
as not analysed."""

_FEW_OPENINGS = 8
_LONG_REST = 20_000
"""Bytes behind an opening quote or comment after which it is asked whether it is ever closed."""
_STRIDE = 64
"""Nodes from one that is asked for its depth to the next, in a tree of some thousand."""

_DECORATIONS = {
    b"__attribute_": re.compile(rb"__attribute_[a-z_]+__(?:[ \t]*\([^()\n]*\))?"),
    b"_DECLS": re.compile(rb"\b\w*_(?:BEGIN|END)_DECLS\b"),
    b"_EXTERN_C": re.compile(rb"\b\w*(?:_BEGIN|_END)_EXTERN_C\b"),
    b"_GL_INLINE_HEADER_": re.compile(rb"\b_GL_INLINE_HEADER_(?:BEGIN|END)\b"),
}
"""Macros around declarations, by the names of the GNU C library and those who follow it. They
are where the grammar has no place for a name, and tear the declarations around them. Each under
what a text with one of them holds, which is found many times faster."""

_EXPORT = rb"\b[A-Z][A-Z0-9_]{0,60}_(?:API|EXPORTS?|DLL(?:_CLASS|EXPORT|API)?|PUBLIC|VISIBLE)\b"
_EXPORTS: dict[LanguageName, re.Pattern[bytes]] = {
    "c": re.compile(_EXPORT + rb"(?=\s+[A-Za-z_]\w*[\s*]+[A-Za-z_*])"),
    "cpp": re.compile(_EXPORT + rb"(?=\s+[A-Za-z_~])"),
}
"""A macro that exports a class or function from its library: the grammar takes it for a name. In C
a type comes behind it."""
_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")
"""Characters U+0080 to U+009F, which bytes become that are no text: each would be an error, and the
parser takes long for thousands of them."""
_MOST_EXPORTS = 1_000
"""What is left out costs the parser time for each part before it."""


def parse(data: bytes, language: LanguageName) -> Tree:
    """Return the syntax tree of UTF-8 text. U+0080 to U+009F are read as blanks; in C and C++, so
    are names of attributes that are macros, and NUL. In C, heads of functions that are calls of
    macros are read as plain heads.
    """
    return parse_edited(data, language, None)[0]


def parse_edited(data: bytes, language: LanguageName, old: Tree | None) -> tuple[Tree, bool]:
    """Return the syntax tree of a text after edits, and whether it is certain to be what `parse`
    gives.

    `old` is the tree of the text before, already told of the changes with `edit`; unchanged
    parts of it are reused. How tree-sitter recovers from an error may depend on what it reused:
    of a text with an error the tree is not certain, though nodes without errors are what their
    text says.
    """
    parser = _parser(language)
    if b"\xc2" in data:
        data = _CONTROLS.sub(b"  ", data)
    if language != "rust":
        if b"\0" in data:  # compilers ignore it
            data, old = data.replace(b"\0", b" "), None
        for word, decoration in _DECORATIONS.items():
            if word in data:
                data, old = _without(data, decoration), None
    if language == "c":
        written = with_heads(data)
        if written is not data:
            data, old = written, None
    left_out: list[Part] = []
    if language != "rust":
        exports = (
            match.span()
            for match in islice(_EXPORTS[language].finditer(data), _MOST_EXPORTS)
            if not _in_directive(data, match.start())
        )
        left_out = [*torn_parts(data), *exports]
    deep = deep_parts(data, language)
    left_out = apart([*left_out, *deep])
    end = _open_end(data, language)
    if end is not None:
        left_out = apart([*(part for part in left_out if part[0] < end), (end, len(data))])
    ranges = _between(data, left_out) if left_out else []
    if old is not None and (deep or end is not None or _leaves_out_more(old, ranges, data)):
        old = None
    if left_out:
        parser.included_ranges = ranges
    try:
        if old is None:
            return parser.parse(data), True
        tree = parser.parse(data, old)
        return tree, not tree.root_node.has_error
    finally:
        if left_out:
            parser.included_ranges = []


def _leaves_out_more(old: Tree, ranges: Sequence[tree_sitter.Range], data: bytes) -> bool:
    """Return whether an earlier tree is of other parts of its text, as far as their number and the
    end of the last say: a tree-sitter that reuses such a tree may give another one than afresh."""
    before = old.included_ranges
    if len(before) != max(len(ranges), 1):
        return True
    end = ranges[-1].end_byte if ranges else len(data)
    return (before[-1].end_byte < len(data)) != (end < len(data))


def leaves_out_context(data: bytes, language: LanguageName) -> bool:
    """Return whether the parser is not given parts of a text for what is around them: how the text
    of an item is read is then not in that text alone."""
    return bool(deep_parts(data, language)) or _open_end(data, language) is not None


def parse_parts(data: bytes, language: LanguageName, parts: Sequence[tuple[Node, Node]]) -> Tree:
    """Return the syntax tree of what is between pairs of nodes of another tree of `data`, as if
    nothing else were there; its nodes are where they are in `data`."""
    parser = _parser(language)
    parser.included_ranges = [
        tree_sitter.Range(first.end_point, last.start_point, first.end_byte, last.start_byte)
        for first, last in parts
    ]
    try:
        return parser.parse(data)
    finally:
        parser.included_ranges = []


def edit(tree: Tree, old: bytes, new: bytes, start: int, old_end: int, new_end: int) -> None:
    """Tell `tree`, which belongs to `old`, that bytes `start:old_end` became `start:new_end`."""
    tree.edit(
        start_byte=start,
        old_end_byte=old_end,
        new_end_byte=new_end,
        start_point=_point(old, start),
        old_end_point=_point(old, old_end),
        new_end_point=_point(new, new_end),
    )


@functools.lru_cache(maxsize=64)
def compile_query(language: LanguageName, text: str) -> Query:
    """Return a query in tree-sitter's pattern language, compiled once.

    Raises `tree_sitter.QueryError` when the pattern does not fit the grammar.
    """
    query: Query = Query(grammar(language), text)
    return query


def captures(query: Query, node: Node) -> Mapping[str, list[Node]]:
    """Return the captures of `query` below `node` by capture name, in order of position."""
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(MAX_DEPTH)
    found = cursor.captures(node)
    for nodes in found.values():  # they come in the order in which patterns end
        if len(nodes) > 1:
            nodes.sort(key=_start)
    return found


def nests_too_deep(node: Node) -> bool:
    """Return whether the tree below `node` has more than `MAX_DEPTH` levels, by a sample of its
    nodes.
    """
    count = node.descendant_count
    if count < MAX_DEPTH:
        return False
    cursor = node.walk()
    for index in range(0, count, max(_STRIDE, count // 64)):
        cursor.goto_descendant(index)
        if cursor.depth > MAX_DEPTH:  # a deeper place costs its depth
            return True
    return False


_start = operator.attrgetter("start_byte")


def count_errors(tree: Tree) -> int:
    """Count the error and missing nodes of a tree."""
    if not tree.root_node.has_error:
        return 0
    count, stack = 0, [tree.root_node]
    while stack:
        node = stack.pop()
        count += node.is_error or node.is_missing
        if node.has_error:
            stack.extend(node.children)
    return count


def _without(data: bytes, decoration: re.Pattern[bytes]) -> bytes:
    """Return the text with a decoration blanked, but for those in directives, which define them."""

    def blank(match: re.Match[bytes]) -> bytes:
        directive = _in_directive(data, match.start())
        return match.group() if directive else b" " * len(match.group())

    return decoration.sub(blank, data)


def _in_directive(data: bytes, at: int) -> bool:
    return data[line_start(data, at) : at].lstrip()[:1] == b"#"


def _between(data: bytes, parts: Sequence[tuple[int, int]]) -> list[tree_sitter.Range]:
    """Return the ranges between ordered parts of a text.

    Never return an empty list, as that would mean the whole text.
    """
    found: list[tree_sitter.Range] = []
    start, row = 0, 0
    for begin, end in (*parts, (len(data), len(data))):
        last = row + data.count(b"\n", start, begin)
        if start < begin or not found:
            first = (row, start - data.rfind(b"\n", 0, start) - 1)
            behind = (last, begin - data.rfind(b"\n", 0, begin) - 1)
            found.append(tree_sitter.Range(first, behind, start, begin))
        start, row = end, last + data.count(b"\n", begin, end)
    return found


def _open_end(data: bytes, language: LanguageName) -> int | None:
    """Return where the code ends when the rest is one unclosed comment or string.

    A grammar's scanner looks for the end again at every `/*`, in time that grows with the square
    of their number, and what it takes for code is one error; so such a rest is not given to it.
    None for a file without one, or with so few openings and so short a rest that it does not
    matter.
    """
    if not _may_be_open(data, language):
        return None
    last = None
    for last in lexemes(data, language):  # noqa: B007 - the last one is wanted
        pass
    if last is None or last.inner[1] != last.end or data.startswith(b"//", last.start):
        return None
    return last.start if last.end == len(data) else None


def _may_be_open(data: bytes, language: LanguageName) -> bool:
    """Return whether what opens last may never be closed, by a look that costs next to nothing."""
    opening, closing = (b'#"', b'"#') if language == "rust" else (b"/*", b"*/")
    behind = data.rfind(closing) + 1
    if data.count(opening, behind) > _FEW_OPENINGS:
        return True
    last = data.rfind(b'"') if language == "rust" else data.find(opening, behind)
    return 0 <= last < len(data) - _LONG_REST


@functools.cache
def _parser(language: LanguageName) -> tree_sitter.Parser:
    return tree_sitter.Parser(grammar(language))


def _point(data: bytes, offset: int) -> tuple[int, int]:
    row = data.count(b"\n", 0, offset)
    return row, offset - (data.rfind(b"\n", 0, offset) + 1)
