"""Tools: typed functions that models may call, and the wrappers that guard them.

A tool is an async function. Its signature is the schema, its docstring what the model reads:

    @tool(actions=lambda a: [Action("read", a["path"])])
    async def read_file(context: ToolContext, path: str, first: int = 1) -> str:
        \"\"\"Read a text file of the workspace.

        Args:
            path: Path relative to the workspace.
            first: First line, from 1.
        \"\"\"

A `Toolset` offers tools and runs them. Limits, filters and approval are toolsets around
toolsets, so that no tool and no model can go around them.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import re
import traceback
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_type_hints

from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import ScriptRun
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.llm.platforms.base import ToolSpec

HEAD_LINES = TAIL_LINES = 30
"""What is left of output that is too long."""
_SHOWN_BEFORE = 60
"""Characters shown before the place where arguments are no JSON any more."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a tool is about to do that someone may want to forbid."""

    kind: Literal["read", "write", "execute", "connect"]
    target: str
    """A path, a command line, or a URL."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What every tool is given."""

    roots: tuple[Path, ...]
    """Workspace folders, resolved; the first is where relative paths start."""
    session: str = ""
    """Id of the session."""
    node: str = ""
    """Id of the agent that calls."""
    trusted: bool = False
    """Whether the user trusts the workspace."""
    services: Mapping[str, Any] = field(default_factory=dict)
    """What single tools need from above, by name (sandbox, memory, agents, …)."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    spec: ToolSpec
    run: Callable[..., Awaitable[str]]
    """Called with the context and the arguments by name."""
    actions: Callable[[dict[str, Any]], list[Action]]
    """What the tool will do with these arguments."""
    timeout: float = 60.0
    """Seconds it may take."""
    independent: bool = False
    """Whether it may run at the same time as others (it changes nothing)."""
    model: Any = None
    """Pydantic model of the arguments."""
    proposes: bool = False
    """Whether the files it changes are proposals: it computes them, `Reviewed` writes them."""
    sandboxed: bool = False
    """Whether what it executes runs in the sandbox of the services, and nowhere else."""
    takes: Callable[[dict[str, Any]], bool] | None = None
    """Whether it runs with these arguments, where no model of them says so."""
    offered: bool = True
    """Whether models are told of it that were not given it by its name."""
    script: Callable[[dict[str, Any], ToolContext], Awaitable[ScriptRun]] | None = None
    """Return the script that a call would run; raises `JarvisError` when it could not run."""


def tool(
    *,
    actions: Callable[[dict[str, Any]], list[Action]] | None = None,
    timeout: float = 60.0,
    independent: bool = False,
    proposes: bool = False,
    sandboxed: bool = False,
    offered: bool = True,
    script: Callable[[dict[str, Any], ToolContext], Awaitable[ScriptRun]] | None = None,
) -> Callable[[Callable[..., Awaitable[str]]], Tool]:
    """Make an async function a tool. `actions` lists what a call is about to do, from its
    checked arguments; without it the tool does nothing anyone could forbid. One that is not
    `offered` is there for sets of tools that name it. `script` is that of `Tool`.
    """

    def declare(run: Callable[..., Awaitable[str]]) -> Tool:
        model = _arguments_model(run)
        described, arguments = _documentation(run)
        schema = _without_ballast(_written_out(model.model_json_schema()))
        schema.pop("title", None)
        for name, parameter in schema.get("properties", {}).items():
            parameter.pop("title", None)
            if name in arguments:
                parameter["description"] = arguments[name]
        schema.setdefault("properties", {})
        spec = ToolSpec(run.__name__, described, schema)
        return Tool(
            spec,
            run,
            actions or (lambda _: []),
            timeout,
            independent,
            model,
            proposes,
            sandboxed,
            offered=offered,
            script=script,
        )

    return declare


def arguments_of(known: Tool, call: ToolCall) -> dict[str, Any] | None:
    """Return the arguments of `call` with defaults filled in; None when they are wrong."""
    if call.raw is not None:
        return None
    arguments = call.arguments
    if known.model is not None:
        import pydantic

        try:
            arguments = _validate(known, arguments).model_dump()
        except pydantic.ValidationError:
            return None
    if known.takes is not None and not known.takes(arguments):
        return None
    return arguments


def actions_of(known: Tool, call: ToolCall) -> list[Action] | None:
    """Return the actions of `call`, from its arguments with defaults filled in.

    None when they are wrong, so that the call will not be run. Raise `ToolRetry` when they cannot
    be determined.
    """
    arguments = arguments_of(known, call)
    if arguments is None:
        return None
    try:
        return known.actions(arguments)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise ToolRetry("What {name} would do cannot be determined.", name=call.name) from None


class Toolset(ABC):
    """Offers tools and runs them."""

    @abstractmethod
    def tools(self) -> Mapping[str, Tool]:
        """Return the tools on offer, by name."""

    @abstractmethod
    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """Return the result of one call; whatever goes wrong is a result with `is_error`."""

    async def run_all(self, calls: Iterable[ToolCall], context: ToolContext) -> list[ToolResult]:
        """Results in the order of the calls; neighbours that change nothing run together."""
        results: list[ToolResult] = []
        together: list[ToolCall] = []

        async def flush() -> None:
            results.extend(await asyncio.gather(*(self.run(c, context) for c in together)))
            together.clear()

        for call in calls:
            known = self.tools().get(call.name)
            if known is None or not known.independent:
                await flush()
                results.append(await self.run(call, context))
            else:
                together.append(call)
        await flush()
        return results

    def specs(self) -> list[ToolSpec]:
        """Return the tools as a model sees them."""
        return [tool.spec for tool in self.tools().values() if tool.offered]

    def offered_names(self) -> str:
        """Return the names of the tools that models are told of, in words."""
        return ", ".join(sorted(spec.name for spec in self.specs())) or "none"


class Tools(Toolset):
    """A plain set of tools: checks arguments, runs, keeps time, caps output."""

    def __init__(self, tools: Iterable[Tool], *, max_output: int = 60_000) -> None:
        """Create a toolset. Raise `ValueError` when two tools share a name.

        Output longer than `max_output` characters keeps its first and last 30 lines.
        """
        self._tools: dict[str, Tool] = {}
        self._max_output = max_output
        for tool_ in tools:
            if tool_.spec.name in self._tools:
                raise ValueError(f"two tools are named {tool_.spec.name}")
            self._tools[tool_.spec.name] = tool_

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        return self._tools

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        known = self._tools.get(call.name)
        if known is None:
            names = self.offered_names()
            return _failure_result(
                call,
                Words(
                    "Unknown tool {name}. Tools: {names}.",
                    name=repr(call.name),
                    names=names,
                ),
            )
        if call.raw is not None:
            return _failure_result(call, broken_arguments(call.raw))
        problem, arguments = _check(known, call.arguments)
        if problem:
            return _failure_result(call, problem)
        result = await attempted(call, lambda: known.run(context, **arguments), known.timeout)
        if len(result.text) > self._max_output and not result.is_error:
            text = await _shorten(call.name, result.text, self._max_output, context)
            result = replace(result, text=text)
        return result


class Wrapper(Toolset):
    """A toolset around another; override what should differ."""

    def __init__(self, wrapped: Toolset) -> None:
        self.wrapped = wrapped

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        return self.wrapped.tools()

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        return await self.wrapped.run(call, context)


class Sifted(Wrapper):
    """Only the tools whose name passes a test, those too that come later."""

    def __init__(self, wrapped: Toolset, passes: Callable[[str], bool]) -> None:
        super().__init__(wrapped)
        self._passes = passes

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        return {n: t for n, t in self.wrapped.tools().items() if self._passes(n)}

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        if not self._passes(call.name):
            names = self.offered_names()
            return _failure_result(
                call,
                Words(
                    "Unknown tool {name}. Tools: {names}.",
                    name=repr(call.name),
                    names=names,
                ),
            )
        return await self.wrapped.run(call, context)


class Selected(Sifted):
    """Only the tools with these names, those too that are not offered otherwise."""

    def __init__(self, wrapped: Toolset, names: Iterable[str]) -> None:
        super().__init__(wrapped, frozenset(names).__contains__)

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        return {
            name: known if known.offered else replace(known, offered=True)
            for name, known in super().tools().items()
        }


class Joined(Toolset):
    """Several toolsets as one; the first that has a name keeps it."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        self._toolsets = list(toolsets)

    def tools(self) -> Mapping[str, Tool]:
        """See `Toolset`."""
        found: dict[str, Tool] = {}
        for toolset in self._toolsets:
            for name, found_tool in toolset.tools().items():
                found.setdefault(name, found_tool)
        return found

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        for toolset in self._toolsets:
            if call.name in toolset.tools():
                return await toolset.run(call, context)
        names = self.offered_names()
        return _failure_result(
            call,
            Words("Unknown tool {name}. Tools: {names}.", name=repr(call.name), names=names),
        )


async def attempted(
    call: ToolCall, work: Callable[[], Awaitable[str]], seconds: float
) -> ToolResult:
    """Return the result of a tool's work, or words for why there is none; a fault of a tool ends no
    agent. Only being cancelled is raised."""
    try:
        return ToolResult(call.id, call.name, await in_time(work(), seconds))
    except asyncio.TimeoutError:
        text = Words(
            "{name} timed out after {timeout} s.", name=call.name, timeout=f"{seconds:.0f}"
        )
    except (JarvisError, OSError) as error:
        return _failure_result(call, str(error) or type(error).__name__)
    except Exception:  # noqa: BLE001 - whatever a tool does wrong is an answer to the model
        trace = traceback.format_exc(limit=-3)
        text = Words("{name} failed:\n{format_exc}", name=call.name, format_exc=trace)
    return _failure_result(call, text)


async def _shorten(name: str, text: str, limit: int, context: ToolContext) -> str:
    """Return a long output with its beginning and end; the whole goes to the model as a file where
    `services["long_output"]` can hand it over."""
    hand_over = context.services.get("long_output")
    told = await hand_over(name, text) if hand_over is not None else ""
    return f"{told}\n{cap(text, limit)}" if told else cap(text, limit)


def cap(text: str, limit: int) -> str:
    """`text`, or its first and last 30 lines (and at most `limit` characters) when longer."""
    if len(text) <= limit:
        return text
    lines = text.splitlines()
    left_out = len(lines) - HEAD_LINES - TAIL_LINES
    if left_out > 0:
        text = "\n".join(
            [*lines[:HEAD_LINES], f"… {left_out} lines left out …", *lines[-TAIL_LINES:]]
        )
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    return text


def _check(known: Tool, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    import pydantic

    try:
        checked = _validate(known, arguments)
    except pydantic.ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
        )
        return Words(
            "Wrong arguments for {name}: {problem}. Nothing was run.",
            name=known.spec.name,
            problem=wrong,
        ), {}
    return "", {name: getattr(checked, name) for name in type(checked).model_fields}


def broken_arguments(raw: str) -> str:
    """Return what is wrong with arguments that are no JSON object, and where."""
    try:
        json.loads(raw)
    except json.JSONDecodeError as error:
        before = raw[max(0, error.pos - _SHOWN_BEFORE) : error.pos]
        return Words(
            "The arguments are not a JSON object; nothing was run. {why} at character {position} "
            "of {length}, after: {before}",
            why=error.msg,
            position=error.pos,
            length=len(raw),
            before=json.dumps(before, ensure_ascii=False),
        )
    except RecursionError:
        pass
    return Words("The arguments are not a JSON object; nothing was run.")


def _validate(known: Tool, arguments: dict[str, Any]) -> Any:
    """Return the arguments as the tool takes them; raise `pydantic.ValidationError`.

    Where a list is wanted and one thing is given, it is taken for a list of one: models often
    write `"files": "src/a.c"`.
    """
    import pydantic

    try:
        return known.model.model_validate(arguments)
    except pydantic.ValidationError as error:
        mended = _with_lists(known.spec.parameters, arguments)
        if mended == arguments:
            raise
        try:
            return known.model.model_validate(mended)
        except pydantic.ValidationError:
            raise error from None  # told in the words the model wrote


def _with_lists(schema: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with a list wherever the schema wants one, of objects where it wants
    objects with one field that must be there.
    """
    mended = dict(given)
    for name, wanted in schema.get("properties", {}).items():
        value = given.get(name)
        if wanted.get("type") != "array" or value is None:
            continue
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(value)
        items = value if isinstance(value, list) else [value]
        required = wanted.get("items", {}).get("required", ())
        if len(required) == 1:
            items = [{required[0]: item} if isinstance(item, str) else item for item in items]
        mended[name] = items
    return mended


def _arguments_model(run: Callable[..., Any]) -> Any:
    import pydantic

    hints = get_type_hints(run, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(run).parameters.items())[1:]:
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    return pydantic.create_model(
        run.__name__, __config__=pydantic.ConfigDict(extra="forbid"), **fields
    )


def _written_out(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without references and titles: not every server of models follows them."""
    known = schema.pop("$defs", {})

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(child) for child in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            value = {**known[value["$ref"].rpartition("/")[2]], **value}
            del value["$ref"]
        return {
            key: {name: walk(child) for name, child in inner.items()}
            if key == "properties"
            else walk(inner)
            for key, inner in value.items()
            if key != "title" or not isinstance(inner, str)
        }

    written: dict[str, Any] = walk(schema)
    return written


def _without_ballast(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without what tells a model nothing: that no other fields are taken, that
    what may be left out may be null, and defaults that represent nothing.
    """
    found = {key: value for key, value in schema.items() if key != "additionalProperties"}
    if isinstance(items := found.get("items"), dict):
        found["items"] = _without_ballast(items)
    if isinstance(choice := found.get("anyOf"), list) and {"type": "null"} in choice:
        rest = [item for item in choice if item != {"type": "null"}]
        found = {**found, **(rest[0] if len(rest) == 1 else {"anyOf": rest})}
        if len(rest) == 1:
            del found["anyOf"]
            found = _without_ballast(found)
    if "default" in found and not found["default"]:
        del found["default"]
    if isinstance(properties := found.get("properties"), dict):
        found["properties"] = {name: _without_ballast(inner) for name, inner in properties.items()}
    return found


def _documentation(run: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the description, and what the `Args:` section says of each argument."""
    described, _, section = inspect.cleandoc(run.__doc__ or "").partition("\nArgs:\n")
    arguments: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if match := re.match(r" {4}(\w+): (.*)", line):
            name = match[1]
            arguments[name] = match[2].strip()
        elif name and line.strip():
            arguments[name] += " " + line.strip()
    return described.strip(), arguments


def _failure_result(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call.id, call.name, text, is_error=True)
