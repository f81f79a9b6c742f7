"""Saving what was learnt at the right moments: a model is asked to, once for each task.

The three events of an agent decide: a task that starts clears the mark, a history about to be
cleared or a task that is completed asks the model to look back, when saving is forced and has
not been asked for in this task. What goes wrong is logged and never stops the task.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.hooks import BeforeHistoryClear, Hooks, TaskCompleted, TaskStarted
from jarvis_ls.runtime.memory.memory import METHODOLOGY

logger = logging.getLogger(__name__)

SAVE = "save_memory"
PROMPTS = {SAVE: "memory_save", METHODOLOGY: "methodology_save"}
"""What the model is asked, by the tool it is to keep something with."""

Ask = Callable[[str], Awaitable[Collection[str]]]
"""Puts a text before the model, carries out the tool calls of its answer through the agent's own
gate, and gives the names of the tools that succeeded."""


class MemorySaving:
    """Asks one agent's model to save what is worth it.

    To join: `MemorySaving(ask=…, tools=…, force=options.force_save_memory).listen(hooks)`, and
    call `save()` for the user's own wish (`/memory save`).
    """

    def __init__(
        self,
        *,
        ask: Ask,
        tools: Callable[[], Collection[str]],
        force: bool = False,
        tool: str = SAVE,
        at_end: bool = True,
        notify: Callable[[str], None] | None = None,
        feedback: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        """`tools` names the tools the agent has now; without `tool`, one of `PROMPTS`, nothing is
        asked. Without `at_end` a completed task is no reason to ask: somebody calls `save` once
        the user has accepted what was done. `notify` tells the user what became of it. `feedback`
        gives what the model is told besides, such as what the user says of the result."""
        self._feedback = feedback
        self._ask = ask
        self._tools = tools
        self._force = force
        self._tool = tool
        self._at_end = at_end
        self._notify = notify or (lambda _: None)
        self.prompted = False
        """Whether the model was asked in this task."""

    def listen(self, hooks: Hooks) -> Callable[[], None]:
        """Act on the agent's events from now on; the result ends that."""
        ends = [hooks.subscribe(TaskStarted, self._begin_task)]
        if self._at_end:
            ends.append(hooks.subscribe(TaskCompleted, self._due))
        if self._tool == SAVE:  # how a task was solved well is known at its end only
            ends.append(hooks.subscribe(BeforeHistoryClear, self._due))

        def end() -> None:
            for end in ends:
                end()

        return end

    async def save(self) -> bool:
        """Ask the model now; whether it saved something. False without the tool."""
        if self._tool not in self._tools():
            return False
        self.prompted = True
        said = await self._feedback() if self._feedback is not None else ""
        ran = await self._ask(f"{save_prompt(self._tool)}\n\n{said}".rstrip())
        saved = self._tool in ran
        self._notify(
            Words("Saved to memory.")
            if saved
            else Words("Nothing in this task was worth saving to memory.")
        )
        return saved

    def _begin_task(self, event: TaskStarted) -> None:
        self.prompted = False

    async def _due(self, event: BeforeHistoryClear | TaskCompleted) -> None:
        if not self._force or self.prompted:
            return
        try:
            await self.save()
        except Exception:
            logger.exception("saving to memory failed; the task continues")


def save_prompt(tool: str = SAVE) -> str:
    """Return the prompt that asks the model to save something with this tool."""
    path = Path(__file__).parent / "prompts" / f"{PROMPTS[tool]}.md"
    return path.read_text(encoding="utf-8").strip()
