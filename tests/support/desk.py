"""A workspace with the built-in tools in the whole stack around them, and a scripted user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.base.events import ProposedEdit
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.edits.review import Reviewed
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.interaction import Interaction, Next, Review, asking
from jarvis_ls.runtime.tools.permissions import Answer, Asked, PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import ToolContext, Tools
from jarvis_ls.tools.discover import builtin_tools


class User(Interaction):
    """A person whose answers are prepared; what they were shown is kept."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.reviewed: list[Sequence[ProposedEdit]] = []
        self.questions: list[tuple[str, tuple[str, ...]]] = []
        self.permits = Answer(False)
        self.reviews: Callable[[Sequence[ProposedEdit]], Review] = Review.all_of
        self.answer = ""

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.permits

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        self.reviewed.append(edits)
        return self.reviews(edits)

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        self.questions.append((text, tuple(choices)))
        return self.answer or default

    async def next_action(self, node: str) -> tuple[Next, str]:
        return "complete", ""


class Desk:
    """The whole stack over one workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.user = User()
        self.rules: list[PermissionRule] = []
        self.workspace_rules: list[PermissionRule] = []
        self.context = ToolContext((root.resolve(),), "session", "node")
        self.accept = False
        self._stack: Approved | None = None

    @property
    def stack(self) -> Approved:
        if self._stack is None:
            permissions = Permissions(self.rules, self.workspace_rules)
            tools = Tools(builtin_tools())
            reviewed = Reviewed(tools, self.user, permissions, accept=lambda: self.accept)
            self._stack = Approved(reviewed, permissions, asking(self.user))
        return self._stack

    def offer(self, **services: Any) -> None:
        self.context = replace(self.context, services={**self.context.services, **services})

    async def run(self, name: str, **arguments: Any) -> ToolResult:
        return await self.stack.run(ToolCall("call", name, arguments), self.context)

    async def text(self, name: str, **arguments: Any) -> str:
        """The result of a call that must succeed."""
        result = await self.run(name, **arguments)
        assert not result.is_error, result.text
        return result.text

    async def refused(self, name: str, **arguments: Any) -> str:
        """What is said of a call that must fail."""
        result = await self.run(name, **arguments)
        assert result.is_error, result.text
        return result.text

    def put(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()
