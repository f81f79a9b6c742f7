"""`equivalence.md`: what a verification came to, in words, in the language of who asked for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.words import Words, together
from jarvis_ls.jc2r.equivalence.counterexample import difference_of

if TYPE_CHECKING:
    from jarvis_ls.jc2r.equivalence.outcome import Outcome

_STATES = {
    "equal": Words("behaves like the C"),
    "differs": Words("behaves differently"),
    "unstable": Words("non-deterministic"),
    "no_input": Words("no valid input"),
    "not_run": Words("not tested"),
    "stale": Words("stale"),
}
Say = Callable[[str], str]
"""Puts `Words`, and English text that was kept, into the reader's language."""


def summary(outcome: Outcome, say: Say = str) -> str:
    """Return the report: how many functions are in which state, what differs, why others were not
    run.
    """
    lines = [*_of_functions(outcome, say), *_of_programs(outcome, say), *_reasons(outcome, say)]
    lines += ["", *(Words("note: {text}", text=say(note)) for note in outcome.verified.notes)]
    return "\n".join(map(say, lines)).rstrip() + "\n"


def strength(found: Mapping[str, Any]) -> Words:
    """In words, what became of the planted mutants of a record."""
    if not found["planted"]:
        return Words("The Rust has no place for a mutant.")
    said = Words(
        (
            "{killed} of {planted} mutants were killed ({by_functions} by function "
            "tests alone; {equivalent} equivalent mutants and {not_built} that do not "
            "compile are not counted)."
        ),
        **{
            name: found[name]
            for name in ("killed", "planted", "by_functions", "equivalent", "not_built")
        },
    )
    if not found.get("unasked"):
        return said
    more = Words(
        ("{n} of the surviving mutants were not examined: the time limit was reached."),
        n=found["unasked"],
    )
    return together([said, more], " ")


def advice(outcome: Outcome) -> Words | None:
    """Return what would show more, when most of the mutants were missed and no program was ever
    run.
    """
    found = outcome.mutants
    if found is None or outcome.cases or 2 * found["killed"] >= found["planted"]:
        return None
    return Words(
        "These tests would miss most faults. Cases of the project's programs cover "
        "more: `jc2r record PROGRAM ARGUMENTS` records one, and `jc2r verify "
        "--explore 60` generates others from it."
    )


def _of_functions(outcome: Outcome, say: Say) -> Iterator[str]:
    verified = outcome.verified
    yield from (Words("# Equivalence of C and Rust"), "", Words("| state | functions |"))
    yield "| --- | --- |"
    for state in ("equal", "differs", "unstable", "no_input", "not_run"):
        yield f"| {say(_STATES[state])} | {verified.count(state)} |"
    total = len(verified.functions)
    compared = verified.count("equal") + verified.count("differs")
    yield ""
    yield Words(
        (
            "{compared} of {total} functions ({share} %) were compared individually, "
            "in {cases} generated cases; {left_out} more cases were excluded because "
            "the C has undefined behaviour or does not terminate with them."
        ),
        compared=compared,
        total=total,
        share=round(100 * compared / max(1, total)),
        cases=sum(function["cases"] for function in verified.functions),
        left_out=sum(sum(function["excluded"].values()) for function in verified.functions),
    )
    for state, title in (
        ("differs", Words("## Differences")),
        ("unstable", Words("## Non-deterministic functions")),
    ):
        some = [function for function in verified.functions if function["state"] == state]
        if some:
            yield from ("", title, "")
        for record in some:
            yield f"- {record['file']}:{record['line']}: `{record['function']}`"
            if told := difference_of(record) or record["reason"]:
                yield f"  {say(told)}"
    if verified.undefined:
        yield from ("", Words("## Undefined behaviour in the C"), "")
        yield from (Words("`jsec scan` also reports these places."), "")
    for found in verified.undefined:
        yield Words(
            "- {place}: {pattern}, in `{name}`",
            place=f"{found['file']}:{found['line']}",
            pattern=found["pattern"],
            name=found["function"],
        )


def _of_programs(outcome: Outcome, say: Say) -> Iterator[str]:
    if outcome.cases:
        equal = sum(case["state"] == "equal" for case in outcome.cases)
        yield from ("", Words("## Programs"), "")
        yield Words(
            "{equal} of {total} recorded cases match.", equal=equal, total=len(outcome.cases)
        )
        for record in outcome.cases:
            if record["state"] != "equal":
                why = say(record["difference"])
                yield Words(
                    "- {name}: {state}, {difference}",
                    name=record["name"],
                    state=_STATES[record["state"]],
                    difference=why,
                )
    if outcome.explored is not None:
        explored = outcome.explored
        yield ""
        yield Words(
            (
                "{cases} cases were generated from them and compared: {differ} differ, "
                "{kept} reached new code, {excluded} were excluded."
            ),
            cases=explored["cases"],
            differ=len(explored["differences"]),
            kept=explored["kept"],
            excluded=explored["excluded"],
        )
    if outcome.mutants is not None:
        yield from ("", Words("## Strength of these tests"), "", strength(outcome.mutants))
        if (said := advice(outcome)) is not None:
            yield from ("", said, "")
        for mutant in outcome.mutants["survivors"]:
            yield Words(
                "- survived: {place}: {before} → {after}",
                place=f"{mutant['file']}:{mutant['line']}",
                before=_code(mutant["before"]),
                after=_code(mutant["after"]) or say("nothing"),
            )


def _code(text: str) -> str:
    """Return a piece of a program on one line of Markdown; empty when there is nothing in it."""
    line = " ".join(text.split())
    return f"`{line}`" if line else ""


def _reasons(outcome: Outcome, say: Say) -> Iterator[str]:
    reasons = Counter(
        _kind_of(function["reason"])
        for function in outcome.verified.functions
        if function["state"] in ("not_run", "no_input")
    )
    if reasons:
        yield from ("", Words("## Functions that were not compared individually"), "")
    for reason, count in reasons.most_common():
        yield f"- {count} × {say(reason)}"


def _kind_of(reason: str) -> str:
    """Return a reason without the way to what it is about."""
    if not reason.startswith("it calls "):
        return reason
    name = reason.rsplit(" ", 1)[-1]
    return Words("it calls {name} directly or indirectly", name=name)
