"""Fewer tools: with very many, a cheap model first chooses those a task may need."""

from __future__ import annotations

import re

from jarvis_ls.runtime.agent.core import AgentCore
from jarvis_ls.runtime.agent.hooks import BeforeToolFilter, ToolFiltered
from jarvis_ls.runtime.agent.prompts import prompt
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.messages import User

_NUMBERS = re.compile(r"[\s\[(]*\d+[\s\])]*(?:[,，、;\s]\s*\d+\s*)*[\s\])]*\.?\s*")


async def choose_tools(agent: AgentCore, task: str) -> None:
    """Keep the tools the cheap model chooses when there are more than the threshold.

    A model that fails, or chooses nothing that exists, leaves all of them.
    """
    threshold = agent.options.tool_filter_threshold
    specs = agent.toolset.specs()
    if not threshold or len(specs) <= threshold:
        return
    await agent.hooks.emit(BeforeToolFilter(agent, len(specs), threshold))
    agent.showing.doing("selecting tools")
    lines = [f"{n}. {s.name}: {_first_line(s.description)}" for n, s in enumerate(specs, 1)]
    asked = prompt("filter").replace("{tools}", "\n".join(lines)).replace("{task}", task)
    try:
        answer = await agent.aside([User(asked)], cheap=True)
        names = chosen(answer.text, [spec.name for spec in specs])
    except ModelError as error:
        agent.showing.notice(
            "warning", "Tool selection failed, all tools are used: {why}", why=error
        )
        names = []
    if names:
        agent.questions.select_tools(names)
        agent.showing.notice(
            "info", "{chosen} of {all} tools were selected.", chosen=len(names), all=len(specs)
        )
    else:
        agent.showing.notice("info", "No tools were selected; all are used.")
    await agent.hooks.emit(ToolFiltered(agent, tuple(names), len(specs), threshold))


def chosen(answer: str, names: list[str]) -> list[str]:
    """Return the names whose numbers the answer lists, in order; none when it says anything
    else.
    """
    if not _NUMBERS.fullmatch(answer.strip()):
        return []
    numbers = sorted({int(found) for found in re.findall(r"\d{1,6}", answer)})
    return [names[n - 1] for n in numbers if 1 <= n <= len(names)]


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:120]
