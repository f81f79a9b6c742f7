"""Finding what was remembered by words: no embeddings, linear in the size of the index."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jarvis_ls.runtime.memory_entry import MemoryHead

MAX_QUERY_WORDS = 200
"""Words of a query that are looked at; a task may be a long text."""

_WEIGHTS = {"title": 3.0, "tags": 3.0, "category": 1.5, "summary": 1.5, "words": 1.0}
_SAME_TITLE = 0.7
"""Likeness of query and title from which they count as the same."""

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")
_COMMON_TEXT = """a an and are as at be by can could do for from has have how i if in into is it
its me my not of on or our please should so that the then there these this to use was we what when
where which will with would you your"""
_COMMON = frozenset(_COMMON_TEXT.split())


def words(text: str) -> list[str]:
    """The words of a text, small letters: parts of names too, pairs of characters in Chinese."""
    found: list[str] = []
    for run in _RUN.findall(text):
        for piece in _CJK.split(run):
            if not piece:
                continue
            parts = [part.lower() for part in _HUMP.split(piece)]
            found.extend(parts)
            if len(parts) > 1:
                found.append(piece.lower())
        for chinese in _CJK.findall(run):
            found.extend(chinese[i : i + 2] for i in range(max(1, len(chinese) - 1)))
    return [word for word in found if word not in _COMMON]


def ranked(query: str, heads: Sequence[MemoryHead]) -> list[tuple[float, MemoryHead]]:
    """The heads that have to do with `query`, best first, each with its score.

    A rare word weighs more than a common one, one in the title or a tag more than one in the
    content. Of equals, the one more often used comes first, then the newer.
    """
    asked = list(dict.fromkeys(words(query)))[:MAX_QUERY_WORDS]
    if not asked:
        return []
    fields = [_fields(head) for head in heads]
    frequency = Counter(word for one in fields for word in set().union(*one.values()))
    rarity = {w: math.log(1 + len(heads) / frequency[w]) for w in asked if frequency[w]}
    shape = _trigrams(query)
    found = []
    for head, sets in zip(heads, fields, strict=True):
        score = sum(
            _WEIGHTS[name] * rarity[word]
            for name, having in sets.items()
            for word in rarity
            if word in having
        )
        if _likeness(shape, head.title) > _SAME_TITLE:
            score += 10.0
        if score > 0:
            found.append((score, head))
    found.sort(key=lambda one: one[1].time, reverse=True)
    found.sort(key=lambda one: (round(one[0], 6), one[1].accessed), reverse=True)
    return found


def _fields(head: MemoryHead) -> dict[str, set[str]]:
    return {
        "title": set(words(head.title)),
        "tags": _all_words(head.tags),
        "category": {head.category.lower()},
        "summary": set(words(head.summary)),
        "words": set(head.words),
    }


def _all_words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words(text)}


def _trigrams(text: str) -> set[str]:
    even = " ".join(text.casefold().split())[:400]
    return {even[i : i + 3] for i in range(max(1, len(even) - 2))}


def _likeness(shape: set[str], title: str) -> float:
    other = _trigrams(title)
    return 2 * len(shape & other) / (len(shape) + len(other))
