"""`jsec fix --check-patch` and `jsec fix --agent`, as processes with real compilers.

Each patch that is no repair is stopped by the gate that is for it."""

from __future__ import annotations

import difflib
import json
import os
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

int main(int argc, char **argv)
{
    if (argc > 1)
        copy(argv[1]);
    else
        puts("usage: a TEXT");
    return 0;
}
"""
MAKEFILE = """\
a: a.c
\t$(CC) -o a a.c
check: a
\ttest "`./a hello`" = hello && sh tests/run.sh
clean:
\trm -f a
"""
COPY = "    strcpy(place, text);\n"
RIGHT = (
    '    if (strlen(text) >= sizeof place) {\n        puts("too long");\n        return;\n    }\n'
)
TWICE = """\
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *p = malloc(10);
    if (p == NULL)
        return 1;
    if (argc > 1) {
        puts(argv[1]);
        free(p);
    }
    free(p);
    return 0;
}
"""

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or not find_toolchain().compiler or shutil.which("make") is None,
    reason="no C compiler with sanitizers, or no make, is here",
)


def start(*arguments: str | Path, home: Path, **variables: str) -> subprocess.Popen[str]:
    """Start `jsec fix` with a home of its own."""
    return subprocess.Popen(
        [*quick("jarvis_ls.cli.jsec"), "fix", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "LC_ALL": "C", "JARVIS_HOME": str(home), **variables},
    )


def fix(*arguments: str | Path, home: Path, **variables: str) -> tuple[int, str, str]:
    """Run `jsec fix`; its exit status and what it wrote."""
    process = start(*arguments, home=home, **variables)
    output, errors = process.communicate(timeout=400)
    assert "Traceback" not in errors, errors
    return process.returncode, output, errors


def write_project(folder: Path, text: str = FLAWED) -> Path:
    """A project with a Makefile and tests."""
    (folder / "tests").mkdir(parents=True)
    (folder / "a.c").write_text(text)
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "tests" / "run.sh").write_text('test "`./a`" = "usage: a TEXT"\n')
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose evidence is found once, and a home."""
    folder = tmp_path_factory.mktemp("repair")
    write_project(folder / "project")
    return folder


def diff_of(place: Path, after: str, name: str = "a.c", before: str = FLAWED) -> Path:
    """A unified diff of one file of the project."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    file = place / "change.diff"
    file.write_text("".join(lines))
    return file


def judge(place: Path, patch: Path, *more: str) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Judge a patch of the only finding; the exit status, the states of the gates, all."""
    before = (place / "project" / "a.c").read_bytes()
    status, output, errors = fix(
        *("--check-patch", patch, "1", place / "project", "--trust", "--format", "json"),
        *("--seconds", "0.5", *more),
        home=place / "home",
    )
    assert output, errors
    assert (place / "project" / "a.c").read_bytes() == before
    told = json.loads(output)
    gates = told["attempts"][0]["judgement"]["gates"]
    return status, {gate["gate"]: gate["state"] for gate in gates}, told


def failing(states: dict[str, str]) -> list[str]:
    return [gate for gate, state in states.items() if state == "failed"]


@needs_compiler
def test_a_right_patch_passes_all_gates_and_writes_nothing(place: Path) -> None:
    patch = diff_of(place, FLAWED.replace(COPY, RIGHT + COPY))
    status, states, told = judge(place, patch)
    assert set(states.values()) == {"passed"}, told
    assert (status, told["status"], told["by"]) == (0, "repaired", "given")
    assert told["evidence"]["verdict"] == "reproduced"
    assert "+    if (strlen(text) >= sizeof place) {" in told["diff"]


@needs_compiler
def test_a_new_finding_that_is_weak_is_told_and_refuses_nothing(place: Path) -> None:
    bounded = '    snprintf(place, sizeof place, "%s", text);\n'
    status, states, told = judge(place, diff_of(place, FLAWED.replace(COPY, bounded)))
    assert (status, states["clean"]) == (0, "passed"), told
    clean = told["attempts"][0]["judgement"]["gates"][-1]
    assert "only a weak one is new, unchecked-formatting at a.c:" in json.dumps(clean)


REFUSED = {
    "it silences only the case": (
        "case",
        FLAWED.replace(COPY, f"    if (strlen(text) == 60) return;\n{COPY}"),
    ),
    "it deletes the function": (
        "symbols",
        FLAWED.replace(FLAWED[FLAWED.index("static") : FLAWED.index("int main")], "").replace(
            "copy(argv[1])", "puts(argv[1])"
        ),
    ),
    "it empties the function": (
        "symbols",
        FLAWED.replace(
            FLAWED[FLAWED.index("    char place") : FLAWED.index("}\n\nint main")],
            "    (void)text;\n",
        ),
    ),
    "it does not compile": ("builds", FLAWED.replace(COPY, "    strcpy(place text);\n")),
    "it fails the tests": (
        "tests",
        FLAWED.replace(COPY, RIGHT + COPY).replace("puts(place)", 'printf("%s!\\n", place)'),
    ),
    "it changes good results": (
        "same",
        FLAWED.replace(COPY, RIGHT.replace("sizeof place", "8") + COPY),
    ),
    "it brings a new flaw": (
        "clean",
        FLAWED.replace(COPY, RIGHT + COPY).replace(
            "    return 0;", '    if (argc > 9)\n        system(getenv("RUN"));\n    return 0;'
        ),
    ),
    "it switches the sanitizer off": (
        "scope",
        FLAWED.replace("static void", '__attribute__((no_sanitize("address")))\nstatic void'),
    ),
    "it suppresses the finding": (
        "scope",
        FLAWED.replace(COPY, f"    // jsec-ignore: write-past-buffer not now\n{COPY}"),
    ),
    "it changes comments only": ("scope", FLAWED.replace(COPY, f"    /* safe */\n{COPY}")),
}


@needs_compiler
@pytest.mark.parametrize("why", REFUSED)
def test_a_patch_is_refused_because(why: str, place: Path) -> None:
    gate, after = REFUSED[why]
    assert after != FLAWED
    status, states, told = judge(place, diff_of(place, after))
    assert failing(states) == [gate], json.dumps(told, indent=1)
    assert (status, told["status"], told["diff"]) == (1, "unfixable", "")
    assert told["diagnosis"].startswith(f"{gate}: ")


@needs_compiler
def test_tests_and_builds_are_not_changed(place: Path) -> None:
    for name, text in (("Makefile", MAKEFILE), ("tests/run.sh", 'test "`./a`" = x\n')):
        (place / "project" / name).write_text(text)
        after = text.replace("test", "true", 1)
        _, states, _ = judge(place, diff_of(place, after, name, text))
        assert failing(states) == ["scope"]
    (place / "project" / "tests/run.sh").write_text('test "`./a`" = "usage: a TEXT"\n')


@needs_compiler
def test_a_patch_has_a_limit_of_lines(place: Path) -> None:
    patch = diff_of(place, FLAWED.replace(COPY, RIGHT + COPY))
    _, states, _ = judge(place, patch, "--max-lines", "3")
    assert failing(states) == ["size"]


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "",
        "--- a/../x.c\n+++ b/../x.c\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a//etc/passwd\n+++ b//etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+a\n",
        "--- a/none.c\n+++ b/none.c\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/link.c\n+++ b/link.c\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-never there\n+b\n",
        "rename from a.c\nrename to b.c\n",
        f"--- a/a.c\n+++ b/a.c\n@@ -{'9' * 6000} +1 @@\n-a\n+b\n",
        "--- a/a.c\n+++ b/a.c\n@@ -99999999999999999999 +1 @@\n-\udcff\x00\n+b\n",
    ],
)
def test_what_is_no_change_of_the_project_is_named(text: str, tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    (tmp_path / "outside.c").write_text("a\n")
    (project / "link.c").symlink_to(tmp_path / "outside.c")
    patch = tmp_path / "change.diff"
    patch.write_bytes(text.encode("utf-8", "surrogateescape"))
    status, output, errors = fix(
        "--check-patch", patch, "1", project, "--trust", home=tmp_path / "home"
    )
    assert (status, output) == (2, ""), errors
    assert errors.count("\n") == 1
    assert (tmp_path / "outside.c").read_text() == "a\n"


def test_an_untrusted_folder_is_not_built(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    status, _, errors = fix("--agent", "1", project, home=tmp_path / "home")
    assert (status, "--trust" in errors) == (2, True)
    assert not (project / ".jarvis").exists()
    status, _, errors = fix("--agent", project, "--trust", home=tmp_path / "home")
    assert (status, "one finding" in errors) == (2, True)


@needs_compiler
def test_apply_writes_what_passed(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    (project / "a.c").chmod(0o640)
    after = FLAWED.replace(COPY, RIGHT + COPY)
    patch = diff_of(tmp_path, after)
    given = ("--trust", "--apply", "--seconds", "0.5")
    status, output, errors = fix(
        "--check-patch", patch, "1", project, *given, home=tmp_path / "home", LC_ALL="zh_CN.UTF-8"
    )
    assert status == 0, output + errors
    assert (project / "a.c").read_text() == after
    assert (project / "a.c").stat().st_mode & 0o777 == 0o640
    assert "已重现" in output


@needs_compiler
def test_the_rewrite_of_a_rule_passes_the_gates_without_a_model(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.c").write_text(TWICE)
    home = tmp_path / "home"
    found = fix("--agent", "1", project, "--trust", "--format", "json", home=home)
    told = json.loads(found[1])
    assert (found[0], told["status"], told["by"]) == (0, "repaired", "rule"), found
    assert "+        p = NULL;" in told["diff"]
    assert (project / "a.c").read_text() == TWICE
    states = {gate["gate"]: gate["state"] for gate in told["attempts"][0]["judgement"]["gates"]}
    assert (states["tests"], states["case"]) == ("none", "passed")


@needs_compiler
def test_being_killed_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    patch = diff_of(tmp_path, FLAWED.replace(COPY, RIGHT + COPY))
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    for seconds, sign in ((2.0, signal.SIGKILL), (6.0, signal.SIGKILL), (9.0, signal.SIGINT)):
        process = start("--check-patch", patch, "1", project, "--trust", home=tmp_path / "home")
        time.sleep(seconds)
        process.send_signal(sign)
        process.communicate(timeout=60)
        assert process.returncode in (-sign, 130)
        now = {
            path: path.read_bytes()
            for path in project.rglob("*")
            if path.is_file() and ".jarvis" not in path.parts
        }
        assert now == before
