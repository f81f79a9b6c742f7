"""Headers of a project: whatever came and went, what is told is what a fresh look tells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.headers import Headers

PLACES = ("a.h", "b.h", "sub/a.h", "sub/c.h", "sub/deep/b.h")
ROOT = "sub/main.c"

includes = st.lists(st.sampled_from(("a.h", "b.h", "c.h", "../a.h", "deep/b.h", "sub/c.h", "x.h")))
steps = st.lists(
    st.tuples(st.sampled_from(("write", "remove")), st.sampled_from(PLACES), includes), max_size=12
)


def text_of(included: list[str]) -> bytes:
    return "".join(f'#include "{one}"\n' for one in included).encode()


@given(includes, steps)
def test_what_changes_between_is_seen(own: list[str], changes: list) -> None:
    files: dict[str, bytes] = {}
    facts = Facts(includes=tuple(own))
    kept = Headers(files.get, files)
    for what, path, included in changes:
        if what == "write":
            files[path] = text_of(included)
            kept.add(path)
            kept.forget(path)
        elif path in files:
            del files[path]
            kept.discard(path)
        fresh = Headers(files.get, files)
        assert kept.closure(ROOT, facts) == fresh.closure(ROOT, facts)
        assert kept.facts_for(ROOT, facts)[0] == fresh.facts_for(ROOT, facts)[0]


def test_nearer_headers_come_first_and_each_once() -> None:
    files = {
        "a.h": text_of(["b.h", "b.h", "a.h"]),
        "b.h": text_of(["a.h", "sub/c.h"]),
        "sub/c.h": text_of(["../main.c"]),
        "main.c": text_of(["a.h"]),
    }
    headers = Headers(files.get, files)
    assert headers.closure("main.c", Facts(includes=("a.h", "a.h"))) == ["a.h", "b.h", "sub/c.h"]
