"""Functions whose head is a call of a macro: they are read as functions, where they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.macro_functions import with_heads
from jarvis_ls.codeintel.parse import parse

BODY = "\n{\n    return 0;\n}\n"


@pytest.mark.parametrize(
    ("head", "declarator"),
    [
        (
            "METHOD(store_t, find, bool,\n    this_t *this, int n)",
            "find( this_t *this, int n)",
        ),
        ("static METHOD(store_t, first, item_t*, this_t *this)", "first( this_t *this)"),
        (
            "SYSCALL_DEFINE3(read, unsigned int, fd, char *, buf, size_t, count)",
            "read( unsigned int fd, char * buf, size_t count)",
        ),
        ('DEFUN (show, show_cmd, "show", NO_STR "x")', "show("),
        ("PHP_METHOD(Store, find)", "Store("),
    ],
)
def test_a_call_of_a_macro_before_a_body_is_the_head_of_a_function(
    head: str, declarator: str
) -> None:
    root = parse((head + BODY).encode(), "c").root_node
    assert [child.type for child in root.named_children] == ["function_definition"]
    assert not root.has_error
    found = root.named_children[0].child_by_field_name("declarator")
    while found is not None and found.type == "pointer_declarator":
        found = found.child_by_field_name("declarator")
    assert found is not None and found.text is not None
    assert " ".join(found.text.decode().split()).startswith(declarator)
    assert head.encode()[: found.start_byte].count(b"\n") == found.start_point[0]


@pytest.mark.parametrize(
    "text",
    [
        "METHOD(store_t, find, bool, this_t *this);\n",
        "int f(void)\n{\n    FOREACH(item, list) {\n        use(item);\n    }\n}\n",
        "#define METHOD(a, b) \\\n{ a; }\n",
        "FOREACH(item, list)\n{\n}\n",
        "int plain(int n)\n{\n    return n;\n}\n",
    ],
)
def test_nothing_else_is_changed(text: str) -> None:
    assert with_heads(text.encode()) == text.encode()


@given(
    st.lists(
        st.sampled_from(
            [
                *'(),{} \n"\\#',
                "METHOD",
                "DEFUN",
                "SYSCALL_DEFINE2",
                "static ",
                "int n",
                "name",
                "a_t *p",
                "/*",
                "*/",
            ]
        ),
        max_size=40,
    )
)
def test_no_text_becomes_longer_or_loses_a_line(parts: list[str]) -> None:
    data = "".join(parts).encode()
    written = with_heads(data)
    assert len(written) == len(data)
    assert [i for i, byte in enumerate(written) if byte == 10] == [
        i for i, byte in enumerate(data) if byte == 10
    ]
