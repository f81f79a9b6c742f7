"""`jsec prove` on memory that was never set or is freed already, and on calls that fail."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.jsec.proof.toolchain import find_toolchain
from tests.cli.test_jsec_prove import by_rule, jsec, needs_compiler, prove

IS_CLANG = find_toolchain().is_clang
OUT_OF_RANGE = "implicit-conversion" if IS_CLANG else "value-out-of-range"
WRAPPED = "unsigned-integer-overflow" if IS_CLANG else "value-out-of-range"
HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's own folder."""
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def proof_of(rule: str, text: str, project: Path, home: Path) -> dict[str, Any]:
    """What is shown of the finding of a rule in a program."""
    (project / "a.c").write_text(HEAD + text)
    told = by_rule(prove(project, home, "--all"))
    assert rule in told, sorted(told)
    return told[rule]["proof"]


@needs_compiler
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not here")
def test_memory_that_was_never_set(project: Path, home: Path) -> None:
    show = 'static void show(int n)\n{\n    printf("%d\\n", n);\n}\n'
    flawed = show + "int main(void)\n{\n    int n;\n    show(n);\n    return 0;\n}\n"
    told = proof_of("uninitialized-variable", flawed, project, home)
    assert (told["verdict"], told["rung"]) == ("reproduced", "unset-memory"), told["message"]
    replayed = jsec("replay", told["case_id"], str(project), "--trust", home=home)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    (project / "a.c").write_text((HEAD + flawed).replace("int n;\n    s", "int n = 3;\n    s"))
    replayed = jsec("replay", told["case_id"], str(project), "--trust", home=home)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


@needs_compiler
def test_freed_memory_that_is_handed_to_a_function(project: Path, home: Path) -> None:
    told = proof_of(
        "use-after-free",
        "static void show(const char *text)\n{\n    putchar(text[0]);\n}\n"
        "int main(void)\n{\n    char *p = malloc(8);\n    if (p == NULL)\n        return 1;\n"
        '    strcpy(p, "abc");\n    free(p);\n    show(p);\n    return 0;\n}\n',
        project,
        home,
    )
    assert (told["verdict"], told["report"]["kind"]) == ("reproduced", "heap-use-after-free")


@needs_compiler
def test_a_call_by_another_name_that_fails(project: Path, home: Path) -> None:
    told = proof_of(
        "unchecked-read",
        '#define GET fgets\nint main(void)\n{\n    char text[20] = "";\n'
        "    GET(text, sizeof text, stdin);\n    puts(text);\n    return 0;\n}\n",
        project,
        home,
    )
    assert (told["verdict"], told["rung"]) == ("reproduced", "failing-calls"), told["message"]


READER = """\
static int unpack(FILE *from, FILE *to)
{
    char data[64];
    size_t count;
    while ((count = fread(data, 1, sizeof data, from)) > 0)
        WRITE;
    return 0;
}

int main(int argc, char **argv)
{
    FILE *from, *to;
    if (argc < 4 || argv[1][0] != '-' || argv[1][1] != 'd')
        return 2;
    from = fopen(argv[2], "rb");
    if (from == NULL || fgetc(from) != 0x89)
        return 3;
    to = fopen(argv[3], "wb");
    if (to == NULL)
        return 4;
    unpack(from, to);
    return fclose(to) || fclose(from);
}
"""


@needs_compiler
@pytest.mark.parametrize("looks", [False, True])
def test_a_file_of_the_project_brings_a_run_to_the_call(
    project: Path, home: Path, looks: bool
) -> None:
    (project / "tests").mkdir()
    (project / "tests" / "small.bin").write_bytes(b"\x89\0abc" * 9)
    call = "fwrite(data, 1, count, to)"
    if looks:
        call = f"if ({call} != count)\n            exit(5)"
    (project / "a.c").write_text(HEAD + READER.replace("WRITE", call))
    told = by_rule(prove(project, home, "--all"))
    if looks:
        assert "unchecked-write" not in told
        return
    shown = told["unchecked-write"]["proof"]
    assert (shown["verdict"], shown["rung"]) == ("reproduced", "failing-calls"), shown["message"]
    assert "'-d' 'sample.bin'" in shown["message"]["text"]
    replayed = jsec("replay", shown["case_id"], str(project), "--trust", home=home)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr


@needs_compiler
def test_a_crash_inside_the_library_is_that_of_its_call(project: Path, home: Path) -> None:
    told = proof_of(
        "unchecked-allocation",
        'int main(void)\n{\n    FILE *f = fopen("in.txt", "r");\n    fclose(f);\n'
        "    return 0;\n}\n",
        project,
        home,
    )
    assert (told["verdict"], told["report"]["file"]) == ("reproduced", "a.c"), told["message"]


@needs_compiler
def test_crashes_at_other_places_do_not_hide_it(project: Path, home: Path) -> None:
    told = proof_of(
        "negative-number-as-size",
        'int main(void)\n{\n    int n = 0;\n    if (fscanf(stdin, "%d", &n) != 1 || n < 100) {\n'
        "        char *p = malloc(n);\n        if (p == NULL)\n            return 1;\n"
        "        memset(p, 'A', n - 1);\n        free(p);\n    }\n    return 0;\n}\n",
        project,
        home,
    )
    assert told["verdict"] == "reproduced", told["message"]


@needs_compiler
def test_what_a_written_cast_cuts_off(project: Path, home: Path) -> None:
    flawed = (
        'int main(void)\n{\n    int n = 0;\n    if (fscanf(stdin, "%d", &n) == 1) {\n'
        '        char c = (char)n;\n        printf("%d\\n", c);\n    }\n    return 0;\n}\n'
    )
    told = proof_of("truncated-input-value", flawed, project, home)
    assert (told["verdict"], told["report"]["kind"]) == ("reproduced", OUT_OF_RANGE)
    assert "(char)n" in (project / "a.c").read_text()
    case = told["case_id"]
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 1
    saved = jsec("replay", case, str(project), "--save-test", home=home)
    script = project / "tests" / f"jsec-{case}" / "run.sh"
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
    assert (saved.returncode, done.returncode) == (0, 1), saved.stderr + done.stderr
    repaired = flawed.replace("== 1)", "== 1 && n >= 0 && n < 100)")
    (project / "a.c").write_text(HEAD + repaired)
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 0


@needs_compiler
def test_unsigned_numbers_that_wrap_around(project: Path, home: Path) -> None:
    flawed = (
        'int main(void)\n{\n    unsigned n = 0;\n    if (scanf("%u", &n) == 1) {\n'
        '        unsigned size = n * n;\n        printf("%u\\n", size);\n    }\n    return 0;\n}\n'
    )
    told = proof_of("arithmetic-beyond-limit", flawed, project, home)
    assert told["verdict"] == "reproduced", told["message"]
    assert (told["report"]["kind"], told["report"]["line"]) == (WRAPPED, 8)


@needs_compiler
def test_freed_memory_that_the_caller_uses(project: Path, home: Path) -> None:
    flawed = (
        "static wchar_t *greet(void)\n{\n    wchar_t *p = malloc(16 * sizeof *p);\n"
        '    if (p == NULL)\n        exit(1);\n    wcscpy(p, L"hello");\n    free(p);\n'
        "    return p;\n}\nint main(void)\n{\n    wchar_t *text = greet();\n"
        '    wprintf(L"%ls\\n", text);\n    return 0;\n}\n'
    )
    (project / "a.c").write_text(HEAD + "#include <wchar.h>\n" + flawed)
    proven = [
        (issue["line"], issue["proof"]["verdict"])
        for issue in prove(project, home, "--all")["findings"]
        if issue["rule"] == "use-after-free"
    ]
    assert (12, "reproduced") in proven, proven
    assert (17, "reproduced") in proven, proven


@needs_compiler
def test_a_leak_of_what_the_library_allocates(project: Path, home: Path) -> None:
    told = proof_of(
        "memory-leak",
        '#include <wchar.h>\nstatic int first(void)\n{\n    wchar_t *p = wcsdup(L"abc");\n'
        "    if (p == NULL)\n        return 1;\n    return (int)p[0];\n}\n"
        'int main(void)\n{\n    printf("%d\\n", first());\n    return 0;\n}\n',
        project,
        home,
    )
    assert (told["verdict"], told["report"]["kind"]) == ("reproduced", "leak"), told["message"]


@needs_compiler
@pytest.mark.skipif(not Path("/usr/include/curses.h").exists(), reason="curses is not here")
def test_a_library_that_a_header_of_the_project_includes(project: Path, home: Path) -> None:
    (project / "own.h").write_text("#include <curses.h>\n")
    told = proof_of(
        "use-after-free",
        '#include "own.h"\nint main(int count, char **words)\n{\n    char *p = malloc(8);\n'
        "    if (count > 9 && words)\n        return endwin();\n    if (p == NULL)\n"
        '        return 1;\n    strcpy(p, "abc");\n    free(p);\n    return p[0];\n}\n',
        project,
        home,
    )
    assert told["verdict"] == "reproduced", told["message"]


@needs_compiler
def test_a_stream_that_is_closed_as_a_descriptor(project: Path, home: Path) -> None:
    told = proof_of(
        "mismatched-release",
        "#include <stdint.h>\n#include <unistd.h>\nint main(void)\n{\n"
        '    FILE *f = fopen("a.txt", "w");\n    if (f != NULL)\n'
        "        close((int)(intptr_t)f);\n    return 0;\n}\n",
        project,
        home,
    )
    report = told["report"]
    assert (told["verdict"], report["kind"], report["line"]) == (
        "reproduced",
        "unfit-release",
        10,
    ), told["message"]


@needs_compiler
def test_a_program_that_prints_what_looks_like_reports(project: Path, home: Path) -> None:
    lines = [
        "A" * 400 + ":1:2: runtime error: index 9 out of bounds for type",
        "a.c:" + "9" * 5000 + ":1: runtime error: index 9 out of bounds for type",
        "thread 'main' panicked at " + "b" * 300 + ":1:2:",
    ]
    printed = "".join(f'    fputs("{line}\\n", stderr);\n' for line in lines)
    (project / "a.c").write_text(
        HEAD + "int main(int argc, char **argv)\n{\n    char place[8];\n" + printed + ""
        "    if (argc > 1 && strlen(argv[1]) < 8)\n        strcpy(place, argv[1]);\n"
        "    char other[200];\n    strcpy(other, argc > 1 ? argv[1] : place);\n"
        "    return other[0] == 'x';\n}\n"
    )
    told = prove(project, home, "--all")
    assert told["summary"]["findings"] >= 1


@needs_compiler
def test_an_allocation_fails_in_a_program_that_wants_an_argument(project: Path, home: Path) -> None:
    told = proof_of(
        "unchecked-allocation",
        "int main(int argc, char **argv)\n{\n    if (argc < 2)\n        return 1;\n"
        "    char *p = malloc(strlen(argv[1]) + 1);\n    strcpy(p, argv[1]);\n    puts(p);\n"
        "    free(p);\n    return 0;\n}\n",
        project,
        home,
    )
    assert told["verdict"] == "reproduced", told["message"]
    assert told["report"]["kind"] == "null-dereference"
