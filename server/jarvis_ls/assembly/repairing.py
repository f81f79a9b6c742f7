"""The agent that repairs: fulfils the port of `jsec.repair` with the user's models.

It works alone in a copy outside of the user's workspace: it may read and edit there and nothing
else, whatever the user's rules would let it do elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jarvis_ls.agents.node import Ending
from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.task_agents import task_options
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.repair.briefing import Answer, brief
from jarvis_ls.jsec.repair.judge import Judge
from jarvis_ls.jsec.repair.patch import FileChange, Patch, PatchUnfit
from jarvis_ls.jsec.repair.repair import Attempt, Proposal, Repair, Tell, repair
from jarvis_ls.jsec.repair.workspace import Copy, copied
from jarvis_ls.runtime.agent.typed_answer import ModelForm
from jarvis_ls.runtime.base.redaction import redact
from jarvis_ls.runtime.tools.interaction import NonInteractive
from jarvis_ls.runtime.tools.permissions import PermissionRule

SECONDS = 900.0
"""Time of one attempt, models included."""
TOOLS = ("read_code", "edit_file", "search_in_project", "read_symbols", "callers", "references")
_RULES = (
    PermissionRule("allow", "edit_file", "write"),
    PermissionRule("deny", "*", "execute"),
    PermissionRule("deny", "*", "connect"),
)
_MOST_SAID = 2000


class AgentRepairer:
    """See `jsec.repair.repair.Repairer`."""

    def __init__(self, assembly: Assembly, stop: asyncio.Event) -> None:
        """`assembly` has a model (see `missing_model`); `stop` is set when the user wants no
        more."""
        self._assembly = assembly
        self._stop = stop

    async def propose(self, judge: Judge, before: Sequence[Attempt]) -> Proposal:
        """See `Repairer`."""
        task = await brief(judge, before)
        with copied(judge.bench.root, judge.settings) as copy:
            ending = await self._work(copy, task, judge.finding.id)
            return _proposal(copy, ending)

    async def _work(self, copy: Copy, task: str, name: str) -> Ending:
        assembly = self._assembly
        conversation = await assembly.start(
            None,
            [copy.folder],
            NonInteractive(),
            trusted=True,
            options=replace(task_options(assembly.options), use_tools=TOOLS),
            additions=Additions(rules=_RULES),
        )
        conversation.rename(f"jsec fix {name}")
        try:
            return await self._within(conversation, task)
        finally:
            await conversation.close()
            assembly.forget(conversation.id)

    async def _within(self, conversation: Conversation, task: str) -> Ending:
        """Return how the agent ends, in the time it has and as long as the user wants."""
        asked = asyncio.ensure_future(conversation.ask(task, form=ModelForm(Answer)))
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait(
                {asked, stopped}, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if asked.done():
                return await asked
            await conversation.stop()
            return Ending("failed", error=Words("It was not done in time."))
        except JarvisError as error:
            return Ending("failed", error=str(error))
        finally:
            for waiting in (asked, stopped):
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError, JarvisError):
                    await waiting


async def repair_with_models(
    judge: Judge, stop: asyncio.Event, tell: Tell, keys: Mapping[str, str] | None = None
) -> Repair:
    """Return what came of the rule's rewrite and then, when the user has set up a model, of an
    agent. `keys` of models come before those of the environment.

    Raises `JarvisError` when nothing can be run on this machine.
    """
    assembly = build(environment={**os.environ, **(keys or {})})
    try:
        missing = assembly.missing_model()
        repairer = None if missing else AgentRepairer(assembly, stop)
        done = await repair(judge, repairer, tell)
        return replace(done, lacking=missing) if missing and done.passed is None else done
    finally:
        await assembly.close()


def _proposal(copy: Copy, ending: Ending) -> Proposal:
    """Return what became of the copy; what was changed is judged whatever the agent says of it."""
    answer = ending.value if isinstance(ending.value, Answer) else None
    said = f"{answer.cause}\n{answer.change}" if answer is not None else ending.text
    said = redact(said)[:_MOST_SAID]
    changed = copy.changed()
    if changed:
        try:
            return Proposal(_patch(copy, changed), said)
        except PatchUnfit as error:
            return Proposal(None, said, str(error))
    if answer is None and ending.error and not ending.text:
        return Proposal(None, said, redact(ending.error), is_final=True)
    return Proposal(None, said, Words("The agent changed nothing."))


def _patch(copy: Copy, changed: dict[str, bytes | None]) -> Patch:
    changes = []
    for path, data in changed.items():
        before = copy.original(path)
        if before is None or data is None:
            raise PatchUnfit(
                "It makes or deletes {file}; a repair changes files that are there.", file=path
            )
        changes.append(FileChange(path, decode(path, before), decode(path, data).data))
    return Patch(tuple(changes))
