"""How many tokens a conversation takes: an estimate, corrected by what providers report.

No tokenizer is loaded; every provider has its own, and theirs are large. Text counts one token for
every four ASCII characters and one for every other character; a message adds four, a picture
a thousand. Each time a provider says how many tokens a prompt really had, the estimate is scaled
towards that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from jarvis_ls.runtime.base.messages import Assistant, Message, User
from jarvis_ls.runtime.llm.platforms.base import ToolSpec

PER_MESSAGE = 4
PER_IMAGE = 1_000
_LEAST, _MOST = 0.6, 4.0


def estimate(text: str) -> int:
    """Tokens of a text, roughly."""
    if text.isascii():
        return -(-len(text) // 4)
    ascii_only = len(text.encode("ascii", "ignore"))
    return -(-ascii_only // 4) + len(text) - ascii_only


def of_message(message: Message, reasoning: bool = False) -> int:
    """Tokens of a message, roughly; those of what the model thought only with `reasoning`, where
    that is sent back.
    """
    total = PER_MESSAGE + estimate(message.text)
    if isinstance(message, User):
        total += PER_IMAGE * len(message.images)
    elif isinstance(message, Assistant):
        total += estimate(message.thinking) if reasoning else 0
        for call in message.tool_calls:
            written = call.raw or json.dumps(call.arguments, ensure_ascii=False)
            total += PER_MESSAGE + estimate(call.name) + estimate(written)
    return total


def of_messages(messages: Iterable[Message], reasoning: bool = False) -> int:
    """Tokens of messages, roughly; see `of_message`."""
    return sum(of_message(message, reasoning) for message in messages)


def of_tools(specs: Sequence[ToolSpec]) -> int:
    """Tokens of tools, roughly."""
    return sum(
        estimate(s.name)
        + estimate(s.description)
        + estimate(json.dumps(s.parameters))
        + PER_MESSAGE
        for s in specs
    )


class Counter:
    """The estimate, corrected."""

    def __init__(self) -> None:
        self.factor = 1.0
        """Real tokens for each estimated one."""

    def learn(self, estimated: int, reported: int) -> None:
        """Learn from a prompt's estimate and the tokens that the provider reported."""
        if estimated >= 200 and reported > 0:
            seen = min(_MOST, max(_LEAST, reported / estimated))
            self.factor = (self.factor + 2 * seen) / 3

    def corrected(self, estimated: int) -> int:
        """Return the best guess of the real number."""
        return round(estimated * self.factor)
