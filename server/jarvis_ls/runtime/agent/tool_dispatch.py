"""From a model's answer to what tools gave: the one place where tools are run.

An answer goes to the output handler that can take it; when several could, none does, and the
model is told to choose. The usual handler runs tool calls, native ones and those of the text
form alike. A call runs only from a complete answer with complete arguments, passes the agent's
guard and the toolset's gate, and always ends in a result.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jarvis_ls.core.model_json import read_model_json
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.agent.guard import Guard, Halted
from jarvis_ls.runtime.agent.hooks import AfterToolCall, BeforeToolCall, Hooks
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.events import AskedTarget, ToolState
from jarvis_ls.runtime.base.messages import Assistant, ToolCall, ToolResult
from jarvis_ls.runtime.base.tracing import span
from jarvis_ls.runtime.llm.text_tool_calls import HOW, mentions_call, read_call
from jarvis_ls.runtime.tools.current_call import RunningCall, running
from jarvis_ls.runtime.tools.permissions import Asked, shown, shown_target

COMPLETE_ENDINGS = ("stop", "tool_calls")
"""Ends of an answer that is whole."""
CANCELLED = Words(
    "Stopped by the user before it returned a result; what it did until then is unknown."
)
NOT_STARTED = Words("Not run: the turn was ended or changed before it began.")
LEAVING = 0.1
"""Seconds tools that were told to end may take to do so."""


@dataclass(frozen=True, slots=True)
class Handled:
    """What came of an answer."""

    ran: bool = False
    """Whether the answer was taken, so that the model must be asked again."""
    need_return: bool = False
    """Whether the agent must hand back `prompt` to its caller at once."""
    prompt: str = ""
    """What to tell the model, or the caller; results of tools are already in the conversation."""


class CallingAgent(AgentInterface, Protocol):
    """An agent whose answers may call tools."""

    hooks: Hooks
    guard: Guard
    handlers: list[OutputHandler]


class OutputHandler(ABC):
    """Takes answers of one form."""

    name: str = ""
    """Shown to the model when answers could go to several handlers."""

    @abstractmethod
    def can_handle(self, answer: Assistant) -> bool:
        """Return whether the answer is of this form."""

    @abstractmethod
    async def handle(self, answer: Assistant, agent: CallingAgent) -> Handled:
        """Do what the answer says. What goes wrong becomes a prompt for the model."""


async def execute(answer: Assistant, agent: CallingAgent) -> Handled:
    """Give the answer to the handler that can take it."""
    able = [handler for handler in agent.handlers if handler.can_handle(answer)]
    if not able:
        return Handled()
    if len(able) > 1:
        names = ", ".join(handler.name for handler in able)
        text = Words(
            "The answer could be for {names}; nothing was done. Do one thing at a time.",
            names=names,
        )
        refuse_all(answer, agent, text)
        return Handled(ran=True, prompt="" if answer.tool_calls else text)
    try:
        return await able[0].handle(answer, agent)
    except BaseException:
        refuse_all(answer, agent, NOT_STARTED)
        raise


def normalised(answer: Assistant, native: bool) -> tuple[Assistant, str, str]:
    """Return the answer with its calls in one form, whatever form the model wrote them in.

    Every call gets an id that is unique in the session. The second value is what the model must
    be told because a call could not be read, the third a note to go with the result.
    """
    calls = tuple(_mend(replace(call, id=new_id())) for call in answer.tool_calls)
    if native or calls or not mentions_call(answer.text):
        return replace(answer, tool_calls=calls), "", ""
    if answer.finish not in COMPLETE_ENDINGS:
        told = Words("The answer was cut off in or after a call; nothing was run. {how}", how=HOW)
        return answer, told, ""
    read = read_call(answer.text)
    if read.call is None:
        return answer, read.problem, ""
    call = replace(read.call, id=new_id())
    return replace(answer, text=read.text, tool_calls=(call,), finish="tool_calls"), "", read.note


def refuse_all(answer: Assistant, agent: CallingAgent, reason: str) -> None:
    """Give every call of the answer that has no result yet one that says why it was not run."""
    done = {m.call_id for m in agent.recent_results()}
    for call in answer.tool_calls:
        if call.id not in done:
            result = ToolResult(call.id, call.name, reason, is_error=True)
            agent.showing.ended(agent.showing.call(call), state="cancelled", reason=reason)
            agent.append(result)


class ToolCalls(OutputHandler):
    """Runs the tool calls of an answer: neighbours that change nothing together, others alone."""

    name = "tools"

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """How often each tool was run."""
        self.last = ""
        """The tool that was run last."""

    def can_handle(self, answer: Assistant) -> bool:
        """See `OutputHandler`."""
        return bool(answer.tool_calls)

    async def handle(self, answer: Assistant, agent: CallingAgent) -> Handled:
        """See `OutputHandler`."""
        if answer.finish not in COMPLETE_ENDINGS:
            refuse_all(answer, agent, Words("The answer was not complete; nothing was run."))
            return Handled(ran=True)
        returned: list[str] = []
        for group in _groups(answer.tool_calls, agent):
            if returned:
                break
            await agent.checkpoint_reached()
            for running_call, result in await self._together(group, agent):
                if running_call.need_return:
                    returned.append(result.text)
        if returned:
            refuse_all(answer, agent, Words("Not run: an earlier call ended the turn."))
            return Handled(ran=True, need_return=True, prompt="\n\n".join(returned))
        return Handled(ran=True)

    async def run_aside(self, answer: Assistant, agent: CallingAgent) -> list[str]:
        """Run the calls of an answer that is no part of the conversation, one by one; the names
        of the tools that succeeded."""
        ran = []
        for call in answer.tool_calls if answer.finish in COMPLETE_ENDINGS else ():
            shown_call = agent.showing.call(call)
            try:
                result, halted = await self._one(call, shown_call, agent)
            except BaseException:
                agent.showing.ended(shown_call, state="cancelled", asked=())
                raise
            if halted is not None:
                raise halted
            if not result.is_error:
                ran.append(call.name)
        return ran

    async def _together(
        self, calls: Sequence[ToolCall], agent: CallingAgent
    ) -> list[tuple[RunningCall, ToolResult]]:
        """Run calls at the same time; their results enter the conversation in their order."""
        shown_calls = [agent.showing.call(call) for call in calls]
        tasks = [
            asyncio.ensure_future(self._one(call, shown_call, agent))
            for call, shown_call in zip(calls, shown_calls, strict=True)
        ]
        for task in tasks:
            task.add_done_callback(_mark_retrieved)
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            try:
                await asyncio.wait(tasks, timeout=LEAVING)
            finally:  # also when it is told again to end
                for call, shown_call, task in zip(calls, shown_calls, tasks, strict=True):
                    agent.append(_left(call, shown_call, task, agent))
            raise
        results = []
        halted: BaseException | None = None
        for call, shown_call, task in zip(calls, shown_calls, tasks, strict=True):
            result = _left(call, shown_call, task, agent)
            agent.append(result)
            results.append((shown_call, result))
            halted = halted or _failure(task)
        if halted is not None:
            raise halted
        return results

    async def _one(
        self, call: ToolCall, shown_call: RunningCall, agent: CallingAgent
    ) -> tuple[ToolResult, Halted | None]:
        await agent.hooks.emit(BeforeToolCall(agent, call))
        with running(shown_call):
            reason = await agent.guard.before_tool_call(agent, call)
            if not reason and agent.options.execute_tool_confirm:
                reason = await _confirm(call, shown_call, agent)
            if reason:
                shown_call.show(state="denied", reason=reason)
                result = ToolResult(call.id, call.name, reason, is_error=True)
            else:
                result = await _run_measured(call, agent)
                self.counts[call.name] = self.counts.get(call.name, 0) + 1
                self.last = call.name
        took = shown_call.worked
        halted = None
        try:
            note = await agent.guard.after_tool_call(agent, call, result)
        except Halted as error:
            note, halted = "", error  # what the tool did is kept before the agent ends
        if note:
            result = replace(result, text=together([result.text, note], "\n\n"))
        await agent.hooks.emit(AfterToolCall(agent, call, result))
        _show_end(shown_call, result, took, agent)
        return result, halted


async def _run_measured(call: ToolCall, agent: CallingAgent) -> ToolResult:
    """Run a call, as a span."""
    with span(
        "execute_tool",
        call.name,
        gen_ai__tool__name=call.name,
        gen_ai__tool__call__id=call.id,
        gen_ai__tool__type="function",
    ) as running_call:
        running_call.tell(gen_ai__tool__call__arguments=call.arguments)
        result = await agent.toolset.run(call, agent.context)
        running_call.tell(gen_ai__tool__call__result=result.text)
        if result.is_error:
            running_call.fail("tool_error")
        return result


def _groups(calls: Sequence[ToolCall], agent: CallingAgent) -> list[list[ToolCall]]:
    tools = agent.toolset.tools()
    groups: list[list[ToolCall]] = []
    joinable = False
    for call in calls:
        known = tools.get(call.name)
        independent = known is not None and known.independent
        if groups and joinable and independent:
            groups[-1].append(call)
        else:
            groups.append([call])
        joinable = independent
    return groups


def _mend(call: ToolCall) -> ToolCall:
    """Return the call with arguments that were only written loosely; what is incomplete stays
    raw.
    """
    if call.raw is None:
        return call
    try:
        arguments = read_model_json(call.raw)
    except ValueError:
        return call
    return replace(call, arguments=arguments, raw=None) if isinstance(arguments, dict) else call


_Ran = asyncio.Future[tuple[ToolResult, "Halted | None"]]


def _failure(task: _Ran) -> BaseException | None:
    """Return the exception that ends the agent after this call; None without one."""
    if task.cancelled():
        return asyncio.CancelledError()
    return task.exception() or task.result()[1]


def _mark_retrieved(task: _Ran) -> None:
    """One failure ends the turn; the others are not said to be forgotten."""
    if not task.cancelled():
        task.exception()


def _left(call: ToolCall, shown_call: RunningCall, task: _Ran, agent: CallingAgent) -> ToolResult:
    """Return the result of a call that ended, however it did."""
    if task.done() and not task.cancelled() and task.exception() is None:
        return task.result()[0]
    failure = task.exception() if task.done() and not task.cancelled() else None
    state: ToolState = "failed" if failure is not None else "cancelled"
    reason = str(failure) if failure is not None else CANCELLED
    agent.showing.ended(shown_call, state=state, reason=reason, asked=())
    shown_call.abandon()
    return ToolResult(call.id, call.name, reason, is_error=True)


def _show_end(
    running_call: RunningCall, result: ToolResult, took: float, agent: CallingAgent
) -> None:
    state = running_call.entry.state
    if running_call.abandoned or (running_call.outlives and not result.is_error):
        return
    if state != "denied":
        state = "failed" if result.is_error or running_call.failed else "done"
    agent.showing.ended(
        running_call,
        state=state,
        output=mapped(result.text, shown),
        seconds=round(took, 3),
        asked=(),
    )


async def _confirm(call: ToolCall, shown_call: RunningCall, agent: CallingAgent) -> str:
    """Ask the user about the call; return why it is refused, empty when it may run."""
    known = agent.toolset.tools().get(call.name)
    try:
        actions = tuple(known.actions(call.arguments)) if known is not None else ()
    except (KeyError, TypeError, ValueError, AttributeError):
        actions = ()
    why = Words("Every tool call is confirmed.")
    targets = tuple(AskedTarget(a.kind, shown_target(a.target)) for a in actions)
    shown_call.show(state="asked", asked=targets, reason=why)
    asked = Asked(call.name, actions, why, call.arguments)
    answer = await agent.interaction.permit(agent.node.id, call.id, asked)
    if not answer.allowed:
        return answer.note or Words("The user did not allow it; nothing was done.")
    shown_call.show(state="running", asked=(), reason="")
    return ""
