"""How an agent behaves: every parameter, and where its value comes from.

An argument wins over the environment, and the environment over the `[agent]` section of the
user's `config.toml`; what no one says is the default below.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from jarvis_ls.core.errors import ConfigError

NORMAL, CODE = "normal", "code"
SUMMARY_SHARE = 0.8
"""How much of the window may be full before the conversation is summarised."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The parameters of one agent."""

    system_prompt: str = ""
    """How the agent is to behave; empty takes the prompt of its type."""
    name: str = "Jarvis"
    """Name in the tree, in lists and in logs."""
    description: str = ""
    """What the agent is for, told to other agents."""
    agent_type: Literal["normal", "code"] = "normal"
    """`code` works on code: it edits in proposals and verifies what it changed."""
    model_group: str = "balanced"
    """Group of models that answers: `think`, `balanced`, `act`, an alias, or `provider/model`."""
    cheap_group: str = "act"
    """Group for simple questions, such as the choice of tools."""
    summary_prompt: str = ""
    """How the closing summary is asked for; empty takes the built-in one."""
    need_summary: bool = False
    """Whether a task ends with a summary by the model; else its last answer is the result."""
    auto_complete: bool | None = None
    """Whether `!!!COMPLETE!!!` ends a task without asking anyone. None: yes without a user
    or for a child, and among several agents only when it is said here."""
    non_interactive: bool = False
    """There is no user to answer."""
    in_multi_agent: bool = False
    """One of several agents that talk to each other."""
    use_tools: tuple[str, ...] = ()
    """Names of the tools it may use; empty means all."""
    tool_filter_threshold: int = 30
    """With more tools than this, a cheap model first chooses the useful ones; 0 never does."""
    execute_tool_confirm: bool = False
    """Whether every tool call is asked for, whatever the permissions say."""
    tool_reminder_rounds: int = 20
    """After how many rounds the model is reminded how tools are called; 0 never."""
    summary_share: float = SUMMARY_SHARE
    """Share of the window that may be full before the conversation is summarised."""
    use_methodology: bool = True
    """Whether stored methodologies are offered to the model."""
    use_analysis: bool = False
    """Whether the model looks back at a finished task for a methodology to keep; you are asked."""
    force_save_memory: bool = False
    """Whether memories are asked for at the end of a task and before history is cleared."""
    learn_project: bool = True
    """Whether conventions and decisions of a project are noted in its memory, beside other work."""
    files: tuple[str, ...] = ()
    """Files that belong to the task; handed over with its first message."""
    max_rounds: int = 500
    """Rounds of one task at most; 0 means no limit."""
    max_output: int | None = None
    """Tokens of one answer at most; None leaves it to the model."""
    temperature: float | None = None
    """None leaves it to the provider."""

    def completes_itself(self, child: bool = False) -> bool:
        """Return whether `!!!COMPLETE!!!` ends a task without asking; `child` when another agent
        waits.
        """
        if self.auto_complete is not None:
            return self.auto_complete
        return not self.in_multi_agent and (self.non_interactive or child)


ENVIRONMENT = {
    "JARVIS_SYSTEM_PROMPT": "system_prompt",
    "JARVIS_AGENT_NAME": "name",
    "JARVIS_MODEL_GROUP": "model_group",
    "JARVIS_CHEAP_GROUP": "cheap_group",
    "JARVIS_SUMMARY_PROMPT": "summary_prompt",
    "JARVIS_NEED_SUMMARY": "need_summary",
    "JARVIS_AUTO_COMPLETE": "auto_complete",
    "JARVIS_NON_INTERACTIVE": "non_interactive",
    "JARVIS_USE_TOOLS": "use_tools",
    "JARVIS_TOOL_FILTER_THRESHOLD": "tool_filter_threshold",
    "JARVIS_EXECUTE_TOOL_CONFIRM": "execute_tool_confirm",
    "JARVIS_TOOL_REMINDER_ROUNDS": "tool_reminder_rounds",
    "JARVIS_SUMMARY_SHARE": "summary_share",
    "JARVIS_USE_METHODOLOGY": "use_methodology",
    "JARVIS_USE_ANALYSIS": "use_analysis",
    "JARVIS_FORCE_SAVE_MEMORY": "force_save_memory",
    "JARVIS_LEARN_PROJECT": "learn_project",
    "JARVIS_MAX_ROUNDS": "max_rounds",
    "JARVIS_MAX_OUTPUT": "max_output",
    "JARVIS_TEMPERATURE": "temperature",
}
"""Environment variables and the parameter each sets."""

_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})
_LIMITS = {"summary_share": (0.1, 0.95), "temperature": (0.0, 2.0)}


def read_options(
    arguments: Mapping[str, Any] | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> AgentOptions:
    """Options from arguments, the environment and the `[agent]` section of the settings.

    An argument of None was not given. Raises `ConfigError` naming what is wrong and where.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for name, value in (settings or {}).items():
        values[name] = _check(f"agent.{name}", name, value)
    for variable, name in ENVIRONMENT.items():
        if written := environment.get(variable, "").strip():
            values[name] = _check(variable, name, _parse(variable, name, written))
    for name, value in (arguments or {}).items():
        if value is not None:
            values[name] = _check(name, name, value)
    return AgentOptions(**values)


_TYPES: dict[str, str] = {f.name: str(f.type) for f in fields(AgentOptions)}


def _parse(where: str, name: str, written: str) -> Any:
    kind = _TYPES[name]
    try:
        if kind.startswith("bool"):
            if written.lower() in _TRUE | _FALSE:
                return written.lower() in _TRUE
            raise ValueError
        if kind.startswith("int"):
            return int(written)
        if kind.startswith("float"):
            return float(written)
    except ValueError:
        wanted = {"b": "true or false", "i": "a whole number", "f": "a number"}[kind[0]]
        raise ConfigError(
            "{where} must be {wanted}, not {written}.",
            where=where,
            wanted=wanted,
            written=repr(written),
        ) from None
    if kind.startswith("tuple"):
        return [part.strip() for part in written.split(",") if part.strip()]
    return written


def _check(where: str, name: str, value: Any) -> Any:
    kind = _TYPES.get(name)
    if kind is None:
        known = ", ".join(sorted(_TYPES))
        raise ConfigError(
            "Unknown setting {where}; known settings are {known}.", where=where, known=known
        )
    if kind.startswith("tuple"):
        if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
            return tuple(value)
        raise ConfigError("{where} must be a list of strings.", where=where)
    if kind.startswith("Literal"):
        if value in (NORMAL, CODE):
            return value
        raise ConfigError("{where} must be normal or code.", where=where)
    if value is None and kind.endswith("None"):
        return None
    if kind.startswith("bool") and isinstance(value, bool):
        return value
    if kind.startswith("str") and isinstance(value, str):
        return value
    if kind.startswith(("int", "float")) and isinstance(value, (int, float)):
        return _number(where, name, kind, value)
    raise ConfigError("{where} has a wrong type.", where=where)


def _number(where: str, name: str, kind: str, value: float) -> float:
    if isinstance(value, bool) or (kind.startswith("int") and not isinstance(value, int)):
        raise ConfigError("{where} must be a number.", where=where)
    low, high = _LIMITS.get(name, (0, float("inf")))
    if not low <= value <= high:
        raise ConfigError(
            "{where} must be between {low} and {high}.",
            where=where,
            low=f"{low:g}",
            high=f"{high:g}",
        )
    return value
