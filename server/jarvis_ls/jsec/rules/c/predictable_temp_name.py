"""Predictable name of a temporary file.

## What it does
Finds `tmpnam`, `tempnam`, `mktemp` and their variants, which only return a name. `mkstemp` and
`tmpfile` create the file in the same step, and so does `GetTempFileName` unless the caller passes
a number of its own. Names used only with `open` and `O_CREAT | O_EXCL` are left out, because that
fails if the file exists.

## Why is this bad?
Between choosing the name and `open`, another user can create a symbolic link of that name. The
program then writes to a file of the attacker's choice, or reads the attacker's data.

## Example
```c
char name[] = "/tmp/report-XXXXXX";
mktemp(name);
fd = open(name, O_RDWR | O_CREAT, 0600);
```

Use instead:
```c
char name[] = "/tmp/report-XXXXXX";
fd = mkstemp(name);
```

## References
- CWE-377: Insecure Temporary File
- CWE-379: Creation of Temporary File in Directory with Insecure Permissions
- SEI CERT C FIO21-C: Do not create temporary files in shared directories
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule

NAMERS = tuple(
    "tmpnam tempnam mktemp tmpnam_r _tempnam _wtempnam _mktemp _wmktemp _mktemp_s "
    "_wtmpnam tmpnam_s GetTempFileNameA GetTempFileNameW GetTempFileName".split()
)

_OPENING = frozenset(
    "open _open open64 creat fopen fopen64 freopen _wfopen _wopen ifstream ofstream "
    "fstream mkdir".split()
)


@rule(
    query=calls(*NAMERS),
    category="race_condition",
    cwe=(377,),
    confidence=0.7,
    suggestion="Create and open the file in one step with 'mkstemp' or 'tmpfile'.",
    fixable=True,
)
def predictable_temp_name(call: Call) -> Iterator[Report]:
    if _creates_file(call) or _is_opened_exclusively(call):
        return
    yield Report(
        call.node,
        "'{name}' returns a predictable name that another process can create first.",
        confidence=0.5 if call.name.startswith("GetTemp") else 0.7,
        pattern=call.name,
        name=call.written,
        fix=_with_mkstemp(call),
    )


def _creates_file(call: Call) -> bool:
    """Return whether the call creates the file, as `GetTempFileName` does when it chooses the
    number in the name.
    """
    return call.name.startswith("GetTemp") and text(bare(call.arg(2) or call.node)) == "0"


def _is_opened_exclusively(call: Call) -> bool:
    """Return whether the name is only opened with O_EXCL, which fails if the file exists."""
    function = call.function
    if function is None:
        return False
    buffer = call.arg(3 if call.name.startswith("GetTemp") else 0)
    names = {text(call.target), text(buffer)} - {"", "NULL", "0", "nullptr"}
    sole = False
    for other in function.calls:
        first = other.arg(0)
        if other.node == call.node or first is None:
            continue
        if text(first) not in names and bare(first) != call.node:
            continue
        if other.name in _OPENING:
            flags = text(other.arg(1))
            if other.name not in ("open", "_open", "_wopen") or "O_EXCL" not in flags:
                return False
            sole = True
    return sole


def _with_mkstemp(call: Call) -> Rewrite | None:
    """Return `mkstemp(t)` in place of `open(mktemp(t), O_RDWR | O_CREAT, 0600)`, also when the two
    calls are in consecutive statements.
    """
    template = call.arg(0)
    if call.name != "mktemp" or template is None:
        return None
    user = use_of(call.node)
    if user is not None and user.type == "argument_list" and _opens(user.parent, call.node):
        assert user.parent is not None
        return _rewrite(user.parent, template)
    following = call.statement.next_named_sibling if call.statement is not None else None
    if following is None or following.type != "expression_statement":
        return None
    opened = following.named_children[0] if following.named_child_count else None
    if opened is not None and opened.type == "assignment_expression":
        opened = opened.child_by_field_name("right")
    if opened is None or not _opens(opened, template):
        return None
    fix = _rewrite(opened, template)
    assert call.statement is not None
    fix.edits.append(((call.statement.start_byte, following.start_byte), ""))
    return fix


def _opens(node: Node | None, name: Node) -> bool:
    """Return whether a node creates the file `name` and opens it for reading and writing."""
    if node is None or node.type != "call_expression":
        return False
    arguments = node.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    return (
        text(node.child_by_field_name("function")) == "open"
        and len(given) == 3
        and text(given[0]) == text(name)
        and "O_CREAT" in text(given[1])
        and "O_RDWR" in text(given[1])
        and "O_APPEND" not in text(given[1])
    )


def _rewrite(opened: Node, template: Node) -> Rewrite:
    return Rewrite(
        "Create and open the file with mkstemp", [(opened, f"mkstemp({text(template)})")]
    )
