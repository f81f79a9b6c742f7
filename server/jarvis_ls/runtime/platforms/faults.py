"""What providers' refusals mean; the same for every SDK."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from jarvis_ls.runtime.errors import ContextTooLong, ModelBusy, ModelError, ModelRefused

_TOO_LONG = ("context_length_exceeded", "context length", "maximum context", "too many tokens",
             "prompt is too long", "input is too long")  # fmt: skip

_BUSY = {
    408: "The model took too long",
    409: "The model is busy",
    425: "The model is busy",
    429: "The model has had too many requests",
    503: "The model is overloaded",
    529: "The model is overloaded",
}


def too_long(text: str) -> bool:
    """Whether a provider says that the conversation does not fit."""
    words = text.lower()
    return any(part in words for part in _TOO_LONG)


def of_status(status: int, said: str, headers: Mapping[str, str]) -> ModelError:
    """What to do about an answer with this HTTP status; `said` is the provider's message."""
    said = _bare(status, said)
    if too_long(said):
        return ContextTooLong(f"The conversation is too long for the model: {said}")
    if status in _BUSY or status >= 500:
        what = _BUSY.get(status, "The model's server has a fault")
        return ModelBusy(f"{what} (HTTP {status}): {said}", retry_after(headers))
    if status in (401, 403):
        return ModelRefused(f"The key was not accepted (HTTP {status}): {said}", "key")
    if status == 402 or "credit balance" in said.lower():
        return no_credit(status, said)
    if status == 404:
        return ModelRefused(f"There is no such model or address (HTTP 404): {said}", "model")
    return ModelRefused(f"The model refused the request (HTTP {status}): {said}")


def no_credit(status: int, said: str) -> ModelRefused:
    """The account cannot pay; waiting does not help."""
    return ModelRefused(
        f"The account has no credit (HTTP {status}): {_bare(status, said)}", "credit"
    )


def _bare(status: int, said: str) -> str:
    """A provider's message without what an SDK put before it."""
    return said.removeprefix(f"Error code: {status} - ").strip() or "no reason was given"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asks to wait; None when it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        written = headers.get(name, "")
        try:
            seconds = float(written) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (TypeError, ValueError):
        return None
    return max(0.0, until - time.time())


def cause_of(error: BaseException) -> str:
    """Why a connection failed, in the words of whoever knows best."""
    cause = error.__cause__ or error
    return str(cause).strip() or type(cause).__name__
