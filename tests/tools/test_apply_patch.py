"""Patches in the form of `apply_patch`: every hunk in its one place, or nothing."""

from __future__ import annotations

import pytest

from tests.support.desk import Desk

CODE = """class A:
    def size(self):
        return 1

    def name(self):
        return 1
"""


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


async def test_files_are_changed_made_moved_and_deleted_together(desk: Desk) -> None:
    desk.put("a.py", CODE)
    desk.put("old.py", "x = 1\n")
    desk.put("gone.py", "y = 1\n")
    text = patch(
        "*** Update File: a.py",
        "@@ class A:",
        "@@     def name(self):",
        "-        return 1",
        "+        return 2",
        "*** Update File: old.py",
        "*** Move to: new/place.py",
        "@@",
        "-x = 1",
        "+x = 2",
        "*** Add File: b.py",
        "+z = 1",
        "*** Delete File: gone.py",
    )
    await desk.text("apply_patch", input=text)
    assert desk.read("a.py") == CODE.removesuffix("1\n") + "2\n"
    assert desk.read("new/place.py") == "x = 2\n" and desk.read("b.py") == "z = 1\n"
    assert not (desk.root / "old.py").exists() and not (desk.root / "gone.py").exists()
    assert len(desk.user.reviewed) == 1  # shown as one proposal


async def test_hunks_are_placed_in_order_and_lines_are_added_at_the_end(desk: Desk) -> None:
    desk.put("a.py", CODE)
    text = patch(
        "*** Update File: a.py",
        "@@",
        " class A:",
        "+    kind = 0",
        "     def size(self):",
        "@@",
        "+",
        "+B = A",
        "*** End of File",
    )
    await desk.text("apply_patch", input=text)
    assert desk.read("a.py") == CODE.replace("class A:\n", "class A:\n    kind = 0\n") + "\nB = A\n"


async def test_white_space_is_told(desk: Desk) -> None:
    desk.put("a.py", CODE)
    text = patch(
        "*** Update File: a.py",
        "@@",
        "-def size(self):",
        "-    return 1",
        "+def size(self):",
        "+    return 3",
    )
    said = await desk.text("apply_patch", input=text)
    assert "indented otherwise" in said
    assert desk.read("a.py") == CODE.replace("return 1", "return 3", 1)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            ["*** Update File: a.py", "@@", "-        return 1", "+        return 2"],
            "fits 2 places",
        ),
        (["*** Update File: a.py", "@@", "-        return", "+        pass"], "are not there"),
        (["*** Update File: a.py", "@@ def other", "-class A:", "+class B:"], "after `@@` is not"),
        (["*** Add File: a.py", "+x"], "exists already"),
        (["*** Delete File: none.py"], "There is no file"),
        (["*** Update File: a.py", "@@", "-class A:", "+class A:"], "leave the file"),
        (["-class A:"], "is of no file"),
        ([], "has no parts"),
        (
            ["*** Add File: b.py", "+x", "*** Update File: a.py", "@@", "-class C:", "+class D:"],
            "Nothing was changed",
        ),
        (["*** Add File: b.py", "+x", "*** Add File: ./b.py", "+y"], "names a file twice"),
    ],
)
async def test_what_does_not_fit_changes_nothing(desk: Desk, lines: list[str], why: str) -> None:
    desk.put("a.py", CODE)
    assert why in await desk.refused("apply_patch", input=patch(*lines))
    assert desk.read("a.py") == CODE and not (desk.root / "b.py").exists()
    assert desk.user.reviewed == []


async def test_text_that_is_no_patch_is_refused(desk: Desk) -> None:
    assert "begins with" in await desk.refused("apply_patch", input="diff --git a b")
