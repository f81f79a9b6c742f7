"""Open documents: text that follows the user's edits, and findings that keep up with it.

Runs inside a worker process. Every edit is a change of the text and of its tree; an analysis
then runs the rules only over items whose text (or whose surroundings) changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jarvis_ls.codeintel.headers import Headers
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import Tree, edit, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.assess import assess
from jarvis_ls.jsec.engine import Engine, ItemCache


@dataclass(frozen=True, slots=True)
class TextChange:
    """One edit as LSP sends it: 0-based lines and UTF-16 columns; no range replaces all."""

    text: str
    """What stands there afterwards."""
    range: tuple[int, int, int, int] | None = None
    """Start line, start character, end line, end character; None for the whole text."""


@dataclass(frozen=True, slots=True)
class LiveResult:
    """Findings of one version of a document."""

    version: int
    """The version that was analysed."""
    findings: list[Finding]
    """In order of position, suppressed ones included."""
    notes: list[str]
    """What could not be analysed, in words."""
    functions: list[tuple[str, int, int]]
    """Name, first and last line (1-based) of each function."""
    declarations: str
    """Digest of what the document declares to files that include it."""


class _Document:
    def __init__(self, root: str, source: Source, language: LanguageName, version: int) -> None:
        self.root = root
        self.source = source
        self.language = language
        self.version = version
        self.tree: Tree = parse(source.data, language)
        self.cache = ItemCache()

    def change(self, change: TextChange, version: int) -> None:
        new = change.text.encode("utf-8", "replace")
        old = self.source.data
        self.version = version
        if change.range is None:
            self.source = Source(self.source.path, new)
            self.tree = parse(new, self.language)
            return
        start_line, start_character, end_line, end_character = change.range
        start = self.source.offset(start_line + 1, start_character + 1)
        end = max(start, self.source.offset(end_line + 1, end_character + 1))
        data = old[:start] + new + old[end:]
        edit(self.tree, old, data, start, end, start + len(new))
        self.source = Source(self.source.path, data)
        self.tree = parse(data, self.language, self.tree)


class LiveDocuments:
    """The open documents of an editor, by URI."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine or Engine()
        self._documents: dict[str, _Document] = {}
        self._headers: dict[str, Headers] = {}

    def set_files(self, root: str, paths: list[str]) -> None:
        """The source files of a workspace folder, relative to it with forward slashes."""
        self._headers[root] = Headers(lambda path: self._read(root, path), paths)

    def file_changed(self, root: str, path: str, exists: bool) -> None:
        """A file of a workspace folder was written, created or deleted on disk."""
        headers = self._headers.get(root)
        if headers is None:
            return
        headers.forget(path)
        if exists:
            headers.add(path)
        else:
            headers.discard(path)

    def open(self, uri: str, root: str, path: str, language_id: str, text: str,
             version: int) -> bool:  # fmt: skip
        """Take over a document; False when it is in no language we read.

        `path` is relative to the workspace folder `root`, or absolute with an empty `root`.
        """
        data = text.encode("utf-8", "replace")
        language = _language(path, language_id, data)
        if language is None:
            return False
        self._documents[uri] = _Document(root, Source(path, data), language, version)
        self._forget(root, path)
        return True

    def change(self, uri: str, version: int, changes: list[TextChange]) -> None:
        """Follow edits of a document, in order."""
        document = self._documents[uri]
        for change in changes:
            document.change(change, version)
        self._forget(document.root, document.source.path)

    def close(self, uri: str) -> None:
        """Forget a document; from now on its file counts as it is on disk."""
        document = self._documents.pop(uri, None)
        if document is not None:
            self._forget(document.root, document.source.path)

    def text(self, uri: str) -> str:
        """The text of a document as we have it."""
        return self._documents[uri].source.data.decode("utf-8")

    def analyse(self, uri: str) -> LiveResult:
        """Findings of a document as it stands now."""
        document = self._documents[uri]
        source = document.source
        headers = self._headers.get(document.root)
        analysis = self._engine.analyse(
            source,
            document.language,
            tree=document.tree,
            headers=None if headers is None else partial(headers.facts_for, source.path),
            cache=document.cache,
        )
        return LiveResult(
            version=document.version,
            findings=assess(source, document.language, document.tree, analysis.findings),
            notes=analysis.notes,
            functions=analysis.functions,
            declarations=analysis.context,
        )

    def _forget(self, root: str, path: str) -> None:
        if root in self._headers:
            self._headers[root].forget(path)

    def _read(self, root: str, path: str) -> bytes | None:
        for document in self._documents.values():
            if document.root == root and document.source.path == path:
                return document.source.data
        try:
            return Path(root, path).read_bytes()
        except OSError:
            return None


def _language(path: str, language_id: str, data: bytes) -> LanguageName | None:
    by_path = language_of(path, data)
    if by_path is not None:
        return by_path
    return {"c": "c", "cpp": "cpp", "rust": "rust"}.get(language_id)  # type: ignore[return-value]
