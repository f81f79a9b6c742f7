"""Messages survive whatever a model or a file name puts into them."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.messages import (
    Assistant,
    Message,
    System,
    ToolCall,
    ToolResult,
    User,
    from_json,
    sendable,
    to_json,
)
from jarvis_ls.runtime.llm.platforms.anthropic_turns import to_anthropic
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.platforms.openai_chat import to_openai

texts = st.text(st.characters() | st.just("\ud800") | st.just("\udcff"), max_size=8)
values = st.recursive(st.none() | st.integers() | texts, lambda v: st.lists(v, max_size=2))
calls = st.builds(ToolCall, st.just("1"), st.just("t"), st.dictionaries(texts, values, max_size=2))
messages = st.one_of(
    st.builds(System, texts),
    st.builds(User, texts),
    st.builds(Assistant, texts, tool_calls=st.lists(calls, max_size=2).map(tuple)),
    st.builds(ToolResult, st.just("1"), st.just("t"), texts),
)


@given(st.lists(messages, max_size=4))
def test_whatever_is_said_can_be_sent(said: list[Message]) -> None:
    json.dumps(to_openai(said, ModelInfo("m")), ensure_ascii=False).encode()
    conversation = to_anthropic(said)
    json.dumps([conversation.system, conversation.messages], ensure_ascii=False).encode()


@given(messages)
def test_whole_messages_stay_as_they_are(message: Message) -> None:
    again = sendable(message)
    assert sendable(again) == again and from_json(to_json(again)) == again
    if message.text.isascii() and not isinstance(message, Assistant):
        assert again is message
