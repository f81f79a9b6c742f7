"""Comments that hide findings: what they reach, and what is said of those that do not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.engine.visibility import assess
from jarvis_ls.jsec.rules.registry import all_rules

COPY = "unbounded-string-copy"
HINTS = ("unused-suppression", "suppression-without-reason", "unknown-rule-in-suppression")


def assessed(text: str, name: str = "a.c") -> list[Finding]:
    source = decode(name, textwrap.dedent(text).encode())
    language = language_of(name, source.data)
    assert language is not None
    tree = parse(source.data, language)
    findings = Engine().analyse(source, language, tree=tree).findings
    return assess(source, language, tree, findings)


def hidden(text: str, name: str = "a.c") -> list[tuple[int, str]]:
    """Line and reason of each finding of string copies; an empty reason is not hidden."""
    return [(one.span.line, one.suppressed) for one in assessed(text, name) if one.rule == COPY]


def hints(text: str, name: str = "a.c") -> list[tuple[int, str]]:
    return [
        (one.span.line, one.rule)
        for one in assessed(text, name)
        if one.rule in HINTS and not one.suppressed
    ]


def test_the_rule_is_there() -> None:
    assert COPY in all_rules()
    assert hidden("void f(char *a, char *b) {\n    strcpy(a, b);\n}\n") == [(2, "")]


REACH = {
    "at the end of its line": """\
        void f(char *a, char *b) {
            strcpy(a, b);  // jsec-ignore: unbounded-string-copy it fits
        }
        """,
    "alone on the line above": """\
        void f(char *a, char *b) {
            // jsec-ignore: unbounded-string-copy it fits
            strcpy(a, b);
        }
        """,
    "above, with other comments and blank lines between": """\
        void f(char *a, char *b) {
            /* jsec-ignore: unbounded-string-copy it fits */
            // as said

            strcpy(a, b);
        }
        """,
    "before it on its line": """\
        void f(char *a, char *b) {
            /* jsec-ignore: unbounded-string-copy it fits */ strcpy(a, b);
        }
        """,
    "at the end of a call of several lines": """\
        void f(char *a, char *b) {
            strcpy(a,
                   b);  // jsec-ignore: unbounded-string-copy it fits
        }
        """,
    "among several rules": """\
        void f(char *a, char *b) {
            strcpy(a, b);  // jsec-ignore: double-free, unbounded-string-copy: it fits
        }
        """,
    "in the function": """\
        void f(char *a, char *b) {
            // jsec-ignore-function: unbounded-string-copy it fits
            int i = 0;
            if (i) { strcpy(a, b); }
        }
        """,
    "above the function": """\
        /* What f does.
         * jsec-ignore-function: unbounded-string-copy it fits
         */
        static void
        f(char *a, char *b)
        {
            strcpy(a, b);
        }
        """,
    "in the file": """\
        /* jsec-ignore-file: unbounded-string-copy it fits */
        int x;
        void f(char *a, char *b) { strcpy(a, b); }
        """,
    "at the end of the file": """\
        void f(char *a, char *b) { strcpy(a, b); }
        // jsec-ignore-file: unbounded-string-copy it fits
        """,
}


@pytest.mark.parametrize("text", REACH.values(), ids=REACH)
def test_a_comment_hides(text: str) -> None:
    (one,) = hidden(text)
    assert one[1] == "comment: it fits"


NOT = {
    "another rule": "strcpy(a, b);  // jsec-ignore: double-free it fits",
    "the line after next": "// jsec-ignore: unbounded-string-copy it fits\n;\nstrcpy(a, b);",
    "the line before": "strcpy(a, b);\n// jsec-ignore: unbounded-string-copy it fits",
    "text of a string": 'puts("// jsec-ignore: unbounded-string-copy it fits"); strcpy(a, b);',
    "talk about it": "strcpy(a, b); // see jsec-ignore: unbounded-string-copy it fits",
    "another word": "strcpy(a, b); // jsec-ignored: unbounded-string-copy it fits",
}


@pytest.mark.parametrize("body", NOT.values(), ids=NOT)
def test_a_comment_does_not_hide(body: str) -> None:
    assert [why for _, why in hidden(f"void f(char *a, char *b) {{\n{body}\n}}\n")] == [""]


def test_the_function_next_to_it_is_not_meant() -> None:
    text = """\
        // jsec-ignore-function: unbounded-string-copy it fits
        void f(char *a, char *b) { strcpy(a, b); }
        void g(char *a, char *b) { strcpy(a, b); }
        """
    assert hidden(text) == [(2, "comment: it fits"), (3, "")]


def test_a_declaration_between_comment_and_function_parts_them() -> None:
    text = """\
        // jsec-ignore-function: unbounded-string-copy it fits
        int x;
        void f(char *a, char *b) { strcpy(a, b); }
        """
    assert hidden(text) == [(3, "")]
    assert hints(text) == [(1, "unused-suppression")]


def test_the_inner_function_of_rust_is_meant() -> None:
    text = """\
        fn outer(p: Option<u8>) {
            fn inner(p: *const u8) {
                // jsec-ignore-function: raw-pointer-deref-without-null-check checked by callers
                unsafe { let _x = *p; }
            }
            unsafe { let _y = *(1 as *const u8); }
        }
        """
    assert not [rule for line, rule in hints(text, "a.rs") if rule == HINTS[2]]


def test_a_comment_that_hides_nothing_is_reported() -> None:
    assert hints("int x; // jsec-ignore: double-free once there was one\n") == [
        (1, "unused-suppression")
    ]


def test_each_unused_rule_is_reported() -> None:
    text = (
        "void f(char *a, char *b) {\n strcpy(a, b); // jsec-ignore: double-free, " + COPY + " ok\n}"
    )
    (message,) = [str(one.message) for one in assessed(text) if one.rule == "unused-suppression"]
    assert "'double-free'" in message


def test_a_comment_without_reason_hides_and_is_reported() -> None:
    text = "void f(char *a, char *b) {\n strcpy(a, b); // jsec-ignore: " + COPY + "\n}"
    assert hidden(text) == [(2, "comment")]
    assert hints(text) == [(2, "suppression-without-reason")]


WITHOUT_RULE = (
    "jsec-ignore: no-such-rule why",
    "jsec-ignore",
    "jsec-ignore:",
    "jsec-ignore-file: nonsense why",
)


@pytest.mark.parametrize("directive", WITHOUT_RULE)
def test_unknown_rules_are_reported(directive: str) -> None:
    text = f"int x; // {directive}\n"
    assert hints(text) == [(1, "unknown-rule-in-suppression")]


def test_the_rule_that_may_be_meant_is_told() -> None:
    (one,) = assessed("int x; // jsec-ignore: unbounded-string-cpoy why\n")
    assert f"'{COPY}'" in str(one.message)


def test_hints_can_be_suppressed_too() -> None:
    text = "int x; // jsec-ignore: double-free, unused-suppression kept for the next release\n"
    assert hints(text) == []


def test_positions_of_hints_count_in_utf16() -> None:
    (one,) = assessed("int x; /* \U0001f600 // jsec-ignore: nonsense why */\n")
    assert (one.span.line, one.span.column) == (1, 17)


def test_deep_comments_and_long_lines_cost_little(tmp_path: Path) -> None:
    text = "// jsec-ignore: " + "a," * 50_000 + " b\n" + "/* jsec-ignore: x y */ " * 3000
    assert len(assessed(text)) == 1_001, "a thousand, and one that counts the others"


def test_a_comment_of_the_file_counts_behind_many_of_lines_and_functions() -> None:
    lines = "".join(
        f"void f{n}(char *a, char *b) {{ strcpy(a, b); }} // jsec-ignore: {COPY} one\n"
        f"// jsec-ignore-function: {COPY} two\n"
        f"void g{n}(char *a, char *b) {{\n strcpy(a, b); }}\n"
        for n in range(200)
    )
    text = f"// jsec-ignore-file: {COPY} all\n{lines}void h(char *a, char *b) {{ strcpy(a, b); }}\n"
    reasons = [why for _, why in hidden(text)]
    assert reasons == ["comment: one", "comment: two"] * 200 + ["comment: all"]


def test_beyond_a_thousand_comments_alike_the_rest_is_counted() -> None:
    text = "int x; // jsec-ignore: no-such-rule why\n" * 1_205
    told = [one for one in assessed(text) if one.rule == "unknown-rule-in-suppression"]
    assert [one.span.line for one in told] == list(range(1, 1_002))
    assert str(told[-1].message).startswith("205 more comments")
