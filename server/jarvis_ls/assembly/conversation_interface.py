"""What commands, agents and the way back need of a conversation.

`conversation.Conversation` implements it, and imports those that need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jarvis_ls.agents.tree import Tree
    from jarvis_ls.assembly.shared import SharedState
    from jarvis_ls.assembly.tools import ToolSources
    from jarvis_ls.assembly.workplace import Workplace
    from jarvis_ls.runtime.agent.command_hooks import CommandHooks
    from jarvis_ls.runtime.agent.hooks import Hooks
    from jarvis_ls.runtime.agent.startup import Statistics
    from jarvis_ls.runtime.base.events import Feed, Mode
    from jarvis_ls.runtime.base.options import AgentOptions
    from jarvis_ls.runtime.context.rules_files import Rules, RulesSettings
    from jarvis_ls.runtime.edits.checkpoints import Checkpoints
    from jarvis_ls.runtime.memory.memory import Memory
    from jarvis_ls.runtime.sandbox.background import BackgroundScripts
    from jarvis_ls.runtime.session.session import Session
    from jarvis_ls.runtime.tools.permissions import Permissions
    from jarvis_ls.runtime.tools.tool import ToolContext


class ConversationInterface(Protocol):
    """One session at work."""

    assembly: SharedState
    session: Session
    place: Workplace
    feed: Feed
    options: AgentOptions
    memory: Memory
    checkpoints: Checkpoints
    hooks: Hooks
    command_hooks: CommandHooks
    rules: Rules
    rules_settings: RulesSettings
    tree: Tree
    context: ToolContext
    background: BackgroundScripts

    @property
    def id(self) -> str:
        """Id of the session."""

    @property
    def working(self) -> bool:
        """Return whether any agent is at work."""

    @property
    def permissions(self) -> Permissions:
        """The rules in force."""

    @property
    def sources(self) -> ToolSources:
        """The sources of its tools."""

    def place_text(self) -> str:
        """Return where its agents work."""

    async def look_around(self) -> None:
        """Take note of the date and of the state of the repository."""

    @property
    def mode(self) -> Mode:
        """Return how much its agents may do without being asked."""

    def set_mode(self, mode: Mode) -> None:
        """Choose how much its agents may do from now on."""

    def mode_text(self) -> str:
        """Return what agents read of the mode."""

    async def begin_auto(self, task: str = "", *, is_shown: bool = False) -> None:
        """Let auto mode work on a task, or resume what it has left."""

    async def stop(self) -> None:
        """End all agents."""

    async def checkpoint(self) -> str:
        """Keep the files as they are before a turn; return the id of the checkpoint."""

    async def compact(self) -> str:
        """Replace the conversation by its summary; return what the user reads."""

    async def save_memories(self) -> bool:
        """Let the model save what is worth remembering; return whether it did."""

    async def statistics(self) -> Statistics:
        """Return what an agent of it starts with."""

    def begin_anew(self) -> None:
        """Let the model forget the conversation; the session keeps it."""

    def pick_model(self, group: str) -> None:
        """Use a group of models from the next turn on."""

    def rename(self, title: str) -> None:
        """Give the session a title."""
