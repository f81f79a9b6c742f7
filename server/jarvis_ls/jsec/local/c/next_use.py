"""What the statements behind a place do with a variable: the straight line, not every path.

From a statement on, its block is read in order of the text up to the first thing that names the
variable. What is inside a branch or loop is not decided here, nor what comes after a jump or a
label: following values along all paths is the work of `flow`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace

from jarvis_ls.codeintel.functions import Call, Function, Unit, call_at
from jarvis_ls.codeintel.nodes import bare, field, first_named, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.local.c.allocation import DEREFERENCES, called_name
from jarvis_ls.jsec.local.c.statement_effects import (
    ELSEWHERE,
    MANY,
    LineEnds,
    Mention,
    Search,
    identifiers_named,
)
from jarvis_ls.jsec.local.guards import leaves

FEW = 40
"""So few uses of a variable are examined for a question that flow answers too."""

FAR = 24
"""Statements that are examined behind one place."""

_MOST_AROUND = 32
"""Statements around one place behind which it is looked: to find what is around a node takes time
that grows with its depth."""

_JUMP = re.compile(r"\b(?:goto|return|break|continue|exit|_exit|abort|longjmp|siglongjmp)\b")
_BLOCKS = frozenset({"compound_statement", "case_statement"})
_DECLARING = frozenset({"parameter_declaration", "declaration", "for_range_loop"})


def next_mention(
    unit: Unit, item: Item, place: Node, path: str, *, past_tests: bool = False
) -> Mention | None:
    """Return the first thing behind `place` that is done to `path`, a name or a member such as
    `p->x`.

    With `past_tests` a condition that only asks for the variable is passed over. None when that
    is not decided on the straight line, or nothing names it.
    """
    statement = statement_of(place)
    if statement is None or not _is_path(path):
        return None
    search = Search(unit, item, path.encode())
    try:
        found = search.first(statement, place.end_byte)
        return found or _behind(search, statement, past_tests=past_tests)
    except LineEnds:
        return None


def mention_behind(unit: Unit, item: Item, statement: Node, path: str) -> Mention | None:
    """Return the same behind a whole statement."""
    try:
        return _behind(Search(unit, item, path.encode()), statement)
    except LineEnds:
        return None


def first_mention(unit: Unit, item: Item, branch: Node, path: str) -> Mention | None:
    """Return the first thing that is done to `path` in a branch, when control that enters it comes
    there."""
    search = Search(unit, item, path.encode())
    block = first_named(branch) if branch.type == "else_clause" else branch
    try:
        for statement in _statements(block) if block is not None else ():
            found = search.first(statement, statement.start_byte)
            if found is not None:
                return found
            if leaves(statement) or _may_leave(statement, unit):
                return None
    except LineEnds:
        pass
    return None


def mentions_before(site: Site, path: str) -> Iterator[Mention]:
    """Yield what the function does to `path` before a place, the last first."""
    search = Search(site.unit, site.item, path.encode())
    if site.function is not None:
        with contextlib.suppress(LineEnds):
            yield from search.before(site.function, site.node)


def use_after(release: Call) -> Mention | None:
    """Return the next use of what a call released."""
    argument = release.arg(0)
    if argument is None or release.is_method:
        return None
    path = text(bare(argument))
    if release.function is None:
        return next_mention(release.unit, release.item, release.node, path)
    known = _uses_after(release.function)
    key = release.node.id
    if key not in known:
        known[key] = next_mention(release.unit, release.item, release.node, path)
    return known[key]


@once_per_function
def _uses_after(function: Function) -> dict[int, Mention | None]:  # noqa: ARG001 - the key
    """Return what `use_after` finds, by the node of the call: several rules ask for the same."""
    return {}


def overwritten(call: Call) -> Node | None:
    """Return where the only variable that holds the result of a call is overwritten."""
    target = call.target
    if target is None or target.type != "identifier":
        return None
    found = next_mention(call.unit, call.item, call.node, text(target), past_tests=True)
    return found.node if found is not None and found.does == "set" and found.certain else None


def use_before_test(call: Call) -> Node | None:
    """Return where the result of a call is dereferenced without a null test before."""
    user = use_of(call.node)
    if user is not None and user.type == "argument_list" and user.parent is not None:
        outer = call_at(call.unit, call.item, user.parent)
        places = DEREFERENCES.get(called_name(outer), ()) if outer is not None else ()
        given = [outer.arg(index) for index in places] if outer is not None else []
        return call.node if any(a is not None and bare(a) == call.node for a in given) else None
    target = call.target
    if target is None:
        return None
    found = next_mention(call.unit, call.item, call.node, text(target))
    return found.node if found is not None and found.does == "dereference" else None


def declared_at(function: Function, name: str, place: Node | None = None) -> Node | None:
    """Return the name in the first declaration of a variable or parameter of that name in a
    function; with
    `place` in the last one in front of that."""
    found = None
    for use in identifiers_named(function, name):
        parent = use.parent
        if place is not None and use.start_byte >= place.start_byte:
            break
        if (
            parent is not None
            and (parent.type.endswith("declarator") or parent.type in _DECLARING)
            and use != field(parent, "value")
        ):
            if place is None:
                return use
            found = use
    return found


def only_value(function: Function, name: str) -> Node | None:
    """Return the one value that a local variable ever gets; None when it gets several, or may be
    changed otherwise.
    """
    found = values_of(function, name, MANY)
    return found[0] if found is not None and len(found) == 1 else None


def values_of(function: Function, name: str, most: int = FEW) -> list[Node] | None:
    """Return the values assigned to a local variable, in order of the text; None when it may be
    changed in another way, or occurs more than `most` times."""
    values, seen = [], False
    for use in identifiers_named(function, name, most):
        seen = True
        node, parent = use, use.parent
        while parent is not None and parent.type == "pointer_declarator":
            node, parent = parent, parent.parent
        kind = parent.type if parent is not None else ""
        if kind in ("parameter_declaration", "update_expression"):
            return None
        if kind == "pointer_expression" and operator_of(parent) == "&":
            return None
        given = None
        if kind == "init_declarator" and node == field(parent, "declarator"):
            given = field(parent, "value")
        elif kind == "assignment_expression" and node == field(parent, "left"):
            given = field(parent, "right")
            if operator_of(parent) != "=":
                return None
        if given is not None:
            values.append(given)
    return values if seen else None


def statement_of(node: Node) -> Node | None:
    """Return the declaration or plain statement around an expression; None when it is (part of) a
    condition."""
    for _ in range(64):
        parent = node.parent
        if parent is None:
            return None
        kind = node.type
        if kind in ("expression_statement", "declaration"):
            return node
        if kind.endswith("_statement") or kind in ELSEWHERE:
            return None
        node = parent
    return None


def following_statements(statement: Node) -> Iterator[tuple[Node, bool]]:
    """Statements that run after one, and whether they always do when that does.

    Behind a branch of an `if` comes what is behind the `if`; a loop or case ends the line, a
    label does too.
    """
    certain = True
    left = FAR
    for _ in range(_MOST_AROUND):
        block = statement.parent
        if block is None:
            return
        if block.type in _BLOCKS:
            cursor = block.walk()
            more = cursor.goto_first_child_for_byte(statement.end_byte) is not None
            while more and left > 0:
                node = cursor.node
                if node is None or node.type == "labeled_statement":
                    return
                if node.is_named and node.type != "comment":
                    left -= 1
                    yield node, certain
                more = cursor.goto_next_sibling()
        if left <= 0:
            return
        branch = block if block.type == "compound_statement" else statement
        around = branch.parent
        if around is not None and around.type == "else_clause":
            around = around.parent
        if around is None or around.type != "if_statement":
            return
        statement, certain = around, False


def _behind(search: Search, statement: Node, *, past_tests: bool = False) -> Mention | None:
    """Return the first mention behind a statement."""
    for following, certain in following_statements(statement):
        found = search.first(following, following.start_byte)
        if found is None:
            if leaves(following) or _may_leave(following, search.unit):
                return None
        elif not (past_tests and found.does == "test" and search.only(following, found)):
            return found if certain else replace(found, certain=False)
    return None


def _may_leave(statement: Node, unit: Unit) -> bool:
    """Return whether a statement is a macro that may jump: one whose text says so, or a name alone
    whose text is not known."""
    if statement.type != "expression_statement":
        return False
    inner = first_named(statement)
    if inner is not None and inner.type == "identifier":
        body = unit.facts.macros.get(text(inner))
    elif inner is not None and inner.type == "call_expression":
        macro = unit.facts.function_macros.get(text(field(inner, "function")))
        body = "" if macro is None else macro.body
    else:
        return False
    return body is None or _JUMP.search(body) is not None


def _statements(block: Node) -> list[Node]:
    return block.named_children[:FAR] if block.type == "compound_statement" else [block]


def _is_path(path: str) -> bool:
    return path.replace("->", "_").replace(".", "_").isidentifier()
