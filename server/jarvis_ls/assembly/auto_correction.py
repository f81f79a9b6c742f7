"""What auto mode does about an agent in trouble, without a person.

timeout: it is ended, and tried again with more time
stuck:   it is held; its parent says whether to wait, go on differently, begin anew or give up
errors:  it is told that its calls fail; when that does not help, its parent is asked
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from jarvis_ls.agents.auto_settings import AutoSettings
from jarvis_ls.agents.auto_watch import AutoWatch, Trouble
from jarvis_ls.agents.briefing import load_prompt
from jarvis_ls.agents.node import Node
from jarvis_ls.agents.records import ROOT
from jarvis_ls.agents.tree import Tree
from jarvis_ls.assembly.agents import Agents
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, filled
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm
from jarvis_ls.runtime.base.events import Correction
from jarvis_ls.runtime.base.messages import Assistant, Message, User

DIAGNOSES = 3
"""How often the parent is asked about one agent before it is ended and tried again."""
ANSWERING = 60.0
"""Seconds the parent's model has for that at most."""
MORE = 1.5
"""How many times more time an agent has after it was corrected."""
PATIENCE = 4.0
"""How many times longer one may make no progress that simply takes long."""
RECENT = 8
"""Messages of an agent that its parent is shown."""
SHOWN = 600
"""Characters of each."""
TASK_SHOWN = 4_000
GO_ON = (
    "You made no progress for a while, and what you were doing was ended. Look at what is done,"
    " and go on in smaller steps or in another way; do not repeat the step that took so long."
)
FAILING = (
    "{failed} of your last {calls} tool calls failed. Stop and think before the next one: read"
    " their errors, check what you assume about paths, names and tools, and go another way."
)


class Diagnosis(BaseModel):
    """What a parent decides about an agent that does not get on."""

    action: Literal["wait", "redirect", "restart", "give_up"]
    instructions: str = Field(default="", max_length=8_000)


class Corrector:
    """Acts on what the watch of auto mode finds."""

    def __init__(
        self,
        tree: Tree,
        watch: AutoWatch,
        settings: AutoSettings,
        agents: Agents,
        keep: Callable[[str, Correction], None],
    ) -> None:
        """`keep` is called with the id of an agent and what was done about it."""
        self._tree = tree
        self._watch = watch
        self._settings = settings
        self._agents = agents
        self._keep = keep
        self._jobs: set[asyncio.Task[None]] = set()
        self._diagnoses: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        """How often an agent was told that its calls fail."""
        self._faults: dict[str, Correction] = {}
        """Why an agent was ended."""

    def handle(self, troubles: Sequence[Trouble]) -> None:
        """Do something about each; this does not wait."""
        for trouble in troubles:
            job = asyncio.create_task(self._handle(trouble))
            self._jobs.add(job)
            job.add_done_callback(self._jobs.discard)

    def take(self, node: str) -> Correction | None:
        """Return why an agent was ended from here, once; None when it was not."""
        self._diagnoses.pop(node, None)
        self._told.pop(node, None)
        return self._faults.pop(node, None)

    def close(self) -> None:
        """End what is being done."""
        for job in self._jobs:
            job.cancel()

    async def _handle(self, trouble: Trouble) -> None:
        try:
            await self._correct(trouble)
        except JarvisError as error:  # it has ended meanwhile, or the disk is full
            logging.getLogger(__name__).error("an agent could not be corrected: %s", error)
            self._watch.calm(trouble.node)

    async def _correct(self, trouble: Trouble) -> None:
        if self._tree.node(trouble.node).final:
            return
        if trouble.cause == "timeout":
            await self._end(trouble, "retry", _in_words(trouble))
        elif trouble.cause == "errors" and not self._told[trouble.node]:
            self._told[trouble.node] += 1
            words = FAILING.format(failed=trouble.failed, calls=trouble.calls)
            self._keep(trouble.node, Correction(trouble.cause, "adjust", words))
            self._tree.send(words, to=trouble.node)
            self._watch.calm(trouble.node, stretch=MORE)
        elif self._diagnoses[trouble.node] >= DIAGNOSES:
            await self._end(trouble, "retry", _in_words(trouble))
        else:
            self._diagnoses[trouble.node] += 1
            await self._diagnose(trouble)

    async def _diagnose(self, trouble: Trouble) -> None:
        """Hold an agent, and do with it what its parent says."""
        node = self._tree.node(trouble.node)
        held = self._tree.pause(node.id)
        try:
            diagnosis = await self._ask_parent(node, trouble)
        finally:
            for id in held:
                if id in self._tree:
                    self._tree.resume(id, subtree=False)
        if node.final:
            return
        words = diagnosis.instructions.strip()
        if diagnosis.action == "wait":
            self._keep(node.id, Correction(trouble.cause, "wait", words))
            self._watch.calm(node.id, patience=PATIENCE, stretch=MORE)
        elif diagnosis.action == "redirect":
            self._keep(node.id, Correction(trouble.cause, "redirect", words or GO_ON))
            self._tree.redirect(node.id, words or GO_ON)
            self._watch.calm(node.id, stretch=MORE)
        else:
            await self._end(trouble, diagnosis.action, words or _in_words(trouble))

    async def _ask_parent(self, node: Node, trouble: Trouble) -> Diagnosis:
        """Return what the root's model says; when it says nothing usable, to go on differently."""
        recent = "\n".join(map(_shorten, self._tree.session.messages(node.id)[-RECENT:]))
        places = {
            "trouble": _in_words(trouble),
            "task": node.assignment.task[:TASK_SHOWN],
            "recent": recent,
        }
        words = filled(load_prompt("auto_diagnosis"), places)
        root = self._agents.of(self._tree.node(ROOT))
        patience = min(ANSWERING, self._settings.timeout)
        try:
            answer = await asyncio.wait_for(root.aside([User(words)]), patience)
            found = ModelForm(Diagnosis).read(answer.text)
        except (JarvisError, AnswerUnfit, asyncio.TimeoutError):
            return Diagnosis(action="redirect")
        assert isinstance(found, Diagnosis)
        return found

    async def _end(
        self, trouble: Trouble, kind: Literal["retry", "restart", "give_up"], words: str
    ) -> None:
        fault = Correction(trouble.cause, kind, words)
        self._faults[trouble.node] = fault
        self._keep(trouble.node, fault)
        await self._tree.cancel(trouble.node, _in_words(trouble))


def _in_words(trouble: Trouble) -> Words:
    """Return what is wrong, for people and models."""
    seconds = f"{trouble.seconds:.0f}"
    if trouble.cause == "timeout":
        return Words("It worked for {seconds} s, which is longer than allowed.", seconds=seconds)
    if trouble.cause == "errors":
        return Words(
            "{failed} of {calls} tool calls failed.", failed=trouble.failed, calls=trouble.calls
        )
    return Words("It made no progress for {seconds} s.", seconds=seconds)


def _shorten(message: Message) -> str:
    """Return a message in a few lines."""
    text = message.text
    if isinstance(message, Assistant):
        calls = [f"[calls {call.name} {call.raw or call.arguments}]" for call in message.tool_calls]
        text = "\n".join([text, *calls]).strip()
    return f"{message.kind}: {text[:SHOWN]}"
