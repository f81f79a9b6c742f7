"""Files on disk, scanned in a worker process: read, parse, run the rules, assess."""

from __future__ import annotations

import codecs
import gc
import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from jarvis_ls.codeintel.compile_commands import definitions
from jarvis_ls.codeintel.conditions import using
from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import MAX_HEADER_BYTES, Headers, facts_of
from jarvis_ls.codeintel.languages import HEADER_ENDS, LanguageName, language_of
from jarvis_ls.codeintel.parse import Tree, parse
from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.engine.visibility import assess, assess_again
from jarvis_ls.jsec.findings.failure_notes import (
    CUT,
    FAILED,
    NOT_FOLLOWED,
    MissingFindings,
    failed_functions,
    large_functions,
    many_functions,
)
from jarvis_ls.jsec.findings.flow_findings import settle
from jarvis_ls.jsec.findings.function_summary import FunctionSummary, summarise
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.library.user_models import effects_of
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.flow.program.file_outline import outline_of
from jarvis_ls.jsec.flow.program.ir_store import Store
from jarvis_ls.jsec.flow.program.program import Program
from jarvis_ls.jsec.flow.program.runner import Followed, Found, Root, Runner
from jarvis_ls.jsec.scan.gaps import FileGaps, gaps_of
from jarvis_ls.jsec.scan.project import Project, digest_of
from jarvis_ls.jsec.scan.result import FileReport
from jarvis_ls.jsec.scan.source_files import NOT_A_SOURCE, SourceFile

log = logging.getLogger(__name__)

NUL_NOTE = Words("the file has NUL characters, which compilers ignore and people do not see")
_START = 8192
"""Bytes that distinguish source from data."""
_CONTROL = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})
_BEYOND_ASCII = bytes(range(128, 256))
_COLLECT_AFTER = 16_000_000
"""Bytes of source after which the collector looks for what it alone can free."""
_MOST_ALIKE = 50
"""Functions of one name that are summarised."""
_COLLECT_AFTER_FUNCTIONS = 12_000
"""Functions that are followed before it looks again."""


@dataclass(slots=True)
class _Open:
    project: Project
    files: dict[str, SourceFile]
    headers: Headers = field(init=False)

    def __post_init__(self) -> None:
        self.headers = self.project.headers(self._header)

    def read(self, path: str, limit: int) -> bytes:
        return self.files[path].read(limit, self.project.root)

    def _header(self, path: str) -> bytes | None:
        try:
            return self.read(path, MAX_HEADER_BYTES)
        except SkippedFile:  # the scan of that file itself says why it cannot be read
            return None


class DiskFiles:
    """The files of one folder at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._open: _Open | None = None
        self._since_collection = self._followed = 0
        self._store: Store | None = None
        self._runner: Runner | None = None
        self._source = lru_cache(16)(self._read_source)

    def set_project(self, project: Project) -> None:
        """From now on `scan` is asked for files of this project."""
        self._open = _Open(project, {file.path: file for file in project.files})
        self._store = Store(project.flow) if project.flow is not None else None

    def set_program(self, units: dict[str, str]) -> None:
        """From now on `follow` is asked for functions of these files, which are kept under
        these names."""
        assert self._open is not None and self._open.project.flow is not None
        analyse = partial(analysis_of, own=effects_of(self._open.project.functions))
        self._runner = Runner(self._open.project.flow, units, analyse)

    def scan(
        self,
        path: str,
        seconds: float = math.inf,
        for_flow: bool = True,
    ) -> FileReport:
        """Return the findings of one file of the project, with those that comments suppress marked.

        The rules look at nothing more after so many `seconds` of processor time. Its
        functions are kept for data flow if it is `for_flow`.

        Raises `SkippedFile` when it cannot be read as a source.
        """
        with self._as_compiled(path):
            return self._scan(path, seconds, for_flow)

    def _as_compiled(self, path: str) -> AbstractContextManager[None]:
        """Have conditions know the macros that a file is compiled with."""
        assert self._open is not None, "set_project comes first"
        return using(definitions(self._open.headers.flags(path)))

    def _scan(self, path: str, seconds: float, for_flow: bool) -> FileReport:
        assert self._open is not None
        deadline = time.process_time() + seconds
        raw = self._open.read(path, self._open.project.limit)
        strange = (NUL_NOTE,) if has_nul(raw) else ()
        self._collect(len(raw))
        source = decode(path, raw)
        language = language_of(path, source.data)
        if language is None:
            raise SkippedFile(NOT_A_SOURCE)
        context = ""

        def headers(own: Facts) -> tuple[str, Sequence[Facts]]:
            nonlocal context
            assert self._open is not None
            context, facts = self._open.headers.facts_for(path, own)
            return context, facts

        tree = parse(source.data, language)
        analysis = self._engine.analyse(
            source, language, tree=tree, headers=headers, deadline=deadline
        )
        findings = assess(
            source,
            language,
            tree,
            analysis.findings,
            patterns=self._open.project.patterns,
            observed=self._open.project.observed,
            unsettled=self._store is not None and for_flow,
        )
        digest = digest_of(raw)
        unit = ""
        failures: list[str] = [CUT] if analysis.is_cut else []
        if for_flow:
            found = analysis.items
            unit, failed = self._lower(source, language, tree, analysis.facts, digest, found)
            failures += failed
        elif self._store is not None:
            failures.append(NOT_FOLLOWED)
        text_digest = digest if source.data is raw else digest_of(source.data)
        if path.endswith(HEADER_ENDS) and len(source.data) <= MAX_HEADER_BYTES:
            self._open.headers.know(path, text_digest, analysis.facts)
        return FileReport(
            path=path,
            findings=findings,
            notes=(*strange, *analysis.notes, *failures),
            digest=digest,
            text_digest=text_digest,
            includes=analysis.facts.includes,
            context=context,
            unit=unit,
            is_cut=analysis.is_cut or not for_flow,
        )

    def follow(self, path: str, only: Sequence[str] = (), without: Sequence[str] = ()) -> Followed:
        """Follow the functions of a file, or just those of `only`; leave out those in `without`."""
        assert self._runner is not None, "set_program comes first"
        followed = self._runner.follow(path, only, without)
        self._followed += followed.analysed
        if self._followed > _COLLECT_AFTER_FUNCTIONS:
            self._followed = 0
            gc.collect()
        return followed

    def keep_functions(self, path: str) -> str:
        """Keep the functions of a file for the analysis of flow, unless they are, without a look at
        its rules; gives the name they are kept under, nothing when they are not.

        Raises `SkippedFile` when it cannot be read as a source.
        """
        assert self._open is not None and self._store is not None, "set_project comes first"
        with self._as_compiled(path):
            raw = self._open.read(path, self._open.project.limit)
            has_nul(raw)
            source, digest = decode(path, raw), digest_of(raw)
            language = language_of(path, source.data)
            if language is None:
                raise SkippedFile(NOT_A_SOURCE)
            tree = parse(source.data, language)
            own = facts_of(tree.root_node, language)
            context, _ = self._open.headers.facts_for(path, own)
            name = self._store.name(path, digest, context)
            return (
                name
                if self._store.has(name)
                else self._lower(source, language, tree, own, digest)[0]
            )

    def summaries(self, name: str, file: str = "") -> list[FunctionSummary]:
        """Return what the functions of a name do to their callers, those of one file or of all; a
        method may be named without its class."""
        assert self._runner is not None, "set_program comes first"
        assert self._open is not None
        program = self._runner.program
        own = effects_of(self._open.project.functions)
        places = [
            (path, key)
            for path, outline in sorted(program.outlines.items())
            for key, function in outline.functions.items()
            if name in (function.name, function.name.rpartition("::")[2]) and file in ("", path)
        ]
        found = (summarise(program, place, own, self._line) for place in places[:_MOST_ALIKE])
        return [summary for summary in found if summary is not None]

    def _line(self, path: str, offset: int) -> int:
        source = self._source(path)
        return 0 if source is None else source.position(offset)[0]

    def gaps(self, path: str) -> FileGaps:
        """Return what a file needs that neither it nor its headers say."""
        with self._as_compiled(path):
            return self._gaps(path)

    def _gaps(self, path: str) -> FileGaps:
        assert self._open is not None
        raw = self._open.read(path, self._open.project.limit)
        source = decode(path, raw)
        language = language_of(path, source.data)
        if language is None or language == "rust" or has_nul(raw):
            return FileGaps(path)
        tree = parse(source.data, language)
        own = facts_of(tree.root_node, language)
        _, included = self._open.headers.facts_for(path, own)
        missing = self._open.headers.missing(path, own)
        return gaps_of(source, language, tree, own.merge(included), missing)

    def functions(self, path: str) -> list[str]:
        """Keys of the functions of a file."""
        assert self._runner is not None, "set_program comes first"
        outline = self._runner.program.outlines.get(path)
        return list(outline.functions) if outline is not None else []

    def settle(
        self,
        report: FileReport,
        faults: Sequence[Fault],
        decided: frozenset[str],
        notes: tuple[str, ...],
    ) -> FileReport:
        """Return a report with what flow proved in the file, and `notes` on what it left out; when
        the file is another by now, the report as one that is not whole. What flow did not find in
        the functions `decided` is not there.
        """
        assert self._open is not None, "set_project comes first"
        project = self._open.project
        try:
            raw = self._open.read(report.path, project.limit)
        except SkippedFile:
            return replace(report, is_cut=True)
        source = decode(report.path, raw)
        language = language_of(report.path, source.data)
        if digest_of(raw) != report.digest or language is None:
            return replace(report, is_cut=True)

        missing = MissingFindings()

        def settled(findings: list[Finding]) -> list[Finding]:
            functions = self._functions(source)
            return settle(
                source,
                language,
                findings,
                faults,
                self._source,
                functions,
                decided,
                missing,
            )

        with self._as_compiled(report.path):
            findings = assess_again(
                source, language, report.findings, settled, patterns=project.patterns
            )
        notes = (*report.notes, *notes, *missing.notes())
        return replace(report, findings=findings, notes=tuple(dict.fromkeys(notes)), settled=True)

    def _lower(
        self,
        source: Source,
        language: LanguageName,
        tree: Tree,
        own: Facts,
        digest: str,
        found: Sequence[Item] | None = None,
    ) -> tuple[str, Sequence[str]]:
        """Keep the functions of a file, of which the items may be `found` already, for the analysis
        of flow; gives the name they are kept under, nothing when they are not, and notes on what
        failed."""
        if self._store is None:
            return "", ()
        assert self._open is not None
        context, included = self._open.headers.facts_for(source.path, own)
        closure = tuple(self._open.headers.closure(source.path, own))
        name = self._store.name(source.path, digest, context)
        try:
            file = lower(Unit(source, language, own.merge(included)), tree.root_node, found)
            outline = outline_of(file, source.data, context, closure, lasting=self._store.lasting)
            self._store.put(name, outline, file.functions)
        except OSError as error:
            log.warning("%s: its functions are not followed: %s", source.path, error.strerror)
            return "", (FAILED,)
        except Exception:  # the findings of its rules are as good without
            log.exception("%s: its functions are not followed", source.path)
            return "", (FAILED,)
        return name, [
            *failed_functions(file.failed),
            *large_functions(file.large),
            *many_functions(file.left_out),
        ]

    def _functions(self, source: Source) -> list[tuple[str, int, int]]:
        outline = self._runner.program.outlines.get(source.path) if self._runner else None
        functions = outline.functions.values() if outline is not None else ()
        return [(function.name, *function.span) for function in functions]

    def _read_source(self, path: str) -> Source | None:
        assert self._open is not None
        try:
            return decode(path, self._open.read(path, self._open.project.limit))
        except SkippedFile:
            return None

    def _collect(self, size: int) -> None:
        """Look for cycles now and then: hardly anything here leaves any."""
        self._since_collection += size
        if self._since_collection > _COLLECT_AFTER:
            self._since_collection = 0
            gc.collect()


def analysis_of(program: Program, own: Mapping[str, Any] | None = None) -> Root:
    """Return an analysis of a program. `own` says what functions of the user's own do."""
    from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter  # large, not needed without flow

    analysis = Interpreter(program, own=own)

    def root(function: FunctionIR) -> Found:
        faults = analysis.root(function)
        return Found(
            tuple(faults), analysis.entered_functions(), analysis.fuel > 0 and not analysis.partial
        )

    return root


def has_nul(raw: bytes) -> bool:
    """Return whether a source has a NUL near its start, which compilers ignore.

    Raises `SkippedFile` for data: more than a tenth of its start is no text.
    """
    start = raw[:_START]
    if b"\0" not in start or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    if len(start.translate(None, _CONTROL)) * 10 < len(start) * 9 or not _is_text(start):
        raise SkippedFile("binary")
    return True


def _is_text(start: bytes) -> bool:
    """Return whether bytes are UTF-8, but for a letter cut off at their end, or mostly ASCII."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return len(start.translate(None, _BEYOND_ASCII)) * 10 >= len(start) * 9
    return True
