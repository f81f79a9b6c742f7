"""Block is filled to its last byte and then used as text.

## What it does
Finds memory of `n` characters into which a function puts `n` characters, and that is given to a
function for text, such as `strlen` or `printf` with `%s`, without a terminator in it.

## Why is this bad?
What reads text stops at the next zero byte, wherever after the block that is: it gives away what
is there, or copies more than anything has room for.

## Example
```c
char *text = malloc(size);
if (fread(text, 1, size, file) != size)
    return -1;
printf("%s\\n", text);
```

Use instead:
```c
char *text = malloc(size + 1);
if (fread(text, 1, size, file) != size)
    return -1;
text[size] = '\\0';
printf("%s\\n", text);
```

## References
- CWE-170: Improper Null Termination
- CWE-125: Out-of-bounds Read
- SEI CERT C STR32-C: Do not pass a non-null-terminated character sequence to a library function
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.lengths import holds
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.guards import same_path, written_between

_ALLOCATES = re.compile(r"(?:\w*[a-z_])?(?:malloc|alloc|MALLOC|Malloc)(?:_n)?$")
_CLEARS = re.compile(r"(?i)calloc|zalloc|alloc0|zero|clear")
_FILLS = re.compile(r"(?:fread|read|pread|recv|recvfrom|memcpy|memmove)(?:_\w+)?$")
"""Functions that write so many bytes, and no terminator."""
_READS = re.compile(r"(?i)\w*(?:read|recv|receive|fetch)\w*$")
"""Functions that seem to, when they are given a block that was allocated for as much."""
_LINES = re.compile(r"(?i)line|str(?:ing)?|text|gets")
_TEXT = frozenset(
    "strlen strcpy strcat strdup strchr strrchr strstr strtok strtok_r strspn "
    "strcspn atoi atol atoll atof strtol strtoul strtoll strtoull strtod puts fputs sscanf "
    "g_strdup xstrdup g_print".split()
)
_COMPARES = frozenset({"strcmp", "strcasecmp"})
_PRINTS = re.compile(r"^\w*printf$")
_CONVERSION = re.compile(r"%[-+ #0]*\d*(\.\d+)?[hlzjt]*([a-zA-Z])")
_MOST = 60


def _fills_memory(function: Function) -> bool:
    return holds(function, b"read", b"recv", b"mem", b"etch")


@rule(
    query=functions(containing=("char",), when=_fills_memory),
    category="buffer_overflow",
    cwe=(170, 125),
    confidence=0.5,
    severity="medium",
    suggestion="Allocate one byte more, and put '\\0' behind what was read.",
)
def text_without_terminator(function: Function) -> Iterator[Report]:
    told: set[str] = set()
    for fill in function.calls[: 10 * _MOST]:
        name = fill.written
        is_known = _FILLS.match(name) is not None
        if fill.is_method or _LINES.search(name) or not (is_known or _READS.match(name)):
            continue
        block, size = _filled(fill, function, is_known=is_known)
        if not block or block in told:
            continue
        use = _used_as_text(function, fill, block)
        if use is not None and not _is_terminated(function, block, use.node.end_byte):
            told.add(block)
            yield Report(
                use.node,
                "'{call}' takes '{block}' for text, but '{filler}' filled all {size} bytes of it.",
                pattern=use.name,
                call=use.written,
                block=block,
                filler=fill.written,
                size=size,
                causes=[(fill.node, "Filled here.")],
            )


def _filled(fill: Call, function: Function, *, is_known: bool) -> tuple[str, str]:
    """Return the variable that a call fills with as many bytes as it has, and how many; of calls
    that are not known none of an array, whose whole size is often given."""
    given = [bare(argument) for argument in fill.arguments]
    words = [text(argument) for argument in given]
    for argument, name in zip(given, words, strict=True):
        if argument.type != "identifier":
            continue
        variable = function.variable(name, fill.node.start_byte)
        if variable is None or "char" not in variable.type.split() or "unsigned" in variable.type:
            continue
        if variable.is_array and len(variable.arrays) == 1 and is_known:
            sizes = {variable.arrays[0], f"sizeof({name})", f"sizeof {name}"}
            size = next((word for word in words if word in sizes and word != name), "")
        elif variable.pointers == 1:
            size = _allocated(function, name, fill.node)
        else:
            continue
        if size and size in words:
            return name, size
    return "", ""


def _allocated(function: Function, name: str, at: Node) -> str:
    """Return the size of the block that a pointer leads to, as it is written; empty when that is
    not known, or the block is cleared."""
    writes = reaching(function, name, at.start_byte) or []
    if len(writes) != 1 or writes[0].value is None:
        return ""
    call = bare(writes[0].value)
    called = text(field(call, "function")) if call.type == "call_expression" else ""
    arguments = field(call, "arguments")
    if not _ALLOCATES.match(called) or _CLEARS.search(called) or arguments is None:
        return ""
    size = arguments.named_children[-1] if arguments.named_child_count else None
    if size is None or size.type not in ("identifier", "field_expression"):
        return ""
    written = text(size)
    return "" if written_between(function, written, call.end_byte, at.start_byte) else written


def _used_as_text(function: Function, fill: Call, block: str) -> Call | None:
    """Return the first call behind a filling that takes the block for text."""
    for call in function.calls:
        if call.node.start_byte < fill.node.end_byte:
            continue
        given = [text(bare(argument)) for argument in call.arguments]
        if block not in given:
            continue
        if written_between(function, block, fill.node.end_byte, call.node.start_byte):
            return None
        if not same_path(function, fill.node, call.node):
            continue
        if call.name in _COMPARES and any("string" in each.type for each in call.arguments):
            return None  # it ends at the first character that differs
        if call.name in _TEXT or call.name in _COMPARES:
            return call
        if _PRINTS.match(call.written) and _prints_text(call, given.index(block)):
            return call
    return None


def _prints_text(call: Call, place: int) -> bool:
    """Return whether a conversion without a precision prints an argument as text."""
    for number, argument in enumerate(call.arguments[:place]):
        if "string" in argument.type:
            found = re.findall(
                r"%[-+ #0]*(?:\d+|\*)?(\.(?:\d+|\*))?[hlzjt]*([a-zA-Z])", text(argument)
            )
            at = place - number - 1
            return 0 <= at < len(found) and found[at][1] == "s" and not found[at][0]
    return False


def _is_terminated(function: Function, block: str, before: int) -> bool:
    """Return whether something is put into an element of a block, or it is cleared."""
    for access in function.nodes("index"):
        above = access.parent
        if (
            access.start_byte < before
            and index_of(access) is not None
            and text(field(access, "argument")) == block
            and above is not None
            and above.type == "assignment_expression"
            and field(above, "left") == access
        ):
            return True
    for node in function.nodes("assign"):
        target = bare(field(node, "left") or node)
        if node.start_byte < before and operator_of(target) == "*" and block in text(target):
            return True
    return any(
        call.node.start_byte < before
        and call.name in ("memset", "bzero", "explicit_bzero")
        and text(call.arg(0)) == block
        for call in function.calls
    )
