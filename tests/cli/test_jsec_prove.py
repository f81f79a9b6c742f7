"""`jsec prove`, `jsec replay` and `jsec doctor`, as processes with real compilers."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.jsec.proof.toolchain import find_toolchain
from tests.support.starting import quick

pytestmark = pytest.mark.watches()

FLAWED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy(const char *text)
{
    char place[16];
    strcpy(place, text);
    puts(place);
}

static void release(int n)
{
    char *p = malloc(10);
    if (p == NULL)
        return;
    if (n > 5)
        free(p);
    free(p);
}

int main(int argc, char **argv)
{
    FILE *f = fopen("out.txt", "w");
    if (argc > 1) {
        copy(argv[1]);
        release(atoi(argv[1]));
    }
    if (f) {
        fwrite("abc", 1, 3, f);
        fclose(f);
    }
    return 0;
}
"""
OPENS = """\
#include <stdio.h>
#include <string.h>

void show(int n, const char *s)
{
    char mode[MODE] = "";
    while (*s) {
        if (*s == 'r')
            n = 0;
        s++;
    }
    strcat(mode, n ? "w" : "r");
    puts(mode);
}
"""
SOUND = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy(const char *text)
{
    char place[16];
    if (strlen(text) < sizeof place) {
        strcpy(place, text);
        puts(place);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        copy(argv[1]);
    return 0;
}
"""

GRID = """\
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static int read_height(const char *name)
{
    char line[64];
    int height = 0;
    FILE *file = fopen(name, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        exit(1);
    fclose(file);
    if (sscanf(line, "grid %d", &height) != 1)
        exit(1);
    return height + 10;
}

int main(int argc, char **argv)
{
    int letter, width = 80;
    while ((letter = getopt(argc, argv, "vw:")) != -1)
        if (letter == 'w')
            width = 1000 / atoi(optarg);
    printf("%d\\n", width);
    if (optind < argc)
        printf("%d\\n", read_height(argv[optind]));
    return 0;
}
/* reads NAME.grid */
const char *suffix = ".grid";
"""

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or not find_toolchain().compiler,
    reason="no C compiler with sanitizers is here",
)


def jsec(*arguments: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with a home of its own."""
    return subprocess.run(
        [*quick("jarvis_ls.cli.jsec"), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C", "JARVIS_HOME": str(home), **variables},
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's own folder."""
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one flawed program."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.c").write_text(FLAWED)
    return folder


def prove(project: Path, home: Path, *names: str) -> dict[str, Any]:
    """Prove findings of a trusted folder; what `--format json` says."""
    done = jsec("prove", *names, str(project), "--trust", "--format", "json", home=home)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def scan(project: Path, home: Path) -> dict[str, dict[str, Any]]:
    """The issues of a scan by rule."""
    done = jsec("scan", str(project), "--format", "json", home=home)
    return {issue["rule"]: issue for issue in json.loads(done.stdout)["issues"]}


def by_rule(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["rule"]: finding for finding in told["findings"]}


def test_an_untrusted_folder_is_not_built(project: Path, home: Path) -> None:
    done = jsec("prove", "1", str(project), home=home)
    assert done.returncode == 2
    assert "--trust" in done.stderr
    assert not (project / ".jarvis").exists()


def test_findings_must_be_named(project: Path, home: Path) -> None:
    assert jsec("prove", str(project), "--trust", home=home).returncode == 2
    done = jsec("prove", "Cabcdef", str(project), "--trust", home=home)
    assert (done.returncode, "Cabcdef" in done.stderr) == (2, True)


@needs_compiler
def test_flaws_are_reproduced_replayed_and_gone_when_repaired(project: Path, home: Path) -> None:
    done = jsec("prove", "--all", str(project), "--trust", "--format", "json", home=home)
    assert done.returncode == 1, done.stderr
    found = by_rule(json.loads(done.stdout))
    for rule in ("write-past-buffer", "double-free", "unchecked-write"):
        assert found[rule]["proof"]["verdict"] == "reproduced", rule
    overflow = found["write-past-buffer"]["proof"]
    assert overflow["report"]["line"] == 8
    assert overflow["case"]["arguments"]
    assert sorted(path.name for path in project.iterdir()) == [".jarvis", "a.c"]

    case = overflow["case_id"]
    replayed = jsec("replay", case, str(project), "--trust", home=home)
    assert (replayed.returncode, "a.c:8" in replayed.stdout) == (1, True), replayed.stderr
    (project / "a.c").write_text(FLAWED.replace("strcpy(place, text)", "place[0] = *text"))
    replayed = jsec("replay", case, str(project), "--trust", home=home)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


@needs_compiler
def test_evidence_is_shown_while_the_function_stays_as_it_was(project: Path, home: Path) -> None:
    before = scan(project, home)["double-free"]
    assert "proof" not in before
    proven = by_rule(prove(project, home, before["id"]))["double-free"]
    case = proven["proof"]["case_id"]

    after = scan(project, home)["double-free"]
    assert (after["proof"]["verdict"], after["proof"]["case"]) == ("reproduced", case)
    assert after["confidence"] > before["confidence"]
    sarif = json.loads(jsec("scan", str(project), "--format", "sarif", home=home).stdout)
    shown = next(r for r in sarif["runs"][0]["results"] if r["ruleId"] == "double-free")
    assert shown["properties"]["evidence"]["verdict"] == "reproduced"
    assert case in shown["attachments"][0]["description"]["text"]
    for form in ("text", "markdown", "html"):
        assert case in jsec("scan", str(project), "--format", form, home=home).stdout, form
    chinese = jsec("scan", str(project), home=home, LC_ALL="zh_CN.UTF-8").stdout
    assert "已重现" in chinese

    source = FLAWED.replace("static void copy", "/* moved */\n\nstatic void copy")
    (project / "a.c").write_text(source)
    assert scan(project, home)["double-free"]["proof"]["case"] == case
    (project / "a.c").write_text(source.replace("n > 5", "n > 6"))
    assert "proof" not in scan(project, home)["double-free"]


@needs_compiler
def test_evidence_that_somebody_else_wrote_counts_for_nothing(
    project: Path, home: Path, tmp_path: Path
) -> None:
    prove(project, home, scan(project, home)["double-free"]["id"])
    kept = project / ".jarvis" / "sec" / "evidence.jsonl"
    whole = kept.read_text()
    kept.write_text(whole.replace('"reproduced"', '"refuted"'))
    assert "proof" not in scan(project, home)["double-free"]
    kept.write_text(whole + whole[: len(whole) // 2])
    assert scan(project, home)["double-free"]["proof"]["verdict"] == "reproduced"
    assert "proof" not in scan(project, tmp_path / "other")["double-free"]
    for damage in ('{"fingerprint": 3}', "[]", "nonsense", '{"fingerprint": "x", "signature": ""}'):
        kept.write_text(damage + "\n")
        assert "proof" not in scan(project, home)["double-free"]


@needs_compiler
def test_words_that_say_what_to_do_lead_to_flaws_of_the_sample(home: Path, tmp_path: Path) -> None:
    """The command that `npm start` names for a first look shows both flaws."""
    root = Path(__file__).resolve().parents[2]
    named = re.search(r"PROVEN = '(.*) (tests/\S+)'", (root / "scripts/start.mjs").read_text())
    assert named is not None
    sample = tmp_path / "sample"
    shutil.copytree(root / named[2], sample, ignore=shutil.ignore_patterns(".jarvis", "build"))
    command = ["prove", "--all", *named[1].split(), str(sample), "--format", "json"]
    done = jsec(*command, home=home)
    told = json.loads(done.stdout)["findings"]
    assert {item["rule"] for item in told} == {"write-past-buffer"}
    found = {item["file"]: item["proof"] for item in told}
    for file in ("src/import.c", "src/main.c"):
        assert found[file]["verdict"] == "reproduced", done.stderr
    assert "import" in found["src/import.c"]["case"]["arguments"]


@needs_compiler
def test_options_get_values_and_files_that_come_along_other_numbers(
    project: Path, home: Path
) -> None:
    (project / "a.c").write_text(GRID)
    (project / "small.grid").write_text("grid 3\nabc\n")
    found = by_rule(prove(project, home, "--all", "--min-confidence", "0"))
    divided, added = found["division-by-zero"]["proof"], found["arithmetic-beyond-limit"]["proof"]
    assert divided["verdict"] == added["verdict"] == "reproduced"
    assert divided["case"]["arguments"][:2] == ["-w", "0"]
    assert added["case"]["arguments"] == ["sample.grid"]
    for name in ("division-by-zero", "arithmetic-beyond-limit"):
        # A replay builds anew: it does as the program that was kept from the other finding.
        done = jsec("replay", found[name]["fingerprint"], str(project), "--trust", home=home)
        assert done.returncode == 1, done.stdout


@needs_compiler
def test_a_sound_twin_is_not_reproduced(project: Path, home: Path) -> None:
    (project / "a.c").write_text(SOUND)
    assert prove(project, home, "--all")["summary"]["reproduced"] == 0


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
def test_a_program_is_built_as_its_makefile_says(project: Path, home: Path) -> None:
    (project / "a.c").unlink()
    (project / "src").mkdir()
    (project / "src" / "name.c").write_text(
        '#ifndef BUILT\n#error "build with make"\n#endif\n#include <string.h>\n#include <stdio.h>\n'
        "void show(const char *text)\n{\n    char name[8];\n    strcpy(name, text);\n"
        "    puts(name);\n}\n"
    )
    (project / "src" / "main.c").write_text(
        "void show(const char *text);\nint main(int argc, char **argv)\n{\n"
        "    if (argc > 1)\n        show(argv[1]);\n    return 0;\n}\n"
    )
    (project / "Makefile").write_text(
        "tool: src/main.o src/name.o\n\tgcc -s -o $@ $^\n"
        "%.o: %.c\n\tgcc -O2 -Wall -Werror -DBUILT -c -o $@ $<\nclean:\n\trm -f src/*.o tool\n"
    )
    told = by_rule(prove(project, home, "--all"))["write-past-buffer"]["proof"]
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 9), told["message"]
    assert told["case"]["build"]["flags"] == ["-DBUILT"]


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
def test_a_program_with_made_sources_is_built_by_its_makefile(project: Path, home: Path) -> None:
    (project / "a.c").write_text(
        "#include <stdio.h>\n#include <string.h>\nextern int limit;\n"
        "int main(int argc, char **argv)\n{\n    char name[8];\n"
        "    if (argc > 1 && (int)strlen(argv[1]) < limit) {\n        strcpy(name, argv[1]);\n"
        "        puts(name);\n    }\n    return 0;\n}\n"
    )
    (project / "Makefile").write_text(
        "tool: a.o made.o\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -c -o $@ $<\n"
        "made.c: maker\n\t./maker >$@\nmaker: maker.c\n\tgcc -o $@ $<\n"
        "clean:\n\trm -f *.o tool maker made.c\n"
    )
    (project / "maker.c").write_text(
        '#include <stdio.h>\nint main(void) { return puts("int limit = 400;") < 0; }\n'
    )
    found = prove(project, home, "--all")["findings"]
    told = next(item["proof"] for item in found if item["line"] == 8)
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 8), told["message"]
    assert told["case"]["build"]["system"] == "make"


@needs_compiler
@pytest.mark.skipif(
    importlib.util.find_spec("z3") is None, reason="z3 is not installed: the extra 'prove'"
)
def test_headers_are_found_by_the_names_that_they_are_included_by(
    project: Path, home: Path
) -> None:
    for folder in ("source", "include/tool"):
        (project / folder).mkdir(parents=True)
    (project / "include/tool/limits.h").write_text("#define MODE 8\n")
    (project / "source/mode.c").write_text('#include "tool/limits.h"\n' + OPENS)
    found = prove(project, home, "--all")["findings"]
    told = next(item["proof"] for item in found if item["file"] == "source/mode.c")
    assert told["verdict"] == "refuted", told["message"]


@needs_compiler
def test_a_header_that_is_missing_is_named(project: Path, home: Path) -> None:
    (project / "mode.c").write_text('#include "not/here.h"\n' + OPENS)
    found = prove(project, home, "--all")["findings"]
    told = next(item["proof"] for item in found if item["file"] == "mode.c")
    assert told["verdict"] == "unproven"
    assert "mode.c:1: 'not/here.h' file not found" in told["message"]["text"]


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
def test_a_program_is_configured_once_and_stays_as_it_was(project: Path, home: Path) -> None:
    (project / "a.c").write_text(
        '#include <stdio.h>\n#include <string.h>\n#include "config.h"\n'
        "int main(int argc, char **argv)\n{\n    char name[8];\n    if (argc > 1) {\n"
        "        strcpy(name, argv[1]);\n        puts(GREETING);\n        puts(name);\n"
        "    }\n    return 0;\n}\n"
    )
    (project / "configure").write_text(
        "mkdir -p made\necho '#define GREETING argv[0]' >made/config.h\n"
        "printf 'tool: a.o\\n\\tgcc -o tool a.o\\na.o: a.c\\n\\tgcc -Imade -c a.c\\n' >Makefile\n"
    )
    found = prove(project, home, "--all")["findings"]
    told = next(item["proof"] for item in found if item["line"] == 8)
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 8), told["message"]
    build = told["case"]["build"]
    assert (build["system"], build["configured"], build["flags"]) == ("", True, ["-Imade"])
    assert {path.name for path in project.iterdir()} == {".jarvis", "a.c", "configure"}

    case = told["case_id"]
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 1
    jsec("replay", case, str(project), "--trust", "--save-test", home=home)
    script = project / "tests" / f"jsec-{case}" / "run.sh"
    ran = subprocess.run(["bash", str(script)], capture_output=True, check=False, cwd="/")
    assert (ran.returncode, b"stack-buffer-overflow" in ran.stderr + ran.stdout) == (1, True)
    assert not (project / "made").exists()


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
@pytest.mark.skipif(not shutil.which("autoreconf"), reason="autoconf is not here")
def test_a_configure_that_lacks_its_helpers_is_made_anew(project: Path, home: Path) -> None:
    (project / "a.c").write_text(
        '#include "config.h"\n#include <stdio.h>\n#include <string.h>\n'
        "int main(int argc, char **argv)\n{\n    char name[8];\n    if (argc > 1) {\n"
        "        strcpy(name, argv[1]);\n        puts(PACKAGE_NAME);\n        puts(name);\n"
        "    }\n    return 0;\n}\n"
    )
    (project / "configure.ac").write_text(
        "AC_INIT([tool], [1])\nAC_PROG_CC\nAC_CONFIG_HEADERS([config.h])\n"
        "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n"
    )
    (project / "Makefile.in").write_text("tool: a.c\n\t@CC@ -I. -c a.c\n\t@CC@ -o tool a.o\n")
    (project / "configure").write_text("echo 'cannot find install-sh' >&2\nexit 1\n")
    found = prove(project, home, "--all", "--budget", "20")["findings"]
    told = next(item["proof"] for item in found if item["line"] == 8)
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 8), told["message"]
    left = {".jarvis", "a.c", "configure", "configure.ac", "Makefile.in"}
    assert {path.name for path in project.iterdir()} == left


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
def test_a_program_is_linked_as_the_project_links_it(project: Path, home: Path) -> None:
    # `aside.c` offers what `copy.c` offers, and is of another program, whose `main` is smaller.
    (project / "tool.c").write_text(
        "#include <stdio.h>\nvoid fail(const char *);\nvoid copy(const char *);\n"
        "extern const char version[];\nint main(int argc, char **argv)\n{\n    puts(version);\n"
        "    if (argc > 1)\n        copy(argv[1]);\n    else\n        fail(0);\n    return 0;\n}\n"
    )
    (project / "copy.c").write_text(
        '#include <stdlib.h>\n#include <string.h>\n#include "size.h"\n'
        "void fail(const char *text) { exit(text != 0); }\nvoid copy(const char *text)\n{\n"
        "    char name[8];\n    if (sum(strlen(text), 1) > 100)\n        fail(text);\n"
        "    strcpy(name, text);\n    fail(name);\n}\n"
    )
    (project / "aside.c").write_text("#include <stdlib.h>\nvoid fail(const char *t) { abort(); }\n")
    (project / "sample.c").write_text(
        "void copy(const char *);\nint main(void)\n{\n    return 0;\n}\n"
    )
    (project / "size.h").write_text(
        "#include <stddef.h>\n#ifndef SIZE_INLINE\n#define SIZE_INLINE inline\n#endif\n"
        "SIZE_INLINE size_t\nsum (size_t a, size_t b)\n{\n    return a + b < a ? -1 : a + b;\n}\n"
    )
    (project / "size.c").write_text(
        '#define SIZE_INLINE extern inline\n#include "size.h"\n'
        "#if TEST_SIZE\nint main(void)\n{\n    return 0;\n}\n#endif\n"
    )
    (project / "Makefile").write_text(
        "CFLAGS = -std=gnu99\nall: tool sample\n"
        "tool: tool.o copy.o version.o size.o\n\t$(CC) -o $@ tool.o copy.o version.o size.o\n"
        "sample: sample.o aside.o\n\t$(CC) -o $@ sample.o aside.o\n"
        "version.c:\n\techo 'const char version[] = \"1\";' >$@\n"
    )
    before = {path.name for path in project.iterdir()}
    found = prove(project, home, "--all", "--budget", "20")["findings"]
    told = next(item["proof"] for item in found if (item["file"], item["line"]) == ("copy.c", 10))
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 10), told["message"]
    (case,) = [
        json.loads(line)["case"]
        for line in (project / ".jarvis" / "sec" / "evidence.jsonl").read_text().splitlines()
        if told["case_id"] in line
    ]
    assert set(case["build"]["sources"]) == {"tool.c", "copy.c", "version.c", "size.c"}
    assert {path.name for path in project.iterdir()} == {*before, ".jarvis"}


@needs_compiler
def test_a_function_behind_macros_that_cannot_be_parsed_is_linked(
    project: Path, home: Path
) -> None:
    (project / "a.c").write_text(
        "#include <string.h>\nvoid copy(const char *);\n"
        "int main(int argc, char **argv)\n{\n"
        "    if (argc > 1)\n        copy(argv[1]);\n    return 0;\n}\n"
    )
    (project / "b.c").write_text(
        "#include <stdio.h>\n#include <string.h>\n#define END }\n"
        "static int count(const char *text)\n{\n    int n = 0;\n"
        "    while (*text++) {\n        if (*text == '-') {\n            n++;\n        END\n"
        "    END\n    return n;\n}\n\nvoid\ncopy(const char *text)\n{\n    char name[8];\n"
        '    strcpy(name, text);\n    printf("%d %s", count(text), name);\n}\n'
    )
    found = prove(project, home, "--all")["findings"]
    told = next(item["proof"] for item in found if item["line"] == 19)
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 19), told["message"]


@needs_compiler
def test_a_program_of_old_files_some_of_which_are_for_another_system(
    project: Path, home: Path
) -> None:
    (project / "api.h").write_text("#define API\n#define local static\nint API copy();\n")
    (project / "a.c").write_text(
        '#include "api.h"\n#include <stdio.h>\nlocal int shown;\n#ifdef OWN\nint sum(int n) '
        "{ return n; }\nlong other(int n) { return n; }\n#endif\nint sum(int n);\n"
        "#ifdef _WIN32\nvoid open_console(void);\n#endif\n"
        "int main(int argc, char **argv)\n{\n    if (argc > 1)\n        "
        "return copy(argv[1]) + sum(shown);\n    return 0;\n}\n"
    )
    (project / "copy.c").write_text(
        '#include "api.h"\n#include <string.h>\nlocal int shown;\nint API copy(text)\n'
        "    const char *text;\n{\n    char place[8];\n    strcpy(place, text);\n"
        "    return place[0] + shown;\n}\n"
    )
    (project / "sum.c").write_text(
        "#include <stdio.h>\nint sum(int n)\n{\n    return n + 1;\n}\n"
        '#ifdef MAKE_TABLE\nint main(void)\n{\n    puts("table");\n    return 0;\n}\n#endif\n'
    )
    (project / "console.c").write_text(
        "#include <windows.h>\nvoid open_console(void)\n{\n    AllocConsole();\n}\n"
    )
    told = prove(project, home, "--all")
    proofs = [found["proof"] for found in told["findings"] if found["file"] == "copy.c"]
    assert proofs and proofs[0]["verdict"] == "reproduced", told


@needs_compiler
@pytest.mark.skipif(not shutil.which("make"), reason="make is not here")
def test_a_build_ends_with_the_budget(project: Path, home: Path) -> None:
    (project / "a.c").write_text('#include "made.h"\n' + FLAWED)
    (project / "Makefile").write_text(
        "a: a.c\n\tfor n in 1 2 3; do timeout 60 sh -c 'while :; do :; done' & done; wait\n"
    )
    finding = scan(project, home)["double-free"]["id"]
    told = by_rule(prove(project, home, "--budget=4", finding))["double-free"]["proof"]
    assert told["verdict"] == "unproven"
    ended = ("CPU seconds", "ran longer than")  # the clock ends it first on a busy machine
    assert any(part in told["message"]["text"] for part in ended), told["message"]
    assert told["seconds"] < 5


@needs_compiler
def test_what_is_never_closed_is_reproduced(project: Path, home: Path) -> None:
    (project / "a.c").write_text(
        "#include <stdio.h>\nstatic int count(const char *name)\n{\n"
        '    FILE *f = fopen(name, "r");\n    int c;\n    if (f == NULL)\n        return -1;\n'
        "    c = fgetc(f);\n    if (c == 'x')\n        return 0;\n"
        "    fclose(f);\n    return c;\n}\n"
        "int main(int argc, char **argv)\n{\n"
        "    return argc > 1 ? count(argv[1]) > 100 : 0;\n}\n"
    )
    told = by_rule(prove(project, home, "--all"))["resource-leak"]["proof"]
    assert (told["verdict"], told["report"]["kind"]) == ("reproduced", "leak"), told["message"]


@needs_compiler
def test_a_finding_without_a_program_says_why(project: Path, home: Path) -> None:
    (project / "a.c").write_text(FLAWED.replace("int main(", "int start("))
    told = by_rule(prove(project, home, "--all"))["double-free"]["proof"]
    assert told["verdict"] in ("unproven", "depends_on_caller", "reproduced")
    if told["verdict"] == "unproven":
        why = told["message"]["text"]
        assert "main" in why or "no call of it in the project" in why


@needs_compiler
def test_what_does_not_compile_says_the_error(project: Path, home: Path) -> None:
    (project / "a.c").write_text('#include "missing-header.h"\n' + FLAWED)
    told = by_rule(prove(project, home, "--all"))["double-free"]["proof"]
    assert told["verdict"] == "unproven"
    assert "missing-header.h" in told["message"]["text"]


@needs_compiler
def test_a_case_becomes_a_test_of_the_project(project: Path, home: Path) -> None:
    (project / "Makefile").write_text("all: a\ntest:\n\techo tested\n")
    found = by_rule(prove(project, home, "--all"))
    for rule in ("write-past-buffer", "unchecked-write"):
        case = found[rule]["proof"]["case_id"]
        saved = jsec("replay", case, str(project), "--save-test", home=home)
        assert saved.returncode == 0, saved.stderr
        script = project / "tests" / f"jsec-{case}" / "run.sh"
        flawed = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
        assert flawed.returncode == 1, flawed
    if shutil.which("make"):
        done = subprocess.run(["make", "test"], cwd=project, capture_output=True, check=False)
        assert done.returncode != 0
    repaired = FLAWED.replace("strcpy(place, text)", "place[0] = *text").replace(
        'fwrite("abc", 1, 3, f);', 'if (fwrite("abc", 1, 3, f) != 3) exit(1);'
    )
    (project / "a.c").write_text(repaired)
    for script in (project / "tests").glob("*/run.sh"):
        done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done


@needs_compiler
def test_an_interrupt_ends_it_at_once(project: Path, home: Path) -> None:
    (project / "a.c").write_text(
        FLAWED.replace("int main(", "#include <unistd.h>\nint main(").replace(
            "FILE *f", "sleep(20);\n    FILE *f"
        )
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "jarvis_ls.cli.jsec", "prove", "--all", str(project), "--trust"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C", "JARVIS_HOME": str(home)},
    )
    time.sleep(8)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130


def test_the_doctor_names_the_rungs(home: Path) -> None:
    done = jsec("doctor", "--format", "json", home=home)
    told = json.loads(done.stdout)
    assert {"whole-program", "failing-calls"} <= {rung["name"] for rung in told["rungs"]}
    assert done.returncode == (0 if any(not rung["missing"] for rung in told["rungs"]) else 1)


def test_without_a_compiler_the_doctor_says_so(home: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = jsec("doctor", home=home, PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert "gcc" in done.stdout or "sandbox" in done.stdout.lower()
    chinese = jsec("doctor", home=home, PATH=str(tmp_path / "bin"), LC_ALL="zh_CN.UTF-8")
    assert "编译器" in chinese.stdout
