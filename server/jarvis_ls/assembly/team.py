"""A team at work: messages go from agent to agent of the tree until one answers without sending.

The main agent is the root; every other is created below it when the first message to it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jarvis_ls.agents.briefing import load_prompt
from jarvis_ls.agents.node import Assignment, Ending, Node
from jarvis_ls.agents.records import ROOT
from jarvis_ls.agents.send_message import SERVICE, Outbox, send_message
from jarvis_ls.agents.team_config import Member, TeamConfig
from jarvis_ls.agents.team_messages import Unsendable, mentions_message, read_message
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.agent_view import Showing
from jarvis_ls.runtime.base.messages import User
from jarvis_ls.runtime.context.agent_files import AgentFile, AgentFiles

MESSAGES = 100
"""Messages of one task; budgets hold as well."""
REPAIRS = 5
"""Messages in a row that cannot be sent before the task has failed."""
SUMMARY = 8_000
"""Characters of a summary that is handed over."""


class TeamFiles(AgentFiles):
    """The agents of a team, as system prompts list them."""

    def prompt(self) -> str:
        """See `AgentFiles`."""
        lines = [f"- {agent.name}: {agent.description}" for agent in self.agents.values()]
        return "\n".join([load_prompt("team"), *lines])


class Team:
    """The agents of a configuration in one conversation."""

    def __init__(self, config: TeamConfig) -> None:
        """Start a conversation with `additions`, then `join` it."""
        self._config = config
        self._names = list(config.members)
        self._outbox = Outbox(self._names, self._name_of)
        self._conversation: Conversation
        self._question = ""
        self.speaker = config.main
        """Name of the agent that worked last."""

    @property
    def main_speaks(self) -> bool:
        """Return whether the main agent worked last."""
        return self.speaker == self._config.main

    def additions(self, added: Additions) -> Additions:
        """Return what a conversation is started with, so that its agents can send messages."""
        services = {**added.services, SERVICE: self._outbox}
        return replace(added, services=services, tools=[*added.tools, send_message])

    def join(self, conversation: Conversation, *, keep_model: bool = False) -> None:
        """Let the agents of a conversation be those of the team; with `keep_model` the main agent
        asks the model of the conversation. Raises `JarvisError` for tools and models that are not
        there.
        """
        self._conversation = conversation
        members = self._config.members
        known = conversation.sources.toolset.tools()
        for member in members.values():
            if missing := [name for name in member.tools or () if name not in known]:
                raise JarvisError(
                    "The agent {name} names tools that are not there: {tools}.",
                    name=member.name,
                    tools=", ".join(missing),
                )
            if member.model:
                conversation.assembly.group(member.model)
        tree = conversation.tree
        tree.profiles = TeamFiles({name: _file(member) for name, member in members.items()})
        main = members[self._config.main]
        tree.root.assignment = replace(
            tree.root.assignment, profile=main.name, tools=_tools_of(main)
        )
        if main.model and not keep_model:
            conversation.pick_model(main.model)

    async def run(self, text: str) -> Ending:
        """Work on what the user says, until an agent answers without sending a message."""
        self._question = text
        self._outbox.clear()
        self.speaker = self._config.main
        requester = ""
        ending = await self._conversation.ask(text)
        faults = 0
        for _ in range(MESSAGES + REPAIRS):
            if ending.state != "completed":
                if not requester or ending.state == "cancelled":
                    return ending
                failed, self.speaker, requester = self.speaker, requester, ""
                ending = await self._tell(
                    self.speaker,
                    Words("“{name}” did not finish: {why}", name=failed, why=ending.error),
                )
                continue
            node = self._node(self.speaker)
            assert node is not None
            message = self._outbox.take(node.id)
            if message is None:
                if not mentions_message(ending.text):
                    return ending
                found = read_message(ending.text, self.speaker, self._names)
                if isinstance(found, Unsendable):
                    faults += 1
                    if faults > REPAIRS:
                        return Ending("failed", ending.text, found.hint)
                    self._note(node, found.why)
                    ending = await self._tell(self.speaker, found.hint)
                    continue
                message = found
            faults = 0
            sender = self._config.members[self.speaker]
            words = await self._hand_over(node, sender, message.content)
            requester, self.speaker = self.speaker, message.to
            ending = await self._tell(message.to, words)
        return Ending(
            "failed",
            ending.text,
            Words("The agents sent {n} messages and came to no answer.", n=MESSAGES),
        )

    def _note(self, node: Node, why: str) -> None:
        """Show the user that a message of an agent was sent back to it."""
        c = self._conversation
        words = Words("Nothing was sent. “{name}” learns why: {why}", name=self.speaker, why=why)
        Showing(c.session, c.feed, node.info, node, c.place.say).notice("info", words)

    async def _hand_over(self, node: Node, sender: Member, content: str) -> str:
        """Return what the receiver reads; the sender forgets what it is set to forget."""
        summary = await self._summarise(node) if sender.summary_on_send else ""
        if sender.clear_after_send:
            self._conversation.session.clear(node.id)
            self._conversation.agents.forget(node.id)
        return f"from: {sender.name}\nsummary_of_sender_work: {summary}\ncontent: {content}"

    async def _summarise(self, node: Node) -> str:
        """Return what an agent has done; empty when the model does not say."""
        agent = self._conversation.agents.of(node)
        try:
            answer = await agent.aside([*agent.messages(), User(load_prompt("hand_over"))])
        except JarvisError:
            return ""  # the message is sent without it
        return answer.text.strip()[:SUMMARY]

    async def _tell(self, name: str, words: str) -> Ending:
        """Let an agent of the team work on a message; return how that ended."""
        tree = self._conversation.tree
        node = self._node(name)
        if node is not None and self._config.members[name].clear_after_send:
            words = f"original_question: {self._question}\n{words}"
        if node is not None and node.id == ROOT:
            return await self._conversation.ask(words)
        if node is None:
            member = self._config.members[name]
            task = Assignment(
                words,
                title=name,
                background=f"The user asks all of you:\n{self._question}",
                tools=_tools_of(member),
                group=member.model,
                profile=name,
            )
            try:
                node = tree.add(ROOT, task)
            except JarvisError as error:
                return Ending("failed", error=str(error))
            tree.start(node.id)
        else:
            tree.send(words, to=node.id)
        return await tree.result(node.id)

    def _node(self, name: str) -> Node | None:
        """Return the node of an agent; None when nothing was sent to it yet."""
        root = self._conversation.tree.root
        if name == self._config.main:
            return root
        return next(
            (child for child in root.children.values() if child.assignment.profile == name), None
        )

    def _name_of(self, node: str) -> str:
        names: Mapping[str, str] = {
            found.id: name for name in self._names if (found := self._node(name)) is not None
        }
        return names.get(node, "")


def _file(member: Member) -> AgentFile:
    return AgentFile(
        member.name, member.description, member.instructions, member.tools, member.model
    )


def _tools_of(member: Member) -> tuple[str, ...] | None:
    """Return the tools an agent may use: to send messages it may always."""
    return None if member.tools is None else (*member.tools, send_message.spec.name)
