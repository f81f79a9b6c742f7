"""Tests of single functions, written by a model before the functions are rewritten.

They call a function as C calls it, so that they are the same before and after: one counts when the
translation passes it. They stand in `tests/MODULE_functions.rs`, a module for each function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from jarvis_ls.jc2r.crate.cargo import crate_name
from jarvis_ls.jc2r.lift.rust import Source, name_of, parse_source
from jarvis_ls.jc2r.rewrite.subject import Subject, replace_item
from jarvis_ls.jc2r.translate.names import rust_name
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm

_ITEMS = frozenset({"function_item", "const_item", "line_comment", "block_comment"})
_MOST_LINES = 250
_FAILED = re.compile(rb"^    (\w+)::(\w+)$", re.MULTILINE)
_END = b"test result:"
_EXPORTED = re.compile(r"#\[(?:unsafe\()?no_mangle")


class Tests(BaseModel):
    """Tests of one function."""

    code: str = Field(
        "",
        description="Rust: functions with #[test], and helpers; empty when it cannot be tested"
        " alone",
    )


class TestsForm(ModelForm):
    """A `Tests` that can be put into a file of tests."""

    def __init__(self) -> None:
        super().__init__(Tests)

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, Tests)
        if answer.code.strip():
            check_tests(answer.code)
        return answer


def check_tests(code: str) -> None:
    """Raise `AnswerUnfit` when a text cannot stand in a file of tests."""
    source = parse_source(Path(), code.encode())
    if source.root.has_error:
        raise AnswerUnfit("The code cannot be parsed as Rust.")
    if code.count("\n") > _MOST_LINES:
        raise AnswerUnfit(f"The code has more than {_MOST_LINES} lines.")
    if not _test_names(source):
        raise AnswerUnfit("There is no function with #[test] in the code.")
    for item in source.root.children:
        is_test = item.type == "attribute_item" and source.text(item) == b"#[test]"
        if item.type not in _ITEMS and not is_test:
            told = item.type.replace("_", " ")
            raise AnswerUnfit(f"The code holds a {told}: only functions and constants may be.")


def can_have_tests(subject: Subject) -> bool:
    """Return whether a test of the crate can call a function: programs offer none."""
    return subject.module.parent.as_posix() == "src"


def is_exported(rust: str) -> bool:
    """Return whether C outside of the crate can call the function of a text, so that its name and
    types stay whatever later stages do."""
    return _EXPORTED.search(rust) is not None


def file_of(module: Path) -> Path:
    """Return the file of the tests of a module, relative to the crate."""
    return Path("tests", f"{module.stem}_functions.rs")


def text_of(crate: Path, module: Path, tests: Mapping[str, str]) -> str:
    """Return a file of tests: `tests` are the texts by the names of functions."""
    name = crate_name(crate)
    parts = [
        f"//! Tests of functions of `{module.stem}`, each written before its function was rewritten"
        " and\n//! passed by the translation of the C.\n"
    ]
    for function, code in sorted(tests.items()):
        types = f"    use {name}::types;\n" if re.search(r"\btypes::", code) else ""
        parts.append(
            f"mod {_plain(function)} {{\n    use {name}::{rust_name(module.stem)}::*;\n{types}\n"
            f"{code.strip()}\n}}\n"
        )
    return "\n".join(parts)


def results_in(output: bytes, function: str, code: str) -> dict[str, bool]:
    """Return which tests of a function passed, by name, from what `cargo test --quiet` has said;
    nothing when it did not come to its end."""
    if _END not in output:
        return {}
    wanted = _plain(function).encode()
    failed = {found[2].decode() for found in _FAILED.finditer(output) if found[1] == wanted}
    names = _test_names(parse_source(Path(), code.encode()))
    return {name: name not in failed for name in names}


def without(code: str, names: set[str]) -> str:
    """Return tests without some of them; empty when none is left."""
    data = code.encode()
    for name in names:
        data = replace_item(data, name, "") or data
    return data.decode().strip() if _test_names(parse_source(Path(), data)) else ""


def _plain(function: str) -> str:
    """Return a name that a module can have."""
    return rust_name(function).removeprefix("r#") + "_tests"


def _test_names(source: Source) -> list[str]:
    return [
        name_of(function)
        for function in source.functions
        if (before := function.prev_named_sibling) is not None and source.text(before) == b"#[test]"
    ]
