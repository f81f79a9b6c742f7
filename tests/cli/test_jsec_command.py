"""`jsec` as a process: options, exit status, what it prints and what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from commands import FLAWED, RULE, TWICE, command, issues, jsec, write

from tests.support.patience import HANGS

pytestmark = pytest.mark.watches()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_text_report_of_the_current_folder(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    run = jsec("scan", cwd=root)
    assert run.stdout.startswith("a.c · 1 finding\n\na.c:4:5  ")
    assert "1 finding (" in run.stdout
    assert "\x1b" not in run.stdout
    assert run.stderr == ""


def test_exit_status(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    (one,) = issues(cwd=root)
    ranks = ["high", "medium", "low"]
    for rank in ranks:
        fails = ranks.index(one["severity"]) <= ranks.index(rank)
        jsec("scan", "--fail-on", rank, cwd=root, status=int(fails))
    jsec("scan", cwd=root, status=0)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["scan", "absent"], "absent: no such file or directory"),
        (["scan", "--rule", "nonsense"], "unknown rule 'nonsense'"),
        (["scan", "--format", "xml"], "invalid choice"),
        (["scan", "--min-confidence", "2"], "from 0 to 1"),
        (["scan", "--jobs", "-1"], "whole number"),
        (["scan", "--timeout", "0"], "above 0"),
        (["scan", "--timeout", "nan"], "above 0"),
        (["scan", "--exclude", "[z-a]"], "exclude"),
        (["scan", "--baseline", "absent.json"], "absent.json"),
        (["scan", "--output", "no/such/folder/report"], "cannot write"),
        (["explain", "nonsense"], "unknown rule 'nonsense'"),
        (["nonsense"], "invalid choice"),
        ([], "\n    explain "),  # the help
    ],
)
def test_wrong_use_is_said_in_a_line(root: Path, arguments: list[str], what: str) -> None:
    write(root, {"a.c": "int x;\n"})
    run = jsec(*arguments, cwd=root, status=2)
    assert what in run.stderr
    assert run.stdout == ""


def test_wrong_settings_are_said(root: Path) -> None:
    write(root, {".jarvis/jsec.toml": "colour = 1\n"})
    assert ".jarvis/jsec.toml: colour" in jsec("scan", cwd=root, status=2).stderr


def test_selection(root: Path) -> None:
    write(root, {"a.c": FLAWED, "b.c": TWICE, "old/c.c": FLAWED})
    assert {one["file"] for one in issues(cwd=root)} == {"a.c", "b.c", "old/c.c"}
    assert {one["file"] for one in issues("--rule", RULE, cwd=root)} == {"a.c", "old/c.c"}
    assert {one["file"] for one in issues("--exclude", "old/", cwd=root)} == {"a.c", "b.c"}
    assert {one["file"] for one in issues("b.c", "old", cwd=root)} == {"b.c", "old/c.c"}
    assert {one["file"] for one in issues("project/old", cwd=root.parent)} == {"c.c"}
    assert issues("--min-confidence", "1", cwd=root) == []
    assert len(issues("--max-findings", "1", cwd=root)) == 1
    cut = jsec("scan", "--max-findings", "1", cwd=root).stdout
    assert "… and 2 more" in cut
    assert "3 findings (" in cut, "the summary is of all"


def test_a_file_by_name_is_scanned_whatever_is_ignored(root: Path) -> None:
    write(root, {"a.c": FLAWED, ".gitignore": "*.c\n", "build/b.c": FLAWED})
    assert issues(cwd=root) == []
    assert len(issues("a.c", "build/b.c", cwd=root)) == 2
    assert not (root / ".jarvis").exists(), "nothing is kept of a scan of some files"


def test_a_file_by_name_knows_the_headers_of_its_project(root: Path) -> None:
    write(
        root,
        {
            "src/a.c": '#include "run.h"\nvoid f(char *x) { RUN(x); }\n',
            "inc/run.h": "#define RUN system\n",
            ".git/HEAD": "",
        },
    )
    whole = issues(cwd=root)
    assert len(whole) == 1
    assert issues("src/a.c", cwd=root) == whole
    run = jsec("scan", "--format", "json", "src/a.c", cwd=root)
    assert json.loads(run.stdout)["summary"]["scanned_files"] == 1


def test_what_is_hidden_can_be_shown(root: Path) -> None:
    write(root, {"a.c": FLAWED.replace("from);", f"from); // jsec-ignore: {RULE} it fits")})
    assert issues(cwd=root) == []
    (one,) = issues("--show-suppressed", cwd=root)
    assert one["suppressed"] == "comment: it fits"
    jsec("scan", "--show-suppressed", "--fail-on", "low", cwd=root, status=0)


@pytest.mark.parametrize(
    "name",
    [
        *("text", "concise", "json", "jsonl", "sarif", "markdown", "html"),
        *("github", "gitlab", "junit"),
    ],
)
def test_every_format_to_a_file_and_to_a_pipe(root: Path, name: str) -> None:
    write(root, {"a.c": FLAWED})
    jsec("scan", "--format", name, "--output", "report", "--no-cache", cwd=root)
    printed = jsec("scan", "--format", name, "--output", "-", "--no-cache", cwd=root).stdout
    written = (root / "report").read_text()
    assert RULE in written
    timed = ("seconds", " in ", " time=")
    cut = [line for line in written.splitlines() if not any(word in line for word in timed)]
    assert all(line in printed for line in cut)


def test_colour_is_for_terminals_and_no_color_wins(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    assert "\x1b[" in jsec("scan", "--color", "always", cwd=root).stdout
    terminal = ["script", "-qec", " ".join(map(quoted, command("scan"))), "/dev/null"]
    for extra, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        run = subprocess.run(
            terminal,
            cwd=root,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={
                **{k: v for k, v in os.environ.items() if k != "NO_COLOR"},
                "TERM": "xterm",
                "JARVIS_HOME": str(root),
                **extra,
            },
        )
        assert ("\x1b[1m" in run.stdout) is coloured


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def test_progress_is_shown_on_a_terminal_only(root: Path) -> None:
    """One that can take a line away again."""
    write(root, {f"{n}.c": FLAWED for n in range(5)})
    line = " ".join(map(quoted, command("scan", "--no-cache"))) + " >/dev/null"
    shown = {}
    for kind in ("xterm", "dumb"):
        run = subprocess.run(
            ["script", "-qec", line, "/dev/null"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=HANGS,
            check=True,
            env={**os.environ, "TERM": kind, "JARVIS_HOME": str(root)},
        )
        shown[kind] = run.stdout
    assert "scanning 5/5 (100 %), 5 findings" in shown["xterm"]
    assert shown["xterm"].endswith("\x1b[K"), "the line is taken away again"
    assert shown["dumb"] == ""


def test_the_records_of_the_seeds_are_left(root: Path) -> None:
    write(root, {"a.c": FLAWED, "b.c": TWICE})
    found = issues(cwd=root)
    lines = (root / ".jarvis/sec/candidates.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [one["gid"] for one in records] == [1, 2]
    assert sorted(found, key=lambda one: int(one["gid"])) == records


def test_only_what_changed(root: Path) -> None:
    write(root, {"a.c": FLAWED, "b.c": FLAWED})
    assert len(issues("--changed", cwd=root)) == 2
    assert issues("--changed", cwd=root) == []
    write(root, {"b.c": FLAWED + "\n", "c.c": FLAWED})
    assert {one["file"] for one in issues("--changed", cwd=root)} == {"b.c", "c.c"}
    lines = (root / ".jarvis/sec/candidates.jsonl").read_text().splitlines()
    assert [json.loads(line)["file"] for line in lines] == ["a.c", "b.c", "c.c"]


def test_the_baseline_hides_what_is_known(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    assert "1 finding" in jsec("baseline", cwd=root).stdout
    assert issues(cwd=root) == []
    assert len(issues("--no-baseline", cwd=root)) == 1
    write(root, {"b.c": FLAWED})
    assert [one["file"] for one in issues(cwd=root)] == ["b.c"]
    write(root, {"a.c": "int fixed;\n"})
    assert "jsec baseline --prune" in jsec("scan", cwd=root).stdout
    jsec("baseline", "--prune", cwd=root)
    content = json.loads((root / ".jarvis/sec/baseline.json").read_text())
    assert content["files"] == {}
    assert [one["file"] for one in issues(cwd=root)] == ["b.c"]


def test_a_baseline_in_another_place(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    jsec("baseline", "--baseline", "known.json", "--no-baseline", cwd=root)
    assert len(issues(cwd=root)) == 1
    assert issues("--baseline", "known.json", cwd=root) == []


def test_rules_are_listed_and_explained(root: Path) -> None:
    listed = jsec("rules", cwd=root).stdout
    assert "double-free" in listed
    assert "CWE-415" in listed
    rules = json.loads(jsec("rules", "--format", "json", cwd=root).stdout)
    assert {"id", "title", "languages", "category", "cwe", "severity", "fixable"} <= set(rules[0])
    page = jsec("explain", "double-free", cwd=root).stdout
    assert page.startswith("# double-free\n")
    assert "## Why is this bad?" in page
    assert "suppresses" in jsec("explain", "unused-suppression", cwd=root).stdout
    chinese = jsec("explain", "double-free", "--lang", "zh-cn", cwd=root).stdout
    assert "双重释放" in chinese and "## 为什么有问题" in chinese
    assert (
        "invalid choice" in jsec("explain", "double-free", "--lang", "x", cwd=root, status=2).stderr
    )
    assert "double-free" in jsec("explain", "duble-free", cwd=root, status=2).stderr


def test_the_agent_says_that_there_is_no_model(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    run = jsec("agent", "--format", "json", cwd=root)
    assert "jsec: Scanning without verification: No model is configured." in run.stderr
    assert len(json.loads(run.stdout)["issues"]) == 1


def test_fixes_are_shown_then_written(root: Path) -> None:
    write(root, {"a.c": TWICE, "b.c": FLAWED})
    shown = jsec("fix", "--rule", "double-free", cwd=root)
    assert shown.stdout.startswith("--- a/a.c\n+++ b/a.c\n")
    assert (root / "a.c").read_text() == TWICE
    jsec("fix", "--rule", "double-free", "--write", cwd=root)
    fixed = (root / "a.c").read_text()
    assert "p = NULL;" in fixed
    jsec("fix", "--rule", "double-free", "--write", cwd=root)
    assert (root / "a.c").read_text() == fixed
    assert (root / "b.c").read_text() == FLAWED
    assert issues("--rule", "double-free", cwd=root) == []


def test_a_reader_that_has_seen_enough_is_no_error(root: Path) -> None:
    write(root, {f"{n}.c": FLAWED * 30 for n in range(20)})
    line = " ".join(map(quoted, command("scan"))) + " | head -1"
    environment = {**os.environ, "JARVIS_HOME": str(root)}
    run = subprocess.run(
        ["sh", "-c", line],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment,
    )
    assert run.stdout.count("\n") == 1
    assert run.stderr == ""


def test_nothing_is_imported_from_the_scanned_folder(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    for name in (
        "json",
        "pickle",
        "struct",
        "re2",
        "tree_sitter",
        "pathspec",
        "jarvis_ls",
        "runpy",
        "sitecustomize",
        "usercustomize",
        "tree_sitter_c",
    ):
        write(root, {f"{name}.py": f"open({str(root / 'CANARY')!r}, 'w').write('{name}')\n"})
    script = Path(command()[0]).with_name("jsec")
    assert script.exists(), "the package is installed with its commands"
    subprocess.run(
        [script, "scan"],
        cwd=root,
        check=True,
        capture_output=True,
        timeout=60,
        env={**os.environ, "JARVIS_HOME": str(root / "home")},
    )
    assert not (root / "CANARY").exists()


def test_no_process_of_the_workspace_is_run(root: Path) -> None:
    """A hostile git configuration is never executed, for no git is."""
    write(
        root,
        {
            "a.c": FLAWED,
            ".git/config": "[core]\n fsmonitor = touch CANARY\n hooksPath = .\n",
            "bin/git": f"#!/bin/sh\ntouch {root}/CANARY\n",
        },
    )
    (root / "bin/git").chmod(0o755)
    path = f"{root}/bin:{os.environ['PATH']}"
    for arguments in (["scan"], ["scan", "--changed"], ["baseline"], ["fix", "--write"]):
        jsec(*arguments, cwd=root, PATH=path)
    assert not (root / "CANARY").exists()


def test_headers_beside_a_named_file_are_known(root: Path) -> None:
    write(
        root,
        {
            "src/reader.h": '#include "limits.inc.h"\nstruct reader { char name[NAME]; };\n',
            "src/limits.inc.h": "#define NAME 8\n",
            "src/a.c": '#include "reader.h"\nvoid f(struct reader *r) { r->name[8] = 0; }\n',
            "src/b.c": "void g(int *p) { int a[2]; a[2] = *p; *p = a[2]; }\n",
        },
    )
    found = issues("src/a.c", cwd=root)
    assert [(each["file"], each["line"]) for each in found] == [("src/a.c", 2)]
