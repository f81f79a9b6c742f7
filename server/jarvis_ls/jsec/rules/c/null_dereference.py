"""Null pointer dereference.

## What it does
Follows pointers through functions and files, and reports a dereference of a pointer that is NULL
on some path: it was set to NULL, or a test has just found it NULL (`if (!p) puts(p->name)`,
`p == NULL && p->n`). A null check that does not leave the function and is directly followed by a
dereference is reported as well.

## Why is this bad?
The program crashes. If an attacker can make the pointer NULL, this is a denial of service.

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

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.next_use import first_mention, mention_behind
from jarvis_ls.jsec.local.c.nulls import asks_for_null, goes_on, leads_on, null_test
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("null-dereference", guess=nodes("(if_statement) @site", when=asks_for_null)),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.85,
    suggestion="Return before '{pointer}' is used, or dereference it only where it is not NULL.",
)
def null_dereference(site: Site) -> Iterator[Report]:
    test = null_test(site.node)
    if test is None:
        return
    branch = field(site.node, "consequence" if test.when_true else "alternative")
    if branch is not None and test.path.encode() in (branch.text or b""):
        inside = first_mention(site.unit, site.item, branch, test.path)
        if inside is not None and inside.does == "dereference":
            yield Report(
                inside.node,
                "Null pointer dereference: '{pointer}' is NULL here.",
                pointer=test.path,
            )
        return
    if branch is not None and not goes_on(branch, test.path):
        return
    following = mention_behind(site.unit, site.item, site.node, test.path)
    if following is None or following.does != "dereference" or not following.certain:
        return
    if leads_on(site.unit.source.data[site.node.end_byte : following.node.start_byte]):
        yield Report(
            following.node,
            "'{pointer}' may be NULL here: the null check above does not leave the function.",
            confidence=0.7,
            pointer=test.path,
            causes=[(test.condition, "Tested here.")],
        )


@on_fault(null_dereference)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Null pointer dereference: '{name}' may be NULL here.",
            "Null pointer dereference: the pointer may be NULL here.",
        ),
        cwe=(476,),
        suggestion="Return before the pointer is used, or dereference it only where it is not "
        "NULL.",
    )
