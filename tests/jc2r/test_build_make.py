"""What makefiles say is read and never run."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from project import jc2r, write

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


SCRIPT = "AC_INIT([shop], [1.4], [bugs@example.org])\nAC_DEFINE([LIMIT], [7], [most])\n"


def functions(root: Path) -> list[str]:
    done = jc2r("scan", "--no-graphs", root)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return sorted(one["name"] for one in records if one.get("category") == "function")


@needs_compiler
def test_what_a_set_up_by_hand_and_its_makefiles_would_say_is_guessed(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(
        root,
        {
            "configure.ac": SCRIPT,
            "src/Makefile.am": 'AM_CPPFLAGS = -DHOME_OF=\\"$(pkgdatadir)\\" '
            '-DCALLED=\\"@PACKAGE@\\"\n'
            'a.o: a.c\n\t$(CC) -c $(CFLAGS) -DMADE_AS=\\"$(PACKAGE)\\" -o $@ a.c\n',
            "src/a.c": '#include "made-config.h"\n#include <unistd.h>\n#include "own.h"\n'
            '__RCSID("$Id$");\n'
            "#if SIZEOF_LONG != 8 || !defined HAVE_OFF_T\n#error no sizes\n#endif\n"
            "const char *home(void) { return HOME_OF CALLED MADE_AS; }\n",
            "dos/unistd.h": "#error not for this machine\n",
            "dos/own.h": "int own(void);\n",
            "src/old.c": '#include "old.h"\n#include <getopt.h>\n',
            "port/old.h": "int old;\n",
            "port/getopt.h": "#error not for this machine\n",
        },
    )
    assert functions(root) == ["home"]


@needs_compiler
@pytest.mark.parametrize("place", ["VERSION", "$(srcdir)/VERSION"])
def test_what_makefiles_ask_the_shell_for_is_read_or_unknown(tmp_path: Path, place: str) -> None:
    root = tmp_path / "asks"
    write(
        root,
        {
            "VERSION": "2.7\n",
            "a.c": "const char *said(void) { return VERSION BUILT DAY; }\n"
            '_Static_assert(sizeof VERSION == 4, "read");\n'
            '_Static_assert(sizeof BUILT == 1 && sizeof TAG == 5, "there is no repository");\n',
            "Makefile": 'BUILT := $(shell git describe --tags)\nCFLAGS += -DBUILT=\\"$(BUILT)\\"'
            ' -DTAG=\\"$(shell git tag 2>/dev/null || echo none)\\"'
            ' -DDAY=\\"`date +%F`\\"\na.o: a.c\n'
            f'\t$(COMPILE) -DVERSION=\\"$(shell cat {place})\\" -c $<\n',
        },
    )
    assert functions(root) == ["said"]


@needs_compiler
def test_conditionals_of_makefiles_are_decided_without_running_anything(tmp_path: Path) -> None:
    root = tmp_path / "decides"
    write(
        root,
        {
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
            "part/Makefile": "include made.mk\nifdef MADE\nCFLAGS += -DA\nelse\nCFLAGS += -DB\n"
            "endif\n"
            "CFLAGS += -DC\n",
            "part/b.c": "#if defined A || defined B || !defined C\n#error\n#endif\nint b(void);\n"
            "int b(void) { return C; }\n",
            "a.c": "#if !defined LINUX || defined MAC || defined ELSE || ICONS != 3 || defined "
            "PLAIN\n"
            "#error system\n#endif\n"
            "#if defined TRACED || !defined QUIET || !defined NESTED || !defined WITHOUT\n"
            "#error asked\n#endif\n#if defined FAST || defined SLOW || defined NONE\n"
            "#error run\n#endif\nint a(void) { return FOUND; }\n",
        },
    )
    assert functions(root) == ["a", "b"]
    assert not (root / "ran").exists()


@needs_compiler
def test_letters_that_makefiles_change_in_the_name_of_the_system_are_changed(
    tmp_path: Path,
) -> None:
    root = tmp_path / "letters"
    write(
        root,
        {
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
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
@pytest.mark.parametrize(
    "makefile",
    [
        "all: a.o\n.c.o:\n\t$(CC) -std=c99 -pedantic -c $(CFLAGS) $<\n",
        "all: tool\ntool: a.c\n\tgcc -ansi $(CFLAGS) -o tool a.c\n",
        "LOCAL_CFLAGS = $(CFLAGS) -std=c99\nall: a.o\n%.o: %.c\n\t$(CC) -c $(LOCAL_CFLAGS) $< "
        "-o $@\n",
        "all: tool\ntool: a.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -std=c11 $(CFLAGS) -c -o $@ "
        "$<\n",
    ],
)
def test_commands_of_makefiles_name_the_version_of_c(tmp_path: Path, makefile: str) -> None:
    """In the strict ones `unix` is no macro. What only the shell would say is nothing within a
    word, and does not tear it."""
    root = tmp_path / "strict"
    write(
        root,
        {
            "Makefile": "PART = $(shell echo 0.3).$(shell ./part.sh)\n"
            'CFLAGS = -DPART=\\"$(PART)\\" -DHERE'
            f" -DWHO='\"$(shell whoami)\"' $(shell ./more.sh)\n{makefile}",
            "a.c": "_Static_assert(sizeof PART == 5 && sizeof WHO == 1 && HERE, PART WHO);\n"
            "static struct { int unix; } a;\nint at(void) { return a.unix; }\n",
        },
    )
    assert functions(root) == ["at"]


@needs_compiler
def test_what_is_made_when_nothing_is_asked_for_counts(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile": "UNAME := $(shell uname -s)\nifeq ($(UNAME),Darwin)\n  CFLAGS += -DMAC\n"
            "else ifeq ($(OS),Windows_NT)\n  CFLAGS += -DWIN\nelse\n"
            "  CFLAGS += -DOTHER\nendif\nifeq ($(OS),Windows_NT)\n\tifndef SLOW\n"
            "\t\toverride CFLAGS += -D WIN\n\tendif\nelse\n\tifdef MAC\n"
            "\t\tCFLAGS += -DMAC\n"
            "\telse\n\t\tifeq ($(UNAME),Darwin)\n\t\t\tCFLAGS += -DMAC\n\t\tendif\n"
            "\tendif\nendif\nifdef DEBUG\n  CFLAGS += -DSLOW\nelse\n"
            "  CFLAGS += -DFAST\nendif\nall: tool\nmac:\n\t$(CC) -DMAC -o tool a.c\n"
            'L = LEVELLED\nLEVEL = -D $L -DNAME=\\"$L\\"\n'
            "tool: a.c\n\t$(CC) -o tool a.c -DHERE $(LEVEL) $(CFLAGS)\n",
            "a.c": "#if defined MAC || defined WIN || defined SLOW || !defined FAST || !defined "
            "HERE\n"
            "#error not as make has it\n#endif\n"
            "int a(void) { return OTHER + HERE + LEVELLED + sizeof NAME; }\n",
            "lib/getopt.c": "#error for other systems\nint getopt(int c, char *const v[],"
            " const char *o) { return c; }\n",
            "lib/more.c": "int more(void) { return 1; }\n",
        },
    )
    assert functions(root) == ["a", "more"]
    said = jc2r("scan", "--no-graphs", root).stdout
    assert "lib/getopt.c is skipped: no makefile names it" in said


@needs_compiler
def test_what_no_makefile_names_and_does_not_compile_is_no_part(tmp_path: Path) -> None:
    """What a test reads looks like C, too. A file that a makefile names counts, and one that
    compiles."""
    root = tmp_path / "tool"
    files = {
        "Makefile": "tool: a.c\n\tcc -o tool a.c\ntest: tool\n\tsh run-tests.sh tests\n"
        "clean:\n\trm -f tool tests/*.first-err first\n",
        "a.c": "int main(void) { return 0; }\n",
        "tests/first-err.c": "#error as the test wants it\nint first(void) { return 1; }\n",
        "tests/second.c": "int second(void) { return 2; }\n",
    }
    write(root, files)
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 functions in Rust" in done.stdout
    assert "no makefile names them and they do not compile: tests/first-err.c" in done.stdout
    again = jc2r("run", "--baseline", root)
    assert again.returncode == 0 and "2 of 2 functions in Rust" in again.stdout
    files["Makefile"] += "first: tests/first-err.c\n\tcc -o first tests/first-err.c\n"
    write(root, files)
    done = jc2r("run", "--baseline", "--reset", root)
    assert done.returncode == 1, "it is a part that does not compile"
    assert "tests/first-err.c: not translated, with 1 function" in done.stdout + done.stderr


@needs_compiler
def test_what_stands_in_for_the_c_library_is_left_out_where_automake_names_it(
    tmp_path: Path,
) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile.am": "bin_PROGRAMS = tool\ntool_SOURCES = a.c\ntool_LDADD = @LIBOBJS@\n",
            "Makefile.in": "DIST_COMMON = a.c forkpty.c\nall: tool\n",
            "a.c": "#include <pty.h>\nint a(void) { return 1; }\n",
            "forkpty.c": "#include <pty.h>\nint forkpty(int *own, char *name) { return -1; }\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_texts_that_commands_of_makefiles_define_are_taken(tmp_path: Path) -> None:
    """Those that the shell would have to work out are left out."""
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile": "PREFIX ?= /usr/local\nall: tool other\nbuild/%.o: src/%.c\n"
            "\t@$(CC) $(CFLAGS) -DDATA='\"$(PREFIX)/share\"' -DMARK=\"'x'\""
            " -DNOT='\"'`$(PERL) -v`'\"' -c -o $@ $<\n"
            "tool: build/a.o\n\t$(CC) -o $@ $^\n"
            'other: src/b.c\n\t$(CC) -DTEXT=\'"a b"\' -DALSO=\\"c\\" -o $@ src/b.c\n',
            "src/a.c": '#ifdef NOT\n#error asked for\n#endif\n_Static_assert(MARK == 120, "");\n'
            'int a(void) { return sizeof DATA "" == 17 ? 1 : -1; }\n',
            "src/b.c": 'int b(void) { return sizeof TEXT "" ALSO; }\n',
        },
    )
    assert functions(root) == ["a", "b"]


@needs_compiler
@pytest.mark.parametrize("rule", ["%: %.c", ".c:", "%.o: %.c", ".c.o:"])
def test_what_rules_for_every_file_give_the_compiler_is_taken(tmp_path: Path, rule: str) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile": 'PLACE ?= /etc/tool\nNAMES = -DPLACE=\\"$(PLACE)\\"\nall: a b\n'
            f"{rule}\n\t$(Q)$(CC) $(CFLAGS) $(NAMES) -DPART -o $@ $<\n"
            "%.lo: %.c\n\t$(CC) -DPART -DSHARED -c -o $@ $<\n",
            "a.c": "#if !defined PART || defined SHARED\n#error\n#endif\n"
            "int a(void) { return sizeof PLACE; }\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_files_of_a_folder_are_compiled_as_the_rule_of_the_folder_says(tmp_path: Path) -> None:
    """Here the strict mode that the other files are compiled in has no word `asm`."""
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile": "OWNFLAGS = -std=c99 -DOWN\nIN = lib\nall: tool\n"
            "tool: a.c lib/b.o\n\t$(CC) $(OWNFLAGS) -o $@ a.c lib/b.o\n"
            "$(IN)/%.o: $(IN)/%.c\n\t$(CC) -MM $(OWNFLAGS) $< > $*.d\n"
            "\t$(CC) $(CFLAGS) -DLIB -c -o $@ $<\n",
            "a.c": "#if !defined OWN || defined LIB\n#error\n#endif\nint a(int asm) { return "
            "asm; }\n",
            "lib/b.c": "#if defined OWN || !defined LIB\n#error\n#endif\n"
            'int b(void) { asm(""); return 1; }\n',
        },
    )
    assert functions(root) == ["a", "b"]


@needs_compiler
@pytest.mark.parametrize(
    "call",
    [
        'cd src; $(Q)$(MAKE) all DATA=$(PLACE)/data LEVEL="$(LEVEL)"',
        "$(MAKE) -C src LEVEL=4 DATA='$(PLACE)/data'",
        'for d in $(PARTS); do (cd $$d && $(MAKE) LEVEL="4" DATA="$(PLACE)/data"); done',
    ],
)
def test_what_a_makefile_hands_to_those_below_is_known_there(tmp_path: Path, call: str) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile.in": "PLACE = @datadir@/tool\nLEVEL = 4\nPARTS = src\nall:\n"
            f"\t{call}\nclean:\n\tcd doc; $(MAKE) LEVEL=5 clean\n",
            "src/Makefile": "LEVEL = 1\nall: a.o\n.c.o:\n"
            "\t$(CC) -c -DDATA='\"$(DATA)\"' -DLEVEL=$(LEVEL) $<\n",
            "src/a.c": '_Static_assert(sizeof DATA == sizeof "/usr/local/share/tool/data", "");\n'
            "#if LEVEL != 4\n#error\n#endif\nint a(void) { return 1; }\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_a_tab_before_all_rules_begins_no_command(tmp_path: Path) -> None:
    root = tmp_path / "tool"
    write(
        root,
        {
            "Makefile": "ifeq (WORD,)\n\tCFLAGS += -DNONE\nelse\n\tCFLAGS += -DSOME\nendif\n"
            "all: a\na: a.c\n\tCFLAGS=-DNEVER $(CC) -o a a.c\n",
            "a.c": "#if defined NONE || defined NEVER || !defined SOME\n#error\n#endif\n"
            "int a(void) { return 1; }\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_files_are_compiled_with_the_flags_of_their_targets(tmp_path: Path) -> None:
    """Those of one program are not given to another; what is only for checks does not come first,
    or `part` would not be there."""
    root = tmp_path / "tool"
    write(
        root,
        {
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
        },
    )
    assert functions(root) == ["part", "probe", "probed", "shared", "small"]
    units = json.loads((root / ".jarvis/c2rust/meta.json").read_text())["units"]
    assert sorted(Path(one).name for one in units if "part" in one) == [
        "part.c",
        "part_2.c",
        "part_3.c",
    ]


@needs_compiler
def test_programs_named_by_another_ending_are_targets(tmp_path: Path) -> None:
    """`$(TESTS:.test=)` names programs, so that a file they share with another target is compiled
    for them, too."""
    root = tmp_path / "named"
    write(
        root,
        {
            "Makefile.am": "TESTS = plain.test\nTESTS += spaced.sh\n"
            "check_PROGRAMS = $(TESTS:.test=)\ncheck_PROGRAMS += formatted\n"
            "formatted_SOURCES = plain.c\nformatted_CPPFLAGS = -DFORMATTED\n",
            "plain.c": "#ifdef FORMATTED\nint formatted(void) { return 1; }\n"
            "#else\nint plain(void) { return 2; }\n#endif\n",
        },
    )
    assert functions(root) == ["formatted", "plain"]


@needs_compiler
def test_a_configure_written_by_hand_makes_the_header_of_its_name(tmp_path: Path) -> None:
    root = tmp_path / "checked"
    write(
        root,
        {
            "configure": "#!/bin/sh\nname=checked\n",
            "Makefile.in": "DEFS = -DHAVE_CONFIG_H\n",
            "a.c": "#ifdef HAVE_CONFIG_H\n# include <config.h>\n#endif\n#ifdef HAVE_STRDUP\n"
            "int seen(void) { return 1; }\n#endif\n",
        },
    )
    assert functions(root) == ["seen"]


@needs_compiler
def test_what_makefiles_set_for_the_targets_that_are_made_is_taken(tmp_path: Path) -> None:
    root = tmp_path / "targets"
    write(
        root,
        {
            "Makefile": 'all: tool other\ntool other: CPPFLAGS += -DWORD=\\"$(shell cat WORD)\\"\n'
            "tool: CFLAGS += -DONLY=1\nother: CFLAGS += -DONLY=2\n"
            'MORE := $(shell test -d no && echo no)\nCPPFLAGS += -DMORE=\\"$(MORE)\\"\n'
            "debug: CFLAGS += -DDEBUG\ntool: LDFLAGS += -DLINKED\ntool: CC = cc -DCC\n",
            "WORD": "seven\n",
            "a.c": "#if defined DEBUG || defined ONLY || defined LINKED || defined CC\n#error\n"
            "#endif\n"
            "int a(void) { return 1; }\n_Static_assert(sizeof WORD == 6, WORD MORE);\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_rules_for_what_later_rules_need_count(tmp_path: Path) -> None:
    root = tmp_path / "later"
    write(
        root,
        {
            "Makefile": "WORDS = 1\nifdef WORDS\n  OF_WORDS = -DWORDS\nendif\nTOOL = tool\n"
            "all: $(TOOL)\na.o: a.c\n\t$(CC) $(OF_WORDS) $(CFLAGS) -c $< -o $@\n"
            "slow.o: a.c\n\t$(CC) -DSLOW -c $< -o $@\n$(TOOL): a.o\n\t$(CC) $+ -o $@\n",
            "a.c": "#if defined SLOW || !defined WORDS\n#error\n#endif\nint a(void) { return 0; "
            "}\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_compilers_that_makefiles_have_for_each_system_are_compilers(tmp_path: Path) -> None:
    root = tmp_path / "systems"
    write(
        root,
        {
            "Makefile": "CC_LINUX = $(CC)\nCC_MAC = maccc\nFLAGS_LINUX = -DLINUX\nall: tool\n"
            "tool: a.c\n\t$(CC_LINUX) $(FLAGS_LINUX) -o $@ $^\n"
            "tool.app: a.c\n\t$(CC_MAC) -DMAC -o $@ $^\n"
            "DEV := -D'DAY=\"$(ON)\"'\nON = monday\nSLOW = -DSLOW\n"
            ".c.o:\n\t$(CC) $(CFLAGS) $(DEV) -c $<\nslow.o: a.c\n\t$(CC) $(SLOW) -c $<\n",
            "a.c": "#if !defined LINUX || defined MAC || !defined DAY || defined SLOW\n#error\n"
            "#endif\n"
            "int a(void) { return 0; }\n",
        },
    )
    assert functions(root) == ["a"]


@needs_compiler
def test_conditions_for_automake_are_those_of_choices_that_nobody_makes(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    tests = {
        "YES": 'test "$long" = true',
        "NO": 'test "x$enable_debug" = "xyes"',
        "SET": "[test -n $before]",
        "NOT": '[[ "$with_thing" != no ]]',
        "FOUND": 'test "$found" = yes',
    }
    write(
        root,
        {
            "configure.ac": f"{SCRIPT}before=2\nAC_ARG_ENABLE(long, [--disable-long less],\n"
            "[case $enableval in yes) long=true ;; no) long=false ;; esac], [long=true])\n"
            "AC_ARG_ENABLE([debug], [more])\nAC_ARG_WITH([thing], [it])\nfound=no\n"
            "AC_CHECK_FUNC(puts, [found=yes])\n"
            + "".join(f"AM_CONDITIONAL([{name}], {test})\n" for name, test in tests.items()),
            "Makefile.am": "bin_PROGRAMS = a\nAM_CFLAGS =\n"
            + "".join(
                f"if {name}\nAM_CFLAGS += -DIN_{name}\nelse\nAM_CFLAGS += -DOUT_{name}\nendif\n"
                for name in tests
            ),
            "a.c": "".join(
                f"#ifdef {side}_{name}\nint at_{side}_{name}(void) {{ return 0; }}\n#endif\n"
                for name in tests
                for side in ("IN", "OUT")
            ),
        },
    )
    assert functions(root) == ["at_IN_FOUND", "at_IN_NOT", "at_IN_SET", "at_IN_YES", "at_OUT_NO"]


@needs_compiler
@pytest.mark.parametrize(
    "files",
    [
        {
            "configure": '#!/bin/sh\nVERSION="1.3"\nCC=gcc\nMORE=""\nsed -e '
            '"s|{VERSION}|$VERSION|g"'
            ' -e "s|{CC}|$CC|" \\\n    -e "s|{MORE}|$MORE $CFLAGS|" -e "s|[a-z]|x|" '
            "< src/Makefile.in > src/Makefile\n",
            "src/Makefile.in": 'CC = {CC}\nCFLAGS = -O2 {MORE} -DVERSION=\\"{VERSION}\\"\n'
            "a: a.o\n\t$(CC) -o a a.o\n",
        },
        {
            "src/GNUmakefile": "a clean: Makefile\n\t$(MAKE) -f Makefile $@\n\n"
            "Makefile: Makefile.def\n\tsed \\\n"
            "\t\t-e 's:flags= :flags= -DPLACE=3 :' \\\n"
            "\t\tMakefile.def > Makefile\n",
            "src/Makefile.def": "flags= -DVERSION='\"1.3\"'\na: a.c\n\t$(CC) -o a $(flags) a.c\n",
        },
        {
            "src/Makefile": "a:\n\t@$(MAKE) -f ours.mk\n",
            "src/ours.mk": "CFLAGS = -DVERSION='\"1.3\"'\n%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ "
            "$<\n",
        },
        {
            "Makefile": "OS = linux\nCDEFS = -DVERSION='\"1.3\"'\nexport CDEFS\nall:\n"
            "\t$(MAKE) -C src -f makefiles/Makefile.$(OS)\n",
            "src/makefiles/Makefile.linux": "CFLAGS ?= -O3\nCFLAGS += $(CDEFS)\na: a.o\n",
            "src/makefiles/Makefile.amiga": "CFLAGS = -DVERSION=amiga\na: a.o\n",
        },
    ],
)
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
@pytest.mark.skipif(sys.platform != "linux", reason="asks what Linux is called")
def test_makefiles_that_make_a_target_called_like_the_system_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "systems"
    write(
        root,
        {
            "Makefile": 'SYS := $(shell uname -s | tr -d "[0-9]" | tr -d "-" | tr "[A-Z]" '
            '"[a-z]")\n'
            "all: $(SYS) a\nlinux: CC += -D__LINUX -DSEEN=2\nlinux: a\n"
            "darwin: CC += -D__MACOSX\ndarwin: a\nlinux: CC = gcc -DOTHER\n"
            "%.o: %.c\n\t$(CC) $(CFLAGS) -c $<\na: a.o\n\t$(CC) -o a a.o\n",
            "a.c": "#if !defined __LINUX || SEEN != 2 || defined __MACOSX || defined OTHER\n"
            "#error\n"
            "#endif\nint a(void) { return 0; }\n",
        },
    )
    assert functions(root) == ["a"]
