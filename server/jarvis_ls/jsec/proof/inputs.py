"""Inputs for whole programs: values at the boundaries of what the code compares and allocates.

A value goes to the program through all of its channels at once (arguments, standard input,
variables of the environment, files that it reads, `rand`), so that one run asks all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.proof.evidence import Build, Case, Settings
from jarvis_ls.jsec.proof.places import function_at
from jarvis_ls.jsec.proof.usage_inputs import (
    changed_sample_cases,
    option_cases,
    valued_options,
)
from jarvis_ls.jsec.proof.workbench import Workbench

MAX_RANDOM = 2**31 - 1
SEQUENCES = (
    (1, 0, 0, 0),
    (1, 0, 0, MAX_RANDOM, 2, 0, MAX_RANDOM),
    (0, 0, 0, MAX_RANDOM, 2, 0, MAX_RANDOM),
    (0, 0, 0, 127),
    (0, 0, 0, 32767),
)
"""Random numbers of which programs that put several together make zero and the limits of integer
types."""
FAILING_ALLOCATIONS = 6
"""So many allocations are failed, one at a time."""
_NUMBER = re.compile(rb"(?<![\w.])(0[xX][0-9a-fA-F]{1,16}|\d{1,19})[uUlL]{0,3}(?![\w.])")
_LITERAL = re.compile(rb'"((?:[^"\\\n]|\\.){1,120})"')
_ENVIRONMENT = re.compile(rb"[A-Z][A-Z0-9_]{1,30}")
_FILE = re.compile(rb"/tmp/[\w][\w.-]{0,60}|[\w][\w-]{0,40}\.\w{1,5}")
_NOT_INPUT = (b".c", b".h", b".cpp", b".so")
_LONGEST = 70_000
_MOST_CONSTANTS = 12
_MOST_NAMES = 3
_READS = re.compile(
    rb"\b(?:stdin|w?scanf|getw?char|gets|getline|read|w?cin|STDIN_FILENO|fgetw?s|fgetw?c|getw?c|fread"
    rb"|recv)\b"
)
_ALLOCATES = re.compile(rb"\b(?:malloc|calloc|realloc|strdup|strndup|asprintf)\b")
_RANDOM = re.compile(rb"\b(?:rand|random)\b")
_OPENS = re.compile(rb"\b(?:fopen|open|ifstream|freopen|fdopen)\b")
_GETENV = re.compile(rb"\b(?:getenv|secure_getenv)\b")
_MAIN = re.compile(rb"\bmain\b")
_OPTION = re.compile(rb'"(--?[A-Za-z][\w-]{0,30})"')
_DASH = re.compile(rb"'-'")
_LETTER = re.compile(rb"'([A-Za-z])'")
_GETOPT = re.compile(rb'\bgetopt(?:_long)?\s*\([^;"]{0,200}"([A-Za-z:]{1,80})"')
_MOST_OPTIONS = 6
_WORD = re.compile(
    rb'\bstrn?(?:case)?cmp\s*\([^;"]{0,80}?(?:"([A-Za-z][\w-]{1,20})"\s*,|,\s*"([A-Za-z][\w-]{1,20})")'
)
_MOST_WORDS = 8
_READ_CALLS = re.compile(rb"\b(?:read|fread)\b")

VALUES = (
    "",
    "0",
    "1",
    "-1",
    "2",
    "10",
    "2147483647",
    "-2147483648",
    "4294967295",
    "1000000000",
    "127",
    "-128",
    "32767",
    "-32768",
    "\udc80",  # the byte 0x80, which is the least `char`
    "65536",
    "%s%n%s%n%s%s%s%s%s%n",
    "%x %d %s",
)
_FILE_NAME = "file.txt"
_USUAL = "1"
"""A value that programs go on with."""
LENGTHS = (60, 300, 2100)
"""Lengths of texts of one letter."""


@dataclass(frozen=True, slots=True)
class Channels:
    """How a program takes its input."""

    arguments: bool
    stdin: bool
    environment: tuple[str, ...]
    """Names of variables it may read."""
    files: tuple[str, ...]
    """Names of files it may read."""
    random: bool
    allocates: bool
    opens: bool
    reads: bool
    """Whether it uses `read` or `fread`, which may deliver less than was asked for."""
    options: tuple[str, ...] = ()
    """Options that its `main` may know, such as `-d`."""
    words: tuple[str, ...] = ()
    """Words that its `main` may take for what to do, such as `add`."""
    samples: tuple[tuple[str, bytes], ...] = ()
    """Names and contents of binary files that it may be made for."""
    valued: tuple[str, ...] = ()
    """Options that take a value, such as `-w` and `--width`."""
    texts: tuple[tuple[str, bytes], ...] = ()
    """Names and contents of text files of a kind that it names."""

    @property
    def takes_values(self) -> bool:
        """Return whether a value can reach it at all."""
        return bool(self.arguments or self.stdin or self.environment or self.files or self.random)


def channels_of(
    sources: Iterable[Source],
    *,
    arguments: bool,
    samples: tuple[tuple[str, bytes], ...] = (),
    text_samples: tuple[tuple[str, bytes], ...] = (),
) -> Channels:
    """Return how a program of these files takes its input, by the names it uses."""
    texts = [blank(source.data, "c", literals=False) for source in sources]
    whole = b"\n".join(texts)
    literals = dict.fromkeys(_LITERAL.findall(whole))
    environment = [name.decode() for name in literals if _ENVIRONMENT.fullmatch(name)]
    files = [
        name.decode()
        for name in literals
        if _FILE.fullmatch(name) and not name.endswith(_NOT_INPUT)
    ]
    opens = _OPENS.search(whole) is not None
    options = _options(texts) if arguments else []
    return Channels(
        arguments=arguments,
        stdin=_READS.search(whole) is not None,
        environment=tuple(environment[:_MOST_NAMES]) if _GETENV.search(whole) else (),
        files=tuple(files[:_MOST_NAMES]) if opens else (),
        random=_RANDOM.search(whole) is not None,
        allocates=_ALLOCATES.search(whole) is not None,
        opens=opens,
        reads=_READ_CALLS.search(whole) is not None,
        options=tuple(options[:_MOST_OPTIONS]),
        words=tuple(_words(texts)[:_MOST_WORDS]) if arguments else (),
        samples=samples if arguments and opens else (),
        valued=tuple(_valued(texts, options)) if arguments else (),
        texts=text_samples if arguments and opens else (),
    )


def _options(texts: Iterable[bytes]) -> list[str]:
    """Return the options that files with `main` name: letters that follow a dash, and words."""
    found: dict[bytes, None] = {}
    for text in texts:
        if not _MAIN.search(text):
            continue
        letters = b"".join(_GETOPT.findall(text)).replace(b":", b"")
        if _DASH.search(text):
            letters += b"".join(_LETTER.findall(text))
        found.update(dict.fromkeys(b"-%c" % letter for letter in letters))
        found.update(dict.fromkeys(_OPTION.findall(text)))
    return [option.decode() for option in found]


def _valued(texts: Iterable[bytes], options: Iterable[str]) -> list[str]:
    """Return the options that files with `main` take a value for."""
    named = [option.encode() for option in options]
    found: dict[bytes, None] = {}
    for text in texts:
        if _MAIN.search(text):
            found.update(dict.fromkeys(valued_options(text, named)))
    return [option.decode() for option in found]


def _words(texts: Iterable[bytes]) -> list[str]:
    """Return the words that files with `main` compare a text with."""
    found: dict[bytes, None] = {}
    for text in texts:
        if _MAIN.search(text):
            found.update(dict.fromkeys(plain or quoted for plain, quoted in _WORD.findall(text)))
    return [word.decode() for word in found]


def cases_of(build: Build, channels: Channels, constants: Sequence[int]) -> Iterator[Case]:
    """Yield the cases of a program, those that show most first; `constants` are numbers of its
    code."""
    yield Case(build)
    plain = [Case(build)]
    if channels.takes_values:  # many a program does nothing without an argument
        plain.append(case_with(build, channels, _USUAL))
    if channels.allocates:
        for case in plain:
            for number in (-1, *range(1, FAILING_ALLOCATIONS + 1)):
                yield _with(case, fail_allocation=number)
    yield from word_cases(build, channels)
    yield from option_cases(build, channels.valued, (_FILE_NAME, b"input\n" * 8))
    if channels.takes_values:
        for text in _values(constants):
            yield case_with(build, channels, text)
    if channels.random:
        for numbers in SEQUENCES:
            yield Case(build, settings=Settings(random=numbers))
    if channels.opens:
        for case in plain:
            for name in ("fopen", "fdopen", "freopen"):
                yield _with(case, fail_call=name, fail_number=-1)
    if channels.reads:
        case = case_with(build, channels, "x" * 40)
        yield Case(
            build,
            case.arguments,
            case.stdin,
            case.files,
            case.environment,
            Settings(short_reads=True),
        )
    if channels.arguments and channels.takes_values:
        yield Case(build, arguments=("a", "b", "c"))
        yield Case(build, arguments=("file.txt", "x" * 300), files=(("file.txt", b"x" * 300),))
    yield from sample_cases(build, channels)
    yield from changed_sample_cases(build, channels.valued, channels.texts)


def _with(case: Case, **settings: Any) -> Case:
    return replace(case, settings=replace(case.settings, **settings))


def sample_cases(build: Build, channels: Channels) -> Iterator[Case]:
    """Yield the cases in which a program reads a binary file of the project, with each option."""
    for name, data in channels.samples:
        for option in ("", *channels.options):
            words = (option, name, "out.txt") if option else (name, "out.txt")
            yield Case(build, words, data, ((name, data),))


def word_cases(build: Build, channels: Channels) -> Iterator[Case]:
    """Yield the cases in which a program is told what to do, with a file or a long text for it.

    What comes before the word may be a file too.
    """
    short, long = (b"A" * length + b"\n" for length in LENGTHS[:2])
    stdin = b"1\n" * 8 if channels.stdin else b""
    files = ((_FILE_NAME, short),)
    for word in channels.words[:1]:
        yield Case(build, (long.decode().strip(), word, _FILE_NAME), stdin, files)
    for word in channels.words:
        for words in ((_FILE_NAME, word, _FILE_NAME), (word, _FILE_NAME, _FILE_NAME)):
            yield Case(build, words, stdin, files)
        yield Case(build, (_FILE_NAME, word, long.decode().strip()), stdin, files)


def case_with(build: Build, channels: Channels, text: str) -> Case:
    """Return the case that gives a value through all channels."""
    data = text.encode("utf-8", "surrogateescape")
    lines = (data + b"\n") * 8
    number = int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else None
    random = (number,) if number is not None and 0 <= number <= MAX_RANDOM else ()
    return Case(
        build,
        arguments=(text,) if channels.arguments else (),
        stdin=lines if channels.stdin else b"",
        files=tuple((name, lines) for name in channels.files),
        environment=tuple((name, text) for name in channels.environment),
        settings=Settings(random=random if channels.random else ()),
    )


def constants_of(sources: Iterable[Source]) -> list[int]:
    """Return the numbers in the code of some files, the most frequent ones not at all: 0, 1, 2."""
    found: dict[int, None] = {}
    for source in sources:
        for match in _NUMBER.finditer(blank(source.data, "c")):
            value = _number(match[1])
            if 2 < value < 2**63:
                found.setdefault(value)
    return list(found)


def constants_near(bench: Workbench, finding: Finding) -> list[int]:
    """Return the numbers in the functions on the path to a finding, those of its own first."""
    found: dict[int, None] = {}
    places = [(finding.file, finding.span), *((step.file, step.span) for step in finding.trace)]
    for file, span in places:
        source = bench.source(file)
        if source is not None:
            _, start, end = function_at(source, span)
            part = Source(file, source.data[start:end])
            found.update(dict.fromkeys(constants_of([part])))
    return list(found)


def _values(constants: Sequence[int]) -> Iterator[str]:
    chosen = [number for number in constants if number < _LONGEST][:_MOST_CONSTANTS]
    texts = dict.fromkeys(VALUES)
    texts.update(dict.fromkeys("A" * length for length in LENGTHS))
    for number in chosen:
        texts.update(dict.fromkeys(str(value) for value in (number - 1, number, number + 1)))
    for number in chosen:
        if number > 3:
            texts.update(dict.fromkeys("A" * length for length in (number - 1, number, number + 1)))
    yield from texts


def _number(text: bytes) -> int:
    if text[:2] in (b"0x", b"0X"):
        return int(text, 16)
    return (
        int(text, 8)
        if text[0] == 48 and text.isdigit() and not set(text) & set(b"89")
        else int(text)
    )
