"""The graph of symbols follows what is typed and what changes on the disk.

Where a workspace has one, because a review, `jca` or an agent has asked for it, a process of low
priority brings it up to date once editing rests, so that whoever asks next has to read little. It
ends when there is nothing more to do. Nothing happens in a workspace that is not trusted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import UsageError, WorkerGone
from jarvis_ls.core.process import RemoteError, Worker
from jarvis_ls.core.work_tree import find_work_tree, symbols_file
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.server import Server

REST_SECONDS = 1.0
"""How long nothing must be typed or written before the graph follows."""
IDLE_SECONDS = 30.0
"""After which the process that does it is ended."""
_LARGEST = 500_000
"""Characters of a document that is followed before it is saved."""
_MODULE = "jarvis_ls.assembly.symbol_graph_worker"

logger = logging.getLogger(__name__)


def register(server: Server) -> None:
    """Follow documents and files."""
    following = _Following(server)
    server.started.subscribe(following.start)
    server.edited.subscribe(following.edited)
    server.closed.subscribe(following.closed)
    server.files_written.subscribe(following.written)
    server.folders_changed.subscribe(following.folders_changed)
    server.closing.append(following.close)


class _Following:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._edited: set[str] = set()
        """URIs of documents."""
        self._written: dict[str, set[str]] = {}
        """Paths, by folder of the workspace."""
        self._listed: set[str] = set()
        """Folders of the workspace in which there may be other files than before."""
        self._workers: dict[Path, Worker] = {}
        self._turn = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None

    def start(self, _news: None) -> None:
        self._list(folder.path for folder in self._server.folders)

    def folders_changed(self, news: tuple[list[str], list[str]]) -> None:
        self._list(news[0])

    def edited(self, document: Document) -> None:
        self._edited.add(document.uri)
        self._wait()

    def closed(self, uri: str) -> None:
        place = self._server.place(uri)
        self.written((place.root, {place.path}, False))

    def written(self, news: tuple[str, set[str], bool]) -> None:
        folder, paths, is_listed = news
        if folder:
            self._written.setdefault(folder, set()).update(paths)
            if is_listed:
                self._listed.add(folder)
            self._wait()

    async def close(self) -> None:
        for timer in (self._timer, self._idle):
            if timer is not None:
                timer.cancel()
        await asyncio.gather(*(worker.kill() for worker in self._workers.values()))

    def _list(self, folders: Iterable[str]) -> None:
        for folder in folders:
            self.written((folder, set(), True))

    def _wait(self) -> None:
        if not self._server.trusted:
            return
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(REST_SECONDS, self._begin)

    def _begin(self) -> None:
        spawn(self._follow(), "graph of symbols")

    async def _follow(self) -> None:
        async with self._turn:
            edited, self._edited = self._edited, set()
            written, self._written = self._written, {}
            listed, self._listed = self._listed, set()
            folders = {self._server.place(uri).root for uri in edited} | written.keys()
            for folder in sorted(folders - {""}):
                found = await asyncio.to_thread(_find, folder)
                if found is not None:
                    paths = written.get(folder, set())
                    await self._update(found, folder, edited, paths, folder in listed)
            self._rest()

    async def _update(
        self, found: _Found, folder: str, edited: set[str], written: set[str], is_listed: bool
    ) -> None:
        """Bring a graph up to date with documents, by URI, and files of a folder."""
        worker = self._workers.setdefault(found.root, Worker(_MODULE, str(found.root)))
        unsaved: dict[str, str] = {}
        saved = set(written)
        for document in self._server.documents:
            place = self._server.place(document.uri)
            is_news = document.uri in edited or place.path in written or worker.pid is None
            if place.root != folder or not is_news:
                continue
            if document.version == document.saved or document.size > _LARGEST:
                saved.add(place.path)
            else:
                saved.discard(place.path)
                unsaved[found.prefix + place.path] = document.text
        paths = [found.prefix + path for path in written]
        ended = [found.prefix + path for path in saved]
        try:
            await worker.call_or_retry("update", paths, unsaved, ended, is_listed)
        except (WorkerGone, RemoteError):
            logger.exception("the graph of symbols of %s does not follow", found.root)

    def _rest(self) -> None:
        """End the processes once there is nothing to do for a while."""
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE_SECONDS, lambda: spawn(self._end(), "graph of symbols"))

    async def _end(self) -> None:
        async with self._turn:
            workers, self._workers = self._workers, {}
            for worker in workers.values():
                await worker.close()


@dataclass(frozen=True, slots=True)
class _Found:
    root: Path
    """The workspace that the graph is of."""
    prefix: str
    """What is before the paths of a folder of the editor to make them paths of the graph."""


def _find(folder: str) -> _Found | None:
    """Return where the graph is that the files of a folder are in, when there is one."""
    try:
        root = find_work_tree(Path(folder))
    except UsageError:
        root = Path(folder)
    if not symbols_file(root).is_file():
        return None
    below = Path(folder).relative_to(root).as_posix()
    return _Found(root, "" if below == "." else f"{below}/")
