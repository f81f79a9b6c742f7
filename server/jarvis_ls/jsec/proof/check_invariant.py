"""Checks an invariant of a finding: an expression of C that is claimed to hold whenever the
statement is reached.

It is put into a copy of the file, before the statement. Symbolic execution proves it, or runs of
the program and calls of the function try to break it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding, Span
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.configured import configure
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.invariants import Invariant, Outcome
from jarvis_ls.jsec.proof.marked_source import insert_before
from jarvis_ls.jsec.proof.places import functions_of, statement_lines
from jarvis_ls.jsec.proof.refuting import assumptions, hashes, missing_packages, read_changed
from jarvis_ls.jsec.proof.rungs.function_harness import FunctionHarness
from jarvis_ls.jsec.proof.rungs.rung import Rung
from jarvis_ls.jsec.proof.rungs.survived_runs import SurvivedRuns
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram
from jarvis_ls.jsec.proof.said import how_it_was_run
from jarvis_ls.jsec.proof.symbolic.goal import INVARIANT, Check, Goal, checks_for
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "invariant"
LONGEST = 500
"""Bytes of an expression."""
_DIVISION = (369,)
"""The weakness that stands for a broken invariant: where it is false, 1 is divided by zero."""
_KINDS = frozenset(
    "binary_expression unary_expression parenthesized_expression identifier number_literal "
    "char_literal field_expression subscript_expression pointer_expression sizeof_expression "
    "cast_expression conditional_expression type_descriptor primitive_type sized_type_specifier "
    "struct_specifier type_identifier field_identifier abstract_pointer_declarator true false null "
    "type_qualifier argument_list character escape_sequence".split()
)
"""What an expression may consist of: nothing that changes something."""
_CALLS = frozenset({"strlen", "wcslen", "strnlen", "abs", "labs"})
"""Functions that it may call."""
_RUNGS: tuple[Rung, ...] = (WholeProgram(), FunctionHarness(), SurvivedRuns())


async def check_invariant(
    finding: Finding, expression: str, bench: Workbench, budget: Budget
) -> Invariant:
    """Return what became of an invariant of a finding.

    `bench` is a workbench of the trusted workspace the finding is in. Raises `UsageError` when the
    expression is none of C, or changes something, and `JarvisError` when nothing can be run.
    """
    text = _check_text(expression)
    if language_of(finding.file) in ("c", "cpp"):
        await configure(bench, budget)
    source = bench.source(finding.file)
    marked = None
    if source is not None:
        call = b"{ extern void %s(int); %s(!!(%s)); } "
        name = INVARIANT.encode()
        code = call % (name, name, text.encode())
        marked = insert_before(source, finding.span, code, loops=False)
    if source is None or marked is None:
        why = Words(
            "No assertion can be put before it: it is in a macro, in the head of a loop, or not C."
        )
        return _invariant(finding, bench, budget, text, _say_undecided(why))
    proven = await asyncio.to_thread(_prove, finding, bench, budget, marked)
    if isinstance(proven, tuple):
        evidence, rules_out = proven
        found = _invariant(finding, bench, budget, text, evidence)
        return replace(found, outcome=Outcome.PROVEN, rules_out=rules_out)
    tried = await _try_runs(finding, bench, budget, source, text)
    if tried.verdict is Verdict.UNPROVEN and proven:
        tried = _say_undecided(proven)
    return _invariant(finding, bench, budget, text, tried)


def _check_text(expression: str) -> str:
    """Return an expression on one line. Raises `UsageError` when it is not plain."""
    text = " ".join(expression.split())
    data = f"int jsec_x = ({text});".encode("utf-8", "replace")
    root = parse(data, "c").root_node
    declared = root.named_children[0] if root.named_child_count == 1 else None
    value = declared.child_by_field_name("declarator") if declared is not None else None
    inner = value.child_by_field_name("value") if value is not None else None
    if (
        not text
        or len(data) > LONGEST
        or root.has_error
        or not text.isascii()
        or inner is None
        or inner.type != "parenthesized_expression"
        or inner.end_byte != len(data) - 1
        or not all(_is_plain(node) for node in _nodes(inner))
    ):
        raise UsageError(
            "'{expression}' is not a plain C expression: compare variables, members and elements; "
            "it may call strlen, and change nothing.",
            expression=text[:LONGEST],
        )
    return text


def _nodes(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += inner.named_children


def _is_plain(node: Node) -> bool:
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        name = function.text if function is not None else None
        return name is not None and name.decode("utf-8", "replace") in _CALLS
    return node.type in _KINDS


def _prove(
    finding: Finding, bench: Workbench, budget: Budget, marked: bytes
) -> tuple[Evidence, bool] | str:
    """Return the proof of an invariant and whether it rules the finding out; or, in `Words`, why
    it could not even be read, empty when it could."""
    if missing_packages():
        return ""
    from jarvis_ls.jsec.proof.symbolic.refutation import Question, show

    if language_of(finding.file) != "c":
        return Words("Only C can be executed symbolically.")
    source = bench.source(finding.file)
    read = read_changed(bench, finding.file, marked)
    if isinstance(read, str):
        return read
    function = read.code.at(finding.file, finding.span.line)
    if function is None or source is None:
        return ""
    places = ((finding.file, *statement_lines(source, finding.span)),)
    goal = Goal(places, frozenset({Check.INVARIANT}))
    seconds = budget.left / 3
    question = Question(read.code, goal, function, read.is_whole, seconds, budget.stop.is_set)
    answer = show(question)
    budget.spend(answer.seconds)
    if not answer.is_shown:
        return ""
    checks = checks_for(finding.cwe)
    rules_out = False
    if checks and Check.KEPT not in checks:  # that something is lost shows in no statement
        without = show(replace(question, goal=Goal(places, checks), seconds=budget.left / 3))
        budget.spend(without.seconds)
        rules_out = without.is_shown
    plain = read_changed(bench, finding.file)
    evidence = Evidence(
        Verdict.REFUTED,
        NAME,
        Words("It holds on every path that leads there (z3)."),
        strength=Strength.UNSAT,
        assumptions=assumptions(answer, function.name),
        functions=() if isinstance(plain, str) else hashes(bench, plain, answer),
    )
    return evidence, rules_out


async def _try_runs(
    finding: Finding, bench: Workbench, budget: Budget, source: Source, text: str
) -> Evidence:
    """Return what runs show: they survive, or one breaks the invariant."""
    code = f"{{ volatile int jsec_holds = 1 / !!({text}); (void)jsec_holds; }} ".encode()
    marked = insert_before(source, finding.span, code, loops=False)
    if marked is None:
        return _say_undecided(Words("No assertion can be put before it."))
    changed = bench.with_change(finding.file, marked)
    place = _inserted_at(marked, code)
    asked = replace(finding, cwe=_DIVISION, span=place, trace=(), related=())
    weak: list[Evidence] = []
    for rung in _RUNGS:
        if budget.left <= 0:
            break
        if reason := rung.missing(bench.tools):
            weak.append(_say_undecided(reason))
            continue
        found = await rung.attempt(asked, changed, budget)
        if found is not None and found.is_decisive:
            return replace(found, message=_broken(found, text))
        if found is not None:
            weak.append(found)
    runs = sum(item.runs for item in weak if item.verdict is Verdict.SURVIVED)
    if runs:
        why = Words("{count} runs came to it, and it held in all of them.", count=runs)
        return Evidence(Verdict.SURVIVED, NAME, why, strength=Strength.SURVIVED, runs=runs)
    if weak:
        return weak[-1]
    return _say_undecided(Words("The time limit was reached before there was an answer."))


def _inserted_at(marked: bytes, code: bytes) -> Span:
    """Return where a statement was inserted."""
    start = marked.index(code)
    line = marked.count(b"\n", 0, start) + 1
    text = marked[marked.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
    column = len(text.encode("utf-16-le")) // 2 + 1
    inner = column + code.index(b"1 /")
    return Span(line, inner, line, inner + 1)


def _broken(found: Evidence, text: str) -> str:
    """Return what a run has shown that broke an invariant, in `Words`."""
    if found.verdict is Verdict.CALLER:
        values = found.message.values if isinstance(found.message, Words) else {}
        return Words(
            "'{expression}' is false there when a caller of '{function}' passes {values}.",
            expression=text,
            function=values.get("function", ""),
            values=values.get("values", "-"),
        )
    how = how_it_was_run(found.case) if found.case is not None else ""
    return Words("A run broke it: '{expression}' was false, with {how}.", expression=text, how=how)


def _say_undecided(why: str) -> Evidence:
    return Evidence(Verdict.UNPROVEN, NAME, why)


def _invariant(
    finding: Finding, bench: Workbench, budget: Budget, text: str, evidence: Evidence
) -> Invariant:
    """Return the record, complete with what does not depend on who has checked it."""
    outcome = {Verdict.SURVIVED: Outcome.SURVIVED, Verdict.UNPROVEN: Outcome.UNDECIDED}.get(
        evidence.verdict, Outcome.BROKEN
    )
    own = functions_of(bench, finding)
    complete = replace(
        evidence,
        gid=finding.gid,
        fingerprint=finding.fingerprint,
        functions=tuple(sorted({**dict(own), **dict(evidence.functions)}.items())),
        seconds=budget.spent,
    )
    return Invariant(text, outcome, complete)
