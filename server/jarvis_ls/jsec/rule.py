"""What a rule is, how it is declared, and how all rules are found.

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

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.finding import Severity
from jarvis_ls.jsec.flow.fault import Fault, Step

Language = Literal["c", "rust"]
Range = tuple[int, int]


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
    """What else the check looks at, for places that flow knows nothing of."""


Query = Guess | Flow


def calls(*names: str) -> Calls:
    """Calls of free functions by their last name (`std::mem::transmute` is `transmute`)."""
    return Calls(frozenset(names))


def methods(*names: str) -> Calls:
    """Calls of methods by name (`value.unwrap()`, `s.c_str()`)."""
    return Calls(frozenset(names), methods=True)


def functions(
    *, calling: Iterable[str] = (), when: Callable[[Any], bool] | None = None
) -> Functions:
    """Function definitions, all or those that call one of `calling` (methods too) and for
    which `when` holds. `when` is asked once for all rules that share it, so a cheap necessary
    condition there spares many calls of checks."""
    return Functions(frozenset(calling), when)


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
        "c": c or pattern, "cpp": cpp or pattern, "rust": rust or pattern
    }  # fmt: skip
    return Nodes(patterns, frozenset(operators), frozenset(names), when)


def whole_file(*containing: str) -> WholeFile:
    """The whole file at once; only for files whose text has one of `containing`."""
    return WholeFile(containing)


def flow(*kinds: str, by: Iterable[str] = (), guess: Guess | None = None) -> Flow:
    """Flaws of these kinds that the analysis of flow proves, or just those that the functions
    `by` do.

    With `guess` the check is also called for what that asks for. What it reports there is told
    as it is when flow is off; else only where flow has no answer, and with less confidence.
    """
    return Flow(frozenset(kinds), frozenset(by), guess)


_NEARBY = "Only what stands near the place is looked at."
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
        trace: Iterable[Step] | None = None,
        confidence: float | None = None,
        severity: Severity | None = None,
        pattern: str = "",
        suggestion: str = "",
        causes: Iterable[tuple[Node | Range, str]] = (),
        related: Iterable[tuple[Node | Range, str]] = (),
        fix: Rewrite | None = None,
        **args: str,
    ) -> None:
        """`message` is a template whose `{name}` places `args` fill; `causes` pairs the places in
        the same item that lead to this one, first ones first, with what happens there: its way
        as far as it is known without flow; `related` does so with places beside it; without
        `confidence` and `severity` the rule's own are taken; `pattern` is what was matched, by
        default the name of the rule; `cwe` narrows the weaknesses of the rule to what is proven.

        A `Fault` as the place gives its steps as `trace` too, and what it proved as `args` that
        are not named."""
        if isinstance(place, Fault):
            trace = place.steps if trace is None else trace
            args = {**dict(place.args), **args}
        self.start, self.end = _range(place)
        self.cwe = cwe
        self.trace = tuple(trace or ())
        self.message = message
        self.args = tuple(args.items())
        self.confidence = confidence
        self.severity = severity
        self.pattern = pattern
        self.suggestion = suggestion
        self.causes = [(_range(where), what) for where, what in causes]
        self.related = [(_range(where), what) for where, what in related]
        self.fix = fix


Check = Callable[[Any], Iterable[Report] | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as declared."""

    id: str
    """Name with dashes, such as `double-free`."""
    language: Language
    """Package it lies in: `c` is for C and C++."""
    dialects: frozenset[LanguageName]
    """Grammars it runs on."""
    query: Query
    """What it asks for."""
    check: Check
    """The function that looks at each place."""
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
    answered: frozenset[str] = frozenset()
    """Kinds of `Fault` that are the same flaws as this rule looks for without flow."""
    reached: str = ""
    """Kind of `Fault` that is no flaw by itself: a way to a place which this rule looks at."""
    cleared: str = ""
    """What flow is asked about a place this rule guesses at: `null` for `sound-null`."""
    unasked: frozenset[str] = frozenset()
    """Templates of reports about what flow does not ask: its silence does not refute them."""
    gathered: str = ""
    """Template of what is said once for a file that gives cause throughout, with the `{count}` of
    places; empty: each place is told."""

    @property
    def guess(self) -> Guess | None:
        """What it asks for without flow."""
        return self.query.guess if isinstance(self.query, Flow) else self.query

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
    answered: Iterable[str] = (),
    reached: str = "",
    cleared: str = "",
    unasked: Iterable[str] = (),
    gathered: str = "",
) -> Callable[[Check], Check]:
    """Declare the decorated function as the rule of its module.

    `only` limits a rule below `rules/c` to one of C and C++. `fixable` says that some reports
    carry a `Rewrite`. `answered` names kinds of `Fault`, besides those the rule asks for, that
    are the same flaws as it looks for: where flow has the answer, the rule is not asked.
    `reached` names the ways that flow notes to the places the rule looks at, for `trace`. In Rust
    flow answers place by place: `cleared` names what it has to find sound for the guess to go.
    `unasked` are the templates of reports about what flow does not ask.
    `gathered` is for what is a habit rather than a slip: it is said once of a file full of it.
    """

    def declare(check: Check) -> Check:
        module = inspect.getmodule(check)
        if module is None:
            raise TypeError("a rule must lie in a module")
        package = module.__name__.split(".")[-2]
        language: Language = "rust" if package == "rust" else "c"
        dialects: frozenset[LanguageName] = (
            frozenset({only}) if only
            else frozenset({"rust"}) if language == "rust"
            else frozenset({"c", "cpp"})
        )  # fmt: skip
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
            answered=frozenset(answered) | (query.kinds if isinstance(query, Flow) else set()),
            reached=reached,
            cleared=cleared,
            unasked=frozenset(unasked),
            gathered=gathered,
        )
        return check

    return declare


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule by id, in order of id. Raises `ValueError` when two share one."""
    from jarvis_ls.jsec.rules import c, rust

    found: dict[str, Rule] = {}
    for package in (c, rust):
        for info in pkgutil.iter_modules(package.__path__):
            declared = _rule_of(importlib.import_module(f"{package.__name__}.{info.name}"))
            if declared.id in found:
                raise ValueError(f"two rules are named {declared.id}")
            found[declared.id] = declared
    return dict(sorted(found.items()))


def _page(written: str, query: Query) -> str:
    """The page of a rule; one that asks flow says what is left without it."""
    if not isinstance(query, Flow):
        return written
    left = _NEARBY if query.guess is not None else _NOTHING
    what, heading, rest = written.partition("\n\n## Why is this bad?")
    return f"{what}\n\n## Without flow (`--no-flow`)\n{left}{heading}{rest}"


def _rule_of(module: ModuleType) -> Rule:
    name = module.__name__.rpartition(".")[2]
    declared = getattr(getattr(module, name, None), "__rule__", None)
    if not isinstance(declared, Rule):
        raise ValueError(f"{module.__name__} has no rule function named {name}")
    return declared


@functools.cache
def flow_rules(language: Language) -> dict[tuple[str, str], Rule]:
    """The rule that asks for each kind of `Fault` in a language, with the function that does it or
    an empty name for all others. Raises `ValueError` when two do."""
    found: dict[tuple[str, str], Rule] = {}
    for one in all_rules().values():
        if one.language != language or not isinstance(one.query, Flow):
            continue
        for kind in sorted(one.query.kinds):
            for key in [(kind, name) for name in sorted(one.query.by or {""})]:
                if key in found:
                    raise ValueError(f"{one.id} and {found[key].id} both ask for '{kind}'")
                found[key] = one
    return found


def _range(place: Node | Range | Fault) -> Range:
    if isinstance(place, tuple):
        return place
    if isinstance(place, Fault):
        return place.span
    return place.start_byte, place.end_byte
