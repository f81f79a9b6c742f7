"""Confidence as it was measured: at most the share of findings like it that proved true when read.

Findings in released projects were read and judged one by one (`tests/bench/judged.jsonl`). What is
alike shares the rule, the language and the way to the flaw. `measured.txt` holds, for each such
class, how many of the last `WINDOW` that were judged are true; `tests/bench/calibration.py --table`
writes it. A share of few is drawn towards one third, what is true on the whole
(add-constant smoothing, as in Laplace's rule of succession).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Final, Literal

from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.flow.domain.fault import BRANCH, BRANCH_CASE, CALLED, LOOP_ENDS, Fault
from jarvis_ls.jsec.flow.library.c_functions import TABLE

WINDOW: Final = 12
"""Findings of a class that count, the last judged: the engine changes."""

_FALSE_BEFORE, _TRUE_BEFORE = 2, 1
"""What every class is taken to have had judged before the first finding was."""

_WORTH_A_LOOK: Final = 0.59
"""Most confidence of a finding that is rather not true."""

_MOST: Final = ((0.85, 1.0), (0.65, 0.79), (0.0, _WORTH_A_LOOK))
"""Least share of true findings of a class, and most confidence of one of them."""

_LENT: Final = 0.55
"""Most confidence of a leak of what a caller, or a stream's owner, still holds."""

_DOUBTED: Final = 0.5
"""What is not above this stays as it is."""

_SHOWN: Final = frozenset(
    "buffer-write-stack buffer-write-heap buffer-underwrite buffer-read-over buffer-read-under "
    "use-after-free double-free leak".split()
)
"""Kinds of faults that a function can show by itself. A null pointer that is used whatever happens
is none: that would have been noticed, and none of 15 in released code was true."""

Way = Literal["local", "loop", "calls"]
"""Within a function; where a loop is left, perhaps before its first round; through calls."""

_CPP: Final = frozenset((".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".ipp", ".tcc"))
_TABLE: Final = Path(__file__).with_name("measured.txt")
_SHOWN_ON_A_WAY: Final = frozenset(
    "buffer-write-stack buffer-write-heap use-after-free double-free".split()
)
"""Those that a condition in front of them does not make doubtful."""

_SHOWN_BY_RULES: Final = frozenset({"double-free", "use-after-free"})
"""Kinds of faults that rules of the same name find without flow."""

_LONG: Final = 2_000
"""Bytes of a step that are looked at."""

_CALLED: Final = re.compile(rb"([A-Za-z_]\w*)\s*\(")
_WORDS: Final = frozenset((b"sizeof", b"if", b"while", b"for", b"switch", b"return"))
_MACRO: Final = re.compile(rb"\b(?!(?:NULL|EOF)\b)[A-Z][A-Z0-9_]{2,}\b")
_UNSEEN: Final = re.compile(
    rb"\b(?!(?:NULL|EOF)\b)[A-Z][A-Z0-9_]{2,}\b|->|\w\.[A-Za-z_]|::|[*&\])]\s*\."
)
"""What may hold more than the function shows: macros, members, names of other scopes."""


_FREES: Final = re.compile(rb"free\s*\(\s*([A-Za-z_]\w*(?:(?:->|\.)\w+)*)\s*\)")
_BETWEEN: Final = re.compile(
    rb"[{}=#?:&]|\+\+|--|\b(?:goto|return|break|continue|if|else|do|while|for|switch)\b"
)
"""What between two statements may lead elsewhere, or give what was freed another value."""
_QUOTED: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/', re.DOTALL)
_NEAR: Final = 400
"""Bytes that statements that follow each other may be apart."""


def language_class(path: str) -> str:
    """Return the language that findings of a file are counted under."""
    suffix = Path(path).suffix.lower()
    return "rust" if suffix == ".rs" else "c++" if suffix in _CPP else "c"


def share_true(true: int, judged: int) -> float:
    """Return how likely the next finding of a class is true, of which so many were judged."""
    return (true + _TRUE_BEFORE) / (judged + _TRUE_BEFORE + _FALSE_BEFORE)


def measured_confidence(rule: str, path: str, way: Way, confidence: float) -> float:
    """Return the confidence of a finding in a file, lowered to what its class was measured to
    deserve. The order of findings of one class stays."""
    share = share_true(*_read_table().get((rule, language_class(path), way), (0, 0)))
    most = next(most for least, most in _MOST if share >= least)
    if confidence <= _DOUBTED:
        return confidence
    if most > _WORTH_A_LOOK:
        return min(confidence, most)
    above = (confidence - _DOUBTED) / (1 - _DOUBTED)
    return round(_DOUBTED + min(1.0, above) * (most - _DOUBTED), 2)


def way_of(fault: Fault) -> Way:
    """Return which way a fault comes about."""
    messages = {step.message for step in fault.steps}
    return "calls" if CALLED in messages else "loop" if LOOP_ENDS in messages else "local"


def lent_confidence(fault: Fault, confidence: float) -> float:
    """Return the confidence of a fault, lowered for a leak whose owner is not at hand."""
    return min(confidence, _LENT) if _is_reopened(fault) or _is_callers(fault) else confidence


def is_evident(fault: Fault, source: Source, texts: Callable[[str], Source | None]) -> bool:
    """Return whether a fault needs nothing but what its function shows: no macro or member stands
    on the way, no call of what the program defines, no loop that is left at once, and a condition
    only before a write beyond memory or a second use of what was freed. Hardly a finding that was
    judged is of that kind."""
    if fault.kind not in _SHOWN or fault.doubtful or language_class(source.path) == "rust":
        return False
    if fault.kind == "leak" and way_of(fault) == "calls":
        return False
    if fault.kind in _SHOWN_BY_RULES:
        own = [step.span for step in fault.steps[:-1] if step.file == source.path]
        if _is_next(source, own, fault.span):
            return True
    branches = 0
    for step in fault.steps:
        text = source if step.file == source.path else texts(step.file)
        if text is None or step.message == LOOP_ENDS or _needs_more(text, *step.span):
            return False
        branches += step.message in (BRANCH, BRANCH_CASE)
    if (branches or not fault.certain) and fault.kind not in _SHOWN_ON_A_WAY:
        return False
    return not _needs_more(source, *fault.span)


def _is_next(source: Source, freed: Iterable[tuple[int, int]], used: tuple[int, int]) -> bool:
    """Return whether a use is of what a statement before it freed, by the same name, with nothing
    between that could lead elsewhere or change what the name stands for. All are spans of bytes."""
    if language_class(source.path) != "c":
        return False
    for start, end in freed:
        match = _FREES.fullmatch(source.data[start:end])
        if match is None or not end < used[0] <= end + _NEAR:
            continue
        before = source.data[max(0, start - _NEAR) : start].rstrip()
        between = _QUOTED.sub(b"", source.data[end : used[0]])
        name = re.compile(rb"(?<![\w.>])" + re.escape(match[1]) + rb"(?!\w)")
        if (
            before.endswith((b";", b"{", b"}"))
            and name.search(source.data[slice(*used)])
            and not _BETWEEN.search(between)
            and not _MACRO.search(between)
            and not _calls_unseen(between)
        ):
            return True
    return False


def shows(rule: str, source: Source, places: Iterable[tuple[int, int]]) -> bool:
    """Return whether a finding of a rule needs nothing but what stands at its places, from byte to
    byte, its own the last: as `is_evident` for what flow found."""
    if rule not in _SHOWN_BY_RULES or language_class(source.path) != "c":
        return False
    *causes, own = places
    return _is_next(source, causes, own) or not any(
        _needs_more(source, start, end) for start, end in (*causes, own)
    )


def is_next(finding: Finding, source: Source) -> bool:
    """Return whether what a rule found is a use, by the same name, of what a statement in front of
    it frees: then it needs no flow to be believed."""
    spans = [
        (source.offset(at.line, at.column), source.offset(at.end_line, at.end_column))
        for at in (step.span for step in finding.trace if step.file == source.path)
    ]
    return (
        finding.rule in _SHOWN_BY_RULES
        and len(spans) > 1
        and _is_next(source, spans[:-1], spans[-1])
    )


def _needs_more(source: Source, start: int, end: int) -> bool:
    """Return whether what stands there may rest on more than the function: a macro, a member, a
    name of another scope, or a call of what is no library function, which may be a macro."""
    written = source.data[start : min(end, start + _LONG)]
    return _UNSEEN.search(written) is not None or _calls_unseen(written)


def _calls_unseen(written: bytes) -> bool:
    """Return whether a text calls what is no library function, which may be a macro."""
    return any(
        match[1] not in _WORDS and match[1].decode() not in TABLE
        for match in _CALLED.finditer(written)
    )


def _is_reopened(fault: Fault) -> bool:
    """Return whether a leak is that of a stream that `freopen` gave back to its owner."""
    names = (dict(step.args).get("name", "") for step in fault.steps)
    return fault.kind == "resource-leak" and any(name.startswith("freopen") for name in names)


def _is_callers(fault: Fault) -> bool:
    """Return whether a leak is told in a function that was entered after its caller allocated: what
    the caller does with it, such as a destructor of another file, is not at hand there."""
    if fault.kind not in ("leak", "resource-leak"):
        return False
    is_allocated = False
    here = fault.function.rpartition("::")[2]
    for step in fault.steps:
        name = dict(step.args).get("name", "")
        if step.message == CALLED:
            if is_allocated and name.rpartition("::")[2] == here:
                return True
        elif step.message not in (BRANCH, BRANCH_CASE, LOOP_ENDS) and name:
            is_allocated = True
    return False


@cache
def _read_table() -> dict[tuple[str, str, str], tuple[int, int]]:
    """Return how many findings are true, and how many were judged, of each class."""
    table = {}
    for line in _TABLE.read_text("utf-8").splitlines():
        rule, language, way, true, judged = line.split()
        table[rule, language, way] = int(true), int(judged)
    return table
