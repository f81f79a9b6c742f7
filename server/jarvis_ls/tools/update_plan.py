"""Keep the plan that the user sees."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import EntryPut, Feed, PlanEntry, PlanStep, StepState
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext, tool

MAX_STEPS = 40
MAX_LENGTH = 300
_MARKS = {"pending": "[ ]", "active": "[>]", "done": "[x]", "dropped": "[-]"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    text: str
    """What is done, in a few words."""
    state: StepState = "pending"
    """`pending`, `active` (being worked on now), `done`, or `dropped` (no longer needed)."""


@tool()
async def update_plan(context: ToolContext, steps: list[Step]) -> str:
    """Show the user the plan of a task with several steps, and keep it up to date.

    Give the whole plan each time; it replaces the one before. At most one step is active.

    Args:
        steps: All steps in order.
    """
    if len(steps) > MAX_STEPS or any(not s.text.strip() or len(s.text) > MAX_LENGTH for s in steps):
        raise ToolRetry(
            "A plan has at most {steps} steps of 1 to {most} characters.",
            steps=MAX_STEPS,
            most=MAX_LENGTH,
        )
    if sum(step.state == "active" for step in steps) > 1:
        raise ToolRetry("Only one step can be active at a time.")
    plan = tuple(PlanStep(shown(step.text.strip()), step.state) for step in steps)
    feed: Feed | None = context.services.get("feed")
    session: Session | None = context.services.get("session")
    event = EntryPut(context.session, context.node, PlanEntry(f"plan-{context.node}", plan))
    if feed is not None:
        feed.publish(event)
    if session is not None:  # so that it comes back with the session
        session.put(event)
    return "\n".join(f"{_MARKS[step.state]} {step.text}" for step in plan) or Words(
        "The plan is empty."
    )
