"""Inputs near the one that shows a flaw, derived without a model.

They are the specification of a repair: run on the original, they fall on both sides of the failure
boundary. Those that fail must be silent afterwards, the others must give what they gave (ContraFix,
arXiv 2605.17450).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jarvis_ls.harness.rust_target import count_cases
from jarvis_ls.jsec.proof.evidence import Case
from jarvis_ls.jsec.proof.rungs.rust_runs import case_of
from jarvis_ls.jsec.proof.rust_build import SYSTEMS

_NUMBER = re.compile(r"-?\d{1,18}")
_LONGEST = 70_000
_MOST_BYTES = 64
"""Bytes of an input for a function that are varied one by one."""
_NEAR_CALLS = 20
_SPREAD_CALLS = 40
_LETTERS = b"A0 \n%-/z\xff\x00"


def variants_of(case: Case, numbers: Sequence[int] = ()) -> Iterator[Case]:
    """Yield the neighbours of a case, each once: sizes and numbers one more and less, half and
    double, and the `numbers` of the code with theirs."""
    seen = {case}
    for variant in _all(case, numbers):
        if variant not in seen:
            seen.add(variant)
            yield variant


def random_cases(cases: Sequence[Case], count: int) -> list[Case]:
    """Return cases made of others by random changes; the same ones each time."""
    chooser = random.Random("".join(case.id for case in cases))
    found: dict[Case, None] = {}
    for _ in range(4 * count):
        if len(found) >= count:
            break
        case = chooser.choice(cases)
        for _ in range(chooser.choice((1, 1, 2, 4))):
            case = _change(case, chooser)
        found.setdefault(case)
    return [case for case in found if case not in cases]


def _all(case: Case, numbers: Sequence[int]) -> Iterator[Case]:
    if is_rust_call(case):
        yield from _calls_near(case)
        return
    if case.build.harness:
        yield from _byte_variants(case)
        return
    for place, text in enumerate(case.arguments):
        for new in _text_variants(text, numbers):
            yield replace(case, arguments=_with(case.arguments, place, new))
    if case.stdin:
        for data in _data_variants(case.stdin, numbers):
            yield replace(case, stdin=data)
    for place, (name, value) in enumerate(case.environment):
        for new in _text_variants(value, numbers):
            yield replace(case, environment=_with(case.environment, place, (name, new)))
    for place, (name, data) in enumerate(case.files):
        for changed in _data_variants(data, numbers):
            yield replace(case, files=_with(case.files, place, (name, changed)))
    yield from _setting_variants(case, numbers)


def _setting_variants(case: Case, numbers: Sequence[int]) -> Iterator[Case]:
    settings = case.settings
    for place, value in enumerate(settings.random):
        for new in _near(value, numbers):
            if 0 <= new < 2**31:
                yield replace(
                    case, settings=replace(settings, random=_with(settings.random, place, new))
                )
    if settings.fail_allocation > 0:
        for number in (settings.fail_allocation - 1, settings.fail_allocation + 1, -1):
            yield replace(case, settings=replace(settings, fail_allocation=number))
    if settings.fail_allocation or settings.fail_call or settings.short_reads:
        yield replace(
            case,
            settings=replace(settings, fail_allocation=0, fail_call="", short_reads=False),
        )


def _text_variants(text: str, numbers: Sequence[int]) -> Iterator[str]:
    if _NUMBER.fullmatch(text):
        yield from (str(new) for new in _near(int(text), numbers))
        return
    for match in list(_NUMBER.finditer(text))[:3]:
        for new in _near(int(match[0]), ()):
            yield f"{text[: match.start()]}{new}{text[match.end() :]}"
    for length in _lengths(len(text), numbers):
        yield _of_length(text, length)


def _data_variants(data: bytes, numbers: Sequence[int]) -> Iterator[bytes]:
    """Yield data whose lines are longer or shorter; numbers of one line are others."""
    lines = data.split(b"\n")
    text = lines[0].decode("utf-8", "surrogateescape")
    same = [line == lines[0] for line in lines]
    for new in _text_variants(text, numbers):
        changed = new.encode("utf-8", "surrogateescape")
        yield b"\n".join(
            changed if is_same else line for line, is_same in zip(lines, same, strict=True)
        )
    for count in (1, len(lines) // 2, 2 * len(lines)):
        if 0 < count < 2000:
            yield b"\n".join((lines * 2)[:count])
    yield data[: len(data) // 2]
    yield b""


def is_rust_call(case: Case) -> bool:
    """Return whether a case is one of the numbered calls of a test in Rust."""
    return bool(case.build.harness) and case.build.system in SYSTEMS


def _calls_near(case: Case) -> Iterator[Case]:
    """Yield the other calls of a test with their results, the next ones first and the rest evenly:
    neighbours differ in one argument."""
    count = count_cases(case.build.harness)
    own = next((int(value) for name, value in case.environment if name == "JSEC_CASE"), 0)
    near = sorted(range(count), key=lambda number: abs(number - own))[:_NEAR_CALLS]
    step = max(1, count // _SPREAD_CALLS)
    for number in dict.fromkeys([*near, *range(0, count, step), *range(count)]):
        yield case_of(case.build, number, shown=True)


def _byte_variants(case: Case) -> Iterator[Case]:
    """Yield the neighbours of what a function is called with: see `harness.target`."""
    data = case.stdin
    for place in range(min(len(data), _MOST_BYTES)):
        value = data[place]
        for new in (value - 1, value + 1, value // 2, value * 2) if value else (1,):
            if 0 <= new < 256:
                yield replace(case, stdin=data[:place] + bytes([new]) + data[place + 1 :])


def _near(value: int, numbers: Sequence[int]) -> list[int]:
    """Return numbers near one, then those of the code with their neighbours."""
    found = [value - 1, value + 1, int(value / 2), value * 2, -value, 0]
    found += [near for number in numbers for near in (number - 1, number, number + 1)]
    return list(dict.fromkeys(found))


def _lengths(length: int, numbers: Sequence[int]) -> list[int]:
    return [near for near in _near(length, numbers) if 0 <= near < _LONGEST]


def _of_length(text: str, length: int) -> str:
    if length <= len(text):
        return text[:length]
    last = text[-1:] or "A"
    return text + last * (length - len(text))


def _change(case: Case, chooser: random.Random) -> Case:
    """Return a case with one of its inputs changed at random."""
    inputs = [
        *(("argument", place) for place in range(len(case.arguments))),
        *([("stdin", 0)] if case.stdin or case.build.harness else []),
        *(("file", place) for place in range(len(case.files))),
        *(("environment", place) for place in range(len(case.environment))),
    ]
    if not inputs or is_rust_call(case):
        return case
    kind, place = chooser.choice(inputs)
    if kind == "stdin":
        return replace(case, stdin=_random_bytes(case.stdin, chooser))
    if kind == "file":
        name, data = case.files[place]
        return replace(case, files=_with(case.files, place, (name, _random_bytes(data, chooser))))
    if kind == "argument":
        text = _random_text(case.arguments[place], chooser)
        return replace(case, arguments=_with(case.arguments, place, text))
    name, value = case.environment[place]
    pair = (name, _random_text(value, chooser))
    return replace(case, environment=_with(case.environment, place, pair))


def _random_text(text: str, chooser: random.Random) -> str:
    if _NUMBER.fullmatch(text) and chooser.random() < 0.8:
        return str(int(text) + chooser.choice((-1, 1)) * 2 ** chooser.randrange(40))
    data = _random_bytes(text.encode("utf-8", "surrogateescape"), chooser)
    return data.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def _random_bytes(data: bytes, chooser: random.Random) -> bytes:
    if not data:
        return bytes(chooser.choice(_LETTERS) for _ in range(chooser.randrange(1, 64)))
    at = chooser.randrange(len(data))
    end = min(len(data), at + 2 ** chooser.randrange(6))
    new = data
    match chooser.randrange(5):
        case 0:
            new = data[:at] + bytes([chooser.randrange(256)]) + data[at + 1 :]
        case 1:
            new = data[:at] + data[end:]
        case 2:
            new = data[:end] + data[at:]
        case 3:
            near = (data[at] + chooser.choice((1, 255))) % 256
            new = data[:at] + bytes([near]) + data[at + 1 :]
        case _:
            fill = bytes([chooser.choice(_LETTERS)]) * 2 ** chooser.randrange(10)
            new = data[:at] + fill + data[at:]
    return new[:_LONGEST]


def _with(values: tuple, place: int, new: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:place], new, *values[place + 1 :])
