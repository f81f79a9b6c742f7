"""Stop before code or tests are lost: computed from bytes before and after.

It does not matter how files were written: by an edit, by a command of a shell, or by deleting a
path and adding it again. What has only moved to another place is not lost. Four things stop:

- more than `net_lines` lines fewer, over all files;
- a file that is gone, or has lost at least `file_share` of its lines;
- a public symbol that is gone or is not public any more, or a function that does nothing any more;
- a test that is gone, is skipped, or asserts nothing any more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from jarvis_ls.codeintel.change.symbol_changes import Change, SymbolChange, changed_symbols
from jarvis_ls.codeintel.change.tests_at_risk import is_started_test
from jarvis_ls.codeintel.graph.languages import graph_language
from jarvis_ls.codeintel.graph.records import Definition, Kind
from jarvis_ls.codeintel.graph.test_paths import is_test_file
from jarvis_ls.core.words import Words

_LEAST_LINES = 5
"""Lines that a file must lose before its share counts; a file that is gone always counts."""
_LEAST_ALIKE = 0.6
"""Share of the words of a symbol that one of its name elsewhere must have to be the same, moved."""
_LEAST_WORDS, _LEAST_BODY = 8, 2
"""Words and line ends of a body that can be emptied; smaller ones may well become a word or two."""
_MOST_STUB = 2
_COMMENT = re.compile(rb"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(rb"[\w$\x80-\xff]+")
_ASSERTION = re.compile(
    rb"\b(?:assert\w*|ASSERT\w*|EXPECT\w*|CHECK\w*|REQUIRE\w*|expect|should|verify\w*|fail\w*"
    rb"|raises|Error\w*|Fatal\w*|ck_\w+|panic|TEST_ASSERT\w*)\b"
)
_SKIP = re.compile(
    rb"@(?:pytest\.mark\.|unittest\.)?(?:skip|xfail|Disabled|Ignore|expectedFailure)\w*"
    rb"|#\[ignore|\bt\.Skip\w*\(|\b(?:it|test|describe)\.(?:skip|todo)\b|\bx(?:it|describe|test)\("
    rb"|\bGTEST_SKIP\(|\bDISABLED_\w+|\bpytest\.skip\(|\bself\.skipTest\("
)
_SCRIPT_TEST = re.compile(rb"(?:^|[^\w.])(?:it|test)(?:\.each\([^()]*\))?\(")


class Loss(Enum):
    """What is lost."""

    NET_LINES = "net lines"
    FILE = "file"
    PUBLIC_SYMBOL = "public symbol"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be lost without a question."""

    net_lines: int = 200
    """Lines fewer over all files; more of them stop."""
    file_share: float = 0.3
    """Share of a file's lines; as much stops."""


@dataclass(frozen=True, slots=True)
class Lost:
    """One reason to stop."""

    loss: Loss
    """What is lost."""
    path: str
    """Where it was; empty for lines over all files."""
    name: str
    """Qualified name of a symbol or test; empty for lines and files."""
    lines: int
    """How many lines it had, or how many are lost."""
    reason: Words
    """The same in words."""


@dataclass(frozen=True, slots=True)
class GuardReport:
    """What a change loses."""

    added: int
    """Lines that are new and were nowhere before; blank ones do not count."""
    deleted: int
    """Lines that are gone and are nowhere now."""
    losses: tuple[Lost, ...]
    """Every reason to stop, by kind, path and name."""

    @property
    def stops(self) -> bool:
        """Return whether somebody has to agree before the change is kept."""
        return bool(self.losses)

    @property
    def net_deleted(self) -> int:
        """Return how many lines fewer there are."""
        return self.deleted - self.added


_NO_LIMITS = Limits()


def guard_deletions(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    limits: Limits = _NO_LIMITS,
    changes: Sequence[SymbolChange] | None = None,
) -> GuardReport:
    """Return what is lost when the files of `before` become those of `after`.

    Files that are the same in both may be left out of them; a file that differs must be in both,
    unless it is new or gone. `changes` are the changed symbols where they are known already.
    """
    files = _compare_lines(before, after)
    added = sum(file.added for file in files)
    deleted = sum(file.lost for file in files)
    if changes is None:
        changes = changed_symbols(before, after)
    losses = [*_lost_lines(files, deleted - added, limits)]
    losses += _lost_symbols(changes, before, after)
    losses += _lost_tests(changes, before, after)
    order = list(Loss)
    losses.sort(key=lambda lost: (order.index(lost.loss), lost.path, lost.name))
    return GuardReport(added, deleted, tuple(dict.fromkeys(losses)))


@dataclass(frozen=True, slots=True)
class _Lines:
    """How the lines of a file differ; blank ones do not count."""

    path: str
    before: int
    is_gone: bool
    lost: int
    added: int


def _compare_lines(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[_Lines]:
    gone: dict[str, Counter[bytes]] = {}
    new: dict[str, Counter[bytes]] = {}
    counts: dict[str, int] = {}
    for path in sorted(before.keys() | after.keys()):
        old_data, new_data = before.get(path, b""), after.get(path, b"")
        if old_data == new_data and path in before and path in after:
            continue
        old, now = _line_counts(old_data), _line_counts(new_data)
        gone[path], new[path], counts[path] = old - now, now - old, old.total()
    arrived: Counter[bytes] = sum(new.values(), Counter())
    left: Counter[bytes] = sum(gone.values(), Counter())
    moved_in = arrived & left
    moved_out = moved_in.copy()
    found = []
    for path, count in counts.items():
        lost = gone[path].total() - _take(gone[path], moved_out)
        added = new[path].total() - _take(new[path], moved_in)
        is_gone = path in before and path not in after
        found.append(_Lines(path, count, is_gone, lost, added))
    return found


def _line_counts(data: bytes) -> Counter[bytes]:
    return Counter(stripped for line in data.split(b"\n") if (stripped := line.strip()))


def _take(lines: Counter[bytes], pool: Counter[bytes]) -> int:
    """Return how many of the lines are in the pool, and take them out of it."""
    common = lines & pool
    pool.subtract(common)
    return common.total()


def _lost_lines(files: Iterable[_Lines], net: int, limits: Limits) -> Iterator[Lost]:
    if net > limits.net_lines:
        reason = Words(
            "{count} lines fewer; more than {most} stop", count=net, most=limits.net_lines
        )
        yield Lost(Loss.NET_LINES, "", "", net, reason)
    for file in files:
        lost = file.lost - file.added
        if file.is_gone and file.lost >= max(1, limits.file_share * file.before):
            reason = Words("{path} is gone ({count} lines)", path=file.path, count=file.before)
            yield Lost(Loss.FILE, file.path, "", file.before, reason)
        elif lost >= _LEAST_LINES and lost >= limits.file_share * file.before:
            share = round(100 * lost / file.before)
            reason = Words(
                "{path} loses {share} % of its lines ({count} of {all})",
                path=file.path,
                share=share,
                count=lost,
                all=file.before,
            )
            yield Lost(Loss.FILE, file.path, "", lost, reason)


def _lost_symbols(
    changes: Iterable[SymbolChange], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[Lost]:
    """Yield public symbols that are gone or hidden, those that are elsewhere left out."""
    every = list(changes)
    arrived: dict[str, list[SymbolChange]] = {}
    for change in every:
        if change.change is Change.ADDED:
            arrived.setdefault(change.definition.name, []).append(change)
    for change in every:
        definition = change.definition
        if definition.is_test or _is_mark(definition):
            continue
        if _is_emptied(change, after):
            text = Words(
                "nothing is left in '{name}' of {path}", name=change.name, path=change.path
            )
            gone = change.text_before.count(b"\n")
            yield Lost(Loss.PUBLIC_SYMBOL, change.path, change.name, gone, text)
            continue
        if not change.was_exported:
            continue
        lines = definition.end_line - definition.line + 1
        if change.change is Change.REMOVED and definition.kind is not Kind.FILE:
            same = arrived.get(definition.name, [])
            if not any(_is_alike(change, other, before, after) for other in same):
                reason = Words(
                    "public '{name}' is gone from {path}", name=change.name, path=change.path
                )
                yield Lost(Loss.PUBLIC_SYMBOL, change.path, change.name, lines, reason)
        elif change.change is Change.SIGNATURE and not definition.is_exported:
            reason = Words(
                "'{name}' in {path} is no longer public", name=change.name, path=change.path
            )
            yield Lost(Loss.PUBLIC_SYMBOL, change.path, change.name, lines, reason)


def _is_emptied(change: SymbolChange, after: Mapping[str, bytes]) -> bool:
    """Return whether the body of a function became a stub, such as `pass` or `return 0`."""
    definition = change.definition
    if definition.kind not in (Kind.FUNCTION, Kind.METHOD) or not change.text_before:
        return False
    old = change.text_before[change.body_before :]
    now = after.get(change.path, b"")[definition.body : definition.end]
    if len(_WORD.findall(old)) < _LEAST_WORDS or old.count(b"\n") < _LEAST_BODY:
        return False
    return len(_WORD.findall(_COMMENT.sub(b" ", now))) <= _MOST_STUB


def _is_mark(definition: Definition) -> bool:
    """Return whether a macro only marks that a header was read: it has no value."""
    return definition.kind is Kind.MACRO and len(definition.signature.split()) < 3


def _is_alike(
    gone: SymbolChange,
    new: SymbolChange,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
) -> bool:
    """Return whether a new symbol is one that is gone from elsewhere, perhaps with changes."""
    if not new.definition.is_exported:
        return False
    old_words, new_words = (
        Counter(_WORD.findall(_text_of(change, state)))
        for change, state in ((gone, before), (new, after))
    )
    return (old_words & new_words).total() >= _LEAST_ALIKE * old_words.total()


def _text_of(change: SymbolChange, state: Mapping[str, bytes]) -> bytes:
    return state.get(change.path, b"")[change.definition.start : change.definition.end]


def _lost_tests(
    changes: Iterable[SymbolChange], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[Lost]:
    every = list(changes)
    arrived = {
        change.definition.name
        for change in every
        if change.change is Change.ADDED and change.definition.is_test
    }
    for change in every:
        definition = change.definition
        language = graph_language(change.path)
        if language is None or not definition.is_test or not is_started_test(definition, language):
            continue
        lines = definition.end_line - definition.line + 1
        name, path = change.name, change.path
        if change.change is Change.REMOVED and definition.name not in arrived:
            reason = Words("test '{name}' is gone from {path}", name=name, path=path)
            yield Lost(Loss.TEST, path, name, lines, reason)
        elif change.change in (Change.BODY, Change.SIGNATURE):
            old, now = change.text_before, _text_of(change, after)
            if _SKIP.search(now) and not _SKIP.search(old):
                reason = Words("test '{name}' in {path} is skipped now", name=name, path=path)
                yield Lost(Loss.TEST, path, name, lines, reason)
            elif _ASSERTION.search(old) and not _ASSERTION.search(now):
                reason = Words("test '{name}' in {path} asserts nothing now", name=name, path=path)
                yield Lost(Loss.TEST, path, name, lines, reason)
    yield from _lost_script_tests(before, after)


def _lost_script_tests(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[Lost]:
    """Yield files of JavaScript and TypeScript with fewer tests, or more that are skipped: there a
    test is a call."""
    paths = [
        path
        for path in sorted(before)
        if path.endswith((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"))
        and is_test_file(path)
        and before[path] != after.get(path)
    ]
    lost = new = 0
    found = []
    for path in paths:
        old, now = before[path], after.get(path, b"")
        fewer = len(_SCRIPT_TEST.findall(old)) - len(_SCRIPT_TEST.findall(now))
        skipped = len(_SKIP.findall(now)) - len(_SKIP.findall(old))
        lost += max(0, fewer)
        if fewer > 0:
            text = Words("{count} tests are gone from {path}", count=fewer, path=path)
            found.append(Lost(Loss.TEST, path, "", fewer, text))
        elif skipped > 0:
            text = Words("{count} tests in {path} are skipped now", count=skipped, path=path)
            yield Lost(Loss.TEST, path, "", skipped, text)
    for path in after.keys() - before.keys():
        new += len(_SCRIPT_TEST.findall(after[path])) if is_test_file(path) else 0
    if lost > new:  # else they have moved
        yield from found
