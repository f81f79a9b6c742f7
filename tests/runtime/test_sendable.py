"""The conversation as a provider must be sent it, whatever was left in the journal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.messages import Assistant, Image, Message, ToolCall, ToolResult, User
from jarvis_ls.runtime.llm.text_tool_calls import read_call
from jarvis_ls.runtime.llm.wire_conversation import (
    LOST,
    mended,
    sendable,
    unanswered,
    without_images,
)

ids = st.sampled_from("abcdef")
texts = st.text(max_size=20)


@st.composite
def journals(draw: st.DrawFn) -> list[Message]:
    """Messages as a kill, a rewind or a summary may leave them: ids of calls are unique."""
    free = list("abcdefgh")
    found: list[Message] = []
    for _ in range(draw(st.integers(0, 10))):
        kind = draw(st.integers(0, 2))
        if kind == 0:
            found.append(User(draw(texts)))
        elif kind == 1:
            calls = tuple(
                ToolCall(free.pop(0), "t", {}) for _ in range(draw(st.integers(0, 2))) if free
            )
            found.append(Assistant(draw(texts), tool_calls=calls))
        else:
            found.append(ToolResult(draw(ids), "t", draw(texts)))
    return found


@given(journals())
def test_every_call_has_its_one_result_right_behind_it(journal: list[Message]) -> None:
    whole = mended(journal)
    expected: list[str] = []
    for message in whole:
        if isinstance(message, ToolResult):
            assert message.call_id == expected.pop(0)
        else:
            assert not expected, "a result is missing"
        if isinstance(message, Assistant):
            expected = [call.id for call in message.tool_calls]
    assert not expected
    assert mended(whole) == whole
    others = [m for m in journal if not isinstance(m, ToolResult)]
    assert [m for m in whole if not isinstance(m, ToolResult)] == others


@given(journals())
def test_adding_what_is_missing_makes_it_whole(journal: list[Message]) -> None:
    missing = unanswered(journal)
    assert all(m.text == LOST and m.is_error for m in missing)
    assert unanswered([*journal, *missing]) == []
    known = {m.call_id for m in journal if isinstance(m, ToolResult)}
    assert not known & {m.call_id for m in missing}


@given(journals())
def test_models_of_text_get_text_only_and_one_call_an_answer(journal: list[Message]) -> None:
    told = sendable(journal, native=False)
    calls = [c for m in journal if isinstance(m, Assistant) for c in m.tool_calls]
    assert not any(isinstance(m, ToolResult) for m in told)
    assert not any(isinstance(m, Assistant) and m.tool_calls for m in told)
    written = [read_call(m.text) for m in told if isinstance(m, Assistant)]
    assert len([w for w in written if w.call is not None]) == len(calls)
    assert not any(w.problem for w in written)


def test_pictures_are_left_out_for_the_blind() -> None:
    picture = Image("image/png", "aGk=")
    told = without_images([User("look", (picture, picture)), Assistant("ok"), User("and")])
    assert told[1:] == [Assistant("ok"), User("and")]
    assert isinstance(told[0], User) and told[0].images == () and "2 pictures" in told[0].text
