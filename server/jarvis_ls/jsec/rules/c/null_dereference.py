"""A null pointer is dereferenced.

## What it does
Follows each local pointer through its function and reports a dereference where the pointer is
NULL: it was set to NULL, or a test just found it NULL (`if (!p) puts(p->name)`,
`p == NULL && p->n`). A test for NULL that does not leave, directly followed by a dereference,
is reported as well.

## Why is this bad?
The program crashes, and if a caller can bring the pointer to be NULL, whoever feeds that caller
can stop the service at will.

## Example
```c
if (request == NULL)
    log_line("no request");
handle(request->path);
```

Use instead:
```c
if (request == NULL) {
    log_line("no request");
    return -1;
}
handle(request->path);
```

## References
- CWE-476: NULL Pointer Dereference
- SEI CERT C EXP34-C: Do not dereference null pointers
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.life import Fault
from jarvis_ls.jsec.c.lifecycle import faults_of, has_faults, set_in_loop
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault as Proof
from jarvis_ls.jsec.rule import Report, flow, functions, rule

_MAX_TRIES = 8
"""Places looked at for one variable."""
_DEPENDENT = frozenset({
    "if_statement", "for_statement", "while_statement", "do_statement", "switch_statement",
    "conditional_expression", "case_statement", "for_range_loop",
})  # fmt: skip


@rule(
    query=flow("null-dereference", guess=functions(when=has_faults)),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.85,
    suggestion="Leave before '{pointer}' is used, or use it only where it is not NULL.",
)
def null_dereference(function: Function | Proof) -> Iterator[Report]:
    if isinstance(function, Proof):
        yield Report(
            function,
            told(
                function,
                "'{name}' may be NULL where it is dereferenced.",
                "What is dereferenced here may be NULL.",
            ),
            cwe=(476,),
            suggestion="Leave before the pointer is used, or use it only where it is not NULL.",
        )
        return
    tried: Counter[str] = Counter()
    for fault in faults_of(function, "null"):
        if fault.certain:
            yield Report(
                fault.node,
                "'{pointer}' is NULL where it is dereferenced.",
                confidence=0.5 if set_in_loop(function, fault) else 0.85,
                pointer=fault.name,
            )
            continue
        tried[fault.name] += 1
        test = _careless_test(fault, function) if tried[fault.name] <= _MAX_TRIES else None
        if test is None:
            continue
        tried[fault.name] = _MAX_TRIES
        yield Report(
            fault.node,
            "'{pointer}' may be NULL here: the test above does not leave.",
            confidence=0.7,
            pointer=fault.name,
            related=[(test, "Tested here.")],
        )


def _careless_test(fault: Fault, function: Function) -> Node | None:
    """The `if` before the place, in a block around it, that tests the pointer and whose null
    branch goes on without changing anything a later condition could look at."""
    block: Node | None = None
    for outer in ancestors(fault.node, function.node):
        if outer.type in _DEPENDENT:
            return None
        if outer.type == "binary_expression" and text(field(outer, "operator")) in ("&&", "||"):
            return None
        if outer.type == "compound_statement":
            block = outer
            break
    if block is None:
        return None
    for node in reversed(function.nodes("if")):
        if node.end_byte > fault.node.start_byte or node.parent != block:
            continue
        condition = field(node, "condition")
        words = text(condition).strip("() ").replace(" ", "")
        null = words in (f"!{fault.name}", f"{fault.name}==NULL", f"NULL=={fault.name}",
                         f"{fault.name}==0", f"{fault.name}==nullptr")  # fmt: skip
        valid = words in (fault.name, f"{fault.name}!=NULL", f"NULL!={fault.name}",
                          f"{fault.name}!=0", f"{fault.name}!=nullptr")  # fmt: skip
        if null or valid:
            branch = field(node, "consequence" if null else "alternative")
            return condition if branch is None or _changes_nothing(branch, function) else None
    return None


def _changes_nothing(branch: Node, function: Function) -> bool:
    return not any(
        branch.start_byte <= node.start_byte < branch.end_byte
        for kind in ("assign", "update", "goto", "return")
        for node in function.nodes(kind)
    )
