"""The fix of `p = realloc(p, n)`: the result goes through a variable of its own and is tested, and
the old block is kept when there is none."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Rewrite
from jarvis_ls.jsec.local.c.failure_exits import failure_exit
from jarvis_ls.jsec.local.c.layout import (
    BLOCKS,
    EditOfBytes,
    add_after,
    add_before,
    declare,
    layout_of,
    replace_statement,
    stands_alone,
)
from jarvis_ls.jsec.local.constants import declaration
from jarvis_ls.jsec.local.guards import NEVER_RETURN, NULLS, leaves

_TITLE = "Keep '{pointer}' when {function}() fails"
_NAMES = ("resized", "reallocated")
_MANY = 400
"""So many assignments of a function are looked at."""
_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)\w+)*")
_RELEASES = {
    "sqlite3_realloc": "sqlite3_free",
    "sqlite3_realloc64": "sqlite3_free",
    "OPENSSL_realloc": "OPENSSL_free",
    "g_try_realloc": "g_free",
}


def keep_on_failure(
    call: Call, function: Function, pointer: str, assignment: Node
) -> Rewrite | None:
    """Return the fix. An existing test of the pointer becomes one of the new variable; where there
    is none, the function leaves as it does for other failures.

    Not safe: with size 0, realloc may free the block and return NULL.
    """
    name = next((name for name in _NAMES if not function.uses(name)), None)
    if name is None or (call.unit.language == "cpp" and function.nodes("goto")):
        return None  # a jump must not pass an initialisation
    new = _New(call, function, pointer, assignment, name)
    if new.has_stale_size():
        return None
    edits = new.in_condition() or new.with_test() or new.without_test()
    if not edits:
        return None
    return Rewrite(_TITLE, edits, safe=False, pointer=pointer, function=call.name)


class _New:
    """One `p = realloc(p, n)`, and how it may be written instead."""

    def __init__(
        self, call: Call, function: Function, pointer: str, assignment: Node, name: str
    ) -> None:
        self.call = call
        self.function = function
        self.pointer = pointer
        self.assignment = assignment
        self.name = name

    def in_condition(self) -> list[EditOfBytes]:
        """`if ((p = realloc(p, n)) == NULL) …`."""
        test = self.assignment.parent
        place = self.assignment
        if test is not None and test.type == "parenthesized_expression":
            place, test = test, test.parent
        if test is None or not _is_failure(test, place):
            return []
        branching = test.parent
        if branching is not None and branching.type == "condition_clause":
            branching = branching.parent
        if branching is not None and branching.type == "parenthesized_expression":
            branching = branching.parent
        if branching is None or not self._is_exit(branching):
            return []
        return self._around(branching, place, branching)

    def with_test(self) -> list[EditOfBytes]:
        """`p = realloc(p, n); if (p == NULL) …`."""
        statement = self._statement()
        following = statement.next_named_sibling if statement is not None else None
        if statement is None or following is None or not self._is_exit(following):
            return []
        condition = field(following, "condition")
        test = _inner(condition)
        subject = _subject(test) if test is not None else None
        if test is None or subject is None or text(subject) != self.pointer:
            return []
        return self._around(statement, subject, following)

    def without_test(self) -> list[EditOfBytes]:
        """`p = realloc(p, n);`."""
        statement, function = self._statement(), self.function
        if statement is None or self._is_tested_later(statement):
            return []
        leave = failure_exit(function, self.call.node, self.call.name)
        if not leave:
            return []
        jump = leave[-1]
        ends = jump.partition("(")[0].strip() in NEVER_RETURN
        freed = f"{self._release()}({self.pointer});"
        if self._is_own() and not ends and not jump.startswith("goto") and freed not in leave:
            leave = [freed, *leave]
        layout = layout_of(function)
        elsewhere, lines = self._declare(statement)
        lines += layout.when(layout.is_null(self.name), leave)
        lines.append(f"{self.pointer} = {self.name};")
        return [*elsewhere, *replace_statement(function, statement, lines)]

    def _around(self, first: Node, subject: Node, branching: Node) -> list[EditOfBytes]:
        """Return the edits with the new variable in front of or in the place of `first`, tested
        where `subject` is, and stored behind the `if`."""
        function = self.function
        branch = field(branching, "consequence")
        if branch is None:
            return []
        elsewhere, lines = self._declare(first)
        place = (
            add_before(function, first, lines)
            if first == branching
            else replace_statement(function, first, lines)
        )
        stored = add_after(function, branching, [f"{self.pointer} = {self.name};"])
        tested = ((subject.start_byte, subject.end_byte), self.name)
        return [*elsewhere, *place, tested, *self._free_in(branch), *stored]

    def _free_in(self, branch: Node) -> list[EditOfBytes]:
        """Return the release of a block that only the function itself knows, before it leaves."""
        function, pointer = self.function, self.pointer
        last = _last_of(branch)
        written = text(last)
        if last is None or not self._is_own():
            return []
        if re.search(rf"free\w*\s*\(\s*{re.escape(pointer)}\s*\)", text(branch)):
            return []
        if written.partition("(")[0].strip() in NEVER_RETURN:
            return []
        if last.type == "goto_statement" and self._is_freed_behind(text(field(last, "label"))):
            return []
        return add_before(function, last, [f"{self._release()}({pointer});"])

    def has_stale_size(self) -> bool:
        """Return whether what lasts longer than the function says the new size already: it would be
        wrong for the old block."""
        size = self.call.arg(1)
        words = set(_PATH.findall(text(size))) if size is not None else set()
        changed = (*self.function.nodes("assign"), *self.function.nodes("update"))
        if len(changed) > _MANY:
            return True
        for node in changed:
            target = text(field(node, "left") or field(node, "argument")).replace(" ", "")
            base = target.lstrip("*(").partition("-")[0].partition(".")[0]
            if node.start_byte > self.assignment.start_byte or target.strip("*()") not in words:
                continue
            variable = self.function.variable(base, node.start_byte)
            if variable is None or variable.is_static or target != variable.name:
                return True
        return False

    def _is_own(self) -> bool:
        """Return whether the pointer is a local variable: nobody else knows its block."""
        variable = self.function.variable(self.pointer, self.assignment.start_byte)
        return variable is not None and not variable.is_parameter and not variable.is_static

    def _release(self) -> str:
        return _RELEASES.get(self.call.name, "free")

    def _is_freed_behind(self, label: str) -> bool:
        """Return whether what a jump leads to frees the pointer."""
        place = next(
            (node for node in self.function.nodes("label") if text(field(node, "label")) == label),
            None,
        )
        return place is not None and any(
            "free" in call.name and text(call.arg(0)) == self.pointer
            for call in self.function.calls
            if call.node.start_byte > place.start_byte
        )

    def _statement(self) -> Node | None:
        """Return the statement that is nothing but the assignment, in a block."""
        statement = self.assignment.parent
        if statement is None or statement.type != "expression_statement":
            return None
        in_block = statement.parent is not None and statement.parent.type in BLOCKS
        return statement if in_block and stands_alone(self.function, statement) else None

    def _is_tested_later(self, statement: Node) -> bool:
        """Return whether the next statement asks for the pointer: it may handle the failure."""
        following = statement.next_named_sibling
        while following is not None and following.type == "comment":
            following = following.next_named_sibling
        if following is None or following.type not in ("if_statement", "expression_statement"):
            return False
        asked = text(field(following, "condition") or following)
        return self.pointer in asked and (
            following.type == "if_statement" or "assert" in asked.lower()
        )

    def _is_exit(self, branching: Node) -> bool:
        """Return whether an `if` in a block does nothing but leave when its condition holds."""
        branch = field(branching, "consequence")
        return (
            branching.type == "if_statement"
            and branching.parent is not None
            and branching.parent.type in BLOCKS
            and field(branching, "alternative") is None
            and branch is not None
            and leaves(branch)
            and stands_alone(self.function, branching)
        )

    def _declare(self, statement: Node) -> tuple[list[EditOfBytes], list[str]]:
        value = text(field(self.assignment, "right"))
        return declare(self.function, statement, self._declaration_of(), value)

    def _declaration_of(self) -> str:
        """Return the new variable with the type of the pointer."""
        known = declaration(field(self.assignment, "left"), self.function)
        if known is not None and known.type and not known.arrays:
            words = [word for word in known.type.split() if word not in ("static", "register")]
            if words and "auto" not in words:
                return f"{' '.join(words)} {'*' * known.pointers}{self.name}"
        return f"{'auto' if self.call.unit.language == 'cpp' else 'void'} *{self.name}"


def _inner(condition: Node | None) -> Node | None:
    """Return a condition without what is around it."""
    while condition is not None and condition.type in (
        "parenthesized_expression",
        "condition_clause",
    ):
        condition = condition.named_children[0] if condition.named_child_count == 1 else None
    return condition


def _subject(test: Node) -> Node | None:
    """Return the pointer whose being null a whole condition asks for."""
    if test.type == "unary_expression" and operator_of(test) == "!":
        return field(test, "argument")
    if test.type != "binary_expression" or operator_of(test) != "==":
        return None
    left, right = field(test, "left"), field(test, "right")
    if left is None or right is None:
        return None
    if text(bare(right)) in NULLS:
        return left
    return right if text(bare(left)) in NULLS else None


def _is_failure(test: Node, place: Node) -> bool:
    """Return whether a condition is true when the value of `place` is null."""
    return _subject(test) == place


def _last_of(branch: Node) -> Node | None:
    """Return the last statement of a branch."""
    if branch.type != "compound_statement":
        return branch
    found = [child for child in branch.named_children if child.type != "comment"]
    return found[-1] if found else None
