"""Commands about what users bring along: predefined tasks, skills, tool servers, rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.inputs import Command, Input, Place
from jarvis_ls.runtime.permissions import shown

if TYPE_CHECKING:
    from jarvis_ls.assembly.conversation import Conversation
    from jarvis_ls.runtime.mcp import ServerState


def extension_commands(conversation: Conversation) -> Iterator[Command]:
    """The commands; what they are about is looked at when they run."""

    async def tasks(rest: str, place: Place) -> str | Input:
        from jarvis_ls.runtime.predefined import predefined_tasks

        home, roots = conversation.assembly.home, place.context.roots
        found = await asyncio.to_thread(predefined_tasks, home, roots)
        if not rest:
            lines = [
                f"- `{task.name}`{'' if task.origin == 'user' else ' (from the workspace)'}: "
                f"{' '.join(task.text.split())[:100]}"
                for task in found.tasks
            ]
            said = "\n".join([*lines, *found.problems])
            return said or (
                "There are no predefined tasks. Write names and texts as YAML into "
                "`~/.jarvis/pre-command`, or into `.jarvis/pre-command` of the project."
            )
        name, _, more = rest.partition("\n")
        task = found.find(name)
        if task is None:
            raise UsageError(f"There is no predefined task {shown(name)!r}; `/tasks` lists them.")
        return Input(task.with_more(more))

    async def skills(rest: str, _: Place) -> str:
        known = conversation.sources.skills
        if rest:
            return await known.load(rest)
        await known.scan()
        lines = []
        for skill in known.skills:
            lines.append(f"- `{skill.name}` ({skill.origin}): {skill.description}")
            if not known.usable(skill):
                issues = [f"  - {issue}" for issue in skill.audit.issues[:10]]
                lines += ["  It waits for your consent:", *issues]
        return "\n".join([*lines, *known.problems]) or "There are no skills."

    async def servers(rest: str, _: Place) -> str:
        known = conversation.sources.servers
        if rest:
            return _server(await known.connect(rest))
        lines = [_server(state) for state in known.states()]
        return "\n".join([*lines, *known.problems]) or "There are no tool servers."

    def rules(_rest: str, _: Place) -> str:
        lines = [
            f"- {shown(str(file.path))} ({file.origin}, {len(file.text)} characters)"
            for file in conversation.rules.files
            if file.text
        ]
        return "\n".join([*lines, *conversation.rules.notes]) or "There are no rules files."

    yield Command("tasks", "Predefined tasks, or start one", tasks, "[name]")
    yield Command("skills", "Skills there are, or read one", skills, "[name]")
    yield Command("servers", "Tool servers and their state, or connect one", servers, "[name]")
    yield Command("rules", "Rules files agents are told, and where they come from", rules)


def _server(state: ServerState) -> str:
    lines = [f"- `{state.name}` ({state.origin}): {state.state.replace('_', ' ')}, `{state.start}`"]
    if state.reason:
        lines.append(f"  {state.reason}")
    if state.tools:
        lines.append(f"  Tools: {', '.join(state.tools)}")
    if state.held_back:
        names = ", ".join(map(shown, state.held_back))
        lines.append(f"  Held back until you have looked at them: {names}")
    return "\n".join(lines)
