"""Memory leak when realloc fails.

## What it does
Reports `p = realloc(p, n)`, where the result is assigned to the pointer that is passed.

## Why is this bad?
When `realloc` fails it returns NULL and the old block stays allocated. The assignment then
overwrites the only pointer to it, so the block leaks together with everything it refers to. An
attacker who can make the allocation fail repeatedly exhausts the memory.

## Example
```c
buffer = realloc(buffer, size * 2);
if (buffer == NULL)
    return -1;
```

Use instead:
```c
char *bigger = realloc(buffer, size * 2);
if (bigger == NULL) {
    free(buffer);
    return -1;
}
buffer = bigger;
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
- CWE-771: Missing Reference to Active Allocated Resource
- SEI CERT C MEM31-C: Free dynamically allocated memory when no longer needed
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function, Unit
from jarvis_ls.codeintel.nodes import bare, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule, summary
from jarvis_ls.jsec.local.c.realloc_fix import keep_on_failure
from jarvis_ls.jsec.local.guards import NEVER_RETURN, NULLS, enclosing_loop, leaves, same_path

_PLACES = frozenset(
    {"identifier", "field_expression", "pointer_expression", "subscript_expression"}
)
"""Types of nodes that a pointer may be copied from."""
_MAX_USES = 40


@rule(
    query=calls(
        "realloc",
        "reallocarray",
        "g_try_realloc",
        "OPENSSL_realloc",
        "sqlite3_realloc",
        "sqlite3_realloc64",
        "reallocf_s",
    ),
    category="memory_mgmt",
    cwe=(401, 771),
    confidence=0.55,
    suggestion="Store the result in a temporary and check it before assigning '{pointer}'.",
    fixable=True,
)
@summary("{count} pointers in this file are overwritten by the result of their reallocation.")
def realloc_assign_back(call: Call) -> Iterator[Report]:
    target, given = call.target, call.arg(0)
    if target is None or given is None or text(target) != text(bare(given)):
        return
    pointer = text(target)
    assignment = use_of(call.node)
    if assignment is None or assignment.type != "assignment_expression":
        return
    wanted = call.arg(1)
    size = text(bare(wanted)) if wanted is not None else ""
    if (
        _is_null(call.function, assignment, pointer) or size == "0" or size.startswith("-")
    ):  # it is freed
        return
    if call.function is not None and _ends_program(call.function.unit, assignment, pointer):
        return  # nothing is lost that the system does not take back
    yield Report(
        call.node,
        "'{pointer}' is overwritten by the result of {function}(): the old block "
        "leaks when it fails.",
        confidence=_confidence(call, pointer, assignment),
        pattern=call.name,
        pointer=pointer,
        function=call.name,
        fix=_keep(call, pointer, assignment),
    )


def _confidence(call: Call, pointer: str, assignment: Node) -> float:
    """Return the confidence, lower with another pointer to the block or a failure that is fatal."""
    function = call.function
    if function is None:
        return 0.5
    shared = _confidence_when_shared(function, pointer, assignment)
    if shared is not None:
        return shared
    return 0.35 if _ends_on_failure(function.unit, assignment, pointer) else 0.55


def _confidence_when_shared(function: Function, pointer: str, assignment: Node) -> float | None:
    """Return the confidence where another pointer to the block exists; None without one."""
    if _first_copies(function).get(pointer, function.end) < assignment.start_byte:
        return 0.4
    before = function.unit.source.data[function.start : assignment.start_byte]
    if f"= {pointer};".encode() in before:
        return 0.4
    variable = function.variable(pointer, assignment.start_byte)
    if variable is not None and variable.is_parameter:
        return 0.4  # the caller still has it
    return 0.4 if variable is not None and _is_copy(variable.initial) else None


def _is_copy(initial: Node | None) -> bool:
    """Return whether a variable is initialised from another pointer, which still has the block."""
    value = bare(initial) if initial is not None else None
    if value is not None and value.type == "binary_expression":  # `p - 8`
        value = field(value, "left")
        value = bare(value) if value is not None else None
    return value is not None and text(value) != "NULL" and value.type in _PLACES


def _ends_program(unit: Unit, assignment: Node, pointer: str) -> bool:
    """Return whether the branch that a failure takes ends the program: that of the condition which
    the assignment stands in, or that of a test which follows at once."""
    around = assignment.parent
    for _ in range(6):
        if around is None or around.type.endswith("statement"):
            break
        around = around.parent
    tests = [around] if around is not None and around.type == "if_statement" else []
    if not tests:
        tests = [test for test in _next_tests(assignment.parent) if pointer in _condition(test)]
    for test in tests[:1]:
        condition = _condition(test).replace(" ", "")
        is_null = "==" in condition or condition.lstrip("(").startswith("!")
        then = field(test, "consequence")
        if is_null and "!=" not in condition and then is not None:
            return _ends(unit, then)
    return False


def _condition(test: Node) -> str:
    return text(field(test, "condition"))


def _next_tests(statement: Node | None) -> Iterator[Node]:
    """Yield the test after a statement, behind at most three that only calculate."""
    if statement is None:
        return
    for following in _next(statement):
        if following.type == "if_statement":
            yield following
            return
        if following.type != "expression_statement" or "(" in text(following):
            return


def _ends(unit: Unit, branch: Node) -> bool:
    """Return whether a branch ends in a call of what does not return."""
    last: Node = branch
    if branch.type == "compound_statement":
        statements = [child for child in branch.named_children if child.type != "comment"]
        if not statements:
            return False
        last = statements[-1]
    name = text(last).partition("(")[0].strip()
    return last.type == "expression_statement" and (
        name in NEVER_RETURN or name in unit.facts.stops
    )


def _ends_on_failure(unit: Unit, assignment: Node, pointer: str) -> bool:
    """Return whether a failure is fatal: it is asserted against, ends the program, or is handled by
    a single call after which the pointer is used unconditionally.
    """
    following = _after(assignment.parent)
    if following is None:
        return False
    if following.type == "expression_statement":
        inner = following.named_children[0] if following.named_child_count else None
        name = text(field(inner, "function")).lower() if inner is not None else ""
        return name.endswith("assert") and pointer in text(inner)
    then = field(following, "consequence") if following.type == "if_statement" else None
    if then is None or pointer not in text(field(following, "condition")):
        return False
    if leaves(then) and "exit" in text(then)[:200]:
        return True
    only = then
    if then.type == "compound_statement" and then.named_child_count == 1:
        only = then.named_children[0]
    is_call = only.type == "expression_statement" and text(only).rstrip(" ;").endswith(")")
    if is_call and text(only).partition("(")[0].strip() in unit.facts.stops:
        return True
    return is_call and any(
        re.search(rf"(?<!\w){re.escape(pointer)}\s*(\[|->)", text(later))
        for later in _next(following)
    )


def _next(statement: Node) -> Iterator[Node]:
    """Yield the next few statements after a statement."""
    following = _after(statement)
    for _ in range(4):
        if following is None:
            return
        yield following
        following = following.next_named_sibling


def _after(statement: Node | None) -> Node | None:
    """Return the next statement, or the one after the branch for the last statement of a branch."""
    for _ in range(3):
        following = statement.next_named_sibling if statement is not None else None
        while following is not None and following.type == "comment":
            following = following.next_named_sibling
        if following is not None or statement is None:
            return following
        block = statement.parent
        outer = block.parent if block is not None and block.type == "compound_statement" else block
        if outer is None or outer.type != "if_statement":
            return None
        statement = outer
    return None


def _is_null(function: Function | None, assignment: Node, pointer: str) -> bool:
    """Return whether the pointer was last set to NULL, so that there is no block to leak."""
    before = assignment.parent.prev_named_sibling if assignment.parent is not None else None
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    written = text(before).replace(" ", "") if before is not None else ""
    if written in (f"{pointer}=NULL;", f"{pointer}=0;", f"{pointer}=nullptr;"):
        return True
    last = _last_write(function, assignment, pointer) if function is not None else None
    if last is None or function is None:
        return False
    value = field(last, "right") or field(last, "value")
    block = last.parent.parent if last.parent is not None else None
    if value is None or text(bare(value)) not in NULLS or block is None:
        return False
    loop = enclosing_loop(assignment, function)
    return (
        block.type == "compound_statement"
        and block.end_byte > assignment.start_byte
        and (loop is None or loop.start_byte < last.start_byte)
    )


def _last_write(function: Function, assignment: Node, pointer: str) -> Node | None:
    """Return the last write of a local variable before an assignment; None when it may be
    elsewhere, as where the address escapes.
    """
    variable = function.variable(pointer, assignment.start_byte)
    if variable is None or variable.is_static:
        return None
    for use in reversed(function.uses(pointer, end=assignment.start_byte)[-_MAX_USES:]):
        parent = use.parent
        if parent is None or text(parent).startswith("&"):
            return None
        if parent.type == "assignment_expression" and field(parent, "left") == use:
            if same_path(function, parent, assignment):
                return parent
            continue  # in another branch
        while parent is not None and parent.type == "pointer_declarator":
            parent = parent.parent
        if parent is not None and parent.type == "init_declarator":
            declared = field(parent, "declarator")
            if declared is not None and declared.start_byte <= use.start_byte < declared.end_byte:
                return parent
    return None


@once_per_function
def _first_copies(function: Function) -> dict[str, int]:
    """Return the position at which each expression is first copied elsewhere."""
    found: dict[str, int] = {}
    for node in function.nodes("assign"):
        right = text(field(node, "right"))
        if text(field(node, "left")) != right:
            found.setdefault(right, node.end_byte)
    return found


def _keep(call: Call, pointer: str, assignment: Node) -> Rewrite | None:
    """Return the fix; none where another pointer to the block exists, which then is not lost."""
    function = call.function
    if function is None or _confidence_when_shared(function, pointer, assignment) is not None:
        return None
    return keep_on_failure(call, function, pointer, assignment)
