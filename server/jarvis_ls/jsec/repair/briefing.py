"""What an agent is told of a repair: the prompt is `prompts/repair.md`, filled in here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from jarvis_ls.core.finding import Related
from jarvis_ls.core.words import filled
from jarvis_ls.jsec.proof.said import how_it_was_run
from jarvis_ls.jsec.repair.behaviour import Boundary
from jarvis_ls.jsec.repair.judge import Judge
from jarvis_ls.jsec.repair.verdict import Gate, State
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.base.redaction import redact

if TYPE_CHECKING:
    from jarvis_ls.jsec.repair.repair import Attempt

_AROUND = 4
"""Lines above and below each step of the path."""
_MOST_STEPS = 12
_MOST_CASES = 8
_MOST_DETAILS = 1500
_MOST_DIFF = 6000


class Answer(BaseModel):
    """What an agent says when it is done."""

    status: Literal["repaired", "cannot"]
    cause: str = Field(description="Where the flaw comes from, in one or two sentences.")
    change: str = Field(description="What was changed and why it suffices, or why it cannot be.")


async def brief(judge: Judge, before: Sequence[Attempt]) -> str:
    """Return the task of an agent; `before` are the attempts that failed."""
    original = await judge.original()
    finding = judge.finding
    weaknesses = ", ".join(f"CWE-{number}" for number in finding.cwe)
    values = {
        "finding": f"{finding.rule} ({weaknesses}) at {finding.file}:{finding.span.line}: "
        f"{finding.message} {finding.suggestion}",
        "path": as_data(_path(judge)),
        "evidence": as_data(_evidence(judge)),
        "specification": as_data(_specification(original.boundary)),
        "scope": as_data(
            "\n".join(
                f"- {name or '(outside of functions)'} in {file}" for file, name in judge.allowed
            )
        ),
        "lines": str(judge.limits.lines),
        "gates": ", ".join(gate.value for gate in Gate),
        "before": _before(before),
    }
    return filled(read_prompt("jarvis_ls.jsec.repair", "repair"), values)


def _path(judge: Judge) -> str:
    parts: list[str] = []
    steps = judge.finding.steps
    chosen = steps if len(steps) <= _MOST_STEPS else (*steps[: _MOST_STEPS - 1], steps[-1])
    shown: set[tuple[str, int]] = set()
    for number, step in enumerate(chosen, 1):
        parts.append(f"{number}. {step.file}:{step.span.line}: {step.message}")
        parts += _lines_around(judge, step, shown)
    return "\n".join(parts)


def _lines_around(judge: Judge, step: Related, shown: set[tuple[str, int]]) -> list[str]:
    """Return the lines at a step with their numbers, each only once in the whole path."""
    source = judge.bench.source(step.file)
    if source is None:
        return []
    first = max(1, step.span.line - _AROUND)
    last = min(len(source.line_starts), step.span.line + _AROUND)
    fresh = [line for line in range(first, last + 1) if (step.file, line) not in shown]
    shown |= {(step.file, line) for line in fresh}
    return [f"   {line:>5} | {source.line_text(line)[:200]}" for line in fresh]


def _evidence(judge: Judge) -> str:
    evidence = judge.evidence
    if evidence is None:
        return "Nothing was run."
    report = evidence.report
    parts = [f"{evidence.verdict.value}: {evidence.message}"]
    if report is not None:
        parts.append(f"{report.kind} at {report.file}:{report.line}: {report.text}")
    return redact("\n".join(parts))


def _specification(boundary: Boundary) -> str:
    parts = [f"- stop: {how_it_was_run(case)}" for case in boundary.failing[:_MOST_CASES]]
    if len(boundary.failing) > _MOST_CASES:
        parts.append(f"- stop: {len(boundary.failing) - _MOST_CASES} more like these")
    parts += [
        f"- keep: {how_it_was_run(case)}: status {result.status}, output {result.output[:60]!r}"
        for case, result in list(boundary.good.items())[:_MOST_CASES]
    ]
    if not parts:
        parts = ["No input is known that shows it: judge by the code."]
    return redact("\n".join(parts))


def _before(attempts: Sequence[Attempt]) -> str:
    parts: list[str] = []
    for number, attempt in enumerate(attempts, 1):
        if attempt.judgement is None:
            parts.append(f"## Attempt {number} gave no patch\n{as_data(attempt.problem)}")
            continue
        failures = [item for item in attempt.judgement.results if item.state is State.FAILED]
        told = "\n".join(
            f"gate {item.gate.value}: {item.message}\n{redact(item.details[-_MOST_DETAILS:])}"
            for item in failures
        )
        diff = attempt.judgement.patch.diff()[:_MOST_DIFF]
        parts.append(
            f"## Attempt {number} was refused (the copy is as at first again)\n"
            f"{as_data(f'{told}{chr(10)}{diff}')}"
        )
    return "\n\n".join(parts)
