"""Exact replacements: all of them or none, in the right place or nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.tools.edit_file import Diff, place_text
from tests.support.desk import Desk

CODE = "int one(void)\n{\n    return 1;\n}\n\nint two(void)\n{\n    return 1;\n}\n"


def diff(search: str, replace: str, **more: bool) -> dict[str, object]:
    return {"search": search, "replace": replace, **more}


async def edit(desk: Desk, path: str, *diffs: dict[str, object]) -> str:
    return await desk.text("edit_file", files=[{"file_path": path, "diffs": list(diffs)}])


async def refused(desk: Desk, path: str, *diffs: dict[str, object]) -> str:
    return await desk.refused("edit_file", files=[{"file_path": path, "diffs": list(diffs)}])


async def test_a_piece_is_replaced_and_the_change_is_shown_first(desk: Desk) -> None:
    desk.put("a.c", CODE)
    said = await edit(
        desk, "a.c", diff("one(void)\n{\n    return 1;", "one(void)\n{\n    return 2;")
    )
    assert desk.read("a.c") == CODE.replace("return 1", "return 2", 1)
    (edits,) = desk.user.reviewed
    assert edits[0].path == "a.c" and edits[0].hunks[0].new_lines == ("    return 2;",)
    assert desk.user.asked == []  # the diff is how consent is asked
    assert "a.c" in said and "+3:     return 2;" in said


async def test_several_places_are_shown_and_nothing_is_changed(desk: Desk) -> None:
    desk.put("a.c", CODE)
    said = await refused(desk, "a.c", diff("    return 1;", "    return 2;"))
    assert "occurs 2 times" in said and "line 3, column 1" in said and "line 8, column 1" in said
    assert "6: int two(void)" in said  # three lines around
    assert desk.read("a.c") == CODE and desk.user.reviewed == []


async def test_all_places_are_changed_when_that_is_confirmed(desk: Desk) -> None:
    desk.put("a.c", CODE)
    await edit(desk, "a.c", diff("    return 1;", "    return 2;", all=True))
    assert desk.read("a.c") == CODE.replace("return 1", "return 2")
    assert len(desk.user.reviewed[0][0].hunks) == 2


async def test_overlapping_places_are_several(desk: Desk) -> None:
    desk.put("a.txt", "aaa\n")
    assert "occurs 2 times" in await refused(desk, "a.txt", diff("aa", "b"))


async def test_one_wrong_replacement_undoes_all(desk: Desk) -> None:
    desk.put("a.c", CODE)
    desk.put("b.c", "int x;\n")
    files = [
        {"file_path": "b.c", "diffs": [diff("int x;", "int y;")]},
        {"file_path": "a.c", "diffs": [diff("one", "eins"), diff("nowhere", "x")]},
    ]
    said = await desk.refused("edit_file", files=files)
    assert "a.c, replacement 2" in said and "Nothing was changed" in said
    assert (desk.read("a.c"), desk.read("b.c")) == (CODE, "int x;\n")
    assert desk.user.reviewed == []


async def test_later_replacements_see_the_earlier_ones(desk: Desk) -> None:
    desk.put("a.c", "int a;\n")
    files = [
        {"file_path": "a.c", "diffs": [diff("a;", "b;")]},
        {"file_path": "./a.c", "diffs": [diff("int b;", "long b;")]},
    ]
    await desk.text("edit_file", files=files)
    assert desk.read("a.c") == "long b;\n"


@pytest.mark.parametrize(
    ("search", "hint"),
    [
        ("int one(void) {\n", "not in the file"),
        ("int one(void)\n{\n\treturn 1;\n}", "white space"),
        ("    1: int one(void)\n    2: {", "line numbers"),
        ("int one(void)\n{\n    return 3;", "what follows differs"),
        ("zzz", "Nothing like it is there"),
        (
            "one(void)\n{\n    return 3;",
            "part of a line; give whole lines as they stand:\n1: int one",
        ),
        ("int ones(void)\n{\n    return 1;", "nearest lines are:\n1: int one(void)"),
        ("", "rewrite_file"),
        ("int one", "are the same"),
    ],
)
async def test_what_is_wrong_with_a_search_is_said(desk: Desk, search: str, hint: str) -> None:
    desk.put("a.c", CODE)
    new = search if hint == "are the same" else "x"
    assert hint in await refused(desk, "a.c", diff(search, new))
    assert desk.read("a.c") == CODE


NESTED = "class A:\n    def one(self):\n        if x:  \n            y = 1\n\n        return y\n"


async def test_trailing_blanks_do_not_matter_and_stay(desk: Desk) -> None:
    desk.put("a.py", NESTED)
    said = await edit(
        desk,
        "a.py",
        diff("        if x:\n            y = 1\n", "        if x:\n            y = 2\n"),
    )
    assert desk.read("a.py") == NESTED.replace("y = 1", "y = 2")
    assert "trailing blanks only" in said


@pytest.mark.parametrize(
    ("search", "new", "after"),
    [
        (
            "if x:\n    y = 1\n\nreturn y\n",
            "if x:\n    y = 2\n    z = 3\n\nreturn y\n",
            NESTED.replace("y = 1", "y = 2\n            z = 3"),
        ),
        (
            "            if x:\n                y = 1\n",
            "            if not x:\n                y = 1\n",
            NESTED.replace("if x:  ", "if not x:"),
        ),
        (
            "def one(self):\n    if x:",
            "",
            NESTED.replace("    def one(self):\n        if x:  \n", "\n"),
        ),
    ],
)
async def test_lines_indented_otherwise_are_placed_and_indented_like_the_file(
    desk: Desk, search: str, new: str, after: str
) -> None:
    desk.put("a.py", NESTED)
    said = await edit(desk, "a.py", diff(search, new))
    assert desk.read("a.py") == after
    assert "indented otherwise than the file at line" in said


@pytest.mark.parametrize(
    "search",
    [
        "if x:\ny = 1",  # another structure
        "\t\tif x:\n\t\t\ty = 1",  # tabs: how wide is not known
        "z = 9",  # there twice, and too short
    ],
)
async def test_other_white_space_has_no_place(desk: Desk, search: str) -> None:
    text = NESTED + "    z = 9  \n        z =  9\n"
    desk.put("a.py", text.replace("z = 9", "z  = 9"))
    await refused(desk, "a.py", diff(search, "w"))
    assert desk.read("a.py") == text.replace("z = 9", "z  = 9")


async def test_lines_indented_otherwise_in_two_places_are_refused(desk: Desk) -> None:
    text = "if a:\n    call_it(1)\n    more(2)\nif b:\n        call_it(1)\n        more(2)\n"
    desk.put("a.py", text)
    await refused(desk, "a.py", diff("  call_it(1)\n  more(2)\n", "x"))
    assert desk.read("a.py") == text


async def test_the_three_nearest_places_are_shown(desk: Desk) -> None:
    part = "def f{n}(a):\n    open(a)\n    read(a, {n})\n    close(a)\n\n"
    desk.put("a.py", "".join(part.format(n=n) for n in range(5)))
    said = await refused(desk, "a.py", diff("    open(a)\n    read(a, 7)\n    close(a)", "x"))
    assert "Its first 1 lines are at line 2" in said
    assert said.count("and near line") == 2 and "7:     open(a)" in said


async def test_long_files_are_not_rewritten(desk: Desk) -> None:
    desk.put("a.py", "x = 1\n" * 401)
    desk.put("b.py", "x = 1\n" * 400)
    await desk.text("read_code", files=[{"path": "b.py"}])
    said = await desk.refused("rewrite_file", file_path="a.py", content="y = 1\n")
    assert "has 401 lines" in said and desk.read("a.py") == "x = 1\n" * 401
    await desk.text("rewrite_file", file_path="b.py", content="y = 1\n")
    assert desk.read("b.py") == "y = 1\n"


async def test_other_code_points_for_the_same_characters_are_named(desk: Desk) -> None:
    desk.put("a.c", "// cafe\u0301\n")
    assert "code points" in await refused(desk, "a.c", diff("caf\u00e9", "tea"))


async def test_crlf_files_match_and_keep_their_line_ends(desk: Desk) -> None:
    desk.put("a.c", CODE.replace("\n", "\r\n"))
    await edit(desk, "a.c", diff("int two(void)\n{", "int two(void)\n{\n    int x;"))
    assert desk.read("a.c") == CODE.replace("two(void)\n{", "two(void)\n{\n    int x;").replace(
        "\n", "\r\n"
    )


async def test_an_empty_search_creates_a_file(desk: Desk) -> None:
    await edit(desk, "new/dir/a.c", diff("", "int a;\n"))
    assert desk.read("new/dir/a.c") == "int a;\n"
    assert desk.user.reviewed[0][0].change == "create"


async def test_a_missing_file_is_said_with_what_is_near(desk: Desk) -> None:
    desk.put("src/parser.c", CODE)
    assert "parser.c" in await refused(desk, "src/Parser.c", diff("x", "y"))


async def test_nothing_to_do_is_no_success(desk: Desk) -> None:
    desk.put("a.c", "ab\n")
    assert "leave the files as they are" in await refused(
        desk, "a.c", diff("ab", "ba"), diff("ba", "ab")
    )
    assert (await desk.run("edit_file", files=[])).is_error
    assert (await desk.run("edit_file", files=[{"file_path": "a.c", "diffs": []}])).is_error


@given(st.text("ab\n ", max_size=40), st.text("ab\n ", min_size=1, max_size=4), st.text("xy\n"))
def test_a_replacement_is_that_of_str(text: str, search: str, new: str) -> None:
    spots = sum(text.startswith(search, at) for at in range(len(text)))
    try:
        result, note = place_text(text, Diff(search, new))
    except ToolRetry:
        assert spots != 1 or search == new
    else:
        assert spots <= 1 and bool(note) == (spots == 0)
        assert note or result == text.replace(search, new)


async def test_files_that_fit_are_changed_by_themselves_when_asked(desk: Desk) -> None:
    files = [
        {"file_path": f"{name}.c", "diffs": [{"search": f"int {name};", "replace": "int z;"}]}
        for name in ("a", "b")
    ]
    desk.put("a.c", "int a;\n")
    desk.put("b.c", "int c;\n")
    assert "Nothing was changed" in await desk.refused("edit_file", files=files)
    assert desk.read("a.c") == "int a;\n"
    said = await desk.text("edit_file", files=files, each_by_itself=True)
    assert "Not changed:" in said and "b.c: The text to replace is not in the file." in said
    assert "a.c: changed" in said
    assert (desk.read("a.c"), desk.read("b.c")) == ("int z;\n", "int c;\n")
