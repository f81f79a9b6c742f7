"""What providers' refusals mean; the same for every SDK."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import (
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)

_TOO_LONG = (
    "context_length_exceeded",
    "context length",
    "maximum context",
    "too many tokens",
    "prompt is too long",
    "input is too long",
)

_BUSY = {
    408: Words("The model timed out (HTTP {status}): {said}"),
    409: Words("The model is busy (HTTP {status}): {said}"),
    425: Words("The model is busy (HTTP {status}): {said}"),
    429: Words("Rate limit of the model reached (HTTP {status}): {said}"),
    503: Words("The model is overloaded (HTTP {status}): {said}"),
    529: Words("The model is overloaded (HTTP {status}): {said}"),
}

_FAULTY = Words("Model server error (HTTP {status}): {said}")


def too_long(text: str) -> bool:
    """Return whether a provider says that the conversation does not fit."""
    words = text.lower()
    return any(part in words for part in _TOO_LONG)


def of_status(status: int, said: str, headers: Mapping[str, str]) -> ModelError:
    """Return the error for an HTTP status; `said` is the provider's message."""
    said = _bare(status, said)
    if status == 413 or too_long(said):
        return too_long_said(status, said)
    if status in _BUSY or status >= 500:
        what = _BUSY.get(status, _FAULTY)
        return ModelBusy(what.template, retry_after(headers), status=status, said=said)
    if status in (401, 403):
        return ModelRefused(
            "The API key was rejected (HTTP {status}): {said}", "key", status=status, said=said
        )
    if status == 402 or "credit balance" in said.lower():
        return no_credit(status, said)
    if status == 404:
        return ModelRefused("Model or address not found (HTTP 404): {said}", "model", said=said)
    return ModelRefused(
        "The model refused the request (HTTP {status}): {said}", status=status, said=said
    )


def too_long_said(status: int, said: str) -> ContextTooLong:
    """Return the conversation does not fit."""
    return ContextTooLong(
        "The conversation is too long for the model: {said}.", said=_bare(status, said).rstrip(".")
    )


def no_credit(status: int, said: str) -> ModelRefused:
    """Return the account cannot pay; waiting does not help."""
    return ModelRefused(
        "The account has no credit (HTTP {status}): {said}",
        "credit",
        status=status,
        said=_bare(status, said),
    )


def response_failed(code: str | None, said: str) -> ModelError:
    """Return the error for an answer that ended as failed, by the provider's code."""
    said = said or Words("no reason was given")
    if code == "context_length_exceeded" or too_long(said):
        return too_long_said(0, said)
    if code in (None, "server_error", "rate_limit_exceeded", "vector_store_timeout"):
        return ModelBusy("The model failed in the middle of an answer: {said}", said=said)
    if code == "insufficient_quota":
        return no_credit(429, said)
    return ModelRefused("The model aborted its answer: {said}", said=said)


def _bare(status: int, said: str) -> str:
    """Return a provider's message without what an SDK put before it."""
    return said.removeprefix(f"Error code: {status} - ").strip() or Words("no reason was given")


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
    """Return why a connection failed, from the underlying exception."""
    cause = error.__cause__ or error
    return str(cause).strip() or type(cause).__name__


def unreachable(error: BaseException) -> ModelUnreachable:
    """Convert an SDK's failure to connect."""
    return ModelUnreachable(
        "The model could not be reached: {why}.",
        why=cause_of(error).rstrip("."),
        refused=_was_refused(error),
    )


def _was_refused(error: BaseException | None) -> bool:
    """Return whether any of the causes is that nothing listens at the address."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        if isinstance(cause, ConnectionRefusedError):
            return True
        waiting += [cause.__cause__, cause.__context__, *getattr(cause, "exceptions", ())]
    return False
