"""Every pass tried on a copy of the crate, and kept when the crate builds and behaves as before."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.baseline.manifest import formatted
from jarvis_ls.jc2r.lift import plainer, safety, variables
from jarvis_ls.jc2r.lift.casts import casts, pointed
from jarvis_ls.jc2r.lift.compiler import UNSAFE, Message, check
from jarvis_ls.jc2r.lift.counts import Counts, count
from jarvis_ls.jc2r.lift.references import references
from jarvis_ls.jc2r.lift.rust import Source, name_of, read_sources, source
from jarvis_ls.jc2r.lift.visibility import private

ROUNDS = 6
"""Times a pass may take back what the compiler refuses."""
_LINTS = ("unused_mut", "unused_parens", "unused_unsafe")
_LOCAL = (
    plainer.nulls,
    plainer.indexing,
    plainer.compounds,
    plainer.blocks,
    plainer.parentheses,
    variables.iterators,
    variables.flags,
)

Test = Callable[[Path], str]
"""Whether a crate behaves like the C: empty, or what differs."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One pass."""

    name: str
    kept: bool
    why: str = ""
    """Why it was not kept."""


@dataclass
class Lifted:
    """What lifting came to."""

    before: Counts
    after: Counts
    passes: list[Tried] = field(default_factory=list)


class Lifting:
    """Lifts one crate, in a copy."""

    def __init__(self, crate: Path, folder: Path, test: Test) -> None:
        """`folder` is where the copy goes; it is made anew. Raises `JarvisError`."""
        self._crate = crate
        self._copy = folder / crate.name
        self._test = test
        self._results: dict[str, dict[Path, bytes]] = {}
        target = self._copy / "target"
        for old in (self._copy / name for name in ("src", "c", "tests")):
            shutil.rmtree(old, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copytree(crate, self._copy, dirs_exist_ok=True, symlinks=True,
                            ignore=shutil.ignore_patterns("target", ".git"))  # fmt: skip
        except (OSError, shutil.Error) as error:
            raise JarvisError(f"The crate cannot be copied to {target.parent}: {error}") from None

    def run(
        self, kept: Callable[[str], None] = lambda _: None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Lifted:  # fmt: skip
        """Try all passes together, and one by one when together they do not behave.

        `kept` is told of every pass whose result is in the crate.
        """
        before = count(read_sources(self._copy))
        passes = self._passes()
        start = self._texts()
        made: list[Tried] = []
        for name, make in passes.items():
            progress(name)
            made.append(self._built(name, make))
        progress("tests")
        if self._test(self._copy):
            self._restore(start)
            made = self._one_by_one(passes, progress)
        for one in made:
            if one.kept:
                self._carry(self._results[one.name])
                kept(one.name)
        return Lifted(before, count(read_sources(self._copy)), made)

    def _one_by_one(
        self, passes: Mapping[str, Callable[[], None]], progress: Callable[[str], None]
    ) -> list[Tried]:
        if other := self._test(self._copy):
            raise JarvisError(f"The crate differs from the C before anything is lifted: {other}")
        made = []
        for name, make in passes.items():
            progress(name)
            start = self._texts()
            tried = self._built(name, make)
            if tried.kept and (why := self._test(self._copy)):
                self._restore(start)
                tried = Tried(name, kept=False, why=f"it behaves otherwise: {why}")
            made.append(tried)
        return made

    def _passes(self) -> dict[str, Callable[[], None]]:
        passes: dict[str, Callable[[], None]] = {}
        for one in _LOCAL:
            passes[one.__name__] = lambda one=one: self._local(one)  # type: ignore[misc]
        passes["casts"] = self._casts
        passes["references"] = self._references
        passes["visibility"] = lambda: self._whole(private(read_sources(self._copy)))
        passes["safety"] = self._safety
        passes["lints"] = self._lints
        return passes

    def _built(self, name: str, make: Callable[[], None]) -> Tried:
        """Do a pass; what does not build in the end is taken back."""
        start = self._texts()
        make()
        if self._texts() == start:
            return Tried(name, kept=False, why="nothing to do")
        errors = _errors(check(self._copy))
        if errors:
            self._restore(start)
            return Tried(name, kept=False, why=f"it does not build: {errors[0].text}")
        self._results[name] = self._texts()
        return Tried(name, kept=True)

    def _local(self, rule: Callable[[Source, Node], bytes]) -> None:
        """Rewrite function by function; those that do not compile afterwards stay as they were."""
        old = {one.path: one for one in read_sources(self._copy)}
        stay: set[tuple[Path, int]] = set()
        for _ in range(ROUNDS):
            for path, one in old.items():
                parts, at = [], 0
                for number, function in enumerate(one.functions):
                    new = one.text(function) if (path, number) in stay else rule(one, function)
                    parts += [one.data[at : function.start_byte], new]
                    at = function.end_byte
                self._write(path, b"".join([*parts, one.data[at:]]))
            found = _functions_with(_errors(check(self._copy)), self._copy)
            if not found - stay:
                return
            stay |= found

    def _casts(self) -> None:
        members = pointed(read_sources(self._copy))
        self._local(lambda one, function: casts(one, function, members))

    def _references(self) -> None:
        start = self._texts()
        excluded: set[str] = set()
        for _ in range(ROUNDS):
            self._restore(start)
            self._whole(references(read_sources(self._copy), excluded))
            errors = _errors(check(self._copy))
            if not errors:
                return
            for one in read_sources(self._copy):
                excluded |= {_near(one, error) for error in errors if error.path == one.path}

    def _safety(self) -> None:
        start = self._texts()
        kept: set[str] = set()
        for _ in range(ROUNDS):
            self._restore(start)
            for one in read_sources(self._copy):
                self._write(one.path, safety.without_unsafe(one, kept))
            for _ in range(2):  # the second time for what the first hid
                errors = [one for one in check(self._copy) if one.code == UNSAFE]
                for one in read_sources(self._copy):
                    mine = [message for message in errors if message.path == one.path]
                    if mine:
                        self._write(one.path, safety.narrowed(one, mine))
            left = _functions_with(_errors(check(self._copy)), self._copy)
            if not left:
                return
            kept |= {name_of(one.functions[number]) for one in read_sources(self._copy)
                     for path, number in left if path == one.path}  # fmt: skip

    def _lints(self) -> None:
        for _ in range(2):  # parentheses inside of parentheses
            changes: dict[Path, dict[tuple[int, int], str]] = {}
            for one in check(self._copy, *_LINTS):
                if one.code in _LINTS:
                    for change in one.changes:
                        changes.setdefault(one.path, {})[change.start, change.end] = change.text
            for path, by_place in changes.items():
                data = path.read_bytes()
                for (start, end), text in sorted(by_place.items(), reverse=True):
                    data = data[:start] + text.encode() + data[end:]
                self._write(path, data)

    def _whole(self, made: Mapping[int, bytes]) -> None:
        sources = read_sources(self._copy)
        for number, data in made.items():
            self._write(sources[number].path, data)

    def _write(self, path: Path, data: bytes) -> None:
        if source(path, data).root.has_error or path.read_bytes() == data:
            return
        replace_file(path, formatted(data.decode()).encode())

    def _texts(self) -> dict[Path, bytes]:
        return {one.path: one.data for one in read_sources(self._copy)}

    def _restore(self, texts: Mapping[Path, bytes]) -> None:
        for path, data in texts.items():
            if path.read_bytes() != data:
                replace_file(path, data)

    def _carry(self, texts: Mapping[Path, bytes]) -> None:
        """What is kept goes into the crate."""
        for path, data in texts.items():
            target = self._crate / path.relative_to(self._copy)
            if target.read_bytes() != data:
                replace_file(target, data)


def _errors(messages: list[Message]) -> list[Message]:
    return [one for one in messages if one.level == "error"]


def _functions_with(errors: list[Message], crate: Path) -> set[tuple[Path, int]]:
    return {
        (one.path, number)
        for one in read_sources(crate)
        for number, function in enumerate(one.functions)
        if any(_within(message, one, function) for message in errors)
    }


def _within(message: Message, one: Source, function: Node) -> bool:
    inside = function.start_byte <= message.start < function.end_byte
    return message.path == one.path and inside


def _near(one: Source, message: Message) -> str:
    """The function that is called where the compiler complains, else the one it is in."""
    node = one.root.descendant_for_byte_range(message.start, message.end)
    while node is not None and node.type != "function_item":
        if node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is not None and called.type in ("identifier", "scoped_identifier"):
                return one.text(called).decode("utf-8", "replace").rsplit("::", 1)[-1]
        node = node.parent
    return "" if node is None else name_of(node)
