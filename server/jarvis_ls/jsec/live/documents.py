"""Open documents: text that follows the user's edits, and findings that keep up with it.

Runs inside a worker process. Every edit is a change of the text and of its tree; an analysis
then runs the rules only over items whose text (or whose surroundings) changed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.calls import function_named_at
from jarvis_ls.codeintel.compile_commands import (
    NOTHING,
    CompileCommands,
    Flags,
    definitions,
    read_compile_commands,
)
from jarvis_ls.codeintel.conditions import Definitions, using
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import MAX_HEADER_BYTES, Headers
from jarvis_ls.codeintel.installed_headers import InstalledHeaders
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import Parsed, Tree, parse_edited
from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.codeintel.top_level_items import items
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine, FileAnalysis, ItemCache
from jarvis_ls.jsec.engine.visibility import assess
from jarvis_ls.jsec.findings.failure_notes import (
    FAILED,
    MissingFindings,
    failed_functions,
    large_functions,
    many_functions,
)
from jarvis_ls.jsec.findings.flow_findings import settle
from jarvis_ls.jsec.findings.function_summary import FunctionSummary, summarise
from jarvis_ls.jsec.findings.sanitizer_findings import Observed
from jarvis_ls.jsec.flow.library.user_models import OwnFunction, effects_of
from jarvis_ls.jsec.flow.program.ir_store import StoreFolder
from jarvis_ls.jsec.flow.program.result_cache import in_order
from jarvis_ls.jsec.flow.program.runner import Analyse
from jarvis_ls.jsec.live.flow import LiveFlow
from jarvis_ls.jsec.live.records import LiveResult, TextChange, ValueHint
from jarvis_ls.jsec.live.value_hints import value_hints
from jarvis_ls.jsec.scan.file_scanner import analysis_of
from jarvis_ls.jsec.settings.settings import Pattern

log = logging.getLogger(__name__)

FLOW_SECONDS = 0.02
"""Time flow has in one analysis; what it does not get to is left to the next."""


_MOST_UNKEPT = 8
"""Items that each keystroke may have the rules look at again, because their text has an error that
the parser met elsewhere: of more, the whole text is parsed, which costs less."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """What following the values of a document gave."""

    findings: list[Finding]
    """Those of the rules, with what flow knows of them and adds."""
    settled: bool = True
    """Whether they are complete."""
    more: bool = False
    """Whether flow has more to do."""
    others: tuple[str, ...] = ()
    """Other documents that have new results."""
    notes: tuple[str, ...] = ()
    """What failed, in words."""


@dataclass(frozen=True, slots=True)
class _Analysed:
    """What the rules gave: while the tree and the headers are the same, so is it."""

    tree: Tree
    headers: Headers | None
    context: str
    """Names the texts of the headers."""
    result: FileAnalysis


@dataclass(frozen=True, slots=True)
class _Lowered:
    """What the functions of a document are lowered from: while it is the same, so are they."""

    tree: Tree
    sure: bool
    """Whether the tree is certain to be that of the text."""
    headers: Headers | None
    context: str
    """Names the texts of the headers."""
    closure: tuple[str, ...]
    """Their paths."""
    flow: LiveFlow
    """The program they are in."""

    def same(self, other: _Lowered | None) -> bool:
        """Return whether both are the same: trees and programs are what they are."""
        return (
            other is not None
            and self.tree is other.tree
            and self.sure == other.sure
            and self.headers is other.headers
            and self.context == other.context
            and self.closure == other.closure
            and self.flow is other.flow
        )


class _OpenFile:
    def __init__(self, root: str, source: Source, language: LanguageName, version: int) -> None:
        self.root = root
        self.source = source
        self.language = language
        self.version = version
        self._parsed = parse_edited(source.data, language, None)
        self.cache = ItemCache()
        self.shown = False
        """Whether it was analysed as it is."""
        self.analysis: _Analysed | None = None
        """What its rules gave last."""
        self.lowered: _Lowered | None = None
        """What its functions were lowered from last."""

    @property
    def tree(self) -> Tree:
        """Return the syntax tree of the text."""
        return self._parsed.tree

    def change(self, changes: list[TextChange], version: int) -> None:
        """Follow edits in order; the text is parsed once, after the last of them."""
        self.version = version
        if not changes:
            return
        self.shown = False
        before: Parsed | None = self._parsed if self.cache.unkept <= _MOST_UNKEPT else None
        for change in changes:
            if change.range is None:
                self.source = Source(self.source.path, change.text.encode("utf-8", "replace"))
                before = None
            else:
                self._replace(change, change.range)
        self._parsed = parse_edited(self.source.data, self.language, before)
        self.cache.sure = self._parsed.sure

    def forget(self, known: Definitions) -> None:
        """Read the text again, because other macros are `known` by now."""
        with using(known):
            self._parsed = parse_edited(self.source.data, self.language, None)
            self.cache = ItemCache()

    def settle(self) -> None:
        """Have the tree that the text has when nothing is reused."""
        if not self.cache.sure:
            self._parsed = parse_edited(self.source.data, self.language, None)
            self.cache.sure = True

    def _replace(self, change: TextChange, place: tuple[int, int, int, int]) -> None:
        new = change.text.encode("utf-8", "replace")
        start_line, start_character, end_line, end_character = place
        start = self.source.offset(start_line + 1, start_character + 1)
        end = max(start, self.source.offset(end_line + 1, end_character + 1))
        self.source = self.source.replaced(start, end, new)


class LiveDocuments:
    """The open documents of an editor, by URI."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine or Engine()
        self._documents: dict[str, _OpenFile] = {}
        self._headers: dict[str, Headers] = {}
        self._installed = InstalledHeaders()
        self._without: set[str] = set()
        """Folders for which headers of the machine are not asked."""
        self._files: dict[str, list[str]] = {}
        self._commands: dict[str, CompileCommands] = {}
        self._patterns: dict[str, tuple[Pattern, ...]] = {}
        self._observed: dict[str, tuple[Observed, ...]] = {}
        self._analyse: dict[str, Analyse | None] = {}
        self._own: dict[str, Mapping[str, Any]] = {}
        self._flow: dict[str, LiveFlow] = {}
        self._seen: set[str] = set()

    def set_flow(self, root: str, wanted: bool, functions: tuple[OwnFunction, ...] = ()) -> None:
        """Return whether values are followed in the documents of a workspace folder (of none: an
        empty
        `root`), and which functions of the user's own are sources, sinks and sanitizers. Until
        this is said they are, and there are none."""
        self._own[root] = own = effects_of(functions)
        self._analyse[root] = partial(analysis_of, own=own) if wanted else None
        alone = [uri for uri, document in self._documents.items() if not document.root]
        for program in [root] if root else alone:
            self._flow.pop(program, None)

    def set_program(self, root: str, place: StoreFolder, names: dict[str, str]) -> None:
        """Set the functions that a scan of a workspace folder stored."""
        flow = self._flow_of(root, "")
        if flow is not None:
            flow.set_program(place, names)

    def set_patterns(
        self, root: str, patterns: tuple[Pattern, ...], observed: tuple[Observed, ...] = ()
    ) -> None:
        """Set the user's own rules for the documents of a workspace folder, and the sanitizer
        records of its code."""
        self._patterns[root] = patterns
        self._observed[root] = observed

    def set_installed_headers(self, root: str, wanted: bool) -> None:
        """Set whether headers of the machine are asked for what nothing else declares in a
        workspace folder, or with an empty `root` outside of all; until this is said they are."""
        (self._without.discard if wanted else self._without.add)(root)
        self._headers.pop(root, None)
        if root in self._files:
            self._set_headers(root)

    def set_files(self, root: str, paths: list[str]) -> None:
        """Set the source files of a workspace folder, relative to it with forward slashes."""
        self._files[root] = paths
        commands, _ = read_compile_commands(root, paths)  # why it is not used, the scan says
        before = self._commands.get(root, NOTHING)
        self._commands[root] = commands
        self._set_headers(root)
        if commands != before:
            for document in self._documents.values():
                if document.root == root:
                    document.forget(self._flags(document))

    def _set_headers(self, root: str) -> None:
        self._headers[root] = Headers(
            lambda path: self._read(root, path),
            self._files.get(root, ()),
            root=root,
            installed=None if root in self._without else self._installed,
            commands=self._commands.get(root, NOTHING),
        )

    def _headers_of(self, root: str) -> Headers | None:
        """Return the headers of a workspace folder, when its files are known; outside of all those
        of the machine."""
        if not root and root not in self._headers:
            self._set_headers(root)
        return self._headers.get(root)

    def _flags(self, document: _OpenFile) -> Definitions:
        """Return what conditions know of a document."""
        headers = self._headers_of(document.root)
        return definitions(Flags() if headers is None else headers.flags(document.source.path))

    def file_changed(self, root: str, path: str, exists: bool) -> None:
        """Update the headers after a file of a workspace folder was written, created or deleted on
        disk."""
        headers = self._headers.get(root)
        if headers is None:
            return
        headers.forget(path)
        if exists:
            headers.add(path)
        else:
            headers.discard(path)

    def open(
        self, uri: str, root: str, path: str, language_id: str, text: str, version: int
    ) -> bool:
        """Take over a document; False when it is in no language we read.

        `path` is relative to the workspace folder `root`, or absolute with an empty `root`.
        """
        data = text.encode("utf-8", "replace")
        language = _language(path, language_id, data)
        if language is None:
            return False
        headers = self._headers_of(root)
        with using(definitions(Flags() if headers is None else headers.flags(path))):
            self._documents[uri] = _OpenFile(root, Source(path, data), language, version)
        self._forget(root, path)
        return True

    def change(self, uri: str, version: int, changes: list[TextChange]) -> None:
        """Follow edits of a document, in order."""
        document = self._documents[uri]
        with using(self._flags(document)):
            document.change(changes, version)
        self._forget(document.root, document.source.path)

    def close(self, uri: str) -> tuple[str, ...]:
        """Forget a document; from now on its file counts as it is on disk. Return the URIs of
        other open documents in which something else may be known now."""
        document = self._documents.pop(uri, None)
        if document is None:
            return ()
        self._seen.discard(uri)
        flow, path = self._flow.get(document.root or uri), document.source.path
        touched = flow.close(path) - {path} if flow is not None else set()
        if not document.root:
            self._flow.pop(uri, None)
        self._forget(document.root, path)
        return self._opened(document.root, touched)

    def close_all(self, uris: Iterable[str]) -> tuple[str, ...]:
        """Forget documents, as `close` does."""
        others = {other for uri in uris for other in self.close(uri)}
        return tuple(uri for uri in self._documents if uri in others)

    def _opened(self, root: str, paths: set[str]) -> tuple[str, ...]:
        """Return the URIs of the open documents among files of a workspace folder."""
        if not paths:
            return ()
        documents = self._documents.items()
        return tuple(u for u, d in documents if d.root == root and d.source.path in paths)

    def text(self, uri: str) -> str:
        """Return the text of a document as we have it."""
        return self._documents[uri].source.data.decode("utf-8")

    def analyse(self, uri: str) -> LiveResult:
        """Return the findings of a document in its present state.

        When its text has an error, the first analysis after an edit may misread it (see
        `parse_edited`); the next one parses the whole text again.
        """
        document = self._documents[uri]
        with using(self._flags(document)):
            return self._analyse_one(uri, document)

    def value_hints(self, uri: str, first: int, last: int) -> list[ValueHint]:
        """Return what is known of memory and input on lines, counted from 1, of a document in C or
        C++; nothing of one that is not open."""
        document = self._documents.get(uri)
        if document is None or document.language == "rust":
            return []
        with using(self._flags(document)):
            analysis, headers = self._run_rules(document), self._headers_of(document.root)
            own, path = analysis.facts, document.source.path
            included = headers.facts_for(path, own)[1] if headers is not None else ()
            unit = Unit(document.source, document.language, own.merge(included))
            found = list(items(document.tree.root_node, document.language))
            return value_hints(unit, found, analysis.placed_functions, (first, last))

    def function_summary(self, uri: str, line: int, column: int) -> FunctionSummary | None:
        """Return what the function does to its callers that is called or defined at a place of a
        document, counted from 1; None when there is none whose code is known."""
        document = self._documents.get(uri)
        flow = None if document is None else self._flow_of(document.root, uri)
        if document is None or flow is None:
            return None
        if not flow.knows(document.source.path):
            self._seen.add(uri)
            self.analyse(uri)
        name = function_named_at(document.tree.root_node, document.source.offset(line, column))
        place = flow.program.place_of(name, document.source.path) if name else None
        if place is None:
            return None

        def line_of(path: str, offset: int) -> int:
            source = self._text(document.root, path)
            return 0 if source is None else source.position(offset)[0]

        return summarise(flow.program, place, self._own.get(document.root), line_of)

    def _analyse_one(self, uri: str, document: _OpenFile) -> LiveResult:
        if document.shown:
            document.settle()
        document.shown = True
        source = document.source
        analysis = self._run_rules(document)
        followed = self._follow(uri, document, analysis)
        return LiveResult(
            version=document.version,
            findings=assess(
                source,
                document.language,
                document.tree,
                followed.findings,
                patterns=self._patterns.get(document.root, ()),
                observed=self._observed.get(document.root, ()),
            ),
            notes=[*dict.fromkeys((*analysis.notes, *followed.notes))],
            functions=analysis.functions,
            declarations=analysis.context,
            more=followed.more or not document.cache.sure,
            settled=followed.settled and document.cache.sure,
            others=followed.others,
        )

    def _run_rules(self, document: _OpenFile) -> FileAnalysis:
        """Return what the rules say of a document; of one that is only followed further, what they
        said before."""
        headers, path = self._headers_of(document.root), document.source.path
        known = document.analysis
        if known is not None and known.tree is document.tree and known.headers is headers:
            context = "" if headers is None else headers.facts_for(path, known.result.facts)[0]
            if context == known.context:
                return known.result
        result = self._engine.analyse(
            document.source,
            document.language,
            tree=document.tree,
            headers=None if headers is None else partial(headers.facts_for, path),
            cache=document.cache,
        )
        context = "" if headers is None else headers.facts_for(path, result.facts)[0]
        result.items = ()  # of an open document little is kept
        document.analysis = _Analysed(document.tree, headers, context, result)
        return result

    def _follow(self, uri: str, document: _OpenFile, analysis: FileAnalysis) -> _Followed:
        """Return the findings of the rules with those of flow."""
        flow, path = self._flow_of(document.root, uri), document.source.path
        if flow is None:
            return _Followed(analysis.findings)
        if uri not in self._seen:  # the rules' findings are shown first
            self._seen.add(uri)
            return _Followed(analysis.findings, settled=False, more=True)
        headers = self._headers_of(document.root)
        own = analysis.facts
        context, included = headers.facts_for(path, own) if headers is not None else ("", ())
        closure = tuple(headers.closure(path, own)) if headers is not None else ()
        sure = document.cache.sure
        lowered = _Lowered(document.tree, sure, headers, context, closure, flow)
        if not (flow.knows(path) and lowered.same(document.lowered)):
            document.lowered = None
            unit = Unit(document.source, document.language, own.merge(included))
            try:
                flow.update(unit, document.tree.root_node, context, closure, sure=sure)
            except Exception:  # the findings of its rules are as good without
                log.exception("%s: its functions are not followed", path)
                return _Followed(analysis.findings, notes=(FAILED,))
            document.lowered = lowered
        touched = flow.work(FLOW_SECONDS, path) - {path}
        others = self._opened(document.root, touched)
        if not flow.ready(path):
            return _Followed(analysis.findings, settled=False, more=flow.waits, others=others)
        missing = MissingFindings()
        findings = settle(
            document.source,
            document.language,
            analysis.findings,
            in_order(flow.faults(path)),
            partial(self._text, document.root),
            analysis.placed_functions,
            flow.decided(path),
            missing,
        )
        notes = (
            *failed_functions(flow.failed(path)),
            *large_functions(flow.large(path)),
            *many_functions(flow.left_out(path)),
            *missing.notes(),
        )
        return _Followed(findings, flow.settled(path), flow.waits, others, notes)

    def _flow_of(self, root: str, uri: str) -> LiveFlow | None:
        """Return the program a document belongs to: that of its workspace folder; outside of any it
        is one by itself, since nothing says which other files belong to it.
        """
        program = root or uri
        if program not in self._flow:
            analyse = self._analyse.get(root, analysis_of)
            if analyse is None:
                return None
            self._flow[program] = LiveFlow(analyse)
        return self._flow[program]

    def _text(self, root: str, path: str) -> Source | None:
        for document in self._documents.values():
            if document.root == root and document.source.path == path:
                return document.source
        data = self._read(root, path)
        return None if data is None else decode(path, data)

    def _forget(self, root: str, path: str) -> None:
        if root in self._headers:
            self._headers[root].forget(path)

    def _read(self, root: str, path: str) -> bytes | None:
        for document in self._documents.values():
            if document.root == root and document.source.path == path:
                return document.source.data
        try:
            return read_regular(Path(root, path), limit=MAX_HEADER_BYTES, root=root)
        except SkippedFile:  # as if it were not there; the scan of that file says why
            return None


def _language(path: str, language_id: str, data: bytes) -> LanguageName | None:
    by_path = language_of(path, data)
    if by_path is not None:
        return by_path
    return {"c": "c", "cpp": "cpp", "rust": "rust"}.get(language_id)  # type: ignore[return-value]
