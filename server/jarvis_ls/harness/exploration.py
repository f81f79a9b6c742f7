"""Exploring a program by its coverage: small changes of cases, and which ways were gone.

The program is compiled with `-fsanitize-coverage=trace-pc` and linked with `coverage.c`, which
counts steps from one place to the next in a file, however the program ends.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jarvis_ls.harness.program_cases import Ended, Recorded, run_case

SECONDS = 10.0
"""How long a generated case may take."""
CAREFUL = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:allocator_may_return_null=1"
    ":detect_stack_use_after_return=0:print_legend=0",
    "UBSAN_OPTIONS": "print_stacktrace=0:exitcode=99",
}
"""What the sanitizers are told."""
_MAP = 65536
_BYTES = (0, 1, 16, 32, 48, 57, 64, 100, 127, 128, 255)


class Ways:
    """The ways that runs of instrumented programs have gone."""

    def __init__(self) -> None:
        self._gone: set[int] = set()

    def run(
        self, case: Recorded, program: Path, environment: Mapping[str, str] = CAREFUL
    ) -> tuple[bool, Ended]:
        """Return whether a case leads somewhere new, and how it ended. Raises `JarvisError`."""
        with tempfile.NamedTemporaryFile(prefix="harness-coverage-") as counts:
            counts.truncate(_MAP)
            ended = run_case(
                case,
                program,
                seconds=SECONDS,
                environment={**environment, "HARNESS_COVERAGE": counts.name},
            )
            data = Path(counts.name).read_bytes()
        ways = {at << 4 | count.bit_length() for at, count in enumerate(data) if count}
        new = not ways <= self._gone
        self._gone |= ways
        return new, ended


def mutate_case(case: Recorded, other: Recorded, draw: random.Random) -> Recorded:
    """Return a case like another, with one to four small changes."""
    for _ in range(draw.choice((1, 1, 2, 4))):
        places: list[str] = [*case.files, *(["-"] if case.stdin or not case.files else [])]
        if case.arguments and draw.random() < 0.15:
            words = list(case.arguments)
            at = draw.randrange(len(words))
            known = [*other.arguments, *words]
            words[at] = draw.choice(known) if draw.random() < 0.6 else _word(words[at], draw)
            case = replace(case, arguments=tuple(words))
            continue
        place = draw.choice(places)
        donors = [other.stdin, *(data for data, _ in other.files.values())]
        donor = draw.choice(donors)
        if place == "-":
            case = replace(case, stdin=_bytes_changed(case.stdin, donor, draw))
        else:
            data, mode = case.files[place]
            files = {**case.files, place: (_bytes_changed(data, donor, draw), mode)}
            case = replace(case, files=files)
    return case


def _bytes_changed(data: bytes, donor: bytes, draw: random.Random) -> bytes:
    made = bytearray(data)
    at = draw.randrange(len(made) + 1)
    length = draw.choice((1, 1, 2, 4, 8, 32, 256))
    manner = draw.randrange(8)
    if manner == 0 and made:
        made[at % len(made)] ^= 1 << draw.randrange(8)
    elif manner == 1 and made:
        made[at % len(made)] = draw.choice(_BYTES)
    elif manner == 2:
        del made[at : at + length]
    elif manner == 3:
        made[at:at] = made[at : at + length] * draw.choice((1, 2, 16))
    elif manner == 4:
        made[at:at] = draw.randbytes(length)
    elif manner == 5:
        del made[at:]
    elif manner == 6 and donor:
        start = draw.randrange(len(donor))
        made[at : at + length] = donor[start : start + length]
    else:
        made[at : at + length] = bytes([draw.choice(_BYTES)]) * length
    return bytes(made[: 1 << 20])


def _word(word: str, draw: random.Random) -> str:
    if word.lstrip("-").isdigit():
        return str(int(word) + draw.choice((-1, 1, 10, -100)))
    if not word:
        return "-"
    at = draw.randrange(len(word))
    letter = draw.choice("abcdefghijklmnopqrstuvwxyz0123456789-")
    return word[:at] + letter + word[at + 1 :]
