"""Lines of code whose conversions and arithmetic are checked, for compilers that check neither.

gcc reports what a floating-point number cuts off when it becomes an integer, but says nothing of
an integer that becomes a narrower one or of unsigned numbers that wrap around. So the value takes
a way over `long double`, whose 64 bits of precision hold every integer: `(char)n` becomes
`(char)(long double)(n)`, `a * b` becomes `(__typeof__(a * b))((long double)(a) * b)`. What fits is
the same afterwards. Lines stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.nodes import ancestors, field, operator_of, text
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.proof.meant_wraps import is_meant_to_wrap
from jarvis_ls.jsec.proof.places import flaw_lines
from jarvis_ls.jsec.proof.reports import OF_CLANG, kinds_for, without_cast
from jarvis_ls.jsec.proof.workbench import Workbench

Rewriting = tuple[tuple[str, str, str], ...]
"""A file, a line of it and what the line is while it is compiled, as `Build.rewritten` has it."""
_WIDE = b"(long double)"
_SIZED = frozenset(
    "size_t ssize_t ptrdiff_t intptr_t uintptr_t off_t wchar_t char16_t char32_t intmax_t "
    "uintmax_t time_t".split()
)
_INTEGERS = frozenset({"char", "short", "int", "long", "unsigned", "signed", "__int128"})
_WRAPS = frozenset({"unsigned-integer-overflow"})
_ARITHMETIC = frozenset({"+", "-", "*"})
_LEFT_ALONE = frozenset(
    "sizeof_expression alignof_expression type_descriptor array_declarator case_statement "
    "template_argument_list lambda_expression string_literal concatenated_string "
    "preproc_call preproc_def preproc_function_def preproc_if preproc_ifdef comment "
    "offsetof_expression decltype static_assert_declaration".split()
)
"""What is no code that runs, or has to be constant."""
_PLACES = frozenset({"identifier", "field_expression"})
"""Where a change of a value is read and written by the same text."""


def rewritings_for(finding: Finding, bench: Workbench) -> list[Rewriting]:
    """Return how the lines of a finding may be compiled so that conversions there are reported,
    the one that shows most first, and last, as they are: another one may not compile."""
    found: list[Rewriting] = []
    source = bench.source(finding.file)
    kinds = kinds_for(replace(finding, evidence=""))
    if source is None or not bench.tools.compiler or kinds.isdisjoint(OF_CLANG):
        return [()]
    if is_meant_to_wrap(bench, finding):
        return [()]
    if bench.tools.is_clang:
        line = source.line_text(finding.span.line)
        new = without_cast(finding, line)
        return [((finding.file, line, new),), ()] if new else [()]
    _, (first, last) = flaw_lines(bench, finding)[0]
    for arithmetic in (True, False) if _WRAPS & kinds else (False,):
        lines = checked_lines(source, first, last, arithmetic=arithmetic)
        found.append(tuple((finding.file, old, new) for old, new in lines))
    return list(dict.fromkeys([*found, ()]))


def checked_lines(
    source: Source, first: int, last: int, *, arithmetic: bool
) -> tuple[tuple[str, str], ...]:
    """Return lines of code from `first` to `last` with what they are when conversions are checked,
    and `arithmetic` of integers too; empty when there is nothing to check."""
    language = language_of(source.path, source.data)
    if language not in ("c", "cpp"):
        return ()
    writer = _Writer(source.data, arithmetic)
    for node in _statements(parse(source.data, language).root_node, source, first, last):
        writer.check(node)
    found = {}
    for number in range(first, last + 1):
        old = source.line_text(number)
        start = source.offset(number, 1)
        new = writer.line(start, start + len(old.encode("utf-8", "surrogateescape")))
        if new != old:
            found[old] = new
    return tuple(found.items())


def _statements(root: Node, source: Source, first: int, last: int) -> Iterator[Node]:
    """Yield the outermost statements that begin in some lines, of functions only."""
    start, end = source.offset(first, 1), source.offset(last + 1, 1)
    stack = [root]
    while stack:
        node = stack.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        is_whole = node.start_byte >= start
        inside = node.parent is not None and node.parent.type == "compound_statement"
        if is_whole and (inside or node.type.endswith("_statement")):
            yield node
            continue
        if node.type.endswith("_statement") and node.type != "compound_statement":
            head = field(node, "condition") or field(node, "value")
            if head is not None and head.start_byte >= start:
                yield head
        stack += node.named_children


class _Writer:
    """The insertions that check what some code does."""

    def __init__(self, data: bytes, arithmetic: bool) -> None:
        self._data, self._arithmetic = data, arithmetic
        self._edits: list[tuple[int, int, bytes]] = []
        """Where, up to where, and what stands there then; in the order they are written in."""

    def line(self, start: int, end: int) -> str:
        """Return the text of a line with its insertions."""
        parts, at = [], start
        own = [edit for edit in self._edits if start <= edit[0] and edit[1] <= end]
        for begin, stop, written in sorted(own, key=lambda edit: edit[:2]):
            parts += [self._data[at:begin], written]
            at = max(at, stop)
        return b"".join([*parts, self._data[at:end]]).decode("utf-8", "surrogateescape")

    def check(self, node: Node) -> None:
        """Check what a statement or expression does; what spans lines is left as it is."""
        if node.type in _LEFT_ALONE or (node.type == "declaration" and _is_constant(node)):
            return
        value, begin = self._conversion(node)
        is_here = node.start_point[0] == node.end_point[0]
        if value is not None and is_here:
            self._insert(value.start_byte, begin + _WIDE + b"(")
            self._check_parts(node)
            self._insert(value.end_byte, b")")
        elif is_here and self._change(node):
            return
        elif is_here and node.type == "binary_expression" and self._arithmetic:
            self._binary(node)
        else:
            self._check_parts(node)

    def _check_parts(self, node: Node) -> None:
        for part in node.named_children:
            self.check(part)

    def _conversion(self, node: Node) -> tuple[Node | None, bytes]:
        """Return the value that a node converts and the conversion that has to be written; None
        when it converts none."""
        value = field(node, "value")
        if node.type == "cast_expression":
            kind = field(node, "type")
            is_kept = kind is None or kind.named_child_count != 1 or not _is_integer(kind)
            return (None, b"") if is_kept else (value, b"")
        if node.type == "init_declarator" and value is not None and node.parent is not None:
            name = field(node, "declarator")
            is_plain = name is not None and name.type == "identifier"
            kind = field(node.parent, "type")
            if is_plain and _is_integer(kind) and value.type not in _LISTS:
                return value, b"(" + text(kind).encode() + b")"
        if node.type == "assignment_expression" and operator_of(node) == "=":
            left, right = field(node, "left"), field(node, "right")
            if left is not None and left.type in _PLACES and _may_be_number(right):
                return right, b"(__typeof__(" + text(left).encode() + b"))"
        if node.type == "return_statement" and node.named_child_count:
            around = next((n for n in ancestors(node) if n.type == "function_definition"), None)
            name, kind = field(around, "declarator"), field(around, "type")
            is_plain = name is not None and name.type == "function_declarator"
            returned = node.named_children[0]
            if is_plain and _is_integer(kind) and _may_be_number(returned):
                return returned, b"(" + text(kind).encode() + b")"
        return None, b""

    def _change(self, node: Node) -> bool:
        """Check what changes a variable by its old value; return whether a node does."""
        if node.type == "update_expression":
            return self._step(node)
        return node.type == "assignment_expression" and self._compound(node)

    def _step(self, node: Node) -> bool:
        """Check `x++` and the like where their value is not used; return whether it is one."""
        place = field(node, "argument")
        is_alone = node.parent is not None and node.parent.type == "expression_statement"
        if not self._arithmetic or place is None or place.type not in _PLACES or not is_alone:
            return False
        at, sign = text(place).encode(), operator_of(node)[:1].encode()
        new = b"%b = (__typeof__(%b))(%b%b %b 1)" % (at, at, _WIDE, at, sign)
        self._edits.append((node.start_byte, node.end_byte, new))
        return True

    def _compound(self, node: Node) -> bool:
        """Check `x += y` and the like; return whether it is one."""
        left, right = field(node, "left"), field(node, "right")
        operator = operator_of(node)
        is_one = len(operator) == 2 and operator[0] in _ARITHMETIC and operator[1] == "="
        if not is_one or left is None or right is None or left.type not in _PLACES:
            return False
        at = text(left).encode()
        new = b" = (__typeof__(%b))(%b%b %b (" % (at, _WIDE, at, operator[:1].encode())
        self._edits.append((left.end_byte, right.start_byte, new))
        self.check(right)
        self._insert(right.end_byte, b"))")
        return True

    def _binary(self, node: Node) -> None:
        left = field(node, "left")
        if left is None or operator_of(node) not in _ARITHMETIC:
            self._check_parts(node)
            return
        begin = b"(__typeof__(" + text(node).encode() + b"))(" + _WIDE + b"("
        self._insert(node.start_byte, begin)
        self.check(left)
        self._insert(left.end_byte, b")")
        right = field(node, "right")
        if right is not None:
            self.check(right)
        self._insert(node.end_byte, b")")

    def _insert(self, at: int, written: bytes) -> None:
        self._edits.append((at, at, written))


_LISTS = frozenset({"initializer_list", "string_literal"})


def _is_constant(node: Node) -> bool:
    """Return whether a declaration may have constant values only."""
    words = {text(part) for part in node.children if part.type.endswith(("specifier", "qualifier"))}
    return bool(words & {"static", "extern", "constexpr", "thread_local"})


def _is_integer(kind: Node | None) -> bool:
    words = text(kind).split()
    if not words or words == ["bool"]:
        return False
    name = words[-1].rpartition("::")[2]
    return set(words) <= _INTEGERS or name in _SIZED or (name[-2:] == "_t" and "int" in name)


def _may_be_number(value: Node | None) -> bool:
    return value is not None and value.type not in (*_LISTS, "null", "pointer_expression")
