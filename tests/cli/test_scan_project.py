"""Which project a scan belongs to, what its settings may name, and documents that are not saved."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import FLAWED, RULE, TWICE, command, issues, jsec, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"a.c": TWICE, "src/deep/b.c": FLAWED})


def off(rule: str) -> dict[str, str | bytes]:
    return {".jarvis/jsec.toml": f'[rules]\n{rule} = "off"\n'}


def test_settings_are_found_upwards(root: Path) -> None:
    write(root, off(RULE))
    assert issues(cwd=root / "src") == []
    assert issues("src/deep/b.c", cwd=root) == []
    assert not (root / "src/.jarvis").exists() and not (root / "src/deep/.jarvis").exists()


def test_in_a_repository_the_folder_of_earlier_scans_is_found_too(root: Path) -> None:
    write(root, {".git/HEAD": ""})
    jsec("baseline", cwd=root)
    assert issues(cwd=root / "src/deep") == []
    assert not (root / "src/deep/.jarvis").exists()
    found = issues("--no-baseline", cwd=root / "src/deep")
    assert [issue["file"] for issue in found] == ["src/deep/b.c"]


def test_a_repository_ends_the_way_up(root: Path) -> None:
    write(root, {**off(RULE), "src/.git/HEAD": ""})
    assert len(issues(cwd=root / "src/deep")) == 1


def test_outside_of_repositories_only_settings_make_a_project(root: Path) -> None:
    (root / ".jarvis").mkdir()
    assert [issue["file"] for issue in issues(cwd=root / "src")] == ["deep/b.c"]


def test_the_state_of_the_user_is_no_project(root: Path) -> None:
    home = write(root, {**off(RULE), ".git/HEAD": ""}) / ".jarvis"
    assert len(issues_with_home(root / "src", home)) == 1


def issues_with_home(folder: Path, home: Path) -> list[object]:
    run = jsec("scan", "--format", "json", cwd=folder, JARVIS_HOME=str(home))
    return list(json.loads(run.stdout)["issues"])


def test_a_finding_is_explained_from_below(root: Path) -> None:
    write(root, {".git/HEAD": ""})
    (first, *_) = issues(cwd=root)
    assert first["id"] in jsec("explain-finding", first["id"], cwd=root / "src").stdout


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[rules]\n"double-fre" = "off"\n', "unknown rule 'double-fre'; did you mean double-free"),
        ('[paths."src/"]\nrules = { xyzzy = "low" }\n', "unknown rule 'xyzzy'; `jsec rules` lists"),
    ],
)
def test_rules_that_do_not_exist_are_errors(root: Path, settings: str, said: str) -> None:
    write(root, {".jarvis/jsec.toml": settings})
    run = jsec("scan", cwd=root, status=2)
    assert run.stdout == "" and f".jarvis/jsec.toml: rules: {said}" in run.stderr
    chinese = jsec("scan", cwd=root, status=2, LC_ALL="zh_CN.UTF-8").stderr
    assert "未知规则" in chinese


def test_patterns_and_hints_can_be_named_in_rules(root: Path) -> None:
    settings = '[rules]\nmine = "low"\nunused-suppression = "off"\n'
    pattern = '[[pattern]]\nid = "mine"\nregex = "x"\nmessage = "m"\n'
    write(root, {".jarvis/jsec.toml": settings + pattern})
    jsec("scan", cwd=root)


def from_stdin(text: str | bytes, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command("scan", *arguments),
        input=text if isinstance(text, bytes) else text.encode(),
        cwd=cwd,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_a_document_is_scanned_as_the_file_it_will_be(root: Path) -> None:
    write(root, {"src/deep/run.h": "#define RUN system\n", ".git/HEAD": ""})
    text = '#include "run.h"\nvoid f(char *x) { RUN(x); }\n'
    run = from_stdin(text, "--stdin-filename", "src/deep/b.c", "--format", "json", cwd=root)
    assert run.returncode == 0, run.stderr
    (issue,) = json.loads(run.stdout)["issues"]
    assert (issue["file"], issue["line"]) == ("src/deep/b.c", 2)
    assert (root / "src/deep/b.c").read_text() == FLAWED and not (root / ".jarvis").exists()
    shown = from_stdin(text, "--stdin-filename", "src/deep/new.c", "-", cwd=root).stdout.decode()
    assert "src/deep/new.c:2:19" in shown and "     2 | void f(char *x) { RUN(x); }" in shown


@pytest.mark.parametrize("text", ["", b"\xff\xfe\x00", b"\0" * 5000, "{" * 100_000])
def test_documents_of_any_content_are_taken(root: Path, text: str | bytes) -> None:
    run = from_stdin(text, "--stdin-filename", "a.c", cwd=root)
    assert run.returncode == 0 and b"Traceback" not in run.stderr


def test_a_document_that_is_too_large_is_named(root: Path) -> None:
    arguments = ("--stdin-filename", "a.c", "--max-file-size", "100")
    run = from_stdin("int x;\n" * 100, *arguments, cwd=root)
    assert run.returncode == 0 and b"a.c: larger than the size limit" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--stdin-filename", "notes.txt"), "notes.txt: not a name of a C, C++ or Rust file"),
        (("--stdin-filename", "a.c", "."), "name no files or folders"),
        (("--stdin-filename", "none/a.c"), "none: no such file or directory"),
    ],
)
def test_wrong_use_of_standard_input(root: Path, arguments: tuple[str, ...], said: str) -> None:
    run = from_stdin("int x;\n", *arguments, cwd=root)
    assert run.returncode == 2 and said in run.stderr.decode()


def test_a_closed_standard_input_is_said(root: Path) -> None:
    line = 'exec "$@" <&-'
    words = command("scan", "--stdin-filename", "a.c")
    run = subprocess.run(["sh", "-c", line, "sh", *words], cwd=root, capture_output=True)
    assert run.returncode == 2 and b"standard input is closed" in run.stderr
