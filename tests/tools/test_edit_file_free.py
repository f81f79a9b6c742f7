"""Snippets and diffs find their place, or are refused; nothing is ever guessed between two."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.tools.loose_diff import is_diff, place_diff
from jarvis_ls.tools.loose_snippet import place_snippet
from tests.support.desk import Desk

CODE = """\
#include <stdio.h>

static int first(int a)
{
    int total = a;

    total += 1;
    return total;
}

static int second(int b)
{
    int total = b;

    total += 2;
    return total;
}

int main(void)
{
    printf("%d\\n", first(1));
    return 0;
}
"""


def snippet(code: str, text: str = CODE) -> str:
    return place_snippet(text, code)[0]


def diffed(code: str, text: str = CODE) -> str:
    return place_diff(text, code)[0]


def test_a_changed_function_replaces_the_old_one() -> None:
    new = "static int second(int b)\n{\n    return b + 2;\n}"
    expected = CODE.replace(
        "    int total = b;\n\n    total += 2;\n    return total;", "    return b + 2;"
    )
    assert snippet(new) == expected


def test_lines_between_the_ends_are_replaced() -> None:
    new = "    int total = b;\n    check(b);\n    total += 2;\n"
    assert snippet(new) == CODE.replace(
        "    int total = b;\n\n    total += 2;",
        "    int total = b;\n    check(b);\n    total += 2;",
    )


def test_lines_behind_a_known_line_are_inserted() -> None:
    new = "#include <stdio.h>\n#include <stdlib.h>"
    assert snippet(new) == CODE.replace("#include <stdio.h>", new)


def test_lines_before_a_known_line_are_inserted() -> None:
    new = "/* The way in. */\nint main(void)"
    assert snippet(new) == CODE.replace("int main(void)", new)


def test_gaps_stand_for_lines_that_stay() -> None:
    new = (
        "static int first(int a)\n{\n    check(a);\n    // ... existing code ...\n"
        "    total += 2;\n    audit(total);\n    return total;\n}"
    )
    expected = CODE.replace(
        "static int first(int a)\n{\n", "static int first(int a)\n{\n    check(a);\n"
    ).replace("    total += 2;\n", "    total += 2;\n    audit(total);\n")
    assert snippet(new) == expected


def test_other_indentation_is_fitted() -> None:
    text = CODE.replace("    ", "\t")
    new = "    int total = b;\n    check(b);\n    total += 2;"
    assert "\tint total = b;\n\tcheck(b);\n\ttotal += 2;" in snippet(new, text)


def test_a_first_line_that_changed_a_little_is_found() -> None:
    new = "static int second(long b)\n{\n    return b + 2;\n}"
    result = snippet(new)
    assert "second(long b)\n{\n    return b + 2;\n}\n\nint main" in result
    assert "second(int b)" not in result


def test_a_new_function_with_a_similar_name_replaces_none() -> None:
    result = snippet("static int second2(int b)\n{\n    return b + 2;\n}")
    assert result.startswith(CODE) and result.endswith("second2(int b)\n{\n    return b + 2;\n}\n")


def test_what_fits_several_places_is_refused_with_both_shown() -> None:
    with pytest.raises(ToolRetry, match="2 places") as error:
        place_snippet(CODE, "    return total;\n    /* never */")
    assert "8:     return total;" in str(error.value) and "16:     return total;" in str(
        error.value
    )


def test_what_would_take_away_far_too_much_is_refused() -> None:
    body = "".join(f"    step{n}();\n" for n in range(200))
    text = f"void all(void)\n{{\n{body}    finish_all();\n}}\n"
    with pytest.raises(ToolRetry, match="existing code"):
        place_snippet(text, "void all(void)\n{\n    begin();\n    finish_all();\n}")


def test_what_belongs_nowhere_goes_to_the_end_and_that_is_said() -> None:
    text, note = place_snippet(CODE, "void third(void)\n{\n}\n")
    assert text == CODE + "\nvoid third(void)\n{\n}\n"
    assert "at its end" in note


def test_a_diff_is_applied_without_numbers() -> None:
    code = "     int total = b;\n \n-    total += 2;\n+    total += 3;\n     return total;\n"
    assert diffed(code) == CODE.replace("+= 2", "+= 3")


def test_a_diff_with_wrong_numbers_is_applied() -> None:
    code = (
        "--- a/x.c\n+++ b/x.c\n@@ -90,3 +90,3 @@ int main\n int main(void)\n {\n"
        '-    printf("%d\\n", first(1));\n+    puts("x");\n'
    )
    assert diffed(code) == CODE.replace('printf("%d\\n", first(1))', 'puts("x")')


def test_numbers_decide_between_equal_places() -> None:
    code = "@@ -{},2 +{},2 @@\n-    return total;\n+    return -total;\n }}\n"
    second = CODE.rindex("return total")
    expected = CODE[:second] + "return -total" + CODE[second + len("return total") :]
    assert diffed(code.format(15, 15)) == expected
    with pytest.raises(ToolRetry, match="2 places"):
        diffed("-    return total;\n+    return -total;\n }\n")
    with pytest.raises(ToolRetry, match="2 places"):
        diffed(code.format(12, 12))  # as far from one as from the other


def test_a_line_that_goes_must_be_there() -> None:
    with pytest.raises(ToolRetry, match="does not fit"):
        diffed(" int main(void)\n {\n-    exit(1);\n     return 0;\n")


def test_context_may_be_a_little_wrong() -> None:
    code = (
        ' int main(void)\n {\n-    printf("%d\\n", first(1));\n+    puts("x");\n'
        "     return 0; // done\n }\n"
    )
    result = diffed(code)
    assert 'puts("x");\n    return 0;\n}' in result  # the file's own lines stay


def test_new_lines_of_a_diff_take_the_indent_of_the_file() -> None:
    text = CODE.replace("    ", "\t")
    assert "\ttotal += 2;\n\taudit();\n" in diffed("     total += 2;\n+    audit();\n", text)


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("@@ -1 +1 @@\n-a\n+b", True),
        ("-a\n+b", True),
        (" a\n+b\n c", True),
        ("int a;\n-b", False),
        (" a\n b", False),
        ("- item one\n- item two", False),
        ("- item one\n- item two\n- new", False),
        ("", False),
    ],
)
def test_a_diff_is_told_from_a_snippet(code: str, answer: bool) -> None:
    assert is_diff(code, "- item one\n- item two\n") is answer


def test_a_diff_of_several_files_is_refused() -> None:
    with pytest.raises(ToolRetry, match="several files"):
        diffed("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n")


lines = st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=12, unique=True)


@settings(max_examples=60)
@given(lines, st.data())
def test_a_true_diff_gives_the_new_text(old: list[str], data: st.DataObject) -> None:
    import difflib

    at = data.draw(st.integers(0, len(old) - 1))
    new = [*old[:at], *data.draw(st.lists(st.sampled_from("WXYZ"), max_size=3)), *old[at + 1 :]]
    before, after = ([f"line {word}" for word in text] for text in (old, new))
    code = "\n".join(difflib.unified_diff(before, after, lineterm=""))
    if code:
        assert place_diff("\n".join(before), code)[0] == "\n".join(after)


@settings(max_examples=80)
@given(st.integers(6, 40), st.data())
def test_a_snippet_replaces_what_lies_between_its_ends(count: int, data: st.DataObject) -> None:
    lines = [
        f"    step_{word}(total, {n});" for n, word in enumerate(["x" * n for n in range(count)])
    ]
    first = data.draw(st.integers(0, count - 3))
    last = data.draw(st.integers(first + 1, min(count - 1, first + 15)))
    heads = data.draw(st.integers(1, min(3, last - first)))
    new = [f"    inserted_{n}();" for n in range(data.draw(st.integers(1, 4)))]
    code = [*lines[first : first + heads], *new, *lines[last : last + 1]]
    expected = [*lines[: first + heads], *new, *lines[last:]]
    assert place_snippet("\n".join(lines), "\n".join(code))[0] == "\n".join(expected)


@settings(max_examples=40)
@given(st.text("ab{}();\n +-@.", max_size=80), st.text("ab{}();\n +-@.", max_size=80))
def test_nothing_a_model_sends_raises_anything_else(text: str, code: str) -> None:
    for place in (place_diff, place_snippet):
        with contextlib.suppress(ToolRetry):
            place(text, code)


def test_large_files_take_time_in_proportion() -> None:
    def took(count: int) -> float:
        text = "".join(
            f"    value_{n} = compute(value_{n - 1}, total);\n}}\n" for n in range(count)
        )
        began = time.process_time()
        middle = count // 2
        place_snippet(
            text, f"    value_{middle} = compute(value_{middle - 1}, total);\n    audit();"
        )
        with contextlib.suppress(ToolRetry):  # like many lines
            place_snippet(text, f"    value_{middle} = compute(other, total);\n    audit();\n}}")
        place_diff(text, f"-    value_{count // 2} = compute(value_{count // 2 - 1}, total);\n+x\n")
        return time.process_time() - began

    took(500)
    small, large = took(2_000), took(16_000)
    assert large < 8 * small * 4 + 0.5


async def test_the_tool_shows_the_change_and_says_where_it_went(desk: Desk) -> None:
    desk.put("a.c", CODE)
    said = await desk.text("edit_file_free", file_path="a.c", code="int other;")
    assert "at its end" in said and desk.read("a.c") == CODE + "\nint other;\n"
    said = await desk.text(
        "edit_file_free", file_path="a.c", code="-int other;\n+long other;", form="diff"
    )
    assert desk.read("a.c").endswith("\nlong other;\n")
    assert len(desk.user.reviewed) == 2
    assert "already" in await desk.refused("edit_file_free", file_path="a.c", code="long other;")
    assert "empty" in await desk.refused("edit_file_free", file_path="a.c", code=" \n")
