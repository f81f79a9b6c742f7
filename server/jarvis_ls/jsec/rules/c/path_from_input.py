"""Path traversal: untrusted input used as a file path.

## What it does
Finds `fopen`, `open`, `unlink`, `rename`, `opendir`, `ifstream::open` and the like whose path
comes from the environment, a socket, a file or standard input in the same function, without a
check for `..` or `/`, a call of `realpath` or a comparison in between. Command line arguments
count only when they become part of a longer path: many programs exist to open the files named
there. The environment counts little in a program without other privileges than its user's.

## Why is this bad?
`../../etc/passwd` or an absolute path escapes the intended directory.

## Example
```c
snprintf(path, sizeof(path), "%s/%s", base, getenv("NAME"));
FILE *f = fopen(path, "r");
```

Use instead:
```c
const char *name = getenv("NAME");
if (name == NULL || strchr(name, '/') != NULL || strstr(name, "..") != NULL)
    return -1;
snprintf(path, sizeof(path), "%s/%s", base, name);
FILE *f = fopen(path, "r");
```

## References
- CWE-22: Improper Limitation of a Pathname to a Restricted Directory
- CWE-23: Relative Path Traversal
- CWE-36: Absolute Path Traversal
- CWE-73: External Control of File Name or Path
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.inputs import Source, text_source, weigh_injection
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.string_lengths import contents_before, names_of

OPENERS = {
    "fopen": (0,),
    "open": (0,),
    "open64": (0,),
    "openat": (1,),
    "creat": (0,),
    "freopen": (0,),
    "unlink": (0,),
    "remove": (0,),
    "rename": (0, 1),
    "opendir": (0,),
    "mkdir": (0,),
    "rmdir": (0,),
    "chmod": (0,),
    "chown": (0,),
    "symlink": (0, 1),
    "link": (0, 1),
    "truncate": (0,),
    "chdir": (0,),
    "_wfopen": (0,),
    "_wopen": (0,),
    "_open": (0,),
    "fopen_s": (1,),
    "CreateFileA": (0,),
    "CreateFileW": (0,),
    "CreateFile": (0,),
    "DeleteFileA": (0,),
    "_tfopen": (0,),
    "fopen64": (0,),
    "gzopen": (0,),
}
"""Functions that take a path, and the positions of the argument."""

_CHECKS = frozenset(
    "strstr strchr strrchr strpbrk strcspn strspn realpath basename "
    "canonicalize_file_name wcsstr wcschr PathCanonicalize GetFullPathNameA strcmp "
    "strncmp fnmatch regexec _fullpath".split()
)

WHOLE = (
    "Untrusted input from '{source}' is used as the file path '{path}' in "
    "'{call}' (path traversal)."
)
COMPOSED = (
    "Untrusted input from '{source}' is part of the file path '{path}' in "
    "'{call}' (path traversal)."
)


@rule(
    query=flow("path-relative", "path-absolute", guess=functions(calling=OPENERS)),
    category="path_traversal",
    cwe=(22, 23, 36, 73),
    confidence=0.7,
    suggestion="Accept only known file names, or resolve the path and check that it stays "
    "inside the base directory.",
)
@flow_verdicts(exempt=(COMPOSED,))
def path_from_input(function: Function) -> Iterator[Report]:
    for call in function.calls:
        places = OPENERS.get(call.name)
        if places is None or (call.is_method and call.name != "open"):
            continue
        for place in places:
            path = call.arg(place)
            source = text_source(path, function)
            if path is None or source is None or _is_checked(function, path, source, call):
                continue
            if source.name == "argv" and not _is_composed(function, path):
                continue
            yield Report(
                call.node,
                COMPOSED if source.name == "argv" else WHOLE,
                confidence=weigh_injection(source, 0.7, function),
                pattern=call.name,
                call=call.name,
                path=text(path),
                source=source.name,
                causes=[(source.node, "Untrusted input enters here.")],
            )


@on_fault(path_from_input)
def _report_fault(fault: Fault) -> Iterator[Report]:
    cwe = (23,) if fault.kind == "path-relative" else (36,)
    message = pick_template(
        fault,
        "Untrusted input is used as a file path in '{by}' (path traversal).",
        "Untrusted input is used as a file path (path traversal).",
    )
    yield Report(fault, message, cwe=(*cwe, 22))


def _is_composed(function: Function, path: Node) -> bool:
    """Return whether the path is composed by string functions."""
    names = names_of(path, function)
    return any(
        event.call is not None
        and event.argument == 0
        and event.call.name in ("strcat", "snprintf", "sprintf", "strncat", "strlcat", "asprintf")
        for event in contents_before(function, names, path.start_byte)
    )


def _is_checked(function: Function, path: Node, source: Source, use: Call) -> bool:
    """Return whether the text is checked between its source and its use."""
    names = set(names_of(path, function))
    between = [
        c
        for c in function.calls[:512]
        if source.node.end_byte <= c.node.start_byte < use.node.start_byte
    ]
    for call in between:
        if call.name in ("strcpy", "strcat", "snprintf", "sprintf", "strncat", "strncpy") and (
            text(call.arg(0)) in names
        ):
            names.update(text(a) for a in call.arguments[1:])
    target = _result_variable(source)
    return any(
        call.name in _CHECKS
        and call.arguments
        and (
            (set(names_of(call.arguments[0], function)) & names)
            or text(call.arguments[0]) == target
        )
        for call in between
    )


def _result_variable(source: Source) -> str:
    """Return the variable an input function's result is stored in."""
    parent = source.node.parent
    if parent is None:
        return ""
    name = parent.child_by_field_name("declarator") or parent.child_by_field_name("left")
    return text(name).lstrip("* ")
