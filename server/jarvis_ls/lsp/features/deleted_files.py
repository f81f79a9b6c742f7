"""Documents whose file is deleted while the editor still holds them.

Editors keep a document when a checkout or another program takes its file away: with a tab that is
marked as deleted, or with none at all. As long as it says only what the file said, it is gone for
the project: it has no findings and is no part of the program around the others. What the user has
not saved counts, and so does the document once it is edited or its file is there again.
"""

from __future__ import annotations

from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.scanning import Listed
from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Set documents aside whose file has been deleted, and take them back."""
    deleted = _Deleted(server)
    server.edited.subscribe(deleted.take_back)
    server.closed.subscribe(deleted.forget)
    server.scanning.listed.subscribe(deleted.listed)


class _Deleted:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._aside: set[str] = set()
        """URIs of documents that count no more."""

    def listed(self, news: Listed) -> None:
        server = self._server
        for document in server.documents:
            place = server.place(document.uri)
            if place.root != news.root:
                continue
            if place.path in news.present:
                self.take_back(document)
            elif place.path in news.deleted and _is_unchanged(document, news.deleted[place.path]):
                self._aside.add(document.uri)
                server.analysis.close(document.uri)
                server.live.schedule(document, 0)

    def take_back(self, document: Document) -> None:
        if document.uri in self._aside:
            self._aside.discard(document.uri)
            self._server.take(document)
            self._server.live.schedule(document, 0)

    def forget(self, uri: str) -> None:
        self._aside.discard(uri)


def _is_unchanged(document: Document, digest: str) -> bool:
    """Return whether a document is what its file was: no one has typed since it was opened or
    saved, or it has the bytes that were scanned, because the editor had read the file again.
    """
    if document.version == document.saved:
        return True
    from jarvis_ls.jsec.scan.project import digest_of  # loaded by the scan that was

    return digest_of(document.text.encode("utf-8", "replace")) == digest
