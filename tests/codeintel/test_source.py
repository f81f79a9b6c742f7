"""Bytes to the positions people see, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.finding import Span

texts = st.text(alphabet=st.sampled_from("ab \t\r\n\f\u2028é漢😀{};"), max_size=60)


@given(texts)
def test_every_character_boundary_survives_the_round_trip(text: str) -> None:
    source = Source("a.c", text.encode())
    offset = 0
    for character in text:
        line, column = source.position(offset)
        at_line_end = character in "\r\n"
        if not at_line_end or source.position(offset)[1] == 1:
            assert source.offset(line, column) == offset
        offset += len(character.encode())


@given(texts)
def test_lines_end_where_lsp_says(text: str) -> None:
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    source = Source("a.c", text.encode())
    assert [source.line_text(n) for n in range(1, len(source.line_starts) + 1)] == expected


def test_columns_count_utf16_units() -> None:
    source = Source("a.c", "x😀é = f();".encode())
    start = source.data.index(b"f")
    assert source.span(start, start + 3) == Span(1, 8, 1, 11)


@pytest.mark.parametrize(
    ("raw", "encoding", "text"),
    [
        (b"int a;", "utf-8", "int a;"),
        (b"\xef\xbb\xbfint a;", "utf-8", "int a;"),
        ("é".encode("utf-16-le").join([b"\xff\xfe", b""]), "utf-16-le", "é"),
        ("漢".encode("utf-16-be").join([b"\xfe\xff", b""]), "utf-16-be", "漢"),
        (b"/* caf\xe9 */", "latin-1", "/* café */"),
    ],
)
def test_decoding_keeps_what_writing_back_needs(raw: bytes, encoding: str, text: str) -> None:
    source = decode("a.c", raw)
    assert (source.encoding, source.data.decode()) == (encoding, text)
    assert source.encode(source.data) == raw


@given(st.binary(max_size=80))
def test_any_bytes_decode_and_write_back(raw: bytes) -> None:
    source = decode("a.c", raw)
    source.data.decode()
    if source.encoding == "utf-16-le" or source.encoding == "utf-16-be":
        return  # broken UTF-16 is shown with replacement characters
    assert source.encode(source.data) == raw


@given(
    st.text("a\nb\r\u00e9", max_size=12),
    st.text("c\n\r", max_size=4),
    st.integers(0, 12),
    st.integers(0, 12),
    st.booleans(),
)
def test_lines_of_an_edited_text_are_those_of_its_text(
    text: str, new: str, first: int, second: int, asked: bool
) -> None:
    source = Source("a.c", text.encode())
    start, end = sorted((min(first, len(source.data)), min(second, len(source.data))))
    if asked:
        assert source.line_starts
    edited = source.replaced(start, end, new.encode())
    assert edited.data == source.data[:start] + new.encode() + source.data[end:]
    assert edited.line_starts == Source("a.c", edited.data).line_starts
