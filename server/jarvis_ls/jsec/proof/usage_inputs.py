"""Inputs as a program's users give them: options with their values, and files that come with the
project with other numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jarvis_ls.jsec.proof.evidence import Build, Case

_OPTION_VALUES = ("2147483647", "-2147483648", "0", "A" * 300)
_NUMBERS = (b"2147483647", b"-2147483648", b"0")
"""Boundary values that replace a number in a file."""
_MOST_OPTIONS = 10
_MOST_NUMBERS = 8
_HEAD = 600
"""Bytes at the beginning of a file in which numbers are replaced: headers hold the sizes."""
_MOST_SUFFIXES = 4
_LONG = 3000
"""Bytes that are added to a line."""
_GETOPT = re.compile(
    rb'\bgetopt(?:_long(?:_only)?)?\s*\([^;"]{0,200}"[+:-]{0,2}([A-Za-z0-9:]{1,120})"'
)
_VALUED_LETTER = re.compile(rb"([A-Za-z0-9]):(?!:)")
_VALUED_WORD = re.compile(rb'\{\s*"([A-Za-z][\w-]{1,30})"\s*,\s*(?:required_argument|1)\s*,')
_NEXT_WORD = re.compile(
    rb"\bargv\s*\[\s*(?:\+\+\s*\w+|\w+\s*\+\s*1)\s*\]|\*\s*\+\+\s*argv|--\s*argc\b"
)
"""How a program without `getopt` takes the word behind an option."""
_SUFFIX = re.compile(rb'"[^"\\\n]{0,40}?(\.[A-Za-z][A-Za-z0-9]{1,7})"')
_NO_SAMPLES = frozenset({b".c", b".h", b".cc", b".cpp", b".hpp", b".o", b".so", b".exe", b".dll"})
_NUMBER = re.compile(rb"(?<![\w.])-?\d{1,10}(?![\w.])")


def valued_options(text: bytes, options: Iterable[bytes]) -> list[bytes]:
    """Return the options that a file with `main` takes a value for, out of its blanked text: short
    ones such as `-w`, long ones such as `--width`. `options` are those that it names at all."""
    found: dict[bytes, None] = {}
    for letters in _GETOPT.findall(text):
        found.update(dict.fromkeys(b"-" + letter for letter in _VALUED_LETTER.findall(letters)))
    found.update(dict.fromkeys(b"--" + word for word in _VALUED_WORD.findall(text)))
    if not found and _NEXT_WORD.search(text):
        found.update(dict.fromkeys(options))
    return list(found)[:_MOST_OPTIONS]


def suffixes_in(texts: Iterable[bytes]) -> tuple[str, ...]:
    """Return the suffixes of files that the code of a program names, such as `.cfg`."""
    found: dict[str, None] = {}
    for text in texts:
        for suffix in _SUFFIX.findall(text):
            if suffix.lower() not in _NO_SAMPLES:
                found.setdefault(suffix.decode().lower())
    return tuple(found)[:_MOST_SUFFIXES]


def option_cases(build: Build, options: Iterable[str], file: tuple[str, bytes]) -> Iterator[Case]:
    """Yield the cases in which an option is given a value at a boundary, before the name of a
    file."""
    for option in options:
        for value in _OPTION_VALUES:
            words = _with_value(option, value)
            yield Case(build, (*words, file[0]), file[1], (file,))


def _with_value(option: str, value: str) -> tuple[str, ...]:
    """Return the words that give an option its value."""
    return (f"{option}={value}",) if option.startswith("--") else (option, value)


def changed_sample_cases(
    build: Build, options: Iterable[str], samples: Iterable[tuple[str, bytes]]
) -> Iterator[Case]:
    """Yield the cases in which a program reads a text file that comes with the project, as it is
    and with other numbers and longer lines: as its only argument, then as the value of each of
    some options."""
    known = [(name, data, list(_changes(data))) for name, data in samples]
    for name, data, changes in known:
        for changed in (data, *changes):
            yield Case(build, (name,), changed, ((name, changed),))
    for option in options:
        for name, data, changes in known:
            words = _with_value(option, name)
            for changed in (data, *changes[: _MOST_NUMBERS + 2]):
                yield Case(build, words, b"input\n" * 8, ((name, changed),))


def _changes(data: bytes) -> Iterator[bytes]:
    """Yield a text with a longer first line, a longer last one, and other numbers; the largest
    ones first."""
    first, _, rest = data.partition(b"\n")
    places = [match.span() for match in _NUMBER.finditer(data[:_HEAD])][:_MOST_NUMBERS]
    for number in _NUMBERS:
        for start, end in places:
            yield data[:start] + number + data[end:]
        if number is _NUMBERS[0]:
            yield first + b"A" * _LONG + b"\n" + rest
            yield data.rstrip(b"\n") + b"A" * _LONG + b"\n"
