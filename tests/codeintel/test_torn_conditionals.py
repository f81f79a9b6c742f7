"""Conditionals that open what is closed behind them: the parser gets one branch of each."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.parse import parse, parse_edited
from jarvis_ls.codeintel.torn_conditionals import torn_parts

TORN = {
    "heads of a function": (
        "#ifdef A\nstatic int f(int a)\n#else\nint f(void)\n#endif\n{ return 1; }\n"
    ),
    "specifiers": "#ifdef A\n__attribute__((noreturn))\n#endif\nvoid f(int a);\n",
    "static": "#ifndef A\nstatic\n#endif\nint f(int a) { return a; }\n",
    "opened twice, closed once": (
        "int f(int a, int b) {\n#ifdef A\n  if (a) {\n#else\n  if (b) {\n#endif\n"
        "    return 1; }\n  return 0; }\n"
    ),
    "opened and closed apart": (
        "int f(int a) {\n#if defined(A) /* { */\n  if (a) {\n#endif\n    a++;\n"
        "#if defined(A)\n  }\n#endif\n  return a; }\n"
    ),
    "open else": "int f(int a) {\n#ifdef A\n  if (a) return 1;\n  else\n#endif\n  return 0; }\n",
    "else if": (
        "int f(int a) {\n  if (a) return 1;\n#ifdef A\n  else if (a + 1) return 2;\n#endif\n"
        "  else return 0; }\n"
    ),
    "operand": "int f(int a) {\n  return a\n#ifdef A\n    && g(a)\n#endif\n  ;\n}\n",
    "one in the other": (
        "int f(int a) {\n#ifdef A\n  a++;\n#ifdef B\n  if (a) {\n#else\n  {\n#endif\n"
        "    a--;\n  }\n#endif\n  return a; }\n"
    ),
}
WHOLE = {
    "guard": "#ifndef A_H\n#define A_H\nint f(void);\n#endif\n",
    "branches": "int f(void) {\n#ifdef A\n  return 1;\n#else\n  return 2;\n#endif\n}\n",
    "braces in texts": "#ifdef A\nchar *a = \"{(\";\nint b = '}'; // {\n#else\nint c;\n#endif\n",
    "call of a macro": "#ifdef A\nDECLARE(a)\n#endif\nint f(void);\n",
    "never compiled": "#if 0\nint f( {\n#endif\nint g(void);\n",
    "in a comment": "/*\n#ifdef A\n if (a) {\n#endif */\nint g(void);\n",
}


@pytest.mark.parametrize("code", TORN.values(), ids=TORN)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_is_torn_becomes_whole(code: str, ending: str) -> None:
    data = code.replace("\n", ending).encode()
    assert torn_parts(data)
    tree = parse(data + b"int last(void) { return 3; }\n", "c")
    assert not tree.root_node.has_error
    assert tree.root_node.named_children[-1].type == "function_definition"


@pytest.mark.parametrize("code", WHOLE.values(), ids=WHOLE)
def test_what_is_whole_stays(code: str) -> None:
    data = code.encode()
    kept = [part for part in torn_parts(data) if data[part[0] : part[1]].strip()]
    assert kept == [] or code == WHOLE["in a comment"]
    assert b"g" not in b"".join(data[start:end] for start, end in kept)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (b"#ifdef _WIN32", b"b"),
        (b"#ifdef __linux__", b"a"),
        (b"#if defined(_WIN32) || defined(__CYGWIN__)", b"b"),
        (b"#ifdef OPEN", b"a"),
        (b"#ifndef OPEN", b"b"),
    ],
)
def test_the_branch_of_this_platform_is_kept(condition: bytes, kept: bytes) -> None:
    data = b"int f(int a, int b) {\n%s\n if (a) {\n#else\n if (b) {\n#endif\n return 1; }\n}"
    tree = parse(data % condition, "c")
    assert not tree.root_node.has_error
    body = tree.root_node.named_children[0].child_by_field_name("body")
    assert body is not None
    branch = body.named_children[0].child_by_field_name("condition")
    assert branch is not None
    assert branch.text == b"(%s)" % kept


LINES = st.sampled_from(
    "#ifdef A|#if B > 1|#ifndef C|#else|#elif D|#endif|if (a) {|}|else|int f(void)|{|a = b;|static|"
    "|/* { */|// (|#define X {|#if \\|  # endif|(|)|&& b".split("|")
)
TEXTS = st.lists(LINES, max_size=40).map(lambda lines: "\n".join(lines).encode())


@given(TEXTS)
def test_parts_are_in_order_and_apart(data: bytes) -> None:
    parts = torn_parts(data)
    places = [place for part in parts for place in part]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(data) for start, end in parts)
    assert all(first[1] < second[0] for first, second in itertools.pairwise(parts))
    parse(data, "c")


@given(TEXTS, TEXTS, st.data())
def test_an_edit_gives_the_tree_of_the_text(data: bytes, new: bytes, draw: st.DataObject) -> None:
    start = draw.draw(st.integers(0, len(data)))
    end = draw.draw(st.integers(start, len(data)))
    after = data[:start] + new + data[end:]
    edited = parse_edited(after, "c", parse_edited(data, "c", None))
    if edited.sure:
        assert str(edited.tree.root_node) == str(parse(after, "c").root_node)
