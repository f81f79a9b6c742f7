"""What one statement does with a variable or member: the first place in it that names it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Literal

from jarvis_ls.codeintel.functions import Call, Function, Unit, call_at
from jarvis_ls.codeintel.nodes import BLANKED, ancestors, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.local.c.allocation import DEREFERENCES, RELEASES, called_name

MANY = 2000
"""Times a name may be in a function whose every use is examined."""

_LONG = 8192
"""Bytes of a function that is not searched for each of many words."""

_LOOKUPS = 24
"""Words that such a function is searched for; to list where each of its words is costs as much."""

_MENTIONS = 32
"""Times a name is examined in one statement."""

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_WRAPPING = frozenset({"parenthesized_expression", "cast_expression"})
_NAMES = frozenset({"identifier", "field_expression"})
_PLACES = frozenset({"parenthesized_expression", "field_expression", "subscript_expression"})
_UNEVALUATED = frozenset(
    {
        "sizeof_expression",
        "alignof_expression",
        "decltype",
        "noexcept",
        "offsetof_expression",
        "type_descriptor",
        "parameter_list",
    }
)
_DECIDING = frozenset({"if_statement", "while_statement", "switch_statement", "for_statement"})
ELSEWHERE = frozenset(
    "compound_statement case_statement lambda_expression function_definition "
    "labeled_statement do_statement for_range_loop else_clause try_statement preproc_if "
    "preproc_ifdef gnu_asm_expression ERROR".split()
)
_TESTING = frozenset(
    {
        "if_statement",
        "while_statement",
        "do_statement",
        "for_statement",
        "condition_clause",
        "unary_expression",
        "conditional_expression",
        "switch_statement",
    }
)
_COMPARING = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})

Does = Literal["set", "test", "dereference", "release", "pass", "read", "return", "address"]
USING = frozenset({"dereference", "pass", "read", "return"})
"""What needs a value that is still there."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that names a variable or member."""

    node: Node
    """The variable or member."""
    does: Does
    """What happens to it."""
    by: str = ""
    """The function it is given to."""
    certain: bool = True
    """Whether control always comes here from where the search began."""


class LineEnds(Exception):
    """What names the variable is in a branch, or changes what it is part of."""


class Search:
    """Looks for one variable or member."""

    def __init__(self, unit: Unit, item: Item, path: bytes) -> None:
        self.unit = unit
        self._item = item
        self._path = path
        self.base = path.replace(b"->", b".").partition(b".")[0]

    def first(self, statement: Node, start: int, end: int | None = None) -> Mention | None:
        """Return the first mention in (the rest of) a statement; raises `LineEnds` when that
        decides nothing.
        """
        for at in self.places(start, statement.end_byte if end is None else end):
            use = self._node(statement, at)
            if use is None:
                raise LineEnds
            path = _path(statement, use) if use.type in _NAMES else None
            if path is None or not _is_evaluated(path):
                continue
            if use.byte_range != (at, at + len(self._path)):
                if _other_member(use):
                    continue
                raise LineEnds
            if not _always_reached(statement, path):
                raise LineEnds
            return self._mention(use, statement)
        return None

    def before(self, function: Function, place: Node) -> Iterator[Mention]:
        """Yield the last mentions in a function before a place, the last first."""
        data, base = self.unit.source.data, self.base
        end = place.start_byte
        for _ in range(_MENTIONS):
            end = data.rfind(base, function.start, end)
            if end < 0:
                return
            if not is_word(data, end, end + len(base)):
                continue
            use = self._node(function.node, end)
            if use is None or use.type not in _NAMES:
                continue
            if use.byte_range != (end, end + len(self._path)):
                if _other_member(use):
                    continue
                return
            if _is_evaluated(_path(function.node, use)):
                changed = any(
                    outer.type == "assignment_expression"
                    and (field(outer, "left") or outer).text == self._path
                    for outer in ancestors(use, function.node)
                )
                yield Mention(use, "set") if changed else self._earlier(use, function.node)

    def _earlier(self, use: Node, function: Node) -> Mention:
        """Return a mention that lies before a place: a macro may set the variable, yet what is
        further up still says what it was."""
        try:
            return self._mention(use, function)
        except LineEnds:
            return Mention(use, "pass")

    def only(self, statement: Node, found: Mention) -> bool:
        """Return whether nothing behind a mention in a statement names the variable again."""
        return next(self.places(found.node.end_byte, statement.end_byte), None) is None

    def places(self, start: int, end: int, most: int = _MENTIONS) -> Iterator[int]:
        """Bytes between two others at which the name, or the first one of a path, is; looked
        at are `most` places where its letters do."""
        data, base = self.unit.source.data, self.base
        at = data.find(base, start, end)
        for _ in range(most):
            if at < 0:
                return
            after = at + len(base)
            if is_word(data, at, after):
                yield at
            at = data.find(base, after, end)

    def _node(self, statement: Node, at: int) -> Node | None:
        """Return the path when it is there, else what its first name is there."""
        data, path, base = self.unit.source.data, self._path, self.base
        end = at + len(path)
        if data.startswith(path, at) and (end >= len(data) or data[end] not in _WORD):
            whole = statement.descendant_for_byte_range(at, end)
            if whole is not None and whole.byte_range == (at, end):
                return whole
        return statement.descendant_for_byte_range(at, at + len(base))

    def _mention(self, use: Node, statement: Node) -> Mention:
        node, parent = use, use.parent
        for _ in range(16):
            if parent is None or parent.type not in _WRAPPING:
                break
            node, parent = parent, parent.parent
        if parent is None:
            raise LineEnds
        if parent.type == "assignment_expression" and node == field(parent, "left"):
            if operator_of(parent) != "=":
                return Mention(use, "read")
            return self.first(statement, use.end_byte, parent.end_byte) or Mention(use, "set")
        if parent.type == "argument_list" and parent.parent is not None:
            return self._mention_in_call(use, node, parent.parent)
        return Mention(use, _effect_on(node, parent))

    def _mention_in_call(self, use: Node, node: Node, outer: Node) -> Mention:
        call = call_at(self.unit, self._item, outer) if outer.type == "call_expression" else None
        if call is None:
            return Mention(use, "pass")
        name = called_name(call)
        first = call.arguments[:4]
        index = next((i for i, a in enumerate(first) if a.id == node.id), 4)
        if name in RELEASES and index == 0 and not call.is_method:
            return Mention(use, "release", name)
        if index in DEREFERENCES.get(name, ()):
            return Mention(use, "dereference", name)
        if call.written.isupper() or call.written in self.unit.facts.function_macros:
            raise LineEnds  # a macro may set it
        return Mention(use, "pass", call.name)


def is_word(data: bytes, start: int, end: int) -> bool:
    """Return whether what is between two bytes is no part of a longer word."""
    return data[start - 1] not in _WORD and (end >= len(data) or data[end] not in _WORD)


def _effect_on(node: Node, parent: Node) -> Does:
    kind = parent.type
    if kind == "pointer_expression":
        if text(parent.children[0]) == "&":
            return "address"
        return _through(parent)
    if kind in ("subscript_expression", "field_expression"):
        if node != field(parent, "argument"):
            return "read"
        if kind == "field_expression" and parent.children[1].type != "->":
            return "read"
        return _through(parent)
    if kind == "delete_expression":
        return "release"
    if kind == "return_statement":
        return "return"
    if kind == "init_declarator" and node == field(parent, "declarator"):
        return "set"
    if kind in ("pointer_declarator", "array_declarator", "declaration", "function_declarator"):
        return "set"
    if kind == "binary_expression":
        return "test" if operator_of(parent) in _COMPARING else "read"
    return "test" if kind in _TESTING else "read"


def _through(access: Node) -> Does:
    """`*p`, `p->x`, `p[i]`: unless only the address of that is taken."""
    node: Node | None = access.parent
    for _ in range(8):
        if node is None or node.type not in _PLACES:
            break
        node = node.parent
    if node is not None and node.type == "pointer_expression" and text(node.children[0]) == "&":
        return "address"
    return "dereference"


def _other_member(use: Node) -> bool:
    """Return whether only another member of the same structure is meant, and not given away."""
    parent = use.parent
    return (
        parent is not None
        and parent.type == "field_expression"
        and field(parent, "argument") == use
    )


def _path(outer: Node, inner: Node) -> list[Node]:
    """Nodes from below one down to another in it, that one included. Going down from a statement
    costs a third of going up: each step up begins at the root of the tree."""
    path: list[Node] = []
    node: Node | None = outer
    while node is not None and node != inner:
        node = node.child_with_descendant(inner)
        if node is not None:
            path.append(node)
    return path


def _is_evaluated(path: list[Node]) -> bool:
    for node in path:  # noqa: SIM110 - asked so often that a generator is dear
        if node.type in _UNEVALUATED:
            return False
    return True


def _always_reached(statement: Node, path: list[Node]) -> bool:
    """Return whether control that comes to a statement comes to the end of a path in it, but for
    what a condition leaves out.
    """
    outer = statement
    for below in path:
        kind = outer.type
        if kind in ELSEWHERE:
            return False
        if (
            kind in _DECIDING
            and field(outer, "condition") != below
            and not (kind == "for_statement" and field(outer, "initializer") == below)
        ):
            return False
        outer = below
    return True


def identifiers_named(
    function: Function, name: str, most: int = MANY, start: int = 0
) -> Iterator[Node]:
    """Yield identifiers of a name in a function, from byte `start` on, in order; none when its
    letters occur more than `most` times."""
    base = Search(function.unit, function.item, name.encode()).base
    for at in _places_of(function, base, most, max(start, function.start)):
        node = function.node.descendant_for_byte_range(at, at + len(base))
        if node is not None and node.type == "identifier":
            yield node


def calls_of(whole: WholeUnit, name: str) -> Iterator[Call]:
    """Yield calls of a plain name in the functions of a file, each with its innermost function."""
    seen: set[int] = set()
    for function in reversed(whole.mentioning(name.encode())):
        for use in identifiers_named(function, name):
            outer = use.parent
            if use.start_byte in seen or outer is None or outer.type != "call_expression":
                continue
            seen.add(use.start_byte)
            called = field(outer, "function") == use
            call = call_at(whole.unit, function.item, outer, function) if called else None
            if call is not None:
                yield call


def _places_of(function: Function, word: bytes, most: int, start: int) -> Iterable[int]:
    is_long = function.end - function.start > _LONG
    listed = is_long and next(_lookups(function)) > _LOOKUPS
    if not listed and function.unit.source.data.count(word, start, function.end) > most:
        if not is_long:
            return ()
        listed = True  # its letters may be in other words
    if not listed:
        return Search(function.unit, function.item, word).places(start, function.end, most)
    known = _words(function).get(word, [])
    first = bisect_left(known, start)
    if len(known) - first > most:
        return ()
    return (known[at] for at in range(first, len(known)))


@once_per_function
def _lookups(function: Function) -> Iterator[int]:  # noqa: ARG001 - the key
    """Count the searches for words in a long function."""
    return count(1)


@once_per_function
def _words(function: Function) -> dict[bytes, list[int]]:
    """Return the positions of each word of a function, in order."""
    known: dict[bytes, list[int]] = defaultdict(list)
    at = function.start
    for word in function.unit.source.data[at : function.end].translate(BLANKED).split(b" "):
        if word:
            known[word].append(at)
        at += len(word) + 1
    return known
