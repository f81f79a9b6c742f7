"""Open documents: text that follows the user's edits, and findings that keep up with it.

Runs inside a worker process. Every edit is a change of the text and of its tree; an analysis
then runs the rules only over items whose text (or whose surroundings) changed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from jarvis_ls.codeintel.headers import MAX_HEADER_BYTES, Headers
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import Tree, edit, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.jsec.assess import assess
from jarvis_ls.jsec.engine import Engine, ItemCache
from jarvis_ls.jsec.live_records import LiveResult, TextChange
from jarvis_ls.jsec.settings import Pattern


class _Document:
    def __init__(self, root: str, source: Source, language: LanguageName, version: int) -> None:
        self.root = root
        self.source = source
        self.language = language
        self.version = version
        self.tree: Tree = parse(source.data, language)
        self.cache = ItemCache()

    def change(self, changes: list[TextChange], version: int) -> None:
        """Follow edits in order; the text is parsed once, after the last of them."""
        self.version = version
        if not changes:
            return
        old: Tree | None = self.tree
        for change in changes:
            if change.range is None:
                self.source = Source(self.source.path, change.text.encode("utf-8", "replace"))
                old = None
            else:
                self._replace(change, change.range, old)
        self.tree = parse(self.source.data, self.language, old)

    def _replace(
        self, change: TextChange, place: tuple[int, int, int, int], tree: Tree | None
    ) -> None:
        new = change.text.encode("utf-8", "replace")
        old = self.source.data
        start_line, start_character, end_line, end_character = place
        start = self.source.offset(start_line + 1, start_character + 1)
        end = max(start, self.source.offset(end_line + 1, end_character + 1))
        data = old[:start] + new + old[end:]
        if tree is not None:
            edit(tree, old, data, start, end, start + len(new))
        self.source = Source(self.source.path, data)


__all__ = ["LiveDocuments", "LiveResult", "TextChange"]


class LiveDocuments:
    """The open documents of an editor, by URI."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine or Engine()
        self._documents: dict[str, _Document] = {}
        self._headers: dict[str, Headers] = {}
        self._patterns: dict[str, tuple[Pattern, ...]] = {}

    def set_patterns(self, root: str, patterns: tuple[Pattern, ...]) -> None:
        """The user's own rules for the documents of a workspace folder."""
        self._patterns[root] = patterns

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
        document.change(changes, version)
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
            findings=assess(
                source,
                document.language,
                document.tree,
                analysis.findings,
                patterns=self._patterns.get(document.root, ()),
            ),
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
            return read_regular(Path(root, path), limit=MAX_HEADER_BYTES, root=root)
        except SkippedFile:  # as if it were not there; the scan of that file says why
            return None


def _language(path: str, language_id: str, data: bytes) -> LanguageName | None:
    by_path = language_of(path, data)
    if by_path is not None:
        return by_path
    return {"c": "c", "cpp": "cpp", "rust": "rust"}.get(language_id)  # type: ignore[return-value]
