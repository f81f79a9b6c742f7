"""What the analysis knows of all calls of a static function: bounds of numbers, pointers that are
never null.

All callers of such a function are in its own file, unless its address is taken; then nothing is
known, nor when the analysis of one caller did not come to its end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import facts_of
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.domain.abstract_value import INIT, NOT_NULL, AbstractValue
from jarvis_ls.jsec.flow.domain.engine import Limits
from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
from jarvis_ls.jsec.flow.ir.declarations import FileIR, FunctionIR
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.flow.program.in_memory import Files

_MOST_CALLERS = 40
_LARGEST = 400_000
"""Bytes of a file that is analysed for this."""
_LIMITS = Limits(fuel=2000, inside=400)
_BOUND = 1 << 62
"""Numbers from here on are bounds of a type, not of a caller."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What holds for every call; parameters are named by their place."""

    not_null: frozenset[int] = frozenset()
    """Pointers that are never null."""
    ranges: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Least and greatest number that is passed."""


def call_facts(source: Source, name: str) -> CallFacts:
    """Return what all calls of the static function `name` of a file have in common."""
    language = language_of(source.path, source.data)
    if language != "c" or len(source.data) > _LARGEST or _is_address_taken(source, name):
        return CallFacts()
    file = _lower(source)
    function = file.functions.get(name)
    callers = [caller for caller in file.functions.values() if name in caller.calls]
    if function is None or not callers or len(callers) > _MOST_CALLERS:
        return CallFacts()
    seen: list[list[AbstractValue]] = []
    for caller in callers:
        calls = _calls_in(file, caller, function)
        if not calls:
            return CallFacts()
        seen += calls
    return _in_common(seen, len(function.params))


def _is_address_taken(source: Source, name: str) -> bool:
    code = blank(source.data, "c")
    return re.search(rb"\b" + re.escape(name.encode()) + rb"\b(?!\s*\()", code) is not None


def _lower(source: Source) -> FileIR:
    root = parse(source.data, "c").root_node
    return lower(Unit(source, "c", facts_of(root, "c")), root)


def _calls_in(file: FileIR, caller: FunctionIR, wanted: FunctionIR) -> list[list[AbstractValue]]:
    """Return the arguments of all calls of a function in another; none when it was not followed to
    its end."""
    seen: list[list[AbstractValue]] = []

    def note(function: FunctionIR, values: list[AbstractValue]) -> None:
        if function is wanted:
            seen.append(values)

    interpreter = Interpreter(Files([file]), _LIMITS)
    interpreter.witness = note
    interpreter.root(caller)
    return [] if interpreter.partial or interpreter.fuel <= 0 else seen


def _in_common(seen: list[list[AbstractValue]], count: int) -> CallFacts:
    not_null = set()
    ranges = {}
    for place in range(count):
        values = [call[place] for call in seen if place < len(call)]
        if len(values) < len(seen) or any(value.init != INIT for value in values):
            continue
        if all(value.nullness == NOT_NULL and value.targets for value in values):
            not_null.add(place)
        if any(value.targets for value in values):
            continue
        low, high = min(value.low for value in values), max(value.high for value in values)
        if -_BOUND < low <= high < _BOUND:
            ranges[place] = int(low), int(high)
    return CallFacts(frozenset(not_null), ranges)
