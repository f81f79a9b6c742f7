"""Unbounded string copy.

## What it does
Finds `strcpy`, `strcat`, `stpcpy`, `wcscpy`, `wcscat` and their Windows variants. Not reported
when the string is known to fit: a literal that is short enough, an array no larger than the
target, memory allocated for this string.

## Why is this bad?
These functions stop at the end of the source only. A longer string overflows the buffer: on the
stack it overwrites return addresses, on the heap other objects. Even if all callers pass short
strings today, nothing enforces it.

## Example
```c
char path[64];
strcpy(path, argv[1]);
```

Use instead:
```c
char path[64];
if (snprintf(path, sizeof path, "%s", argv[1]) >= (int)sizeof path)
    return -1;
```

## References
- CWE-121: Stack-based Buffer Overflow
- CWE-122: Heap-based Buffer Overflow
- CWE-120: Buffer Copy without Checking Size of Input
- CWE-676: Use of Potentially Dangerous Function
- SEI CERT C STR31-C: Guarantee that storage for strings has sufficient space
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, Extent, extent
from jarvis_ls.jsec.local.c.inputs import text_source
from jarvis_ls.jsec.local.c.layout import gap_of
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.c.string_lengths import character, contents_before, length
from jarvis_ls.jsec.local.constants import declaration

COPY = tuple(
    "strcpy stpcpy wcscpy wcpcpy lstrcpy lstrcpyA lstrcpyW _tcscpy _mbscpy StrCpyA StrCpyW".split()
)
APPEND = (
    "strcat",
    "wcscat",
    "lstrcat",
    "lstrcatA",
    "lstrcatW",
    "_tcscat",
    "_mbscat",
    "StrCatA",
    "StrCatW",
)

TOO_LONG = "'{call}' writes {needed} characters to '{target}' ({room} characters)."
KNOWN = "'{call}' writes to '{target}' ({size} bytes) without a bounds check."
UNKNOWN = "'{call}' copies '{source}' to '{target}' without a bounds check."


@rule(
    query=calls(*COPY, *APPEND),
    category="unsafe_api",
    cwe=(121, 122, 120, 787, 676),
    confidence=0.65,
    suggestion="Use snprintf or strlcpy with the buffer size, or check the length first.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"), trace="copy-reached")
def unbounded_string_copy(call: Call) -> Iterator[Report]:
    target, source = call.arg(0), call.arg(1)
    if target is None or source is None:
        return
    appends = call.name in APPEND
    memory = extent(target, call.function)
    if memory is not None and memory.size.unit:
        memory = None
    room = None if memory is None else memory.size.count // character(target, call.function)
    needed, at_least = _required_length(call, target, source, appends)
    if room is not None and needed is not None and needed <= room:
        return
    certain = room is not None and at_least is not None and at_least > room
    confidence = 0.9 if certain else _confidence(call, target, source, memory)
    if confidence is None:
        return
    if certain and memory is not None:
        confidence = memory.weigh(confidence)
    yield Report(
        call.node,
        TOO_LONG if certain else KNOWN if room is not None else UNKNOWN,
        confidence=confidence,
        pattern=call.name,
        call=call.name,
        source=text(source),
        target=text(target),
        room=str(room),
        size=str(memory.size.count if memory is not None else 0),
        needed=str(at_least),
        fix=_rewrite(call, memory, appends),
    )


def _required_length(
    call: Call, target: Node, source: Node, appends: bool
) -> tuple[int | None, int | None]:
    """Return the largest and the smallest number of characters needed, with the terminator.

    The initial contents of the target count for the first append of a literal only; later on, its
    length depends on what ran in between.
    """
    found = length(source, call.function)
    if not appends:
        return _plus(found.most, 1), _plus(found.exact, 1)
    already = length(target, call.function)
    settled = found.exact is not None or _set_nearby(call, target)
    known = already.exact if settled else None
    most = None if found.most is None or known is None else found.most + known + 1
    least = None if found.exact is None else found.exact + (already.exact or 0) + 1
    return most, least


def _set_nearby(call: Call, target: Node) -> bool:
    """Return whether statements, not only an initialiser, have written the target."""
    if call.function is None:
        return False
    names = [text(bare(target))]
    return next(contents_before(call.function, names, call.node.start_byte), None) is not None


def _confidence(call: Call, target: Node, source: Node, memory: Extent | None) -> float | None:
    function = call.function
    if function is None:
        return 0.5
    if memory is None and _is_made_for(target, source, function):
        return None
    if bounds(function, text(bare(source)), call.node.start_byte).upper:
        return 0.35
    if text_source(source, function) is not None:
        return 0.9
    short = length(source, function)
    if memory is not None:
        if short.exact is not None or (short.most is not None and call.name in APPEND):
            return 0.6
        return 0.75
    return 0.45 if short.exact is None or call.name in APPEND else 0.3


def _is_made_for(target: Node, source: Node, function: Function) -> bool:
    """Return whether the target was allocated with the length of the source in this function; by
    an allocator of the program's own with more than that, for whether it adds room itself is not
    known."""
    wanted = text(bare(source))
    start = bare(target)
    if start.type == "binary_expression":  # behind what was copied before
        start = bare(field(start, "left") or start)
    for write in reaching(function, text(start), target.start_byte) or ():
        value = bare(write.value) if write.value is not None else None
        if value is None:
            continue
        allocator = text(field(value, "function"))
        asked = field(value, "arguments") if _allocates(allocator) else None
        is_own = asked is not None and allocator not in ALLOCATORS
        if value.type == "new_expression":
            asked = field(field(value, "declarator"), "length")
        if _mentions_length(asked, wanted, function, 6):
            return not (is_own and _is_length(asked, wanted))
    return False


def _is_length(arguments: Node | None, wanted: str) -> bool:
    """Return whether one of some arguments is the length of a string and no more."""
    given = arguments.named_children if arguments is not None else ()
    return any(
        inner.type == "call_expression" and _measures(inner, wanted) for inner in map(bare, given)
    )


def _allocates(function: str) -> bool:
    """Return whether a function allocates, one of the program's own by its name."""
    return function in ALLOCATORS or "alloc" in function.lower()


def _mentions_length(node: Node | None, wanted: str, function: Function, fuel: int) -> bool:
    if node is None or fuel == 0:
        return False
    inner = bare(node)
    if inner.type == "call_expression":
        return _measures(inner, wanted)
    if inner.type == "identifier":
        writes = reaching(function, text(inner), inner.start_byte) or []
        return any(_mentions_length(w.value, wanted, function, fuel - 1) for w in writes)
    if inner.type in ("binary_expression", "argument_list"):
        return any(_mentions_length(c, wanted, function, fuel - 1) for c in inner.named_children)
    return False


def _measures(node: Node, wanted: str) -> bool:
    """Return whether a call returns the length of the string expression `wanted`."""
    arguments = field(node, "arguments")
    if arguments is None or not text(field(node, "function")).endswith("len"):
        return False
    return any(text(bare(named_child)) == wanted for named_child in arguments.named_children)


def _rewrite(call: Call, memory: Extent | None, appends: bool) -> Rewrite | None:
    """Return a bounded call, where the target is an array and `sizeof` gives its size."""
    target, source = call.arg(0), call.arg(1)
    if call.statement is None or call.name not in ("strcpy", "strcat") or memory is None:
        return None
    if target is None or source is None or target.type not in ("identifier", "field_expression"):
        return None
    declared = declaration(target, call.function)
    if (
        declared is None
        or not declared.arrays
        or (isinstance(declared, Variable) and declared.is_parameter)
    ):
        return None
    name, what = text(target), text(source)
    gap = gap_of(call)
    size = f"sizeof{gap}({name})"
    if appends:
        new = f"strncat{gap}({name}, {what}, {size} - strlen{gap}({name}) - 1)"
        return Rewrite(
            "Limit the append to the size of '{target}'", [(call.node, new)], target=name
        )
    new = f'snprintf{gap}({name}, {size}, "%s", {what})'
    return Rewrite("Limit the copy to the size of '{target}'", [(call.node, new)], target=name)


def _plus(value: int | None, more: int) -> int | None:
    return None if value is None else value + more
