"""Tidying long-term memory: the same said twice, and notes that overlap.

    organiser = Organiser(memory, group)          # group None: exact duplicates only
    report = await organiser.run("project_long_term", min_overlap=2, dry_run=True)

Notes whose text is the same become one without a model. Notes that share at least `min_overlap`
tags are given to a model, those that share most first, which writes one note for all of them.
The new note is on the disk before the old ones go, and they go to the archive, not away. What
fails for one group is in the report, and the others continue.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.model_json import read_model_json
from jarvis_ls.runtime.base.messages import System, User
from jarvis_ls.runtime.llm.model_group import ModelGroup
from jarvis_ls.runtime.llm.platforms.base import Request
from jarvis_ls.runtime.memory.entry import (
    MAX_CONTENT,
    Kind,
    MemoryEntry,
    MemoryHead,
    changed,
    from_values,
    is_id,
    new_entry,
    to_file,
)
from jarvis_ls.runtime.memory.memory import LONG_TERM, Memory
from jarvis_ls.runtime.memory.text import PROMPTS

MAX_GROUP = 8
"""Notes merged at once."""
MAX_NOTES = 2_000
"""Notes whose tags are compared, the newest."""
MAX_IMPORT = 100_000_000
_MERGED = re.compile(r"<merged_memory>(.*?)(?:</merged_memory>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Group:
    """Notes to become one."""

    heads: tuple[MemoryHead, ...]
    """Newest first."""
    tags: tuple[str, ...]
    """Those they share; empty when their text is the same."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the notes."""
        return tuple(head.id for head in self.heads)


@dataclass
class Report:
    """What was done, or would be."""

    duplicates: list[Group] = field(default_factory=list)
    overlapping: list[Group] = field(default_factory=list)
    made: list[MemoryEntry] = field(default_factory=list)
    """The new notes; empty in a dry run."""
    failed: list[str] = field(default_factory=list)
    """What could not be done, in words."""
    left_out: int = 0
    """Notes beyond `MAX_NOTES`, which were not compared."""


@dataclass
class Imported:
    """What came of an import."""

    added: list[str] = field(default_factory=list)
    """Ids."""
    replaced: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Ids that are there already, and were left as they are."""
    wrong: list[str] = field(default_factory=list)
    """Records that are no memories, in words."""


class Organiser:
    """Tidies the memory of one project and user."""

    def __init__(self, memory: Memory, group: ModelGroup | None = None) -> None:
        self._memory = memory
        self._group = group

    async def plan(self, kind: Kind, min_overlap: int = 2) -> Report:
        """Plan which notes to merge: first equal texts, then by the number of shared tags."""
        _check(kind)
        if min_overlap < 1:
            raise UsageError("notes must share at least one tag to be merged")
        heads = await self._memory.heads([kind])
        report = Report(left_out=max(0, len(heads) - MAX_NOTES))
        heads = heads[:MAX_NOTES]
        report.duplicates = _same(heads)
        taken = {id for group in report.duplicates for id in group.ids[1:]}
        rest = [head for head in heads if head.id not in taken]
        report.overlapping = await asyncio.to_thread(_overlapping, rest, min_overlap)
        return report

    async def run(
        self,
        kind: Kind,
        *,
        min_overlap: int = 2,
        dry_run: bool = False,
        tell: Callable[[str], None] | None = None,
    ) -> Report:
        """Do what `plan` says; nothing is changed in a dry run. Raises `UsageError`."""
        report = await self.plan(kind, min_overlap)
        if dry_run:
            return report
        tell = tell or (lambda _: None)
        for group in report.duplicates:
            await self._one(group, report, self._join)
        if report.overlapping and self._group is None:
            report.failed.append(
                f"{len(report.overlapping)} groups of overlapping notes were left as they are: "
                "merging them needs a model."
            )
            return report
        for number, group in enumerate(report.overlapping, 1):
            tell(f"Merging {number} of {len(report.overlapping)}: {', '.join(group.tags)}")
            await self._one(group, report, self._merge)
        return report

    async def _one(self, group: Group, report: Report, make: Any) -> None:
        try:
            entry = await make(group)
            await self._replace(group, entry)
            report.made.append(entry)
        except (JarvisError, ValueError) as error:
            report.failed.append(f"{', '.join(group.ids)}: {error}")

    async def _join(self, group: Group) -> MemoryEntry:
        """Return the newest of notes that say the same, with the tags of all."""
        newest = await self._memory.read(group.ids[0])
        tags = dict.fromkeys(tag for head in group.heads for tag in head.tags)
        return changed(newest, tags=tuple(tags), merged_from=group.ids[1:])

    async def _merge(self, group: Group) -> MemoryEntry:
        """Merge overlapping notes with a model."""
        assert self._group is not None
        entries = [await self._memory.read(id) for id in group.ids]
        notes = [
            {"time": e.time, "title": e.title, "tags": list(e.tags), "content": e.content}
            for e in entries
        ]
        prompt = (PROMPTS / "memory_merge.md").read_text(encoding="utf-8")
        asked = json.dumps(notes, ensure_ascii=False, indent=1)
        answer = await self._group.ask(Request([System(prompt), User(f"The notes:\n{asked}")]))
        title, content, tags = _answer(answer.text)
        shared = {head.directory for head in group.heads}
        entry = new_entry(
            entries[0].kind,
            content,
            tags=tags or group.tags,
            title=title,
            category=entries[0].category,
            directory=shared.pop() if len(shared) == 1 else "",
        )
        return changed(entry, merged_from=group.ids)

    async def _replace(self, group: Group, entry: MemoryEntry) -> None:
        folder = self._memory.folder_of(entry.kind)
        if entry.id in group.ids:
            await asyncio.to_thread(folder.put, entry)
        else:
            entry, known = await asyncio.to_thread(folder.add, entry)
            if known and entry.id not in group.ids:
                return
        gone = [id for id in group.ids if id != entry.id]
        await asyncio.to_thread(folder.remove, gone)


async def export_memories(
    memory: Memory, path: Path, kinds: Sequence[Kind] = LONG_TERM, tags: Iterable[str] = ()
) -> int:
    """Write memories to a JSON file, those with one of the tags when tags are given; how many.

    Raises `JarvisError` when it cannot be written; a file that was there then stays.
    """
    for kind in kinds:
        _check(kind)
    heads = await memory.heads(kinds, tags=tags)
    records = [json.loads(to_file(await memory.read(head.id))) for head in heads]
    text = json.dumps({"memories": records}, ensure_ascii=False, indent=2) + "\n"
    await asyncio.to_thread(replace_file, path, text.encode("utf-8", "replace"))
    return len(records)


async def import_memories(memory: Memory, path: Path, *, overwrite: bool = False) -> Imported:
    """Take memories from a file that `export_memories` wrote.

    One whose id is there already is left out, or replaced with `overwrite`. Records that are no
    memories are named, and the others still taken. Raises `UsageError` when the file is none.
    """
    try:
        data = json.loads(await asyncio.to_thread(read_regular, path, limit=MAX_IMPORT))
    except (SkippedFile, ValueError, RecursionError) as error:
        raise UsageError("{path} cannot be imported: {why}", path=path, why=error) from None
    records = data.get("memories") if isinstance(data, dict) else data
    if not isinstance(records, list):
        raise UsageError("{path} does not contain a list of memories", path=path)
    result = Imported()
    for number, record in enumerate(records, 1):
        try:
            await asyncio.to_thread(_import_one, memory, record, overwrite, result)
        except (JarvisError, ValueError) as error:
            result.wrong.append(f"record {number}: {error}")
    return result


def _import_one(memory: Memory, record: Any, overwrite: bool, result: Imported) -> None:
    if not isinstance(record, dict):
        raise ValueError("it is not a table")
    kind, id = record.get("type"), record.get("id")
    if kind not in LONG_TERM:
        raise ValueError(f"its type is none of {', '.join(LONG_TERM)}")
    if not isinstance(id, str) or not is_id(id):
        raise ValueError("it has no id")
    entry = from_values(record, id, kind)
    if len(entry.content) > MAX_CONTENT:
        raise ValueError(f"its content has more than {MAX_CONTENT} characters")
    folder = memory.folder_of(kind)
    if not (folder.path / f"{id}.json").exists():
        added, known = folder.add(entry)
        (result.skipped if known else result.added).append(added.id)
    elif overwrite:
        folder.put(entry)
        result.replaced.append(id)
    else:
        result.skipped.append(id)


def _same(heads: Iterable[MemoryHead]) -> list[Group]:
    by_text: dict[tuple[str, str], list[MemoryHead]] = defaultdict(list)
    for head in heads:
        by_text[head.digest, head.directory].append(head)
    return [Group(tuple(those), ()) for those in by_text.values() if len(those) > 1]


def _overlapping(heads: Sequence[MemoryHead], least: int) -> list[Group]:
    """Group notes that share at least `least` tags, the most shared first."""
    tags = {head.id: frozenset(tag.casefold() for tag in head.tags) for head in heads}
    having: dict[str, list[int]] = defaultdict(list)
    for number, head in enumerate(heads):
        for tag in tags[head.id]:
            having[tag].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in having.values():
        shared.update(combinations(numbers, 2))
    taken: set[int] = set()
    found: list[tuple[int, Group]] = []
    for (a, b), count in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        if count < least or a in taken or b in taken:
            continue
        common = tags[heads[a].id] & tags[heads[b].id]
        group = [a, b]
        for c in range(len(heads)):
            if len(group) >= MAX_GROUP:
                break
            if c not in (a, b) and c not in taken and common <= tags[heads[c].id]:
                group.append(c)
        taken.update(group)
        members = tuple(heads[n] for n in sorted(group))
        names = tuple(tag for tag in members[0].tags if tag.casefold() in common)
        found.append((count, Group(members, names)))
    return [group for _, group in found]


def _answer(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Title, content and tags of a model's answer. Raises `ValueError`."""
    match = _MERGED.search(text)
    try:
        data = read_model_json(match[1] if match else text)
    except ValueError as error:
        raise ValueError(f"the model's answer cannot be read: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("content"), str):
        raise ValueError("the model's answer has no content")
    if not data["content"].strip():
        raise ValueError("the model's answer is empty")
    tags = data.get("tags", [])
    tags = tags if isinstance(tags, list) else []
    title = data.get("title", "")
    return (
        title if isinstance(title, str) else "",
        data["content"],
        tuple(tag for tag in tags if isinstance(tag, str)),
    )


def _check(kind: Kind) -> None:
    if kind not in LONG_TERM:
        raise UsageError(
            "only {kinds} can be organised, not {kind}", kinds=" and ".join(LONG_TERM), kind=kind
        )
