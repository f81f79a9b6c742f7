"""What providers' refusals mean; the same for every SDK."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from jarvis_ls.runtime.errors import ContextTooLong, ModelBusy, ModelError, ModelRefused

_TOO_LONG = ("context_length_exceeded", "context length", "maximum context", "too many tokens",
             "prompt is too long", "input is too long")  # fmt: skip


def too_long(text: str) -> bool:
    """Whether a provider says that the conversation does not fit."""
    words = text.lower()
    return any(part in words for part in _TOO_LONG)


def of_status(status: int, said: str, headers: Mapping[str, str]) -> ModelError:
    """What to do about an answer with this HTTP status; `said` is the provider's message."""
    if too_long(said):
        return ContextTooLong(f"The conversation is too long for the model: {said}")
    if status in (408, 409, 425, 429) or status >= 500:
        return ModelBusy(f"The model is busy (HTTP {status}): {said}", retry_after(headers))
    if status in (401, 403):
        return ModelRefused(f"The key was not accepted (HTTP {status}): {said}")
    if status == 402:
        return ModelRefused(f"The account has no credit (HTTP 402): {said}")
    if status == 404:
        return ModelRefused(f"There is no such model or address (HTTP 404): {said}")
    return ModelRefused(f"The model refused the request (HTTP {status}): {said}")


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
