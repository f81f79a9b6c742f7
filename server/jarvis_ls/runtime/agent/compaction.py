"""Room in a full context: the conversation is replaced by a summary, or by a file of itself.

What is never summarised: the system prompt (it is built again in front of every question), the
plan, results of tools that the model has not seen yet, and the user's own words, which are repeated
word for word as far as a quarter of the window reaches: the first and the latest always, those in
between from the latest on. The old messages stay in the session's journal.

A summary that cannot be made loses nothing that is there: while the window has room the
conversation continues as it is; else the summary before it, the plan and the latest messages stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.agent.core import AgentCore
from jarvis_ls.runtime.agent.hooks import AfterHistoryClear, BeforeHistoryClear
from jarvis_ls.runtime.agent.prompts import joined, prompt, without_marks
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.events import EntryPut, PlanEntry, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, FileRef, Message, ToolResult, User
from jarvis_ls.runtime.llm.token_estimate import estimate, of_message, of_messages
from jarvis_ls.runtime.tools.tool import cap

NO_SUMMARY = "(There is no summary of what was done so far; look at the workspace to find out.)"
EMPTY = Words("The model gave an empty answer.")
OUTCOMES = {
    "file": Words("The conversation was sent to the model as a file."),
    "summary": Words("The conversation was replaced by a summary."),
    "latest": Words("The conversation was cut to its latest messages."),
}
GOAL_SHARE = 0.25
"""How much of the window the user's own words may take."""
REQUEST_SHARE = 0.7
"""How much of the window the conversation may take when its summary is asked for."""
HARD_SHARE = 0.95
"""How much of the window may be full when no summary can be made."""
UNSEEN_SHARE = 0.25
"""How much of the window results may take that the model has not seen when it is summarised."""
LATEST_SHARE = 0.4
"""How much of the window the latest messages may take where there is no summary of them."""
_RESULT_STEPS = (8_000, 2_000, 500, 0)
"""Characters of each tool result that are kept, tried one after the other."""
_HEAD = "Summary of the conversation so far:\n\n"
_PLAN = "Your plan, as it was last shown to the user:"
_LATEST = "The latest messages follow; those between are left out."
_STEPS = {"pending": "[ ]", "active": "[>]", "done": "[x]", "dropped": "[-]"}


@dataclass(frozen=True, slots=True)
class Compacted:
    """What represents the conversation now."""

    messages: tuple[Message, ...]
    summary: str
    """Empty when the conversation was handed over as a file, or nothing could be said."""
    uploaded: bool = False


async def compact(agent: AgentCore, *, needed: bool = False) -> Compacted | None:
    """Replace the agent's conversation by what represents it; None when it stays as it is, because
    no summary could be made and there is still room. `needed`: there is none, the provider says.

    A summary that fails or is empty and a file that is not taken do not stop the agent.
    Raises `asyncio.CancelledError` when the agent is stopped; the conversation is then as before.
    """
    await agent.hooks.emit(BeforeHistoryClear(agent))
    notice = agent.showing.notice(
        "info", "The conversation is being summarised to make room.", kept=False
    )
    before = agent.messages()
    window = agent.group.window
    file = await _upload(agent, before)
    summary = "" if file is not None else await _summary(agent, before)
    if file is None and not summary and not needed and _count_tokens(agent) < window * HARD_SHARE:
        agent.showing.notice(
            "info", "No summary could be made; the conversation continues unchanged.", notice
        )
        return None
    if file is not None:
        told, kept = prompt("history_file").format(name=file.name), unseen(before, 0)
    elif summary:
        told, kept = _HEAD + summary, unseen(before, int(window * UNSEEN_SHARE))
    else:
        kept = latest(before, int(window * LATEST_SHARE))
        told = joined(_HEAD + (_summary_in(before) or NO_SUMMARY), _LATEST if kept else "")
    limit = int(window * GOAL_SHARE)
    text = joined(goal_text(user_words(agent), limit), plan_text(agent), told)
    message = User(text, files=(file,) if file is not None else (), id=new_id())
    agent.replace_messages([message, *kept])
    agent.showing.notice("info", OUTCOMES[_outcome(file, summary)], notice)
    await agent.hooks.emit(AfterHistoryClear(agent, summary))
    return Compacted((message, *kept), summary, file is not None)


def _outcome(file: FileRef | None, summary: str) -> str:
    if file is not None:
        return "file"
    return "summary" if summary else "latest"


def _count_tokens(agent: AgentCore) -> int:
    return agent.counter.corrected(sum(agent.questions.sizes(agent.messages()).values()))


def unseen(messages: Sequence[Message], limit: int) -> list[Message]:
    """Return the latest calls with their results when the model has not answered them yet, cut to
    about `limit` tokens; none when the calls alone are longer.
    """
    start = next((n for n, m in _backwards(messages) if isinstance(m, Assistant)), None)
    if start is None:
        return []
    call, *results = (
        messages[start],
        *(m for m in messages[start + 1 :] if isinstance(m, ToolResult)),
    )
    if not results or of_message(call, reasoning=True) > limit:
        return []
    each = max(200, 4 * (limit - of_message(call, reasoning=True)) // len(results))
    return [call, *(replace(m, text=cap(m.text, each)) for m in results)]


def latest(messages: Sequence[Message], limit: int) -> list[Message]:
    """Return as many of the latest messages as fit `limit` tokens, results with their calls."""
    used, start = 0, len(messages)
    for number, message in _backwards(messages):
        used += of_message(message, reasoning=True)
        if used > limit or number == 0:
            break
        if not isinstance(message, ToolResult):
            start = number
    return list(messages[start:]) or unseen(messages, limit)


def _backwards(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    return list(enumerate(messages))[::-1]


def _summary_in(messages: Sequence[Message]) -> str:
    """Return the summary that represents what was said before these messages."""
    if not messages or not isinstance(messages[0], User):
        return ""
    _, head, summary = messages[0].text.rpartition(_HEAD)
    return summary.removesuffix(_LATEST).strip() if head else ""


def plan_text(agent: AgentCore) -> str:
    """Return the agent's plan while some of it is left to do."""
    node = agent.node.id
    plans = [
        event.entry
        for event in agent.session.events()
        if isinstance(event, EntryPut) and event.node == node and isinstance(event.entry, PlanEntry)
    ]
    steps = plans[-1].steps if plans else ()
    if not any(step.state in ("pending", "active") for step in steps):
        return ""
    return "\n".join([_PLAN, *(f"{_STEPS[step.state]} {step.text}" for step in steps)])


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
        if text := without_marks(answer.text):
            return text
        failure = EMPTY  # some call a tool instead, which is not run here
    agent.showing.notice("warning", "The summary failed: {why}", why=failure)
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
            "warning", "The conversation could not be sent as a file: {why}", why=error
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
