"""Files that change behind the editor: created, renamed, deleted, written by other programs.

The client is asked to watch the folders where it can; where it cannot, a save of an open
document tells of its file. Many changes at once (a checkout) become one look at the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lsprotocol import types

from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.folders import path_of
from jarvis_ls.lsp.server import Server

SETTLE_SECONDS = 0.2
"""How long it must be quiet before the disk is examined."""

_SOURCES = "**/*.{c,h,cc,cpp,cxx,c++,hh,hpp,hxx,h++,inl,ipp,tpp,rs,C,H}"
_SYMBOLS = ("py", "pyi", "go", "java", "js", "jsx", "mjs", "cjs", "ts", "mts", "cts", "tsx")
"""Endings of files that only the graph of symbols reads."""
_OWN = (
    "**/.jarvis/jsec.toml",
    "**/.jarvis/sec/baseline.json",
    "**/.jarvis/sec/{evidence,analysis}.jsonl",
    "**/.jarvis/c2rust/*.{json,jsonl,log}",
    "**/.gitignore",
)
_KEPT = ".jarvis/"
_MIGRATION = ".jarvis/c2rust/"
_EVIDENCE = (".jarvis/sec/evidence.jsonl", ".jarvis/sec/analysis.jsonl")
_SEEN = ".jarvis/c2rust/undefined.jsonl"
_SETTINGS = (".jarvis/jsec.toml", ".jarvis/sec/baseline.json", _SEEN)


def register(server: Server) -> None:
    """Watch, and look at what changed."""
    watch = _Watch(server)
    server.started.subscribe(watch.start)
    server.answer(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watch.changed)
    server.answer(types.TEXT_DOCUMENT_DID_SAVE, watch.saved)


class _Watch:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._paths: dict[str, set[str]] = {}
        self._symbols: dict[str, set[str]] = {}
        """Files that only the graph of symbols reads."""
        self._listing: set[str] = set()
        self._settings = False
        self._migrations: set[str] = set()
        self._evidence: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def start(self, _news: None) -> None:
        workspace = self._server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        if watched is None or not watched.dynamic_registration:
            return
        # Without a kind: all three. A folder that is moved or deleted is one event, of the folder.
        symbols = f"**/*.{{{','.join(_SYMBOLS)}}}"
        globs = (_SOURCES, *_OWN, *([symbols] if self._server.trusted else []))
        watchers = [types.FileSystemWatcher(glob) for glob in globs]
        for kind in (types.WatchKind.Create, types.WatchKind.Delete):
            watchers.append(types.FileSystemWatcher("**/*", kind))
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        await self._server.register(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)

    def changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        self._note((event.uri, event.type) for event in params.changes)

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        document = self._server.documents.get(params.text_document.uri)
        if document is not None:
            document.saved = document.version
        self._note([(params.text_document.uri, types.FileChangeType.Changed)])

    def _note(self, events: Iterable[tuple[str, types.FileChangeType]]) -> None:
        for uri, kind in events:
            if path_of(uri) is None:
                continue
            place = self._server.folders.place(uri)
            if not place.root or place.path == ".":
                continue
            if place.path in _SETTINGS:
                self._settings = True
            if place.path.startswith(_KEPT):  # what we keep there ourselves is no source
                if place.path.startswith(_MIGRATION):
                    self._migrations.add(place.root)
                elif place.path in _EVIDENCE:
                    self._evidence.add(place.root)
            elif kind == types.FileChangeType.Changed and _ending(place.path) in _SYMBOLS:
                self._symbols.setdefault(place.root, set()).add(place.path)
            elif kind == types.FileChangeType.Changed and not place.path.endswith(".gitignore"):
                self._paths.setdefault(place.root, set()).add(place.path)
            else:
                self._listing.add(place.root)
                self._paths.setdefault(place.root, set()).add(place.path)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._look)

    def _look(self) -> None:
        paths, listing, settings = self._paths, self._listing, self._settings
        self._paths, self._listing, self._settings = {}, set(), False
        symbols, self._symbols = self._symbols, {}
        migrations, self._migrations = self._migrations, set()
        evidence, self._evidence = self._evidence, set()
        for root in evidence:
            self._server.evidence_written.fire(root)
        for root in migrations:
            self._server.migration_written.fire(root)
        if settings:
            spawn(self._server.reconfigure(), "settings files")
        for root in paths.keys() | symbols.keys():
            written = paths.get(root, set()) | symbols.get(root, set())
            self._server.files_written.fire((root, written, root in listing))
        for root, changed in paths.items():
            spawn(self._rescan(root, changed, root in listing), f"changed files of {root}")

    async def _rescan(self, root: str, paths: set[str], relist: bool) -> None:
        server = self._server
        for path in paths if not relist else ():
            await server.analysis.file_changed(root, path, exists=True)
        await server.scanning.rescan(root, paths, relist=relist)
        for document in server.documents:  # a header may have changed what they mean
            if server.place(document.uri).root == root:
                server.live.schedule(document, 0)


def _ending(path: str) -> str:
    return path.rpartition(".")[2].lower()
