"""What can go wrong with a model, by what the caller should do next.

ModelError
├── ModelBusy         rate limited or overloaded: try again after `retry_after`, or elsewhere
├── ModelUnreachable  no network, time-out, cut connection: try again, or elsewhere
├── AnswerBroken      nonsense or half an answer: ask again
│   └── AnswerCut     longer than it may be: say how to answer, then ask again
├── ContextTooLong    shorten the conversation, then ask again
└── ModelRefused      wrong key, no such model, no right, bad request: a person must act
    └── ModelMissing  nothing is configured at all
"""

from __future__ import annotations

from typing import Literal

from jarvis_ls.core.errors import JarvisError


class ModelError(JarvisError):
    """A call of a model failed; the text is for the user and holds no secret."""

    brief: str = ""
    """Which model and what failed, without what to do about it; empty when no one asked yet."""
    provider: str = ""
    """Whose model it is, as it is named in settings; empty when no one was asked."""


class ModelBusy(ModelError):
    """The provider asks to wait."""

    def __init__(self, text: str, /, retry_after: float | None = None, **values: object) -> None:
        """`retry_after` is in seconds, when the provider named it."""
        super().__init__(text, **values)
        self.retry_after = retry_after


class ModelUnreachable(ModelError):
    """The provider could not be reached, stalled, or the connection broke."""

    def __init__(
        self, text: str, /, *, refused: bool = False, late: bool = False, **values: object
    ) -> None:
        """`refused`: a machine is there, but nothing listens at the address; `late`: it was
        silent for longer than is waited for."""
        super().__init__(text, **values)
        self.refused, self.late = refused, late


class AnswerBroken(ModelError):
    """The answer was empty, cut off or not understood."""


class AnswerCut(AnswerBroken):
    """The answer reached its limit where it cannot be gone on with."""

    def __init__(self, words: str, /, *, text: str = "", tool: str = "") -> None:
        """`text` is what was said until then, `tool` the tool whose call was cut off."""
        super().__init__(words)
        self.text, self.tool = text, tool


class ContextTooLong(ModelError):
    """The conversation does not fit the model's window."""


class ModelRefused(ModelError):
    """The provider will not answer this request however often it is sent."""

    def __init__(
        self, text: str, /, lacks: Literal["", "key", "credit", "model"] = "", **values: object
    ) -> None:
        """`lacks` is what a person has to see to, when it is known."""
        super().__init__(text, **values)
        self.lacks = lacks


class ModelMissing(ModelRefused):
    """No model is configured; the text says what to set."""


class ToolRetry(JarvisError):
    """A tool cannot work with these arguments; the text tells the model how to call it."""
