"""What a program does with the result of a call: drops it, stores it, compares it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.c.statement_effects import identifiers_named
from jarvis_ls.jsec.local.guards import enclosing_loop, leaves

_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_BRANCHES = frozenset({"if_statement", "while_statement", "do_statement", "for_statement"})
_COMPLAINS = re.compile(
    r"perror|strerror|EXIT_FAILURE|\babort\b|(?i:fail|error|cannot|can't|could not|unable)"
)
_ASKING = frozenset({"ferror", "feof", "ferror_unlocked", "feof_unlocked"})
_ENDING = frozenset({"fflush", "fclose", "pclose"})
_NESTED = re.compile(r"\bif\b")
_ARITY = {
    **dict.fromkeys(("pipe", "remove", "close", "fclose"), 1),
    **dict.fromkeys(("listen", "truncate", "ftruncate", "rename", "link", "symlink", "mlock"), 2),
    **dict.fromkeys(("stat", "fstat", "lstat", "chmod", "fchmod", "dup2", "mkfifo"), 2),
    **dict.fromkeys(("connect", "bind", "read", "write", "chown", "fchown", "mprotect"), 3),
    **dict.fromkeys(("send", "recv", "fread", "fwrite"), 4),
    **dict.fromkeys(("ReadFile", "WriteFile"), 5),
    **dict.fromkeys(("CopyFile", "CopyFileA", "CopyFileW"), 3),
    **dict.fromkeys(("MoveFile", "MoveFileA", "MoveFileW"), 2),
}
"""Arguments of library functions that have names which others like, too."""
_REACH = 400
"""Bytes before a statement that are examined."""
_MAX_USES = 40


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison of a call's result."""

    node: Node
    """The comparison; for a bare or negated test, that expression."""
    operator: str
    """`==`, `<` and so on with the result on the left; `!` for a negated, `` for a bare test."""
    other: str
    """Text of what it is compared with; empty without comparison."""
    subject: Node
    """The expression that holds the result."""


def is_result_dropped(call: Call) -> bool:
    """Return whether the result of a call is thrown away: the call is a statement of its own, or
    the local variable that takes the result is never read. A cast to void is a decision.
    """
    if is_of_program(call):
        return False
    if call.statement is not None:
        return not _is_continued(call)
    function, target = call.function, call.target
    if function is None or target is None or target.type != "identifier":
        return False
    store = use_of(call.node)
    if (
        store is not None
        and store.type == "assignment_expression"
        and (store.parent is None or store.parent.type != "expression_statement")
    ):
        return False
    variable = function.variable(text(target), target.start_byte)
    if (
        variable is None
        or variable.is_static
        or (variable.pointers and "char" not in variable.type)
    ):
        return False
    later = function.uses(text(target), call.node.end_byte)
    if len(later) > _MAX_USES or any(not is_write(n) for n in later):
        return False
    loop = enclosing_loop(call.node, function)
    before = [] if loop is None else function.uses(text(target), loop.start_byte)[:_MAX_USES]
    return all(is_write(n) or n == variable.node for n in before)


def is_of_program(call: Call) -> bool:
    """Return whether a library function's name means something else here: it is called with another
    number of arguments, is a function of the program that returns nothing, or a macro that does
    not call it."""
    if len(call.arguments) != _ARITY.get(call.name, len(call.arguments)):
        return True
    facts = call.unit.facts
    macro = facts.function_macros.get(call.name) if call.written == call.name else None
    if macro is not None and call.name not in facts.functions:
        return call.name not in macro.body
    declared = facts.functions.get(call.name)
    return declared is not None and declared.type == "void" and not declared.pointers


def _is_continued(call: Call) -> bool:
    """Return whether a statement is the rest of one before a directive: `int n =`, `#if A`,
    `f();`.
    """
    statement = call.statement
    assert statement is not None
    before = call.unit.source.data[max(0, statement.start_byte - _REACH) : statement.start_byte]
    lines = before.split(b"\n")[::-1]
    if lines[0].strip() or len(lines) < 2 or lines[1].lstrip()[:1] != b"#":
        return False
    code = next((s for line in lines[1:] if (s := line.strip()) and s[:1] != b"#"), b";")
    return code[-1:] in b"=,(&|+?<>" and not code.startswith((b"/", b"*"))


def tests_of(call: Call) -> Iterator[Test]:
    """Yield the comparisons of the result: directly around the call, or of the variable it is
    stored in, as long as that is not set again.
    """
    if call.statement is not None:
        return  # most calls: nothing is done with the result
    parent = use_of(call.node)
    if parent is not None and (found := _test(call.node)) is not None:
        yield found
        return
    target, function = call.target, call.function
    if target is None:
        return
    if parent is not None and parent.type == "assignment_expression":
        found = _test(parent)
        if found is not None:
            yield found
            return
    if function is None or target.type != "identifier":
        return
    later = identifiers_named(function, text(target), start=call.node.end_byte)
    for use in islice(later, _MAX_USES):
        if is_write(use) or is_step(use):
            return  # what is tested later is another value
        if (found := _test(use)) is not None:
            yield found


def reports_failure(branch: Node | None) -> bool:
    """Return whether a branch reads like the handling of an error: it prints so, or gives up."""
    if branch is None:
        return False
    words = text(branch)[:400]
    if "if" in words and _NESTED.search(words):
        return False  # what goes wrong may be another thing
    return _COMPLAINS.search(words) is not None or (
        leaves(branch)
        and re.search(r"return\s*\(?\s*-\s*1|return\s+NULL|exit\s*\(\s*1", words) is not None
    )


def branch_of(test: Test) -> Node | None:
    """Return the branch that is taken when a test (alone in its condition) holds."""
    node: Node | None = test.node
    for _ in range(8):
        if node is None:
            return None
        if node.type in ("if_statement", "while_statement"):
            return field(node, "consequence") or field(node, "body")
        if node is not test.node and node.type not in (
            "parenthesized_expression",
            "condition_clause",
        ):
            return None
        node = node.parent
    return None


def is_write(use: Node) -> bool:
    """Return whether a use of a variable gives it a value."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type == "assignment_expression":
        return field(parent, "left") == use and operator_of(parent) == "="
    return parent.type == "init_declarator" and field(parent, "declarator") == use


def is_step(use: Node) -> bool:
    """Return whether a use counts a variable up or down."""
    return use.parent is not None and use.parent.type == "update_expression"


def stream_checked(function: Function, stream: str, after: int = 0) -> bool:
    """Return whether the function asks `ferror` or `feof` about a stream, or examines the result of
    `fflush` or `fclose`, after a byte."""
    return _last_checks(function).get(stream, -1) >= after


@once_per_function
def _last_checks(function: Function) -> dict[str, int]:
    """By stream, where the function last asks whether something went wrong with it."""
    found: dict[str, int] = {}
    for call in function.calls:
        if call.name in _ASKING or (call.name in _ENDING and not is_result_dropped(call)):
            found[text(call.arg(0))] = call.node.start_byte
    return found


def _test(node: Node) -> Test | None:
    """Return how the value of `node` is tested, if it is."""
    user = use_of(node)
    if user is None:
        return None
    if user.type == "binary_expression":
        operator = operator_of(user)
        left, right = field(user, "left"), field(user, "right")
        if left is None or right is None:
            return None
        if operator in ("&&", "||"):
            return Test(node, "", "", node)
        if operator not in _COMPARISONS:
            return None
        if bare(left) == node or node == left:
            return Test(user, operator, text(bare(right)), node)
        return Test(user, _MIRRORED.get(operator, operator), text(bare(left)), node)
    if user.type == "unary_expression" and operator_of(user) == "!":
        return Test(user, "!", "", node)
    if user.type in _BRANCHES or user.type == "condition_clause":
        return Test(node, "", "", node)
    return None
