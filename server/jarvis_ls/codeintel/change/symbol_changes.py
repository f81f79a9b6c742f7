"""Which symbols differ between two states of files, and how."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from jarvis_ls.codeintel.graph.extract import Code, read_code
from jarvis_ls.codeintel.graph.records import Definition, Kind

_TOKEN = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[\w$\x80-\xff]+|[^\s\w]")
_LEAST_MOVED = 4
"""Tokens of a definition from which two of the same text are the same that has moved."""


class Change(Enum):
    """How a symbol changed."""

    ADDED = "added"
    REMOVED = "removed"
    SIGNATURE = "signature"
    """What callers see: parameters, results, bases, visibility."""
    BODY = "body"
    MOVED = "moved"
    """Gone from one file and there, with the same text, in another."""


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """A symbol that differs."""

    path: str
    """Its file: the new one, or the old one of what was removed."""
    definition: Definition
    """As it is after, or was before it was removed."""
    change: Change
    """How it changed."""
    before: str = ""
    """Its signature before, where that changed."""
    moved_from: str = ""
    """Where it was, when it has moved."""
    was_exported: bool = False
    """Whether code elsewhere could use it before."""
    text_before: bytes = b""
    """What it was, where it changed in place."""
    body_before: int = 0
    """First byte of its body in that text."""

    @property
    def name(self) -> str:
        """Return its qualified name; the path for what a file does outside of all definitions."""
        return self.definition.qualified or self.path


@dataclass(frozen=True, slots=True)
class _State:
    """One definition, ready to be compared."""

    definition: Definition
    signature: tuple[bytes, ...]
    body: tuple[bytes, ...]


def changed_symbols(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[SymbolChange]:
    """Return what differs between two maps of files, by path and line.

    Comments, blank lines and line ends make no difference; in languages other than Python blanks do
    not either. Files in no language of the graph are left out.
    """
    found: list[SymbolChange] = []
    gone: list[tuple[str, _State]] = []
    new: list[tuple[str, _State]] = []
    for path in sorted(before.keys() | after.keys()):
        old_data, new_data = before.get(path), after.get(path)
        if old_data == new_data:
            continue
        old, now = _states(path, old_data), _states(path, new_data)
        for earlier, later in _pairs(old, now):
            if later is None and earlier is not None:
                gone.append((path, earlier))
            elif earlier is None and later is not None:
                new.append((path, later))
            elif earlier is not None and later is not None:
                found += _difference(path, earlier, later, old_data or b"")
    found += _find_moved(gone, new)
    for path, state in gone:
        exported = state.definition.is_exported
        change = SymbolChange(path, state.definition, Change.REMOVED, was_exported=exported)
        found.append(change)
    found += [SymbolChange(path, state.definition, Change.ADDED) for path, state in new]
    return sorted(found, key=lambda c: (c.path, c.definition.line, c.name, c.change.value))


def _difference(path: str, earlier: _State, later: _State, old: bytes) -> Iterator[SymbolChange]:
    before = earlier.definition
    text = old[before.start : before.end]
    if earlier.signature != later.signature:
        change, written = Change.SIGNATURE, before.signature
    elif earlier.body != later.body:
        change, written = Change.BODY, ""
    else:
        return
    yield SymbolChange(
        path,
        later.definition,
        change,
        written,
        was_exported=before.is_exported,
        text_before=text,
        body_before=before.body - before.start,
    )


def _find_moved(
    gone: list[tuple[str, _State]], new: list[tuple[str, _State]]
) -> list[SymbolChange]:
    """Return what has moved, and take it out of both lists."""
    found: list[SymbolChange] = []
    by_text: dict[tuple[object, ...], list[tuple[str, _State]]] = defaultdict(list)
    for path, state in new:
        by_text[_moving_text(state)].append((path, state))
    for path, state in list(gone):
        same = by_text.get(_moving_text(state))
        if not same or len(state.signature) + len(state.body) < _LEAST_MOVED:
            continue
        there, later = same.pop(0)
        gone.remove((path, state))
        new.remove((there, later))
        found.append(SymbolChange(there, later.definition, Change.MOVED, moved_from=path))
    return found


def _moving_text(state: _State) -> tuple[object, ...]:
    return (state.definition.name, state.signature, state.body)


def _pairs(
    old: Sequence[_State], new: Sequence[_State]
) -> Iterator[tuple[_State | None, _State | None]]:
    """Yield the definitions of both states that are the same one; None for the side without it.

    Overloads and alternatives of the preprocessor, which share a name, are matched by equal text,
    then by equal signature, then in order.
    """
    now: dict[tuple[str, bool], list[_State]] = defaultdict(list)
    for state in new:
        now[_key(state)].append(state)
    left: dict[tuple[str, bool], list[_State]] = defaultdict(list)
    for state in old:
        left[_key(state)].append(state)
    for key, earlier in left.items():
        later = now.pop(key, [])
        for same in (
            lambda a, b: (a.signature, a.body) == (b.signature, b.body),
            lambda a, b: a.signature == b.signature,
            lambda a, b: a.definition.qualified == b.definition.qualified,
        ):
            for state in list(earlier):
                match = next((other for other in later if same(state, other)), None)
                if match is not None:
                    earlier.remove(state)
                    later.remove(match)
                    yield state, match
        yield from ((state, None) for state in earlier)
        yield from ((None, state) for state in later)
    for states in now.values():
        yield from ((None, state) for state in states)


def _key(state: _State) -> tuple[str, bool]:
    return state.definition.qualified, state.definition.kind is Kind.PROTOTYPE


def _states(path: str, data: bytes | None) -> list[_State]:
    """Return the definitions of a file, and as the last what it does outside of them."""
    code = read_code(path, data) if data is not None else None
    if code is None or data is None:
        return []
    definitions = code.symbols.definitions
    split = _lines_of if code.symbols.language == "python" else _tokens_of
    inner: dict[int, list[Definition]] = defaultdict(list)
    around: list[tuple[int, int]] = []
    for number, definition in enumerate(definitions):
        while around and around[-1][1] <= definition.start:
            around.pop()
        inner[around[-1][0] if around else -1].append(definition)
        around.append((number, definition.end))
    states = []
    for number, definition in enumerate(definitions):
        own = _without(code.text, definition.start, definition.end, inner[number])
        body = definition.body - definition.start
        if body >= definition.end - definition.start and definition.kind in _VALUES:
            cut = own.find(b"=")
            body = cut if cut >= 0 else body
        states.append(_State(definition, split(own[:body]), split(own[body:])))
    states.append(_State(_whole_file(code, data), (), _rest(code, inner[-1], split)))
    return states


_VALUES = frozenset({Kind.VARIABLE, Kind.CONSTANT})


def _whole_file(code: Code, data: bytes) -> Definition:
    return Definition("", Kind.FILE, 1, data.count(b"\n") + 1, "", "", False, code.symbols.is_test)


def _rest(
    code: Code, inner: Iterable[Definition], split: Callable[[bytes], tuple[bytes, ...]]
) -> tuple[bytes, ...]:
    text = _without(code.text, 0, len(code.text), inner)
    return split(text)


def _without(text: bytes, start: int, end: int, parts: Iterable[Definition]) -> bytes:
    """Return `text[start:end]` with definitions made blank."""
    own = bytearray(text[start:end])
    for part in parts:
        first, last = part.start - start, min(part.end, end) - start
        own[first:last] = b" " * max(0, last - first)
    return bytes(own)


def _tokens_of(text: bytes) -> tuple[bytes, ...]:
    return tuple(_TOKEN.findall(text))


def _lines_of(text: bytes) -> tuple[bytes, ...]:
    """Return the tokens of a text with the indentation of each line, which Python reads."""
    found: list[bytes] = []
    for line in text.split(b"\n"):
        tokens = _TOKEN.findall(line)
        if tokens:
            indentation = len(line) - len(line.lstrip())
            found += [b" " * indentation, *tokens]
    return tuple(found)
