"""What evidence says to people."""

from __future__ import annotations

from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.proof.evidence import ANY_CALL, NO_CALL, SET_USER, Case, Strength, Verdict
from jarvis_ls.jsec.proof.invariants import Outcome

NAMES: dict[Verdict, str] = {
    Verdict.REPRODUCED: Words("reproduced"),
    Verdict.CALLER: Words("depends on the caller"),
    Verdict.REFUTED: Words("refuted"),
    Verdict.SURVIVED: Words("survived"),
    Verdict.UNPROVEN: Words("unproven"),
}
"""Verdicts as people read them."""

STRENGTHS: dict[Strength, str] = {
    Strength.PROVEN: Words("proven by a sound analysis"),
    Strength.UNSAT: Words("the conditions of the path contradict each other"),
    Strength.SURVIVED: Words("an assertion held in all runs"),
}
"""How a refutation is known."""

OUTCOMES: dict[Outcome, str] = {
    Outcome.PROVEN: Words("proven"),
    Outcome.SURVIVED: Words("survived"),
    Outcome.BROKEN: Words("broken"),
    Outcome.UNDECIDED: Words("undecided"),
}
"""What became of an invariant."""

_LONGEST = 40


def how_it_was_run(case: Case) -> str:
    """Return the inputs and settings of a case in `Words`."""
    parts: list[str] = []
    if case.arguments:
        shown = " ".join(_show(text) for text in case.arguments)
        parts.append(Words("arguments {arguments}", arguments=shown))
    if case.stdin:
        parts.append(
            Words(
                "{count} bytes on standard input ({text})",
                count=len(case.stdin),
                text=_show(case.stdin.split(b"\n")[0].decode("utf-8", "backslashreplace")),
            )
        )
    parts += [Words("file {name}", name=name) for name, _ in case.files]
    parts += [f"{name}={_show(value)}" for name, value in case.environment]
    parts += _settings(case)
    if case.build.checker == "memcheck":
        parts.append(Words("run by Valgrind"))
    return together(parts, ", ") if parts else Words("no input")


def _settings(case: Case) -> list[str]:
    settings = case.settings
    parts: list[str] = []
    if settings.fail_allocation > 0:
        parts.append(Words("allocation {number} failing", number=settings.fail_allocation))
    elif settings.fail_allocation:
        parts.append(Words("all allocations failing"))
    if settings.fail_call == ANY_CALL:
        if settings.fail_number < NO_CALL:
            parts.append(
                Words("the call failing that is number {number}", number=settings.fail_number)
            )
    elif settings.fail_call and settings.fail_number > 0:
        parts.append(
            Words(
                "call {number} of {name} failing",
                name=settings.fail_call,
                number=settings.fail_number,
            )
        )
    elif settings.fail_call:
        parts.append(Words("every call of {name} failing", name=settings.fail_call))
    if settings.short_reads:
        parts.append(Words("reads that deliver one byte"))
    if settings.random:
        numbers = " ".join(map(str, settings.random))
        parts.append(Words("random numbers {number}", number=numbers))
    if settings.signals == 1:
        parts.append(Words("signals that arrive as soon as their handlers are installed"))
    elif settings.signals:
        parts.append(Words("signals that arrive {count} calls later", count=settings.signals))
    if settings.users == SET_USER:
        parts.append(Words("started as a set-user-ID program of root"))
    elif settings.users:
        parts.append(Words("started by user {number}", number=settings.users[0]))
    if settings.full:
        parts.append(Words("standard output full"))
    return parts


def _show(text: str) -> str:
    """Return a text in quotes; of a long one its beginning and length."""
    if len(text) > _LONGEST:
        return f"{text[: _LONGEST // 2]!r}… ({len(text)})"
    return repr(text)
