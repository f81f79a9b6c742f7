"""A path is tested, and then used as if nothing could change in between.

## What it does
Finds `path.exists()`, `is_file()`, `metadata()` in a condition and `File::create`, `fs::write`,
`remove_file`, `File::open`, `rename` of the same path inside it or after it.

## Why is this bad?
Between the test and the use somebody else puts a link or another file there.

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

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.rule import Report, functions, rule
from jarvis_ls.jsec.rust.guards import Test, tests_before
from jarvis_ls.jsec.rust.shapes import call_path, peel

_TESTS = frozenset({"exists", "is_file", "is_dir", "try_exists", "is_symlink", "symlink_metadata"})
_USES = {"create": 0.65, "write": 0.6, "remove_file": 0.5, "remove_dir_all": 0.55, "open": 0.4,
         "rename": 0.5, "set_permissions": 0.65, "hard_link": 0.5, "copy": 0.5,
         "create_dir": 0.3, "read_to_string": 0.35, "read": 0.35, "symlink": 0.5}  # fmt: skip
_OWNERS = ("File", "fs", "OpenOptions", "")


@rule(
    query=functions(calling=tuple(_USES)),
    category="race_condition",
    cwe=(367, 59),
    confidence=0.5,
    suggestion="Use the file and handle the error: 'create_new', or 'open' and look at the kind "
    "of its error.",
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
        test = next((t for t in reversed(tests) if _looks_at(t, name)), None)
        if test is None:
            continue
        yield Report(
            call.node,
            "'{path}' may be another file by the time of '{called}'.",
            confidence=confidence,
            pattern=call.name,
            causes=[((test.start, test.start + 1), "Tested here.")],
            path=name,
            called=call.name,
        )


def _is_file_call(call: Call) -> bool:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    return owner in _OWNERS and "::" in call.written


def _looks_at(test: Test, name: str) -> bool:
    if not _TESTS & test.words or test.is_debug:
        return False
    return any(f"{name}.{word}(" in test.written for word in _TESTS)
