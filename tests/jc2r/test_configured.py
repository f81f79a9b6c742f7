"""Projects whose `configure` has not been run, or is not there yet."""

from __future__ import annotations

import json
import platform
import shutil
import sys
from pathlib import Path

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from jarvis_ls.jc2r.build import meson
from jarvis_ls.jc2r.build.cmake import interpreter
from jarvis_ls.jc2r.run.overview import read_overview

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


ASKING = """
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include <stdio.h>
#ifdef HAVE_SYS_TIME_H
void time_there(void) { puts(PACKAGE_STRING); }
#endif
#ifdef HAVE_STRDUP
void strdup_there(void) { puts(VERSION); }
#endif
#ifdef HAVE_STRDUP_OF_NOBODY
void nobody_there(void) {}
#endif
#if defined LIMIT && LIMIT == 7
void limit_there(void) {}
#endif
"""


SCRIPT = "AC_INIT([shop], [1.4], [bugs@example.org])\nAC_DEFINE([LIMIT], [7], [most])\n"


def functions(root: Path) -> list[str]:
    done = jc2r("scan", "--no-graphs", root)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return sorted(one["name"] for one in records if one.get("category") == "function")


@needs_compiler
@pytest.mark.parametrize(
    "files",
    [
        {"configure.ac": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n"},
        {"configure.ac": SCRIPT},
        {
            "configure.in": "AC_INIT(a.c)\nAM_INIT_AUTOMAKE(shop, 1.4)\n"
            "AM_CONFIG_HEADER(config.h)\n",
            "config.h.in": "#undef HAVE_STRDUP\n#undef HAVE_STRDUP_OF_NOBODY\n#undef "
            "HAVE_SYS_TIME_H\n"
            "#undef PACKAGE_STRING\n#undef VERSION\n#define LIMIT 7\n",
        },
        {
            "set-up/configure.in": "AC_INIT(a.c)\n"
            "AC_CONFIG_HEADER(include/config.h:set-up/header.in)\n",
            "set-up/header.in": "#undef HAVE_STRDUP\n#undef HAVE_SYS_TIME_H\n#define LIMIT 7\n"
            '#define PACKAGE_STRING "shop"\n#define VERSION "1"\n',
        },
        {
            "CMakeLists.txt": "project(shop)\n",
            "config.h.in": "#cmakedefine HAVE_STRDUP\n#cmakedefine HAVE_SYS_TIME_H 1\n"
            "#cmakedefine HAVE_STRDUP_OF_NOBODY\n#define LIMIT 7\n"
            '#define PACKAGE_STRING "@PROJECT_NAME@"\n#define VERSION "${VERSION}"\n',
        },
    ],
)
def test_headers_of_a_set_up_that_was_not_run_are_guessed(
    tmp_path: Path, files: dict[str, str]
) -> None:
    root = tmp_path / "shop"
    write(root, {"a.c": ASKING, **files})
    assert functions(root) == ["limit_there", "strdup_there", "time_there"]
    there = {name.partition("/")[0] for name in files}
    assert {path.name for path in root.iterdir()} == {".jarvis", "a.c", *there}


@needs_compiler
def test_a_header_of_a_set_up_is_found_from_the_folder_of_a_source(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.in": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n",
            "configure": "",
            "config.h.in": "#undef HAVE_STRDUP\n",
            "src/a.c": "#include <../config.h>\n"
            "#ifdef HAVE_STRDUP\nint seen(void) { return 1; }\n#endif\n",
        },
    )
    assert functions(root) == ["seen"]


@needs_compiler
def test_types_and_members_that_a_set_up_asks_for_are_there_or_not(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    there = [
        "STRUCT_TIMEVAL",
        "STRUCT_STAT_ST_BLKSIZE",
        "STRUCT_SOCKADDR_STORAGE_SS_FAMILY",
        "SA_FAMILY_T",
        "TM_GMTOFF",
        "ST_BLOCKS",
    ]
    not_there = ["STRUCT_NOBODY", "STRUCT_STAT_NOTHING", "NOBODY_T", "TM_NOTHING"]
    asked = [f"HAVE_{one}" for one in [*there, *not_there]]
    write(
        root,
        {
            "configure.ac": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n",
            "config.h.in": "".join(f"#undef {one}\n" for one in asked),
            "a.c": '#include "config.h"\n'
            + "".join(
                f"#ifdef {one}\nint {one.lower()}(void) {{ return 0; }}\n#endif\n" for one in asked
            ),
        },
    )
    assert functions(root) == sorted(f"have_{one.lower()}" for one in there)


@needs_compiler
def test_a_header_that_is_there_is_not_guessed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.ac": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n",
            "config.h": "#define HAVE_STRDUP 1\n#define VERSION 0\n",
            "a.c": '#include "config.h"\n#ifdef HAVE_STRDUP\nint seen(void) { return 1; }'
            "\n#endif\n",
        },
    )
    assert functions(root) == ["seen"]


@needs_compiler
def test_what_users_change_in_a_copy_is_taken_as_it_is_shipped(tmp_path: Path) -> None:
    root = tmp_path / "menu"
    write(
        root,
        {
            "src/config.def.h": "#define MOST 5\n",
            "src/a.c": '#include "config.h"\nint most(void) { return MOST; }\n',
            "test/t.c": '#include "../config.h"\nint tested(void) { return MOST; }\n',
        },
    )
    assert functions(root) == ["most", "tested"]


@needs_compiler
def test_what_a_set_up_defines_by_its_variables_and_types_is_guessed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.ac": "AC_INIT([shop], [1.4], [a@b.org])\nAC_CONFIG_HEADERS([config.h])\n"
            "PRODUCT=shop\n"
            'AC_DEFINE_UNQUOTED([PRODUCT], "$PRODUCT")\n'
            'AC_DEFINE([SINCE], [["07 Jan"]], [day])\n'
            'AC_DEFINE_UNQUOTED(UNTIL, "31.12.", "day")\nAC_DEFINE_UNQUOTED(AT, $at)\n'
            "AC_DEFINE_UNQUOTED([BETWEEN], [','], [between two])\nAC_DEFINE([NONE], [-1], [no])\n"
            "AC_CHECK_TYPE(uint16_t, [AC_DEFINE(my_word, uint16_t)])\n",
            "config.h.in": "#undef PRODUCT\n#undef SINCE\n#undef UNTIL\n#undef AT\n#undef "
            "my_word\n#undef BETWEEN\n#undef NONE\n",
            "a.c": '#include "config.h"\n#include <stdint.h>\nmy_word one;\n'
            "const char *said(void) { return PRODUCT SINCE UNTIL PACKAGE_VERSION; }\n"
            "_Static_assert(sizeof PACKAGE_BUGREPORT == 8, PACKAGE_BUGREPORT);\n"
            "_Static_assert(BETWEEN == 0x2c && NONE == -1, PACKAGE_NAME);\n"
            "#ifdef AT\nint at(void) { return AT; }\n#endif\n",
        },
    )
    assert functions(root) == ["said"]


@needs_compiler
def test_a_header_called_like_the_one_of_the_system_that_it_includes(tmp_path: Path) -> None:
    root = tmp_path / "wraps"
    write(
        root,
        {
            "regex.h": "#ifndef W\n#define W\n#include <regex.h>\nint found(regmatch_t *m);\n"
            "#endif\n",
            "a.c": '#include "regex.h"\nint found(regmatch_t *m) { return (int)m->rm_so; }\n',
        },
    )
    assert functions(root) == ["found"]


@needs_compiler
def test_variables_that_a_set_up_fills_into_themselves_end_there(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "configure.ac": "AC_INIT([tool], [1.4])\nAC_CONFIG_FILES([Makefile])\n",
            "Makefile.in": 'FLAGS=@CFLAGS@ -DVERSION=\\"@PACKAGE_VERSION@\\"\n'
            'DEFINES=-DPLACE=\\"$(PLACE)\\"\nPLACE=here\n'
            "CFLAGS=$(FLAGS) $(DEFINES)\nall: a.o\n",
            "a.c": '_Static_assert(sizeof VERSION == 4 && sizeof PLACE == 5, "");\n'
            "int a(void) { return 1; }\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_words_that_a_script_for_autoconf_defines_are_put_in(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "configure.ac": "m4_define([MY_MAJOR], [3])\nm4_define([MY_MINOR], 7)\n"
            "m4_define([MY_VERSION], [MY_MAJOR.MY_MINOR])\n"
            "AC_INIT([tool], [MY_VERSION])\nAC_CONFIG_HEADERS([config.h])\n"
            "AC_DEFINE(THE_MAJOR, MY_MAJOR, [It.])\n"
            'AC_DEFINE([THE_WHOLE], ["MY_MAJOR.MY_MINOR"], [It.])\n',
            "config.h.in": "#undef THE_MAJOR\n#undef THE_WHOLE\n#undef PACKAGE_VERSION\n",
            "a.c": '#include "config.h"\n#if THE_MAJOR == 3\nstatic const char at[] = THE_WHOLE;\n'
            '_Static_assert(sizeof PACKAGE_VERSION == 4, "");\n'
            "int a(void) { return at[0]; }\n#endif\n",
        },
    )
    assert functions(root) == ["a"]


_DOUBLED = range(60)


_WIDE = range(7)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "configure.ac",
            "m4_define([W0], [x])\n"
            + "".join(f"m4_define([W{n + 1}], [W{n}.W{n}])\n" for n in _DOUBLED)
            + SCRIPT,
        ),
        (
            "CMakeLists.txt",
            "project(tool)\nset(W0 x)\n"
            + "".join(f"set(W{n + 1} ${{W{n}}}${{W{n}}})\n" for n in _DOUBLED),
        ),
        (
            "CMakeLists.txt",
            "project(tool)\nset(L a b c d e f g h)\n"
            + "".join(f"foreach(a{n} IN LISTS L)\n" for n in _WIDE)
            + "add_definitions(-DX)\n"
            + "endforeach()\n" * len(_WIDE)
            + "if(A)\n" * 3000
            + "if(" * 3000,
        ),
        (
            "Makefile",
            "all: a\na: a.c\n\t$(CC) $(CFLAGS) -o a a.c\nCFLAGS = $(W0)\n"
            + "".join(f"W{n} = {f'$(W{n + 1}) -DX ' * 300}\n" for n in _WIDE),
        ),
        (
            "Makefile",
            "all: a\na: a.c\n\t$(CC) $(CFLAGS) -o a a.c\nCFLAGS = $(W0)\n"
            + "".join(f"W{n} = {f'$(W{n + 1})' * 300}\n" for n in _WIDE),
        ),
    ],
    ids=["autoconf", "cmake", "cmake, lists", "make", "make, of nothing"],
)
def test_words_that_grow_without_end_are_left_out(tmp_path: Path, name: str, text: str) -> None:
    root = tmp_path / "tool"
    write(root, {name: text, "config.h.in": "#undef LIMIT\n", "a.c": "int a(void) { return 0; }\n"})
    assert functions(root) == ["a"]


@needs_compiler
def test_headers_lie_where_an_installation_puts_them(tmp_path: Path) -> None:
    """In a folder that is not there, of which most is in the project; or only in a copy made by
    hand for another system."""
    root = tmp_path / "shelf-1.2"
    write(
        root,
        {
            "src/api/open.h": "#include <shelf/close.h>\n#define WIDE 3\n",
            "src/api/close.h": "int closed(void);\n",
            "src/open.c": '#include <shelf/open.h>\n#include "size.h"\n#include "config.h"\n'
            "int closed(void) { return WIDE + SIZE; }\n#ifdef OPEN_HERE\n"
            "int opened(void) { return closed(); }\n#endif\n",
            "src/size.h.prebuilt": "#define SIZE 7\n",
            "configure.ac": "AC_INIT(shelf, 1.2)\nAC_CONFIG_HEADERS(config.h)\n"
            "AC_CHECK_FUNCS(open, AC_DEFINE(OPEN_HERE))\n"
            "AC_CHECK_HEADER([nowhere.h], [AC_DEFINE([OPEN_THERE], [1])])\n",
            "windows/config.h": "#error of another system\n",
            "Makefile.am": "noinst_PROGRAMS = one\nTABLE_CFLAGS = -Dclosed=table\n"
            "if RENAMED\nAM_CPPFLAGS = -Dclosed=renamed\nendif\n",
        },
    )
    assert functions(root) == ["closed", "opened"]


@needs_compiler
def test_an_included_path_is_no_place_to_write_to(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "shelf"
    write(
        root,
        {
            "src/open.c": f"#include <{tmp_path}/absolute/open.h>\n"
            "#include <../../../../../up/open.h>\nint open_it(void) { return 1; }\n",
            "src/open.h": "int open_it(void);\n",
        },
    )
    jc2r("scan", "--no-graphs", root)
    assert [one.name for one in tmp_path.iterdir()] == ["deep"]
    kept = root / ".jarvis" / "c2rust"
    outside = [one for one in root.rglob("*") if one.is_file() and not one.is_relative_to(kept)]
    assert sorted(one.name for one in outside) == ["open.c", "open.h"]


@needs_compiler
def test_what_a_configure_written_by_hand_says_is_taken(tmp_path: Path) -> None:
    root = tmp_path / "box"
    write(
        root,
        {
            "configure": "#! /bin/sh\npkgname=box\npkgversion=13\nCPPFLAGS=\n",
            "Makefile.in": "%.o : %.c\n\t$(CC) -DVERSION=$(pkgversion) -c -o $@ $<\n"
            "DEFS = -DNUMBER=$(pkgversion)\n",
            "a.c": "#if NUMBER >= 1\nint one(void) { return 1; }\n#endif\n"
            "#ifdef HAVE_GNU_LIBC_VERSION_H\nint named(void) { return 2; }\n#endif\n",
            "configure.ac": "AC_INIT(box, 1)\nAC_CHECK_HEADERS([gnu/libc-version.h])\n",
        },
    )
    assert functions(root) == ["named", "one"]


@needs_cargo
def test_what_only_the_own_build_makes_is_said_to_need_it(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "configure.sh": "printf 'all: made.h\\n\\t$(CC) -c a.c b.c\\n' > Makefile\n"
            "printf 'made.h:\\n\\techo int n = 4\\\\; > made.h\\n' >> Makefile\n",
            "a.c": '#include "made.h"\nint a(void) { return n; }\n',
        },
    )
    said = jc2r("run", "--baseline", root)
    assert said.returncode == 2 and "Nothing was translated" in said.stderr
    assert "With --build, or the setting jarvisLs.projectBuild, the project's own" in said.stderr
    chinese = jc2r("run", "--baseline", root, LANG="zh_CN.UTF-8", LC_ALL="").stderr
    assert "没有转译任何内容" in chinese and "使用 --build" in chinese
    write(root, {"b.c": "int b(void) { return 1; }\n"})
    said = jc2r("run", "--baseline", root)
    assert "note: With --build, or the setting" in said.stdout and "1 of 2 functions" in said.stdout
    built = jc2r("run", "--baseline", "--build", root)
    assert "With --build" not in built.stdout + built.stderr, built.stderr
    assert "2 of 2 functions" in built.stdout and not (root / "Makefile").exists()


@needs_cargo
def test_a_program_that_lacks_what_the_own_build_makes_is_said_to_need_it(tmp_path: Path) -> None:
    root = tmp_path / "dated"
    write(
        root,
        {
            "Makefile": "all: a.c made.c\n\t$(CC) -o a a.c made.c\n"
            "made.c:\n\texpr 3 + 4 | sed 's/.*/int made = &;/' > made.c\n",
            "a.c": "extern int made;\nint main(void) { return made; }\n",
        },
    )
    said = jc2r("run", "--baseline", root).stdout
    assert "its program is not linked: made is not there" in said
    assert "note: With --build, or the setting" in said
    built = jc2r("run", "--baseline", "--build", root)
    assert built.returncode == 0 and "With --build" not in built.stdout, built.stdout


@needs_compiler
@pytest.mark.parametrize(
    ("script", "text"),
    [
        (
            "AC_CONFIG_HEADERS([config.h])\nAH_BOTTOM([/* words */\n#if HAVE_STRDUP\n"
            "#define COPIED(x) strdup(x)\n#else\n#define COPIED(x) none(x)\n#endif])\n"
            "AH_VERBATIM([MOST], [#define MOST 5])\nAH_TOP([typedef long much;])\n",
            'char *seen(much n) { return n > MOST ? COPIED("x") : 0; }\n',
        ),
        (
            "AC_CONFIG_HEADERS([config.h])\nAC_ARG_WITH([pci.ids],\n\t[AS_HELP_STRING([--with-pci.ids=P],"
            "\n\t\t[where (all of) it is])],\n\t[PCI_IDS=$with_pci_ids],\n"
            '\t[PCI_IDS="/usr/pci.ids"])\n'
            'AC_DEFINE_UNQUOTED([PCI_IDS], ["$PCI_IDS"],\n\t[where])\n',
            "const char *seen(void) { return PCI_IDS; }\n"
            "_Static_assert(sizeof PCI_IDS == 13, PCI_IDS);\n",
        ),
        (
            "AC_CONFIG_HEADERS([config.h])\nKIND=blue\nAC_DEFINE_UNQUOTED(WHERE, "
            '["${datadir}/$PACKAGE/${KIND}$nobody"])\nAC_DEFINE_UNQUOTED([NONE], $nobody)\n',
            "const char *seen(void) { return WHERE; }\n#ifdef NONE\n#error\n#endif\n"
            '_Static_assert(!strcmp(WHERE, "/usr/local/share/shop/blue"), WHERE);\n',
        ),
        (
            "AC_CONFIG_HEADERS([config.h])\nif test $without_sig_t = yes; then\n"
            "AC_DEFINE(sig_t, int)\nfi\nAC_DEFINE(word_t, int)\n",
            "#include <signal.h>\nword_t seen(sig_t f) { f(2); return 0; }\n",
        ),
        (
            "AC_CHECK_SIZEOF(unsigned short)\n",
            "#if SIZEOF_UNSIGNED_SHORT == 2 && SIZEOF_UNSIGNED_LONG_LONG == 8\n"
            "int seen(void) { return 1; }\n#endif\n",
        ),
    ],
)
def test_what_a_script_for_autoconf_says_besides_is_taken(
    tmp_path: Path, script: str, text: str
) -> None:
    root = tmp_path / "shop"
    head = '#include <string.h>\n#include "config.h"\n' if "HEADERS" in script else ""
    write(root, {"configure.ac": f"AC_INIT([shop], [1.4])\n{script}", "a.c": head + text})
    assert functions(root) == ["seen"]
    assert not json.loads((root / ".jarvis" / "c2rust" / "meta.json").read_text())["problems"]


@needs_cargo
def test_files_that_are_only_parts_of_others_are_not_left_out(tmp_path: Path) -> None:
    root = tmp_path / "parts"
    write(
        root,
        {
            "main.c": "#include <stdio.h>\n#define TYPE int\n#define NAME(x) int_##x\n"
            '#include "engine.c"\nint main(void) { printf("%d\\n", int_twice(4)); return 0; }'
            "\n",
            "engine.c": "static TYPE NAME(twice)(TYPE n) { return n * 2; }\n",
            "alone.c": '#include "broken.c"\n',
            "broken.c": "nothing of (this) is C\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert "2 of 2 functions in Rust" in done.stdout, done.stdout + done.stderr
    assert [(one.file, one.name, one.state) for one in read_overview(root).functions] == [
        ("engine.c", "int_twice", "baseline"),
        ("main.c", "main", "baseline"),
    ]
    progress = json.loads((root / ".jarvis" / "c2rust" / "progress.json").read_text())
    assert [one["file"] for one in progress["skipped"]] == ["alone.c", "broken.c"]


@needs_compiler
def test_headers_that_commands_write_word_by_word_are_made_without_running_them(
    tmp_path: Path,
) -> None:
    root = tmp_path / "worded"
    write(
        root,
        {
            "Makefile": "VERSION = 1.4\nall: a.o\nconfig.h:\n"
            '\t( \\\n\techo "/* made */"; \\\n'
            '\techo "#define VERSION \\"$(VERSION)$$NONE\\"" \\\n\t) > config.h\n'
            "date.h: a.c\n\t@echo '#define SECOND \"'`cat second`'\"' >$@\n"
            '\t@printf "#define THIRD %s\\n" 3 >> $@; touch ran\n'
            "strange.h:\n\tsed -e s/A/B/ a.c > strange.h\n",
            "second": "of two\nlines\n",
            "part/configure": '#!/bin/sh\nname="by hand"\ncat > own.h <<EOF\n#define NAME "$name"\n'
            'EOF\nif cc x.c; then\n  echo "#include <stdint.h>" >> own.h\nelse\n'
            '  echo "#include <no/such.h>" >> own.h\nfi\n',
            "part/b.c": '#include "own.h"\nuint8_t b(void) { return sizeof NAME == 8 ? 1 : 0; }\n'
            "_Static_assert(sizeof NAME == 8, NAME);\n",
            "a.c": '#include "config.h"\n#include "date.h"\nint a(void) { return THIRD; }\n'
            "_Static_assert(sizeof VERSION == 4 && sizeof SECOND == 7, VERSION SECOND);\n",
            "c.c": '#if __has_include("strange.h")\n#error\n#endif\nint c(void) { return 0; }\n',
        },
    )
    assert functions(root) == ["a", "b", "c"]
    assert not (root / "ran").exists()


@needs_compiler
def test_the_header_of_this_system_is_chosen_where_a_set_up_chooses_one(tmp_path: Path) -> None:
    root = tmp_path / "chosen"
    write(
        root,
        {
            "configure.ac": "AC_INIT([chosen], [1])\ncase $host_os in\n  linux*) os=linux;;\nesac\n"
            "AC_CONFIG_LINKS([src/os.h:src/os-${os}.h src/md.h:src/md-$cpu.h])\n",
            "src/os-linux.h": "#define WHICH 1\n",
            "src/os-netbsd.h": "#error\n",
            "src/a.c": '#include "os.h"\nint a(void) { return WHICH; }\n',
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_what_is_asked_of_the_machine_is_told_where_nothing_says_how_to_build(
    tmp_path: Path,
) -> None:
    root = tmp_path / "bare"
    write(
        root,
        {
            "a.c": "#include <stdio.h>\n#if !HAVE_DPRINTF\nvoid dprintf(int);\n#endif\n"
            "#if HAVE_STRDUP_OF_NOBODY\n#error\n#endif\nint a(void) { return 1; }\n",
        },
    )
    assert functions(root) == ["a"]
    write(root, {"Makefile": "all:\n", "a.c": "#if HAVE_DPRINTF\n#error\n#endif\nint a;\n"})
    assert functions(root) == []


@needs_cargo
def test_a_header_that_was_made_on_another_machine_is_told_of(tmp_path: Path) -> None:
    root = tmp_path / "shipped"
    write(
        root,
        {
            "configure": "#!/bin/sh\n# Generated by GNU Autoconf 2.13\n",
            "config.h": "/* config.h.  Generated automatically by configure.  */\n"
            "#define HAVE_PUTS 1\n/* #undef HAVE_STRDUP */\n"
            "/* #undef HAVE_STRDUP_OF_NOBODY */\n/* #undef HAVE_STDIO_H */\n",
            "a.c": '#include "config.h"\nint a(void) { return HAVE_PUTS; }\n',
        },
    )
    said = jc2r("run", "--baseline", root).stdout
    told = "config.h was generated by configure on another machine; this one has HAVE_STRDUP,"
    assert f"note: {told} HAVE_STDIO_H\n" in said and "note: With --build" in said
    chinese = jc2r("run", "--baseline", root, LANG="zh_CN.UTF-8", LC_ALL="").stdout
    assert "这台机器有 HAVE_STRDUP" in chinese
    write(root, {"config.log": "It was created by configure\n"})
    said = jc2r("run", "--baseline", root).stdout
    assert "another machine" not in said and "With --build" not in said


@needs_compiler
def test_branches_of_a_set_up_are_those_taken_when_nobody_chooses(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.ac": "AC_INIT([shop], [1])\nuse_double=no\n"
            "AC_ARG_ENABLE(double-precision,\n  AS_HELP_STRING([--enable-double], [if"
            " more is wanted]),\n  [use_double=yes])\n"
            "AC_ARG_WITH([colour], [], [with_colour=$withval], [with_colour=yes])\n"
            'AC_ARG_ENABLE([trace], [], [\n  if test "x$enable_trace" != xyes; then\n'
            "    AC_DEFINE([TRACED])\n  fi])\n"
            "if test $use_double = no\nthen\n    AC_DEFINE([SINGLE], [], [less])\n"
            "else\n    AC_DEFINE([DOUBLE], [], [more])\nfi\n"
            'if test "x$enable_trace" = "xyes"; then\n  AC_DEFINE(TRACE, 1)\n'
            'elif [[ "x$enable_trace" = xyes ]]; then\n  AC_DEFINE(PLAIN)\n'
            'elif test -z "$enable_trace" && test "$with_colour" != "no"; then\n'
            "  AC_DEFINE(COLOUR, 7)\n"
            '  if test "$asked_of_nobody" = no; then\n    AC_DEFINE(NOBODY)\n  fi\n'
            "else\n  AC_DEFINE(PLAIN)\nfi\n"
            'if [ "$use_double" != no ]\nthen\n  AC_DEFINE(TRACED)\nfi\n'
            'if [[ "$with_colour" = y* ]]; then\n  AC_DEFINE(HAVE_PATTERN)\nfi\n'
            'if test "x$enable_trace" != "xno"; then\n  case "$host" in\n'
            "  *-mingw*)\n    AC_DEFINE([WINDOWS]);;\n  esac\nfi\n"
            'if test "$ac_cv_header_unistd_h" != "yes";\nthen\n'
            '  ROOM="#define ROOM 1"\nelse\n  ROOM="#include <unistd.h>"\nfi\n'
            "AC_SUBST(ROOM)\nAC_CONFIG_FILES([Makefile room.h])\n",
            "room.h.in": '@ROOM@\n#define TAG "@PACKAGE@"\n',
            "a.c": '#include "room.h"\n#if COLOUR == 7\nint coloured(void) { return getpid(); }\n'
            "#endif\n"
            + "".join(
                f"#ifdef {name}\nint has_{name}(void) {{ return 1; }}\n#endif\n"
                for name in (
                    "SINGLE",
                    "DOUBLE",
                    "TRACE",
                    "TRACED",
                    "PLAIN",
                    "NOBODY",
                    "ROOM",
                    "WINDOWS",
                    "HAVE_STRDUP",
                    "HAVE_PATTERN",
                )
            ),
        },
    )
    assert functions(root) == ["coloured", "has_HAVE_STRDUP", "has_SINGLE"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux is called")
def test_what_a_set_up_finds_out_about_the_machine_is_known(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.ac": "AC_INIT([shop], [1.4])\n"
            "m4_define(_WHOSE,\n   [[(C) 2007, 2008 A B <a@b.org>]])\n"
            'AC_CANONICAL_HOST\nAC_CONFIG_HEADERS([config.h])\nAC_DEFINE(WHOSE,"_WHOSE",[it])\n'
            'AC_DEFINE_UNQUOTED(HOST_OS,"$host_os",[it])\n'
            'AM_CONDITIONAL(OTHER, test "$host_os" = "mingw32")\n',
            "Makefile.am": "if OTHER\nAM_CFLAGS = -DOTHER\nelse\nAM_CFLAGS = -DOURS\nendif\n",
            "a.c": "#include <config.h>\n"
            '_Static_assert(sizeof HOST_OS == sizeof "linux-gnu", HOST_OS);\n'
            '_Static_assert(sizeof WHOSE == sizeof "(C) 2007, 2008 A B <a@b.org>", WHOSE);\n'
            "#ifdef OTHER\nint other(void) { return 0; }\n#endif\n"
            "#ifdef OURS\nint ours(void) { return 0; }\n#endif\n",
        },
    )
    assert functions(root) == ["ours"]


@needs_compiler
def test_of_several_headers_that_one_is_chosen_by_the_last_that_is_there_is(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.ac": "AC_INIT([shop], [1.4])\nAC_CONFIG_HEADERS([config.h])\n"
            "AC_CHECK_HEADER([nobody/has.h],[way=theirs],[])\n"
            "AC_CHECK_HEADER([stdio.h],[way=ours],[])\n"
            'if test "$way" = "theirs"\nthen\nAC_DEFINE([THEIRS], [1])\n'
            'elif test "$way" = "ours"\nthen\nAC_DEFINE([OURS], [1])\nfi\n',
            "a.c": "#include <config.h>\n#ifdef THEIRS\n#include <nobody/has.h>\n#endif\n"
            "#ifdef OURS\nint ours(void) { return 0; }\n#endif\n",
        },
    )
    assert functions(root) == ["ours"]


@needs_compiler
def test_a_version_that_nothing_says_is_empty(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile": "PACKAGE_VERSION ?= $(shell git describe --dirty 2>/dev/null | sed "
            "s/^v//)\n"
            'DEFS := -DPACKAGE_VERSION=\\"$(PACKAGE_VERSION)\\"\n'
            "a: a.c\n\t$(CC) $(CFLAGS) -o $@ $< $(DEFS)\n",
            "a.c": 'int a(void) { return 0; }\n_Static_assert(sizeof PACKAGE_VERSION == 1, "");\n',
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux is called")
def test_the_machine_is_called_as_the_own_script_for_that_calls_it(tmp_path: Path) -> None:
    root = tmp_path / "old"
    machine = platform.machine()
    write(
        root,
        {
            "configure.in": "AC_INIT(a.c)\nAC_CONFIG_HEADER(config.h)\nAC_CANONICAL_HOST\n"
            'AC_DEFINE_UNQUOTED(HOST_TYPE,"$host")\n',
            "tools/config.guess": f"    {machine}:Minix:*:*)\n\techo {machine}-pc-minix\n\texit "
            ";;\n"
            f"    {machine}:Linux:*:*)\n\techo {machine}-mine-linux-gnu\n"
            "\texit ;;\n",
            "a.c": '#include "config.h"\nint a(void) { return 0; }\n'
            f'_Static_assert(sizeof HOST_TYPE == sizeof "{machine}-mine-linux-gnu", "");\n',
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_of_two_set_ups_each_says_what_its_own_files_are_called(tmp_path: Path) -> None:
    root = tmp_path / "two"
    write(
        root,
        {
            "configure.in": "AC_INIT(configure.in)\nAM_INIT_AUTOMAKE(two, 1.75)\n",
            "src/a.c": "int a(void) { return 0; }\n_Static_assert(sizeof VERSION == 5, VERSION);\n",
            "test/configure.in": "AC_INIT(configure.in)\nAM_CONFIG_HEADER(config.h)\n"
            "AM_INIT_AUTOMAKE(test, 0.1)\n",
            "test/config.h.in": "#undef NOTHING\n",
            "test/b.c": "#include <config.h>\nint b(void) { return 0; }\n",
        },
    )
    assert functions(root) == ["a", "b"]


@needs_compiler
def test_branches_that_m4_writes_and_what_is_found_out_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "pings"
    write(
        root,
        {
            "configure.ac": f"{SCRIPT}dnl --disable-six\n"
            "AC_ARG_ENABLE([six],\n  AS_HELP_STRING([--disable-six], [less, (no six)]))\n"
            'AS_IF([test "x$enable_six" != "xno"], [\n    dnl Is it there?\n'
            '    AC_CHECK_HEADERS([netinet/icmp6.h], [have_six="yes"], [], [[\n'
            "      #include <netinet/in.h>\n  ]])\n])\n"
            'AM_CONDITIONAL([SIX], [test "x$have_six" = "xyes"])\n'
            "AM_COND_IF([SIX], [AC_DEFINE([HAS_SIX], [1], [six])], [AC_DEFINE([NO_SIX])])\n"
            "AC_CHECK_HEADER([no/such.h], [such=yes], [such=no])\n"
            "AM_CONDITIONAL([SUCH], [test $such = yes])\n"
            "AM_COND_IF([SUCH], [AC_DEFINE([HAS_SUCH])])\n"
            "AC_ARG_ENABLE([trace], [more])\n"
            'AS_IF([test "x$enable_trace" = "xyes"], [\nAC_DEFINE([TRACE])],\n'
            '  [test "x$asked_of_nobody" = "xyes"], [\nAC_DEFINE([NOBODY])],\n'
            "  [\nAC_DEFINE([UNSURE])])\n"
            'AS_IF([test "$enable_trace" = yes], [AC_DEFINE([TRACE])], [AC_DEFINE([PLAIN])\n'
            '  AS_IF([test "$asked_of_nobody" = yes], [\nAC_DEFINE([NOBODY])])])\n',
            "Makefile.am": "bin_PROGRAMS = a\na_SOURCES = a.c\nif SIX\na_CFLAGS = -DSIX_TOO\n"
            "endif\n",
            "a.c": '#include "config.h"\n'
            + "".join(
                f"#ifdef {name}\nint of_{name}(void) {{ return 0; }}\n#endif\n"
                for name in (
                    "HAS_SIX",
                    "NO_SIX",
                    "HAS_SUCH",
                    "TRACE",
                    "NOBODY",
                    "UNSURE",
                    "PLAIN",
                    "SIX_TOO",
                )
            ),
        },
    )
    assert functions(root) == ["of_HAS_SIX", "of_PLAIN", "of_SIX_TOO"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="asks what Linux is called")
def test_where_only_systems_can_be_asked_for_this_one_is(tmp_path: Path) -> None:
    root = tmp_path / "sentry"
    write(
        root,
        {
            "Makefile": "CC = cc\n\nall:\n\t@echo 'Usage: make <system>'\n\t@echo\n\nbsd:\n"
            "\t$(CC) -DBSD44 -o sentry ./a.c\n\nlinux-old:\n\t$(CC) -DOLD -o sentry ./a.c\n"
            "\nlinux:\t\t\n\tSYSTEM=linux\n\t$(CC) -DLINUX -DMORE=1 -o sentry ./a.c\n",
            "a.c": "#if !defined LINUX || MORE != 1 || defined BSD44 || defined OLD\n#error\n"
            "#endif\n"
            "int a(void) { return 0; }\n",
        },
    )
    assert functions(root) == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        "if(" * 50_000,
        "if(" + "(" * 50_000 + ")",
        "if(" + "NOT " * 50_000 + "A)",
        "[[ " * 50_000,
        "set(L a)\n" + "list(APPEND L b)\n" * 20_000,
        "include(CMakeLists.txt)\n" * 100,
        f"if({'9' * 5_000} VERSION_LESS {'9' * 5_001})\nendif()",
        "a(" * 50_000,
        "a = [\n" * 50_000,
        "'a'.format(" * 20_000,
        "x" * 200_000,
    ],
)
def test_hostile_set_ups_end(tmp_path: Path, text: str) -> None:
    for name in (interpreter.NAME, meson.NAME):
        (tmp_path / name).write_text(text)
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    assert all(isinstance(words, list) for words in interpreter.set_up(tmp_path).ways_of("a.c"))
    assert isinstance(meson.words_of(tmp_path, "a.c"), list)


@needs_cargo
def test_functions_of_an_included_file_that_nothing_compiles_are_counted(tmp_path: Path) -> None:
    root = tmp_path / "shared"
    files = {
        "rest.c": "static int rest(int n) { return n - n % SIZE; }\n",
        "four.c": '#define SIZE 4\n#include "rest.c"\nint four(int n) { return rest(n); }\n',
        "main.c": "int four(int n);\nint main(void) { return four(7) - 4; }\n",
    }
    built = [
        {"directory": str(root), "file": name, "command": f"cc -c {name}"}
        for name in ("four.c", "main.c")
    ]
    write(root, {**files, "compile_commands.json": json.dumps(built)})
    done = jc2r("run", "--baseline", root)
    assert "3 of 3 functions in Rust" in done.stdout, done.stdout + done.stderr
