"""TOCTOU race between a path check and its use.

## What it does
Finds `path.exists()`, `is_file()`, `metadata()` in a condition and `File::create`, `fs::write`,
`remove_file`, `File::open`, `rename` of the same path inside or after it.

## Why is this bad?
Between the check and the use, an attacker can replace the path with a symbolic link or another
file.

## Example
```rust
if !path.exists() {
    File::create(&path)?;
}
```

Use instead:
```rust
OpenOptions::new().write(true).create_new(true).open(&path)?;
```

## References
- CWE-367: Time-of-check Time-of-use (TOCTOU) Race Condition
- CWE-59: Improper Link Resolution Before File Access ('Link Following')
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.rust.guards import Test, tests_before
from jarvis_ls.jsec.local.rust.shapes import call_path, peel

_TESTS = frozenset({"exists", "is_file", "is_dir", "try_exists", "is_symlink", "symlink_metadata"})
_USES = {
    "create": 0.65,
    "write": 0.6,
    "remove_file": 0.5,
    "remove_dir_all": 0.55,
    "open": 0.4,
    "rename": 0.5,
    "set_permissions": 0.65,
    "hard_link": 0.5,
    "copy": 0.5,
    "create_dir": 0.3,
    "read_to_string": 0.35,
    "read": 0.35,
    "symlink": 0.5,
}
_OWNERS = ("File", "fs", "OpenOptions", "")


@rule(
    query=functions(calling=tuple(_USES)),
    category="race_condition",
    cwe=(367, 59),
    confidence=0.5,
    suggestion="Drop the check and handle the error of 'create_new' or 'open' by its 'kind()'.",
    severity="medium",
)
def exists_then_open(function: Function) -> Iterator[Report]:
    if function.item.in_test or in_test(function.node):
        return
    for call in function.calls:
        confidence = _USES.get(call.name, 0.0)
        if not confidence or call.is_method or not _is_file_call(call):
            continue
        path = peel(call.arg(0))
        name = text(path)
        if path is None or not name or len(name) > 80:
            continue
        tests = tests_before(function, call.node.start_byte)
        test = next((t for t in reversed(tests) if _is_check_of(t, name)), None)
        if test is None:
            continue
        yield Report(
            call.node,
            "TOCTOU race: '{path}' is checked, then used by name in '{called}'.",
            confidence=confidence,
            pattern=call.name,
            causes=[((test.start, test.start + 1), "Checked here.")],
            path=name,
            called=call.name,
        )


def _is_file_call(call: Call) -> bool:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    return owner in _OWNERS and "::" in call.written


def _is_check_of(test: Test, name: str) -> bool:
    if not _TESTS & test.words or test.is_debug:
        return False
    return any(f"{name}.{word}(" in test.written for word in _TESTS)
