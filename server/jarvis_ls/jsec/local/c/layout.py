"""How a function of C or C++ lays out its statements, and edits that keep to it.

What a fix adds stands on lines of its own, with the indentation, the braces and the spelling of a
null test that the function has. Only the function is read: results for it are kept by its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import line_start
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Range

EditOfBytes = tuple[Range, str]

BLOCKS = frozenset(
    {
        "compound_statement",
        "case_statement",
        "labeled_statement",
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
    }
)
"""Nodes that hold several statements."""

_CONTROLS = frozenset(
    {"if_statement", "else_clause", "while_statement", "for_statement", "for_range_loop"}
)
_TAB = 8
_WIDEST = 1_000
"""Bytes of a line: longer ones were not written by hand."""
_FEW = 40
"""So many statements of a function are asked for its habits."""
_NULL_TESTS: dict[str, re.Pattern[str]] = {
    "{value} == {null}": re.compile(r"\w\s*[!=]=\s*(?:NULL|nullptr)\b"),
    "!{value}": re.compile(r"(?<![\w)])!\s*[A-Za-z_](?:\w|->|\.)*\s*(?:\)|&&|\|\|)"),
    "{null} == {value}": re.compile(r"(?:NULL|nullptr)\s*[!=]=\s*\w"),
}
"""Ways to write the test of a pointer, and what a condition of each looks like."""

Brace = Literal["end", "own", "gnu"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The habits of one function."""

    unit: str
    """What one more level of indentation adds."""
    mixes_tabs: bool
    """Whether eight columns of indentation are one tab, fewer are blanks."""
    brace: Brace
    """Where `{` is: at the end of the line, on its own line, there and indented itself."""
    keyword: str
    """`if (` or `if(`."""
    always_braces: bool
    """Whether a branch of one statement has braces."""
    null_test: str
    """Template of the test that `{value}` is `{null}`."""
    null: str
    """`NULL` or `nullptr`."""
    late_declarations: bool
    """Whether declarations follow statements; else they begin a block, as in C89."""

    def deeper(self, indent: str, levels: int = 1) -> str:
        """Return an indentation with more levels."""
        if not self.mixes_tabs:
            return indent + self.unit * levels
        return self.indentation(_columns(indent) + _columns(self.unit) * levels)

    def indentation(self, columns: int) -> str:
        """Return the blanks that are so many columns."""
        if self.mixes_tabs or self.unit == "\t":
            return "\t" * (columns // _TAB) + " " * (columns % _TAB)
        return " " * columns

    def place(self, indent: str, line: str) -> str:
        """Return a line at an indentation; each tab before it is one more level."""
        inside = line.lstrip("\t")
        return self.deeper(indent, len(line) - len(inside)) + inside if inside else ""

    def is_null(self, value: str) -> str:
        """Return the condition that a pointer is null."""
        return self.null_test.format(value=value, null=self.null)

    def when(self, condition: str, body: Sequence[str]) -> list[str]:
        """Return the lines of an `if`; each tab before one is a level of indentation."""
        head = f"{self.keyword}{condition})"
        if len(body) == 1 and not self.always_braces:
            return [head, f"\t{body[0]}"]
        if self.brace == "gnu":
            return [head, "\t{", *(f"\t\t{line}" for line in body), "\t}"]
        inside = [f"\t{line}" for line in body]
        return [f"{head} {{", *inside, "}"] if self.brace == "end" else [head, "{", *inside, "}"]


@once_per_function
def layout_of(function: Function) -> Layout:
    """Return how a function is laid out; what it does not show is as in most code."""
    written = text(function.node)
    cpp = function.unit.language == "cpp"
    unit, mixes = _indentation(function, written)
    ifs = function.nodes("if")[:_FEW]
    conditions = [text(condition)[:400] for condition in function.conditions[:_FEW]]
    counts = {
        template: sum(pattern.search(condition) is not None for condition in conditions)
        for template, pattern in _NULL_TESTS.items()
    }
    test = max(counts, key=lambda template: counts[template])
    return Layout(
        unit=unit,
        mixes_tabs=mixes,
        brace=_brace(function, ifs),
        keyword="if(" if _is_closed_up(ifs) else "if (",
        always_braces=_always_braces(ifs),
        null_test=test,
        null="nullptr" if cpp and "NULL" not in written else "NULL",
        late_declarations=cpp or _declares_late(function),
    )


def indent_of(function: Function, at: int) -> str:
    """Return the blanks that begin the line of a byte."""
    data = function.unit.source.data
    start = line_start(data, at)
    line = data[start : min(start + _WIDEST, max(at, start))] + b"x"
    return line[: len(line) - len(line.lstrip(b" \t"))].decode()


def gap_of(call: Call) -> str:
    """Return the blank between the name and the arguments of a call, if there is one."""
    callee, arguments = field(call.node, "function"), field(call.node, "arguments")
    if callee is None or arguments is None:
        return ""
    return " " if callee.end_byte < arguments.start_byte else ""


def begins_line(function: Function, at: int) -> bool:
    """Return whether only blanks are before a byte on its line."""
    data = function.unit.source.data
    start = line_start(data, at)
    return at - start <= _WIDEST and not data[start:at].strip()


def stands_alone(function: Function, statement: Node) -> bool:
    """Return whether the lines of a statement hold nothing else but comments behind it."""
    data = function.unit.source.data
    if not begins_line(function, statement.start_byte):
        return False
    after = _rest_of_line(data, statement.end_byte).strip()
    return not after or after.startswith(b"//") or (after[:2] == b"/*" and after[-2:] == b"*/")


def add_before(function: Function, statement: Node, lines: Sequence[str]) -> list[EditOfBytes]:
    """Return the edits that put statements in front of one."""
    return surround(function, statement, lines, ())


def add_after(function: Function, statement: Node, lines: Sequence[str]) -> list[EditOfBytes]:
    """Return the edits that put statements behind one."""
    return surround(function, statement, (), lines)


def surround(
    function: Function, statement: Node, before: Sequence[str], after: Sequence[str]
) -> list[EditOfBytes]:
    """Return the edits that put statements around one, in braces where it is a whole branch.

    The lines are relative to the indentation of the statement. Where the author writes several
    statements on one line, so do the edits.
    """
    start, end = statement.start_byte, statement.end_byte
    if statement.parent is None or statement.parent.type not in BLOCKS:
        return _in_braces(function, statement, [*before, _move(function, statement), *after])
    if not stands_alone(function, statement):
        edits = [((start, start), " ".join(before) + " ")] if before else []
        return edits + ([((end, end), " " + " ".join(after))] if after else [])
    layout, indent = layout_of(function), indent_of(function, start)
    edits = []
    if before:
        first, *others = [layout.place(indent, line) for line in before]
        lines = [first[len(indent) :], *others, indent]
        edits.append(((start, start), "\n".join(lines)))
    if after:
        behind = end + len(_rest_of_line(function.unit.source.data, end).rstrip())
        added = "".join(f"\n{layout.place(indent, line)}" for line in after)
        edits.append(((behind, behind), added))
    return edits


def replace_statement(
    function: Function, statement: Node, lines: Sequence[str]
) -> list[EditOfBytes]:
    """Return the edits that put lines in the place of a statement."""
    if statement.parent is None or statement.parent.type not in BLOCKS:
        return _in_braces(function, statement, lines)
    layout, indent = layout_of(function), indent_of(function, statement.start_byte)
    end, comment = comment_behind(function, statement)
    first, *others = lines
    placed = "\n".join(layout.place(indent, line) for line in [first + comment, *others])
    return [((statement.start_byte, end), placed[len(indent) :])]


def remove_statement(function: Function, statement: Node) -> list[EditOfBytes]:
    """Return the edit that takes a statement away, with its line when it has one of its own."""
    data = function.unit.source.data
    start, end = _range(statement)
    if not stands_alone(function, statement):
        return [((start, end), "")]
    line_end = data.find(b"\n", end)
    return [((line_start(data, start), line_end + 1 if line_end >= 0 else len(data)), "")]


def declare(
    function: Function, statement: Node, declared: str, value: str, gone: Node | None = None
) -> tuple[list[EditOfBytes], list[str]]:
    """Return where a new variable is declared: edits elsewhere, and the lines in front of
    `statement`.

    Where declarations begin a block they do so here too, and the value, if there is one, is
    assigned in place. `gone` is a statement that another edit removes.
    """
    name = declared.split()[-1].lstrip("*")
    first = f"{declared} = {value};" if value else f"{declared};"
    assigned = [f"{name} = {value};"] if value else []
    block = block_of(statement, function)
    in_place = statement.parent is not None and statement.parent.type == "compound_statement"
    if block is None or (layout_of(function).late_declarations and in_place):
        return [], [first]
    if in_place and _follows_declarations(statement, gone):
        return [], [first, ""]
    last: Node | None = None
    for child in _children(block):
        if child.type == "declaration":
            last = child
        elif child.type != "comment":
            break
    if last is not None and last.end_byte <= statement.start_byte:
        return add_after(function, last, [f"{declared};"]), assigned
    at = block.start_byte + 1
    indent = layout_of(function).deeper(indent_of(function, block.start_byte))
    return [((at, at), f"\n{indent}{declared};\n")], assigned


def _children(block: Node) -> Iterator[Node]:
    """Yield the named children of a node one by one: a block may have very many."""
    cursor = block.walk()
    more = cursor.goto_first_child()
    while more:
        if cursor.node is not None and cursor.node.is_named:
            yield cursor.node
        more = cursor.goto_next_sibling()


def block_of(statement: Node, function: Function) -> Node | None:
    """Return the block around a statement, without those of a `switch`."""
    for outer in ancestors(statement, function.node):
        if outer.type == "compound_statement" and (
            outer.parent is None or outer.parent.type != "switch_statement"
        ):
            return outer
    return None


def _follows_declarations(statement: Node, gone: Node | None) -> bool:
    """Return whether a statement is the first of its block, or on the line behind a
    declaration."""
    row = statement.start_point.row
    before = statement.prev_named_sibling
    while before is not None and (before == gone or before.type == "comment"):
        row = min(row, before.start_point.row)
        before = before.prev_named_sibling
    if before is None:
        return True
    return before.type == "declaration" and row == before.end_point.row + 1


def _in_braces(function: Function, statement: Node, lines: Sequence[str]) -> list[EditOfBytes]:
    """Return the edits that make a branch of one statement one of several."""
    data = function.unit.source.data
    layout, control = layout_of(function), statement.parent
    start = statement.start_byte
    end, comment = comment_behind(function, statement)
    lines = [*lines[:-1], lines[-1] + comment]
    if control is None or control.type not in _CONTROLS:  # `do f(); while (…)`
        end = statement.end_byte
        return [((start, end), "{ " + " ".join(line.strip() for line in lines) + " }")]
    head = control.start_byte + len(data[control.start_byte : start].rstrip())
    if b"//" in data[control.start_byte : head].rpartition(b"\n")[2]:  # a brace would be part of it
        head = start
    indent = indent_of(function, control.start_byte)
    if control.type == "else_clause" and lines[0].startswith("if") and head != start:
        placed = "\n".join(layout.place(indent, line) for line in lines)
        return [((head, end), f" {placed[len(indent) :]}")]
    if layout.brace == "end" or head == start:
        body = "".join(f"\n{layout.place(indent, chr(9) + line)}" for line in lines)
        opening = "{" if head == start else " {"
        alternative = field(control, "alternative") if control.type == "if_statement" else None
        if alternative is not None and not data[end : alternative.start_byte].strip():
            return [((head, alternative.start_byte), f"{opening}{body}\n{indent}}} ")]
        return [((head, end), f"{opening}{body}\n{indent}}}")]
    outer = indent if layout.brace == "own" else layout.deeper(indent)
    body = "".join(f"\n{layout.place(outer, chr(9) + line)}" for line in lines)
    return [((head, end), f"\n{outer}{{{body}\n{outer}}}")]


def comment_behind(function: Function, statement: Node) -> tuple[int, str]:
    """Return where a statement and a comment behind it on its line end, and that comment with the
    blanks before it."""
    end = statement.end_byte
    rest = _rest_of_line(function.unit.source.data, end).rstrip()
    if not rest or not stands_alone(function, statement):
        return end, ""
    return end + len(rest), rest.decode("utf-8", "replace")


def _move(function: Function, statement: Node) -> str:
    """Return the text of a statement that moves into braces, its further lines with it."""
    layout = layout_of(function)
    first, *others = text(statement).split("\n")
    if statement.parent is None or not begins_line(function, statement.start_byte):
        return "\n".join([first, *others])
    shift = _columns(layout.unit) if layout.brace == "gnu" else 0
    lines = [first]
    for line in others:
        inside = line.lstrip(" \t")
        blanks = line[: len(line) - len(inside)]
        lines.append(layout.indentation(_columns(blanks) + shift) + inside if shift else line)
    return "\n".join(lines)


def _indentation(function: Function, written: str) -> tuple[str, bool]:
    """Return one level of indentation, and whether tabs stand for eight of its columns."""
    lines = written.split("\n")[1:]
    begins = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    tabs = sum(begin.startswith("\t") for begin in begins)
    blanks = sum(begin.startswith(" ") for begin in begins)
    own = _columns(indent_of(function, function.start))
    statements = islice(_children(function.body), _FEW) if function.body is not None else ()
    shallow = [
        indent_of(function, child.start_byte)
        for child in statements
        if child.type != "comment" and begins_line(function, child.start_byte)
    ]
    shallow += sorted((begin for begin in begins if _columns(begin) > own + 1), key=_columns)[:1]
    first = next((indent for indent in shallow if 1 <= _columns(indent) - own <= _TAB), "    ")
    if first.endswith("\t") or (tabs and not blanks):
        return "\t", False
    step = _columns(first) - own
    return " " * (step if 1 <= step <= _TAB else 4), tabs > 0


def _brace(function: Function, ifs: Iterable[Node]) -> Brace:
    """Return where most blocks of the function open."""
    seen: Counter[Brace] = Counter()
    for node in ifs:
        block = field(node, "consequence")
        if block is None or block.type != "compound_statement":
            continue
        if not begins_line(function, block.start_byte):
            seen["end"] += 1
            continue
        outer = _columns(indent_of(function, node.start_byte))
        seen["gnu" if _columns(indent_of(function, block.start_byte)) > outer else "own"] += 1
    return seen.most_common(1)[0][0] if seen else "end"


def _is_closed_up(ifs: Sequence[Node]) -> bool:
    """Return whether most `if` have no blank behind them."""
    closed = sum(text(node).startswith("if(") for node in ifs)
    return closed * 2 > len(ifs)


def _always_braces(ifs: Iterable[Node]) -> bool:
    """Return whether branches of one statement mostly have braces."""
    with_braces = without = 0
    for node in ifs:
        branch = field(node, "consequence")
        if branch is None:
            continue
        if branch.type != "compound_statement":
            without += 1
        elif branch.named_child_count == 1:
            with_braces += 1
    return with_braces > without


def _declares_late(function: Function) -> bool:
    """Return whether a declaration follows a statement in its block."""
    for node in function.declarations:
        before = node.prev_named_sibling
        while before is not None and before.type in ("comment", "preproc_call"):
            before = before.prev_named_sibling
        around = node.parent
        if around is None or around.type != "compound_statement" or before is None:
            continue
        if before.type != "declaration" and not before.type.startswith("preproc"):
            return True
    return False


def _columns(indent: str) -> int:
    columns = 0
    for character in indent:
        columns = (columns // _TAB + 1) * _TAB if character == "\t" else columns + 1
    return columns


def _rest_of_line(data: bytes, at: int) -> bytes:
    """Return what is behind a byte on its line; of a line that is too long for code its start."""
    end = data.find(b"\n", at)
    rest = data[at : min(end if end >= 0 else len(data), at + _WIDEST)]
    return rest if len(rest) < _WIDEST else b"{"


def _range(node: Node) -> Range:
    return node.start_byte, node.end_byte
