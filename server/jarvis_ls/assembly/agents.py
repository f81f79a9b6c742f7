"""The agents of a conversation: each made when it is first needed, with all that it is given."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from jarvis_ls.agents.node import Node
from jarvis_ls.assembly.conversation_interface import ConversationInterface
from jarvis_ls.assembly.satisfaction import ask_satisfaction
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.agent.agent import Agent
from jarvis_ls.runtime.agent.core import AgentParts
from jarvis_ls.runtime.agent.guard import Guards
from jarvis_ls.runtime.agent.hooks import AfterHistoryClear, Hooks, TaskStarted
from jarvis_ls.runtime.agent.prompts import joined
from jarvis_ls.runtime.agent.user_input import Files, Inputs
from jarvis_ls.runtime.context.rules_files import Nearby
from jarvis_ls.runtime.llm.model_group import ModelGroup
from jarvis_ls.runtime.memory.memory import METHODOLOGY
from jarvis_ls.runtime.memory.saving import SAVE, MemorySaving


class Agents:
    """The agents there are, by their nodes."""

    def __init__(self, conversation: ConversationInterface) -> None:
        """For `Conversation`."""
        self._conversation = conversation
        self._agents: dict[str, Agent] = {}
        self._remembered: dict[str, str] = {}
        """What is remembered that bears on the task of each."""

    def known(self, node: str) -> Agent | None:
        """Return the agent of a node; None when it was not needed yet."""
        return self._agents.get(node)

    def forget(self, node: str) -> None:
        """Drop the agent of a node, so that a new one is created next time."""
        self._agents.pop(node, None)

    def of(self, node: Node) -> Agent:
        """Return the agent of a node."""
        if node.id not in self._agents:
            self._agents[node.id] = self._make(node)
        agent = self._agents[node.id]
        agent.form = node.form
        return agent

    def saving(
        self, agent: Agent, *, force: bool, tool: str = SAVE, at_end: bool = True
    ) -> MemorySaving:
        """Lets an agent save what is worth remembering."""
        c = self._conversation
        return MemorySaving(
            ask=agent.side_task,
            tools=agent.toolset.tools,
            force=force,
            tool=tool,
            at_end=at_end,
            notify=lambda text: _quietly(agent.showing.notice, "info", text),
            feedback=partial(
                ask_satisfaction, c.place.interaction, agent.node.id, agent.options, c.place.say
            )
            if tool == METHODOLOGY
            else None,
        )

    def _make(self, node: Node) -> Agent:
        c = self._conversation
        options = replace(c.options, model_group=node.info.group)
        if node.parent is not None:
            options = replace(
                options,
                name=node.info.title,
                files=node.assignment.files,
                auto_complete=None,
                use_tools=(),
            )
        if node.assignment.code:
            options = replace(options, agent_type="code")
        hooks = Hooks(c.hooks)
        agent: Agent
        services = {**c.context.services, "budget_tokens": lambda: agent.questions.room()}
        allowed = c.tree.allowed(node, c.sources.toolset)
        nearby = Nearby(allowed, peers=c.rules_settings.peers)
        context = replace(c.context, node=node.id, services=services)
        agent = Agent(
            options,
            AgentParts(
                group=c.tree.metered(node, c.assembly.group(node.info.group)),
                toolset=nearby,
                context=context,
                interaction=c.tree.person(node),
                feed=c.feed,
                session=c.session,
                node=node.info,
                hooks=hooks,
                guard=Guards([c.tree.guard(node), c.command_hooks, *c.place.guards]),
                cheap=self._other(node, c.options.cheap_group),
                eyes=self._other(node, "image"),
                inputs=Inputs(
                    [Files(c.permissions), *(c.place.inputs if node.parent is None else ())]
                ),
                rules=joined(c.rules.text, self._instructions(node)),
                place=c.place_text,
                memory=lambda: c.memory.guide_now(
                    [spec.name for spec in agent.toolset.specs()], c.id
                ),
                extra=[
                    c.mode_text,
                    c.background.text,
                    c.tree.profiles.prompt,
                    lambda: self._remembered.get(node.id, ""),
                ],
                checkpoint=c.checkpoint if node.parent is None else None,
                keeper=node,
                say=c.place.say,
            ),
        )
        hooks.subscribe(TaskStarted, self._recall)
        hooks.subscribe(AfterHistoryClear, lambda _: nearby.forget())
        is_offered = c.place.project is not None and not c.options.non_interactive
        self.saving(
            agent,
            force=options.force_save_memory,
            at_end=not (is_offered and node.parent is None),  # else what is accepted is remembered
        ).listen(hooks)
        if options.use_analysis and node.parent is None:
            self.saving(agent, force=True, tool=METHODOLOGY).listen(hooks)
        return agent

    def _instructions(self, node: Node) -> str:
        """Return how the file of its agent says that a node works; empty without one."""
        profile = self._conversation.tree.profiles.agents.get(node.assignment.profile)
        return f"<agent name={profile.name!r}>\n{profile.instructions}\n</agent>" if profile else ""

    def _other(self, node: Node, group: str) -> ModelGroup | None:
        """Another group a node asks, when there is one."""
        try:
            return self._conversation.tree.metered(node, self._conversation.assembly.group(group))
        except JarvisError:
            return None

    async def _recall(self, event: TaskStarted) -> None:
        """Collect the memory entries and skills relevant to a task, for the prompt."""
        c = self._conversation
        if event.agent.node.parent is None:
            await c.look_around()
        found = await c.memory.activated(
            event.task, session=c.id, methodologies=c.options.use_methodology
        )
        skills = await c.sources.skills.prompt(event.task)
        self._remembered[event.agent.node.id] = joined(found, skills)


def _quietly(tell: Any, *arguments: str) -> None:
    tell(*arguments)
