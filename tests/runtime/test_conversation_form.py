"""Messages on disk come back as they were, and nonsense is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.messages import (
    Assistant,
    Image,
    Message,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
    from_json,
    to_json,
)
from jarvis_ls.runtime.llm.platforms.base import ModelInfo

words = st.text(max_size=20)
counts = st.integers(0, 10**9)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
usages = st.builds(Usage, counts, counts, counts, counts, st.floats(0, 100))
calls = st.builds(ToolCall, words, words, st.dictionaries(words, values, max_size=3), words)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(System, words),
    st.builds(User, words, st.lists(st.builds(Image, words, words), max_size=2).map(tuple), words),
    st.builds(
        Assistant,
        words,
        words,
        st.lists(calls, max_size=2).map(tuple),
        st.sampled_from(["stop", "tool_calls", "length", "filtered", "truncated"]),
        words,
        usages,
        words,
    ),
    st.builds(ToolResult, words, words, words, st.booleans(), words),
)


@given(messages)
def test_messages_survive_json(message: Message) -> None:
    assert from_json(json.loads(json.dumps(to_json(message)))) == message


@pytest.mark.parametrize(
    "data", [{}, {"kind": "other"}, {"kind": "user"}, {"kind": "tool", "text": "x", "more": 1}]
)
def test_nonsense_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a message"):
        from_json(data)


@given(usages, usages)
def test_usage_adds_up(a: Usage, b: Usage) -> None:
    total = a + b
    assert (total.input, total.output) == (a.input + b.input, a.output + b.output)
    assert total.cost == pytest.approx(a.cost + b.cost)


def test_prices_are_per_million_tokens() -> None:
    model = ModelInfo("m", input_price=2.0, output_price=10.0, cached_price=0.5)
    assert model.price(Usage(input=1_500_000, cached=1_000_000, output=100_000)) == pytest.approx(
        0.5 * 2 + 1.0 * 0.5 + 0.1 * 10
    )
