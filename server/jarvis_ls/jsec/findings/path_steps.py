"""The wording of the steps of a path: conditions are quoted from the source.

The flow analysis notes where a branch was taken and how its condition came out; the text of the
condition is in the file, so it is quoted here, when the finding is made.
"""

from __future__ import annotations

import re

from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Message
from jarvis_ls.jsec.flow.domain.fault import BRANCH, BRANCH_CASE, CALLED, LOOP_ENDS, Step

_LONGEST = 60
"""Characters of a condition that are quoted."""
_READ = 400
"""Bytes of a place that are read for it."""
_SWITCH = re.compile(r"(?:switch\s*\(|match\s)\s*(.*?)\s*\)?\s*\{", re.DOTALL)
"""A `switch` or `match` up to its body."""

_TRUE = "Assuming '{condition}' is true."
_FALSE = "Assuming '{condition}' is false."
_TAKES_TRUE = "Taking true branch."
_TAKES_FALSE = "Taking false branch."
_ENDS_TRUE = "The loop ends: '{condition}' is true."
_ENDS_FALSE = "The loop ends: '{condition}' is false."
_ENDS = "The loop ends here."
_CASE = "Assuming '{condition}' is {value}."
_RANGE = "Assuming '{condition}' is in the range {low} to {high}."
_DEFAULT = "Assuming '{condition}' matches no other case."
_SOME_CASE = "Assuming '{condition}' matches a case."
_TAKES_CASE = "Taking this case."
_CALL = "Calling '{name}'."
_CALL_WITH = "Calling '{name}' with {values}."


def step_message(step: Step, source: Source) -> Message:
    """Return what a step of a path says, with the condition as `source`, its file, has it."""
    args = dict(step.args)
    if step.message == CALLED:
        return Message(_CALL_WITH if "values" in args else _CALL, step.args)
    if step.message not in (BRANCH, LOOP_ENDS, BRANCH_CASE):
        return Message(step.message, step.args)
    start, end = step.span
    written = source.data[start : min(end, start + _READ)].decode("utf-8", "replace")
    holds = args.get("value") == "true"
    if step.message == BRANCH_CASE:
        return _case(args, written)
    condition = _one_line(written)
    if step.message == BRANCH:
        if not condition:
            return Message(_TAKES_TRUE if holds else _TAKES_FALSE)
        return Message(_TRUE if holds else _FALSE, (("condition", condition),))
    if not condition:
        return Message(_ENDS)
    return Message(_ENDS_TRUE if holds else _ENDS_FALSE, (("condition", condition),))


def _case(args: dict[str, str], written: str) -> Message:
    """Return what the step of a case says; `written` is the `switch`, or what it decides by."""
    match = _SWITCH.match(written)
    condition = _one_line(match[1] if match else written if "{" not in written else "")
    if not condition:
        return Message(_TAKES_CASE)
    quoted = ("condition", condition)
    if "low" not in args:
        return Message(_SOME_CASE, (quoted,))
    low, high = args["low"], args.get("high", "")
    if not low:
        return Message(_DEFAULT, (quoted,))
    if low == high:
        return Message(_CASE, (quoted, ("value", low)))
    return Message(_RANGE, (quoted, ("low", low), ("high", high)))


def _one_line(written: str) -> str:
    """Return code as one line of at most `_LONGEST` characters."""
    line = " ".join(written.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
