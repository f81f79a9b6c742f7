"""Open documents: after any run of edits, text and findings equal those of a fresh scan."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.findings.merge_repeats import gather
from jarvis_ls.jsec.live.documents import LiveDocuments
from jarvis_ls.jsec.live.records import TextChange

ENGINE = Engine()
FREES = "void f{}(char *p) {{ free(p); free(p); }}\n"

C = """#include "own.h"
#define RUN system
struct item { char name[16]; struct item *next; };
static char title[8];
int twice(char *p) {
    free(p);
    if (p) { RUN(p); }
    free(p);
    return 0;
}
/* caf\u00e9 \u6f22\u5b57 \U0001f600 */
void copy(struct item *i, const char *s) { strcpy(i->name, s); sprintf(title, "%s", s); }
"""

RUST = """use std::mem;
// SAFETY: never null
unsafe impl Send for Own {}
pub fn first(v: &[u8]) -> u8 { unsafe { *v.get_unchecked(0) } }
#[cfg(test)]
mod tests {
    #[test]
    fn works() { super::first(&[1]); Some(1).unwrap(); }
}
fn take(p: *mut u8) -> u32 { let n = Some(2).unwrap(); unsafe { mem::transmute(*p as u32 + n) } }
"""

PIECES = [
    "free(p);",
    "{",
    "}",
    "(",
    ")",
    ";",
    "\n",
    "\r\n",
    "\r",
    "\f",
    "\u2028",
    "\x0b",
    "\x85",
    '"',
    "'",
    "/*",
    "*/",
    "//",
    "#if 0\n",
    "#endif\n",
    "#else\n",
    "#define RUN puts\n",
    "\U0001f600",
    "\u6f22",
    "int x = 0;",
    "char b[4];",
    "strcpy(b, s);",
    "unsafe {",
    "#[test]\n",
    'R"(',
    "\\",
    "void g(void) { system(0); }\n",
    "static",
    "if (p == NULL) return;",
    "x.unwrap()",
    "",
]


def lsp_position(text: str, index: int) -> tuple[int, int]:
    """Line and UTF-16 character of a string index, worked out without our own code."""
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n")
    return line, len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2


def between_cr_and_lf(text: str, index: int) -> bool:
    return 0 < index < len(text) and text[index - 1] == "\r" and text[index] == "\n"


@pytest.mark.parametrize(
    ("start", "path", "language"), [(C, "a.c", "c"), (C, "a.cpp", "cpp"), (RUST, "a.rs", "rust")]
)
@pytest.mark.parametrize("seed", range(4))
def test_edits_equal_a_fresh_scan(start: str, path: str, language: LanguageName, seed: int) -> None:
    chance = random.Random(seed)
    live = LiveDocuments(ENGINE)
    text = start
    live.set_flow("", False)
    live.open("u", "", path, language, text, 0)
    for version in range(1, 61):
        a = chance.randrange(len(text) + 1)
        b = min(len(text), a + chance.choice([0, 0, 0, 1, 3, 20]))
        while between_cr_and_lf(text, a):
            a -= 1
        while between_cr_and_lf(text, b):
            b += 1
        piece = chance.choice(PIECES)
        where = (*lsp_position(text, a), *lsp_position(text, b))
        text = text[:a] + piece + text[b:]
        live.change("u", version, [TextChange(piece, where)])
        assert live.text("u") == text
        if version % 3:
            continue
        fresh = ENGINE.analyse(Source(path, text.encode()), language)
        result = live.analyse("u")
        assert result.version == version
        while result.more:
            result = live.analyse("u")
        assert result.findings == gather(fresh.findings)
        assert result.functions == fresh.functions


def test_open_headers_win_over_disk(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define FREE puts\n")
    code = '#include "own.h"\nvoid f(char *p) { FREE(p); FREE(p); }\n'
    live = LiveDocuments(ENGINE)
    live.set_files(str(tmp_path), ["own.h", "a.c"])
    live.open("a", str(tmp_path), "a.c", "c", code, 1)
    rules = [f.rule for f in live.analyse("a").findings]
    assert "double-free" not in rules
    live.open("h", str(tmp_path), "own.h", "c", "#define FREE free\n", 1)
    assert "double-free" in [f.rule for f in live.analyse("a").findings]
    live.close("h")
    assert [f.rule for f in live.analyse("a").findings] == rules
    (tmp_path / "own.h").write_text("#define FREE free\n")
    live.file_changed(str(tmp_path), "own.h", True)
    assert "double-free" in [f.rule for f in live.analyse("a").findings]


def test_only_changed_items_are_looked_at_again() -> None:
    live = LiveDocuments(ENGINE)
    live.set_flow("", False)
    live.open("u", "", "a.c", "c", C, 1)
    first = live.analyse("u")
    document = live._documents["u"]
    before = {key: id(result) for key, result in document.cache.results.items()}
    line = C[: C.index("return 0;")].count("\n")
    live.change("u", 2, [TextChange("int y; ", (line, 4, line, 4))])
    assert len(live.analyse("u").findings) == len(first.findings)
    after = {key: id(result) for key, result in document.cache.results.items()}
    assert len(set(after.items()) - set(before.items())) == 1


def test_a_language_we_do_not_read_is_refused() -> None:
    live = LiveDocuments(ENGINE)
    assert not live.open("u", "", "a.py", "python", "x = 1", 1)
    assert live.open("v", "", "noname", "rust", "fn f() {}", 1)


@pytest.mark.parametrize(
    ("path", "damped"), [("src/a.rs", False), ("tests/a.rs", True), ("benches/x/a.rs", True)]
)
def test_rust_below_tests_weighs_less(path: str, damped: bool) -> None:
    code = "pub fn f(p: *const u8) -> u8 { unsafe { *p } }\n"
    findings = ENGINE.analyse(Source(path, code.encode()), "rust").findings
    inside = ENGINE.analyse(Source("src/a.rs", code.encode()), "rust").findings
    assert inside
    for here, there in zip(findings, inside, strict=True):
        assert (here.confidence < there.confidence * 0.8) is damped
    assert damped or here.confidence == there.confidence


def test_what_one_function_tests_counts_in_the_others_at_once() -> None:
    """Text for the standard output is told only in a file that looks at such results elsewhere."""
    live = LiveDocuments(ENGINE)
    live.set_flow("", False)
    plain = "#include <stdio.h>\nvoid f(int c) { putchar(c); }\nvoid g(int c) { putchar(c); }\n"
    tested = plain.replace("g(int c) { putchar(c);", "g(int c) { if (putchar(c) == EOF) f(1);")
    live.open("u", "", "a.c", "c", plain, 1)
    for text, found in [(plain, []), (tested, [("unchecked-write", 2)]), (plain, [])]:
        live.change("u", 2, [TextChange(text, None)])
        findings = live.analyse("u").findings
        assert [(one.rule, one.span.line) for one in findings] == found


def test_a_document_in_no_folder_is_a_program_by_itself() -> None:
    """Nothing says which other documents belong to it."""
    live = LiveDocuments(ENGINE)
    texts = {
        "whole": DROP + "void f(char *q) { drop(q); drop(q); }\n",
        "library": DROP,
        "user": "void drop(char *p);\nvoid g(char *q) { drop(q); drop(q); }\n",
    }
    for uri, text in texts.items():
        live.open(uri, "", f"/elsewhere/{uri}.c", "c", text, 1)
    found = {}
    for uri in texts:
        while (result := live.analyse(uri)).more:
            pass
        found[uri] = [one.rule for one in result.findings]
    assert found == {"whole": ["double-free"], "library": [], "user": []}


DROP = "#include <stdlib.h>\nvoid drop(char *p) { free(p); }\n"


def test_of_a_closed_document_nothing_is_kept():
    """A list for each name it had defined was; with them the memory around could not be freed."""
    live = LiveDocuments(ENGINE)
    open_and_close(live, 20)
    before = held()
    open_and_close(live, 60)
    assert held() - before < 20


def open_and_close(live: LiveDocuments, count: int) -> None:
    uris = [f"{count}_{number}.c" for number in range(count)]
    for uri in uris:
        live.open(uri, "/folder", uri, "c", f"int v{uri[:-2]};\n{FREES.format(uri[:-2])}", 1)
    for uri in uris:
        while live.analyse(uri).more:
            pass
    for uri in uris:
        live.close(uri)


def held() -> int:
    gc.collect()
    return len(gc.get_objects())
