"""What is said between people, models and tools, in one form for every provider.

A conversation is a list of `Message`. Each is a frozen record with a `kind`; `to_json` and
`from_json` are the form sessions keep on disk.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Finish = Literal["stop", "tool_calls", "length", "filtered", "truncated"]
"""Why an answer ended. `truncated`: the stream stopped without saying why."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models that see."""

    media_type: str
    """Such as `image/png`."""
    base64: str
    """The picture's bytes."""


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file that was handed over to a provider."""

    id: str
    """As the provider calls it; another provider, or another key, does not know it."""
    name: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool."""

    id: str
    """Pairs the call with its result."""
    name: str
    """The tool."""
    arguments: dict[str, Any]
    """Parsed arguments; empty when they could not be parsed."""
    raw: str | None = None
    """The arguments as sent, when they were no JSON object; such a call is never run."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one call as the provider reported them; sums add up."""

    input: int = 0
    """Tokens of the prompt, cached ones included."""
    output: int = 0
    """Tokens of the answer, reasoning included."""
    cached: int = 0
    """Tokens of the prompt read from the provider's cache."""
    reasoning: int = 0
    """Tokens of the answer spent on reasoning."""
    cost: float = 0.0
    """In the currency of the configured prices; 0 when no price is known."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.cost + other.cost,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.input - other.input,
            self.output - other.output,
            self.cached - other.cached,
            self.reasoning - other.reasoning,
            self.cost - other.cost,
        )


@dataclass(frozen=True, slots=True)
class System:
    """Rules the model must keep; is first and is never summarised."""

    text: str
    kind: Literal["system"] = "system"


@dataclass(frozen=True, slots=True)
class User:
    """What a person (or a program in a person's place) says."""

    text: str
    images: tuple[Image, ...] = ()
    id: str = ""
    """Id of the message in its session."""
    files: tuple[FileRef, ...] = ()
    kind: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a model answered."""

    text: str
    thinking: str = ""
    """Reasoning the provider sent along; shown, and sent back where the provider wants it."""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    id: str = ""
    reasoning: tuple[dict[str, Any], ...] = ()
    """Items of the answer as the provider that gave them wants them back, opaque; for `model`
    alone."""
    kind: Literal["assistant"] = "assistant"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    id: str = ""
    kind: Literal["tool"] = "tool"


Message = System | User | Assistant | ToolResult


def to_json(message: Message) -> dict[str, Any]:
    """Return the record as plain JSON values."""
    return asdict(message)


def from_json(data: dict[str, Any]) -> Message:
    """Return the message `to_json` made. Raises `ValueError` when `data` is none."""
    try:
        values = dict(data)
        kind = values.pop("kind")
        if kind == "system":
            return System(**values)
        if kind == "user":
            images = tuple(Image(**image) for image in values.pop("images", ()))
            refs = tuple(FileRef(**file) for file in values.pop("files", ()))
            return User(images=images, files=refs, **values)
        if kind == "assistant":
            calls = tuple(ToolCall(**call) for call in values.pop("tool_calls", ()))
            usage = Usage(**values.pop("usage", {}))
            reasoning = tuple(values.pop("reasoning", ()))
            return Assistant(tool_calls=calls, usage=usage, reasoning=reasoning, **values)
        if kind == "tool":
            return ToolResult(**values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a message: {error}") from error
    raise ValueError(f"not a message: unknown kind {kind!r}")


def sendable(message: Message) -> Message:
    """Return the message without half characters, which no protocol can carry.

    A model can write them in the arguments of a call, and a file name or a tool can hold them.
    """
    text = _whole(message.text)
    if isinstance(message, Assistant):
        calls = tuple(replace(c, arguments=_whole(c.arguments)) for c in message.tool_calls)
        thinking, reasoning = _whole(message.thinking), tuple(map(_whole, message.reasoning))
        return replace(message, text=text, thinking=thinking, tool_calls=calls, reasoning=reasoning)
    return message if text is message.text else replace(message, text=text)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "replace").decode()
        return value
    if isinstance(value, dict):
        return {_whole(key): _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value
