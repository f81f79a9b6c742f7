"""Tools that read: what they show, what they leave out, and how they say so."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from jarvis_ls.runtime.tools.permissions import Answer, PermissionRule
from tests.support.desk import Desk

CODE = """\
#include "util.h"

#define LIMIT 3

static int first(int a)
{
    return a + LIMIT;
}

int second(int b)
{
    /* first is called here */
    return first(b);
}
"""


async def read(desk: Desk, *files: dict[str, object]) -> str:
    return await desk.text("read_code", files=list(files))


async def test_files_are_read_with_line_numbers(desk: Desk) -> None:
    desk.put("a.c", CODE)
    said = await read(desk, {"path": "a.c"})
    assert said.startswith('a.c, 14 lines (material)\n 1: #include "util.h"\n 2: \n')
    assert said.endswith("14: }")


async def test_ranges_are_merged_and_say_what_they_are_inside(desk: Desk) -> None:
    desk.put("a.c", CODE)
    said = await read(
        desk,
        {"path": "a.c", "start_line": 12, "end_line": 13},
        {"path": "./a.c", "start_line": 6, "end_line": 7},
        {"path": "a.c", "start_line": 7, "end_line": 8},
    )
    assert said.count("a.c, 14 lines") == 1
    assert "lines 6-8, inside function `static int first(int a)` (lines 5-8):" in said
    assert "lines 12-13, inside function `int second(int b)` (lines 10-14):" in said
    assert said.index("lines 6-8") < said.index("lines 12-13")


async def test_lines_count_from_the_end_too(desk: Desk) -> None:
    desk.put("a.txt", "one\ntwo\nthree\n")
    said = await read(desk, {"path": "a.txt", "start_line": -2})
    assert "2: two" in said and "3: three" in said and "one" not in said


async def test_ranges_that_do_not_exist_are_said(desk: Desk) -> None:
    desk.put("a.txt", "one\n")
    said = await read(desk, {"path": "a.txt", "start_line": 5, "end_line": 9}, {"path": "a.txt"})
    assert "There are no lines 5 to 9." in said and "1: one" in said


async def test_what_does_not_fit_is_named(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"line number {n}\n" for n in range(1, 101)))
    desk.put("b.txt", "other\n")
    desk.offer(budget_tokens=100)
    said = await read(desk, {"path": "a.txt"}, {"path": "b.txt"})
    shown = said.count("line number")
    assert 0 < shown < 100
    assert f"lines {shown + 1}-100 of a.txt not shown" in said
    desk.offer(budget_tokens=lambda: 100_000)
    assert (await read(desk, {"path": "a.txt"})).count("line number") == 100


async def test_a_result_is_never_cut_in_the_middle(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"{n:060}\n" for n in range(5000)))
    desk.offer(budget_tokens=10**9)
    said = await read(desk, {"path": "a.txt"})
    assert "left out" not in said and "of a.txt not shown" in said and len(said) < 60_000


async def test_one_bad_file_does_not_hide_the_others(desk: Desk) -> None:
    desk.put("a.txt", "text\n")
    desk.put("b.bin", b"\x7fELF\0\0\0")
    said = await read(desk, {"path": "none.txt"}, {"path": "a.txt"}, {"path": "b.bin"})
    assert (
        "no file none.txt" in said
        and "1: text" in said
        and "ELF program or library, 7 bytes" in said
    )
    assert (await desk.run("read_code", files=[{"path": "none.txt"}])).is_error


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("naïve\n".encode("latin-1"), "not UTF-8, read as ISO 8859-1"),
        ("naïve\n".encode("utf-16"), "UTF-16-LE"),
        (b"\xef\xbb\xbfna\xc3\xafve\n", "byte order mark"),
        (b"na\xc3\xafve\r\n", "CRLF line ends"),
        (b"na\xc3\xafve\r\n\n", "mixed line ends"),
    ],
)
async def test_unusual_text_is_read_and_said(desk: Desk, data: bytes, said: str) -> None:
    desk.put("a.txt", data)
    result = await read(desk, {"path": "a.txt"})
    assert said in result and "1: naïve" in result


async def test_long_lines_and_empty_files(desk: Desk) -> None:
    desk.put("long.txt", "x" * 50_000)
    assert "48000 more characters" in await read(desk, {"path": "long.txt"})
    desk.put("empty.txt", "")
    assert "empty" in await read(desk, {"path": "empty.txt"})


async def test_too_large_a_file_is_refused(desk: Desk) -> None:
    with (desk.root / "huge.txt").open("wb") as file:
        file.truncate(30_000_000)
    assert "larger than the size limit" in await desk.refused(
        "read_code", files=[{"path": "huge.txt"}]
    )


async def test_unsaved_text_of_the_editor_wins(desk: Desk) -> None:
    file = desk.put("a.txt", "saved\n").resolve()
    desk.offer(buffers={file: "unsaved\n"}.get)
    said = await read(desk, {"path": "a.txt"})
    assert "unsaved text of the editor" in said and "1: unsaved" in said


async def test_a_hunk_is_read_with_lines_around(desk: Desk) -> None:
    desk.put("a.c", CODE)
    said = await desk.text("read_file_hunk", file_path="a.c", start_line=6, end_line=6, around=1)
    assert said.splitlines() == [
        "a.c, lines 5-7 of 14",
        "5: static int first(int a)",
        "6: {",
        "7:     return a + LIMIT;",
    ]
    assert "only 14 lines" in await desk.refused(
        "read_file_hunk", file_path="a.c", start_line=99, end_line=100
    )
    assert (await desk.run("read_file_hunk", file_path="a.c", start_line=0, end_line=1)).is_error


async def test_what_a_file_is(desk: Desk) -> None:
    desk.put("tests/test_a.c", CODE)
    said = await desk.text("read_file_info", file_path="tests/test_a.c")
    assert "language: C" in said and "lines: 14" in said and "test: yes" in said
    desk.put("Cargo.toml", "[package]\n")
    said = await desk.text("read_file_info", file_path="Cargo.toml")
    assert "settings: yes" in said and "test: no" in said and "TOML" in said
    desk.put("x.o", b"\x7fELF\0")
    assert "ELF" in await desk.text("read_file_info", file_path="x.o")
    os.mkfifo(desk.root / "pipe")
    assert "named pipe" in await desk.text("read_file_info", file_path="pipe")
    assert "folder with 1 entries" in await desk.text("read_file_info", file_path="tests")
    assert "No such file" in await desk.refused("read_file_info", file_path="no.c")


def project(desk: Desk) -> None:
    desk.put(".gitignore", "*.o\n/build/\n")
    desk.put("src/a.c", CODE)
    desk.put("src/util.h", "int second(int b);\n")
    desk.put("src/x.o", "binary first\n")
    desk.put("build/gen.c", "int first;\n")
    desk.put(".git/config", "first\n")
    desk.put(".jarvis/notes", "first\n")
    desk.put("src/b.rs", "fn main() { first(); }\n")
    desk.put("notes.py", "first = 1\nprint(first)\n")
    (desk.root / "link.c").symlink_to("src/a.c")


async def test_files_are_listed_without_what_git_ignores(desk: Desk) -> None:
    project(desk)
    said = await desk.text("list_project_files")
    names = [line.split(" ")[0] for line in said.splitlines()]
    assert names == [".gitignore", "notes.py", "src/a.c", "src/b.rs", "src/util.h"]
    assert f"src/a.c ({len(CODE)})" in said
    said = await desk.text("list_project_files", path="src", pattern="*.c, *.h")
    assert [line.split(" ")[0] for line in said.splitlines()] == ["src/a.c", "src/util.h"]
    assert "build/gen.c" in await desk.text("list_project_files", ignored=True)
    said = await desk.text("list_project_files", max_files=2)
    assert "3 of 5 files are not listed" in said and "src/: 3" in said
    assert "is no folder" in await desk.refused("list_project_files", path="src/a.c")
    assert "no such files" in await desk.text("list_project_files", pattern="*.java")


@pytest.fixture(params=["ripgrep", "ours"])
def searching(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "ours":
        monkeypatch.setenv("PATH", "")
    elif shutil.which("rg") is None:
        pytest.skip("no ripgrep here")
    return str(request.param)


async def test_both_searches_find_the_same(desk: Desk, searching: str) -> None:
    project(desk)
    said = await desk.text("search_in_project", query="first")
    assert said == (
        "notes.py:\n     1: first = 1\n     2: print(first)\n"
        "src/a.c:\n     5: static int first(int a)\n    12:     /* first is called here */\n"
        "    13:     return first(b);\nsrc/b.rs:\n     1: fn main() { first(); }\n"
        "6 lines in 3 files."
    )
    said = await desk.text("search_in_project", query="FIRST(", ignore_case=True, pattern="*.c")
    assert "5: static" in said and "2 lines in 1 files" in said
    said = await desk.text("search_in_project", query=r"^static .*\(int \w\)", regex=True, around=1)
    assert "     4- \n     5: static int first(int a)\n     6- {" in said
    assert "Nothing matches" in await desk.text("search_in_project", query="irst(", whole_word=True)
    assert (
        await desk.text("search_in_project", query="f.rst") == "Nothing matches in the workspace."
    )
    said = await desk.text("search_in_project", query="first", path="src/b.rs")
    assert said.startswith("src/b.rs:\n")
    said = await desk.text("search_in_project", query="first", max_matches=2)
    assert "2 lines in 1 files. There are more, the next in src/a.c: search with skip 2." in said
    said = await desk.text("search_in_project", query="first", max_matches=2, skip=4)
    assert "13: " in said and "notes" not in said and "2 lines in 2 files." in said
    said = await desk.text("search_in_project", query="first", files_only=True)
    assert said == "notes.py: 2\nsrc/a.c: 3\nsrc/b.rs: 1\n6 lines in 3 files."
    assert "gen.c" not in await desk.text("search_in_project", query="first", pattern="*.c,*.o")
    desk.put("-e.txt", "--option\n")
    assert "-e.txt" in await desk.text("search_in_project", query="--option")


async def test_what_the_product_keeps_is_searched_when_it_is_asked_for(
    desk: Desk, searching: str
) -> None:
    desk.put(".jarvis/.gitignore", "*\n")
    desk.put(".jarvis/sec/report.md", "needle\n")
    assert "Nothing matches" in await desk.text("search_in_project", query="needle")
    said = await desk.text("search_in_project", query="needle", path=".jarvis/sec")
    assert ".jarvis/sec/report.md:" in said


async def test_one_file_is_taken_for_a_list_of_one(desk: Desk) -> None:
    desk.put("a.c", "int x;\n")
    for files in ("a.c", {"path": "a.c"}, ["a.c"], '[{"path": "a.c"}]'):
        assert "int x;" in await desk.text("read_code", files=files)
    assert "int x;" in await desk.text("read_file_hunk", file_path="a.c", start_line=1, end_line=1)
    assert "files" in await desk.refused("read_code", files=3)


async def test_odd_text_is_searched(desk: Desk, searching: str) -> None:
    desk.put("utf16.txt", "needle here\n".encode("utf-16"))
    desk.put("long.txt", "needle" + "x" * 10_000 + "\n")
    desk.put("bin.dat", b"\0needle")
    desk.put("esc.txt", "needle \x1b[2J\u202e\n")
    said = await desk.text("search_in_project", query="needle")
    assert "utf16.txt" in said and "bin.dat" not in said and len(said) < 1_000
    assert "<U+001B>" in said and "<U+202E>" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": "(", "regex": True}, "is not a regular expression"),
        ({"query": "(?=x)", "regex": True}, "is not a regular expression"),
        ({"query": ""}, "within one line"),
        ({"query": "a\nb"}, "within one line"),
        ({"query": "x", "path": "nowhere"}, "does not exist"),
        ({"query": "x", "path": "../.."}, "Not allowed"),
        ({"query": "x", "pattern": "x" * 2000}, "longer than"),
    ],
)
async def test_wrong_searches_are_said(desk: Desk, arguments: dict[str, object], said: str) -> None:
    assert said in await desk.refused("search_in_project", **arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_in_project", {"query": "no such thing"}),
        ("read_symbols", {"names": ["g"]}),
        ("get_dependencies", {"path": "f0.c"}),
    ],
)
async def test_a_search_that_is_stopped_ends_soon(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, object]
) -> None:
    monkeypatch.setenv("PATH", "")
    for n in range(200):
        desk.put(f"f{n}.c", '#include "f0.c"\nint f(void) { return g(); }\n')
    await desk.text("echo", text="load the tools")
    place = "symbol_places" if name == "read_symbols" else name
    module = importlib.import_module(f"jarvis_ls.tools.{place}")
    begun = threading.Event()
    read: list[object] = []
    real = module.contents

    def slow(listed: object, *more: object) -> object:
        read.append(listed)
        begun.set()
        time.sleep(0.01)
        return real(listed, *more)

    monkeypatch.setattr(module, "contents", slow)
    task = asyncio.ensure_future(desk.run(name, **arguments))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.get_running_loop().shutdown_default_executor()  # waits for its threads
    assert 0 < len(read) < 200


async def test_a_program_in_the_workspace_is_not_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = desk.root / "canary"
    fake = desk.put("bin/rg", f"#!/bin/sh\ntouch {canary}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    desk.put("a.txt", "needle\n")
    assert "a.txt" in await desk.text("search_in_project", query="needle")
    assert not canary.exists()


async def test_symbols_are_found_in_code(desk: Desk) -> None:
    project(desk)
    said = await desk.text("read_symbols", names=["first", "LIMIT", "nothing"])
    first, limit, nothing = said.split("\n\n")
    assert "function src/a.c:5-8  static int first(int a)" in first
    assert "call in second src/a.c:13" in first and "call in main src/b.rs:1" in first
    assert "1 times in comments and texts" in first
    assert "as a word in files not read as code: notes.py (2)" in first
    assert "macro src/a.c:3-3  #define LIMIT 3" in limit and "use in first src/a.c:7" in limit
    assert "no definition" in nothing and "not used" in nothing
    said = await desk.text("read_symbols", names=["second"], what="definitions")
    assert said.index("function src/a.c") < said.index("declaration src/util.h")


async def test_definitions_come_with_their_text(desk: Desk) -> None:
    project(desk)
    said = await desk.text("definition", names=["first", "nothing"])
    assert "function src/a.c:5-8\n5: static int first(int a)\n6: {" in said
    assert "nothing: no definition" in said
    assert "declaration src/util.h" in await desk.text("definition", names=["second"])
    desk.offer(
        buffers=lambda path: "int fresh(void) { return 1; }\n" if path.name == "a.c" else None
    )
    assert "1: int fresh" in await desk.text("definition", names=["fresh"])  # not on disk


async def test_what_a_function_calls_is_named_with_its_lines(desk: Desk) -> None:
    desk.put("a.c", "int low(int x);\nint mid(void) {\n    return low(1) +\n        low(2);\n}\n")
    desk.put("b.rs", "fn top() {\n    run(|| go::there(1));\n    print!(1);\n}\n")
    assert await desk.text("callees", function="mid") == "mid calls low: a.c:3, 4"
    said = (await desk.text("callees", function="top")).splitlines()
    assert said[:2] == ["top calls run: b.rs:2", "top calls there: b.rs:2"]
    assert await desk.text("callees", function="low") == "low calls nothing."
    assert await desk.text("callees", function="none") == "none is not defined here."


async def test_callers_are_followed_upwards(desk: Desk) -> None:
    desk.put("a.c", "int low(int x) { return x; }\nint mid(void) { return low(1) + low(2); }\n")
    desk.put("b.c", "int mid(void);\nint top(void) { return mid(); }\n")
    assert await desk.text("callers", function="low") == "mid calls low: a.c:2"
    said = await desk.text("callers", function="low", depth=2)
    assert said.splitlines()[1:] == ["  top calls mid: b.c:2"]
    assert await desk.text("callers", function="top") == "Nothing calls top here."
    assert "call in top b.c:2" in await desk.text("references", names=["mid"])


async def test_a_name_used_everywhere_is_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("jarvis_ls.tools.symbol_places")
    monkeypatch.setattr(module, "MAX_DETAILED", 3)
    for n in range(4):
        desk.put(f"f{n}.c", "void f(void) { go(); go(); }\n")
    said = await desk.text("read_symbols", names=["go"], max_references=2)
    assert said.count("call in f") == 2 and "2 more references" in said
    assert "and 4 more places" in said


async def test_qualified_names_are_told_apart(desk: Desk) -> None:
    desk.put(
        "a.cpp", "class A { int get(); };\nclass B { int get(); };\nint A::get() { return 1; }\n"
    )
    desk.put("a.rs", "struct A;\nimpl A { fn get(&self) {} }\nimpl B { fn get(&self) {} }\n")
    said = await desk.text("read_symbols", names=["A::get"], what="definitions")
    assert "a.cpp:3-3" in said and "declaration in A a.cpp:1-1" in said and "in A a.rs:2-2" in said
    assert "a.cpp:2" not in said and "a.rs:3" not in said


@pytest.mark.parametrize("names", [[], ["a b"], ["1x"], ["x;"], ["a"] * 21])
async def test_wrong_names_are_said(desk: Desk, names: list[str]) -> None:
    assert (await desk.run("read_symbols", names=names)).is_error


async def test_files_that_depend_on_files(desk: Desk) -> None:
    desk.put("include/net/util.h", "")
    desk.put("src/util.h", "")
    desk.put(
        "src/a.c",
        '#include "util.h"\n#include <net/util.h>\n#include <stdio.h>\n// #include "b.h"\n',
    )
    desk.put("src/b.c", '/* */ #include "../include/net/util.h"\n#include "net/util.h"\n')
    said = await desk.text("get_dependencies", path="src/a.c")
    assert "line 1: util.h -> src/util.h" in said
    assert "line 2: net/util.h -> include/net/util.h" in said
    assert "line 3: stdio.h -> not in the project" in said and "b.h" not in said
    said = await desk.text("get_dependencies", path="include/net/util.h")
    assert "src/a.c:2" in said and "src/b.c:" in said
    said = await desk.text("get_dependencies", path="src/util.h")
    assert "src/a.c:1" in said and "src/b.c" not in said


async def test_dependencies_in_other_languages(desk: Desk) -> None:
    desk.put("src/lib.rs", "mod parse;\npub mod net;\n")
    desk.put("src/parse.rs", "use crate::net::{Socket, udp::Packet};\n")
    desk.put("src/net/mod.rs", "pub mod udp;\nuse super::parse;\n")
    desk.put("src/net/udp.rs", "use std::io;\n")
    said = await desk.text("get_dependencies", path="src/net/udp.rs")
    assert "std::io -> not in the project" in said
    assert "src/net/mod.rs:1" in said and "src/parse.rs:1" in said
    said = await desk.text("get_dependencies", path="src/parse.rs")
    assert "src/lib.rs:1" in said and "src/net/mod.rs:2" in said
    desk.put("pkg/__init__.py", "from .views import x\n")
    desk.put("pkg/views.py", "import os\nfrom pkg import y\n")
    assert "pkg/__init__.py:1" in await desk.text("get_dependencies", path="pkg/views.py")
    desk.put("web/a.ts", "import { b } from './b.js';\nconst c = require('../c');\n")
    desk.put("web/b.ts", "")
    desk.put("c/index.js", "")
    said = await desk.text("get_dependencies", path="web/a.ts")
    assert "./b.js -> web/b.ts" in said and "../c -> c/index.js" in said


async def test_languages_that_are_not_known_are_said(desk: Desk) -> None:
    desk.put("a.cob", "x")
    assert "are known for C, C++" in await desk.refused("get_dependencies", path="a.cob")
    assert "does not exist" in await desk.refused("get_dependencies", path="b.c")


async def test_libraries_of_a_project(desk: Desk) -> None:
    desk.put(
        "Cargo.toml",
        '[dependencies]\nserde = "1"\nlibc = { version = "0.2" }\n'
        '[dev-dependencies]\nproptest = "1"\n',
    )
    desk.put("web/package.json", '{"dependencies": {"a": "^1"}, "devDependencies": {"b": "2"}}')
    desk.put("requirements-dev.txt", "# x\nrequests==2 # y\n-r other.txt\n")
    desk.put("pyproject.toml", '[project]\ndependencies = ["attrs>=2"]\n')
    desk.put("CMakeLists.txt", "find_package(OpenSSL REQUIRED)\n")
    desk.put("go.mod", "module x\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n")
    desk.put("vcpkg.json", '{"dependencies": ["zlib", {"name": "curl"}]}')
    desk.put("broken/Cargo.toml", "[")
    desk.put("odd/package.json", "[]")
    said = await desk.text("get_dependencies")
    assert "serde 1, libc 0.2, proptest 1 (dev)" in said and "a ^1, b 2 (dev)" in said
    assert "requests==2" in said and "attrs>=2" in said and "OpenSSL" in said
    assert "github.com/a/b v1.2.3" in said and "zlib, curl" in said
    assert "broken/Cargo.toml: not parsed" in said and "odd/package.json: not parsed" in said
    (desk.root / "empty").mkdir()
    assert "No build file" in await desk.text("get_dependencies", path="empty")


async def test_rules_hold_for_files_that_are_found_by_looking_through_folders(desk: Desk) -> None:
    desk.rules = [PermissionRule("deny", "*", "read", "*.env")]
    desk.workspace_rules = [PermissionRule("ask", "*", "*", "secrets/*")]
    desk.put("secrets/key.c", "int needle;\n")
    desk.put("prod.env", "needle=1\n")
    desk.put("a.c", '#include "secrets/key.c"\nint needle;\n')
    for name, arguments in [
        ("search_in_project", {"query": "needle"}),
        ("search_in_project", {"query": "needle", "path": "secrets"}),
        ("read_symbols", {"names": ["needle"]}),
        ("list_project_files", {"ignored": True}),
        ("get_dependencies", {"path": "a.c"}),
    ]:
        said = await desk.text(name, **arguments)
        assert "prod.env" not in said and "secrets/key.c:" not in said and "key.c (" not in said
    assert (await desk.run("read_code", files=[{"path": "prod.env"}])).is_error
    desk.user.permits = Answer(True)  # named, it is asked for
    assert "needle" in await read(desk, {"path": "secrets/key.c"})
    assert "needle" in await desk.text("search_in_project", query="needle", path="secrets/key.c")


async def test_a_rule_that_asks_for_everything_hides_nothing_after_consent(desk: Desk) -> None:
    desk.rules = [PermissionRule("ask")]
    desk.put("a.c", "int needle;\n")
    assert "Not allowed" in await desk.refused("search_in_project", query="needle")
    desk.user.permits = Answer(True)
    assert "a.c:" in await desk.text("search_in_project", query="needle")


async def test_a_name_cannot_pass_for_another_line(desk: Desk) -> None:
    desk.put("a\nb.c (1)", "x\n")
    said = await desk.text("list_project_files")
    assert said == "a<U+000A>b.c (1) (2)"


async def test_what_the_user_allows_outside_is_read_and_nothing_else(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.txt").write_text("needle\n")
    (tmp_path / "b.txt").write_text("secret\n")
    file = {"path": "../shared/a.txt"}
    assert "Not allowed" in await desk.refused("read_code", files=[file])
    desk.user.permits = Answer(True)
    assert "1: needle" in await read(desk, file)
    assert [a.target for a in desk.user.asked[-1].actions] == ["../shared/a.txt"]
    said = await desk.text("search_in_project", query="e", path=str(tmp_path / "shared"))
    assert "needle" in said and "secret" not in said
    (tmp_path / "shared" / "link.txt").symlink_to(tmp_path / "b.txt")
    desk.user.permits = Answer(False)
    assert (await desk.run("read_code", files=[{"path": "../shared/link.txt"}])).is_error


async def test_files_of_a_second_folder_have_its_name_before_them(
    desk: Desk, tmp_path: Path
) -> None:
    from dataclasses import replace

    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "b.c").write_text("int needle;\n")
    desk.context = replace(desk.context, roots=(*desk.context.roots, other))
    (other / "a.c").write_text('#include "a.h"\n')
    (other / "a.h").write_text("")
    for path in (str(other), "other", "other/"):
        said = await desk.text("list_project_files", path=path)
        assert said == "other/a.c (15)\nother/a.h (0)\nother/b.c (12)"
        assert "other/b.c:\n" in await desk.text("search_in_project", query="needle", path=path)
    assert "other/b.c:1" in await desk.text("read_symbols", names=["needle"], path="other")
    assert "-> other/a.h" in await desk.text("get_dependencies", path="other/a.c")
    for path in (f"{other}/b.c", "other/b.c"):
        assert "other/b.c, 1 lines" in await read(desk, {"path": path})


async def test_a_folder_whose_name_the_first_uses_is_named_by_its_place(
    desk: Desk, tmp_path: Path
) -> None:
    from dataclasses import replace

    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "b.c").write_text("theirs\n")
    desk.put("other/b.c", "ours\n")
    desk.context = replace(desk.context, roots=(*desk.context.roots, other))
    assert "ours" in await read(desk, {"path": "other/b.c"})
    assert "theirs" in await read(desk, {"path": f"{other}/b.c"})
    assert f"{other}/b.c:\n" in await desk.text(
        "search_in_project", query="theirs", path=str(other)
    )
    twin = (tmp_path / "elsewhere" / "twin").resolve()
    desk.context = replace(desk.context, roots=(desk.context.roots[0], tmp_path / "twin", twin))
    twin.mkdir(parents=True)
    (twin / "c.c").write_text("one of two\n")
    assert (await desk.run("read_code", files=[{"path": "twin/c.c"}])).is_error
    assert f"{twin}/c.c, 1 lines" in await read(desk, {"path": f"{twin}/c.c"})
