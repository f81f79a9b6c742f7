"""`jc2r scan` and `jc2r config` as processes, over small projects and real compilers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from project import JC2R, jc2r, write

from jarvis_ls.jc2r.symbols.translation_order import components
from tests.support.patience import HANGS

SHAPES_H = """\
#ifndef SHAPES_H
#define SHAPES_H
#define SIDES 4
#define AREA(w, h) ((w) * (h))
typedef struct shape { int width, height; struct shape *next; } shape;
enum color { RED, GREEN };
typedef int (*measure)(const shape *);
extern int count;
int area(const shape *one);
int total(const shape *first, measure how);
#endif
"""

AREA_C = """\
#include "shapes.h"
#include <stddef.h>
static int calls;
int count = 3;
static int note(void) { return ++calls; }
int area(const shape *one) { note(); return AREA(one->width, one->height); }
measure chosen = area;
"""

TOTAL_C = """\
#include <string.h>
#include "shapes.h"
static int note(void) { return RED; }
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int total(const shape *first, measure how) {
    int sum = note() + even(count);
    for (; first != NULL; first = first->next) sum += how(first);
    return sum;
}
"""

MAIN_C = """\
#include <stdio.h>
#include "shapes.h"
int main(void) { shape one = {2, 3, 0}; printf("%d\\n", total(&one, area)); return 0; }
"""

OTHER_C = (
    '#include "shapes.h"\nint main(int argc, char **argv) { (void)argv; return argc + area(0); }\n'
)

USER = ["-c", "user.name=t", "-c", "user.email=t@example.com"]

PROJECT = {
    "shapes.h": SHAPES_H,
    "area.c": AREA_C,
    "total.c": TOTAL_C,
    "main.c": MAIN_C,
    "tools/other.c": OTHER_C,
}


def scan(folder: Path, *options: str, status: int = 0) -> dict[str, Any]:
    done = jc2r("scan", folder, "--format", "json", *options)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    text = (folder / ".jarvis" / "c2rust" / name).read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, PROJECT)
    return tmp_path


def test_symbols_have_what_the_seed_asks_and_no_two_are_one(project: Path) -> None:
    found = scan(project)
    assert found["symbols"] == {"function": 8, "global": 3, "macro": 3, "type": 4}
    records = lines(project, "symbols.jsonl")
    assert records == lines(project, "symbols_raw.jsonl")
    assert [one["id"] for one in records] == list(range(1, len(records) + 1))
    by_place = {(one["name"], one["file"]): one for one in records}
    assert by_place["main", "main.c"]["usr"] == by_place["main", "tools/other.c"]["usr"]
    assert by_place["main", "main.c"]["key"] != by_place["main", "tools/other.c"]["key"]
    assert by_place["note", "area.c"]["static"] and by_place["note", "total.c"]["static"]
    area = by_place["area", "area.c"]
    assert (area["category"], area["return_type"], area["language"]) == ("function", "int", "c")
    assert area["params"] == [{"name": "one", "type": "const shape *"}]
    assert (area["start_line"], area["end_line"]) == (6, 6)
    assert {"note", "shape"} <= set(area["ref"]) and "calls" not in area["ref"]
    total = by_place["total", "total.c"]
    assert total["indirect_calls"] == 1
    assert {
        records[n - 1]["file"] for n in total["ref_ids"] if records[n - 1]["name"] == "note"
    } == {"total.c"}
    assert by_place["chosen", "area.c"]["ref"] == ["area", "measure"]
    assert by_place["SIDES", "shapes.h"]["underlying_type"] == "4"
    assert [p["name"] for p in by_place["AREA", "shapes.h"]["params"]] == ["w", "h"]
    assert by_place["color", "shapes.h"]["kind"] == "enum"
    assert not any(one["file"].startswith(("/", "..")) for one in records)


def test_what_is_used_comes_first_and_circles_are_one_step(project: Path) -> None:
    found = scan(project)
    order = lines(project, "translation_order.jsonl")
    assert len(order) == found["steps"]
    place = {n: at for at, step in enumerate(order) for n in step["ids"]}
    for step in order:
        assert [item["id"] for item in step["items"]] == step["ids"]
        for item in step["items"]:
            assert all(place[n] <= place[item["id"]] for n in item["ref_ids"] if n in place)
    circles = [{item["name"] for item in step["items"]} for step in order if step["group"]]
    assert circles == [{"even", "odd"}]
    assert found["roots"] == ["main", "main"]
    assert "root functions: main (main.c), main (tools/other.c)\n" in jc2r("scan", project).stdout


def test_the_order_does_not_depend_on_the_run(project: Path) -> None:
    scan(project, "--jobs", "1")
    first = lines(project, "translation_order.jsonl")
    shutil.rmtree(project / ".jarvis")
    scan(project, "--jobs", "2")
    assert lines(project, "translation_order.jsonl") == first


def test_a_second_scan_reads_only_what_changed(project: Path) -> None:
    scan(project)
    again = jc2r("scan", project)
    assert "4 translation units" in again.stdout and "4 unchanged" in again.stdout
    write(project, {"total.c": TOTAL_C.replace("RED", "GREEN")})
    assert "3 unchanged" in jc2r("scan", project).stdout
    write(project, {"shapes.h": SHAPES_H.replace("GREEN }", "GREEN, BLUE }")})
    assert "unchanged" not in jc2r("scan", project).stdout


def is_worker(process: psutil.Process) -> bool:
    """Whether a process reads files; one that has just ended does not."""
    try:
        return "jarvis_ls.jc2r.symbols.worker" in process.cmdline()
    except psutil.NoSuchProcess:  # a zombie, too
        return False


def test_a_process_that_is_killed_costs_its_file_and_is_told_first(project: Path) -> None:
    long = ",".join(f"{{{n}, {n} + 1}}" for n in range(150_000))
    write(
        project,
        {
            "zoo.c": f"struct one {{ int a, b; }} all[] = {{{long}}};\n",
            "broken.c": "int broken(void) { return nowhere; }\n",
        },
    )
    with subprocess.Popen(
        [*JC2R, "scan", str(project), "--jobs", "1"],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.PIPE,
    ) as process:
        ends = time.monotonic() + HANGS
        while not (
            workers := [one for one in psutil.Process(process.pid).children() if is_worker(one)]
        ):
            assert process.poll() is None and time.monotonic() < ends
            time.sleep(0.01)
        workers[0].kill()
        out, said = process.communicate(timeout=HANGS)
    assert process.returncode == 1
    assert "not read" not in said and "nowhere" in said  # the file in hand is read again
    assert "6 translation units" in out and "written to" in out
    assert "not read" not in jc2r("scan", project).stderr


def test_without_a_compiler_its_headers_are_said_to_be_missing(tmp_path: Path) -> None:
    root, cargo = tmp_path / "p", shutil.which("cargo")
    write(root, {"a.c": '#include <stdio.h>\nint a(void) { return puts("a"); }\n'})
    nothing = tmp_path / "programs"
    nothing.mkdir()
    if cargo:
        (nothing / "cargo").symlink_to(cargo)
    said = jc2r("scan", root, PATH=str(nothing))
    assert "note: There is no C compiler (cc, gcc or clang) on the PATH" in said.stdout
    if cargo:
        said = jc2r("run", "--baseline", root, PATH=str(nothing))
        assert said.returncode == 2 and "Nothing was translated" in said.stderr
        assert "There is no C compiler" in said.stderr and not (tmp_path / "p_rs").exists()
    chinese = jc2r("scan", root, PATH=str(nothing), LANG="zh_CN.UTF-8", LC_ALL="")
    assert "没有 C 编译器" in chinese.stdout


def test_graphs(project: Path) -> None:
    scan(project)
    folder = project / ".jarvis" / "c2rust"
    dot = (folder / "references.dot").read_text()
    assert dot.startswith("digraph") and '"total.c"' in dot and " -> " in dot
    assert len(list((folder / "subgraphs").glob("main-*.dot"))) == 2
    assert (folder / "references.svg").read_text().startswith("<svg ")
    assert len(list((folder / "subgraphs").glob("main-*.svg"))) == 2
    png = folder / "references.png"
    assert png.is_file() == (shutil.which("dot") is not None)
    assert not png.is_file() or png.read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_graphviz_did_not_draw_is_not_that_of_an_earlier_scan(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scan(project)
    png = project / ".jarvis" / "c2rust" / "references.png"
    png.write_bytes(b"\x89PNG of what the project was once")
    dot = tmp_path_factory.mktemp("programs") / "dot"  # none of the project's own is run
    write(dot.parent, {"dot": "#!/bin/sh\necho out of ink >&2\nexit 1\n"})
    dot.chmod(0o755)
    done = jc2r("scan", project, PATH=f"{dot.parent}{os.pathsep}{os.environ['PATH']}")
    assert "references.dot: Graphviz failed: out of ink" in done.stdout
    assert not png.exists()


def test_arguments_of_a_compilation_database(project: Path) -> None:
    write(project, {"area.c": AREA_C.replace("count = 3", "count = FIRST")})
    assert "FIRST" in scan(project, status=1)["problems"][0]["text"]
    entries = [
        {
            "directory": str(project),
            "file": "area.c",
            "command": "gcc -Wall -O2 -DFIRST=5 -o area.o -c area.c",
        },
        {
            "directory": str(project / "tools"),
            "file": "other.c",
            "arguments": ["cc", "-I", "..", "-c", "other.c"],
        },
    ]
    write(project, {"compile_commands.json": json.dumps(entries)})
    found = scan(project)
    assert found["arguments_from"] == "compile_commands.json"
    assert found["units"] == ["area.c", "tools/other.c"]
    write(project, {"compile_commands.json": "[{]"})
    assert "cannot be used" in scan(project, status=1)["notes"][0]


MAKEFILE = """\
CFLAGS = -DFIRST=7
app: area.o total.o main.o
\tgcc -o app area.o total.o main.o
config.h:
\techo '#define MADE 1' | tr -d x > config.h
area.o: area.c config.h
"""


def test_a_recorded_make_tells_arguments_and_leaves_the_project_alone(project: Path) -> None:
    source = AREA_C.replace("count = 3", "count = FIRST + MADE").replace(
        "#include <stddef.h>", '#include "config.h"'
    )
    write(project, {"Makefile": MAKEFILE, "area.c": source})
    assert scan(project, status=1)["arguments_from"] == "every C file", "nothing is run unasked"
    before = sorted(p.name for p in project.iterdir())
    found = scan(project, "--build")
    assert found["arguments_from"] == "make"
    assert found["units"] == ["area.c", "main.c", "total.c"] and not found["problems"]
    assert sorted(p.name for p in project.iterdir()) == before


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_compiler_named_by_its_whole_path_is_recorded_too(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.c": "int main(void) { return ONE - 1; }\n",
            "Makefile": f"CC = {shutil.which('cc')}\na: a.o\n\t$(CC) -o a a.o\n"
            "a.o: a.c\n\t$(CC) -DONE=1 -c a.c\n",
        },
    )
    found = scan(tmp_path, "--build")
    assert (found["arguments_from"], found["problems"]) == ("make", [])


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_header_that_the_build_makes_below_a_named_folder_is_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "lib/a.c": "#include <own/sizes.h>\nint main(void) { return ONE - own; }\n",
            "include/own/sizes.h": "#include <own/made.h>\nenum { own = 1 };\n",
            "Makefile": "a: lib/a.c include/own/made.h\n\tcd lib && cc -I../include -o ../a a.c\n"
            "include/own/made.h:\n\techo '#define ONE 1' | tr -d x > $@\n",
        },
    )
    found = scan(tmp_path, "--build")
    assert (found["arguments_from"], found["problems"]) == ("make", [])


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_what_was_made_before_is_made_again(tmp_path: Path) -> None:
    """A project that its user has built already: `make` has nothing to do there."""
    write(
        tmp_path,
        {
            "one.c": "int one(void) { return ONE; }\n",
            "two.c": "int main(void) { return TWO; }\n",
            "Makefile": "all: two libone.a\nlibone.a: one.o\n\tar rc $@ one.o\n"
            "one.o: one.c\n\tcc -DONE=1 -c one.c\ntwo: two.c\n\tcc -DTWO=2 -o two two.c\n",
        },
    )
    subprocess.run(["make"], cwd=tmp_path, check=True, capture_output=True)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    found = scan(tmp_path, "--build")
    assert (found["arguments_from"], found["units"]) == ("make", ["one.c", "two.c"])
    assert not found["problems"]
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_what_is_shipped_without_its_source_is_not_taken_for_made(tmp_path: Path) -> None:
    """Archives of others, also with names that `ar` keeps apart, and single objects."""
    write(
        tmp_path,
        {
            "one.c": "int one(void) { return ONE; }\n",
            "Makefile": "all: libone.a libtheirs.a theirs.o\n\tcc -shared -o all.so theirs.o"
            " libone.a libtheirs.a\nlibone.a: one.o\n"
            "\tar rc $@ one.o\none.o: one.c\n\tcc -DONE=1 -fPIC -c one.c\n",
        },
    )
    away = tmp_path.parent / "theirs"
    write(away, dict.fromkeys(("theirs_is_of_a_long_name.c", "more.c"), "static int n;\n"))
    write(away, {"theirs.c": "int theirs(void) { return 2; }\n"})
    subprocess.run(["cc", "-fPIC", "-c", *map(str, away.glob("*.c"))], cwd=away, check=True)
    subprocess.run(
        ["ar", "rc", tmp_path / "libtheirs.a", "theirs_is_of_a_long_name.o", "more.o"],
        cwd=away,
        check=True,
    )
    shutil.copy(away / "theirs.o", tmp_path)
    subprocess.run(["make"], cwd=tmp_path, check=True, capture_output=True)
    done = jc2r("scan", "--no-graphs", "--build", tmp_path)
    assert "make failed" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "1 translation units from make" in done.stdout


def test_a_build_does_not_make_its_configure_again(tmp_path: Path) -> None:
    """A patch leaves `configure.ac` the newest, and who has the sources need not have automake."""
    write(
        tmp_path,
        {
            "configure": "sed s/WHAT/a.c/ Makefile.in > Makefile\n",
            "aclocal.m4": "",
            "Makefile.in": "all: Makefile.in\n\tcc -c WHAT\n"
            "Makefile.in: configure.ac aclocal.m4\n\tno-automake-here\n"
            "configure: configure.ac aclocal.m4\n\tno-autoconf-here\n"
            "aclocal.m4: configure.ac\n\tno-aclocal-here\n",
            "a.c": "int a(void) { return 1; }\n",
        },
    )
    for name in ("configure", "Makefile.in", "aclocal.m4"):
        os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))
    (tmp_path / "configure.ac").write_text("AC_INIT([shop], [1.4])\n")
    done = jc2r("scan", "--no-graphs", "--build", tmp_path)
    assert "make failed" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "1 translation units from make" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--path", "PROJECT", "true"),
        ("verify", "PROJECT"),
        ("lift", "PROJECT"),
    ],
)
def test_what_needs_a_translation_says_which_project_has_none(
    project: Path, words: tuple[str, ...]
) -> None:
    words = tuple(str(project) if one == "PROJECT" else one for one in words)
    done = jc2r(*words)
    assert done.returncode == 2 and f"no complete translation of {project};" in done.stderr
    done = jc2r(*words, LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1")
    assert f"{project} 没有完整的转译" in done.stderr


def test_a_file_that_is_compiled_in_several_ways_is_named(tmp_path: Path) -> None:
    """What an archive and a shared object are made of differs in `-DPIC` or so, and is one."""
    write(
        tmp_path,
        {
            "a.c": "int a(void) { return WIDE; }\n",
            "d.c": "int d(void) { return WIDE; }\n",
            "b.c": "int b(void) { return 1; }\n",
            "Makefile": "all:\n\tcc -DWIDE=1 -c a.c\n\tcc -DWIDE=2 -c a.c\n"
            "\tcc -DWIDE=1 -c d.c\n\tcc -DWIDE=2 -c d.c\n"
            "\tcc -c b.c -o 3.o\n\tcc -fPIC -DPIC -Db_EXPORTS -c b.c\n"
            "\tcc -DB_STATIC_DEFINE -c b.c\n",
        },
    )
    done = jc2r("scan", "--build", tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("note:")] == [
        "note: compiled in several configurations, which differ in -DWIDE=1 -DWIDE=2; what only"
        " one defines is translated from that one, what is linked into a program from the"
        " program's, the rest from the first: a.c, d.c"
    ]
    done = jc2r("scan", "--build", tmp_path, LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1")
    assert "5 个翻译单元，来自 make，其中 5 个未改变" in done.stdout
    assert (
        "注意：以多种配置编译，区别在于 -DWIDE=1 -DWIDE=2；"
        "只有一种配置才定义的内容按该配置转译，链接进程序的按该程序的配置转译，"
        "其余按第一种：a.c, d.c" in done.stdout
    )


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_runs_in_a_copy(project: Path) -> None:
    write(
        project,
        {
            "CMakeLists.txt": (
                "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n"
                "file(RENAME ${CMAKE_SOURCE_DIR}/area.c ${CMAKE_SOURCE_DIR}/moved.c)\n"
                "add_definitions(-DFIRST=1)\nadd_library(p total.c)\n"
            )
        },
    )
    found = scan(project, "--build")
    assert (found["arguments_from"], found["units"]) == ("cmake", ["total.c"])
    assert (project / "area.c").exists()


def test_broken_code_is_reported_and_the_rest_is_used(project: Path) -> None:
    write(
        project,
        {
            "bad.c": '#include "missing.h"\nint f( {\n',
            "empty.c": "",
            "old.c": "int add(a, b) int a; int b; { return a + b; }\n",
            "deep.c": "int x = " + "(" * 5000 + "1" + ")" * 5000 + ";\n",
        },
    )
    (project / "latin.c").write_bytes(b"/* caf\xe9 */ int latin(void) { return 1; }\n")
    found = scan(project, status=1)
    texts = {one["file"]: one["text"] for one in found["problems"]}
    assert "missing.h" in texts["bad.c"] and set(texts) <= {"bad.c", "deep.c"}
    names = {one["name"] for one in lines(project, "symbols.jsonl")}
    assert {"area", "add", "latin"} <= names


def test_cpp_is_scanned_and_named_in_full(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.cpp": (
                "namespace geo { class Box { public: int side(); private: int s; };\n"
                "int Box::side() { return s; } template <typename T> T twice(T t) { return t + "
                "t; } }\n"
                'extern "C" int c_side(geo::Box *b) { return b->side(); }\n'
            )
        },
    )
    scan(tmp_path)
    records = {one["qualified_name"]: one for one in lines(tmp_path, "symbols.jsonl")}
    assert {"geo::Box", "geo::twice", "c_side"} <= set(records)
    assert records["c_side"]["language"] == "c++"


def test_an_empty_folder_and_a_wrong_path(tmp_path: Path) -> None:
    for arguments, words in (
        ([tmp_path], "no C or C++ file"),
        ([tmp_path / "x"], "no such folder"),
    ):
        done = jc2r("scan", *arguments)
        assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("variable", ["CLANG_LIBRARY_FILE", "LIBCLANG_PATH", "LLVM_HOME"])
def test_a_library_that_is_not_there_is_named(project: Path, variable: str) -> None:
    done = jc2r("scan", project, **{variable: "/no/such/place"})
    assert done.returncode == 2 and variable in done.stderr and "Traceback" not in done.stderr


def test_a_library_that_is_none_is_refused(project: Path, tmp_path: Path) -> None:
    fake = tmp_path / "libclang.so"
    fake.write_text("not a library")
    done = jc2r("scan", project, CLANG_LIBRARY_FILE=str(fake))
    assert done.returncode == 2 and f"libclang at {fake} cannot be used" in done.stderr
    assert "Config." not in done.stderr  # advice for who writes Python


def test_a_wrong_library_is_told_when_all_is_known_from_before(
    project: Path, tmp_path: Path
) -> None:
    assert jc2r("scan", project).returncode == 0
    done = jc2r("scan", project, LIBCLANG_PATH=str(tmp_path))
    assert done.returncode == 2 and "LIBCLANG_PATH" in done.stderr
    fake = tmp_path / "libclang.so"
    fake.write_text("not a library")
    done = jc2r("scan", project, CLANG_LIBRARY_FILE=str(fake))
    assert done.returncode == 2 and f"libclang at {fake} cannot be used" in done.stderr


def test_config(project: Path) -> None:
    names = project / "names.txt"
    names.write_text("# chosen\nextra\n\nmain\n")
    done = jc2r(
        "config",
        "--path",
        project,
        "--files",
        project / "shapes.h",
        names,
        "--root-list-syms",
        "total, mine",
        "--disabled-libs",
        "libc,rand",
        "--additional-notes",
        "没有 panic",
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(jc2r("config", "--path", project, "--show").stdout)
    assert shown == {
        "root_symbols": ["area", "total", "extra", "mine"],
        "disabled_libraries": ["libc", "rand"],
        "additional_notes": "没有 panic",
    }
    assert scan(project)["roots"] == ["area", "total"]
    missing = jc2r(
        "config", "--path", project, "--files", project / "no.h", "--root-list-syms", "z"
    )
    assert missing.returncode == 1 and "no.h" in missing.stderr
    assert "z" in json.loads(jc2r("config", "--path", project, "--show").stdout)["root_symbols"]
    assert jc2r("config", "--path", project, "--clear").returncode == 0
    assert json.loads(jc2r("config", "--path", project, "--show").stdout)["root_symbols"] == []
    (project / ".jarvis" / "c2rust" / "config.json").write_text('{"root_symbols": 5}')
    broken = jc2r("config", "--path", project, "--show")
    assert broken.returncode == 2 and "root_symbols must be a list" in broken.stderr


def test_components_of_a_long_chain_and_a_large_circle() -> None:
    chain = [[n + 1] for n in range(50_000)] + [[]]
    assert [c[0] for c in components(chain)][:3] == [50_000, 49_999, 49_998]
    circle = [[(n + 1) % 20_000] for n in range(20_000)]
    assert components(circle) == [list(range(20_000))]


def test_makefiles_and_inclusions_say_how_files_are_compiled(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Makefile": "VERSION = 3\nDEFS =\nSYSTEM = `uname`\n"
            "CFLAGS = -O2 -D$(SYSTEM) -pedantic -D AS_WELL\n"
            "CFLAGS += -Wall -DVERSION=$(VERSION) -DNAME='\"a b\"'\n"
            "CFLAGS += $(shell ./asked -DNEVER)\nifeq ($(OS),other)\nCFLAGS += -DOTHER\n"
            "endif\nLDFLAGS = -DNOT_THIS\nall:\n\tCFLAGS=-DNOR_THIS make\n",
            "include/shop/item.h": "struct item { int price; };\n",
            "src/item.c": "#include <shop/item.h>\n"
            "#if defined(OTHER) || defined(NEVER) || !defined(AS_WELL)\n#error\n"
            "#endif\nint price(struct item *i) { return i->price + VERSION; }\n"
            "const char *name = NAME;\n",
        },
    )
    done = jc2r("scan", "--no-graphs", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 function" in done.stdout


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_a_build_that_fails_is_told_with_what_it_objects_to(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n"
            "add_library(p a.c gone.c)\n",
            "a.c": "int a(void) { return 1; }\n",
        },
    )
    done = jc2r("scan", "--build", "--no-graphs", tmp_path)
    assert done.returncode == 0, done.stderr
    note = next(line for line in done.stdout.splitlines() if line.startswith("note: cmake failed"))
    assert "CMakeLists.txt:3" in note and "gone.c" in note


def test_git_sees_only_what_the_user_made(project: Path) -> None:
    for command in (["init", "-q"], ["add", "-A"], [*USER, "commit", "-qm", "all"]):
        subprocess.run(["git", "-C", project, *command], check=True)
    assert jc2r("config", "--path", project, "--additional-notes", "x").returncode == 0
    scan(project)
    status = subprocess.run(
        ["git", "-C", project, "status", "--porcelain", "--untracked-files=all"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == "?? .jarvis/c2rust/config.json\n"
