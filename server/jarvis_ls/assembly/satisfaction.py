"""Whether the user is satisfied with what was done, before the model looks back at it."""

from __future__ import annotations

import asyncio

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.agent_view import Say
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.tools.interaction import Interaction, NonInteractive

SECONDS = 60.0
"""How long an answer is waited for; the task ends without one."""
_YES, _PARTLY, _NO = Words("Satisfied"), Words("Partly"), Words("Not satisfied")
_INFER = (
    "Nobody has said whether the result is right: infer it from the user's words and from what"
    " checks have shown."
)


async def ask_satisfaction(
    interaction: Interaction, node: str, options: AgentOptions, say: Say | None
) -> str:
    """Return what a model is told of the user's satisfaction; where nobody can be asked, or nobody
    answers in time, that it is to be inferred."""
    if options.non_interactive or options.auto_complete or isinstance(interaction, NonInteractive):
        return _INFER
    try:
        return await asyncio.wait_for(_ask(interaction, node, say or str), SECONDS)
    except asyncio.TimeoutError:
        return _INFER


async def _ask(interaction: Interaction, node: str, say: Say) -> str:
    choices = {say(str(word)): word for word in (_YES, _PARTLY, _NO)}
    question = say(str(Words("Are you satisfied with the result?")))
    answer = choices.get(await interaction.question(node, question, list(choices)))
    if answer is None:
        return _INFER
    if answer is _YES:
        return "The user is satisfied with the result."
    why = await interaction.question(node, say(str(Words("What is wrong or missing?"))))
    degree = "only partly" if answer is _PARTLY else "not"
    return (
        f"The user is {degree} satisfied with the result. They say: {why.strip() or 'nothing more'}"
    )
