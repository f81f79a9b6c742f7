"""What extensions may listen to while an agent works: the event bus.

    hooks = Hooks()
    hooks.subscribe(AfterToolCall, lambda event: print(event.result.text))

Listeners run one after the other in the order they came, and the agent waits for them. One that
fails is logged and the others still run: what listens beside the work never stops it. What an
observer of the whole conversation sees is something else: see `events`.
"""

from __future__ import annotations

import importlib.util
import inspect
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.messages import Assistant, Message, ToolCall, ToolResult

CALLBACKS_VARIABLE = "JARVIS_AFTER_TOOL_CALL_CB_DIRS"
"""Environment variable with folders of after-tool-call callbacks, divided as in PATH."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """An agent begins a task."""

    agent: AgentInterface
    task: str


@dataclass(frozen=True, slots=True)
class TaskCompleted:
    """An agent has completed its task."""

    agent: AgentInterface
    result: str


@dataclass(frozen=True, slots=True)
class BeforeAddonPrompt:
    """The text that accompanies the next message is about to be built."""

    agent: AgentInterface


@dataclass(frozen=True, slots=True)
class AfterAddonPrompt:
    """The text that accompanies the next message is built."""

    agent: AgentInterface
    addon: str


@dataclass(frozen=True, slots=True)
class BeforeModelCall:
    """A question is about to be sent."""

    agent: AgentInterface
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class AfterModelCall:
    """A model has answered."""

    agent: AgentInterface
    answer: Assistant


@dataclass(frozen=True, slots=True)
class BeforeToolCall:
    """A tool is about to be called."""

    agent: AgentInterface
    call: ToolCall


@dataclass(frozen=True, slots=True)
class AfterToolCall:
    """A tool has given its result, or could not."""

    agent: AgentInterface
    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class BeforeToolFilter:
    """There are more tools than the threshold; the useful ones are about to be chosen."""

    agent: AgentInterface
    total: int
    threshold: int


@dataclass(frozen=True, slots=True)
class ToolFiltered:
    """Tools were chosen."""

    agent: AgentInterface
    selected: tuple[str, ...]
    """Names; empty when none was chosen and all stay."""
    total: int
    threshold: int


@dataclass(frozen=True, slots=True)
class BeforeHistoryClear:
    """The conversation is about to be replaced by its summary."""

    agent: AgentInterface


@dataclass(frozen=True, slots=True)
class AfterHistoryClear:
    """The conversation was replaced."""

    agent: AgentInterface
    summary: str
    """What represents it now; empty when there is none."""


@dataclass(frozen=True, slots=True)
class BeforeSummary:
    """The closing summary of a task is about to be asked for."""

    agent: AgentInterface


@dataclass(frozen=True, slots=True)
class AfterSummary:
    """The closing summary of a task is there."""

    agent: AgentInterface
    summary: str


@dataclass(frozen=True, slots=True)
class InterruptTriggered:
    """The user interrupted the agent."""

    agent: AgentInterface
    text: str
    """What the user wants instead; empty when nothing was said."""


HookEvent = (
    TaskStarted
    | TaskCompleted
    | BeforeAddonPrompt
    | AfterAddonPrompt
    | BeforeModelCall
    | AfterModelCall
    | BeforeToolCall
    | AfterToolCall
    | BeforeToolFilter
    | ToolFiltered
    | BeforeHistoryClear
    | AfterHistoryClear
    | BeforeSummary
    | AfterSummary
    | InterruptTriggered
)
_E = TypeVar("_E")
Listener = Callable[[_E], Awaitable[None] | None]


class Hooks:
    """The event bus of one agent, or of several that share it."""

    def __init__(self, shared: Hooks | None = None) -> None:
        """Create a bus; listeners of `shared` are called too, after those of this bus."""
        self._listeners: dict[type[Any], list[Listener[Any]]] = {}
        self._shared = shared

    def subscribe(self, kind: type[_E], listener: Listener[_E]) -> Callable[[], None]:
        """Tell `listener` of every event of a kind from now on; the result ends that.

        A listener that is subscribed twice is called once.
        """
        known = self._listeners.setdefault(kind, [])
        if listener not in known:
            known.append(listener)
        return lambda: self.unsubscribe(kind, listener)

    def unsubscribe(self, kind: type[_E], listener: Listener[_E]) -> None:
        """Tell `listener` no more; one that is not known is no fault."""
        known = self._listeners.get(kind, [])
        if listener in known:
            known.remove(listener)
        if not known:
            self._listeners.pop(kind, None)

    async def emit(self, event: HookEvent) -> None:
        """Tell every listener, in order, and wait for each."""
        for listener in tuple(self._listeners.get(type(event), ())):
            try:
                told = listener(event)
                if inspect.isawaitable(told):
                    await told
            except Exception:
                logger.exception("a listener of %s failed", type(event).__name__)
        if self._shared is not None:
            await self._shared.emit(event)


@dataclass(frozen=True, slots=True)
class LoadedCallbacks:
    """What the folders of callbacks gave."""

    loaded: tuple[Path, ...]
    problems: tuple[str, ...]
    """In words for the user; what is named there is not active."""


def load_callbacks(
    hooks: Hooks,
    *,
    roots: Iterable[Path] = (),
    trusted: bool = False,
    environment: Mapping[str, str] | None = None,
) -> LoadedCallbacks:
    """Subscribe the after-tool-call callbacks of the folders named in the environment.

    A file exports `after_tool_call_cb(event)`, or `get_after_tool_call_cb()` that returns such a
    function, or `register_after_tool_call_cb()` that does; the first of these that is there is
    taken. Folders inside a workspace that is not trusted are left out. Running a file is running
    the user's own code; whatever it raises becomes a problem.
    """
    environment = os.environ if environment is None else environment
    folders = [Path(p) for p in environment.get(CALLBACKS_VARIABLE, "").split(os.pathsep) if p]
    loaded, problems = [], []
    for folder in folders:
        real = folder.expanduser().resolve()
        if not real.is_dir():
            problems.append(
                Words(
                    "{folder}: there is no such folder ({what}).",
                    folder=folder,
                    what=CALLBACKS_VARIABLE,
                )
            )
            continue
        for path in sorted(real.glob("*.py")):
            if not trusted and _within(path.resolve(), roots):
                problems.append(
                    Words("{path}: not loaded, the workspace is not trusted.", path=path)
                )
                continue
            try:
                hooks.subscribe(AfterToolCall, _callback(path))
            except Exception as error:  # noqa: BLE001 - a user's file may raise anything
                problems.append(
                    Words(
                        "{path}: not loaded: {name}: {why}",
                        path=path,
                        name=type(error).__name__,
                        why=error,
                    )
                )
            else:
                loaded.append(path)
    return LoadedCallbacks(tuple(loaded), tuple(problems))


def _callback(path: Path) -> Listener[AfterToolCall]:
    spec = importlib.util.spec_from_file_location(f"_jarvis_callback_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError("no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, "after_tool_call_cb", None)
    for maker in ("get_after_tool_call_cb", "register_after_tool_call_cb"):
        if found is None and callable(getattr(module, maker, None)):
            found = getattr(module, maker)()
    if not callable(found):
        raise ImportError(
            "exports no after_tool_call_cb, get_after_tool_call_cb or register_after_tool_call_cb"
        )
    callback: Listener[AfterToolCall] = found
    return callback


def _within(path: Path, roots: Iterable[Path]) -> bool:
    folders = [root.resolve() for root in roots]
    return any(path == root or root in path.parents for root in folders)
