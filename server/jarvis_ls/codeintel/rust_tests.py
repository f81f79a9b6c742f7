"""Which Rust code only tests run: told by attributes, names of modules, and folders."""

from __future__ import annotations

import re

_TEST_NAMES = frozenset(
    "test bench rstest test_case test_matrix quickcheck proptest fixture "
    "wasm_bindgen_test test_log case parameterized traced_test cargo_test googletest "
    "gtest serial_test divan".split()
)
_TEST_FOLDERS = frozenset({"tests", "test", "benches", "examples"})
_CFG = re.compile(r"cfg\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*|[()\"]")
_MAX_ATTRIBUTE = 1000


def attribute_text(written: str) -> str:
    """Return an attribute without its `#[` or `#![` and `]`."""
    return written.strip().lstrip("#![ ").removesuffix("]").strip()


def is_test_attribute(attribute: str) -> bool:
    """Return whether an attribute (without `#[` and `]`) marks code that only tests compile or run.

    True for `test`, `tokio::test(…)`, `rstest` and for a `cfg` that cannot hold without
    `test`: `cfg(test)`, `cfg(all(test, unix))`; not for `cfg(not(test))`, `cfg(any(test, …))`
    or a feature that has `test` in its name.
    """
    if _CFG.match(attribute):
        return _needs_test(_WORD.findall(attribute[:_MAX_ATTRIBUTE]))
    path = re.split(r"[\s(=]", attribute, maxsplit=1)[0]
    return path.rpartition("::")[2] in _TEST_NAMES


def is_test_path(path: str) -> bool:
    """Return whether a Rust file is where only tests, benchmarks and examples are kept.

    `path` is relative to the scanned root, with forward slashes. Cargo's own folders count,
    the files `tests.rs` and `test.rs` that `mod tests;` and `mod test;` name, and those named
    `test_…` or `…_test`.
    """
    folders, _, name = path.rpartition("/")
    if name.startswith("test_") or name.endswith(("_test.rs", "_tests.rs")):
        return True
    if name in ("tests.rs", "test.rs"):
        return True
    return any(folder in _TEST_FOLDERS for folder in folders.split("/"))


def _needs_test(words: list[str]) -> bool:
    """Return whether `test` is demanded: at the top of the `cfg` or below `all` only."""
    opened: list[str] = []
    last = ""
    quoted = False
    for word in words:
        if word == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif word == "(":
            opened.append(last)
        elif word == ")":
            if opened:
                opened.pop()
        elif word == "test" and all(name in ("cfg", "all") for name in opened):
            return True
        last = word
    return False
