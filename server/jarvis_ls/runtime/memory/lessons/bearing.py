"""Which memories of a project bear on files: those that name them, or are about their folders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath

from jarvis_ls.runtime.memory.entry import MemoryEntry, head_of
from jarvis_ls.runtime.memory.lessons.lesson import LEARNED, RULES, TOGETHER, named_files
from jarvis_ls.runtime.memory.search import ranked

_NAMED, _OWN, _FOLDER, _WORDS = 4.0, 2.0, 2.0, 1.0
"""What counts how much: that it names a file, that a person or a model wrote it, that it is about a
folder, that it has words in common."""


def entries_on(
    entries: Sequence[MemoryEntry], paths: Collection[str], words: str, most: int
) -> list[MemoryEntry]:
    """Return memories that bear on files, the nearest first. `words`, such as names of symbols,
    find more rules and notes of people; what the history taught must name a file or be about its
    folder."""
    by_words = ranked(words, [head_of(entry) for entry in entries])
    best = max((score for score, _ in by_words), default=1.0)
    likeness = {head.id: score / best for score, head in by_words}
    near = {str(PurePosixPath(path).parent) for path in paths} - {"."}
    folders = {str(folder) for path in paths for folder in PurePosixPath(path).parents} - {"."}
    scored = []
    for entry in entries:
        is_history = LEARNED in entry.tags and RULES not in entry.tags
        score = _WORDS * likeness.get(entry.id, 0.0)
        is_found = score > _WORDS / 2 and not is_history
        if any(path in paths for path in _files_of(entry)):
            score, is_found = score + _NAMED, True
        if entry.directory in (near if is_history else folders):
            score, is_found = score + _FOLDER, True
        if is_found:
            score += 0 if LEARNED in entry.tags else _OWN
            scored.append((score, entry.time, entry))
    scored.sort(key=lambda found: found[:2], reverse=True)
    return [entry for _, _, entry in scored[:most]]


def _files_of(entry: MemoryEntry) -> Iterable[str]:
    """Return the files that a memory is about; of partners, the one that has them."""
    named = named_files(entry.content)
    return named[:1] if TOGETHER in entry.tags else named
