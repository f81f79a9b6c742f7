"""What a rewrite of Rust must not do to look better than it is, and what to do instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from jarvis_ls.core.words import Words


class Rule(Enum):
    """The rules; the value is what people call it."""

    SYNTAX = "syntax"
    UNSAFE_INTERFACE = "unsafe-interface"
    UNEXPLAINED_UNSAFE = "unexplained-unsafe"
    UNCHECKED = "unchecked"
    EXTERN_C = "extern-c"
    FOREIGN_CALL = "foreign-call"
    OWN_MEMORY = "own-memory"
    PROCESS = "process"
    EFFECT = "effect"
    INTEGER_TO_POINTER = "integer-to-pointer"
    TRANSMUTE = "transmute"
    FROM_RAW = "from-raw"
    STATIC_MUT = "static-mut"
    ASSEMBLY = "assembly"
    ALLOWED_LINT = "allowed-lint"
    CAUGHT_PANIC = "caught-panic"
    CONDITIONAL = "conditional"
    OBSERVED_TEST = "observed-test"
    ATTRIBUTE = "attribute"
    MACRO = "macro"
    INCLUDED = "included"
    UNFINISHED = "unfinished"
    EXPORT = "export"
    TEST = "test"
    DEPENDENCY = "dependency"
    BUILD = "build"


MESSAGES: dict[Rule, str] = {
    Rule.SYNTAX: Words("'{code}' cannot be parsed: write Rust without syntax errors or deep nests"),
    Rule.UNSAFE_INTERFACE: Words(
        "'{code}' is not a safe interface: take slices, references and values, and drop 'unsafe'"
    ),
    Rule.UNEXPLAINED_UNSAFE: Words(
        "'{code}': say in a // SAFETY: comment directly above which condition on which of its names"
        " makes it sound"
    ),
    Rule.UNCHECKED: Words("'{code}' leaves out a check: use the checked form"),
    Rule.EXTERN_C: Words("'{code}' has the C ABI: only modules named ffi offer functions to C"),
    Rule.FOREIGN_CALL: Words("'{code}' calls C that was not called before: write it in Rust"),
    Rule.OWN_MEMORY: Words("'{code}' names memory of a process as a file: use references"),
    Rule.PROCESS: Words("'{code}' starts or ends processes: return a value"),
    Rule.EFFECT: Words("'{code}' reaches files, streams, threads or the net: keep to memory"),
    Rule.INTEGER_TO_POINTER: Words(
        "'{code}' may make a pointer of an integer: declare the pointer with its type and cast that"
    ),
    Rule.TRANSMUTE: Words("'{code}' reinterprets bytes: convert the value"),
    Rule.FROM_RAW: Words("'{code}' makes a reference or an owner of a raw pointer: take it as one"),
    Rule.STATIC_MUT: Words("'{code}' is a mutable static: pass the state"),
    Rule.ASSEMBLY: Words("'{code}' is bound to one processor: write it in plain Rust"),
    Rule.ALLOWED_LINT: Words("'{code}' silences a lint: fix what it objects to"),
    Rule.CAUGHT_PANIC: Words("'{code}' hides a panic: return an error"),
    Rule.CONDITIONAL: Words("'{code}' makes the code depend on how it is built: leave it out"),
    Rule.OBSERVED_TEST: Words("'{code}' can tell a test from real use: leave it out"),
    Rule.ATTRIBUTE: Words("'{code}' changes how the item is linked or compiled: leave it out"),
    Rule.MACRO: Words("'{code}' hides code from these rules: write it as a function"),
    Rule.INCLUDED: Words("'{code}' brings in another file: write the code itself"),
    Rule.UNFINISHED: Words("'{code}' is unfinished: implement it"),
    Rule.EXPORT: Words("'{code}' is offered to C no more as it was: keep its name and its types"),
    Rule.TEST: Words("'{code}' is removed or checks less than before: keep the test"),
    Rule.DEPENDENCY: Words("'{code}' is a new dependency: it must not replace what was rewritten"),
    Rule.BUILD: Words("'{code}' changes how the crate is built: keep it as it was"),
}
"""What is wrong with the code at a place and what to do instead."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place that breaks a rule."""

    rule: Rule
    file: str
    """Relative to the crate; empty for an answer of a model."""
    line: int
    """1-based; 0 where it is about the whole file."""
    code: str
    """What is there, shortened to one line."""

    @property
    def message(self) -> Words:
        """Return what is wrong and what to do."""
        return Words(MESSAGES[self.rule], code=self.code)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "rule": self.rule.value,
            "file": self.file,
            "line": self.line,
            "code": self.code,
            "message": str(self.message),
        }
