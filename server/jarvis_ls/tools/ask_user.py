"""Ask the person who works with us."""

from __future__ import annotations

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext, tool

MAX_CHOICES = 12
_A_DAY = 86_400.0


@tool(timeout=_A_DAY)
async def ask_user(context: ToolContext, question: str, choices: list[str] | None = None) -> str:
    """Ask the user something that only the user can know or decide, and wait for the answer.

    Do not ask for what can be read in the project, nor for permission: that is asked anyway.

    Args:
        question: One clear question.
        choices: Answers to choose from, when there are few; without them the answer is free text.
    """
    offered = [shown(choice).strip() for choice in choices or ()]
    if not question.strip():
        raise ToolRetry("The question is empty.")
    if len(offered) > MAX_CHOICES or not all(offered) or len(set(offered)) < len(offered):
        raise ToolRetry(
            "Give at most {most} different choices, none of them empty.", most=MAX_CHOICES
        )
    interaction: Interaction | None = context.services.get("interaction")
    if interaction is None:
        raise ToolRetry("No one can be asked. Decide yourself and state your assumptions.")
    answer = await interaction.question(context.node, shown(question), offered)
    if not answer.strip():
        return Words("The user gave no answer. Decide yourself and state your assumptions.")
    return Words("The user answers: {answer}", answer=answer)
