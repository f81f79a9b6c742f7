"""CStr::from_ptr() on a possibly null pointer.

## What it does
Finds `CStr::from_ptr(p)` and `CString::from_raw(p)` where `p` is a parameter of a function called
from C, or the result of a C function that may return null (`getenv`, `strerror`, …), and there is
no null check before.

## Why is this bad?
`from_ptr` calls `strlen` on the pointer. With null that is undefined behaviour, a crash at best.

## Example
```rust
pub unsafe extern "C" fn set_name(name: *const c_char) {
    let name = CStr::from_ptr(name);
}
```

Use instead:
```rust
pub unsafe extern "C" fn set_name(name: *const c_char) {
    if name.is_null() { return; }
    let name = CStr::from_ptr(name);
}
```

## References
- CWE-476: NULL Pointer Dereference
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.guards import is_null_tested
from jarvis_ls.jsec.local.rust.shapes import call_path, is_entry, is_exported, peel

_MAY_BE_NULL = re.compile(
    r"(?:^|::)(?:getenv|secure_getenv|dlerror|getlogin|ttyname|ctermid|setlocale|strchr|strrchr"
    r"|strstr|strpbrk|strtok|strdup|strndup|realpath|getcwd|inet_ntop|nl_langinfo|crypt|fgets"
    r"|if_indextoname|ptsname|basename|dirname|getpass)$"
)


@rule(
    query=calls("from_ptr", "from_raw"),
    category="memory_mgmt",
    cwe=(476, 690),
    confidence=0.5,
    suggestion="Check the pointer for null and return early.",
)
def cstr_from_unchecked_pointer(call: Call) -> Iterator[Report]:
    if call_path(call).rpartition("::")[0].rpartition("::")[2] not in ("CStr", "CString"):
        return
    pointer = peel(call.arg(0))
    function = call.function
    if pointer is None or function is None:
        return
    confidence = _rate(call, pointer)
    name = _name(pointer)
    if not confidence or (name and is_null_tested(function, name, call.node.start_byte)):
        return
    yield Report(
        call.node,
        "'{called}' dereferences '{pointer}', which may be null.",
        confidence=confidence,
        pattern=call.written,
        pointer=text(pointer)[:60],
        called=call.name,
    )


def _name(pointer: Node) -> str:
    words = re.findall(r"\w+", text(pointer)[:200])
    return words[-1] if pointer.type in ("identifier", "field_expression") and words else ""


def _rate(call: Call, pointer: Node) -> float:
    function = call.function
    assert function is not None
    if pointer.type == "call_expression":
        called = text(pointer.child_by_field_name("function"))
        return 0.65 if _MAY_BE_NULL.search(called) else 0.0
    if pointer.type != "identifier":
        return 0.0
    variable = function.variable(text(pointer), pointer.start_byte)
    if variable is None:
        return 0.0
    if variable.is_parameter:
        if not variable.type.startswith("*"):
            return 0.0
        if is_exported(function):
            return 0.5 if is_entry(function) else 0.4
        return 0.0 if has_safety_comment(call.node) else 0.4
    initial = peel(variable.initial)
    called = text(initial.child_by_field_name("function")) if initial is not None else ""
    return 0.65 if _MAY_BE_NULL.search(called) else 0.0
