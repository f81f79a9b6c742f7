"""Syntax trees: fresh and incremental, and the queries that read them."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

_BLANKS = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
"""Translates all but line ends to blanks."""
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

_EXPORT = rb"_(?:API|EXPORTS?|DLL(?:_CLASS|EXPORT|API)?|PUBLIC|VISIBLE)\b"
_EXPORTS: dict[LanguageName, re.Pattern[bytes]] = {
    "c": re.compile(_EXPORT + rb"(?=\s+[A-Za-z_]\w*[\s*]+[A-Za-z_*])"),
    "cpp": re.compile(_EXPORT + rb"(?=\s+[A-Za-z_~])"),
}
"""The end of a macro that exports a class or function from its library: the grammar takes it for a
name. In C a type comes behind it. What begins with a certain byte is searched much faster."""
_BEFORE_EXPORT = re.compile(rb"\b[A-Z][A-Z0-9_]*\Z")
_LONGEST_EXPORT = 61
"""Bytes of its name before that end."""
_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")
"""Characters U+0080 to U+009F, which bytes become that are no text: each would be an error, and the
parser takes long for thousands of them."""
_MANY_EMPTY = b";" * 64
_EMPTY = re.compile(rb";{64,}")
"""Empty statements, each of which would be a node."""
_HEAD = 65_536
"""Bytes at the beginning of a large text by which it is asked whether it is of its language."""
_LARGE = 4 * _HEAD
_BYTES_PER_ERROR = 16
"""A text with more syntax errors than one for so many bytes is not of its language; error recovery
would take five CPU seconds for a megabyte of it."""
_MOST_EXPORTS = 1_000
"""Exporting macros that are left out of one text."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A syntax tree, and what it is the tree of."""

    tree: Tree
    seen: bytes
    """The text as the parser was given it: of the same length, with blanks for what it is not to
    see."""
    sure: bool = True
    """Whether the tree is certain to be what `parse` gives. How tree-sitter recovers from an error
    may depend on what it reused: of a text with an error the tree is not certain, though nodes
    without errors are what their text says."""


def parse(data: bytes, language: LanguageName) -> Tree:
    """Return the syntax tree of UTF-8 text. U+0080 to U+009F are read as blanks, and so are many
    empty statements in a row; in C and C++, so are names of attributes that are macros, and NUL.
    In C, heads of functions that are calls of macros are read as plain heads.
    """
    return parse_edited(data, language, None).tree


def parse_edited(data: bytes, language: LanguageName, before: Parsed | None) -> Parsed:
    """Return the syntax tree of a text; of one that was edited, what is unchanged since `before`
    is reused."""
    parser, seen = _parser(language), _text_to_parse(data, language)
    if before is None:
        return Parsed(parser.parse(seen), seen)
    old = before.tree.copy()
    if before.seen != seen:
        _edit(old, before.seen, seen)
    tree = parser.parse(seen, old)
    return Parsed(tree, seen, not tree.root_node.has_error)


def _text_to_parse(data: bytes, language: LanguageName) -> bytes:
    """Return a text as the parser is given it."""
    if b"\xc2" in data:
        data = _CONTROLS.sub(b"  ", data)
    if _MANY_EMPTY in data:
        data = _EMPTY.sub(lambda run: b";" + b" " * (len(run[0]) - 1), data)
    if language != "rust":
        if b"\0" in data:  # compilers ignore it
            data = data.replace(b"\0", b" ")
        for word, decoration in _DECORATIONS.items():
            if word in data:
                data = _without(data, decoration)
    if language == "c":
        data = with_heads(data)
    left_out: list[Part] = []
    if language != "rust":
        left_out = [*torn_parts(data), *islice(_exports(data, language), _MOST_EXPORTS)]
    left_out = apart([*left_out, *deep_parts(data, language)])
    ends = [end for end in (_open_end(data, language), nonsense(data, language)) if end is not None]
    if ends:
        end = min(ends)
        left_out = apart([*(part for part in left_out if part[0] < end), (end, len(data))])
    return _with_blanks(data, left_out) if left_out else data


def _exports(data: bytes, language: LanguageName) -> Iterator[Part]:
    """Yield the macros that export what is behind them, but for those of directives."""
    for end in _EXPORTS[language].finditer(data):
        before = max(0, end.start() - _LONGEST_EXPORT)
        name = _BEFORE_EXPORT.search(data, before, end.start())
        if name is not None and not _in_directive(data, name.start()):
            yield name.start(), end.end()


def nonsense(data: bytes, language: LanguageName) -> int | None:
    """Return the byte from which a large text is not parsed since its beginning is hardly of its
    language; None for a text that is parsed."""
    if len(data) < _LARGE:
        return None
    end = data.rfind(b"\n", 0, _HEAD) + 1
    end = end if end > _HEAD // 2 else _HEAD
    return end if _is_nonsense(data[:end], language) else None


@functools.lru_cache(maxsize=16)
def _is_nonsense(data: bytes, language: LanguageName) -> bool:
    return count_errors(parse(data, language)) > len(data) // _BYTES_PER_ERROR


def _with_blanks(data: bytes, parts: Sequence[Part]) -> bytes:
    """Return a text with blanks for ordered parts of it; its lines stay."""
    pieces: list[bytes] = []
    at = 0
    for start, end in parts:
        pieces += data[at:start], data[start:end].translate(_BLANKS)
        at = end
    return b"".join([*pieces, data[at:]])


def leaves_out_context(data: bytes, language: LanguageName) -> bool:
    """Return whether the parser is not given parts of a text for what is around them: how the text
    of an item is read is then not in that text alone."""
    return (
        bool(deep_parts(data, language))
        or _open_end(data, language) is not None
        or nonsense(data, language) is not None
    )


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


def _edit(tree: Tree, old: bytes, new: bytes) -> None:
    """Tell `tree`, which belongs to `old`, that the text is `new` by now: all between the first
    and the last byte that differ has changed."""
    start = _alike(old, new, lambda text, first, last: text[first:last])
    end = _alike(old, new, lambda text, first, last: text[len(text) - last : len(text) - first])
    end = min(end, len(old) - start, len(new) - start)
    while start and new[start : start + 1] and new[start] & 0xC0 == 0x80:
        start -= 1  # the parser reads characters
    while end and new[len(new) - end] & 0xC0 == 0x80:
        end -= 1
    old_end, new_end = len(old) - end, len(new) - end
    tree.edit(
        start_byte=start,
        old_end_byte=old_end,
        new_end_byte=new_end,
        start_point=_point(old, start),
        old_end_point=_point(old, old_end),
        new_end_point=_point(new, new_end),
    )


def _alike(old: bytes, new: bytes, part: Callable[[bytes, int, int], bytes]) -> int:
    """Return how many bytes of two texts are the same from the side that `part` counts from."""
    least, most = 0, min(len(old), len(new))
    while least < most:
        middle = (least + most + 1) // 2
        if part(old, least, middle) == part(new, least, middle):
            least = middle
        else:
            most = middle - 1
    return least


@functools.lru_cache(maxsize=64)
def compile_query(language: LanguageName, text: str) -> Query:
    """Return a query in tree-sitter's pattern language, compiled once.

    Raises `tree_sitter.QueryError` when the pattern does not fit the grammar.
    """
    query: Query = Query(grammar(language), text)
    return query


def captures(query: Query, node: Node, most: int | None = None) -> Mapping[str, list[Node]]:
    """Return the captures of `query` below `node` by capture name, in order of position; with
    `most`, just those in its first bytes, so many."""
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(MAX_DEPTH)
    if most is not None:
        cursor.set_byte_range(node.start_byte, node.start_byte + most)
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
