"""What a provider's refusal means is told from its status, its words and its headers."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from jarvis_ls.runtime.base.errors import ContextTooLong, ModelBusy, ModelRefused
from jarvis_ls.runtime.llm.platforms.faults import of_status, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(0)}, 0.0),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Mon, 99 Foo 2026"}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_to_wait_for() -> None:
    waited = retry_after({"retry-after": formatdate(time.time() + 30)})
    assert waited is not None and 20 < waited <= 30


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_who_is_busy_may_be_asked_again(status: int) -> None:
    error = of_status(status, "later", {"retry-after": "2"})
    assert isinstance(error, ModelBusy) and error.retry_after == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "refused"),
        (401, "key"),
        (402, "no credit"),
        (403, "key"),
        (404, "not found"),
        (422, "refused"),
    ],
)
def test_who_refuses_is_not_asked_again(status: int, words: str) -> None:
    error = of_status(status, "no", {})
    assert type(error) is ModelRefused and words in str(error)


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_what_is_too_long_is_too_long_whatever_the_status(status: int) -> None:
    assert isinstance(of_status(status, "Prompt is too LONG", {}), ContextTooLong)
