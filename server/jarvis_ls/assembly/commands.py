"""The built-in commands of a conversation: they need no model, but `/memory save`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from jarvis_ls.assembly.conversation_interface import ConversationInterface
from jarvis_ls.assembly.extensions import extension_commands
from jarvis_ls.assembly.saved_session_commands import aside_commands
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.user_input import Command, InputContext
from jarvis_ls.runtime.base.events import SessionInfo
from jarvis_ls.runtime.sandbox.background import STOPPED_BY_USER
from jarvis_ls.runtime.tools.mode import MODES, NAMES
from jarvis_ls.runtime.tools.permissions import shown

ENDING = 60.0
"""Seconds a script that is stopped may take to end."""
SHOWN = 20
"""Sessions and memories that are listed."""


def builtin_commands(conversation: ConversationInterface) -> list[Command]:
    """Return the commands; what they are about is examined when they run."""
    own = _commands(conversation)
    return [*own, *aside_commands(conversation), *extension_commands(conversation)]


def _commands(conversation: ConversationInterface) -> Iterator[Command]:
    async def sessions(rest: str, _: InputContext) -> str:
        store = conversation.assembly.sessions
        look = (lambda: store.search(rest)) if rest else store.list
        found = await asyncio.to_thread(look)
        if not found:
            if not rest:
                return Words("No sessions.")
            return Words("No sessions match: {words}", words=shown(rest))
        lines = [_session(info, info.id == conversation.id) for info in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(Words("… and {n} more", n=len(found) - SHOWN))
        return together(lines, "\n")

    async def memory(rest: str, _: InputContext) -> str:
        if rest == "save":
            if why := conversation.assembly.missing_model(conversation.tree.root.info.group):
                return why
            saved = await conversation.save_memories()
            return Words("Saved.") if saved else Words("Nothing was worth saving.")
        known = conversation.memory
        if rest:
            entries = await known.recall(rest, SHOWN, session=conversation.id)
            listed = [f"- {shown(e.content)[:300]} ({', '.join(e.tags)})" for e in entries]
            return "\n".join(listed) or Words("No memories match: {words}", words=shown(rest))
        heads = await known.heads(session=conversation.id)
        listed = [f"- {shown(head.title)} ({', '.join(head.tags)})" for head in heads[:SHOWN]]
        return "\n".join(listed) or Words("No memories yet.")

    async def model(rest: str, _: InputContext) -> str:
        if rest:
            conversation.pick_model(rest)
            return Words("{group} will be used from the next turn on.", group=rest)
        assembly = conversation.assembly
        current = conversation.tree.root.info.group
        lines: list[str] = [Words("{group} is in use.", group=current)]
        for name in assembly.groups():
            lines.append(f"- `{name}`: {', '.join(assembly.models.groups[name])}")
        if why := assembly.missing_model(current):
            lines.append(why)
        return together(lines, "\n")

    def mode(rest: str, _: InputContext) -> str:
        wanted = next((known for known in MODES if known == rest), None)
        if rest and wanted is None:
            raise UsageError("There are the modes {names}.", names=", ".join(MODES))
        if wanted is not None:
            conversation.set_mode(wanted)
        lines = [
            Words("- `{mode}`: {name}", mode=known, name=NAMES[known])
            if known != conversation.mode
            else Words("- `{mode}`: {name} (in use)", mode=known, name=NAMES[known])
            for known in MODES
        ]
        return together(lines, "\n")

    def title(rest: str, _: InputContext) -> str:
        if not rest:
            raise UsageError("Write the title after it: `/title Fix the parser`")
        conversation.rename(rest)
        return Words("The session is now called “{title}”.", title=shown(rest))

    async def tools(rest: str, place: InputContext) -> str:
        specs = sorted(place.toolset.specs(), key=lambda spec: spec.name)
        chosen = [s for s in specs if rest.lower() in s.name.lower()]
        lines = [f"- `{s.name}`: {_first_sentence(s.description)}" for s in chosen]
        return "\n".join(lines) or Words("Unknown tool.")

    def agents(_rest: str, _: InputContext) -> str:
        known = conversation.tree.profiles.agents.values()
        lines = [f"- `{agent.name}`: {agent.description}" for agent in known]
        return "\n".join(lines) or Words(
            "No agents are described. Put files like `reviewer.md` into `.jarvis/agents`."
        )

    async def status(_rest: str, _: InputContext) -> str:
        return (await conversation.statistics()).text()

    async def auto(rest: str, _: InputContext) -> str:
        await conversation.begin_auto(rest, is_shown=bool(rest))
        return ""

    async def compact(_rest: str, _: InputContext) -> str:
        if why := conversation.assembly.missing_model(conversation.tree.root.info.group):
            return why
        return await conversation.compact()

    async def background(rest: str, _: InputContext) -> str:
        verb, _space, name = rest.partition(" ")
        if rest:
            if verb != "stop" or not name.strip():
                raise UsageError("Write which one: `/background stop b1`")
            script = conversation.background.find(name.strip())
            script.stop(STOPPED_BY_USER)
            await script.wait(ENDING)
        return conversation.background.listed()

    yield Command(
        "auto",
        Words("Plan a task, split it and let several agents work on it; without a task, resume"),
        auto,
        "[task]",
    )
    yield Command("compact", Words("Compact the conversation into a summary"), compact)
    yield Command("sessions", Words("List sessions (optional filter)"), sessions, "[words]")
    yield Command(
        "memory", Words("List memories; `save` lets the model add to them"), memory, "[words|save]"
    )
    yield Command("model", Words("List models, or choose one"), model, "[group]")
    yield Command(
        "mode", Words("Plan only, ask before changes, or accept edits"), mode, "[ask|edits|plan]"
    )
    yield Command("title", Words("Rename this session"), title, "<title>")
    yield Command("tools", Words("List the tools that agents may use"), tools, "[word]")
    yield Command("agents", Words("List the agents that files describe"), agents)
    yield Command(
        "background", Words("List scripts in the background, or stop one"), background, "[stop id]"
    )
    yield Command("status", Words("Show the session status"), status)


def _first_sentence(text: str) -> str:
    """Return the beginning of a description, on one line."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".") + "."


def _session(info: SessionInfo, here: bool) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
    title = shown(info.title) or Words("(no messages yet)")
    line = Words(
        "- {when} **{title}** `{id}`, {n} messages",
        when=when,
        title=title,
        id=info.id,
        n=info.messages,
    )
    if info.usage.cost:
        line = Words("{line}, {sum} in cost", line=line, sum=f"{info.usage.cost:.4f}")
    return Words("{line} (this one)", line=line) if here else line
