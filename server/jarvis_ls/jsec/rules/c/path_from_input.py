"""A file is opened under a name that comes from outside.

## What it does
Finds `fopen`, `open`, `unlink`, `rename`, `opendir`, `ifstream::open` and the like whose path
comes from the environment, a socket, a file or standard input in the same function, without a
check for `..` or `/`, `realpath` or a comparison before. Names from the command line count only
when they are made part of a longer path: opening just them is what many programs are for.

## Why is this bad?
`../../etc/passwd`, or an absolute path, leads out of the directory that was meant.

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

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.inputs import Source, text_source
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.c.texts import contents_before, names_of
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule

OPENERS = {
    "fopen": (0,), "open": (0,), "open64": (0,), "openat": (1,), "creat": (0,), "freopen": (0,),
    "unlink": (0,), "remove": (0,), "rename": (0, 1), "opendir": (0,), "mkdir": (0,),
    "rmdir": (0,), "chmod": (0,), "chown": (0,), "symlink": (0, 1), "link": (0, 1),
    "truncate": (0,), "chdir": (0,), "_wfopen": (0,), "_wopen": (0,), "_open": (0,),
    "fopen_s": (1,), "CreateFileA": (0,), "CreateFileW": (0,), "CreateFile": (0,),
    "DeleteFileA": (0,), "_tfopen": (0,), "fopen64": (0,), "gzopen": (0,),
}  # fmt: skip
"""Functions that take a path, and where."""

_CHECKS = frozenset(
    {"strstr", "strchr", "strrchr", "strpbrk", "strcspn", "strspn", "realpath", "basename",
     "canonicalize_file_name", "wcsstr", "wcschr", "PathCanonicalize", "GetFullPathNameA",
     "strcmp", "strncmp", "fnmatch", "regexec", "_fullpath"}
)  # fmt: skip

GIVEN = "'{call}' takes the path '{path}', which comes from '{source}'."
COMPOSED = "'{call}' takes the path '{path}', a part of which comes from '{source}'."


@rule(
    query=flow("path-relative", "path-absolute", guess=functions(calling=OPENERS)),
    category="path_traversal",
    cwe=(22, 23, 36, 73),
    confidence=0.8,
    suggestion="Allow only known names, or resolve the path and check that it is below its base.",
    unasked=(COMPOSED,),
)
def path_from_input(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        cwe = (23,) if function.kind == "path-relative" else (36,)
        message = told(
            function,
            "Input reaches the path that '{by}' opens.",
            "Input reaches a path that is opened.",
        )
        yield Report(function, message, cwe=(*cwe, 22))
        return
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
                COMPOSED if source.name == "argv" else GIVEN,
                confidence=0.5 if source.name == "argv" else None,
                pattern=call.name,
                call=call.name,
                path=text(path),
                source=source.name,
                causes=[(source.node, "The text comes from here.")],
            )


def _is_composed(function: Function, path: Node) -> bool:
    """Whether the path is put together from parts."""
    names = names_of(path, function)
    return any(
        event.call is not None and event.argument == 0
        and event.call.name in ("strcat", "snprintf", "sprintf", "strncat", "strlcat", "asprintf")
        for event in contents_before(function, names, path.start_byte)
    )  # fmt: skip


def _is_checked(function: Function, path: Node, source: Source, use: Call) -> bool:
    """Whether something looked at the text between where it enters and where it is used."""
    names = set(names_of(path, function))
    between = [c for c in function.calls[:512]
               if source.node.end_byte <= c.node.start_byte < use.node.start_byte]  # fmt: skip
    for call in between:
        if call.name in ("strcpy", "strcat", "snprintf", "sprintf", "strncat", "strncpy") and (
            text(call.arg(0)) in names
        ):
            names.update(text(a) for a in call.arguments[1:])
    target = _stored(source)
    return any(
        call.name in _CHECKS and call.arguments and (
            (set(names_of(call.arguments[0], function)) & names)
            or text(call.arguments[0]) == target
        )
        for call in between
    )  # fmt: skip


def _stored(source: Source) -> str:
    """The variable an input function's result is stored in."""
    parent = source.node.parent
    if parent is None:
        return ""
    name = parent.child_by_field_name("declarator") or parent.child_by_field_name("left")
    return text(name).lstrip("* ")
