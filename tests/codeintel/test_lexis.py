"""Comments and literals, told apart as the compilers do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.comments import blank, comments, lexemes
from jarvis_ls.codeintel.languages import LanguageName

CASES: list[tuple[LanguageName, str, list[str]]] = [
    ("c", 'a = "// no"; // yes', ["// yes"]),
    ("c", "a /* one */ b /* two", ["/* one */", "/* two"]),
    ("c", "/* /* still one */ code", ["/* /* still one */"]),
    ("c", "/*/ not closed */", ["/*/ not closed */"]),
    ("c", "// goes on \\\n here\nnot here", ["// goes on \\\n here"]),
    ("c", "// goes on \\\r\n here\r\nnot", ["// goes on \\\r\n here"]),
    ("c", "char q = '\"'; // yes", ["// yes"]),
    ("c", "char q = '\\''; // yes", ["// yes"]),
    ("c", 's = "a\\"// no"; // yes', ["// yes"]),
    ("c", 's = "never closed\n// yes', ["// yes"]),
    ("cpp", 'R"x(// no )" still )x"; // yes', ["// yes"]),
    ("cpp", 'u8R"(\n/* no */\n)" /* yes */', ["/* yes */"]),
    ("cpp", "int n = 1'000'000; // yes", ["// yes"]),
    ("rust", "/* /* nested */ one */ x", ["/* /* nested */ one */"]),
    ("rust", "fn f<'a>(x: &'a str) {} // yes", ["// yes"]),
    ("rust", "let c = '\"'; // yes", ["// yes"]),
    ("rust", "let c = '\\''; // yes", ["// yes"]),
    ("rust", "let c = 'é'; // yes", ["// yes"]),
    ("rust", 'let s = r#"// no " "#; // yes', ["// yes"]),
    ("rust", 'let s = "line\n// no"; // yes', ["// yes"]),
    ("rust", 'let s = br"\\"; // yes', ["// yes"]),
]


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_comments_are_found(language: LanguageName, text: str, expected: list[str]) -> None:
    data = text.encode()
    assert [data[one.start : one.end].decode() for one in comments(data, language)] == expected


def test_blanking_keeps_length_and_lines() -> None:
    data = b'call("secret", 1); // why\r\nnext /* a\nb */ end'
    assert blank(data, "c") == b'call("      ", 1);       \r\nnext     \n     end'
    assert b"secret" in blank(data, "c", literals=False)
    assert b"why" in blank(data, "c", comments=False)


@given(st.binary(max_size=300), st.sampled_from(["c", "cpp", "rust"]))
def test_any_bytes_are_cut_in_order(data: bytes, language: LanguageName) -> None:
    at = 0
    for one in lexemes(data, language):
        assert at <= one.start < one.end <= len(data)
        assert one.start <= one.inner[0] <= one.inner[1] <= one.end
        at = one.end
    blanked = blank(data, language)
    assert len(blanked) == len(data)
    assert blanked.count(b"\n") == data.count(b"\n")
