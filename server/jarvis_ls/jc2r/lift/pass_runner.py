"""Every pass tried on a copy of the crate, and kept when the crate builds and behaves as before."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.lift import local_memory, names, safety, simplify, tidy, variables, vectors
from jarvis_ls.jc2r.lift.atomics import atomics
from jarvis_ls.jc2r.lift.casts import casts, member_types
from jarvis_ls.jc2r.lift.compiler import Message, check, errors_of, functions_with
from jarvis_ls.jc2r.lift.crate_copy import CrateCopy, duplicate_crate
from jarvis_ls.jc2r.lift.exports import exports
from jarvis_ls.jc2r.lift.expression_types import declarations_of
from jarvis_ls.jc2r.lift.inferred_types import drop_types
from jarvis_ls.jc2r.lift.layer_plan import INNER
from jarvis_ls.jc2r.lift.layers import inner_functions, layers
from jarvis_ls.jc2r.lift.literals import literals
from jarvis_ls.jc2r.lift.out_parameters import outs
from jarvis_ls.jc2r.lift.owners import owners, without_copy
from jarvis_ls.jc2r.lift.program import Key
from jarvis_ls.jc2r.lift.reference_parameters import references
from jarvis_ls.jc2r.lift.rust import Source, name_of
from jarvis_ls.jc2r.lift.safe_functions import make_safe, unsafe_functions
from jarvis_ls.jc2r.lift.slices import slices
from jarvis_ls.jc2r.lift.sound_gate import Gate, Judged, Verdict, judge
from jarvis_ls.jc2r.lift.soundness import types_of
from jarvis_ls.jc2r.lift.statics import statics
from jarvis_ls.jc2r.lift.steps import steps
from jarvis_ls.jc2r.lift.suggestions import apply_suggestions
from jarvis_ls.jc2r.lift.text_tables import text_tables
from jarvis_ls.jc2r.lift.unsafe_count import Counts, count
from jarvis_ls.jc2r.lift.visibility import private
from jarvis_ls.jc2r.translate.names import spellings

ROUNDS = 6
"""Times a pass may take back what the compiler refuses."""
ATTEMPTS = 3
"""Times the functions that behave otherwise are left alone before a pass, or all passes together,
are taken back."""
_WORD = re.compile(r"\w+")
_LOCAL = (
    names.variables,
    tidy.negations,
    tidy.declarations,
    simplify.nulls,
    simplify.indexing,
    simplify.compounds,
    local_memory.beginnings,
    local_memory.lent_places,
    simplify.checks,
    simplify.blocks,
    tidy.ends,
    simplify.parentheses,
    variables.iterators,
    variables.flags,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """What a crate does otherwise than the C."""

    text: str
    functions: frozenset[str] = frozenset()
    """Where it was seen; empty when that is not known."""


Test = Callable[[Path, Set[str]], Difference | None]
"""Whether a crate behaves like the C, but for the functions of which that is known."""
NOTHING = "nothing to do"
"""Why a pass was not kept that found nothing."""
TAKEN_BACK = "no change compiles"
OTHERWISE = "the changed functions behave differently"
"""Why a pass was not kept that tried something."""
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One pass."""

    name: str
    kept: bool
    why: str = ""
    """Why it was not kept."""
    changed: int = 0
    """Functions that are written otherwise after it."""
    refused: int = 0
    """Functions it was taken back from: they did not build, or behaved otherwise."""
    after: Counts = field(default_factory=Counts)
    """What there is when it is done; before it there is what the pass before it left."""


Call = Callable[[Path], Gate]
"""Calls all safe functions of a crate."""
Keep = Callable[[Tried, Mapping[Path, bytes]], None]
"""Told of every pass that is kept, with the files of the crate after it."""


@dataclass
class Lifted:
    """What lifting came to."""

    before: Counts
    after: Counts
    passes: list[Tried] = field(default_factory=list)
    gate: Gate = field(default_factory=Gate)
    """What came of calling the safe functions."""
    functions: list[Judged] = field(default_factory=list)
    """Which functions are safe, and why the others are not."""
    left: list[str] = field(default_factory=list)
    """Functions that behave otherwise than in C, before any pass or after all of them: passes left
    them alone."""

    @property
    def sound(self) -> int:
        """Return the number of functions that are safe and were called without a crash."""
        return sum(function.state is Verdict.SOUND for function in self.functions)


class Lifting:
    """Lifts one crate, in a copy."""

    def __init__(
        self, crate: Path, folder: Path, test: Test, call: Call, *, library: bool = True
    ) -> None:
        """`folder` is where the copy goes; it is made again. `library` says whether others may link
        to what the crate exports. Raises `JarvisError`."""
        self._library = library
        self._call = call
        self._gate = Gate()
        self._crashes: dict[Key, str] = {}
        """Functions that crashed when they were safe, and how."""
        self._copy = duplicate_crate(crate, folder)
        self._crate = CrateCopy(self._copy)
        self._test = test
        self._results: dict[str, dict[Path, bytes]] = {}
        self._different: frozenset[str] = frozenset()
        """Functions that behave otherwise in the translation: no pass can be tested on them."""
        self._spared: set[str] = set()
        """Functions that a pass leaves alone, since they behaved otherwise after it."""
        self._all_at_once = True
        """Whether all passes are tried together."""
        self._refused: set[tuple[Path, str]] = set()
        """Functions that the compiler did not take from the pass at hand."""

    def run(self, keep: Keep, progress: Progress = lambda *_: None) -> Lifted:
        """Try all passes together, without the functions that then behave otherwise, and one by one
        when that is not enough."""
        before = count(self._crate.sources())
        passes = self._passes()
        start = self._crate.texts()
        made = self._together(passes, progress)
        if made is None:
            self._crate.restore(start)
            self._all_at_once = False
            made = self._one_by_one(passes, progress)
        for step in made:
            if step.kept:
                texts = self._results[step.name]
                keep(step, {path.relative_to(self._copy): texts[path] for path in texts})
        sources = self._crate.sources()
        judged = judge(sources, self._gate)
        left = sorted(self._different | (self._spared if self._all_at_once else set()))
        return Lifted(before, count(sources), made, self._gate, judged, left)

    def _together(
        self, passes: Mapping[str, Callable[[], None]], progress: Progress
    ) -> list[Tried] | None:
        """Do all passes and test once; None when the crate behaves otherwise in the end."""
        start = self._crate.texts()
        for attempt in range(ATTEMPTS):
            made: list[Tried] = []
            for number, (name, make) in enumerate(passes.items()):
                progress(number, len(passes) + 1, name)
                made.append(self._build_pass(name, make))
            progress(len(passes), len(passes) + 1, "tests")
            kept = any(step.kept for step in made)
            found = self._test(self._copy, self._different) if kept else None
            if found is None:
                return made
            self._crate.restore(start)
            if attempt == 0:
                self._test_translation()
            new = found.functions - self._spared
            if not new:
                return None
            self._spared |= new | self._different
        return None

    def _stay(self) -> set[str]:
        """Return what the functions that are left alone may be called in the crate."""
        return {word for name in self._spared for word in spellings(name)}

    def _test_translation(self) -> None:
        """Note the functions that behave otherwise before anything is done. Raises `JarvisError`
        when that is more than single functions."""
        if other := self._test(self._copy, frozenset()):
            if not other.functions or self._test(self._copy, other.functions):
                text = "The crate behaves differently from the C even before refactoring: "
                raise JarvisError(text + other.text)
            self._different = other.functions

    def _one_by_one(
        self, passes: Mapping[str, Callable[[], None]], progress: Progress
    ) -> list[Tried]:
        made = []
        for number, (name, make) in enumerate(passes.items()):
            progress(number, len(passes), name)
            made.append(self._test_pass(name, make))
        return made

    def _test_pass(self, name: str, make: Callable[[], None]) -> Tried:
        """Do a pass, without the functions that behave otherwise after it; when that is not enough
        it is taken back."""
        start = self._crate.texts()
        self._spared = set(self._different)
        attempts = 0
        while True:
            tried = self._build_pass(name, make)
            found = self._test(self._copy, self._different) if tried.kept else None
            if found is None:
                return tried
            self._crate.restore(start)
            attempts += 1
            if attempts == ATTEMPTS or not found.functions - self._spared:
                why = Words("it behaves differently: {why}", why=found.text)
                return Tried(name, kept=False, why=why, refused=tried.changed, after=self._count())
            self._spared |= found.functions

    def _passes(self) -> dict[str, Callable[[], None]]:
        passes: dict[str, Callable[[], None]] = {"exports": self._exports}
        for rule in _LOCAL:
            passes[rule.__name__] = lambda rule=rule: self._local(rule)  # type: ignore[misc]
        passes["fields"] = lambda: self._crate.write_all(names.fields(self._crate.sources()))
        passes["items"] = self._items
        passes["views"] = self._views
        passes["casts"] = self._casts
        passes["vectors"] = self._vectors
        passes["outs"] = lambda: self._across(outs)
        passes["slices"] = lambda: self._across(slices)
        passes["references"] = lambda: self._across(references)
        passes["visibility"] = lambda: self._crate.write_all(private(self._crate.sources()))
        passes["statics"] = lambda: self._across(lambda sources, _: statics(sources))
        passes["values"] = self._plain_values
        passes["texts"] = lambda: self._across(text_tables)
        passes["atomics"] = lambda: self._across(atomics)
        passes["layers"] = self._layers
        passes["steps"] = lambda: self._local(steps)
        passes["owners"] = self._owners
        passes["safety"] = self._safety
        passes["arms"] = lambda: self._local(tidy.arms)
        passes["literals"] = lambda: self._local(literals)
        passes["types"] = self._types
        passes["lints"] = self._lints
        return passes

    def _build_pass(self, name: str, make: Callable[[], None]) -> Tried:
        """Do a pass; what does not build in the end is taken back."""
        start, old = self._crate.texts(), self._bodies()
        self._refused.clear()
        make()
        changed = self._count_changes(old)
        blamed = set() if self._all_at_once else self._spared - self._different
        refused = len({function for _, function in self._refused} | blamed)
        if self._crate.texts() == start:
            spared = OTHERWISE if blamed else NOTHING
            why = TAKEN_BACK if self._refused else spared
            return Tried(name, kept=False, why=why, refused=refused, after=self._count())
        errors = errors_of(check(self._copy))
        if errors:
            self._crate.restore(start)
            why = Words("it does not build: {why}", why=errors[0].text)
            return Tried(name, kept=False, why=why, refused=changed, after=self._count())
        self._results[name] = self._crate.texts()
        return Tried(name, kept=True, changed=changed, refused=refused, after=self._count())

    def _count(self) -> Counts:
        return count(self._crate.sources())

    def _bodies(self) -> dict[tuple[Path, str], bytes]:
        """Return the text of every function."""
        return {
            (source.path, name_of(function)): source.text(function)
            for source in self._crate.sources()
            for function in source.functions
        }

    def _count_changes(self, old: Mapping[tuple[Path, str], bytes]) -> int:
        """Functions that are not as they were; those a pass adds are no functions of the C."""
        new = self._bodies()
        return sum(text != new.get(key) for key, text in old.items())

    def _local(self, rule: Callable[[Source, Node], bytes]) -> None:
        """Rewrite function by function; those that do not compile afterwards stay as they were."""
        old = {source.path: source for source in self._crate.sources()}
        stay = {
            (path, number)
            for path, source in old.items()
            for number, function in enumerate(source.functions)
            if name_of(function) in self._stay()
        }
        for _ in range(ROUNDS):
            for path, source in old.items():
                self._crate.write(path, _apply_rule(source, rule, stay))
            found = functions_with(errors_of(check(self._copy)), self._crate.sources())
            if not found - stay:
                return
            self._refuse(found - stay)
            stay |= found

    def _exports(self) -> None:
        texts = [*self._crate.left_in_c(), *self._tests()]
        self._across(
            lambda sources, excluded: exports(sources, texts, excluded, library=self._library)
        )

    def _tests(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted((self._copy / "tests").glob("*.rs"))]

    def _items(self) -> None:
        """Give functions and variables names as in Rust, but for those that tests name."""
        tests = b"\n".join(self._tests()).decode("utf-8", "replace")
        self._across(names.items, self._stay() | set(_WORD.findall(tests)))

    def _casts(self) -> None:
        members = member_types(self._crate.sources())
        self._local(lambda source, function: casts(source, function, members))

    def _types(self) -> None:
        declared = declarations_of(self._crate.sources())
        self._local(lambda source, function: drop_types(source, function, declared))

    def _views(self) -> None:
        unions = types_of(self._crate.sources()).unions
        self._local(lambda source, function: local_memory.views(source, function, unions))

    def _vectors(self) -> None:
        system = self._copy / "src" / "sys.rs"
        before = system.read_bytes()
        if b"fn zeroed<" not in before:
            self._crate.write(system, before + vectors.HELPER)
        self._local(vectors.vectors)
        if not any(b"sys::zeroed" in data for data in self._crate.texts().values()):
            replace_file(system, before)

    def _layers(self) -> None:
        """Split functions into an inner one and a shim where the inner one then is safe."""
        start = self._crate.texts()
        excluded = self._stay()
        while True:
            self._crate.restore(start)
            self._across(layers, excluded)
            inner = inner_functions(self._crate.sources())
            unsafe = unsafe_functions(self._crate, self._stay())
            new = {inner[name] for name in unsafe & inner.keys()} - excluded
            if not new:
                return
            excluded |= new

    def _across(
        self,
        make: Callable[[list[Source], set[str]], dict[int, bytes]],
        excluded: set[str] | None = None,
    ) -> None:
        """Rewrite functions with their callers, but for those in `excluded`, by name, to which
        those are added that the compiler complains about."""
        start = self._crate.texts()
        excluded = self._stay() if excluded is None else excluded
        for _ in range(ROUNDS):
            self._crate.restore(start)
            self._crate.write_all(make(self._crate.sources(), excluded))
            errors = errors_of(check(self._copy))
            if not errors:
                return
            for source in self._crate.sources():
                for error in errors:
                    if error.path == source.path:
                        near = _near(source, error)
                        self._refused |= {(source.path, name) for name in near}
                        excluded |= near

    def _plain_values(self) -> None:
        start = self._crate.texts()
        for source in self._crate.sources():
            self._crate.write(source.path, safety.plain_values(source, set()))
        errors = errors_of(check(self._copy))
        kept = {
            source.path: safety.unsafe_values(source, errors) for source in self._crate.sources()
        }
        self._crate.restore(start)
        for source in self._crate.sources():
            text = safety.plain_values(source, kept.get(source.path, set()))
            self._crate.write(source.path, text)

    def _owners(self) -> None:
        """Take `Copy` from types that own memory, but for those that the crate copies."""
        start = self._crate.texts()
        chosen = owners(self._crate.sources())
        if self._builds_without_copy(start, chosen):
            return
        alone = {
            name: pointers
            for name, pointers in chosen.items()
            if self._builds_without_copy(start, {name: pointers})
        }
        if not self._builds_without_copy(start, alone):
            self._crate.restore(start)

    def _builds_without_copy(
        self, start: Mapping[Path, bytes], chosen: Mapping[str, list[str]]
    ) -> bool:
        self._crate.restore(start)
        for source in self._crate.sources():
            self._crate.write(source.path, without_copy(source, chosen))
        return not chosen or not errors_of(check(self._copy))

    def _safety(self) -> None:
        start = self._crate.texts()
        while True:
            self._crate.restore(start)
            unsound = {name for _, name in self._crashes}
            self._refused |= make_safe(self._crate, self._stay(), unsound)
            self._gate = self._call(self._copy)
            new = self._gate.crashes.keys() - self._crashes.keys()
            self._crashes |= self._gate.crashes
            self._gate.taken_back = self._crashes
            if not new:
                return
            self._refused |= {(self._copy / "src" / f"{module}.rs", name) for module, name in new}

    def _refuse(self, found: set[tuple[Path, int]]) -> None:
        sources = {source.path: source for source in self._crate.sources()}
        self._refused |= {
            (path, name_of(sources[path].functions[number])) for path, number in found
        }

    def _lints(self) -> None:
        self._refuse(apply_suggestions(self._crate))


def _apply_rule(
    source: Source, rule: Callable[[Source, Node], bytes], stay: set[tuple[Path, int]]
) -> bytes:
    """Return a file with its functions rewritten, but for those that stay."""
    return source.with_functions(
        lambda number, function: (
            source.text(function) if (source.path, number) in stay else rule(source, function)
        )
    )


def _near(source: Source, message: Message) -> set[str]:
    """Return the function that is called where the compiler complains, and the one it is in."""
    found: set[str] = set()
    node = source.root.descendant_for_byte_range(message.start, message.end)
    while node is not None and node.type != "function_item":
        if node.type == "call_expression" and not found:
            called = node.child_by_field_name("function")
            if called is not None and called.type in ("identifier", "scoped_identifier"):
                found.add(source.text(called).decode("utf-8", "replace").rsplit("::", 1)[-1])
        node = node.parent
    found |= set() if node is None else {name_of(node)}
    return {name.removesuffix(INNER) for name in found}
