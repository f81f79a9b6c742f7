"""Files that are compiled in several ways: each is translated, as far as it brings something."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from jarvis_ls.jc2r.translate.rust_locations import place_of

SUM = """#include "sum.h"
static int calls;
static T add(T a, T b) { calls++; return a + b; }
T NAME(sum)(const T *from, int n) { T s = 0; while (n--) s = add(s, *from++); return s; }
int NAME(calls)(void) { return calls; }
const char *NAME(place)(void) { return __FILE__; }
"""
TOOL = """#include <stdio.h>
#include "sum.h"
#ifdef LONG
#define NAME(x) l_##x
#define T long
#else
#define NAME(x) i_##x
#define T int
#endif
int main(void) {
    T all[] = {2000000000, 2000000000, 5};
    long sum = NAME(sum)(all + 1, 2);
    printf("%ld %d %d %s %s\\n", sum, NAME(calls)(), plain(), NAME(place)(), __FILE__);
    return NAME(calls)() + i_calls() * 8;
}
"""
HEADER = """#ifdef T
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define NAME(x) JOIN(P, x)
#endif
int i_sum(const int *, int); long l_sum(const long *, int); int i_calls(void); int l_calls(void);
int plain(void); const char *i_place(void), *l_place(void);
"""
PLAIN = '#include "sum.h"\nint plain(void) { return MODE; }\n'
WAYS = [
    ("sum.c", ["-DT=int", "-DP=i_"]),
    ("sum.c", ["-DT=long", "-DP=l_"]),
    ("plain.c", ["-DMODE=1"]),
    ("plain.c", ["-DMODE=2"]),
    ("tool.c", []),
    ("tool.c", ["-DLONG"]),
]
MAKEFILE = """all: tool ltool
OBJECTS = sum_i.o sum_l.o plain.o
tool: tool.o $(OBJECTS)
	$(CC) -o $@ tool.o $(OBJECTS)
ltool: tool_l.o $(OBJECTS) plain_2.o
	$(CC) -o $@ tool_l.o $(OBJECTS)
sum_i.o: sum.c sum.h
	$(CC) -DT=int -DP=i_ -c $< -o $@
sum_l.o: sum.c sum.h
	$(CC) -DT=long -DP=l_ -c sum.c -o $@
plain.o: plain.c
	$(CC) -DMODE=1 -c -o $@ plain.c
plain_2.o: plain.c
	$(CC) -DMODE=2 -c -o $@ plain.c
tool_l.o: tool.c
	$(CC) -DLONG -c -o $@ tool.c
tool.o: tool.c
	$(CC) -c -o $@ tool.c
"""


@needs_cargo
@pytest.mark.parametrize("told_by", ["compile_commands.json", "text", "make"])
def test_each_way_to_compile_a_file_is_translated(tmp_path: Path, told_by: str) -> None:
    root = tmp_path / "ways"
    write(root, {"sum.c": SUM, "sum.h": HEADER, "tool.c": TOOL, "plain.c": PLAIN})
    if told_by == "compile_commands.json":
        entries = [
            {"directory": str(root), "file": file, "arguments": ["cc", *words, "-c", file]}
            for file, words in WAYS
        ]
        write(root, {"compile_commands.json": json.dumps(entries)})
    else:
        write(root, {"Makefile": MAKEFILE})
    before = sorted(path.name for path in root.iterdir())
    for _ in range(2):  # the second time from what the first one kept
        done = jc2r("run", "--baseline", *(["--build"] if told_by == "make" else []), root)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "stays in C" not in done.stdout
        assert "not translated" not in done.stdout
    assert sorted(path.name for path in root.iterdir()) == sorted([".jarvis", *before])
    assert "compiled in several configurations, which differ in -DMODE=1 -DMODE=2;" in done.stdout

    crate = tmp_path / "ways_rs"
    programs = [crate / "target" / "release" / name for name in ("tool", "tool_2")]
    said = [
        subprocess.run([one], capture_output=True, text=True, timeout=60, check=False)
        for one in programs
    ]
    found = {(one.returncode, one.stdout) for one in said}
    assert found == {
        (2 + 2 * 8, "2000000005 2 1 sum.c tool.c\n"),
        (2, "2000000005 2 1 sum.c tool.c\n"),
    }
    sources = {path.stem for path in (crate / "src").glob("*.rs")}
    assert sources == {"lib", "types", "sys", "sum", "sum_2", "plain"}, "plain_2 brings nothing"
    places = [place_of(crate, "sum.c", name) for name in ("i_sum", "l_sum")]
    assert [one and one.path.name for one in places] == ["sum.rs", "sum_2.rs"]


POWER = """#include "power.h"
static int again(int one, int other);
int power(int one, int other) { return again(one, other); }
#ifdef FROM_RIGHT
static int again(int one, int other) { return other * 100 + one; }
#else
static int again(int one, int other) { while (--other > 0) one *= one; return one; }
#endif
"""
POWER_MAKE = """all: smoke smoke_right
smoke: test.c power.c use.o
\t$(CC) $(CFLAGS) -o $@ $^
smoke_right: test.c power.c use.o
\t$(CC) $(CFLAGS) -DFROM_RIGHT -o $@ $^
"""
POWER_CMAKE = """project(power C)
add_library(use use.c)
foreach(one left right)
  add_executable(smoke_${one} test.c power.c)
  target_link_libraries(smoke_${one} use)
endforeach()
target_compile_definitions(smoke_right PRIVATE FROM_RIGHT)
"""


@needs_cargo
@pytest.mark.parametrize("build", ["Makefile", "CMakeLists.txt"])
def test_a_program_is_linked_with_the_library_as_it_is_compiled_for_it(
    tmp_path: Path, build: str
) -> None:
    root = tmp_path / "powers"
    write(
        root,
        {
            "power.h": "int power(int, int); int used(int);\n",
            "power.c": POWER,
            "use.c": '#include "power.h"\nint used(int n) { return power(n, 2) + 1; }\n',
            "test.c": '#include <stdio.h>\n#include "power.h"\nint main(void) {\n#ifdef '
            "FROM_RIGHT\n"
            'printf("right ");\n#endif\nprintf("%d %d\\n", power(3, 2), used(4));\n'
            "return 0; }\n",
            build: POWER_MAKE if build == "Makefile" else POWER_CMAKE,
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "powers_rs" / "target" / "release"
    programs = sorted(one for one in built.glob("test_*") if one.suffix != ".d")
    said = [
        subprocess.run([one], capture_output=True, text=True, check=True).stdout for one in programs
    ]
    assert said == ["9 17\n", "right 203 205\n"]
