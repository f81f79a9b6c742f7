"""The framing never loses the thread: whatever comes between, the next message is read."""

from __future__ import annotations

import itertools
import json
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jarvis_ls.lsp.pygls_fixes import json_body
from jarvis_ls.lsp.pygls_fixes.framing import FrameDecoder, FramingError

pytestmark = pytest.mark.watches()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
messages = st.dictionaries(st.text(), json_values, min_size=1)
NEXT = {"jsonrpc": "2.0", "method": "the next one"}


def frame(message: object, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    body = json.dumps(message, ensure_ascii=False).encode()
    return header % len(body) + body


@given(st.lists(messages, max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_messages_come_whole_however_the_bytes_are_cut(sent, cuts):
    data = b"".join(frame(one) for one in sent)
    decoder, got, at, turn = FrameDecoder(), [], 0, 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        got += decoder.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert got == sent


@given(st.binary(max_size=300))
@example(b"Content-Length: 5\r\n\r\n")
@example(b"Content-Length: -1\r\n\r\n{")
@example(b"Content-Length: 99999999999999\r\n\r\n[[[")
@example(b"Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}")
@example(b'Content-Length: 20\r\n\r\n{"a":"')
@settings(max_examples=300)
def test_the_message_after_garbage_is_read(garbage):
    decoder = FrameDecoder()
    got = [*decoder.feed(garbage), *decoder.feed(frame(NEXT)), *decoder.feed(frame(NEXT))]
    assert NEXT in got


@given(messages, st.integers(-40, 40))
def test_a_wrong_length_costs_at_most_its_own_message(message, wrong):
    body = json.dumps(message).encode()
    data = b"Content-Length: %d\r\n\r\n" % max(1, len(body) + wrong) + body
    got = list(FrameDecoder().feed(data + frame(NEXT)))
    assert got[-1] == NEXT
    assert message in got


def test_headers_in_any_case_order_and_line_end():
    for header in (
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\n\n",
        b"Content-Type: a/b\r\nContent-Length:   %d  \r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        b"X: 1\r\n\r\n\r\nContent-Length: %d\r\n\r\n",
    ):
        assert list(FrameDecoder().feed(frame(NEXT, header) * 2)) == [NEXT, NEXT]


def test_what_is_no_json_is_told_and_passed_over():
    for body in (b"{", b"\xff\xfe", b"NaN", b"[" * 100_000, b'{"a": 1}{"b": 2}', b"1" * 5000):
        data = b"Content-Length: %d\r\n\r\n" % len(body) + body
        first, *_, last = FrameDecoder().feed(data + frame(NEXT))
        assert isinstance(first, FramingError) or first == {"a": 1}
        assert last == NEXT


def test_half_a_surrogate_pair_is_one_unit_still():
    body = rb'{"text": "a\ud83d", "\ude00": ["\ud83d\ude00"]}'
    (message,) = FrameDecoder().feed(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert message == {"text": "a\ufffd", "\ufffd": ["😀"]}


def test_memory_stays_small_when_no_header_ever_comes():
    decoder = FrameDecoder()
    for _ in range(200):
        assert list(decoder.feed(b"x" * 65536)) == []
    assert len(decoder._buffer) < 100_000
    assert list(decoder.feed(b"\n" + frame(NEXT))) == [NEXT]


def test_null_is_a_message_and_does_not_hold_back_the_next():
    assert list(FrameDecoder().feed(frame(None) + frame(NEXT))) == [None, NEXT]


def test_headers_without_end_are_passed_over_one_by_one():
    got = list(FrameDecoder().feed(b"Content-Length: 5\n" * 20_000 + b"\r\n" + frame(NEXT)))
    assert got[-1] == NEXT


def processor_seconds(megabytes: int) -> float:
    """What a message of one long text takes, in the pieces that a pipe gives."""
    data = frame({"text": '    if (strcmp(name, "value") == 0) {\n' * (megabytes * 25_000)})
    decoder, got = FrameDecoder(), []
    began = time.process_time()
    for at in range(0, len(data), 65536):
        got += decoder.feed(data[at : at + 65536])
    assert len(got) == 1
    return time.process_time() - began


def test_the_time_for_a_message_grows_with_its_length():
    """Sixteen times as long takes that much longer; it was two hundred times."""
    small = min(processor_seconds(1) for _ in range(3))
    assert processor_seconds(16) < 64 * small


pieces = st.sampled_from(
    ['"', "\\", "\n", "a", "é", "字", "😀", "\ud83d", "\ude00", "ud83d", "NaN", "\x01", "{", " "]
)
texts = st.lists(pieces, max_size=200).map("".join)


def seconds_of_the_end(megabytes: int) -> float:
    """What the last piece of such a message takes."""
    data = frame({"text": '    if (strcmp(name, "value") == 0) {\n' * (megabytes * 25_000)})
    decoder = FrameDecoder()
    for at in range(0, len(data) - 65536, 65536):
        assert list(decoder.feed(data[at : at + 65536])) == []
    began = time.process_time()
    assert len(list(decoder.feed(data[at + 65536 :]))) == 1
    return time.process_time() - began


def test_a_long_text_is_decoded_while_it_comes():
    """A tenth is left to the end, when a request that comes behind it waits; it was the most."""
    whole = min(processor_seconds(16) for _ in range(3))
    assert min(seconds_of_the_end(16) for _ in range(3)) < whole / 3


@given(
    st.dictionaries(texts, texts | st.lists(texts, max_size=3), max_size=4),
    st.booleans(),
    st.lists(st.integers(1, 90), min_size=1),
)
@settings(max_examples=300)
def test_long_texts_are_what_they_are_in_slices_too(value, is_ascii, cuts):
    body = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_body, "_LONG", 10)
        patch.setattr(json_body, "_SLICE", 32)
        in_slices, as_it_comes = outcome(body), coming(body, cuts)
    assert in_slices == as_it_comes == outcome(body)


def coming(body: bytes, cuts: list[int]) -> object:
    """What the body is when it comes in pieces of these sizes."""
    whole, at = json_body.Body(), 0
    for cut in itertools.cycle(cuts):
        at = min(at + cut, len(body))
        whole.read(bytearray(body[:at]), len(body))
        if at == len(body):
            break
    try:
        return whole.load(body, len(body))
    except ValueError:
        return ValueError


def outcome(body: bytes) -> object:
    try:
        return json_body.load(body)
    except ValueError:
        return ValueError
