"""A document in the editor as the analysis of flow sees it.

Only functions whose text or surroundings changed are lowered with an edit; what the program must
know of the others is kept by their text, and they are lowered when the analysis enters them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.domain.call_summary import acts_of
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.lower.builder import TooLarge
from jarvis_ls.jsec.flow.lower.c.file import Lowering, lowering_of
from jarvis_ls.jsec.flow.lower.c.heads import Heads
from jarvis_ls.jsec.flow.lower.c.mutated_globals import mutated_globals
from jarvis_ls.jsec.flow.lower.rust.file import RustLowering
from jarvis_ls.jsec.flow.program.file_outline import (
    FunctionOutline,
    Outline,
    around_functions,
    digest_of,
    habits_of,
    mentioned_functions,
    taken_at_start,
    way_through,
    without_long_tables,
)

log = logging.getLogger(__name__)

_TORN = b"torn"
_FEW = 16
"""Texts between functions, besides one for each of them."""


@dataclass(frozen=True, slots=True)
class _FunctionFacts:
    """What the program must know of a function, by its text."""

    outline: FunctionOutline
    """Where it stood then."""
    written: frozenset[str]
    """Globals it may change."""
    statics: dict[str, GlobalIR]
    """Its static variables."""
    records: dict[str, RecordIR]
    """Records that it defines."""


class OpenFile:
    """One document."""

    def __init__(self) -> None:
        self._known: dict[bytes, _FunctionFacts] = {}
        self._lowered: dict[str, FunctionIR | None] = {}
        self._digests: dict[str, bytes] = {}
        self._lowering: Lowering | RustLowering | None = None
        self._heads = Heads()
        self._texts: dict[bytes, set[str]] = {}
        """Names that texts between functions may give a value."""
        self._between: dict[bytes, bytes] = {}
        """How texts between functions read whose blanks do not count."""
        self._outlines: dict[str, FunctionOutline] = {}
        """Functions where they stand, by key."""
        self._imported: set[str] = set()
        self._beyond: set[str] = set()
        """Functions, and structures, that were asked of headers outside of the project."""
        self.failed: tuple[str, ...] = ()
        """Keys of functions that could not be lowered, because that raised."""
        self.large: tuple[str, ...] = ()
        """Keys of functions that are too large to be followed."""
        self.left_out = 0
        """How many functions are not followed, because there are too many short ones."""
        self._large: set[bytes] = set()
        """Their digests."""

    def update(
        self, unit: Unit, root: Node, context: str, closure: tuple[str, ...], *, sure: bool = True
    ) -> Outline:
        """Follow an edit; `context` names the texts of the headers behind the document, `closure`
        their paths. Unless the tree is `sure` to be that of the text, functions with an error
        that are not known yet are only taken as they are until it is."""
        data = unit.source.data
        lowering = self._lowering = lowering_of(unit)
        if isinstance(lowering, Lowering):
            lowering.heads = self._heads
        lowering.declare(root)
        lowering.import_again(self._imported, self._beyond)
        before, self._lowered = self._lowered, {}
        digests, self._digests = self._digests, {}
        spans = lowering.spans
        if len(self._between) > 4 * (len(spans) + _FEW):
            self._between.clear()  # most of them are of earlier versions
        around = around_functions(data, spans.values(), lowering.prototypes, context, self._between)
        kept: dict[bytes, _FunctionFacts] = {}
        functions: dict[str, FunctionOutline] = {}
        written: set[str] = set()
        failed = []
        large: dict[str, bytes] = {}
        for key, (start, end) in spans.items():
            digest = digest_of(around + data[start:end])
            if not sure and digest not in self._known and lowering.is_torn(key):
                digest = digest_of(digest + _TORN)
            if digest in self._large:
                large[key] = digest
                continue
            try:
                known = self._known.get(digest) or self._lower(key, digest)
            except TooLarge:
                large[key] = digest
                continue
            except Exception:  # one function must not hide what is wrong in the others
                log.exception("%s: lowering %s failed", unit.source.path, key)
                failed.append(key)
                continue
            if known is None:
                continue
            kept[digest] = known
            same = before.get(key)
            if same is not None and same.span == (start, end) and digests.get(key) == digest:
                self._lowered.setdefault(key, same)  # neither changed nor moved
            self._digests[key] = digest
            stood = self._outlines.get(key)
            if stood is not None and stood.span == (start, end) and stood.digest == digest:
                functions[key] = stood
            else:
                functions[key] = _moved(known.outline, (start, end), digest)
            written |= known.written
            lowering.file.globals.update(known.statics)
            lowering.records.update(known.records)
        self._outlines = functions
        self._known, self.failed = kept, tuple(failed)
        self.large, self._large = tuple(large), set(large.values())
        self.left_out = lowering.file.left_out
        self._imported.update(lowering.imported)
        self._beyond.update(lowering.found_beyond)
        if len(self._texts) > 4 * (len(spans) + _FEW):
            self._texts.clear()  # most of them are of earlier versions
        written |= lowering.loose((function.span for function in functions.values()), self._texts)
        return Outline(
            unit.source.path,
            unit.language,
            functions,
            without_long_tables(lowering.file.globals),
            dict(lowering.records),  # a function that is lowered later adds what it defines
            dict(lowering.prototypes),
            frozenset(written),
            closure,
            lowering.file.stops,
            taken_at_start(lowering.file.globals),
            dict(lowering.imported),
        )

    def function(self, key: str) -> FunctionIR | None:
        """Return a function as it is in the document."""
        if key not in self._lowered and self._lowering is not None:
            defined = key in self._lowering.definitions
            self._lowered[key] = self._lowering.function(key) if defined else None
        return self._lowered.get(key)

    def _lower(self, key: str, digest: bytes) -> _FunctionFacts | None:
        assert self._lowering is not None
        before = set(self._lowering.file.globals)
        records = set(self._lowering.records)
        function = self.function(key)
        if function is None:
            return None
        statics = {
            name: variable
            for name, variable in self._lowering.file.globals.items()
            if name not in before
        }
        defined = {
            name: record for name, record in self._lowering.records.items() if name not in records
        }
        outline = FunctionOutline(
            function.name,
            function.static and not function.record,
            function.record,
            function.span,
            digest,
            tuple(sorted(function.calls)),
            function.size,
            not function.params or function.name == "main",
            function.cut,
            mentioned_functions(function),
            acts_of(function),
            tuple(sorted(function.reads)),
            way_through(function),
            habits_of(function, self._lowering.records),
        )
        return _FunctionFacts(outline, frozenset(mutated_globals(function)), statics, defined)


def _moved(old: FunctionOutline, span: tuple[int, int], digest: bytes) -> FunctionOutline:
    """Return the outline of a function that stands elsewhere now."""
    return FunctionOutline(
        old.name,
        old.static,
        old.record,
        span,
        digest,
        old.calls,
        old.size,
        old.alone,
        old.cut,
        old.takes,
        old.acts,
        old.reads,
        old.way,
        old.habits,
    )
