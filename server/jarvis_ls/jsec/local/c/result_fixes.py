"""Fixes that test the result of a call, and leave the function as it leaves for other failures."""

from __future__ import annotations

import re
from itertools import islice

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Rewrite
from jarvis_ls.jsec.local.c.failure_exits import enclosing_statement, failure_exit
from jarvis_ls.jsec.local.c.formats import scans
from jarvis_ls.jsec.local.c.layout import (
    BLOCKS,
    EditOfBytes,
    add_after,
    layout_of,
    replace_statement,
    stands_alone,
)
from jarvis_ls.jsec.local.constants import constant, string_literal
from jarvis_ls.jsec.local.guards import leaves

TITLE = "Test the result of {function}() and leave as for other failures"

_SCANS = {"scanf": 0, "fscanf": 1, "sscanf": 1}
_BLOCK_COUNTS = {"fread": 2, "fwrite": 2, "fread_unlocked": 2, "fwrite_unlocked": 2}
_WHOLE = {"read": 2, "pread": 2, "write": 2, "pwrite": 2, "getrandom": 1}
_NULL_ON_FAILURE = frozenset({"fgets", "fgetws", "getcwd"})
_NEGATIVE_ON_FAILURE = frozenset({"fputs", "fputws", "getline", "getdelim", "lseek"})
_ZERO_ON_SUCCESS = frozenset(
    "rename chdir fchdir ftruncate truncate renameat fseek fseeko fsetpos pipe socketpair bind "
    "listen connect stat fstat lstat mprotect getentropy pthread_create pthread_mutex_init "
    "pthread_key_create pthread_mutex_trylock pthread_mutex_timedlock pthread_spin_trylock "
    "pthread_rwlock_trywrlock pthread_rwlock_tryrdlock sem_trywait sem_timedwait sem_init sem_wait "
    "pthread_setspecific pthread_attr_setstacksize".split()
)
"""What the rest of a function relies on; a failure of `chmod` it may well survive."""
_FILLS = frozenset(
    "fread fread_unlocked fgets fgetws read pread getcwd getline getdelim getrandom getentropy "
    "scanf fscanf sscanf stat fstat lstat pipe socketpair pthread_mutex_trylock "
    "pthread_mutex_timedlock".split()
)
"""Functions that give what the code behind them uses."""
_ASIDE = re.compile(r"(?i)debug|dbg|verbose|trace|log(?!in)")
_RESTORES = re.compile(
    r"(?i)(?:\w*_)?(?:end|leave|restore|unblock|unlock|pop|resume|enable)(?:_\w*)?\s*\(\s*\)"
)
_MOST_AROUND = 24
"""Statements around one: deeper code is not plain."""
_LONG = 100_000
"""Bytes of a loop that is looked at."""
_FAR = 40
"""Declarations behind one that are looked at."""
_NEAR = 6
"""Statements behind one that are looked at."""
_SIMPLE = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)\w+)*")
_DECLARED = "declaration"


def test_dropped_result(call: Call) -> Rewrite | None:
    """Return the fix of a call whose result is dropped: an `if` around it, and the exit that the
    function has for failures."""
    statement, function = call.statement, call.function
    if statement is None or function is None or call.is_method or call.written != call.name:
        return None
    if statement.parent is None or field(statement.parent, "body") == statement:
        return None  # the body of a loop
    failed = _failure_of(call)
    if not failed or not _may_be_rebuilt(function, statement) or _is_aside(function, statement):
        return None
    if _is_left_anyway(function, statement):
        return None
    leave = failure_exit(function, call.node, call.name)
    if leave and leave[-1] == "return;" and call.name not in _FILLS:
        return None  # to leave the rest undone, and tell nobody, is rarely meant
    if not leave or text(statement.next_named_sibling) == leave[-1]:
        return None
    layout = layout_of(function)
    edits = replace_statement(function, statement, layout.when(failed, leave))
    return Rewrite(TITLE, edits, safe=False, function=call.name)


def test_pointer(call: Call) -> Rewrite | None:
    """Return the fix of a pointer that a call returned and nothing tested: a test behind the
    statement that stores it."""
    function, target = call.function, call.target
    if function is None or target is None or not _SIMPLE.fullmatch(text(target)):
        return None
    statement = enclosing_statement(call.node, function)
    user = use_of(call.node)
    if statement is None or user is None or not _stores(user, statement):
        return None
    if _is_aside(function, statement) or function.node.has_error:
        return None
    behind = _behind_declarations(statement, text(target))
    if behind is None or behind.parent is None or behind.parent.type not in BLOCKS:
        return None
    leave = failure_exit(function, call.node, call.name)
    if not leave or not stands_alone(function, behind):
        return None
    layout = layout_of(function)
    lines = layout.when(layout.is_null(text(target)), leave)
    edits: list[EditOfBytes] = add_after(function, behind, lines)
    return Rewrite(TITLE, edits, safe=False, function=call.name)


def _is_left_anyway(function: Function, statement: Node) -> bool:
    """Return whether a block around a statement leaves behind it, as one that handles a failure
    does, or the function ends there."""
    outer = statement
    for around in islice(ancestors(statement, function.node), _MOST_AROUND):
        if around == function.body:
            following = outer.next_named_sibling
            while following is not None and following.type == "comment":
                following = following.next_named_sibling
            return following is None
        if around.type == "compound_statement":
            last = around.named_child(around.named_child_count - 1)
            if last is not None and last != outer and leaves(last):
                return True
        outer = around
    return True


def _is_aside(function: Function, statement: Node) -> bool:
    """Return whether a statement only logs, or is of a loop that goes on where it fails."""
    for outer in islice(ancestors(statement, function.node), _MOST_AROUND):
        if outer.type in ("if_statement", "preproc_ifdef", "preproc_if"):
            asked = field(outer, "condition") or field(outer, "name")
            if _ASIDE.search(text(asked)[:200]):
                return True
        if outer.type in ("for_statement", "while_statement", "do_statement"):
            data, long = function.unit.source.data, outer.end_byte - outer.start_byte > _LONG
            if long or data.find(b"continue;", outer.start_byte, outer.end_byte) >= 0:
                return True
            return "feof" in text(field(outer, "condition"))
    return _is_bracketed(statement)


def _is_bracketed(statement: Node) -> bool:
    """Return whether a statement behind one undoes what one before it did to the process, such as
    `END_PRIVILEGED()`."""
    following = statement.next_named_sibling
    for _ in range(_NEAR):
        if following is None:
            return False
        if following.type == "expression_statement" and _RESTORES.match(text(following)):
            return True
        following = following.next_named_sibling
    return False


def _failure_of(call: Call) -> str:
    """Return the condition that a call failed; empty when its result does not simply say so."""
    name = call.name
    written = re.sub(r"[ \t]*[\r\n]\s*", " ", text(call.node))
    if name in _ZERO_ON_SUCCESS:
        return f"{written} != 0"
    if name in _NEGATIVE_ON_FAILURE:
        return f"{written} < 0"
    if name in _NULL_ON_FAILURE:
        return layout_of(call.function).is_null(written) if call.function is not None else ""
    if name in _BLOCK_COUNTS:
        return _unless_equal(call, call.arg(_BLOCK_COUNTS[name]), written)
    if name in _WHOLE:
        return _unless_equal(call, call.arg(_WHOLE[name]), written, signed=True)
    if name in _SCANS:
        return _unless_all(call, written)
    return ""


def _unless_equal(call: Call, count: Node | None, written: str, *, signed: bool = False) -> str:
    """Return the comparison of a result with the amount that was asked for."""
    if count is None:
        return ""
    wanted = bare(count)
    plain = wanted.type in ("identifier", "number_literal", "sizeof_expression")
    if not plain and not _SIMPLE.fullmatch(text(wanted)):
        return ""
    if not signed:
        return f"{written} != {text(wanted)}"
    if wanted.type == "sizeof_expression":
        return f"{written} != (ssize_t){text(wanted)}"
    # less may be right where the amount is what there is room for
    return f"{written} != {text(wanted)}" if constant(wanted, call.function) is not None else ""


def _unless_all(call: Call, written: str) -> str:
    literal = string_literal(call.arg(_SCANS[call.name]), call.function)
    if literal is None:
        return ""
    wanted = sum(1 for scan in scans(literal) if scan.kind not in ("n", "%"))
    if any(_has_value(call, given) for given in call.arguments[_SCANS[call.name] + 1 :]):
        return ""  # what is not there stays as it was
    return f"{written} != {wanted}" if wanted else ""


def _has_value(call: Call, given: Node) -> bool:
    """Return whether the variable that a conversion sets was initialised."""
    function, name = call.function, text(bare(given)).lstrip("& ")
    variable = function.variable(name, given.start_byte) if function is not None else None
    return variable is not None and variable.initial is not None


def _may_be_rebuilt(function: Function, statement: Node) -> bool:
    """Return whether a statement stands where several lines can, without a comment inside."""
    written = text(statement)
    if "/*" in written or "//" in written or "#" in written or function.node.has_error:
        return False
    in_block = statement.parent is not None and statement.parent.type in BLOCKS
    return not in_block or stands_alone(function, statement)


def _stores(user: Node, statement: Node) -> bool:
    """Return whether a statement does nothing but store a value in one place."""
    if user.type == "assignment_expression":
        return user.parent == statement and statement.type == "expression_statement"
    if user.type != "init_declarator" or statement.type != _DECLARED:
        return False
    return (
        user.parent == statement
        and sum(child.type == "init_declarator" for child in statement.named_children) == 1
    )


def _behind_declarations(statement: Node, name: str) -> Node | None:
    """Return the statement that a test follows: the last of the declarations that a declaration is
    one of; None when one of them uses the name."""
    if statement.type != _DECLARED:
        return statement
    last = statement
    following = statement.next_named_sibling
    uses = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for _ in range(_FAR):
        if following is None or following.type not in (_DECLARED, "comment"):
            return last
        if following.type == _DECLARED:
            if uses.search(text(following)):
                return None
            last = following
        following = following.next_named_sibling
    return None
