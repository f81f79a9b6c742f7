"""Commands about what users bring along: predefined tasks, skills, tool servers, rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.assembly.conversation_interface import ConversationInterface
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import shown_folder
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.user_input import Command, Input, InputContext
from jarvis_ls.runtime.tools.permissions import shown

if TYPE_CHECKING:
    from jarvis_ls.runtime.mcp.server import ServerState


TASK = Words("- `{name}`: {text}").template
WORKSPACE_TASK = Words("- `{name}` (from the workspace): {text}").template


def extension_commands(conversation: ConversationInterface) -> Iterator[Command]:
    """Yield the commands; what they are about is examined when they run."""

    async def tasks(rest: str, place: InputContext) -> str | Input:
        from jarvis_ls.runtime.context.predefined_tasks import predefined_tasks

        home, roots = conversation.assembly.home, place.context.roots
        found = await asyncio.to_thread(predefined_tasks, home, roots)
        if not rest:
            lines = [
                Words(
                    TASK if task.origin == "user" else WORKSPACE_TASK,
                    name=task.name,
                    text=" ".join(task.text.split())[:100],
                )
                for task in found.tasks
            ]
            return together([*lines, *found.problems], "\n") or Words(
                (
                    "There are no predefined tasks. Add them as YAML (name: text) to "
                    "`{folder}`, or to `.jarvis/pre-command` in the project."
                ),
                folder=f"{shown_folder(home)}/pre-command",
            )
        name, _, more = rest.partition("\n")
        task = found.find(name)
        if task is None:
            raise UsageError(
                "Unknown predefined task {name}; `/tasks` lists them.", name=repr(shown(name))
            )
        return Input(task.with_more(more))

    async def skills(rest: str, _: InputContext) -> str:
        known = conversation.sources.skills
        if rest:
            return await known.load(rest)
        await known.scan()
        lines: list[str] = []
        for skill in known.skills:
            lines.append(
                Words(
                    "- `{name}` ({origin}): {about}",
                    name=skill.name,
                    origin=Words(skill.origin),
                    about=skill.description,
                )
            )
            if not known.usable(skill):
                issues = [Words("  - {issue}", issue=i.said) for i in skill.audit.issues[:10]]
                lines += [Words("  Needs your consent:"), *issues]
        return together([*lines, *known.problems], "\n") or Words("There are no skills.")

    async def servers(rest: str, _: InputContext) -> str:
        known = conversation.sources.servers
        if rest:
            return _server(await known.connect(rest))
        lines = [_server(state) for state in known.states()]
        return together([*lines, *known.problems], "\n") or Words("There are no tool servers.")

    def rules(_rest: str, _: InputContext) -> str:
        lines = [
            Words(
                "- {path} ({origin}, {n} characters)",
                path=shown(str(file.path)),
                origin=Words(file.origin),
                n=len(file.text),
            )
            for file in conversation.rules.files
            if file.text
        ]
        return together([*lines, *conversation.rules.notes], "\n") or Words(
            "There are no rules files."
        )

    yield Command("tasks", Words("List predefined tasks, or start one"), tasks, "[name]")
    yield Command("skills", Words("List skills, or show one"), skills, "[name]")
    yield Command("servers", Words("List tool servers, or connect one"), servers, "[name]")
    yield Command("rules", Words("Show the rules files in use"), rules)


def _server(state: ServerState) -> str:
    lines: list[str] = [
        Words(
            "- `{name}` ({origin}): {state}, `{start}`",
            name=state.name,
            origin=Words(state.origin),
            state=Words(state.state.replace("_", " ")),
            start=state.start,
        )
    ]
    if state.reason:
        lines.append(Words("  {why}", why=state.reason))
    if state.tools:
        lines.append(Words("  Tools: {names}", names=", ".join(state.tools)))
    if state.held_back:
        names = ", ".join(map(shown, state.held_back))
        lines.append(Words("  Blocked until you review them: {names}", names=names))
    return together(lines, "\n")
