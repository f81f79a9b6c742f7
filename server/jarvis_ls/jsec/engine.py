"""Running the rules over one file.

The file is cut into items; one combined query per item finds every place any rule asked for;
each place goes to the rules that asked. What comes out of an item depends only on its text,
its flags and the facts of the file, so it can be kept while the user edits elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.codeintel.code import (
    Call,
    Function,
    FunctionIndex,
    Unit,
    call_at,
)
from jarvis_ls.codeintel.facts import Declared, Facts
from jarvis_ls.codeintel.headers import item_facts, merge_items
from jarvis_ls.codeintel.items import Item, dead_range, is_dead_branch, items
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import (
    MAX_DEPTH,
    Node,
    Tree,
    captures,
    compile_query,
    nests_too_deep,
    parse,
)
from jarvis_ls.codeintel.rust_tests import is_test_path
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import (
    Edit,
    Finding,
    Fix,
    Message,
    Related,
    Severity,
    fingerprint,
    severity_from_confidence,
)
from jarvis_ls.core.regex import Words
from jarvis_ls.jsec.rule import Calls, Functions, Nodes, Report, Rule, WholeFile, all_rules

log = logging.getLogger(__name__)

TEST_DAMPING = 0.5
"""What confidence is multiplied with in code that only tests run."""

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

_FUNCTIONS: dict[LanguageName, str] = {
    "c": "(function_definition) @function",
    "cpp": "(function_definition) @function",
    "rust": "(function_item) @function",
}

Holds = Callable[[Node], bool]
HeaderFacts = Callable[[Facts], tuple[str, Sequence[Facts]]]
"""Given a file's own facts (its includes among them): the facts of the headers behind it, and
a digest of them."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place a node pattern found."""

    unit: Unit
    item: Item
    node: Node
    function: Function | None
    """The function around it."""


class WholeUnit:
    """A whole file, for rules that must see all of it."""

    def __init__(self, unit: Unit, found: list[Item]) -> None:
        self.unit = unit
        self.items = found
        self._functions: dict[int, list[Function]] = {}
        """Those of the items that were looked at, by the item's first byte."""

    @functools.cached_property
    def functions(self) -> list[Function]:
        """Every function of the file, in order."""
        return [function for item in self.items for function in self._functions_of(item)]

    def forget(self) -> None:
        """Drop what was worked out about the functions, which refers to them and to the tree."""
        self.__dict__.pop("functions", None)
        for functions in self._functions.values():
            for function in functions:
                function.forget()
        self._functions.clear()

    def mentioning(self, *words: bytes) -> list[Function]:
        """Functions in whose text one of these words stands, in order.

        One search through the file for each word, and a look at the items around what it finds:
        with every keystroke, the functions of all items would be too many.
        """
        data = self.unit.source.data
        places = sorted(at for word in words for at in _occurrences(data, word))
        return [
            function
            for item in (self.items if places else ())
            if _is_between(places, item.start, item.end)
            for function in self._functions_of(item)
            if _is_between(places, function.start, function.end)
        ]

    def _functions_of(self, item: Item) -> list[Function]:
        known = self._functions.get(item.start)
        if known is None:
            unit = self.unit
            query = compile_query(unit.language, _FUNCTIONS[unit.language])
            bodies = unit.source.data.find(b"{", item.start, item.end) >= 0
            found = captures(query, item.node).get("function", ()) if bodies else ()
            known = self._functions[item.start] = [Function(unit, item, node) for node in found]
        return known


def _is_between(places: list[int], start: int, end: int) -> bool:
    """Whether one of the places, which are in order, lies between two bytes."""
    index = bisect_left(places, start)
    return index < len(places) and places[index] < end


def _occurrences(data: bytes, word: bytes) -> Iterator[int]:
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + len(word))


@dataclass(frozen=True, slots=True)
class Raw:
    """A report with places relative to the start of its item."""

    rule: str
    cwe: tuple[int, ...]
    start: int
    end: int
    message: Message
    suggestion: Message
    confidence: float
    severity: Severity
    pattern: str
    related: tuple[tuple[int, int, Message], ...]
    fix: tuple[Message, tuple[tuple[int, int, str], ...], bool] | None


@dataclass
class Analysis:
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

    @property
    def functions(self) -> list[tuple[str, int, int]]:
        """Name, first and last line of each function, in order."""
        line_of = self.source.line_of
        return [(name, line_of(start), line_of(end)) for name, start, end in self.placed_functions]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What looking at one item gave."""

    raws: list[Raw]
    """Reports, in order of position."""
    functions: list[tuple[str, int, int]]
    """Name and bytes of each function, relative to the start of the item."""


class ItemCache:
    """What is known of items by their text, kept between two analyses of one document."""

    def __init__(self) -> None:
        self.facts: dict[tuple[bytes, bool], tuple[Facts | None, bytes]] = {}
        """Facts of each item, and how they read without the functions it defines."""
        self.results: dict[tuple[bytes, bool], ItemResult] = {}
        self._context = ""
        self._defined: dict[str, Declared] = {}

    def follow(self, context: str, defined: dict[str, Declared], facts: Facts) -> None:
        """Forget results that what changed around them may have changed.

        `context` stands for all declarations but the functions the file defines. Of those
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
    """`functions`, and macros that stand for one of them."""
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
        self._plans: dict[LanguageName, _Plan] = {}

    def analyse(
        self,
        source: Source,
        language: LanguageName,
        *,
        tree: Tree | None = None,
        headers: HeaderFacts | None = None,
        cache: ItemCache | None = None,
    ) -> Analysis:
        """Run the rules over one file.

        `tree` is its syntax tree when there is one already; `headers` gives the facts of
        included headers; `cache` holds what an earlier analysis of the same document found
        and is brought up to date.
        """
        tree = tree if tree is not None else parse(source.data, language)
        in_test = language == "rust" and is_test_path(source.path)
        found = list(items(tree.root_node, language, in_test=in_test))
        own, context, defined = _collect_facts(source.data, found, language, cache)
        facts = own
        if headers is not None and own.includes:
            digest, included = headers(own)
            facts, context = own.merge(included), context + digest
        unit = Unit(source, language, facts)
        plan = self._plan(language)
        if cache is not None:
            cache.follow(context, defined, facts)
            context += hashlib.blake2b(repr(defined).encode(), digest_size=16).hexdigest()
        results = _run_items(unit, plan, found, cache)
        placed = [(item.start, raw) for item, result in results for raw in result.raws]
        placed.extend((0, raw) for raw in plan.run_whole(unit, found))
        return Analysis(
            findings=finish(source, language, placed, self._by_id),
            facts=own,
            notes=_depth_notes(found),
            context=context,
            source=source,
            placed_functions=[
                (name, item.start + start, item.start + end)
                for item, result in results
                for name, start, end in result.functions
            ],
        )

    @functools.cached_property
    def _by_id(self) -> dict[str, Rule]:
        return {rule.id: rule for rule in self.rules}

    def _plan(self, language: LanguageName) -> _Plan:
        if language not in self._plans:
            chosen = [rule for rule in self.rules if language in rule.dialects]
            self._plans[language] = _Plan(chosen, language)
        return self._plans[language]


class _Plan:
    """Which rule wants what, for one language."""

    def __init__(self, rules: list[Rule], language: LanguageName) -> None:
        self.calls: dict[str, list[Rule]] = {}
        self.methods: dict[str, list[Rule]] = {}
        self.functions: dict[Functions, list[Rule]] = {}
        self.whole: list[tuple[Rule, tuple[str, ...]]] = []
        self._captures: dict[tuple[str, tuple[bytes, ...]], str] = {}
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
        self._compile(language)

    def _add_sites(self, rule: Rule, query: Nodes, pattern: str) -> None:
        capture = self._captures.setdefault((pattern, query.needing), f"s{len(self._captures)}")
        if not query.operators and query.when is None:
            self.sites.setdefault(capture, []).append(rule)
            return
        for operator in query.operators or ("",):
            wanting = self.by_operator.setdefault(capture, {}).setdefault(operator, [])
            when = query.when or _always
            for holds, rules in wanting:
                if holds is when:
                    rules.append(rule)
                    break
            else:
                wanting.append((when, [rule]))

    def _compile(self, language: LanguageName) -> None:
        """The query of most items, and that of items with one of the words that some ask for."""
        plain = [_PLACES[language]]
        special: list[str] = []
        for (pattern, needing), capture in self._captures.items():
            named = pattern.replace("@site", f"@{capture}")
            (special if needing else plain).append(named)
        self.query = compile_query(language, "\n".join(plain))
        self.words = {word for _, needing in self._captures for word in needing}
        self.special_query = functools.partial(
            compile_query, language, "\n".join([*plain, *special])
        )

    def run(self, unit: Unit, item: Item) -> ItemResult:
        """Reports and functions of one item, each place and rule once."""
        written = unit.source.data[item.node.start_byte : item.node.end_byte]
        if _is_still(item.node, written, unit.language):
            return _NOTHING
        special = any(word in written for word in self.words)
        found = captures(self.special_query() if special else self.query, item.node)
        if not found:
            return _NOTHING
        run = _Run(unit, item, found)
        self._on_names(run, found.get("callee", ()))
        for node in found.get("call", ()):
            self._on_call(run, node)
        for capture, sites in found.items():
            self._on_sites(run, sites, self.sites.get(capture, ()))
            if capture in self.by_operator:
                self._on_operators(run, sites, self.by_operator[capture])
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
        return run.result()

    def run_whole(self, unit: Unit, found: list[Item]) -> list[Raw]:
        """Reports of the rules that look at the whole file."""
        raws: list[Raw] = []
        whole = None
        present = self._words_of_files.found(unit.source.data)
        for rule, words in self.whole:
            if present.isdisjoint(words):
                continue
            whole = whole or WholeUnit(unit, found)
            for report in _guarded(rule, whole):
                raws.append(_raw(rule, report, 0, False))
        if whole is not None:
            whole.forget()
        return raws

    def _on_sites(self, run: _Run, sites: Iterable[Node], rules: Sequence[Rule]) -> None:
        for rule in rules:
            for node in sites:
                start = node.start_byte
                run.check(rule, Site(run.unit, run.item, node, run.index.at(start)), start)

    def _on_operators(
        self, run: _Run, sites: Iterable[Node], table: dict[str, list[tuple[Holds, list[Rule]]]]
    ) -> None:
        """Nodes that rules choose by operator or by a look at them: few are of interest."""
        any_operator = table.get("")
        for node in sites:
            wanting = any_operator
            if wanting is None:
                operator = node.child_by_field_name("operator")
                wanting = table.get(operator.type) if operator is not None else None
            for when, rules in wanting or ():
                if _holds(when, node):
                    start = node.start_byte
                    site = Site(run.unit, run.item, node, run.index.at(start))
                    for rule in rules:
                        run.check(rule, site, start)

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


def _is_still(node: Node, written: bytes, language: LanguageName) -> bool:
    """Whether an item is told by its text to hold nothing that any rule looks at: no code, a
    macro without a string, a C declaration without size, initialiser and body."""
    kind = node.type
    if kind in _EMPTY:
        return True
    if kind == "preproc_def":
        return b'"' not in written
    if language != "c" or kind not in ("declaration", "type_definition"):
        return False
    return not any(word in written for word in _ACTIVE) and not node.has_error


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
            raw = _raw(rule, report, self.item.start, self.item.in_test)
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


def finish(
    source: Source,
    language: LanguageName,
    placed: Iterable[tuple[int, Raw]],
    rules: dict[str, Rule],
) -> list[Finding]:
    """Findings from reports: positions people see, evidence and fingerprints."""
    seen: Counter[tuple[str, str]] = Counter()
    findings = []
    for base, raw in sorted(placed, key=lambda p: (p[0] + p[1].start, p[1].end, p[1].rule)):
        rule = rules[raw.rule]
        span = source.span(base + raw.start, base + raw.end)
        evidence = source.line_text(span.line).strip().replace("\t", " ")[:200]
        occurrence = seen[(raw.rule, evidence)]
        seen[(raw.rule, evidence)] += 1
        findings.append(
            Finding(
                rule=raw.rule,
                language="rust" if language == "rust" else "c/cpp",
                category=rule.category,
                pattern=raw.pattern,
                cwe=raw.cwe,
                file=source.path,
                span=span,
                evidence=evidence,
                message=raw.message,
                suggestion=raw.suggestion,
                confidence=raw.confidence,
                severity=raw.severity,
                fingerprint=fingerprint(raw.rule, source.path, evidence, occurrence),
                related=tuple(
                    Related(source.path, source.span(base + start, base + end), message)
                    for start, end, message in raw.related
                ),
                fix=_place_fix(source, base, raw),
            )
        )
    return findings


def _place_fix(source: Source, base: int, raw: Raw) -> Fix | None:
    if raw.fix is None:
        return None
    title, edits, safe = raw.fix
    placed = tuple(Edit(source.span(base + start, base + end), new) for start, end, new in edits)
    return Fix(title, placed, safe)


def _raw(rule: Rule, report: Report, base: int, in_test: bool) -> Raw:
    confidence = rule.confidence if report.confidence is None else report.confidence
    if in_test:
        confidence *= TEST_DAMPING
    confidence = round(min(1.0, max(0.0, confidence)), 2)
    severity = report.severity or severity_from_confidence(confidence, rule.severity)
    fix = report.fix
    return Raw(
        rule=rule.id,
        cwe=report.cwe or rule.cwe,
        start=report.start - base,
        end=report.end - base,
        message=Message(report.message, report.args),
        suggestion=Message(report.suggestion or rule.suggestion, report.args),
        confidence=confidence,
        severity=severity,
        pattern=report.pattern or rule.id,
        related=tuple(
            (start - base, end - base, Message(what, report.args))
            for (start, end), what in report.related
        ),
        fix=None if fix is None else (
            Message(fix.title, fix.args),
            tuple((start - base, end - base, new) for (start, end), new in fix.edits),
            fix.safe,
        ),
    )  # fmt: skip


def _guarded(rule: Rule, place: Any) -> list[Report]:
    """The reports of one check; a fault in a rule is logged and costs only that place."""
    try:
        return list(rule.check(place) or ())
    except Exception:  # one broken rule must not hide the findings of the others
        log.exception("rule %s failed; its finding at this place is missing", rule.id)
        return []


def _holds(when: Callable[[Any], bool], place: Function | Node) -> bool:
    """What a condition of rules says; one that fails is logged, and its rules are not run."""
    try:
        return when(place)
    except Exception:
        log.exception("%s failed; the rules behind it were not run here", when.__name__)
        return False


def _run_items(
    unit: Unit, plan: _Plan, found: list[Item], cache: ItemCache | None
) -> list[tuple[Item, ItemResult]]:
    if cache is None:
        return [(item, plan.run(unit, item)) for item in found]
    data = unit.source.data
    results = []
    kept: dict[tuple[bytes, bool], ItemResult] = {}
    for item in found:
        key = (data[item.start : item.end], item.in_test)
        known = cache.results.get(key)
        result = kept[key] = plan.run(unit, item) if known is None else known
        results.append((item, result))
    cache.results = kept
    return results


def _collect_facts(
    data: bytes, found: list[Item], language: LanguageName, cache: ItemCache | None
) -> tuple[Facts, str, dict[str, Declared]]:
    """The file's declarations; a digest of all a check of an item may learn from them but for
    the functions the file defines; these functions."""
    if cache is None:
        return merge_items(item_facts(item, language) for item in found), "", {}
    parts: list[Facts | None] = []
    defined: dict[str, Declared] = {}
    kept: dict[tuple[bytes, bool], tuple[Facts | None, bytes]] = {}
    context = hashlib.blake2b(digest_size=16)
    for item in found:
        key = (data[item.start : item.end], item.stray)
        known = cache.facts.get(key)
        if known is None:
            known = _facts_of(item, language, key[0])
        kept[key] = known
        part, rest = known
        context.update(rest)
        if part is not None and part.defined:
            defined.update(part.functions)
        parts.append(part)
    cache.facts = kept
    return merge_items(parts), context.hexdigest(), defined


def _facts_of(item: Item, language: LanguageName, written: bytes) -> tuple[Facts | None, bytes]:
    part = item_facts(item, language)
    if part is None:
        return None, b""
    if not part.defined:
        return part, written
    return part, repr(replace(part, functions={}, defined=frozenset())).encode()


def _depth_notes(found: list[Item]) -> list[str]:
    for item in found:
        if item.end - item.start > 2 * MAX_DEPTH and nests_too_deep(item.node):
            return [f"code nested deeper than {MAX_DEPTH} levels was not analysed"]
    return []


__all__ = ["Analysis", "Call", "Engine", "ItemCache", "Nodes", "Site", "WholeUnit", "finish"]
