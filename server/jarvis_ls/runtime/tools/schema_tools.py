"""Tools whose arguments are described by a JSON schema and not by a Python function.

Scripted tools and those of tool servers are of this kind: `run` gets all arguments as one
mapping. Everything else is as with `Tools`: time limit, capped output, errors as results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.llm.platforms.base import ToolSpec
from jarvis_ls.runtime.tools.tool import (
    Action,
    Tool,
    ToolContext,
    Toolset,
    attempted,
    broken_arguments,
    cap,
)

MAX_SCHEMA = 30_000
"""Characters of a schema as JSON."""
MAX_ARGUMENTS = 4_000_000
"""Characters of a call's arguments as JSON."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")

Run = Callable[[ToolContext, dict[str, Any]], Awaitable[str]]


class Failed(JarvisError):
    """The tool ran and says that it failed; the text is what it says."""


@dataclass(frozen=True, slots=True)
class SchemaTool:
    """One tool."""

    spec: ToolSpec
    run: Run
    """Called with the context and all arguments."""
    actions: Callable[[dict[str, Any]], list[Action]]
    """As in `Tool`."""
    timeout: float = 60.0
    """Seconds it may take."""
    checked: bool = True
    """Whether arguments are checked against the schema here; a tool server does it itself."""

    def as_tool(self) -> Tool:
        """Return the tool as other parts know it."""

        async def run(context: ToolContext, **arguments: Any) -> str:
            return await self.run(context, arguments)

        return Tool(
            self.spec,
            run,
            self.actions,
            self.timeout,
            takes=lambda arguments: not wrong_arguments(self, arguments),
        )


class SchemaToolset(Toolset):
    """A set of such tools; override `schema_tools` when it changes."""

    def __init__(self, tools: Mapping[str, SchemaTool] | None = None) -> None:
        self._schema_tools = dict(tools or {})

    def schema_tools(self) -> Mapping[str, SchemaTool]:
        """Return the tools on offer now, by name."""
        return self._schema_tools

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        return {name: tool.as_tool() for name, tool in self.schema_tools().items()}

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        known = self.schema_tools().get(call.name)
        if known is None:
            return _failure_result(call, Words("There is no tool {name}.", name=repr(call.name)))
        if call.raw is not None:
            return _failure_result(call, broken_arguments(call.raw))
        problem = wrong_arguments(known, call.arguments)
        if problem:
            return _failure_result(
                call,
                Words(
                    "Wrong arguments for {name}: {problem}. Nothing was run.",
                    name=call.name,
                    problem=problem,
                ),
            )
        result = await attempted(call, lambda: known.run(context, call.arguments), known.timeout)
        return replace(result, text=cap(result.text, 60_000))


def is_name(name: str) -> bool:
    """Return whether every provider takes `name` for a tool."""
    return _NAME.match(name) is not None


def usable_schema(schema: Any) -> dict[str, Any]:
    """Return `schema` when it describes an object and providers accept it.

    Raises `ValueError` saying what is wrong. References out of it are never followed.
    """
    if not isinstance(schema, dict):
        raise ValueError("its parameters are not a JSON schema")
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("its parameters are not JSON") from None
    if len(text) > MAX_SCHEMA:
        raise ValueError(f"its parameters take more than {MAX_SCHEMA} characters")
    if schema.get("type", "object") != "object":
        raise ValueError("its parameters are not those of an object")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise ValueError("its properties are not a mapping")
    return {**schema, "type": "object", "properties": properties}


def check_schema(schema: dict[str, Any]) -> None:
    """Raise `ValueError` when `schema` is no valid JSON schema."""
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"its parameters are not a JSON schema: {error.message}") from None


def wrong_arguments(tool: SchemaTool, arguments: dict[str, Any]) -> str:
    """Describe what is wrong with the arguments of a call; empty when nothing is."""
    try:
        if len(json.dumps(arguments)) > MAX_ARGUMENTS:
            return f"more than {MAX_ARGUMENTS} characters"
    except (TypeError, ValueError, RecursionError):
        return "they are no JSON"
    if not tool.checked:
        return ""
    return "; ".join(violations(tool.spec.parameters, arguments, "arguments")[:5])


def violations(schema: dict[str, Any], value: Any, whole: str = "the answer") -> list[str]:
    """Return how a value fails to meet a JSON schema, in words; `whole` is what it is called.
    References out of the schema are never followed.
    """
    import jsonschema
    import referencing

    nowhere: referencing.Registry[Any] = referencing.Registry()
    check = jsonschema.Draft202012Validator(schema, registry=nowhere)
    try:
        errors = sorted(check.iter_errors(value), key=lambda error: list(map(str, error.path)))
    except Exception as error:  # noqa: BLE001 - references and patterns are examined only now
        return [f"its schema cannot be used: {error}"]
    return [f"{'.'.join(map(str, error.path)) or whole}: {error.message[:300]}" for error in errors]


def _failure_result(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call.id, call.name, text, is_error=True)
