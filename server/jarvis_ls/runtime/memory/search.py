"""Finding what was remembered by words: no embeddings, linear in the size of the index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from jarvis_ls.runtime.memory.entry import MemoryHead
from jarvis_ls.runtime.memory.tokenizer import words

MAX_QUERY_WORDS = 200
"""Words of a query that are examined; a task may be a long text."""

_WEIGHTS = {"title": 3.0, "tags": 3.0, "category": 1.5, "summary": 1.5, "words": 1.0}
_SAME_TITLE = 0.7
"""Likeness of query and title from which they count as the same."""


def ranked(query: str, heads: Sequence[MemoryHead]) -> list[tuple[float, MemoryHead]]:
    """Return the heads that have to do with `query`, best first, each with its score.

    A rare word weighs more than a common one, one in the title or a tag more than one in the
    content. Of equals, the one more often used comes first, then the newer.
    """
    asked = list(dict.fromkeys(words(query)))[:MAX_QUERY_WORDS]
    if not asked:
        return []
    fields = [_fields(head) for head in heads]
    frequency = Counter(word for field in fields for word in set().union(*field.values()))
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
    found.sort(key=lambda scored: scored[1].time, reverse=True)
    found.sort(key=lambda scored: (round(scored[0], 6), scored[1].accessed), reverse=True)
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
