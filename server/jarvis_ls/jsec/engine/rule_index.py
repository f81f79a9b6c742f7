"""Which rule wants what, and asking it of one item.

One combined query finds every place any rule asked for; most of them are recognised by their bytes,
or by a look at the node, to concern no rule.
"""

from __future__ import annotations

import logging
import math
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel.calls import invoked_name
from jarvis_ls.codeintel.functions import (
    Function,
    FunctionIndex,
    Unit,
    alive,
    asked_of_items,
    call_at,
    dead_ranges,
)
from jarvis_ls.codeintel.languages import LanguageName, field_id
from jarvis_ls.codeintel.parse import Node, Query, captures, compile_query
from jarvis_ls.codeintel.rare_code import rare_ranges
from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.core.regex import WordSet
from jarvis_ls.jsec.base.match_site import Placed, Site, WholeUnit
from jarvis_ls.jsec.base.rule import Calls, Functions, Nodes, Report, Rule, WholeFile
from jarvis_ls.jsec.engine.raw_report import Raw, raw_of
from jarvis_ls.jsec.findings.failure_notes import MOST_ALIKE, MOST_BYTES, MOST_PLACES

log = logging.getLogger(__name__)

_PLACES: dict[LanguageName, str] = {
    "c": "(function_definition) @function [(preproc_if) (preproc_elif)] @preproc",
    "cpp": "(function_definition) @function [(preproc_if) (preproc_elif)] @preproc",
    "rust": "(function_item) @function",
}
"""What is asked of every item: functions, and directives that may remove code; beside it calls, and
what `asked_of_items` names."""

_CALLS = "(call_expression) @site"
_LOOKS = 64
"""Looks at places between two looks at the clock."""

Holds = Callable[[Node], bool]
Asked = tuple[Functions, list[Rule]]
"""What is asked about functions, and who asks."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What looking at one item gave."""

    raws: list[Raw]
    """Reports, in order of position."""
    functions: list[Placed]
    """Its functions, in order."""
    failed: frozenset[str] = frozenset()
    """Rules that raised, which may have found more."""
    is_cut: bool = False
    """Whether the time was up before all rules had looked at it."""
    crowded: frozenset[str] = frozenset()
    """Rules that found more than are told."""
    is_crowded: bool = False
    """Whether rules examined only the first of many places of one kind."""


class Plan:
    """Which rule wants what, for one language."""

    def __init__(self, rules: list[Rule], language: LanguageName) -> None:
        self.calls: dict[str, list[Rule]] = {}
        self.methods: dict[str, list[Rule]] = {}
        self.functions: dict[Functions, list[Rule]] = {}
        self.whole: list[tuple[Rule, tuple[str, ...]]] = []
        self._captures = {_CALLS: "call"}
        self._captures |= {
            f"{pattern} @site": kind for kind, pattern in asked_of_items(language).items()
        }
        """The name that each pattern is captured under."""
        self.sites: dict[str, list[Rule]] = {}
        """Rules by the capture that represents their pattern."""
        self.by_operator: dict[str, dict[str, list[tuple[Holds, list[Rule]]]]] = {}
        """By such a capture and an operator or a name that is called (empty for any), what is asked
        of sites with it, and the rules behind that question."""
        self._named: set[str] = set()
        """The captures whose sites are chosen by name."""
        for rule in rules:
            query = rule.guess
            if query is None:
                continue
            if isinstance(query, Calls):
                target = self.methods if query.methods else self.calls
                for name in query.names:
                    target.setdefault(name, []).append(rule)
            elif isinstance(query, Functions):
                self.functions.setdefault(query, []).append(rule)
            elif isinstance(query, WholeFile):
                self.whole.append((rule, query.containing))
            elif query.patterns[language]:
                self._add_sites(rule, query, query.patterns[language])
        self.triggers: dict[str, list[Asked]] = {}
        """By the name of a function, who asks for functions that call it."""
        for asked in self.functions.items():
            for name in asked[0].calling:
                self.triggers.setdefault(name, []).append(asked)
        self._always = [
            asked
            for asked in self.functions.items()
            if not asked[0].calling and not asked[0].containing
        ]
        self._containing: dict[str, list[Asked]] = {}
        """By a text, who asks for functions that have it."""
        for asked in self.functions.items():
            for word in asked[0].containing:
                self._containing.setdefault(word, []).append(asked)
        self._words_of_functions = WordSet(self._containing)
        self._words_of_files = WordSet(word for _, words in self.whole for word in words)
        self.query = self._query(language)
        self._operator = field_id(language, "operator")

    def _add_sites(self, rule: Rule, query: Nodes, patterns: str) -> None:
        """Patterns that several rules ask for are captured once."""
        for pattern in _top_level(patterns):
            capture = self._captures.setdefault(pattern, f"s{len(self._captures)}")
            if not query.operators and not query.names and query.when is None:
                self.sites.setdefault(capture, []).append(rule)
                continue
            named = query.names and pattern.startswith(_CALLING)
            if named:
                self._named.add(capture)
            for key in (query.names if named else query.operators) or ("",):
                wanting = self.by_operator.setdefault(capture, {}).setdefault(key, [])
                when = query.when or _always
                for holds, rules in wanting:
                    if holds is when:
                        rules.append(rule)
                        break
                else:
                    wanting.append((when, [rule]))

    def _query(self, language: LanguageName) -> Query:
        """Return the query that collects the nodes all rules need from an item."""
        asked = [
            pattern.replace("@site", f"@{capture}") for pattern, capture in self._captures.items()
        ]
        return compile_query(language, "\n".join([_PLACES[language], *asked]))

    def run(self, unit: Unit, item: Item, clock: Clock) -> ItemResult:
        """Return reports and functions of one item, each place and rule once; no rule looks at
        anything when the time of `clock` is up."""
        node = item.node
        kind = node.type
        if kind in _EMPTY or (kind == "ERROR" and not node.named_child_count):
            return _NOTHING
        written = unit.source.data[node.start_byte : node.end_byte]
        if _is_still(node, kind, written, unit.language):
            return _NOTHING
        is_large = len(written) > MOST_BYTES
        found = captures(self.query, node, MOST_BYTES if is_large else None)
        if is_large and len(found.get("function", ())) != 1:  # a table, a class, or what is torn
            found, is_large = captures(self.query, node), False
        if not found:
            return _NOTHING
        run = _Run(unit, item, found, clock, is_large)
        self._on_calls(run, found.get("call", ()))
        for capture, sites in found.items():
            if capture in self.sites:
                self._on_sites(run, sites, self.sites[capture])
            if capture in self.by_operator:
                key_of = invoked_name if capture in self._named else self._operator_of
                self._on_keys(run, sites, self.by_operator[capture], key_of)
        self._on_functions(run)
        return run.result()

    def run_whole(
        self,
        unit: Unit,
        results: list[tuple[Item, ItemResult]],
        clock: Clock,
    ) -> ItemResult:
        """Return reports of the rules that check the whole file, given the results of its items."""
        raws: list[Raw] = []
        failed: set[str] = set()
        is_cut = False
        whole = None
        present = self._words_of_files.found(unit.source.data)
        for rule, words in self.whole:
            if present.isdisjoint(words):
                continue
            if clock.is_up():
                is_cut = True
                break
            if whole is None:
                placed = {item.start: other.functions for item, other in results if other.functions}
                whole = WholeUnit(unit, [item for item, _ in results], placed)
            for report in _check_safely(rule, whole, failed):
                raws.append(raw_of(rule, report, 0, _counts_less(results, report.start)))
        if whole is not None:
            whole.forget()
        return ItemResult(raws, [], frozenset(failed), is_cut)

    def _on_functions(self, run: _Run) -> None:
        called = {id(asked): asked for name in run.calls_at for asked in self.triggers[name]}
        for function, written in run.functions():
            present = self._words_of_functions.found(written)
            each_once = {id(asked): asked for word in present for asked in self._containing[word]}
            for query, rules in (*self._always, *each_once.values(), *called.values()):
                if query.calling and not run.function_calls(function, query.calling):
                    continue
                if query.when is not None and not run.holds(query.when, function, rules):
                    continue
                for rule in rules:
                    run.check(rule, function, function.start)

    def _on_sites(self, run: _Run, sites: Sequence[Node], rules: Sequence[Rule]) -> None:
        run.is_crowded |= len(sites) > MOST_PLACES
        for node in sites[:MOST_PLACES]:
            start = node.start_byte
            site = Site(run.unit, run.item, node, run.index.at(start))
            for rule in rules:
                run.check(rule, site, start)

    def _on_keys(
        self,
        run: _Run,
        sites: list[Node],
        table: dict[str, list[tuple[Holds, list[Rule]]]],
        key_of: Callable[[Node], str],
    ) -> None:
        """Nodes that rules choose by operator, by name or by a look at them: few are of
        interest."""
        by_key = {"": sites} if "" in table else _by_key(sites, key_of)
        for key, nodes in by_key.items():
            for when, rules in table.get(key, ()):
                chosen = run.choose(when, nodes, rules)
                if chosen:
                    self._on_sites(run, chosen, rules)

    def _operator_of(self, node: Node) -> str:
        operator = node.child_by_field_id(self._operator)
        return "" if operator is None else operator.type

    def _on_calls(self, run: _Run, calls: Iterable[Node]) -> None:
        """By their bytes, most calls of plain names concern no rule."""
        unit = run.unit
        data, callee_of = unit.source.data, field_id(unit.language, "function")
        wanted: dict[bytes, tuple[str, list[Rule]] | None] = unit.__dict__.setdefault(_WANTED, {})
        for node in calls:
            callee = node.child_by_field_id(callee_of)
            if callee is None:
                continue
            if callee.type != "identifier":
                self._on_call(run, node)
                continue
            start = callee.start_byte
            written = data[start : callee.end_byte]
            if written not in wanted:
                wanted[written] = self._wanting(unit, written.decode("utf-8", "replace"))
            known = wanted[written]
            if known is None:
                continue
            name, rules = known
            if name in self.triggers:
                run.calls_at.setdefault(name, []).append(start)
            if not rules or run.has_enough(name):
                continue
            call = call_at(unit, run.item, node, run.index.at(start))
            for rule in rules if call is not None and call.name == name else ():
                run.check(rule, call, start)

    def _wanting(self, unit: Unit, name: str) -> tuple[str, list[Rule]] | None:
        """Return the callee that `name` means after macro expansion, and the rules for it."""
        name, _ = unit.facts.alias_of(name)
        if name in unit.facts.defined:  # the file's own function of that name
            return None
        rules = self.calls.get(name, [])
        return (name, rules) if rules or name in self.triggers else None

    def _on_call(self, run: _Run, node: Node) -> None:
        """Check a call whose callee is more than a plain name, such as a method call."""
        call = call_at(run.unit, run.item, node)
        if call is None:
            return
        start = node.start_byte
        if call.name in self.triggers:
            run.calls_at.setdefault(call.name, []).append(start)
        rules = (self.methods if call.is_method else self.calls).get(call.name)
        if rules and not run.has_enough(call.name):
            call.function = run.index.at(start)
            for rule in rules:
                run.check(rule, call, start)


def _counts_less(results: list[tuple[Item, ItemResult]], at: int) -> bool:
    """Return whether a place is in an item that only tests run or other platforms compile."""
    index = bisect_right(results, at, key=lambda entry: entry[0].start) - 1
    if index < 0:
        return False
    item = results[index][0]
    return at < item.end and (item.in_test or item.foreign)


_CALLING = ("(call_expression)", "(macro_invocation)")
"""Patterns of places that have a name to be chosen by."""
_WANTED = "calls that concern a rule"
_NOTHING = ItemResult([], [])
_EMPTY = frozenset(
    {
        "comment",
        "line_comment",
        "block_comment",
        "preproc_include",
        "preproc_function_def",
        "preproc_call",
        "attribute_item",
        "use_declaration",
    }
)
"""Items that hold no code."""
_PLAIN = re.compile(rb"(?:typedef |extern |static )?[A-Za-z_]\w*[ \t*]+[A-Za-z_]\w*;")
"""A declaration of one name of a plain type."""
_ACTIVE = re.compile(rb"[=\[{]|typeof|__attribute__")


def _is_still(node: Node, kind: str, written: bytes, language: LanguageName) -> bool:
    """Return whether the text of an item shows that no rule examines it: a macro
    without a string, a declaration without size, initialiser and body, which in C++ is one of
    plain names.
    """
    if kind == "preproc_def":
        return b'"' not in written
    if kind not in ("declaration", "type_definition"):
        return False
    if language == "cpp":
        return _PLAIN.fullmatch(written) is not None
    if language != "c":
        return False
    return _ACTIVE.search(written) is None and not node.has_error


def _top_level(patterns: str) -> Iterator[str]:
    """Yield the patterns of a query, one by one, each with its `@site`."""
    depth, start, quoted = 0, 0, False
    for at, sign in enumerate(patterns):
        if sign == '"' and patterns[at - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "@" and depth == 0 and patterns.startswith("@site", at):
            end = at + len("@site")
            yield " ".join(patterns[start:end].split())
            start = end
    if depth or patterns[start:].strip():
        yield " ".join(patterns[start:].split())


def _always(_node: Node) -> bool:
    return True


class Clock:
    """A deadline for the rules. Processor time is read once in `_LOOKS` calls, because a read costs
    as much as a small check."""

    def __init__(self, deadline: float = math.inf) -> None:
        """`deadline` is in processor time."""
        self._deadline = deadline
        self._asked = 0
        self._is_up = False

    def is_up(self) -> bool:
        """Return whether there is no time left."""
        if self._asked % _LOOKS == 0 and self._deadline < math.inf:
            self._is_up = time.process_time() > self._deadline
        self._asked += 1
        return self._is_up


class _Run:
    """The state of looking at one item."""

    def __init__(
        self, unit: Unit, item: Item, found: Any, clock: Clock, is_large: bool = False
    ) -> None:
        """`found` is what the plan's query captured in the item, in its beginning when it
        `is_large`."""
        self._clock = clock
        self._was_late = clock.is_up()
        self.unit = unit
        self.item = item
        self._dead = dead_ranges(found.get("preproc", ()))
        at_hand = None if is_large else alive(found, self._dead)
        self.index = FunctionIndex(unit, item, found.get("function", []), at_hand)
        self.calls_at: dict[str, list[int]] = {}
        """Where functions are called that a rule's `calling` names."""
        self._raws: dict[tuple[str, int, int], Raw] = {}
        self._failed: set[str] = set()
        self._counts: dict[str, int] = {}
        """Reports by rule."""
        self._calls: dict[str, int] = {}
        """Calls that rules examined, by name."""
        self.is_crowded = is_large
        """Whether rules examine only the first of many places of one kind."""
        self._rare: list[tuple[int, int]] | None = None
        """Bytes that few builds have, once a report asks for them."""

    def functions(self) -> Iterator[tuple[Function, bytes]]:
        """Yield the functions, each with its text and that before it (attributes), back to the
        function before it or the beginning of the one around it."""
        data, start, end = self.unit.source.data, self.item.start, self.item.start
        for function in self.index.functions:
            yield function, data[start if end > function.start else end : function.end]
            start, end = function.start, function.end

    def check(self, rule: Rule, place: Any, start: int) -> None:
        """Let `rule` look at the place at byte `start`, unless `#if 0` removes it."""
        if self._is_late() or (self._dead and self._is_dead(start)):
            return
        if self._counts.get(rule.id, 0) > MOST_ALIKE:
            return
        for report in _check_safely(rule, place, self._failed):
            if self._is_dead(report.start):
                continue
            less = self.item.in_test or self._is_rare(report.start)
            key = rule.id, report.start, report.end
            if key not in self._raws:
                self._counts[rule.id] = self._counts.get(rule.id, 0) + 1
                if self._counts[rule.id] > MOST_ALIKE:
                    break
                self._raws[key] = raw_of(rule, report, self.item.start, less)

    def has_enough(self, name: str) -> bool:
        """Count a call that rules are for; return whether as many of its name were examined as
        may be."""
        examined = self._calls[name] = self._calls.get(name, 0) + 1
        if examined <= MOST_PLACES:
            return False
        self.is_crowded = True
        return True

    def choose(self, when: Holds, nodes: list[Node], rules: Iterable[Rule]) -> list[Node]:
        """Return the nodes that a condition of `rules` chooses; most are of no interest."""
        if self._is_late():
            return []
        try:
            return [node for node in nodes if when(node)]
        except Exception:  # noqa: BLE001 - it is logged for the nodes that it fails at
            return [node for node in nodes if self.holds(when, node, rules)]

    def holds(
        self, when: Callable[[Any], bool], place: Function | Node, rules: Iterable[Rule]
    ) -> bool:
        """Return whether a condition of `rules` holds; where one raises, it is logged and they are
        not run."""
        try:
            return when(place)
        except Exception:
            log.exception("%s failed; the rules behind it were not run here", when.__name__)
            self._failed.update(rule.id for rule in rules)
            return False

    def _is_late(self) -> bool:
        """Return whether the deadline has passed, so that not every rule examines the item."""
        self._was_late = self._was_late or self._clock.is_up()
        return self._was_late

    def function_calls(self, function: Function, names: frozenset[str]) -> bool:
        """Return whether a call of one of `names` is in `function`."""
        start, end = function.start, function.end
        return any(
            start <= at < end for name in names & self.calls_at.keys() for at in self.calls_at[name]
        )

    def result(self) -> ItemResult:
        """Return the reports in order of position, and the name and relative bytes of the
        functions.

        What was worked out about the functions is dropped: it refers to them and to the tree,
        and in a circle it would wait for the collector.
        """
        raws = sorted(self._raws.values(), key=lambda raw: (raw.start, raw.end, raw.rule))
        base = self.item.start
        named = [(f.name, f.start - base, f.end - base) for f in self.index.functions]
        for function in self.index.functions:
            function.forget()
        crowded = frozenset(rule for rule, count in self._counts.items() if count > MOST_ALIKE)
        failed = frozenset(self._failed)
        return ItemResult(raws, named, failed, self._was_late, crowded, self.is_crowded)

    def _is_rare(self, offset: int) -> bool:
        if self.item.foreign:
            return True
        if self._rare is None:
            self._rare = [] if self.unit.language == "rust" else rare_ranges(self.item.node)
        return any(start <= offset < end for start, end in self._rare)

    def _is_dead(self, offset: int) -> bool:
        return bool(self._dead) and any(start <= offset < end for start, end in self._dead)


def _check_safely(rule: Rule, place: Any, failed: set[str]) -> list[Report]:
    """Return the reports of one check; a fault in a rule is logged, costs only that place, and adds
    the rule to `failed`."""
    try:
        return list(rule.check(place) or ())
    except Exception:  # one broken rule must not hide the findings of the others
        log.exception("rule %s failed; its finding at this place is missing", rule.id)
        failed.add(rule.id)
        return []


def _by_key(sites: Iterable[Node], key_of: Callable[[Node], str]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for node in sites:
        key = key_of(node)
        if key:
            found.setdefault(key, []).append(node)
    return found
