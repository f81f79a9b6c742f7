"""What the runtime asks of a model provider, and the pieces an answer streams in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ModelRefused
from jarvis_ls.runtime.base.messages import FileRef, Finish, Message, Usage


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model."""

    name: str
    """As the provider spells it."""
    window: int = 128_000
    """Tokens of prompt and answer together."""
    max_output: int | None = None
    """Most tokens of one answer; None leaves it to the provider."""
    tools: bool = True
    """Native tool calling; without it the `TOOL_CALL` text form is used."""
    images: bool = False
    """Sees pictures."""
    upload: bool = False
    """Takes files."""
    thinking: int | bool | None = None
    """Whether it reasons before it answers, or how many tokens it may reason with where the
    protocol asks for a number (Anthropic's); None leaves it to the provider."""
    reasoning_effort: str = ""
    """How hard it reasons, in the provider's words such as `low`; empty leaves it to the
    provider."""
    reasoning_back: bool | None = None
    """Whether its reasoning is sent back with the conversation, as `reasoning_content`; None
    leaves it to what is known of the provider."""
    max_completion_tokens: bool | None = None
    """Whether the limit of an answer is sent by that name, and not as `max_tokens`; None leaves it
    to what is known of the provider."""
    api: Literal["", "chat", "responses"] = ""
    """Which of OpenAI's protocols it is asked by; empty takes the one it is known to answer."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Parameters of the provider, sent as they are."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    """Headers sent with each request; may hold secrets."""
    input_price: float = 0.0
    """Per million tokens."""
    output_price: float = 0.0
    """Per million tokens."""
    cached_price: float | None = None
    """Per million cached tokens; None means the input price."""

    def price(self, usage: Usage) -> float:
        """Return the cost of `usage` at this model's prices."""
        cached = self.input_price if self.cached_price is None else self.cached_price
        fresh = max(0, usage.input - usage.cached)
        total = fresh * self.input_price + usage.cached * cached + usage.output * self.output_price
        return total / 1_000_000


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of an object."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    max_output: int | None = None
    temperature: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    """Provider's own parameters, passed through."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of one tool call."""

    index: int
    """Which call of the answer; pieces of one call share it."""
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """One item of reasoning as its provider wants it back: opaque, such as encrypted."""

    item: dict[str, Any]
    """Plain JSON values."""


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """What the provider counted, for the whole call."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class FinishDelta:
    """The answer is complete."""

    reason: Finish


Delta = TextDelta | ThinkingDelta | ToolCallDelta | ReasoningDelta | UsageDelta | FinishDelta


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP exchange with a provider, before its body; it holds secrets."""

    url: str
    status: int
    request: tuple[tuple[str, str], ...]
    """Headers sent."""
    response: tuple[tuple[str, str], ...]
    """Headers received."""


exchange_seen: ContextVar[Callable[[Exchange], None] | None] = ContextVar(
    "exchange_seen", default=None
)
"""Who wants to know of exchanges made from here on (the log of calls)."""


def tell_exchange(response: Any) -> None:
    """Tell of an exchange; for platforms, with the HTTP library's response or None."""
    seen = exchange_seen.get()
    if seen is None or response is None:
        return
    request = response.request
    seen(
        Exchange(
            str(response.url),
            response.status_code,
            tuple(request.headers.items()),
            tuple(response.headers.items()),
        )
    )


class Platform(ABC):
    """A provider of models. User platforms in `~/.jarvis/models/*.py` derive from it too."""

    name: str = ""
    """Short name in configuration, such as `openai`."""

    @abstractmethod
    def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """Return the pieces of an answer as they come, ending with a `FinishDelta`.

        Closing the iterator closes the connection. Raises a `ModelError` for whatever goes
        wrong, at any point; an iterator that ends without `FinishDelta` was cut off.
        """

    @abstractmethod
    async def models(self) -> list[str]:
        """Names of the models the provider offers. Raises a `ModelError`."""

    async def upload(self, name: str, data: bytes) -> FileRef:
        """Hand over a file that messages can then refer to. Raises a `ModelError`, also when the
        platform takes no files."""
        raise ModelRefused("{name} takes no files.", name=self.name or Words("This platform"))

    def wait(self, seconds: float) -> None:  # noqa: B027 - most leave it to their own
        """From now on, give a model up only when it is silent for so long."""

    async def close(self) -> None:  # noqa: B027 - most have nothing to give up
        """Give up connections."""
