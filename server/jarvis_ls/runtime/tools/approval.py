"""The gate around tools: what the rules allow runs, what they say to ask is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import AskedTarget, ScriptRun
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.permissions import (
    Answer,
    Ask,
    Asked,
    Decision,
    Permissions,
    real_path,
    shown,
    shown_target,
)
from jarvis_ls.runtime.tools.tool import (
    Action,
    Tool,
    ToolContext,
    Toolset,
    Wrapper,
    actions_of,
    arguments_of,
)

_CONSENTED = "consented"
"""Which service of a context names a call that the user made."""


class Isolated(Protocol):
    """A place where scripts run."""

    name: str
    """Its kind; `none` keeps nothing in."""


class Sandboxes(Protocol):
    """Finds the place where scripts run: the service `sandbox`."""

    async def best(self, *, trusted: bool = False) -> Isolated:
        """Return the best one that has proven that it holds."""


class Approved(Wrapper):
    """A toolset whose calls all pass the gate."""

    def __init__(self, wrapped: Toolset, permissions: Permissions, ask: Ask | None) -> None:
        """Without `ask` no one is there, and what would be asked is denied."""
        super().__init__(wrapped)
        self._permissions = permissions
        self._ask = ask

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        known = self.tools().get(call.name)
        if known is None or call.raw is not None:
            return await self.wrapped.run(call, context)  # which says what is wrong
        try:
            actions = actions_of(known, call)
        except ToolRetry as error:
            return _refuse(call, str(error))
        if actions is None:
            return await self.wrapped.run(call, context)  # which says what is wrong
        decision = await self._decide(known, actions, context)
        if decision.effect == "deny":
            return _refuse(call, decision.reason)
        try:
            script = await self._show_script(known, call, context)
        except JarvisError as error:  # it could not run, so no one is asked
            return _deny(call, str(error), str(error))
        if decision.effect == "ask" and context.services.get(_CONSENTED) != call.id:
            answer = await self._answer(call, decision, context, script)
            if not answer.allowed:
                note = answer.note or Words("The user did not allow it.")
                return _refuse(
                    call, together([decision.reason, note], " ") if decision.reason else note
                )
            self._permissions.grant(call.name, decision.actions, answer.scope, context)
            context = _with_granted(context, decision.actions)
        return await self.wrapped.run(call, context)

    async def _decide(self, known: Tool, actions: list[Action], context: ToolContext) -> Decision:
        """Decide by the rules; the sandbox is looked for only where it makes a difference."""
        name = known.spec.name
        decision = self._permissions.decide(name, actions, context)
        if decision.effect == "allow" or not known.sandboxed:
            return decision
        if any(action.kind == "connect" for action in actions):
            return decision
        contained = self._permissions.decide(name, actions, context, contained=True)
        if contained == decision or not await _has_sandbox(context):
            return decision
        return contained

    async def _show_script(
        self, known: Tool, call: ToolCall, context: ToolContext
    ) -> ScriptRun | None:
        """Return the script a call runs, and show it; None when it runs none."""
        arguments = arguments_of(known, call) if known.script is not None else None
        if known.script is None or arguments is None:
            return None
        script = await known.script(arguments, context)
        if (here := current_call()) is not None:
            here.show(script=script, isolation=script.isolation)
        return script

    async def _answer(
        self, call: ToolCall, decision: Decision, context: ToolContext, script: ScriptRun | None
    ) -> Answer:
        if self._ask is None:
            return Answer(
                False, note=Words("It needs approval, but the session is not interactive.")
            )
        asked = Asked(
            call.name,
            decision.actions,
            decision.reason,
            call.arguments,
            self._permissions.keeps(call.name, decision.actions, context),
            script,
            decision.hidden,
        )
        targets = tuple(AskedTarget(a.kind, shown_target(a.target)) for a in asked.actions)
        if (here := current_call()) is not None:
            here.show(state="asked", asked=targets, reason=asked.reason, lasting=asked.lasting)
        answer = await self._ask(asked)
        if here is not None and answer.allowed:
            here.show(state="running", asked=(), reason="")
        return answer


async def _has_sandbox(context: ToolContext) -> bool:
    """Return whether scripts run in a sandbox that has proven that it holds."""
    sandboxes: Sandboxes | None = context.services.get("sandbox")
    if sandboxes is None:
        return False
    try:
        return (await sandboxes.best(trusted=context.trusted)).name != "none"
    except JarvisError:
        return False  # the tool says why, when it is allowed to try


def consented(context: ToolContext, call: ToolCall) -> ToolContext:
    """Return the context in which no one is asked about a call, because the user made it."""
    return replace(context, services={**context.services, _CONSENTED: call.id})


def _with_granted(context: ToolContext, actions: Iterable[Action]) -> ToolContext:
    """Return the context in which files outside the workspace may be read that the user agreed
    to.
    """
    read = (real_path(a.target, context.roots) for a in actions if a.kind == "read")
    outside = frozenset(path for path in read if path is not None)
    return replace(context, services={**context.services, "granted": outside})


def _refuse(call: ToolCall, reason: str) -> ToolResult:
    text = Words("Not allowed; nothing was done.")
    if reason:
        text = together([text, mapped(reason, shown)], " ")
    return _deny(call, reason, text)


def _deny(call: ToolCall, reason: str, text: str) -> ToolResult:
    """Return the result `text` of a call that is not made; its user sees the `reason` at once."""
    if (here := current_call()) is not None:
        here.show(state="denied", asked=(), reason=mapped(reason, shown))
    return ToolResult(call.id, call.name, text, is_error=True)
