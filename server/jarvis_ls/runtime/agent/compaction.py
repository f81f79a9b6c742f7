"""Room in a full context: the conversation is replaced by a summary, or by a file of itself.

What is never summarised: the system prompt (it is built anew in front of every question) and the
user's own words, which are repeated word for word as far as a quarter of the window reaches: the
first and the latest always, those in between from the latest on. The old messages stay in the
session's journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.agent.core import AgentCore
from jarvis_ls.runtime.agent.hooks import AfterHistoryClear, BeforeHistoryClear
from jarvis_ls.runtime.agent.prompts import COMPLETE, SUMMARY, joined, prompt
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.events import EntryPut, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, FileRef, Message, ToolResult, User
from jarvis_ls.runtime.llm.token_estimate import estimate, of_messages
from jarvis_ls.runtime.tools.tool import cap

NO_SUMMARY = "(There is no summary of what was done so far; look at the workspace to find out.)"
EMPTY = Words("The model gave an empty answer.")
GOAL_SHARE = 0.25
"""How much of the window the user's own words may take."""
REQUEST_SHARE = 0.7
"""How much of the window the conversation may take when its summary is asked for."""
_RESULT_STEPS = (8_000, 2_000, 500, 0)
"""Characters of each tool result that are kept, tried one after the other."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What stands for the conversation now."""

    messages: tuple[Message, ...]
    summary: str
    """Empty when the conversation was handed over as a file, or nothing could be said."""
    uploaded: bool = False


async def compact(agent: AgentCore) -> Compacted:
    """Replace the agent's conversation by what stands for it.

    A summary that fails or is empty and a file that is not taken do not stop the agent.
    Raises `asyncio.CancelledError` when the agent is stopped; the conversation is then as before.
    """
    await agent.hooks.emit(BeforeHistoryClear(agent))
    notice = agent.showing.notice(
        "info", "The conversation is being summarised to make room.", kept=False
    )
    before = agent.messages()
    goals = user_words(agent)
    file = await _upload(agent, before)
    summary = "" if file is not None else await _summary(agent, before)
    told = (
        prompt("history_file").format(name=file.name)
        if file is not None
        else f"Summary of the conversation so far:\n\n{summary or NO_SUMMARY}"
    )
    limit = int(agent.group.window * GOAL_SHARE)
    text = joined(goal_text(goals, limit), told)
    message = User(text, files=(file,) if file is not None else (), id=new_id())
    agent.replace_messages([message])
    if file is not None:
        agent.showing.notice("info", "The conversation was handed over as a file.", notice)
    else:
        agent.showing.notice("info", "The conversation was replaced by a summary.", notice)
    await agent.hooks.emit(AfterHistoryClear(agent, summary))
    return Compacted((message,), summary, file is not None)


def user_words(agent: AgentCore) -> list[str]:
    """Return the texts of the user (or the agent's caller), in order, word for word."""
    node = agent.node.id
    said = {getattr(m, "id", "") for m in agent.session.transcript(node)}
    return [
        event.entry.text
        for event in agent.session.events()
        if isinstance(event, EntryPut)
        and event.node == node
        and isinstance(event.entry, UserEntry)
        and event.entry.id in said  # a command was typed, not said to the model
    ]


def goal_text(said: Sequence[str], limit: int) -> str:
    """Return the user's own words within `limit` tokens: the first, the latest, then others from
    the latest on. The first and the latest are never cut.
    """
    if not said:
        return ""
    kept = {0, len(said) - 1}
    used = sum(estimate(said[n]) for n in kept)
    for number in range(len(said) - 2, 0, -1):
        used += estimate(said[number])
        if used > limit:
            break
        kept.add(number)
    parts = ["What the user said, word for word:"]
    for number, text in enumerate(said):
        if number in kept:
            parts.append(f"<user_said>\n{text}\n</user_said>")
        elif number - 1 in kept:
            parts.append("(some of what the user said is left out here)")
    return "\n\n".join(parts)


def shrunk(messages: Sequence[Message], limit: int) -> list[Message]:
    """Return the conversation cut to `limit` tokens: first the results of tools, then long texts,
    then the oldest messages.
    """
    found = list(messages)
    for characters in _RESULT_STEPS:
        if of_messages(found) <= limit:
            return found
        found = [
            replace(m, text=cap(m.text, characters) if characters else "(left out)")
            if isinstance(m, ToolResult) and len(m.text) > characters
            else m
            for m in found
        ]
    if of_messages(found) > limit:
        each = max(200, 4 * limit // max(1, len(found)))
        found = [replace(m, text=cap(m.text, each)) if len(m.text) > each else m for m in found]
    while len(found) > 1 and of_messages(found) > limit:
        found = found[max(1, len(found) // 4) :]
    return found


async def _summary(agent: AgentCore, messages: Sequence[Message]) -> str:
    limit = int(agent.group.window * REQUEST_SHARE)
    failure: str = EMPTY
    for share in (1.0, 0.5):
        asked = [*shrunk(messages, int(limit * share)), User(prompt("compaction"))]
        try:
            answer = await agent.aside(asked)
        except ModelError as error:
            failure = str(error)
            continue
        if text := answer.text.replace(COMPLETE, "").replace(SUMMARY, "").strip():
            return text
        failure = EMPTY  # some call a tool instead, which is not run here
    agent.showing.notice("warning", "The summary could not be made: {why}", why=failure)
    return ""


async def _upload(agent: AgentCore, messages: Sequence[Message]) -> FileRef | None:
    if not agent.group.takes_files:
        return None
    try:
        return await agent.group.upload(
            "history.md", as_markdown(messages).encode("utf-8", "replace")
        )
    except ModelError as error:
        agent.showing.notice(
            "warning", "The conversation could not be handed over: {why}", why=error
        )
        return None


def as_markdown(messages: Sequence[Message]) -> str:
    """Return the conversation as text a person or a model can read."""
    parts = []
    for message in messages:
        if isinstance(message, ToolResult):
            parts.append(f"## Result of {message.name}\n\n{message.text}")
            continue
        parts.append(f"## {message.kind.capitalize()}\n\n{message.text}")
        if isinstance(message, Assistant):
            parts += [f"Calls {c.name} with {c.raw or c.arguments}" for c in message.tool_calls]
    return "\n\n".join(parts) + "\n"
