"""Running the rules over one file.

The file is cut into items; each goes through the plan (`plan`). What comes out of an item depends
only on its text, its flags and the facts of the file, so it can be kept while the user edits
elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from jarvis_ls.codeintel.declarations import Declared, Facts
from jarvis_ls.codeintel.deep_nesting import DEEPEST, deep_parts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import item_facts, merge_items
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import (
    MAX_DEPTH,
    Node,
    Tree,
    leaves_out_context,
    nests_too_deep,
    nonsense,
    parse,
)
from jarvis_ls.codeintel.source import Source, line_start
from jarvis_ls.codeintel.test_files import counts_less
from jarvis_ls.codeintel.top_level_items import MOST_DECLARED, MOST_FUNCTIONS, Item, items
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.base.rule import Rule
from jarvis_ls.jsec.engine.page_text import LANGUAGE_NAMES
from jarvis_ls.jsec.engine.raw_report import finish
from jarvis_ls.jsec.engine.rule_index import Clock, ItemResult, Plan
from jarvis_ls.jsec.findings.failure_notes import (
    crowded_declarations,
    crowded_rules,
    failed_rules,
)
from jarvis_ls.jsec.findings.includes import Includes
from jarvis_ls.jsec.rules.registry import all_rules

HeaderFacts = Callable[[Facts], tuple[str, Sequence[Facts]]]
"""Given a file's own facts (its includes among them): the facts of the headers behind it, and
a digest of them."""

Key = tuple[bytes, int, int, tuple[int, ...]]
"""Text of an item (for what rules find with that before it on its line), what the grammar takes it
for (beside an error the same text may be something else), the flags that count, and how its errors
are read."""


@dataclass
class FileAnalysis:
    """What analysing one file gave."""

    findings: list[Finding]
    """In order of position, nothing suppressed or filtered yet."""
    facts: Facts
    """The file's own declarations."""
    notes: list[str]
    """What was not analysed, in words; empty when everything was."""
    context: str
    """Digest of the file's declarations; empty without a cache."""
    source: Source
    """What was analysed."""
    placed_functions: list[tuple[str, int, int]]
    """Name and bytes of each function, in order."""
    is_cut: bool = False
    """Whether the time was up before all rules had looked at all of it."""
    items: Sequence[Item] = ()
    """What the file was cut into: nodes of its tree, which is kept as long as they are."""

    @property
    def functions(self) -> list[tuple[str, int, int]]:
        """Name, first and last line of each function, in order."""
        line_of = self.source.line_of
        return [(name, line_of(start), line_of(end)) for name, start, end in self.placed_functions]


class ItemCache:
    """What is known of items by their text, kept between two analyses of one document."""

    def __init__(self) -> None:
        self.facts: dict[Key, tuple[Facts | None, bytes]] = {}
        """Facts of each item, and how they read without the functions it defines."""
        self.results: dict[Key, ItemResult] = {}
        self.sure = True
        """Whether the tree is certain to be that of the text. Else an item with an error may look
        otherwise in the end: what it gives is not kept."""
        self.shallow: set[tuple[int, bytes]] = set()
        """Kinds and texts of large items without an error that do not nest too deep."""
        self.unkept = 0
        """Of how many items the last analysis found something out that was not kept."""
        self._context = ""
        self._defined: dict[str, Declared] = {}

    def keeps(self, item: Item) -> bool:
        """Return whether what is learnt of an item holds for every item of its text."""
        return self.sure or not item.node.has_error

    def follow(self, context: str, defined: dict[str, Declared], facts: Facts) -> None:
        """Forget results that what changed around them may have changed.

        `context` represents all declarations but the functions the file defines. Of those
        every keystroke may break one: then only what names it, or a macro that does, is looked
        at again.
        """
        before, self._defined = self._defined, defined
        if context != self._context:
            self._context, self.results = context, {}
            return
        changed = {
            name for name in before.keys() | defined.keys() if before.get(name) != defined.get(name)
        }
        if not changed:
            return
        words = _naming(changed, facts)
        if "main" in changed or len(words) > _MANY_WORDS:  # rules ask whether there is a main
            self.results = {}
            return
        written = [word.encode() for word in words]
        self.results = {
            key: result
            for key, result in self.results.items()
            if not any(word in key[0] for word in written)
        }


_MANY_WORDS = 40


def _naming(functions: set[str], facts: Facts) -> set[str]:
    """`functions`, and macros that represent one of them."""
    names = set(functions)
    for macro in (*facts.macros, *facts.function_macros):
        if facts.alias_of(macro)[0] in functions:
            names.add(macro)
    return names


class Engine:
    """The rules, made ready to run."""

    def __init__(self, rules: Iterable[Rule] | None = None) -> None:
        """`rules` are those to run; by default all."""
        self.rules = list(all_rules().values() if rules is None else rules)
        self._plans: dict[LanguageName, Plan] = {}

    def analyse(
        self,
        source: Source,
        language: LanguageName,
        *,
        tree: Tree | None = None,
        headers: HeaderFacts | None = None,
        cache: ItemCache | None = None,
        deadline: float = math.inf,
    ) -> FileAnalysis:
        """Run the rules over one file.

        `tree` is its syntax tree when there is one already; `headers` gives the facts of
        included headers; `cache` holds what an earlier analysis of the same document found
        and is brought up to date. After `deadline`, in processor time, no rule looks at
        anything more: what was found till then is kept.
        """
        tree = tree if tree is not None else parse(source.data, language)
        if cache is not None and leaves_out_context(source.data, language):
            cache = ItemCache()
        in_test = counts_less(source, language)
        left_out: list[Node] = []
        found = list(items(tree.root_node, language, in_test=in_test, left_out=left_out))
        own, context, defined = _collect_facts(source.data, found, language, cache)
        facts = own
        included: Sequence[Facts] = ()
        if headers is not None:
            digest, included = headers(own)
            facts, context = own.merge(included), context + digest
        unit = Unit(source, language, facts)
        plan = self._plan(language)
        if cache is not None:
            cache.follow(context, defined, facts)
            context += hashlib.blake2b(repr(defined).encode(), digest_size=16).hexdigest()
        clock = Clock(deadline)
        results = _run_items(unit, plan, found, cache, clock)
        placed = [(item.start, raw) for item, result in results for raw in result.raws]
        whole = plan.run_whole(unit, results, clock)
        placed.extend((0, raw) for raw in whole.raws)
        failed = whole.failed.union(*(result.failed for _, result in results))
        crowded = {rule for _, result in results for rule in result.crowded}
        includes = Includes(source, language, tree.root_node, facts, included)
        return FileAnalysis(
            findings=finish(source, language, placed, self._by_id, includes),
            facts=own,
            notes=[
                *_nonsense_notes(source, language),
                *_declaration_notes(left_out),
                *_depth_notes(source, language, found, cache),
                *crowded_rules(crowded),
                *crowded_declarations(any(result.is_crowded for _, result in results)),
                *failed_rules(failed),
            ],
            context=context,
            source=source,
            placed_functions=[
                (name, item.start + start, item.start + end)
                for item, result in results
                for name, start, end in result.functions
            ],
            is_cut=whole.is_cut or any(result.is_cut for _, result in results),
            items=found,
        )

    @functools.cached_property
    def _by_id(self) -> dict[str, Rule]:
        return {rule.id: rule for rule in self.rules}

    def _plan(self, language: LanguageName) -> Plan:
        if language not in self._plans:
            chosen = [rule for rule in self.rules if language in rule.dialects]
            self._plans[language] = Plan(chosen, language)
        return self._plans[language]


def _run_items(
    unit: Unit, plan: Plan, found: list[Item], cache: ItemCache | None, clock: Clock
) -> list[tuple[Item, ItemResult]]:
    if cache is None:
        return [(item, plan.run(unit, item, clock)) for item in found]
    data = unit.source.data
    results = []
    kept: dict[Key, ItemResult] = {}
    cache.unkept = 0
    for item in found:
        flags = item.in_test + 2 * item.foreign
        # fixes are laid out by the line, and the parser leaves out macros before an item
        before = data[line_start(data, item.start) : item.start]
        key = (
            data[item.start : item.end] + b"\0" + before,
            item.node.kind_id,
            flags,
            _reading(item),
        )
        known = cache.results.get(key)
        result = plan.run(unit, item, clock) if known is None else known
        if known is not None or cache.keeps(item):
            kept[key] = result
        else:
            cache.unkept += 1
        results.append((item, result))
    cache.results = kept
    return results


def _reading(item: Item) -> tuple[int, ...]:
    """Return kinds and places of what is beside errors in an item; nothing when it has none.

    How the parser recovers from an error depends on what is around the item. What has no error
    is what its text says.
    """
    found: list[int] = []
    stack = [item.node] if item.node.has_error else []
    while stack:
        for child in stack.pop().children:
            found += (child.kind_id, child.start_byte - item.start, child.end_byte - item.start)
            if child.has_error:
                stack.append(child)
    return tuple(found)


def _collect_facts(
    data: bytes, found: list[Item], language: LanguageName, cache: ItemCache | None
) -> tuple[Facts, str, dict[str, Declared]]:
    """Return the file's declarations; a digest of all a check of an item may learn from them but
    for the functions the file defines; these functions.
    """
    if cache is None:
        return merge_items(item_facts(item, language) for item in found), "", {}
    parts: list[Facts | None] = []
    defined: dict[str, Declared] = {}
    kept: dict[Key, tuple[Facts | None, bytes]] = {}
    context = hashlib.blake2b(digest_size=16)
    for item in found:
        flags = item.stray + 2 * item.foreign
        key = (data[item.start : item.end], item.node.kind_id, flags, _reading(item))
        known = cache.facts.get(key)
        found_out = _facts_of(item, language, key[0]) if known is None else known
        if known is not None or cache.keeps(item):
            kept[key] = found_out
        part, rest = found_out
        if rest:  # what the same text declares depends on how it is read, and where it is
            is_text = part is not None and not part.defined
            context.update(rest + repr(key[1:] if is_text else key[1:3]).encode())
        if part is not None and part.defined:
            defined.update(part.functions)
        parts.append(part)
    cache.facts = kept
    return merge_items(parts), context.hexdigest(), defined


def _facts_of(item: Item, language: LanguageName, written: bytes) -> tuple[Facts | None, bytes]:
    """Return what an item declares, and what of it others may see: its text, or of one that defines
    a function, whose body is nobody's business, the facts themselves."""
    part = item_facts(item, language)
    if part is None:
        return None, b""
    if not part.defined:
        return part, written
    return part, repr(replace(part, functions={}, defined=frozenset())).encode()


def _nonsense_notes(source: Source, language: LanguageName) -> list[str]:
    end = nonsense(source.data, language)
    if end is None:
        return []
    template = "the file is hardly {language}; what is behind line {line} was not analysed"
    line = source.data.count(b"\n", 0, end) + 1
    return [Words(template, language=LANGUAGE_NAMES[language], line=line)]


def _declaration_notes(left_out: Sequence[Node]) -> list[str]:
    """Say from where on declarations and functions are left out."""
    lines: dict[bool, int] = {}
    for node in left_out:
        lines.setdefault(not node.type.startswith("function"), node.start_point.row + 1)
    notes = {
        True: "a declaration of more than {most} names, or behind as many, was not analysed: line "
        "{line}",
        False: "only the first {most} functions of this file were analysed: split it up from line "
        "{line} on to have the others analysed",
    }
    most = {True: MOST_DECLARED, False: MOST_FUNCTIONS}
    return [Words(notes[kind], most=most[kind], line=line) for kind, line in lines.items()]


def _depth_notes(
    source: Source, language: LanguageName, found: list[Item], cache: ItemCache | None
) -> list[str]:
    if deep_parts(source.data, language):
        template = "code inside more than {levels} brackets was not analysed"
        return [Words(template, levels=DEEPEST)]
    known = frozenset() if cache is None else cache.shallow
    shallow = set()
    for item in found:
        if item.end - item.start <= 2 * MAX_DEPTH:
            continue
        key = item.node.kind_id, source.data[item.start : item.end]
        if key not in known and nests_too_deep(item.node):
            template = "code nested deeper than {levels} levels was not analysed"
            return [Words(template, levels=MAX_DEPTH)]
        if not item.node.has_error:
            shallow.add(key)
    if cache is not None:
        cache.shallow = shallow
    return []
