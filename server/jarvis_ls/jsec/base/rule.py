"""Rules: how one is declared, and what its check receives and yields.

A rule is one module below `rules/c` or `rules/rust`: its docstring is the page people read,
its one decorated function the check. The name of the module is the name of the bad pattern,
the function has the same name, the id is the name with dashes.

    \"\"\"Allocated memory is freed twice.

    ## What it does
    ...
    \"\"\"

    @rule(query=calls("free"), category="memory_mgmt", cwe=(415,), confidence=0.8,
          suggestion="Set the pointer to NULL after freeing it.")
    def double_free(call: Call) -> Iterator[Report]:
        yield Report(call.node, "'{pointer}' is freed again.", pointer="p")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.finding import Severity
from jarvis_ls.jsec.flow.domain.fault import Fault, Step

Language = Literal["c", "rust"]
Range = tuple[int, int]

TEST_DAMPING = 0.5
"""What confidence is multiplied with in code that only tests run."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Asks for every call of these functions; the check receives a `Call`."""

    names: frozenset[str]
    methods: bool = False


@dataclass(frozen=True, slots=True)
class Functions:
    """Asks for function definitions; the check receives a `Function`."""

    calling: frozenset[str] = frozenset()
    """Only functions in which one of these is called; empty for all."""
    containing: frozenset[str] = frozenset()
    """Only functions with one of these in their text or right above it; empty for all."""
    when: Callable[[Any], bool] | None = None
    """Only functions for which this holds; asked once for all rules that share it."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Asks for nodes a tree-sitter pattern captures as `@site`; the check receives a `Site`."""

    patterns: dict[LanguageName, str] = field(hash=False)
    operators: frozenset[str] = frozenset()
    """Operators of the expressions that are of interest; empty for all."""
    names: frozenset[str] = frozenset()
    """Last names of what is called by the calls (or macros of Rust) that are; empty for all."""
    when: Callable[[Node], bool] | None = None
    """Which of the nodes are, by a look at nothing but the node."""


@dataclass(frozen=True, slots=True)
class WholeFile:
    """Asks for the file once, when it holds one of these words; receives a `WholeUnit`."""

    containing: tuple[str, ...]


Guess = Calls | Functions | Nodes | WholeFile
"""What can be asked of one item or file alone."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Asks for flaws of these kinds that the analysis of flow proves; receives a `Fault`."""

    kinds: frozenset[str]
    """Kinds of `Fault`; each kind is asked for by one rule of a language only."""
    by: frozenset[str] = frozenset()
    """Only those that one of these functions does; empty for all that no other rule asks for."""
    guess: Guess | None = None
    """What else the check examines, for places that flow knows nothing of."""


Query = Guess | Flow


def calls(*names: str) -> Calls:
    """Match calls of free functions by their last name (`std::mem::transmute` is `transmute`)."""
    return Calls(frozenset(names))


def methods(*names: str) -> Calls:
    """Match calls of methods by name (`value.unwrap()`, `s.c_str()`)."""
    return Calls(frozenset(names), methods=True)


def functions(
    *,
    calling: Iterable[str] = (),
    containing: Iterable[str] = (),
    when: Callable[[Any], bool] | None = None,
) -> Functions:
    """Match function definitions: all, or those that call one of `calling` (methods too) or have
    one of `containing` in their text (or right above it, such as an attribute), and for which
    `when` holds. The texts of all rules are looked for at once, and `when` is evaluated once for
    all rules that share it: a cheap necessary condition there spares many calls of checks."""
    asked = Functions(frozenset(calling), frozenset(containing), when)
    if asked.calling and asked.containing:
        raise ValueError("either `calling` or `containing`: what calls one has its name, too")
    return asked


def nodes(
    pattern: str = "",
    *,
    c: str = "",
    cpp: str = "",
    rust: str = "",
    operators: Iterable[str] = (),
    names: Iterable[str] = (),
    when: Callable[[Node], bool] | None = None,
) -> Nodes:
    """Nodes that a tree-sitter pattern captures as `@site`.

    `pattern` is for C and C++ alike (for rules below `rules/rust`: for Rust); `c` and `cpp`
    are for one of them only. A language without a pattern is not asked. Whatever is asked of
    every expression is dear, and a pattern of several nodes takes long to be made ready, so: with
    `operators`, `names` or `when` the pattern should be a kind of node and nothing more, such as
    `(binary_expression) @site`: such a kind is captured once for all rules, and the rule is asked
    only about nodes with one of the operators, or that call one of the names, for which `when`
    holds. Either all rules with a pattern name operators (or names), or none does.
    """
    patterns: dict[LanguageName, str] = {
        "c": c or pattern,
        "cpp": cpp or pattern,
        "rust": rust or pattern,
    }
    return Nodes(patterns, frozenset(operators), frozenset(names), when)


def whole_file(*containing: str) -> WholeFile:
    """Return the whole file at once; only for files whose text has one of `containing`."""
    return WholeFile(containing)


def flow(*kinds: str, by: Iterable[str] = (), guess: Guess | None = None) -> Flow:
    """Flaws of these kinds that the analysis of flow proves, or just those that the functions
    `by` do.

    With `guess` the check is also called for what that asks for. What it reports there is reported
    as it is when flow is off; else only where flow has no answer, and with less confidence.
    """
    return Flow(frozenset(kinds), frozenset(by), guess)


_NEARBY = "Local checks only."
_NOTHING = "This rule reports nothing."


class Rewrite:
    """A fix: replacements of byte ranges in the finding's item."""

    def __init__(
        self,
        title: str,
        edits: Iterable[tuple[Node | Range, str]],
        *,
        safe: bool = True,
        **args: str,
    ) -> None:
        self.title = title
        """Template of the light bulb's text."""
        self.edits = [(_range(place), new) for place, new in edits]
        """Byte ranges and what takes their place."""
        self.safe = safe
        """Whether correct inputs behave as before."""
        self.args = tuple(args.items())
        """What the places of the title hold."""


class Report:
    """What a check yields."""

    def __init__(
        self,
        place: Node | Range | Fault,
        message: str,
        *,
        cwe: tuple[int, ...] = (),
        confidence: float | None = None,
        pattern: str = "",
        suggestion: str = "",
        causes: Iterable[tuple[Node | Range, str]] = (),
        fix: Rewrite | None = None,
        **args: str,
    ) -> None:
        """Take a template as `message`, whose `{name}` places `args` fill.

        `causes` pairs the places of the same item that lead to this one, first ones first, with
        what happens there: the path as far as it is known without flow. Without `confidence` the
        rule's own is taken; `pattern` is what was matched, by default the name of the rule; `cwe`
        narrows the weaknesses of the rule to what is proven.

        A `Fault` as the place gives its steps as `trace` too, and what it proved as `args` that
        are not named.
        """
        self.trace: tuple[Step, ...] = ()
        if isinstance(place, Fault):
            self.trace = place.steps
            args = {**dict(place.args), **args}
        self.start, self.end = _range(place)
        self.cwe = cwe
        self.message = message
        self.args = tuple(args.items())
        self.confidence = confidence
        self.severity: Severity | None = None
        self.pattern = pattern
        self.suggestion = suggestion
        self.causes = [(_range(where), text) for where, text in causes]
        self.related: list[tuple[Range, str]] = []
        self.fix = fix

    def with_related(self, places: Iterable[tuple[Node | Range, str]]) -> Report:
        """Add places of the same item that explain the report, each with its text."""
        self.related += [(_range(where), text) for where, text in places]
        return self

    def with_severity(self, severity: Severity | None) -> Report:
        """Set a severity in place of the rule's; None keeps that."""
        self.severity = severity
        return self


Check = Callable[[Any], Iterable[Report] | None]


@dataclass(frozen=True, slots=True)
class FlowVerdicts:
    """How the results of the flow analysis confirm, refute or explain the guesses of a rule."""

    faults: frozenset[str] = frozenset()
    """Kinds of `Fault` that are the same flaw as the rule guesses at: a proof replaces the guess,
    and without one the guess is dropped or has little confidence."""
    trace: str = ""
    """Kind of `Fault` that is no flaw by itself: a path to a place which this rule reports."""
    sound: str = ""
    """Property whose proof refutes a guess on the same line of Rust: `null` for `sound-null`."""
    exempt: frozenset[str] = frozenset()
    """Message templates about what the flow analysis does not check: its silence does not refute
    them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as declared."""

    id: str
    """Name with dashes, such as `double-free`."""
    language: Language
    """Package it is in: `c` is for C and C++."""
    dialects: frozenset[LanguageName]
    """Grammars it runs on."""
    query: Query
    """What it asks for."""
    check: Check
    """The function that examines each place."""
    category: str
    """Family of the seeds."""
    cwe: tuple[int, ...]
    """Weakness numbers, the most exact first."""
    confidence: float
    """Of a report that names none."""
    severity: Severity
    """The worst it can be."""
    suggestion: str
    """Template of what to do."""
    page: str
    """The rule's page in Markdown."""
    fixable: bool
    """Whether it can offer a rewrite."""
    verdicts: FlowVerdicts = FlowVerdicts()
    """How the flow analysis confirms or refutes what it guesses."""
    summary: str = ""
    """Template of the message that is once for a file full of findings of this rule, with
    their `{count}`; empty: each place is reported."""
    check_fault: Check | None = None
    """The function that reports a proven `Fault`; None: `check` does."""

    @property
    def guess(self) -> Guess | None:
        """Return the query of the local check, which needs no data flow."""
        return self.query.guess if isinstance(self.query, Flow) else self.query

    def report_fault(self, fault: Fault) -> Report | None:
        """Return the report of a flaw that the flow analysis proved."""
        check = self.check_fault or self.check
        return next(iter(check(fault) or ()), None)

    @property
    def title(self) -> str:
        """First line of the page."""
        return self.page.partition("\n")[0].rstrip(".")


def rule(
    *,
    query: Query,
    category: str,
    cwe: tuple[int, ...],
    confidence: float,
    suggestion: str,
    severity: Severity = "high",
    only: LanguageName | None = None,
    fixable: bool = False,
) -> Callable[[Check], Check]:
    """Declare the decorated function as the rule of its module.

    `only` limits a rule below `rules/c` to one of C and C++. `fixable` says that some reports
    carry a `Rewrite`. `flow_verdicts` and `summary`, below this decorator, add what few rules
    need.
    """

    def declare(check: Check) -> Check:
        module = inspect.getmodule(check)
        if module is None:
            raise TypeError("a rule must be defined in a module")
        package = module.__name__.split(".")[-2]
        language: Language = "rust" if package == "rust" else "c"
        dialects: frozenset[LanguageName] = (
            frozenset({only})
            if only
            else frozenset({"rust"})
            if language == "rust"
            else frozenset({"c", "cpp"})
        )
        verdicts: FlowVerdicts = getattr(check, _VERDICTS, FlowVerdicts())
        proven = query.kinds if isinstance(query, Flow) else frozenset()
        check.__rule__ = Rule(  # type: ignore[attr-defined]
            id=check.__name__.replace("_", "-"),
            language=language,
            dialects=dialects,
            query=query,
            check=check,
            category=category,
            cwe=cwe,
            confidence=confidence,
            severity=severity,
            suggestion=suggestion,
            page=_page(inspect.cleandoc(module.__doc__ or ""), query),
            fixable=fixable,
            verdicts=replace(verdicts, faults=verdicts.faults | proven),
            summary=getattr(check, _SUMMARY, ""),
        )
        return check

    return declare


def flow_verdicts(
    *, faults: Iterable[str] = (), trace: str = "", sound: str = "", exempt: Iterable[str] = ()
) -> Callable[[Check], Check]:
    """Say how the flow analysis settles the guesses of the rule (see `FlowVerdicts`).

    The kinds that the query of the rule asks for are among `faults` anyway.
    """
    verdicts = FlowVerdicts(frozenset(faults), trace, sound, frozenset(exempt))

    def declare(check: Check) -> Check:
        setattr(check, _VERDICTS, verdicts)
        return check

    return declare


def summary(template: str) -> Callable[[Check], Check]:
    """Report a habit of the author once for a file, with the `{count}` of its places."""

    def declare(check: Check) -> Check:
        setattr(check, _SUMMARY, template)
        return check

    return declare


def on_fault(check: Check) -> Callable[[Check], Check]:
    """Report what flow proves by the decorated function; `check` then answers the guess alone.

    It follows the check, in the same module:

        @on_fault(double_free)
        def _report_fault(fault: Fault) -> Iterator[Report]:
            yield Report(fault, "'{name}' is freed a second time.")
    """
    declared = declared_rule(check)
    if declared is None or not isinstance(declared.query, Flow):
        raise TypeError("only a rule that asks flow reports faults")

    def declare(report: Check) -> Check:
        check.__rule__ = replace(declared, check_fault=report)  # type: ignore[attr-defined]
        return report

    return declare


def declared_rule(check: object) -> Rule | None:
    """Return the rule that `rule` made of a function; None for anything else."""
    declared = getattr(check, "__rule__", None)
    return declared if isinstance(declared, Rule) else None


_VERDICTS = "__flow_verdicts__"
_SUMMARY = "__summary__"


def _page(written: str, query: Query) -> str:
    """Return the page of a rule; one that asks flow says what is left without it."""
    if not isinstance(query, Flow):
        return written
    left = _NEARBY if query.guess is not None else _NOTHING
    what, heading, rest = written.partition("\n\n## References")
    return f"{what}\n\n## With `--no-flow`\n{left}{heading}{rest}"


def _range(place: Node | Range | Fault) -> Range:
    if isinstance(place, tuple):
        return place
    if isinstance(place, Fault):
        return place.span
    return place.start_byte, place.end_byte
