"""A null pointer is dereferenced.

## What it does
Follows pointers through functions and files, and reports a dereference where the pointer is
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

from collections.abc import Iterator

from jarvis_ls.codeintel.code import field
from jarvis_ls.jsec.c.nearby import first_mention, mention_behind
from jarvis_ls.jsec.c.nulls import asks_for_null, goes_on, leads_on, null_test
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=flow("null-dereference", guess=nodes("(if_statement) @site", when=asks_for_null)),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.85,
    suggestion="Leave before '{pointer}' is used, or use it only where it is not NULL.",
)
def null_dereference(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        yield Report(
            site,
            told(
                site,
                "'{name}' may be NULL where it is dereferenced.",
                "What is dereferenced here may be NULL.",
            ),
            cwe=(476,),
            suggestion="Leave before the pointer is used, or use it only where it is not NULL.",
        )
        return
    test = null_test(site.node)
    if test is None:
        return
    branch = field(site.node, "consequence" if test.when_true else "alternative")
    if branch is not None and test.path.encode() in (branch.text or b""):
        inside = first_mention(site.unit, site.item, branch, test.path)
        if inside is not None and inside.does == "dereference":
            yield Report(
                inside.node, "'{pointer}' is NULL where it is dereferenced.", pointer=test.path
            )
        return
    if branch is not None and not goes_on(branch, test.path):
        return
    behind = mention_behind(site.unit, site.item, site.node, test.path)
    if behind is None or behind.does != "dereference" or not behind.certain:
        return
    if leads_on(site.unit.source.data[site.node.end_byte : behind.node.start_byte]):
        yield Report(
            behind.node,
            "'{pointer}' may be NULL here: the test above does not leave.",
            confidence=0.7,
            pointer=test.path,
            causes=[(test.condition, "Tested here.")],
        )
