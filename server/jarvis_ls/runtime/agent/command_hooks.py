"""Hooks from settings: commands that run before and after tools, may refuse a call or add to it.

    [[hooks]]
    event = "before_tool"             # or "after_tool"
    tool = "edit_*"                   # a name or pattern; default every tool
    command = ["check-names", "--strict"]
    timeout = 20                      # seconds; default 60

They are in the user's `config.toml` and in a trusted workspace's `.jarvis/config.toml`. A command
gets one JSON object on its standard input: `event`, `session`, `node`, `folder`, `tool`,
`arguments`, and after the tool `result` and `is_error`. Exit status 0 lets the call continue; what
an `after_tool` command prints is added to the result. With any other status a `before_tool` command
refuses the call, with what it wrote to standard error as the reason: a hook that fails never lets
through what it was to guard.

The user's commands run as the user started them, in the workspace's folder; the program must be
outside of the workspace, because agents can change what is within. Those of a workspace run in
the sandbox, and what they change is dropped.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import logging
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.core.process import end_group
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.guard import Guard
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.folders import below
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.base.redaction import without_secrets
from jarvis_ls.runtime.sandbox.base import Script
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext, cap

SECONDS = 60.0
MOST = 4_000
"""Characters of what a command printed that are passed on."""
MAX_INPUT = 60_000
"""Characters of arguments and of a result that a command gets."""
_EVENTS = ("before_tool", "after_tool")
_KEYS = {"event", "tool", "command", "timeout"}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CommandHook:
    """One hook of the settings."""

    event: Literal["before_tool", "after_tool"]
    tool: str
    """Name or pattern of tools."""
    command: tuple[str, ...]
    timeout: float
    sandboxed: bool
    """Whether it comes from a workspace."""


def read_hooks(listed: Any, where: str, *, sandboxed: bool) -> list[CommandHook]:
    """Return the hooks of a list of tables. Raises `ConfigError` naming what is wrong."""
    if not isinstance(listed, list):
        raise ConfigError("{where}: hooks must be a list of tables ([[hooks]]).", where=where)
    return [_read(table, number, where, sandboxed) for number, table in enumerate(listed, 1)]


def _read(table: Any, number: int, where: str, sandboxed: bool) -> CommandHook:
    def wrong(why: str) -> ConfigError:
        return ConfigError("{where}: hook {number}: {why}.", where=where, number=number, why=why)

    if not isinstance(table, dict):
        raise wrong(Words("it must be a table"))
    if unknown := set(map(str, table)) - _KEYS:
        raise wrong(Words("{key} is not known", key=repr(min(unknown))))
    event = table.get("event")
    if event not in _EVENTS:
        raise wrong(Words("event must be before_tool or after_tool"))
    command, tool = table.get("command"), table.get("tool", "*")
    words = command if isinstance(command, list) else []
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise wrong(Words("command must be a list of words"))
    if not isinstance(tool, str):
        raise wrong(Words("tool must be a name or pattern"))
    seconds = table.get("timeout", SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= 600:
        raise wrong(Words("timeout must be seconds, up to 600"))
    return CommandHook(event, tool, tuple(words), float(seconds), sandboxed)


class CommandHooks(Guard):
    """Runs the hooks that fit a call."""

    def __init__(
        self, hooks: Sequence[CommandHook], context: ToolContext, broken: str = ""
    ) -> None:
        """`broken` says why the hooks could not be read: no tool is called then."""
        self._hooks = tuple(hooks)
        self._context = context
        self._broken = broken

    async def before_tool_call(self, agent: AgentInterface, call: ToolCall) -> str:
        """Return why a hook refuses the call; empty when none does."""
        if self._broken:
            return self._broken
        for hook in self._fitting("before_tool", call):
            try:
                status, output, reason = await self._run(hook, agent, call, {})
            except JarvisError as error:
                return _refusal(hook, str(error))
            if status != 0:
                return _refusal(hook, reason if reason.strip() else output)
        return ""

    async def after_tool_call(
        self, agent: AgentInterface, call: ToolCall, result: ToolResult
    ) -> str:
        """Return what hooks add to the result."""
        told: list[str] = []
        more = {"result": result.text[:MAX_INPUT], "is_error": result.is_error}
        for hook in self._fitting("after_tool", call):
            try:
                status, output, complaint = await self._run(hook, agent, call, more)
            except JarvisError as error:
                status, output, complaint = 1, "", str(error)
            said = output if status == 0 else complaint or output
            if said.strip():
                told.append(f"{_name(hook)}: {said.strip()}")
            if status != 0:
                logger.warning("the hook %s failed with status %s", _name(hook), status)
        return "\n".join(told)

    def _fitting(self, event: str, call: ToolCall) -> list[CommandHook]:
        return [
            hook
            for hook in self._hooks
            if hook.event == event and fnmatch.fnmatchcase(call.name, hook.tool)
        ]

    async def _run(
        self, hook: CommandHook, agent: AgentInterface, call: ToolCall, more: Mapping[str, Any]
    ) -> tuple[int, str, str]:
        """Run a hook and return exit status, standard output and standard error.

        Raises `JarvisError` when it cannot be run or takes too long.
        """
        roots = self._context.roots
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        data = {
            "event": hook.event,
            "session": self._context.session,
            "node": agent.node.id,
            "folder": str(roots[0]) if roots else "",
            "tool": call.name,
            "arguments": call.arguments if len(arguments) <= MAX_INPUT else {},
            **more,
        }
        text = json.dumps(data, ensure_ascii=False)
        return await (self._in_sandbox if hook.sandboxed else self._as_user)(hook, text)

    async def _in_sandbox(self, hook: CommandHook, data: str) -> tuple[int, str, str]:
        ladder = self._context.services.get("sandbox")
        if not isinstance(ladder, Ladder):
            raise JarvisError("There is no sandbox to run it in.")
        sandbox = await ladder.best(trusted=self._context.trusted)
        text = f'printf %s "$JARVIS_CALL" | {shlex.join(hook.command)}'
        script = Script("sh", text, hook.timeout, False, {"JARVIS_CALL": data})
        ran = await sandbox.run(script, self._context.roots, None)
        if ran.ended:
            raise JarvisError("It was ended: {why}.", why=ran.ended)
        output = cap(shown(ran.output), MOST)
        return ran.exit or 0, output, output

    async def _as_user(self, hook: CommandHook, data: str) -> tuple[int, str, str]:
        program = shutil.which(hook.command[0])
        if program is None:
            raise JarvisError("The program {name} was not found.", name=hook.command[0])
        if below(Path(os.path.realpath(program)), list(self._context.roots)) is not None:
            raise JarvisError(
                "The program {name} is in the workspace, where agents can change it.",
                name=program,
            )
        process = await asyncio.create_subprocess_exec(
            program,
            *hook.command[1:],
            cwd=self._context.roots[0] if self._context.roots else None,
            env=without_secrets(os.environ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, complaint = await asyncio.wait_for(
                process.communicate(data.encode("utf-8", "replace")), hook.timeout
            )
        except asyncio.TimeoutError:  # Python 3.10 has another class than the built-in one
            raise JarvisError("It took longer than {n} seconds.", n=f"{hook.timeout:g}") from None
        finally:
            end_group(process)
        return process.returncode or 0, _text(output), _text(complaint)


def _text(data: bytes) -> str:
    return cap(shown(data.decode("utf-8", "replace")), MOST)


def _name(hook: CommandHook) -> str:
    return Path(hook.command[0]).name


def _refusal(hook: CommandHook, reason: str) -> str:
    return Words(
        "The hook {name} refuses it: {why}",
        name=_name(hook),
        why=reason.strip() or Words("no reason was given"),
    )
