"""What agents remember: for this session, for this project, for this user everywhere.

    memory = Memory(user_folder(), project_folder, trusted=True)
    saved = await memory.save("project_long_term", "Keys are read in keys.c only.", ["keys"])
    for entry in await memory.retrieve(["project_long_term"], query="where do keys come from"):
        print(entry.title, entry.content)

To join an agent to it: put the `Memory` into `ToolContext.services["memory"]` (the memory tools
look there), add `await memory.activated(task, directory)` to the first message of a task,
`await memory.guide(tool_names)` (or `guide_now`, which does not wait) to the addon prompt, and
subscribe a `MemorySaving` to the agent's hooks. Long-term entries are files (see `memory_entry`),
`.jarvis/memory/` in the project and `~/.jarvis/memory/` for the user; short-term ones live in
this process.

Two layers: an index of heads (title, summary, category, time, use) decides what matters, and
only the content of what does is read. Notes are put before a model as information that may be
wrong, never as orders; whatever they make a model want passes the permission gate like all else.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import STATE, state_folder
from jarvis_ls.runtime.memory.activation import Limits, about, bearing_on, mentioned
from jarvis_ls.runtime.memory.entry import (
    KINDS,
    Kind,
    MemoryEntry,
    MemoryHead,
    changed,
    head_of,
    new_entry,
)
from jarvis_ls.runtime.memory.folder import MemoryFolder, Problem
from jarvis_ls.runtime.memory.lessons.bearing import entries_on
from jarvis_ls.runtime.memory.search import ranked
from jarvis_ls.runtime.memory.text import Activated, guide_text
from jarvis_ls.runtime.tools.workspace_extras import with_state

METHODOLOGY = "methodology"
"""Category of entries that say how a kind of problem is gone about."""
LONG_TERM: tuple[Kind, ...] = ("project_long_term", "global_long_term")


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of something to remember."""

    entry: MemoryEntry
    known: bool
    """Whether the same was remembered already; then it only got the new tags."""


class Memory:
    """The three kinds of memory of one project, user and process."""

    def __init__(
        self,
        home: Path,
        folder: Path | None = None,
        *,
        trusted: bool = False,
        limits: Limits | None = None,
        redact: Callable[[str], str] | None = None,
        central: Path | None = None,
    ) -> None:
        """`home` is the user's state folder, `folder` the project; without one there is no
        project memory. That of a folder the user does not trust is never put before a model
        by itself. `redact` takes secrets out of what is saved. `central` is a folder of
        methodologies that a team shares; they are only read."""
        self.folder = Path(os.path.realpath(folder)) if folder is not None else None
        self.trusted = trusted
        self._limits = limits or Limits()
        self._redact = redact or (lambda text: text)
        self._short: dict[str, dict[str, MemoryEntry]] = {}
        self._uses: Counter[str] = Counter()
        self._seen: dict[Kind, Counter[str]] = {}
        home = Path(os.path.realpath(home))
        own = Path(os.path.realpath(home / "memory"))
        self._folders: dict[Kind, MemoryFolder] = {
            "global_long_term": MemoryFolder("global_long_term", own, home)
        }
        self._central = (
            MemoryFolder("global_long_term", central, home) if central is not None else None
        )
        if self.folder is not None and with_state([self.folder], home):
            project = self.folder
            self._folders["project_long_term"] = MemoryFolder(
                "project_long_term",
                project / STATE / "memory",
                home,
                lambda: state_folder(project, "memory"),
            )

    @property
    def problems(self) -> list[Problem]:
        """Files the last look left out, with the reason."""
        return [problem for folder in self._folders.values() for problem in folder.problems]

    async def save(
        self,
        kind: Kind,
        content: str,
        tags: Iterable[str] = (),
        *,
        title: str = "",
        summary: str = "",
        category: str = "",
        directory: str = "",
        session: str = "",
    ) -> Saved:
        """Remember something; the same content is not kept twice.

        Raises `UsageError` for an empty or too long content, an unknown kind, or a directory
        outside the project, `JarvisError` when it cannot be written.
        """
        entry = new_entry(
            kind,
            self._redact(content),
            tags=tags,
            title=self._redact(title),
            summary=self._redact(summary),
            category=category,
            directory=self._directory(directory),
            session=session,
        )
        if kind == "short_term":
            return self._save_short(entry)
        entry, known = await asyncio.to_thread(self._folder(kind).add, entry)
        self._seen.setdefault(kind, Counter()).update(() if known else entry.tags)
        return Saved(entry, known)

    async def heads(
        self, kinds: Sequence[Kind] = KINDS, *, tags: Iterable[str] = (), session: str = ""
    ) -> list[MemoryHead]:
        """Return the index, newest first; with `tags`, entries that have one of them."""
        found: list[MemoryHead] = []
        for kind in dict.fromkeys(kinds):
            if kind == "short_term":
                found.extend(
                    head_of(entry, self._uses[entry.id]) for entry in self._of(session).values()
                )
            elif kind in self._folders:
                heads = await asyncio.to_thread(self._heads, kind)
                self._seen[kind] = Counter(tag for head in heads.values() for tag in head.tags)
                found.extend(heads.values())
            elif kind not in KINDS:
                raise UsageError(
                    "unknown memory type {kind}; known types: {kinds}",
                    kind=repr(kind),
                    kinds=", ".join(KINDS),
                )
        wanted = {tag.casefold() for tag in tags}
        if wanted:
            found = [h for h in found if wanted & {tag.casefold() for tag in h.tags}]
        return sorted(found, key=lambda head: (head.time, head.id), reverse=True)

    async def read(self, id: str, session: str = "") -> MemoryEntry:
        """One entry. Raises `UsageError` when there is none that can be read."""
        if id in self._of(session):
            return self._of(session)[id]
        for folder in (*self._folders.values(), self._central):
            if folder is not None and (folder.path / f"{id}.json").exists():
                return await asyncio.to_thread(folder.read, id)
        raise UsageError("there is no memory {id}", id=id)

    async def retrieve(
        self,
        kinds: Sequence[Kind] = KINDS,
        tags: Sequence[str] = (),
        query: str = "",
        *,
        limit: int = 10,
        session: str = "",
    ) -> list[MemoryEntry]:
        """Entries of these kinds that have one of the tags and to do with the query.

        Best first: by words when there is a query, else by how many tags fit, then the newest.
        """
        heads = await self.heads(kinds, tags=tags, session=session)
        if query.strip():
            heads = [head for _, head in await asyncio.to_thread(ranked, query, heads)]
        elif tags:
            wanted = {tag.casefold() for tag in tags}
            heads.sort(key=lambda h: -len(wanted & {t.casefold() for t in h.tags}))
        return await self._contents(heads[: max(0, limit)], session)

    async def recall(self, query: str, limit: int = 5, *, session: str = "") -> list[MemoryEntry]:
        """Return the entries relevant to `query`, of all kinds, best first."""
        return await self.retrieve(query=query, limit=limit, session=session)

    async def for_directory(self, directory: str | Path) -> list[MemoryHead]:
        """Return the entries about a project folder or those above it, nearest first."""
        heads = await self.heads(["project_long_term"])
        return about(heads, self._directory(str(directory)))

    async def on_files(
        self, paths: Collection[str], words: str = "", *, limit: int = 10
    ) -> list[MemoryEntry]:
        """Return the project's entries that bear on files, given as paths in it, nearest first;
        `words` find more. None in a folder that the user does not trust."""
        return await asyncio.to_thread(self.on_files_now, paths, words, limit)

    def on_files_now(
        self, paths: Collection[str], words: str = "", limit: int = 10
    ) -> list[MemoryEntry]:
        """`on_files`, off the event loop."""
        if not self.trusted or "project_long_term" not in self._folders:
            return []
        heads = list(self._heads("project_long_term").values())
        entries, _ = self._read_all(heads, "", None)
        found = entries_on(entries, paths, words, limit)
        self._folders["project_long_term"].used(entry.id for entry in found)
        return found

    async def activate(
        self,
        task: str,
        directory: str | Path = "",
        *,
        session: str = "",
        methodologies: bool = True,
    ) -> Activated:
        """Return the entries relevant to a new task.

        They are found by its words and by its folder and those it names, and include the user's
        own.

        Each once, within the limits; the project's only when the folder is trusted, and
        `methodologies` only when they are wanted.
        """
        limits = self._limits
        kinds: list[Kind] = ["short_term", "global_long_term"]
        if self.trusted:
            kinds.append("project_long_term")
        heads = await self.heads(kinds, session=session)
        if not methodologies:
            heads = [head for head in heads if head.category != METHODOLOGY]
        places = [self._directory(str(directory)), *mentioned(task, self._directory)]
        chosen = await asyncio.to_thread(bearing_on, task, heads, places, limits)
        entries = await self._contents(chosen, session, limits.characters)
        full = {entry.id for entry in entries}
        rest = [head for head in (*chosen, *heads) if head.id not in full]
        rest = list({head.id: head for head in rest}.values())[: limits.titles]
        return Activated(tuple(entries), tuple(rest), tuple(self.problems))

    async def activated(
        self,
        task: str,
        directory: str | Path = "",
        *,
        session: str = "",
        methodologies: bool = True,
    ) -> str:
        """`activate` as the text to put before the model; empty when nothing is remembered."""
        found = await self.activate(task, directory, session=session, methodologies=methodologies)
        return found.text()

    async def tags(self, session: str = "") -> dict[str, int]:
        """All tags with how many entries have them, the most frequent first."""
        counted: Counter[str] = Counter()
        for head in await self.heads(session=session):
            counted.update(head.tags)
        return dict(sorted(counted.items(), key=lambda counter: (-counter[1], counter[0])))

    async def guide(self, tools: Collection[str], session: str = "") -> str:
        """Return the section about memory in the addon prompt: how to use its tools, and the tags.

        Empty when the agent has no memory tool.
        """
        await self.heads(session=session)
        return self.guide_now(tools, session)

    def guide_now(self, tools: Collection[str], session: str = "") -> str:
        """`guide` without a look at the files: with the tags last seen."""
        counted = Counter(tag for entry in self._of(session).values() for tag in entry.tags)
        for kind, seen in self._seen.items():
            if self.trusted or kind != "project_long_term":
                counted.update(seen)
        return guide_text(tools, counted)

    async def change(
        self,
        id: str,
        *,
        content: str | None = None,
        title: str | None = None,
        tags: Iterable[str] | None = None,
    ) -> MemoryEntry:
        """Give an entry another content, title or tags; a person's doing. Raises `UsageError`."""
        entry = await self.read(id)
        fresh = new_entry(
            entry.kind,
            entry.content if content is None else self._redact(content),
            tags=entry.tags if tags is None else tags,
            title=entry.title if title is None else self._redact(title),
        )
        entry = changed(entry, content=fresh.content, title=fresh.title, tags=fresh.tags)
        if content is not None:
            entry = replace(entry, summary=fresh.summary)
        await asyncio.to_thread(self._folder(entry.kind).put, entry)
        return entry

    async def clear(
        self,
        kinds: Sequence[Kind],
        *,
        tags: Sequence[str] = (),
        ids: Sequence[str] = (),
        session: str = "",
        archive: bool = True,
    ) -> list[str]:
        """Forget entries of these kinds: all, or those with one of the tags or ids.

        Long-term ones go to the folder `archive` beside them; with `archive` false they are
        gone for good. Gives the ids of what was there.
        """
        heads = await self.heads(kinds, session=session)
        if tags or ids:
            wanted = {tag.casefold() for tag in tags}
            heads = [h for h in heads if h.id in ids or wanted & {tag.casefold() for tag in h.tags}]
        gone = [h.id for h in heads if self._of(session).pop(h.id, None) is not None]
        for kind in LONG_TERM:
            those = [head.id for head in heads if head.kind == kind]
            if those:
                folder = self._folder(kind)
                gone += await asyncio.to_thread(folder.remove, those, archive=archive)
        return gone

    def end_session(self, session: str) -> None:
        """Forget what was remembered for a session only."""
        self._short.pop(session, None)

    def folder_of(self, kind: Kind) -> MemoryFolder:
        """Return the folder of a long-term kind. Raise `UsageError` when there is no such kind."""
        return self._folder(kind)

    def _folder(self, kind: Kind) -> MemoryFolder:
        if kind not in self._folders:
            if kind == "project_long_term":
                raise UsageError("there is no project folder to store it in")
            raise UsageError("{kind} is not stored in a folder", kind=kind)
        return self._folders[kind]

    def _of(self, session: str) -> dict[str, MemoryEntry]:
        return self._short.get(session, {})

    def _save_short(self, entry: MemoryEntry) -> Saved:
        known = self._short.setdefault(entry.session, {})
        said = head_of(entry).digest
        for item in known.values():
            if head_of(item).digest == said:
                known[item.id] = changed(item, tags=tuple(dict.fromkeys((*item.tags, *entry.tags))))
                return Saved(known[item.id], True)
        id = entry.id
        while id in known:
            id += "_"
        known[id] = replace(entry, id=id)
        return Saved(known[id], False)

    async def _contents(
        self, heads: Sequence[MemoryHead], session: str, room: int | None = None
    ) -> list[MemoryEntry]:
        """Return the entries of `heads` that can be read and fit; each is counted as used."""
        entries, used = await asyncio.to_thread(self._read_all, heads, session, room)
        self._uses.update(used.get("short_term", ()))
        for kind in LONG_TERM:
            if used.get(kind):
                await asyncio.to_thread(self._folders[kind].used, used[kind])
        return entries

    def _read_all(
        self, heads: Sequence[MemoryHead], session: str, room: int | None
    ) -> tuple[list[MemoryEntry], dict[Kind, list[str]]]:
        entries: list[MemoryEntry] = []
        used: dict[Kind, list[str]] = {}
        for head in heads:
            try:
                if head.kind == "short_term":
                    entry = self._of(session)[head.id]
                else:
                    entry = self._read(head)
            except (UsageError, KeyError):  # gone since; `problems` names a damaged one
                continue
            if room is not None:
                if len(entry.content) > room:
                    continue
                room -= len(entry.content)
            entries.append(entry)
            used.setdefault(head.kind, []).append(head.id)
        return entries, used

    def _heads(self, kind: Kind) -> dict[str, MemoryHead]:
        """Return the index of a kind; to the user's everywhere belong the team's methodologies."""
        heads = self._folders[kind].heads()
        if kind != "global_long_term" or self._central is None:
            return heads
        known = {head.digest for head in heads.values()}
        shared = {
            id: replace(head, category=METHODOLOGY)
            for id, head in self._central.heads().items()
            if id not in heads and head.digest not in known
        }
        return {**heads, **shared}

    def _read(self, head: MemoryHead) -> MemoryEntry:
        folder = self._folders[head.kind]
        if self._central is not None and not (folder.path / f"{head.id}.json").exists():
            return self._central.read(head.id)
        return folder.read(head.id)

    def _directory(self, directory: str) -> str:
        """Return a folder of the project as entries name it: relative, forward slashes, '' for
        all.
        """
        if not directory or directory == ".":
            return ""
        if self.folder is None:
            raise UsageError("there is no project folder")
        real = Path(os.path.normpath(self.folder / directory))
        if real == self.folder:
            return ""
        if self.folder not in real.parents:
            raise UsageError("{directory} is outside the project", directory=directory)
        return real.relative_to(self.folder).as_posix()
