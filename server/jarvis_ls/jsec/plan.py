"""Which rule wants what, and asking it of one item.

One combined query finds every place any rule asked for; most of them are told by their bytes, or by
a look at the node, to concern no rule.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel.code import Function, FunctionIndex, Unit, call_at
from jarvis_ls.codeintel.items import Item, dead_range, is_dead_branch
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node, Query, captures, compile_query
from jarvis_ls.core.regex import Words
from jarvis_ls.jsec.raw import Raw, raw_of
from jarvis_ls.jsec.rule import Calls, Functions, Nodes, Report, Rule, WholeFile
from jarvis_ls.jsec.site import Placed, Site, WholeUnit

log = logging.getLogger(__name__)

_C_PLACES = """
(call_expression function: (identifier) @callee)
(call_expression function: [(field_expression) (qualified_identifier) (template_function)]) @call
(function_definition) @function
(declaration) @decl
(preproc_if) @preproc
"""
_PLACES: dict[LanguageName, str] = {
    "c": _C_PLACES.replace("(qualified_identifier) (template_function)", ""),
    "cpp": _C_PLACES,
    "rust": """
        (call_expression function: (identifier) @callee)
        (call_expression
          function: [(field_expression) (scoped_identifier) (generic_function)]) @call
        (function_item) @function
    """,
}
"""What is asked of every item: names called and calls of what is more than a name, functions,
and directives that may remove code."""

_DECLARATION = ("(declaration) @site", "decl")
"""A pattern that `_PLACES` asks for already, and the capture it has there."""

Holds = Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What looking at one item gave."""

    raws: list[Raw]
    """Reports, in order of position."""
    functions: list[Placed]
    """Its functions, in order."""


class Plan:
    """Which rule wants what, for one language."""

    def __init__(self, rules: list[Rule], language: LanguageName) -> None:
        self.calls: dict[str, list[Rule]] = {}
        self.methods: dict[str, list[Rule]] = {}
        self.functions: dict[Functions, list[Rule]] = {}
        self.whole: list[tuple[Rule, tuple[str, ...]]] = []
        self._captures: dict[str, str] = {}
        if language != "rust":  # captured anyway, for the variables of functions
            self._captures[_DECLARATION[0]] = _DECLARATION[1]
        self.sites: dict[str, list[Rule]] = {}
        """Rules by the capture that stands for their pattern."""
        self.by_operator: dict[str, dict[str, list[tuple[Holds, list[Rule]]]]] = {}
        """By such a capture and an operator (empty for any), what is asked of sites with it, and
        the rules behind that question."""
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
        self.triggers = frozenset().union(*(query.calling for query in self.functions))
        self._words_of_files = Words(word for _, words in self.whole for word in words)
        self.query = self._query(language)

    def _add_sites(self, rule: Rule, query: Nodes, patterns: str) -> None:
        """Patterns that several rules ask for are captured once."""
        for pattern in _top_level(patterns):
            capture = self._captures.setdefault(pattern, f"s{len(self._captures)}")
            if not query.operators and query.when is None:
                self.sites.setdefault(capture, []).append(rule)
                continue
            for operator in query.operators or ("",):
                wanting = self.by_operator.setdefault(capture, {}).setdefault(operator, [])
                when = query.when or _always
                for holds, rules in wanting:
                    if holds is when:
                        rules.append(rule)
                        break
                else:
                    wanting.append((when, [rule]))

    def _query(self, language: LanguageName) -> Query:
        """What is asked of every item."""
        asked = [
            pattern.replace("@site", f"@{capture}")
            for pattern, capture in self._captures.items()
            if capture != _DECLARATION[1]
        ]
        return compile_query(language, "\n".join([_PLACES[language], *asked]))

    def run(self, unit: Unit, item: Item) -> ItemResult:
        """Reports and functions of one item, each place and rule once."""
        node = item.node
        kind = node.type
        if kind in _EMPTY:
            return _NOTHING
        written = unit.source.data[node.start_byte : node.end_byte]
        if _is_still(node, kind, written, unit.language):
            return _NOTHING
        found = captures(self.query, node)
        if not found:
            return _NOTHING
        run = _Run(unit, item, found)
        self._on_names(run, found.get("callee", ()))
        for node in found.get("call", ()):
            self._on_call(run, node)
        for capture, sites in found.items():
            if capture in self.sites:
                self._on_sites(run, sites, self.sites[capture])
            if capture in self.by_operator:
                self._on_operators(run, sites, self.by_operator[capture])
        self._on_functions(run)
        return run.result()

    def run_whole(self, unit: Unit, results: list[tuple[Item, ItemResult]]) -> list[Raw]:
        """Reports of the rules that look at the whole file, given what its items gave."""
        raws: list[Raw] = []
        whole = None
        present = self._words_of_files.found(unit.source.data)
        for rule, words in self.whole:
            if present.isdisjoint(words):
                continue
            if whole is None:
                placed = {item.start: one.functions for item, one in results if one.functions}
                whole = WholeUnit(unit, [item for item, _ in results], placed)
            for report in _guarded(rule, whole):
                raws.append(raw_of(rule, report, 0, False))
        if whole is not None:
            whole.forget()
        return raws

    def _on_functions(self, run: _Run) -> None:
        for query, rules in self.functions.items():
            if query.calling and run.calls_at.keys().isdisjoint(query.calling):
                continue
            for function in run.index.functions:
                if query.calling and not run.function_calls(function, query.calling):
                    continue
                if query.when is not None and not _holds(query.when, function):
                    continue
                for rule in rules:
                    run.check(rule, function, function.start)

    def _on_sites(self, run: _Run, sites: Iterable[Node], rules: Sequence[Rule]) -> None:
        for node in sites:
            start = node.start_byte
            site = Site(run.unit, run.item, node, run.index.at(start))
            for rule in rules:
                run.check(rule, site, start)

    def _on_operators(
        self, run: _Run, sites: list[Node], table: dict[str, list[tuple[Holds, list[Rule]]]]
    ) -> None:
        """Nodes that rules choose by operator or by a look at them: few are of interest."""
        by_operator = {"": sites} if "" in table else _by_operator(sites)
        for operator, nodes in by_operator.items():
            for when, rules in table.get(operator, ()):
                chosen = _those(when, nodes)
                if chosen:
                    self._on_sites(run, chosen, rules)

    def _on_names(self, run: _Run, callees: Iterable[Node]) -> None:
        """Calls of plain names; most are told to concern no rule by their bytes."""
        unit = run.unit
        wanted: dict[bytes, tuple[str, list[Rule]] | None] = unit.__dict__.setdefault(_WANTED, {})
        for node in callees:
            written = node.text or b""
            if written not in wanted:
                wanted[written] = self._wanting(unit, written.decode("utf-8", "replace"))
            known = wanted[written]
            if known is None:
                continue
            name, rules = known
            start = node.start_byte
            if name in self.triggers:
                run.calls_at.setdefault(name, []).append(start)
            whole = node.parent if rules else None
            call = call_at(unit, run.item, whole, run.index.at(start)) if whole else None
            for rule in rules if call is not None else ():
                run.check(rule, call, start)

    def _wanting(self, unit: Unit, name: str) -> tuple[str, list[Rule]] | None:
        """What a call of `name` is a call of, seen through macros, and who wants it."""
        name, _ = unit.facts.alias_of(name)
        if name in unit.facts.defined:  # the file's own function of that name
            return None
        rules = self.calls.get(name, [])
        return (name, rules) if rules or name in self.triggers else None

    def _on_call(self, run: _Run, node: Node) -> None:
        """A call of what is more than a name, such as a method."""
        call = call_at(run.unit, run.item, node)
        if call is None:
            return
        start = node.start_byte
        if call.name in self.triggers:
            run.calls_at.setdefault(call.name, []).append(start)
        rules = (self.methods if call.is_method else self.calls).get(call.name)
        if rules:
            call.function = run.index.at(start)
            for rule in rules:
                run.check(rule, call, start)


_WANTED = "calls that concern a rule"
_NOTHING = ItemResult([], [])
_EMPTY = frozenset({
    "comment", "line_comment", "block_comment", "preproc_include",
    "preproc_function_def", "preproc_call", "attribute_item", "use_declaration",
})  # fmt: skip
"""Items that hold no code."""
_ACTIVE = (b"=", b"[", b"{", b"typeof", b"__attribute__")


def _is_still(node: Node, kind: str, written: bytes, language: LanguageName) -> bool:
    """Whether an item is told by its text to hold nothing that any rule looks at: a macro without
    a string, a C declaration without size, initialiser and body."""
    if kind == "preproc_def":
        return b'"' not in written
    if language != "c" or kind not in ("declaration", "type_definition"):
        return False
    return not any(word in written for word in _ACTIVE) and not node.has_error


def _top_level(patterns: str) -> Iterator[str]:
    """The patterns of a query, one by one, each with its `@site`."""
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


class _Run:
    """The state of looking at one item."""

    def __init__(self, unit: Unit, item: Item, found: Any) -> None:
        self.unit = unit
        self.item = item
        self._dead = [dead_range(n) for n in found.get("preproc", ()) if is_dead_branch(n)]
        declared = found.get("decl", []) if unit.language != "rust" else None
        if declared and self._dead:
            declared = [node for node in declared if not self._is_dead(node.start_byte)]
        self.index = FunctionIndex(unit, item, found.get("function", []), declared)
        self.calls_at: dict[str, list[int]] = {}
        """Where functions are called that a rule's `calling` names."""
        self._raws: dict[tuple[str, int, int], Raw] = {}

    def check(self, rule: Rule, place: Any, start: int) -> None:
        """Let `rule` look at the place at byte `start`, unless `#if 0` removes it."""
        if self._dead and self._is_dead(start):
            return
        for report in _guarded(rule, place):
            if self._is_dead(report.start):
                continue
            raw = raw_of(rule, report, self.item.start, self.item.in_test)
            self._raws.setdefault((rule.id, report.start, report.end), raw)

    def function_calls(self, function: Function, names: frozenset[str]) -> bool:
        """Whether a call of one of `names` lies in `function`."""
        start, end = function.start, function.end
        return any(
            start <= at < end for name in names & self.calls_at.keys() for at in self.calls_at[name]
        )

    def result(self) -> ItemResult:
        """The reports in order of position, and the name and relative bytes of the functions.

        What was worked out about the functions is dropped: it refers to them and to the tree,
        and in a circle it would wait for the collector.
        """
        raws = sorted(self._raws.values(), key=lambda raw: (raw.start, raw.end, raw.rule))
        base = self.item.start
        named = [(f.name, f.start - base, f.end - base) for f in self.index.functions]
        for function in self.index.functions:
            function.forget()
        return ItemResult(raws, named)

    def _is_dead(self, offset: int) -> bool:
        return bool(self._dead) and any(start <= offset < end for start, end in self._dead)


def _guarded(rule: Rule, place: Any) -> list[Report]:
    """The reports of one check; a fault in a rule is logged and costs only that place."""
    try:
        return list(rule.check(place) or ())
    except Exception:  # one broken rule must not hide the findings of the others
        log.exception("rule %s failed; its finding at this place is missing", rule.id)
        return []


def _by_operator(sites: Iterable[Node]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for node in sites:
        operator = node.child_by_field_name("operator")
        if operator is not None:
            found.setdefault(operator.type, []).append(node)
    return found


def _those(when: Holds, nodes: list[Node]) -> list[Node]:
    """The nodes that a condition chooses; most are of no interest."""
    try:
        return [node for node in nodes if when(node)]
    except Exception:  # noqa: BLE001 - it is logged for the nodes that it fails at
        return [node for node in nodes if _holds(when, node)]


def _holds(when: Callable[[Any], bool], place: Function | Node) -> bool:
    """What a condition of rules says; one that fails is logged, and its rules are not run."""
    try:
        return when(place)
    except Exception:
        log.exception("%s failed; the rules behind it were not run here", when.__name__)
        return False
