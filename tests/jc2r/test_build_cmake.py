"""What CMake and Meson would decide is read from their files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from project import jc2r, write

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


def functions(root: Path) -> list[str]:
    done = jc2r("scan", "--no-graphs", root)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return sorted(one["name"] for one in records if one.get("category") == "function")


@needs_compiler
def test_what_cmake_would_write_and_define_is_guessed(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "CMakeLists.txt": "project(tool VERSION 3.4.5 LANGUAGES C)\nset (SIZE_TYPE int)\n"
            'set(LEVEL 4)\nset(LEVELS "${LEVEL}2")\n'
            'if(NOW_IN_GIT)\n  set(BUILT dirty)\nelse()\n  set(BUILT "")\nendif()\n'
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
        },
    )
    assert functions(root) == ["logged"]


@needs_compiler
def test_what_cmake_decides_is_decided(tmp_path: Path) -> None:
    root = tmp_path / "shelf"
    write(
        root,
        {
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
        },
    )
    assert functions(root) == ["main", "one", "two"]


@needs_compiler
def test_what_meson_gives_the_compiler_is_known(tmp_path: Path) -> None:
    root = tmp_path / "kit"
    write(
        root,
        {
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
            "show/meson.build": "executable('show', 'show.c', c_args : ['-DSHOWN'], link_with : "
            "kit)\n",
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
        },
    )
    assert functions(root) == ["main", "one", "two"]


@needs_compiler
def test_what_only_meson_works_out_is_no_text_of_the_header(tmp_path: Path) -> None:
    root = tmp_path / "kit"
    write(
        root,
        {
            "meson.build": """project('kit', 'c', version : files('version.txt'))
cc = meson.get_compiler('c')
version = meson.project_version()
parts = version.split('.')
major = parts[0].to_int()
minor = parts[1]
hex = '0123456789abcdef'
conf = configuration_data()
conf.set('MAJOR', major)
conf.set('MINOR', minor)
conf.set('NUMBER', '0x@0@@1@'.format(hex[major / 16], hex[major % 16]))
conf.set('HAVE_STRDUP', cc.has_function('strdup'))
conf.set10('SHINY', cc.has_header('shiny.h'))
configure_file(input : 'kit.h.in', output : 'kit.h', configuration : conf)
library('kit', 'kit.c')
""",
            "version.txt": "4.21.2\n",
            "kit.h.in": "#define KIT_MAJOR @MAJOR@\n#define KIT_MINOR @MINOR@\n"
            "#define KIT_NUMBER @NUMBER@\n#mesondefine HAVE_STRDUP\n#mesondefine SHINY\n",
            "kit.c": """#include "kit.h"
#if KIT_MAJOR != 4 || KIT_MINOR != 21 || HAVE_STRDUP != 1 || SHINY
#error not as Meson has it
#endif
int number(void) { return KIT_NUMBER; }
""",
        },
    )
    assert functions(root) == ["number"]


@needs_compiler
def test_a_version_is_a_text_where_autoconf_and_cmake_both_define_it(tmp_path: Path) -> None:
    root = tmp_path / "kit"
    write(
        root,
        {
            "CMakeLists.txt": 'project(kit VERSION 4.1.1)\nset(VERSION "${PROJECT_VERSION}")\n'
            "add_library(kit kit.c)\n",
            "configure.ac": "AC_INIT(kit, 4.1.1)\nAC_CONFIG_HEADERS([config.h])\nAC_OUTPUT\n",
            "config.h.in": "#undef VERSION\n",
            "kit.c": "#include <config.h>\nconst char *version(void) { return VERSION; }\n",
        },
    )
    assert functions(root) == ["version"]


@needs_compiler
def test_what_cmake_defines_with_its_variables_is_known(tmp_path: Path) -> None:
    root = tmp_path / "graph"
    write(
        root,
        {
            "Makefile": "all: build\n\t$(MAKE) -C build\nbuild:\n"
            "\tmkdir build && cd build && cmake ..\n",
            "CMakeLists.txt": 'project(graph C)\nset(MAJOR 3)\nset(MINOR "1")\n'
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
        },
    )
    assert functions(root) == ["a"]
