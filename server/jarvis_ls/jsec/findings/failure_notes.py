"""Notes on what an analysis of ours failed at: findings may be missing there.

The log has the traceback; a note says to the reader of a report which function, rule or file it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_ls.core.words import Words

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
