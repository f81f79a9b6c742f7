"""What agents are told, and the forms of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from jarvis_ls.core.words import filled
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.base.redaction import redact
from jarvis_ls.tester.config import Config, TaskNotes
from jarvis_ls.tester.patching import MOST_CANDIDATES, AgentRecord, ProposedPatch
from jarvis_ls.tester.protocol import GivenCase, Request
from jarvis_ls.tester.reachable import Reach
from jarvis_ls.tester.results import TestResult
from jarvis_ls.tester.scope import Scope

_MOST_TESTS, _MOST_SYMBOLS, _MOST_FILES = 20, 120, 200
_MOST_LOG, _MOST_PATCH = 4_000, 6_000


class PlanAnswer(AgentRecord):
    """Why tests fail and what has to change."""

    diagnosis: str = Field(max_length=4000)
    """Why they fail, in one or two sentences."""
    cause: str = ""
    """File where the cause is; empty when it is not known."""
    files: list[str] = Field(default=[], max_length=100)
    """Files that a repair has to change."""
    approach: str = Field(default="", max_length=4000)
    """How it is to be repaired."""


class PatchAnswer(AgentRecord):
    """Patches, or why there are none."""

    status: Literal["patched", "cannot"]
    reason: str = Field(default="", max_length=4000)
    """Why it cannot be repaired."""
    candidates: list[ProposedPatch] = Field(default=[], max_length=MOST_CANDIDATES)


class CasesAnswer(AgentRecord):
    """Test cases that follow from a description."""

    entry_point: str = ""
    cases: list[GivenCase] = Field(default=[], max_length=20)


def brief_plan(
    request: Request,
    notes: TaskNotes,
    failed: Sequence[TestResult],
    reach: Reach,
    scope: Scope,
    earlier: Sequence[str],
) -> str:
    """Return the task of the agent that plans."""
    values = {
        "task": _task(request, notes, earlier),
        "failures": _failures(failed, notes),
        "hint": _hint(request),
        "reachable": as_data("\n".join(f"- {name}" for name in reach.symbols[:_MOST_SYMBOLS])),
        "outside": as_data(
            "\n".join(f"- {path}: {why}" for path, why in list(scope.outside.items())[:_MOST_FILES])
            or "(nothing of what is reached)"
        ),
    }
    return filled(read_prompt("jarvis_ls.tester", "plan"), values)


def brief_patch(
    request: Request,
    notes: TaskNotes,
    failed: Sequence[TestResult],
    plan: PlanAnswer,
    scope: Scope,
    config: Config,
    before: Sequence[str],
) -> str:
    """Return the task of an agent that writes patches; `before` are attempts and what refused
    them."""
    several = (
        f"Give up to {MOST_CANDIDATES} patches that differ in how they repair, the best first."
    )
    imports = "" if config.safety.allow_new_imports else ", an import that the file did not have"
    values = {
        "task": _task(request, notes, ()),
        "failures": _failures(failed, notes),
        "plan": as_data(f"{plan.diagnosis}\n{plan.approach}".strip()),
        "scope": as_data("\n".join(f"- {path}" for path in scope.files[:_MOST_FILES])),
        "imports": imports,
        "count": several if request.human_in_the_loop else "Give one patch, the best.",
        "before": "\n\n".join(before),
        "hint": _hint(request),
    }
    return filled(read_prompt("jarvis_ls.tester", "patch"), values)


def brief_cases(request: Request, notes: TaskNotes) -> str:
    """Return the task of the agent that writes test cases."""
    values = {"task": _task(request, notes, ())}
    return filled(read_prompt("jarvis_ls.tester", "cases"), values)


def brief_attempt(number: int, patch: str, problems: Sequence[str]) -> str:
    """Return what an agent is told of an attempt that was refused."""
    told = redact("\n".join(problems))[:_MOST_LOG]
    return f"## Attempt {number} was refused (the copy is as at first again)\n" + as_data(
        f"{told}\n{patch[:_MOST_PATCH]}"
    )


def _task(request: Request, notes: TaskNotes, earlier: Sequence[str]) -> str:
    parts = [
        notes.change_description,
        notes.functionality,
        *(f"function: {name}" for name in notes.definitions),
        *(f"depends on: {path}" for path in notes.dependencies),
        f"entry point: {request.entry_point}" if request.entry_point else "",
        *(f"earlier in this conversation: {text}" for text in earlier),
    ]
    return as_data(redact("\n".join(filter(None, parts)) or "Make the failing tests pass."))


def _hint(request: Request) -> str:
    return request.prompt_hint or "(none)"


def _failures(failed: Sequence[TestResult], notes: TaskNotes) -> str:
    parts = [f"{test.name}\n{test.why}".strip() for test in failed[:_MOST_TESTS]]
    if len(failed) > _MOST_TESTS:
        parts.append(f"and {len(failed) - _MOST_TESTS} more tests")
    if notes.error_log:
        parts.append(notes.error_log[-_MOST_LOG:])
    return as_data(redact("\n\n".join(parts)))
