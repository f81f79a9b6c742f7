"""Projects whose `configure` has not been run, or is not there yet."""

from __future__ import annotations

import json
import platform
import shutil
import sys
from pathlib import Path

import pytest
from test_scan import jc2r, write
from test_translation import needs_cargo

from jarvis_ls.jc2r import cmake, meson
from jarvis_ls.jc2r.overview import read_overview

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
@pytest.mark.parametrize("files", [
    {"configure.ac": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n"},
    {"configure.ac": SCRIPT},
    {"configure.in": "AC_INIT(a.c)\nAM_INIT_AUTOMAKE(shop, 1.4)\nAM_CONFIG_HEADER(config.h)\n",
     "config.h.in": "#undef HAVE_STRDUP\n#undef HAVE_STRDUP_OF_NOBODY\n#undef HAVE_SYS_TIME_H\n"
                    "#undef PACKAGE_STRING\n#undef VERSION\n#define LIMIT 7\n"},
    {"set-up/configure.in": "AC_INIT(a.c)\nAC_CONFIG_HEADER(include/config.h:set-up/header.in)\n",
     "set-up/header.in": "#undef HAVE_STRDUP\n#undef HAVE_SYS_TIME_H\n#define LIMIT 7\n"
                         '#define PACKAGE_STRING "shop"\n#define VERSION "1"\n'},
    {"CMakeLists.txt": "project(shop)\n",
     "config.h.in": "#cmakedefine HAVE_STRDUP\n#cmakedefine HAVE_SYS_TIME_H 1\n"
                    "#cmakedefine HAVE_STRDUP_OF_NOBODY\n#define LIMIT 7\n"
                    '#define PACKAGE_STRING "@PROJECT_NAME@"\n#define VERSION "${VERSION}"\n'},
])  # fmt: skip
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
    write(root, {"configure.in": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n", "configure": "",
                 "config.h.in": "#undef HAVE_STRDUP\n", "src/a.c": "#include <../config.h>\n"
                 "#ifdef HAVE_STRDUP\nint seen(void) { return 1; }\n#endif\n"})  # fmt: skip
    assert functions(root) == ["seen"]


@needs_compiler
def test_types_and_members_that_a_set_up_asks_for_are_there_or_not(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    there = ["STRUCT_TIMEVAL", "STRUCT_STAT_ST_BLKSIZE", "STRUCT_SOCKADDR_STORAGE_SS_FAMILY",
             "SA_FAMILY_T", "TM_GMTOFF", "ST_BLOCKS"]  # fmt: skip
    not_there = ["STRUCT_NOBODY", "STRUCT_STAT_NOTHING", "NOBODY_T", "TM_NOTHING"]
    asked = [f"HAVE_{one}" for one in [*there, *not_there]]
    write(root, {
        "configure.ac": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n",
        "config.h.in": "".join(f"#undef {one}\n" for one in asked),
        "a.c": '#include "config.h"\n' + "".join(
            f"#ifdef {one}\nint {one.lower()}(void) {{ return 0; }}\n#endif\n" for one in asked),
    })  # fmt: skip
    assert functions(root) == sorted(f"have_{one.lower()}" for one in there)


@needs_compiler
def test_a_header_that_is_there_is_not_guessed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(root, {"configure.ac": f"{SCRIPT}AC_CONFIG_HEADERS([config.h])\n",
                 "config.h": "#define HAVE_STRDUP 1\n#define VERSION 0\n",
                 "a.c": '#include "config.h"\n#ifdef HAVE_STRDUP\nint seen(void) { return 1; }'
                        "\n#endif\n"})  # fmt: skip
    assert functions(root) == ["seen"]


@needs_compiler
def test_what_a_set_up_by_hand_and_its_makefiles_would_say_is_guessed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(root, {
        "configure.ac": SCRIPT,
        "src/Makefile.am": 'AM_CPPFLAGS = -DHOME_OF=\\"$(pkgdatadir)\\" -DCALLED=\\"@PACKAGE@\\"\n'
                           'a.o: a.c\n\t$(CC) -c $(CFLAGS) -DMADE_AS=\\"$(PACKAGE)\\" -o $@ a.c\n',
        "src/a.c": '#include "made-config.h"\n#include <unistd.h>\n#include "own.h"\n'
                   '__RCSID("$Id$");\n'
                   "#if SIZEOF_LONG != 8 || !defined HAVE_OFF_T\n#error no sizes\n#endif\n"
                   "const char *home(void) { return HOME_OF CALLED MADE_AS; }\n",
        "dos/unistd.h": "#error not for this machine\n", "dos/own.h": "int own(void);\n",
        "src/old.c": '#include "old.h"\n#include <getopt.h>\n', "port/old.h": "int old;\n",
        "port/getopt.h": "#error not for this machine\n",
    })  # fmt: skip
    assert functions(root) == ["home"]


@needs_compiler
def test_what_users_change_in_a_copy_is_taken_as_it_is_shipped(tmp_path: Path) -> None:
    root = tmp_path / "menu"
    write(root, {
        "src/config.def.h": "#define MOST 5\n", "src/a.c": '#include "config.h"\n'
        "int most(void) { return MOST; }\n", "test/t.c": '#include "../config.h"\n'
        "int tested(void) { return MOST; }\n",
    })  # fmt: skip
    assert functions(root) == ["most", "tested"]


@needs_compiler
def test_what_a_set_up_defines_by_its_variables_and_types_is_guessed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(root, {
        "configure.ac": "AC_INIT([shop], [1.4], [a@b.org])\nAC_CONFIG_HEADERS([config.h])\n"
                        "PRODUCT=shop\n"
                        'AC_DEFINE_UNQUOTED([PRODUCT], "$PRODUCT")\n'
                        "AC_DEFINE([SINCE], [[\"07 Jan\"]], [day])\n"
                        'AC_DEFINE_UNQUOTED(UNTIL, "31.12.", "day")\nAC_DEFINE_UNQUOTED(AT, $at)\n'
                        "AC_CHECK_TYPE(uint16_t, [AC_DEFINE(my_word, uint16_t)])\n",
        "config.h.in": "#undef PRODUCT\n#undef SINCE\n#undef UNTIL\n#undef AT\n#undef my_word\n",
        "a.c": '#include "config.h"\n#include <stdint.h>\nmy_word one;\n'
               "const char *said(void) { return PRODUCT SINCE UNTIL PACKAGE_VERSION; }\n"
               "_Static_assert(sizeof PACKAGE_BUGREPORT == 8, PACKAGE_BUGREPORT);\n"
               "#ifdef AT\nint at(void) { return AT; }\n#endif\n",
    })  # fmt: skip
    assert functions(root) == ["said"]


@needs_compiler
@pytest.mark.parametrize("place", ["VERSION", "$(srcdir)/VERSION"])
def test_what_makefiles_ask_the_shell_for_is_read_or_unknown(tmp_path: Path, place: str) -> None:
    root = tmp_path / "asks"
    write(root, {
        "VERSION": "2.7\n", "a.c": "const char *said(void) { return VERSION BUILT DAY; }\n"
        '_Static_assert(sizeof VERSION == 4, "read");\n'
        '_Static_assert(sizeof BUILT == 1 && sizeof TAG == 5, "there is no repository");\n',
        "Makefile": "BUILT := $(shell git describe --tags)\nCFLAGS += -DBUILT=\\\"$(BUILT)\\\""
                    ' -DTAG=\\"$(shell git tag 2>/dev/null || echo none)\\"'
                    ' -DDAY=\\"`date +%F`\\"\na.o: a.c\n'
                    f'\t$(COMPILE) -DVERSION=\\"$(shell cat {place})\\" -c $<\n',
    })  # fmt: skip
    assert functions(root) == ["said"]


@needs_compiler
def test_conditionals_of_makefiles_are_decided_without_running_anything(tmp_path: Path) -> None:
    root = tmp_path / "decides"
    write(root, {
        "rules.mk": "ifdef ICON\nCFLAGS += -DICONS=$(COUNT)\nelse\nCFLAGS += -DPLAIN\nendif\n",
        "Makefile": "ICON = yes\nCOUNT ?= 3\nCOUNT ?= 4\nSYSTEM := $(shell uname -s)\n"
                    "ifeq ($(SYSTEM),Linux)\n CFLAGS += -DLINUX\nelse ifeq ($(SYSTEM),Darwin)\n"
                    " CFLAGS += -DMAC\nelse\n CFLAGS += -DELSE\nendif\n"
                    "ifdef DEBUG\nCFLAGS += -DTRACED\nelse\nCFLAGS += -DQUIET\n"
                    "ifneq '$(CC)' 'tcc'\nCFLAGS += -DNESTED\nendif\nendif\n"
                    "MODE = $(shell ./mode.sh > ran)\nifeq ($(MODE),fast)\nCFLAGS += -DFAST\n"
                    "KIND = 1\nelse\nCFLAGS += -DSLOW\nKIND = 2\nendif\n"
                    "ifeq ($(KIND),)\nCFLAGS += -DNONE\nendif\n"
                    "ifneq (,$(findstring icons,$(filter %s,icons word)))\n"
                    "CFLAGS += -DFOUND\nendif\ninclude rules.mk\n-include none.mk\n"
                    "ifndef OTHER\nCFLAGS += -DWITHOUT\nendif\nall: a.o\n\tifeq\n",
        "part/Makefile": "include made.mk\nifdef MADE\nCFLAGS += -DA\nelse\nCFLAGS += -DB\nendif\n"
                         "CFLAGS += -DC\n",
        "part/b.c": "#if defined A || defined B || !defined C\n#error\n#endif\nint b(void);\n"
                    "int b(void) { return C; }\n",
        "a.c": "#if !defined LINUX || defined MAC || defined ELSE || ICONS != 3 || defined PLAIN\n"
               "#error system\n#endif\n"
               "#if defined TRACED || !defined QUIET || !defined NESTED || !defined WITHOUT\n"
               "#error asked\n#endif\n#if defined FAST || defined SLOW || defined NONE\n"
               "#error run\n#endif\nint a(void) { return FOUND; }\n",
    })  # fmt: skip
    assert functions(root) == ["a", "b"]
    assert not (root / "ran").exists()


@needs_compiler
def test_letters_that_makefiles_change_in_the_name_of_the_system_are_changed(
    tmp_path: Path,
) -> None:
    root = tmp_path / "letters"
    write(root, {
        "Makefile": "named=$(shell uname -s)\nifndef OS_IS\n"
                    "OS_IS = $(shell echo $(named) | tr [A-Z] [a-z])\nendif\n"
                    "LOUD := $(shell uname -s | tr '[:lower:]' '[:upper:]')\n"
                    "HIDDEN := $(shell uname | tr -d x)\nWIDE = 1\n"
                    "ifeq (cygwin,$(OS_IS))\nWIDE =\nendif\n"
                    "ifdef WIDE\nCFLAGS += -DWIDE\nendif\n"
                    "ifeq ($(LOUD),LINUX)\nCFLAGS += -DLOUD\nendif\n"
                    "ifeq ($(HIDDEN),Linux)\nCFLAGS += -DHIDDEN\nendif\n",
        "a.c": "#if !defined WIDE || !defined LOUD || defined HIDDEN\n#error\n#endif\n"
               "int a(void) { return 0; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_a_header_called_like_the_one_of_the_system_that_it_includes(tmp_path: Path) -> None:
    root = tmp_path / "wraps"
    write(root, {
        "regex.h": "#ifndef W\n#define W\n#include <regex.h>\nint found(regmatch_t *m);\n#endif\n",
        "a.c": '#include "regex.h"\nint found(regmatch_t *m) { return (int)m->rm_so; }\n',
    })  # fmt: skip
    assert functions(root) == ["found"]


@needs_compiler
def test_what_cmake_would_write_and_define_is_guessed(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "CMakeLists.txt": "project(tool VERSION 3.4.5 LANGUAGES C)\nset (SIZE_TYPE int)\n"
                          "set(LEVEL 4)\nset(LEVELS \"${LEVEL}2\")\n"
                          "if(NOW_IN_GIT)\n  set(BUILT dirty)\nelse()\n  set(BUILT \"\")\nendif()\n"
                          "add_definitions(-DALWAYS=7)\nif(WIN32)\n"
                          "  add_definitions(-DNEVER)\nendif()\n"
                          "target_compile_definitions(tool PUBLIC LOGGED)\n"
                          "include(GenerateExportHeader)\ngenerate_export_header(tool)\n",
        "include/tool/config.h.in": '#define TOOL_VERSION "@PROJECT_VERSION@"\n'
                                    "#define MAJOR @tool_VERSION_MAJOR@\n"
                                    "typedef @SIZE_TYPE@ own_size;\n#define LEVELS ${LEVELS}\n"
                                    '#define BUILT "@BUILT@"\n',
        "src/a.c": '#include "tool/config.h"\n#if MAJOR != 3 || LEVELS != 42 || ALWAYS != 7\n'
                   "#error not as CMake has it\n#endif\n#ifdef NEVER\n"
                   "#error not as CMake has it\n#endif\n"
                   "#ifdef LOGGED\n#include <tool_export.h>\n"
                   "TOOL_EXPORT own_size logged(void) { return sizeof TOOL_VERSION; }\n#endif\n"
                   '_Static_assert(sizeof BUILT == 1, "built from git");\n',
    })  # fmt: skip
    assert functions(root) == ["logged"]


@needs_compiler
@pytest.mark.parametrize("makefile", [
    "all: a.o\n.c.o:\n\t$(CC) -std=c99 -pedantic -c $(CFLAGS) $<\n",
    "all: tool\ntool: a.c\n\tgcc -ansi $(CFLAGS) -o tool a.c\n",
    "LOCAL_CFLAGS = $(CFLAGS) -std=c99\nall: a.o\n%.o: %.c\n\t$(CC) -c $(LOCAL_CFLAGS) $< -o $@\n",
    "all: tool\ntool: a.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -std=c11 $(CFLAGS) -c -o $@ $<\n",
])  # fmt: skip
def test_commands_of_makefiles_name_the_version_of_c(tmp_path: Path, makefile: str) -> None:
    """In the strict ones `unix` is no macro. What only the shell would say is nothing within a
    word, and does not tear it."""
    root = tmp_path / "strict"
    write(root, {
        "Makefile": "PART = $(shell echo 0.3).$(shell ./part.sh)\n"
                    "CFLAGS = -DPART=\\\"$(PART)\\\" -DHERE"
                    f" -DWHO='\"$(shell whoami)\"' $(shell ./more.sh)\n{makefile}",
        "a.c": "_Static_assert(sizeof PART == 5 && sizeof WHO == 1 && HERE, PART WHO);\n"
               "static struct { int unix; } a;\nint at(void) { return a.unix; }\n",
    })  # fmt: skip
    assert functions(root) == ["at"]


@needs_compiler
def test_what_cmake_decides_is_decided(tmp_path: Path) -> None:
    root = tmp_path / "shelf"
    write(root, {
        "CMakeLists.txt": """cmake_minimum_required(VERSION 3.5)
project(shelf VERSION 2.7 LANGUAGES C)
include(CheckIncludeFiles)
include(cmake/More.cmake) # which sets DEEP
option(SHELF_WIDE "64 bits" ON)
option(SHELF_SLOW "checks" OFF)
set(SHELF_NAME "the \\"shelf\\"" CACHE STRING "its name")
check_include_files("stdio.h;stdint.h" HAVE_BOTH)
check_include_files(no/such.h HAVE_NO_SUCH)
check_type_size("long long" LONG_LONG)
if(SHELF_WIDE AND NOT WIN32)
  set(WORD "uint64_t")
elseif(SHELF_SLOW)
  set(WORD "char")
else()
  set(WORD uint32_t)
endif()
if("${CMAKE_C_COMPILER_ID}" STREQUAL "MSVC" OR (APPLE AND UNIX))
  add_definitions(-DELSEWHERE)
elseif(PROJECT_VERSION VERSION_LESS 2.10 AND CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang)$")
  add_compile_definitions(HERE=1 $<$<CONFIG:Debug>:NEVER>)
endif()
#[[ add_definitions(-DNEVER) ]]
foreach(part IN ITEMS one two)
  string(TOUPPER ${part} upper)
  list(APPEND PARTS ${part})
  add_definitions(-DWITH_${upper})
endforeach()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/templates/types.in include/shelf_types.h @ONLY)
file(STRINGS ${PROJECT_SOURCE_DIR}/version.txt LINES REGEX "^#define")
string(REGEX MATCH "LEVEL +([0-9]+)" LEVEL "${LINES}")
string(REGEX REPLACE ".*TAG ([a-z]+).*" "<\\\\1>" TAG "${LINES}")
add_definitions(-DLEVEL=${CMAKE_MATCH_1} "-DTAG=\\"${TAG}\\"")
add_subdirectory(src)
list(TRANSFORM PARTS PREPEND "src/")
list(TRANSFORM PARTS APPEND .c)
add_library(shelf "${PARTS}")
target_compile_definitions(shelf PRIVATE INSIDE=1 PUBLIC OFFERED=3)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_FLAGS "-DFLAGGED=6 -Wall ${CMAKE_C_FLAGS}")
set(CMAKE_C_EXTENSIONS OFF)
add_executable(show show/unix.c)
target_link_libraries(show PRIVATE shelf)
target_compile_definitions(show PRIVATE SHOWN)
set_source_files_properties(src/one.c PROPERTIES COMPILE_DEFINITIONS "ONLY=1;FIRST")
set_target_properties(shelf PROPERTIES COMPILE_FLAGS "-DALL=4 -w" OUTPUT_NAME ledge)
""",
        "version.txt": "#define LEVEL  31\n\n#define TAG beta\n LEVEL 7\n",
        "cmake/More.cmake": "set(DEEP 6)\nmacro(deeper name)\n"
                            "  set(${name} 7)\nendmacro()\ndeeper(DEEP)\n"
                            "function(deepest name)\n  set(DEEP 8)\n"
                            "  set(${name} ${ARGN} PARENT_SCOPE)\nendfunction()\n"
                            "deepest(WIDE 5)\nfunction(never)\n  set(DEEP 9)\nendfunction()\n",
        "templates/types.in": """#include <stdint.h>
typedef @WORD@ shelf_word;
#cmakedefine HAVE_BOTH
#cmakedefine HAVE_NO_SUCH
#cmakedefine SHELF_NAME "@SHELF_NAME@"
#cmakedefine01 SHELF_SLOW
#define SHELF_VERSION "@PROJECT_VERSION@"
#define SHELF_DEEP @DEEP@@WIDE@
#define SHELF_LONG @LONG_LONG@
#define SHELF_NOTHING @NOTHING@
#define SHELF_KEPT "${WORD}"
""",
        "src/CMakeLists.txt": "set(WORD lost)\nset(DEEP 9 PARENT_SCOPE)\ndeeper(DEEP)\n",
        "src/one.c": """#include <shelf_types.h>
#if !defined WITH_ONE || !defined WITH_TWO || INSIDE != 1 || OFFERED != 3 || defined NEVER \\
    || defined SHOWN || HERE != 1 || defined ELSEWHERE || defined HAVE_NO_SUCH || SHELF_SLOW != 0
#error not as CMake has it
#endif
_Static_assert(sizeof(shelf_word) == 8 && SHELF_LONG == 8 && SHELF_DEEP == 75, "");
_Static_assert(sizeof SHELF_VERSION == 4 && sizeof SHELF_KEPT == 8, "");
#if !defined FIRST || ONLY != 1 || ALL != 4 || FLAGGED != 6 || LEVEL != 31
#error not as CMake has it
#endif
_Static_assert(sizeof TAG == 7, TAG);
int one(void) SHELF_NOTHING { return 1; }
""",
        "src/two.c": "#include <shelf_types.h>\n#ifdef HAVE_BOTH\n"
                     "int two(void) { int ONLY = ALL; return INSIDE; }\n#endif\n",
        "show/unix.c": "#if defined INSIDE || OFFERED != 3 || !defined SHOWN\n#error\n#endif\n"
                       "struct { int unix; } a;\nint main(void) { return a.unix; }\n",
    })  # fmt: skip
    assert functions(root) == ["main", "one", "two"]


@needs_compiler
def test_what_meson_gives_the_compiler_is_known(tmp_path: Path) -> None:
    root = tmp_path / "kit"
    write(root, {
        "meson.build": """project('kit', 'c', version : '0.2.0',
  default_options : ['warning_level=2', 'c_std=c99'])
# add_project_arguments('-DNEVER', language : 'c')
add_project_arguments('-DHERE=1', ['-DTHERE=2'], language : 'c')
conf = configuration_data()
conf.set_quoted('NAME', meson.project_name())
conf.set('LEVEL', 3)
conf.set('FAST', true)
conf.set10('SLOW', false)
configure_file(input : 'config.h.in', output : 'kit-config.h', configuration : conf)
sources = files('src/one.c',
  'src/two.c')
flags = ['-DINSIDE']
flags += ['-DKIT_VERSION="@0@"'.format(meson.project_version())]
if host_machine.system() == 'windows'
  add_project_arguments('-DWIN', language : 'c')
endif
inc = include_directories('include')
kit = static_library('kit', sources, include_directories : inc, c_args : flags)
subdir('show')
""",
        "show/meson.build": "executable('show', 'show.c', c_args : ['-DSHOWN'], link_with : kit)\n",
        "config.h.in": "#mesondefine NAME\n#mesondefine LEVEL\n#mesondefine FAST\n"
                       "#mesondefine SLOW\n#mesondefine NOTHING\n",
        "src/one.c": """#include <kit-config.h>
#if HERE != 1 || THERE != 2 || LEVEL != 3 || !defined FAST || SLOW || defined NOTHING \\
    || !defined INSIDE || defined WIN || defined SHOWN || defined NEVER
#error not as Meson has it
#endif
static struct { int unix; } a;
int one(void) { return a.unix + (int)sizeof(char [sizeof NAME == 4 ? 1 : -1]); }
""",
        "src/two.c": "typedef char fits[sizeof KIT_VERSION == 6 ? 1 : -1];\n"
                     "int two(void) { return HERE; }\n",
        "show/show.c": "#ifdef INSIDE\n#error\n#endif\nint main(void)"
                       " { return THERE - SHOWN; }\n",
    })  # fmt: skip
    assert functions(root) == ["main", "one", "two"]


@needs_compiler
def test_what_is_made_when_nothing_is_asked_for_counts(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "Makefile": "UNAME := $(shell uname -s)\nifeq ($(UNAME),Darwin)\n  CFLAGS += -DMAC\n"
                    "else ifeq ($(OS),Windows_NT)\n  CFLAGS += -DWIN\nelse\n"
                    "  CFLAGS += -DOTHER\nendif\nifeq ($(OS),Windows_NT)\n\tifndef SLOW\n"
                    "\t\toverride CFLAGS += -D WIN\n\tendif\nelse\n\tifdef MAC\n"
                    "\t\tCFLAGS += -DMAC\n"
                    "\telse\n\t\tifeq ($(UNAME),Darwin)\n\t\t\tCFLAGS += -DMAC\n\t\tendif\n"
                    "\tendif\nendif\nifdef DEBUG\n  CFLAGS += -DSLOW\nelse\n"
                    "  CFLAGS += -DFAST\nendif\nall: tool\nmac:\n\t$(CC) -DMAC -o tool a.c\n"
                    "L = LEVELLED\nLEVEL = -D $L -DNAME=\\\"$L\\\"\n"
                    "tool: a.c\n\t$(CC) -o tool a.c -DHERE $(LEVEL) $(CFLAGS)\n",
        "a.c": "#if defined MAC || defined WIN || defined SLOW || !defined FAST || !defined HERE\n"
               "#error not as make has it\n#endif\n"
               "int a(void) { return OTHER + HERE + LEVELLED + sizeof NAME; }\n",
        "lib/getopt.c": "#error for other systems\nint getopt(int c, char *const v[],"
                        " const char *o) { return c; }\n",
        "lib/more.c": "int more(void) { return 1; }\n",
    })  # fmt: skip
    assert functions(root) == ["a", "more"]
    said = jc2r("scan", "--no-graphs", root).stdout
    assert "lib/getopt.c is left out: no makefile names it" in said


@needs_compiler
def test_what_stands_in_for_the_c_library_is_left_out_where_automake_names_it(
    tmp_path: Path,
) -> None:
    root = tmp_path / "tool"
    write(root, {
        "Makefile.am": "bin_PROGRAMS = tool\ntool_SOURCES = a.c\ntool_LDADD = @LIBOBJS@\n",
        "Makefile.in": "DIST_COMMON = a.c forkpty.c\nall: tool\n",
        "a.c": "#include <pty.h>\nint a(void) { return 1; }\n",
        "forkpty.c": "#include <pty.h>\nint forkpty(int *own, char *name) { return -1; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_texts_that_commands_of_makefiles_define_are_taken(tmp_path: Path) -> None:
    """Those that the shell would have to work out are left out."""
    root = tmp_path / "tool"
    write(root, {
        "Makefile": "PREFIX ?= /usr/local\nall: tool other\nbuild/%.o: src/%.c\n"
                    "\t@$(CC) $(CFLAGS) -DDATA='\"$(PREFIX)/share\"' -DMARK=\"'x'\""
                    " -DNOT='\"'`$(PERL) -v`'\"' -c -o $@ $<\n"
                    "tool: build/a.o\n\t$(CC) -o $@ $^\n"
                    "other: src/b.c\n\t$(CC) -DTEXT='\"a b\"' -DALSO=\\\"c\\\" -o $@ src/b.c\n",
        "src/a.c": "#ifdef NOT\n#error asked for\n#endif\n_Static_assert(MARK == 120, \"\");\n"
                   'int a(void) { return sizeof DATA "" == 17 ? 1 : -1; }\n',
        "src/b.c": 'int b(void) { return sizeof TEXT "" ALSO; }\n',
    })  # fmt: skip
    assert functions(root) == ["a", "b"]


@needs_compiler
@pytest.mark.parametrize("rule", ["%: %.c", ".c:", "%.o: %.c", ".c.o:"])
def test_what_rules_for_every_file_give_the_compiler_is_taken(tmp_path: Path, rule: str) -> None:
    root = tmp_path / "tool"
    write(root, {
        "Makefile": 'PLACE ?= /etc/tool\nNAMES = -DPLACE=\\"$(PLACE)\\"\nall: a b\n'
                    f"{rule}\n\t$(Q)$(CC) $(CFLAGS) $(NAMES) -DPART -o $@ $<\n"
                    "%.lo: %.c\n\t$(CC) -DPART -DSHARED -c -o $@ $<\n",
        "a.c": "#if !defined PART || defined SHARED\n#error\n#endif\n"
               "int a(void) { return sizeof PLACE; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_files_of_a_folder_are_compiled_as_the_rule_of_the_folder_says(tmp_path: Path) -> None:
    """Here the strict mode that the other files are compiled in has no word `asm`."""
    root = tmp_path / "tool"
    write(root, {
        "Makefile": "OWNFLAGS = -std=c99 -DOWN\nIN = lib\nall: tool\n"
                    "tool: a.c lib/b.o\n\t$(CC) $(OWNFLAGS) -o $@ a.c lib/b.o\n"
                    "$(IN)/%.o: $(IN)/%.c\n\t$(CC) -MM $(OWNFLAGS) $< > $*.d\n"
                    "\t$(CC) $(CFLAGS) -DLIB -c -o $@ $<\n",
        "a.c": "#if !defined OWN || defined LIB\n#error\n#endif\nint a(int asm) { return asm; }\n",
        "lib/b.c": "#if defined OWN || !defined LIB\n#error\n#endif\n"
                   'int b(void) { asm(""); return 1; }\n',
    })  # fmt: skip
    assert functions(root) == ["a", "b"]


@needs_compiler
@pytest.mark.parametrize("call", [
    'cd src; $(Q)$(MAKE) all DATA=$(PLACE)/data LEVEL="$(LEVEL)"',
    "$(MAKE) -C src LEVEL=4 DATA='$(PLACE)/data'",
    'for d in $(PARTS); do (cd $$d && $(MAKE) LEVEL="4" DATA="$(PLACE)/data"); done',
])  # fmt: skip
def test_what_a_makefile_hands_to_those_below_is_known_there(tmp_path: Path, call: str) -> None:
    root = tmp_path / "tool"
    write(root, {
        "Makefile.in": "PLACE = @datadir@/tool\nLEVEL = 4\nPARTS = src\nall:\n"
                       f"\t{call}\nclean:\n\tcd doc; $(MAKE) LEVEL=5 clean\n",
        "src/Makefile": "LEVEL = 1\nall: a.o\n.c.o:\n"
                        "\t$(CC) -c -DDATA='\"$(DATA)\"' -DLEVEL=$(LEVEL) $<\n",
        "src/a.c": '_Static_assert(sizeof DATA == sizeof "/usr/local/share/tool/data", "");\n'
                   "#if LEVEL != 4\n#error\n#endif\nint a(void) { return 1; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_variables_that_a_set_up_fills_into_themselves_end_there(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "configure.ac": "AC_INIT([tool], [1.4])\nAC_CONFIG_FILES([Makefile])\n",
        "Makefile.in": "FLAGS=@CFLAGS@ -DVERSION=\\\"@PACKAGE_VERSION@\\\"\n"
                       "DEFINES=-DPLACE=\\\"$(PLACE)\\\"\nPLACE=here\n"
                       "CFLAGS=$(FLAGS) $(DEFINES)\nall: a.o\n",
        "a.c": '_Static_assert(sizeof VERSION == 4 && sizeof PLACE == 5, "");\n'
               "int a(void) { return 1; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_a_tab_before_all_rules_begins_no_command(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "Makefile": "ifeq (WORD,)\n\tCFLAGS += -DNONE\nelse\n\tCFLAGS += -DSOME\nendif\n"
                    "all: a\na: a.c\n\tCFLAGS=-DNEVER $(CC) -o a a.c\n",
        "a.c": "#if defined NONE || defined NEVER || !defined SOME\n#error\n#endif\n"
               "int a(void) { return 1; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_words_that_a_script_for_autoconf_defines_are_put_in(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "configure.ac": "m4_define([MY_MAJOR], [3])\nm4_define([MY_MINOR], 7)\n"
                        "m4_define([MY_VERSION], [MY_MAJOR.MY_MINOR])\n"
                        "AC_INIT([tool], [MY_VERSION])\nAC_CONFIG_HEADERS([config.h])\n"
                        "AC_DEFINE(THE_MAJOR, MY_MAJOR, [It.])\n"
                        'AC_DEFINE([THE_WHOLE], ["MY_MAJOR.MY_MINOR"], [It.])\n',
        "config.h.in": "#undef THE_MAJOR\n#undef THE_WHOLE\n#undef PACKAGE_VERSION\n",
        "a.c": '#include "config.h"\n#if THE_MAJOR == 3\nstatic const char at[] = THE_WHOLE;\n'
               '_Static_assert(sizeof PACKAGE_VERSION == 4, "");\n'
               "int a(void) { return at[0]; }\n#endif\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


_DOUBLED = range(60)
_WIDE = range(7)


@needs_compiler
@pytest.mark.parametrize(("name", "text"), [
    ("configure.ac", "m4_define([W0], [x])\n"
     + "".join(f"m4_define([W{n + 1}], [W{n}.W{n}])\n" for n in _DOUBLED) + SCRIPT),
    ("CMakeLists.txt", "project(tool)\nset(W0 x)\n"
     + "".join(f"set(W{n + 1} ${{W{n}}}${{W{n}}})\n" for n in _DOUBLED)),
    ("CMakeLists.txt", "project(tool)\nset(L a b c d e f g h)\n"
     + "".join(f"foreach(a{n} IN LISTS L)\n" for n in _WIDE) + "add_definitions(-DX)\n"
     + "endforeach()\n" * len(_WIDE) + "if(A)\n" * 3000 + "if(" * 3000),
    ("Makefile", "all: a\na: a.c\n\t$(CC) $(CFLAGS) -o a a.c\nCFLAGS = $(W0)\n"
     + "".join(f"W{n} = {f'$(W{n + 1}) -DX ' * 300}\n" for n in _WIDE)),
    ("Makefile", "all: a\na: a.c\n\t$(CC) $(CFLAGS) -o a a.c\nCFLAGS = $(W0)\n"
     + "".join(f"W{n} = {f'$(W{n + 1})' * 300}\n" for n in _WIDE)),
], ids=["autoconf", "cmake", "cmake, lists", "make", "make, of nothing"])  # fmt: skip
def test_words_that_grow_without_end_are_left_out(tmp_path: Path, name: str, text: str) -> None:
    root = tmp_path / "tool"
    write(root, {name: text, "config.h.in": "#undef LIMIT\n", "a.c": "int a(void) { return 0; }\n"})
    assert functions(root) == ["a"]


@needs_compiler
def test_headers_lie_where_an_installation_puts_them(tmp_path: Path) -> None:
    """In a folder that is not there, of which most is in the project; or only in a copy made by
    hand for another system."""
    root = tmp_path / "shelf-1.2"
    write(root, {
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
    })  # fmt: skip
    assert functions(root) == ["closed", "opened"]


@needs_compiler
def test_files_are_compiled_with_the_flags_of_their_targets(tmp_path: Path) -> None:
    """Those of one program are not given to another; what is only for checks does not come first,
    or `part` would not be there."""
    root = tmp_path / "tool"
    write(root, {
        "Makefile.am": "check_PROGRAMS = probe\nbin_PROGRAMS = tool tool-small\n"
                       "AM_CFLAGS = -DOF_ALL\nAM_CXXFLAGS = -DPROBE\nprobe_CXXFLAGS = -DSMALL\n"
                       "common = part.c shared.c\n"
                       "tool_SOURCES = $(common) \\\n  tool.h\ntool_CFLAGS = -DALONE=1\n"
                       "tool_small_SOURCES = part.c\ntool_small_CPPFLAGS = -DSMALL\n"
                       "probe_SOURCES = part.c src/probe.c\nprobe_CFLAGS = -DALONE=2 -DPROBE\n",
        "tool.h": "",
        "part.c": "#if defined SMALL\nint small(void) { return sizeof(int[OF_ALL]); }\n"
                  "#elif defined PROBE\nint probed(void) { return 3; }\n"
                  "#else\nint part(void) { return sizeof(int[ALONE]); }\n#endif\n",
        "shared.c": "#if defined SMALL || defined PROBE || defined OF_ALL\n#error\n#endif\n"
                    "int shared(void) { return 1; }\n",
        "src/probe.c": "int probe(void) { return sizeof(int[ALONE == 2 ? 1 : -1]); }\n",
    })  # fmt: skip
    assert functions(root) == ["part", "probe", "probed", "shared", "small"]
    units = json.loads((root / ".jarvis/c2rust/meta.json").read_text())["units"]
    assert sorted(Path(one).name for one in units if "part" in one) == [
        "part.c", "part_2.c", "part_3.c"]  # fmt: skip


@needs_compiler
def test_an_included_path_is_no_place_to_write_to(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "shelf"
    write(root, {
        "src/open.c": f"#include <{tmp_path}/absolute/open.h>\n"
                      "#include <../../../../../up/open.h>\nint open_it(void) { return 1; }\n",
        "src/open.h": "int open_it(void);\n",
    })  # fmt: skip
    jc2r("scan", "--no-graphs", root)
    assert [one.name for one in tmp_path.iterdir()] == ["deep"]
    kept = root / ".jarvis" / "c2rust"
    outside = [one for one in root.rglob("*") if one.is_file() and not one.is_relative_to(kept)]
    assert sorted(one.name for one in outside) == ["open.c", "open.h"]


@needs_compiler
def test_what_a_configure_written_by_hand_says_is_taken(tmp_path: Path) -> None:
    root = tmp_path / "box"
    write(root, {
        "configure": "#! /bin/sh\npkgname=box\npkgversion=13\nCPPFLAGS=\n",
        "Makefile.in": "%.o : %.c\n\t$(CC) -DVERSION=$(pkgversion) -c -o $@ $<\n"
                       "DEFS = -DNUMBER=$(pkgversion)\n",
        "a.c": "#if NUMBER >= 1\nint one(void) { return 1; }\n#endif\n"
               "#ifdef HAVE_GNU_LIBC_VERSION_H\nint named(void) { return 2; }\n#endif\n",
        "configure.ac": "AC_INIT(box, 1)\nAC_CHECK_HEADERS([gnu/libc-version.h])\n",
    })  # fmt: skip
    assert functions(root) == ["named", "one"]


@needs_cargo
def test_what_only_the_own_build_makes_is_said_to_need_it(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "configure.sh": "printf 'all: made.h\\n\\t$(CC) -c a.c b.c\\n' > Makefile\n"
                        "printf 'made.h:\\n\\techo int n = 4\\\\; > made.h\\n' >> Makefile\n",
        "a.c": '#include "made.h"\nint a(void) { return n; }\n',
    })  # fmt: skip
    said = jc2r("run", "--baseline", root)
    assert said.returncode == 2 and "Nothing was translated" in said.stderr
    assert "With --build, or the setting jarvisLs.projectBuild, the project's own" in said.stderr
    chinese = jc2r("run", "--baseline", root, LANG="zh_CN.UTF-8", LC_ALL="").stderr
    assert "没有转译任何内容" in chinese and "加上 --build" in chinese
    write(root, {"b.c": "int b(void) { return 1; }\n"})
    said = jc2r("run", "--baseline", root)
    assert "note: With --build, or the setting" in said.stdout and "1 of 2 functions" in said.stdout
    built = jc2r("run", "--baseline", "--build", root)
    assert "With --build" not in built.stdout + built.stderr, built.stderr
    assert "2 of 2 functions" in built.stdout and not (root / "Makefile").exists()


@needs_cargo
def test_a_program_that_lacks_what_the_own_build_makes_is_said_to_need_it(tmp_path: Path) -> None:
    root = tmp_path / "dated"
    write(root, {
        "Makefile": "all: a.c made.c\n\t$(CC) -o a a.c made.c\n"
                    "made.c:\n\texpr 3 + 4 | sed 's/.*/int made = &;/' > made.c\n",
        "a.c": "extern int made;\nint main(void) { return made; }\n",
    })  # fmt: skip
    said = jc2r("run", "--baseline", root).stdout
    assert "its program is not linked: made is not there" in said
    assert "note: With --build, or the setting" in said
    built = jc2r("run", "--baseline", "--build", root)
    assert built.returncode == 0 and "With --build" not in built.stdout, built.stdout


@needs_compiler
@pytest.mark.parametrize(("script", "text"), [
    ("AC_CONFIG_HEADERS([config.h])\nAH_BOTTOM([/* words */\n#if HAVE_STRDUP\n"
     "#define COPIED(x) strdup(x)\n#else\n#define COPIED(x) none(x)\n#endif])\n"
     "AH_VERBATIM([MOST], [#define MOST 5])\nAH_TOP([typedef long much;])\n",
     "char *seen(much n) { return n > MOST ? COPIED(\"x\") : 0; }\n"),
    ("AC_CONFIG_HEADERS([config.h])\nAC_ARG_WITH([pci.ids],\n\t[AS_HELP_STRING([--with-pci.ids=P],"
     "\n\t\t[where (all of) it is])],\n\t[PCI_IDS=$with_pci_ids],\n\t[PCI_IDS=\"/usr/pci.ids\"])\n"
     "AC_DEFINE_UNQUOTED([PCI_IDS], [\"$PCI_IDS\"],\n\t[where])\n",
     "const char *seen(void) { return PCI_IDS; }\n"
     "_Static_assert(sizeof PCI_IDS == 13, PCI_IDS);\n"),
    ("AC_CONFIG_HEADERS([config.h])\nKIND=blue\nAC_DEFINE_UNQUOTED(WHERE, "
     "[\"${datadir}/$PACKAGE/${KIND}$nobody\"])\nAC_DEFINE_UNQUOTED([NONE], $nobody)\n",
     "const char *seen(void) { return WHERE; }\n#ifdef NONE\n#error\n#endif\n"
     '_Static_assert(!strcmp(WHERE, "/usr/local/share/shop/blue"), WHERE);\n'),
    ("AC_CONFIG_HEADERS([config.h])\nif test $without_sig_t = yes; then\n"
     "AC_DEFINE(sig_t, int)\nfi\nAC_DEFINE(word_t, int)\n",
     "#include <signal.h>\nword_t seen(sig_t f) { f(2); return 0; }\n"),
    ("AC_CHECK_SIZEOF(unsigned short)\n",
     "#if SIZEOF_UNSIGNED_SHORT == 2 && SIZEOF_UNSIGNED_LONG_LONG == 8\n"
     "int seen(void) { return 1; }\n#endif\n"),
])  # fmt: skip
def test_what_a_script_for_autoconf_says_besides_is_taken(
    tmp_path: Path, script: str, text: str
) -> None:
    root = tmp_path / "shop"
    head = '#include <string.h>\n#include "config.h"\n' if "HEADERS" in script else ""
    write(root, {"configure.ac": f"AC_INIT([shop], [1.4])\n{script}", "a.c": head + text})
    assert functions(root) == ["seen"]
    assert not json.loads((root / ".jarvis" / "c2rust" / "meta.json").read_text())["problems"]


@needs_compiler
def test_a_configure_written_by_hand_makes_the_header_of_its_name(tmp_path: Path) -> None:
    root = tmp_path / "checked"
    write(root, {
        "configure": "#!/bin/sh\nname=checked\n", "Makefile.in": "DEFS = -DHAVE_CONFIG_H\n",
        "a.c": "#ifdef HAVE_CONFIG_H\n# include <config.h>\n#endif\n#ifdef HAVE_STRDUP\n"
               "int seen(void) { return 1; }\n#endif\n",
    })  # fmt: skip
    assert functions(root) == ["seen"]


@needs_cargo
def test_files_that_are_only_parts_of_others_are_not_left_out(tmp_path: Path) -> None:
    root = tmp_path / "parts"
    write(root, {
        "main.c": "#include <stdio.h>\n#define TYPE int\n#define NAME(x) int_##x\n"
                  '#include "engine.c"\nint main(void) { printf("%d\\n", int_twice(4)); return 0; }'
                  "\n",
        "engine.c": "static TYPE NAME(twice)(TYPE n) { return n * 2; }\n",
        "alone.c": '#include "broken.c"\n', "broken.c": "nothing of (this) is C\n",
    })  # fmt: skip
    done = jc2r("run", "--baseline", root)
    assert "2 of 2 functions in Rust" in done.stdout, done.stdout + done.stderr
    assert [(one.file, one.name, one.state) for one in read_overview(root).functions] == [
        ("engine.c", "int_twice", "baseline"), ("main.c", "main", "baseline")]  # fmt: skip
    progress = json.loads((root / ".jarvis" / "c2rust" / "progress.json").read_text())
    assert [one["file"] for one in progress["skipped"]] == ["alone.c", "broken.c"]


@needs_compiler
def test_headers_that_commands_write_word_by_word_are_made_without_running_them(
    tmp_path: Path,
) -> None:
    root = tmp_path / "worded"
    write(root, {
        "Makefile": "VERSION = 1.4\nall: a.o\nconfig.h:\n"
                    '\t( \\\n\techo "/* made */"; \\\n'
                    '\techo "#define VERSION \\"$(VERSION)$$NONE\\"" \\\n\t) > config.h\n'
                    'date.h: a.c\n\t@echo \'#define SECOND "\'`cat second`\'"\' >$@\n'
                    '\t@printf "#define THIRD %s\\n" 3 >> $@; touch ran\n'
                    "strange.h:\n\tsed -e s/A/B/ a.c > strange.h\n",
        "second": "of two\nlines\n",
        "part/configure": "#!/bin/sh\nname=\"by hand\"\ncat > own.h <<EOF\n#define NAME \"$name\"\n"
                          "EOF\nif cc x.c; then\n  echo \"#include <stdint.h>\" >> own.h\nelse\n"
                          "  echo \"#include <no/such.h>\" >> own.h\nfi\n",
        "part/b.c": '#include "own.h"\nuint8_t b(void) { return sizeof NAME == 8 ? 1 : 0; }\n'
                    "_Static_assert(sizeof NAME == 8, NAME);\n",
        "a.c": '#include "config.h"\n#include "date.h"\nint a(void) { return THIRD; }\n'
               "_Static_assert(sizeof VERSION == 4 && sizeof SECOND == 7, VERSION SECOND);\n",
        "c.c": '#if __has_include("strange.h")\n#error\n#endif\nint c(void) { return 0; }\n',
    })  # fmt: skip
    assert functions(root) == ["a", "b", "c"]
    assert not (root / "ran").exists()


@needs_compiler
def test_the_header_of_this_system_is_chosen_where_a_set_up_chooses_one(tmp_path: Path) -> None:
    root = tmp_path / "chosen"
    write(root, {
        "configure.ac": "AC_INIT([chosen], [1])\ncase $host_os in\n  linux*) os=linux;;\nesac\n"
                        "AC_CONFIG_LINKS([src/os.h:src/os-${os}.h src/md.h:src/md-$cpu.h])\n",
        "src/os-linux.h": "#define WHICH 1\n", "src/os-netbsd.h": "#error\n",
        "src/a.c": '#include "os.h"\nint a(void) { return WHICH; }\n',
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_what_is_asked_of_the_machine_is_told_where_nothing_says_how_to_build(
    tmp_path: Path,
) -> None:
    root = tmp_path / "bare"
    write(root, {
        "a.c": "#include <stdio.h>\n#if !HAVE_DPRINTF\nvoid dprintf(int);\n#endif\n"
               "#if HAVE_STRDUP_OF_NOBODY\n#error\n#endif\nint a(void) { return 1; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]
    write(root, {"Makefile": "all:\n", "a.c": "#if HAVE_DPRINTF\n#error\n#endif\nint a;\n"})
    assert functions(root) == []


@needs_compiler
def test_what_makefiles_set_for_the_targets_that_are_made_is_taken(tmp_path: Path) -> None:
    root = tmp_path / "targets"
    write(root, {
        "Makefile": 'all: tool other\ntool other: CPPFLAGS += -DWORD=\\"$(shell cat WORD)\\"\n'
                    "tool: CFLAGS += -DONLY=1\nother: CFLAGS += -DONLY=2\n"
                    'MORE := $(shell test -d no && echo no)\nCPPFLAGS += -DMORE=\\"$(MORE)\\"\n'
                    "debug: CFLAGS += -DDEBUG\ntool: LDFLAGS += -DLINKED\ntool: CC = cc -DCC\n",
        "WORD": "seven\n",
        "a.c": "#if defined DEBUG || defined ONLY || defined LINKED || defined CC\n#error\n#endif\n"
               "int a(void) { return 1; }\n_Static_assert(sizeof WORD == 6, WORD MORE);\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_rules_for_what_later_rules_need_count(tmp_path: Path) -> None:
    root = tmp_path / "later"
    write(root, {
        "Makefile": "WORDS = 1\nifdef WORDS\n  OF_WORDS = -DWORDS\nendif\nTOOL = tool\n"
                    "all: $(TOOL)\na.o: a.c\n\t$(CC) $(OF_WORDS) $(CFLAGS) -c $< -o $@\n"
                    "slow.o: a.c\n\t$(CC) -DSLOW -c $< -o $@\n$(TOOL): a.o\n\t$(CC) $+ -o $@\n",
        "a.c": "#if defined SLOW || !defined WORDS\n#error\n#endif\nint a(void) { return 0; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_cargo
def test_a_header_that_was_made_on_another_machine_is_told_of(tmp_path: Path) -> None:
    root = tmp_path / "shipped"
    write(root, {
        "configure": "#!/bin/sh\n# Generated by GNU Autoconf 2.13\n",
        "config.h": "/* config.h.  Generated automatically by configure.  */\n"
                    "#define HAVE_PUTS 1\n/* #undef HAVE_STRDUP */\n"
                    "/* #undef HAVE_STRDUP_OF_NOBODY */\n/* #undef HAVE_STDIO_H */\n",
        "a.c": '#include "config.h"\nint a(void) { return HAVE_PUTS; }\n',
    })  # fmt: skip
    said = jc2r("run", "--baseline", root).stdout
    told = "config.h was made by configure on another machine: this one has HAVE_STRDUP,"
    assert f"note: {told} HAVE_STDIO_H\n" in said and "note: With --build" in said
    chinese = jc2r("run", "--baseline", root, LANG="zh_CN.UTF-8", LC_ALL="").stdout
    assert "这台机器有 HAVE_STRDUP" in chinese
    write(root, {"config.log": "It was created by configure\n"})
    said = jc2r("run", "--baseline", root).stdout
    assert "another machine" not in said and "With --build" not in said


@needs_compiler
def test_compilers_that_makefiles_have_for_each_system_are_compilers(tmp_path: Path) -> None:
    root = tmp_path / "systems"
    write(root, {
        "Makefile": "CC_LINUX = $(CC)\nCC_MAC = maccc\nFLAGS_LINUX = -DLINUX\nall: tool\n"
                    "tool: a.c\n\t$(CC_LINUX) $(FLAGS_LINUX) -o $@ $^\n"
                    "tool.app: a.c\n\t$(CC_MAC) -DMAC -o $@ $^\n"
                    "DEV := -D'DAY=\"$(ON)\"'\nON = monday\nSLOW = -DSLOW\n"
                    ".c.o:\n\t$(CC) $(CFLAGS) $(DEV) -c $<\nslow.o: a.c\n\t$(CC) $(SLOW) -c $<\n",
        "a.c": "#if !defined LINUX || defined MAC || !defined DAY || defined SLOW\n#error\n#endif\n"
               "int a(void) { return 0; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_conditions_for_automake_are_those_of_choices_that_nobody_makes(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    tests = {"YES": 'test "$long" = true', "NO": 'test "x$enable_debug" = "xyes"',
             "SET": "[test -n $before]", "NOT": '[[ "$with_thing" != no ]]',
             "FOUND": 'test "$found" = yes'}  # fmt: skip
    write(root, {
        "configure.ac": f"{SCRIPT}before=2\nAC_ARG_ENABLE(long, [--disable-long less],\n"
        "[case $enableval in yes) long=true ;; no) long=false ;; esac], [long=true])\n"
        "AC_ARG_ENABLE([debug], [more])\nAC_ARG_WITH([thing], [it])\nfound=no\n"
        "AC_CHECK_FUNC(puts, [found=yes])\n"
        + "".join(f"AM_CONDITIONAL([{name}], {test})\n" for name, test in tests.items()),
        "Makefile.am": "bin_PROGRAMS = a\nAM_CFLAGS =\n" + "".join(
            f"if {name}\nAM_CFLAGS += -DIN_{name}\nelse\nAM_CFLAGS += -DOUT_{name}\nendif\n"
            for name in tests),
        "a.c": "".join(f"#ifdef {side}_{name}\nint at_{side}_{name}(void) {{ return 0; }}\n#endif\n"
                       for name in tests for side in ("IN", "OUT")),
    })  # fmt: skip
    assert functions(root) == ["at_IN_FOUND", "at_IN_NOT", "at_IN_SET", "at_IN_YES", "at_OUT_NO"]


@needs_compiler
def test_branches_of_a_set_up_are_those_taken_when_nobody_chooses(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(root, {
        "configure.ac": "AC_INIT([shop], [1])\nuse_double=no\n"
                        "AC_ARG_ENABLE(double-precision,\n  AS_HELP_STRING([--enable-double], [if"
                        " more is wanted]),\n  [use_double=yes])\n"
                        "AC_ARG_WITH([colour], [], [with_colour=$withval], [with_colour=yes])\n"
                        "AC_ARG_ENABLE([trace], [], [\n  if test \"x$enable_trace\" != xyes; then\n"
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
        "room.h.in": "@ROOM@\n#define TAG \"@PACKAGE@\"\n",
        "a.c": '#include "room.h"\n#if COLOUR == 7\nint coloured(void) { return getpid(); }\n'
               "#endif\n" + "".join(f"#ifdef {name}\nint has_{name}(void) {{ return 1; }}\n#endif\n"
               for name in ("SINGLE", "DOUBLE", "TRACE", "TRACED", "PLAIN", "NOBODY", "ROOM",
                            "WINDOWS", "HAVE_STRDUP", "HAVE_PATTERN")),
    })  # fmt: skip
    assert functions(root) == ["coloured", "has_HAVE_STRDUP", "has_SINGLE"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux is called")
def test_what_a_set_up_finds_out_about_the_machine_is_known(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(root, {
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
    })  # fmt: skip
    assert functions(root) == ["ours"]


@needs_compiler
@pytest.mark.parametrize("files", [
    {"configure": '#!/bin/sh\nVERSION="1.3"\nCC=gcc\nMORE=""\nsed -e "s|{VERSION}|$VERSION|g"'
                  ' -e "s|{CC}|$CC|" \\\n    -e "s|{MORE}|$MORE $CFLAGS|" -e "s|[a-z]|x|" '
                  "< src/Makefile.in > src/Makefile\n",
     "src/Makefile.in": 'CC = {CC}\nCFLAGS = -O2 {MORE} -DVERSION=\\"{VERSION}\\"\n'
                        "a: a.o\n\t$(CC) -o a a.o\n"},
    {"src/GNUmakefile": "a clean: Makefile\n\t$(MAKE) -f Makefile $@\n\n"
                        "Makefile: Makefile.def\n\tsed \\\n"
                        "\t\t-e 's:flags= :flags= -DPLACE=3 :' \\\n"
                        "\t\tMakefile.def > Makefile\n",
     "src/Makefile.def": "flags= -DVERSION='\"1.3\"'\na: a.c\n\t$(CC) -o a $(flags) a.c\n"},
    {"src/Makefile": "a:\n\t@$(MAKE) -f ours.mk\n",
     "src/ours.mk": "CFLAGS = -DVERSION='\"1.3\"'\n%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n"},
    {"Makefile": "OS = linux\nCDEFS = -DVERSION='\"1.3\"'\nexport CDEFS\nall:\n"
                 "\t$(MAKE) -C src -f makefiles/Makefile.$(OS)\n",
     "src/makefiles/Makefile.linux": "CFLAGS ?= -O3\nCFLAGS += $(CDEFS)\na: a.o\n",
     "src/makefiles/Makefile.amiga": "CFLAGS = -DVERSION=amiga\na: a.o\n"},
])  # fmt: skip
def test_makefiles_that_sed_makes_of_others_are_read_as_it_makes_them(
    tmp_path: Path, files: dict[str, str]
) -> None:
    root = tmp_path / "made"
    write(
        root,
        {
            **files,
            "src/a.c": "int a(void) { return sizeof VERSION; }\n"
            "_Static_assert(sizeof VERSION == 4, VERSION);\n"
            "#ifdef PLACE\nint placed(void) { return PLACE; }\n#endif\n",
        },
    )
    assert functions(root) == ["a", *(["placed"] if "src/Makefile.def" in files else [])]


@needs_compiler
def test_a_version_that_nothing_says_is_empty(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(root, {
        "Makefile": "PACKAGE_VERSION ?= $(shell git describe --dirty 2>/dev/null | sed s/^v//)\n"
                    'DEFS := -DPACKAGE_VERSION=\\"$(PACKAGE_VERSION)\\"\n'
                    "a: a.c\n\t$(CC) $(CFLAGS) -o $@ $< $(DEFS)\n",
        "a.c": "int a(void) { return 0; }\n_Static_assert(sizeof PACKAGE_VERSION == 1, \"\");\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux is called")
def test_the_machine_is_called_as_the_own_script_for_that_calls_it(tmp_path: Path) -> None:
    root = tmp_path / "old"
    machine = platform.machine()
    write(root, {
        "configure.in": "AC_INIT(a.c)\nAC_CONFIG_HEADER(config.h)\nAC_CANONICAL_HOST\n"
                        'AC_DEFINE_UNQUOTED(HOST_TYPE,"$host")\n',
        "tools/config.guess": f"    {machine}:Minix:*:*)\n\techo {machine}-pc-minix\n\texit ;;\n"
                              f"    {machine}:Linux:*:*)\n\techo {machine}-mine-linux-gnu\n"
                              "\texit ;;\n",
        "a.c": '#include "config.h"\nint a(void) { return 0; }\n'
               f'_Static_assert(sizeof HOST_TYPE == sizeof "{machine}-mine-linux-gnu", "");\n',
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_of_two_set_ups_each_says_what_its_own_files_are_called(tmp_path: Path) -> None:
    root = tmp_path / "two"
    write(root, {
        "configure.in": "AC_INIT(configure.in)\nAM_INIT_AUTOMAKE(two, 1.75)\n",
        "src/a.c": "int a(void) { return 0; }\n_Static_assert(sizeof VERSION == 5, VERSION);\n",
        "test/configure.in": "AC_INIT(configure.in)\nAM_CONFIG_HEADER(config.h)\n"
                             "AM_INIT_AUTOMAKE(test, 0.1)\n",
        "test/config.h.in": "#undef NOTHING\n",
        "test/b.c": "#include <config.h>\nint b(void) { return 0; }\n",
    })  # fmt: skip
    assert functions(root) == ["a", "b"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="asks what Linux is called")
def test_makefiles_that_make_a_target_called_like_the_system_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "systems"
    write(root, {
        "Makefile": 'SYS := $(shell uname -s | tr -d "[0-9]" | tr -d "-" | tr "[A-Z]" "[a-z]")\n'
                    "all: $(SYS) a\nlinux: CC += -D__LINUX -DSEEN=2\nlinux: a\n"
                    "darwin: CC += -D__MACOSX\ndarwin: a\nlinux: CC = gcc -DOTHER\n"
                    "%.o: %.c\n\t$(CC) $(CFLAGS) -c $<\na: a.o\n\t$(CC) -o a a.o\n",
        "a.c": "#if !defined __LINUX || SEEN != 2 || defined __MACOSX || defined OTHER\n#error\n"
               "#endif\nint a(void) { return 0; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_what_cmake_defines_with_its_variables_is_known(tmp_path: Path) -> None:
    root = tmp_path / "graph"
    write(root, {
        "Makefile": "all: build\n\t$(MAKE) -C build\nbuild:\n"
                    "\tmkdir build && cd build && cmake ..\n",
        "CMakeLists.txt": "project(graph C)\nset(MAJOR 3)\nset(MINOR \"1\")\n"
                          "execute_process(\n    COMMAND git describe --tags\n"
                          "    OUTPUT_VARIABLE REVISION)\n"
                          'if(REVISION)\n  set(REVISION "-${REVISION}")\nendif()\n'
                          "set(VERSION ${MAJOR}.${MINOR}${REVISION})\nset(WHERE here)\n"
                          'set(KIND 2 CACHE STRING "which")\n'
                          "if(UNIX)\n  set(WHERE there)\nelse()\n  set(ELSE 1)\nendif()\n"
                          'add_definitions(-DVERSION="${VERSION}" "-DPLAIN=1" -DWHERE=${WHERE}'
                          " -DELSE=${ELSE} -DNOBODY=${NOBODY} -DKIND=${KIND})\n",
        "a.c": "#define here 1\n#define there 2\n#if WHERE != there || PLAIN != KIND / 2\n"
               "#error\n#endif\nint a(void) { return 0 ELSE NOBODY; }\n"
               "_Static_assert(sizeof VERSION == 4, VERSION);\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@needs_compiler
def test_branches_that_m4_writes_and_what_is_found_out_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "pings"
    write(root, {
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
        "Makefile.am": "bin_PROGRAMS = a\na_SOURCES = a.c\nif SIX\na_CFLAGS = -DSIX_TOO\nendif\n",
        "a.c": '#include "config.h"\n' + "".join(
            f"#ifdef {name}\nint of_{name}(void) {{ return 0; }}\n#endif\n"
            for name in ("HAS_SIX", "NO_SIX", "HAS_SUCH", "TRACE", "NOBODY", "UNSURE", "PLAIN",
                         "SIX_TOO")),
    })  # fmt: skip
    assert functions(root) == ["of_HAS_SIX", "of_PLAIN", "of_SIX_TOO"]


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="asks what Linux is called")
def test_where_only_systems_can_be_asked_for_this_one_is(tmp_path: Path) -> None:
    root = tmp_path / "sentry"
    write(root, {
        "Makefile": "CC = cc\n\nall:\n\t@echo 'Usage: make <system>'\n\t@echo\n\nbsd:\n"
                    "\t$(CC) -DBSD44 -o sentry ./a.c\n\nlinux-old:\n\t$(CC) -DOLD -o sentry ./a.c\n"
                    "\nlinux:\t\t\n\tSYSTEM=linux\n\t$(CC) -DLINUX -DMORE=1 -o sentry ./a.c\n",
        "a.c": "#if !defined LINUX || MORE != 1 || defined BSD44 || defined OLD\n#error\n#endif\n"
               "int a(void) { return 0; }\n",
    })  # fmt: skip
    assert functions(root) == ["a"]


@pytest.mark.parametrize("text", [
    "if(" * 50_000, "if(" + "(" * 50_000 + ")", "if(" + "NOT " * 50_000 + "A)", "[[ " * 50_000,
    "set(L a)\n" + "list(APPEND L b)\n" * 20_000, "include(CMakeLists.txt)\n" * 100,
    f"if({'9' * 5_000} VERSION_LESS {'9' * 5_001})\nendif()", "a(" * 50_000, "a = [\n" * 50_000,
    "'a'.format(" * 20_000, "x" * 200_000,
])  # fmt: skip
def test_hostile_set_ups_end(tmp_path: Path, text: str) -> None:
    for name in (cmake.NAME, meson.NAME):
        (tmp_path / name).write_text(text)
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    assert all(isinstance(words, list) for words in cmake.set_up(tmp_path).ways_of("a.c"))
    assert isinstance(meson.words_of(tmp_path, "a.c"), list)
