"""Notes on what an analysis of ours failed at: findings may be missing there.

The log has the traceback; a note says to the reader of a report which function, rule or file it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jarvis_ls.core.words import Words
from jarvis_ls.jsec.flow.lower.builder import MOST_INSTRUCTIONS

MOST_ALIKE = 1_000
"""Findings of one rule in one top-level item, of which no more are told."""
MOST_PLACES = 10_000
"""Calls of one name, or places of one kind, in one top-level item, of which rules examine no
more."""
MOST_BYTES = 300_000
"""Bytes of a function in which rules look for places to examine."""

FAILED = Words(
    "data-flow analysis of this file failed, and its findings are missing; the log has the details"
)

CUT = Words(
    "the rules took too long: what they found until then is kept, the rest was not examined"
)
NOT_FOLLOWED = Words(
    "data-flow analysis of this file took too long, and its findings are missing; those of the "
    "rules are kept"
)


@dataclass
class MissingFindings:
    """Why findings of rules are missing in a file."""

    failed: set[str] = field(default_factory=set)
    """Rules that raised."""
    crowded: set[str] = field(default_factory=set)
    """Rules that reached the limit of findings in one declaration."""

    def notes(self) -> list[str]:
        """Return a note for each of the rules."""
        return [*failed_rules(self.failed), *crowded_rules(self.crowded)]


def failed_functions(keys: Iterable[str]) -> list[str]:
    """Return a note for each function whose analysis raised."""
    return [
        Words(
            "data-flow analysis of '{function}' failed, and findings that depend on it are "
            "missing; the log has the details",
            function=function_name(key),
        )
        for key in keys
    ]


def large_functions(keys: Iterable[str]) -> list[str]:
    """Return a note for each function that is too large to be followed."""
    return [
        Words(
            "'{function}' is too large for data-flow analysis (more than {most} instructions): "
            "only the rules examined it; split it up to have its values followed",
            function=function_name(key),
            most=MOST_INSTRUCTIONS,
        )
        for key in keys
    ]


def many_functions(left_out: int) -> list[str]:
    """Return a note when so many functions of a file are not followed, because it has too many."""
    note = Words(
        "data-flow analysis left out {count} functions: this file has too many short ones; only "
        "the rules examined them; split the file up to have their values followed",
        count=left_out,
    )
    return [note] if left_out else []


def crowded_rules(rules: Iterable[str]) -> list[str]:
    """Return a note for each rule of whose findings only the first are told in a function."""
    return [
        Words(
            "the check '{rule}' has more than {most} findings in one declaration; the first are "
            "listed, the rest is not",
            rule=rule,
            most=MOST_ALIKE,
        )
        for rule in sorted(rules)
    ]


def crowded_declarations(some: bool) -> list[str]:
    """Return a note when rules examined only the first places of `some` declaration."""
    note = Words(
        "a declaration has more than {most} calls of one function, as many places that one check "
        "is for, or more than {size} kB; the first were examined, the rest was not; split it up to "
        "have all of it examined",
        most=MOST_PLACES,
        size=MOST_BYTES // 1_000,
    )
    return [note] if some else []


def failed_rules(rules: Iterable[str]) -> list[str]:
    """Return a note for each rule that raised."""
    return [
        Words(
            "the check '{rule}' failed, and some of its findings are missing; the log has the "
            "details",
            rule=rule,
        )
        for rule in sorted(rules)
    ]


def function_name(key: str) -> str:
    """Return the name of a function as its source has it, given its key in a program."""
    return key.removeprefix("fn ").partition("#")[0]
