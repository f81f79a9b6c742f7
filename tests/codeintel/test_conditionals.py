"""Which branches of the preprocessor this platform compiles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.conditions import holds
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.top_level_items import items


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("defined(_WIN32)", False),
        ("!defined _WIN32", True),
        ("defined(_WIN32) || defined(FOO)", None),
        ("defined(_WIN32) && defined(FOO)", False),
        ("defined(__GNUC__) || FOO", True),
        ("INT_MAX == 2147483647", True),
        ("LONG_MAX == 2147483647L", False),
        ("ULONG_MAX > 0xffffffffUL", True),
        ("__GNUC__ > 3 || (__GNUC__ == 3 && __GNUC_MINOR__ >= 1)", True),
        ("__GNUC_PREREQ (2, 7)", None),
        ("_MSC_VER >= 1900", False),
        ("HAVE_UNISTD_H", True),
        ("defined HAVE_WINDOWS_H", None),
        ("(__SIZEOF_POINTER__ * CHAR_BIT) == 64", True),
        ("FOO", None),
        ("0", False),
        ("1", True),
        ("FLAGS & 1", None),
        ("1 ? 2 : 3", None),
        ("(((", None),
        ("(" * 95 + "1" + ")" * 95, None),
        ("!" * 199 + "1", False),
        ("1 << -1", True),
        ("1 >> -1", True),
        ("9" * 5000 + " > 1", None),
        ("", None),
        ("-1 < 0", True),
        ("defined(__linux__) \\\n && 1", True),
    ],
)
def test_conditions(condition: str, value: bool | None) -> None:
    assert holds(condition) is value


@given(st.text(alphabet="(!)&|<>=+-*01x defined_WIN32\\\n", max_size=60))
def test_any_text_has_an_answer(condition: str) -> None:
    assert holds(condition) in (True, False, None)


def test_items_of_other_platforms() -> None:
    text = """
#ifdef _WIN32
int a;
#else
int b;
#endif
#if INT_MAX == 2147483647
int c;
#elif FOO
int d;
#else
int e;
#endif
#ifdef FOO
int f;
#else
int g;
#ifdef __APPLE__
int h;
#endif
#endif
"""
    found = [i for i in items(parse(text.encode(), "c").root_node, "c") if i.node.text]
    declared = {text[i.start + 4]: i.foreign for i in found if i.node.type == "declaration"}
    assert declared == {name: name in "adeh" for name in "abcdefgh"}
