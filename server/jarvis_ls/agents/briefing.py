"""What a new agent of the tree receives first, and one that continues after an interruption."""

from __future__ import annotations

from jarvis_ls.agents.node import Assignment, Ending, Node
from jarvis_ls.runtime.base.prompt_files import read_prompt


def first_words(assignment: Assignment) -> str:
    """Return the task with what its creator added to it."""
    if assignment.kind == "root":
        return assignment.task
    parts = [load_prompt(assignment.kind)]
    if assignment.background.strip():  # often the same for several children: before what differs
        parts.append(f"# What you should know\n{assignment.background.strip()}")
    if assignment.files:
        parts.append(f"# Files to begin with (handed over)\n{', '.join(assignment.files)}")
    if assignment.plan.strip():
        parts.append(f"# Plan\n{assignment.plan.strip()}")
    parts.append(f"# Task\n{assignment.task.strip()}")
    return "\n\n".join(parts)


def go_on(reason: str) -> str:
    """Words for an agent whose work was interrupted; its conversation is still there."""
    why = f" ({reason.rstrip('.')})" if reason else ""
    return (
        f"Your work on this task was interrupted{why}. Look at what is done already and go on with"
        " the rest."
    )


def report_of(child: Node, ending: Ending) -> str:
    """Return what a parent that did not wait for a child reads of how it ended."""
    head = f"Report of the agent “{child.info.title}” ({child.id}), {ending.state}:"
    return f"{head}\n{result_of(ending)}"


def result_of(ending: Ending) -> str:
    """Return the result of a task, or why there is none and what there is of it."""
    if ending.state == "completed":
        return ending.text or "It ended without a word."
    got = f"\nWhat it said last:\n{ending.text}" if ending.text else ""
    return f"{ending.error or ending.state}{got}"


def load_prompt(name: str) -> str:
    """Return a text of `prompts/`."""
    return read_prompt("jarvis_ls.agents", name)
