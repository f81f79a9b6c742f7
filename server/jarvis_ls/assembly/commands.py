"""The built-in commands of a conversation: they need no model, but `/memory save`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.assembly.aside import aside_commands
from jarvis_ls.assembly.extensions import extension_commands
from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.events import SessionInfo
from jarvis_ls.runtime.inputs import Command, Place
from jarvis_ls.runtime.permissions import shown

if TYPE_CHECKING:
    from jarvis_ls.assembly.conversation import Conversation

SHOWN = 20
"""Sessions and memories that are listed."""


def builtin_commands(conversation: Conversation) -> list[Command]:
    """The commands; what they are about is looked at when they run."""
    own = _commands(conversation)
    return [*own, *aside_commands(conversation), *extension_commands(conversation)]


def _commands(conversation: Conversation) -> Iterator[Command]:
    async def sessions(rest: str, _: Place) -> str:
        store = conversation.assembly.sessions
        look = (lambda: store.search(rest)) if rest else store.list
        found = await asyncio.to_thread(look)
        if not found:
            return "There are no sessions." if not rest else f"No session holds {shown(rest)!r}."
        lines = [_session(info, info.id == conversation.id) for info in found[:SHOWN]]
        more = f"\n… and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        return "\n".join(lines) + more

    async def memory(rest: str, _: Place) -> str:
        if rest == "save":
            if why := conversation.assembly.missing_model(conversation.tree.root.info.group):
                return why
            saved = await conversation.save_memories()
            return "Saved." if saved else "Nothing was worth keeping."
        known = conversation.memory
        if rest:
            entries = await known.recall(rest, SHOWN, session=conversation.id)
            listed = [f"- {shown(e.content)[:300]} ({', '.join(e.tags)})" for e in entries]
            return "\n".join(listed) or f"Nothing about {shown(rest)!r} is remembered."
        heads = await known.heads(session=conversation.id)
        listed = [f"- {shown(head.title)} ({', '.join(head.tags)})" for head in heads[:SHOWN]]
        return "\n".join(listed) or "Nothing is remembered yet."

    async def model(rest: str, _: Place) -> str:
        if rest:
            conversation.pick_model(rest)
            return f"{rest} answers from the next turn on."
        assembly = conversation.assembly
        current = conversation.tree.root.info.group
        lines = [f"{current} is in use."]
        for name in assembly.groups():
            lines.append(f"- `{name}`: {', '.join(assembly.models.groups[name])}")
        return "\n".join([*lines, assembly.missing_model(current)]).strip()

    def title(rest: str, _: Place) -> str:
        if not rest:
            raise UsageError("Write the title behind it: `/title Fix the parser`")
        conversation.rename(rest)
        return f"The session is now called {shown(rest)!r}."

    async def tools(rest: str, place: Place) -> str:
        specs = sorted(place.toolset.specs(), key=lambda spec: spec.name)
        chosen = [s for s in specs if rest.lower() in s.name.lower()]
        lines = [f"- `{s.name}`: {_first_sentence(s.description)}" for s in chosen]
        return "\n".join(lines) or "There is no such tool."

    async def status(_rest: str, _: Place) -> str:
        return (await conversation.statistics()).text()

    async def compact(_rest: str, _: Place) -> str:
        if why := conversation.assembly.missing_model(conversation.tree.root.info.group):
            return why
        return await conversation.compact()

    yield Command("compact", "Replace the conversation by a summary of it", compact)
    yield Command("sessions", "List sessions, or search in them", sessions, "[words]")
    yield Command(
        "memory", "What is remembered; `save` lets the model save", memory, "[words|save]"
    )
    yield Command("model", "Which models there are, and which one answers", model, "[group]")
    yield Command("title", "Give this session a title", title, "<title>")
    yield Command("tools", "The tools agents may use", tools, "[word]")
    yield Command("status", "Tools, memories, rules and settings of this session", status)


def _first_sentence(text: str) -> str:
    """The beginning of a description, on one line."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".") + "."


def _session(info: SessionInfo, here: bool) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
    title = shown(info.title) or "(nothing said yet)"
    cost = f", {info.usage.cost:.4f} in cost" if info.usage.cost else ""
    mark = " (this one)" if here else ""
    return f"- {when} **{title}** `{info.id}`, {info.messages} messages{cost}{mark}"
