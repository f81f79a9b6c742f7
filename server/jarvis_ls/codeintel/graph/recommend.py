"""Places in the code that a task in words is about, without a model.

Words are compared with the parts of names (`read_file`, `readFile`), rare parts counting more. What
matches is weighed by PageRank over the files of the graph, personalised by the open files and by
what matched: code that the rest leans on comes first, near to what the user looks at. The weights
of the edges follow the repository map of aider.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.graph.records import Kind
from jarvis_ls.codeintel.graph.store import Located, SymbolStore
from jarvis_ls.core.words import Words

MOST = 10
"""Places that are recommended at most."""
_DAMPING = 0.85
_ROUNDS = 30
_MOST_DEFINERS = 5
"""Files that define a name beyond which its uses say nothing of which is meant."""
_PLACE_BYTES = 8
_OPEN, _MATCHED = 2.0, 1.0
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_LEAST_PREFIX = 4
_COMMON = frozenset(
    "a an and are as at be by can do does for from get has how if in into is it its make new not "
    "of on or set should so that the their them then there this to use want was what when where "
    "which why will with you add fix change code function file class method please".split()
)
_SKIPPED = frozenset({Kind.FILE, Kind.NAMESPACE})


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A place that is worth reading for a task."""

    path: str
    """Its file."""
    name: str
    """Qualified name of the symbol."""
    kind: Kind
    """What it is."""
    line: int
    """First line."""
    end_line: int
    """Last line."""
    signature: str
    """What is before its body."""
    score: float
    """How well it fits; the best has 1."""
    reasons: tuple[Words, ...]
    """Why it is recommended."""


def recommend(
    store: SymbolStore, task: str, open_files: Iterable[str] = (), most: int = MOST
) -> list[Recommendation]:
    """Return the places that a task is about, the best first.

    `open_files` are paths below the workspace that the user looks at. Without a word that is in a
    name, what the open files lean on is recommended.
    """
    opened = [file.id for path in open_files if (file := store.file(path)) is not None]
    every = [
        located
        for located in store.all_definitions()
        if located.definition.kind not in _SKIPPED and not located.definition.is_test
    ]
    matches = _matches(every, task)
    start: dict[int, float] = defaultdict(float)
    for number in opened:
        start[number] += _OPEN
    best = max((match.score for match in matches.values()), default=1.0)
    for key, hit in matches.items():
        start[key[0]] += _MATCHED * hit.score / best
    ranks, users = _ranks(store, start, {located.definition.name for located in _top(matches)})
    top = max(ranks.values(), default=1.0) or 1.0
    found = []
    for located in every:
        match = matches.get(located.key)
        if match is None and (matches or located.file.id in opened):
            continue
        rank = ranks.get(located.file.id, 0.0) / top
        used = users.get((located.file.id, located.definition.name), frozenset())
        score = (match.score / best if match else 0.1) * (0.3 + rank)
        score *= 1 + 0.3 * math.log1p(len(used))
        if match is None:
            score *= len(used & set(opened))
        if score > 0:
            found.append((score, located, _reasons(store, match, used, opened)))
    found.sort(key=lambda item: (-item[0], item[1].file.path, item[1].definition.line))
    return [_place(score / found[0][0], located, why) for score, located, why in found[:most]]


@dataclass(frozen=True, slots=True)
class _Match:
    located: Located
    score: float
    words: tuple[str, ...]


def _matches(every: Sequence[Located], task: str) -> dict[tuple[int, int], _Match]:
    """Return what has words of the task in its name or around it."""
    named = {name for name in _NAMES.findall(task) if len(name) > 1}
    terms = {part for name in named for part in parts_of_name(name)} - _COMMON
    if not terms:
        return {}
    split = {located.key: parts_of_name(located.definition.name) for located in every}
    counts = Counter(part for parts in split.values() for part in set(parts))
    found: dict[tuple[int, int], _Match] = {}
    for located in every:
        parts = split[located.key]
        around = parts_of_name(f"{located.definition.container} {located.file.path}")
        score, words = 0.0, []
        for term in sorted(terms):
            rare = math.log(1 + len(every) / (1 + counts[term]))
            if any(_is_same(term, part) for part in parts):
                score += rare * 2 / math.sqrt(len(parts))
                words.append(term)
            elif any(_is_same(term, part) for part in around):
                score += 0.3 * rare
        if located.definition.name in named and located.definition.name.lower() not in _COMMON:
            score *= 5
        if words:
            private = located.definition.name.startswith("_")
            found[located.key] = _Match(located, score * (0.7 if private else 1), tuple(words))
    return found


def _top(matches: Mapping[tuple[int, int], _Match]) -> list[Located]:
    ordered = sorted(matches.values(), key=lambda match: -match.score)
    return [match.located for match in ordered[: 4 * MOST]]


def parts_of_name(name: str) -> list[str]:
    """Return the words of a name in lower case: `HTTPServer_run` has `http`, `server` and `run`."""
    return [part.lower() for part in _PARTS.findall(name)]


def _is_same(term: str, part: str) -> bool:
    """Return whether two words are the same, or one with an ending."""
    if term == part:
        return True
    short, long = sorted((term, part), key=len)
    return len(short) >= _LEAST_PREFIX and long.startswith(short) and len(long) - len(short) <= 3


def _ranks(
    store: SymbolStore, start: Mapping[int, float], mentioned: set[str]
) -> tuple[dict[int, float], dict[tuple[int, str], frozenset[int]]]:
    """Return the rank of each file, and by defining file and name the files that use it."""
    weights: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    users: dict[tuple[int, str], set[int]] = defaultdict(set)
    for user, definer, name, size in store.links(_MOST_DEFINERS):
        weight = math.sqrt(max(1, size // _PLACE_BYTES))
        if name in mentioned or (len(name) >= 8 and len(parts_of_name(name)) > 1):
            weight *= 10
        if name.startswith("_"):
            weight *= 0.1
        weights[user][definer] += weight
        users[definer, name].add(user)
    files = [file.id for file in store.files()]
    total = sum(start.values())
    base = {n: start.get(n, 0.0) / total if total else 1 / max(1, len(files)) for n in files}
    return _page_rank(base, weights), {key: frozenset(held) for key, held in users.items()}


def _page_rank(
    base: Mapping[int, float], weights: Mapping[int, Mapping[int, float]]
) -> dict[int, float]:
    """Return personalised PageRank by power iteration; what leads nowhere leads to `base`."""
    sums = {node: sum(edges.values()) for node, edges in weights.items()}
    rank = dict(base)
    for _ in range(_ROUNDS):
        following = dict.fromkeys(base, 0.0)
        loose = 0.0
        for node, value in rank.items():
            edges = weights.get(node)
            if not edges:
                loose += value
                continue
            for other, weight in edges.items():
                following[other] += value * weight / sums[node]
        rank = {
            node: (1 - _DAMPING) * part + _DAMPING * (following[node] + loose * part)
            for node, part in base.items()
        }
    return rank


def _reasons(
    store: SymbolStore, match: _Match | None, used: frozenset[int], opened: Sequence[int]
) -> tuple[Words, ...]:
    found = []
    if match is not None:
        found.append(Words("its name has: {words}", words=", ".join(match.words)))
    near = sorted(store.file_by_id(number).path for number in used & set(opened))
    if near:
        found.append(Words("the open file {path} uses it", path=near[0]))
    if used:
        found.append(Words("files that use it: {count}", count=len(used)))
    return tuple(found)


def _place(score: float, located: Located, reasons: tuple[Words, ...]) -> Recommendation:
    definition = located.definition
    return Recommendation(
        located.file.path,
        definition.qualified,
        definition.kind,
        definition.line,
        definition.end_line,
        definition.signature,
        score,
        reasons,
    )
