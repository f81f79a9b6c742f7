"""What is between an agent and its models: who counts, and who shows how they answer."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_ls.runtime.agent.agent_view import AnswerStream, Showing
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.llm.model_group import Again, Begun, CallGuard, Progress, Waiting
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Request, TextDelta, ThinkingDelta

AGAIN = "Retrying the model: {why}"


class Purse(CallGuard):
    """Counts what an agent spends that is alone."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing

    async def before(self, request: Request, model: ModelInfo) -> None:
        """See `CallGuard`."""

    def after(self, usage: Usage, answered: bool) -> None:
        """See `CallGuard`."""
        self._showing.spent(usage)


class Watch:
    """Shows how a question is being answered."""

    def __init__(
        self, showing: Showing, stream: AnswerStream | None, check: Callable[[], None]
    ) -> None:
        """Without `stream` only waits are shown; `check` raises when no one wants the answer any
        more."""
        self._check = check
        self._showing = showing
        self._stream = stream
        self._notice = ""

    async def __call__(self, progress: Progress) -> None:
        """Something happened."""
        self._check()
        stream = self._stream
        if isinstance(progress, Waiting):
            self._notice = self._showing.notice(
                "warning",
                "Waiting {seconds} s for the model: {why}",
                self._notice,
                seconds=max(1, round(progress.seconds)),
                why=progress.reason,
            )
        elif isinstance(progress, Again):
            template = "Switching to {model}: {why}" if progress.label else AGAIN
            self._showing.notice("warning", template, why=progress.reason, model=progress.label)
        elif isinstance(progress, Begun):
            self._showing.doing("asking {model}", model=progress.label)
            if stream is not None:
                stream.begin(progress.label)
        elif isinstance(progress, TextDelta) and stream is not None:
            stream.grow_text(progress.text)
        elif isinstance(progress, ThinkingDelta) and stream is not None:
            stream.grow_thinking(progress.text)
