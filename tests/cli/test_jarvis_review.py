"""`jarvis review` the way people and CI run it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.repositories import commit, git, make_repository, write
from tests.support.starting import quick

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "node_modules" / "@microsoft"

ADDED = {
    "conflict-marker": ("a.py", "<<<<<<< HEAD\n"),
    "tls-not-verified": ("a.py", "get(url, verify=False)\n"),
    "shell-command": ("a.py", "run(text, shell=True)\n"),
    "code-from-text": ("a.js", "eval(text)\n"),
    "world-writable": ("a.sh", "chmod -R 777 /srv\n"),
    "debugger-left": ("a.py", "    breakpoint()\n"),
    "swallowed-error": ("a.py", "except OSError: pass\n"),
    "check-switched-off": ("a.py", "x = 1  # noqa\n"),
    "work-left": ("a.c", "int x; // TODO later\n"),
    "secret": ("a.py", "key = 'ghp_" + "a1B2c3D4e5F6" * 3 + "'\n"),
}


def review(
    *arguments: str | Path, cwd: Path, status: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    run = subprocess.run(
        [*quick("jarvis_ls.cli.jarvis"), "review", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "JARVIS_HOME": str(cwd.parent / "home"), **environment},
    )
    assert run.returncode == status, run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    return run


def as_json(*arguments: str, cwd: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(review("--format", "json", *arguments, cwd=cwd).stdout)
    assert told["model"] is None
    return told


@pytest.fixture(scope="module")
def with_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which every rule has something to say."""
    files = {path: "kept\n" for path, _ in ADDED.values()}
    root = make_repository(tmp_path_factory.mktemp("all") / "work", files)
    for path, line in ADDED.values():
        with (root / path).open("a", encoding="utf-8") as file:
            file.write(line)
    return root


def test_rules_speak_of_added_lines(with_all: Path) -> None:
    told = as_json(cwd=with_all)
    places = {(issue["rule"], issue["path"]) for issue in told["issues"]}
    assert {(rule, path) for rule, (path, _) in ADDED.items()} <= places
    lines = {unit["path"]: unit["hunks"] for unit in told["units"]}
    for issue in told["issues"]:
        assert any(start <= issue["line"] <= end for _, _, start, end in lines[issue["path"]])


def test_lines_that_were_there_are_not_reviewed(with_all: Path, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.py": "x = 1  # noqa\n"})
    (root / "a.py").write_text("x = 1  # noqa\ny = 2\n")
    assert "check-switched-off" not in review(cwd=root).stdout


def test_a_secret_is_not_repeated_in_the_report(with_all: Path) -> None:
    for form in ("text", "json", "sarif", "github"):
        assert "ghp_" not in review("--format", form, cwd=with_all).stdout


def test_formats_say_that_no_model_was_asked(with_all: Path) -> None:
    for form in ("text", "json", "sarif", "github"):
        assert "without a model" in review("--format", form, cwd=with_all).stdout
    chinese = review(cwd=with_all, LC_ALL="zh_CN.UTF-8").stdout
    assert "未使用模型" in chinese and "conflict is left" not in chinese


def test_sarif_meets_its_schema(with_all: Path) -> None:
    file = next(SCHEMAS.glob("*/sarif-2.1.0.json"))
    log = json.loads(review("--format", "sarif", cwd=with_all).stdout)
    jsonschema.validate(log, json.loads(file.read_text(encoding="utf-8")))
    assert len(log["runs"][0]["results"]) >= len(ADDED)


def test_github_shows_issues_beside_the_diff(with_all: Path) -> None:
    lines = review("--format", "github", cwd=with_all).stdout.splitlines()
    assert "::error file=a.py,line=2,endLine=2,title=conflict-marker::" in "\n".join(lines)
    assert all(line.startswith("::") for line in lines)


def test_the_exit_status_follows_the_severity(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"tests/a.txt": "x\n"})
    (root / "tests" / "a.txt").write_text("x\n# TODO\n")
    review("--fail-on", "medium", cwd=root)
    review("--fail-on", "low", cwd=root, status=1)
    review("--staged", "--range", "A..B", cwd=root, status=2)


def test_staged_working_and_range_are_told_apart(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.txt": "x\n", "b.txt": "x\n", "c.txt": "x\n"})
    write(root, {"a.txt": "x\n// TODO a\n"})
    commit(root, "second")
    write(root, {"b.txt": "x\n// TODO b\n"})
    git(root, "add", "b.txt")
    write(root, {"c.txt": "x\n// TODO c\n"})

    def paths(*arguments: str) -> list[str]:
        return [unit["path"] for unit in as_json(*arguments, cwd=root)["units"]]

    assert paths("--range", "HEAD~1..HEAD") == ["a.txt"]
    assert paths("--staged") == ["b.txt"]
    assert paths() == paths("--working") == ["b.txt", "c.txt"]


def test_callers_that_do_not_change_with_an_interface_are_named(tmp_path: Path) -> None:
    files = {
        "lib.c": "int size_of(int a) { return a; }\n",
        "use.c": "int size_of(int);\nint twice(int a) { return 2 * size_of(a); }\n",
    }
    root = make_repository(tmp_path / "work", files)
    write(root, {"lib.c": "int size_of(int a, int b) { return a + b; }\n"})
    (issue,) = [i for i in as_json(cwd=root)["issues"] if i["rule"] == "callers-unchanged"]
    assert (issue["path"], issue["source"]) == ("lib.c", "impact") and "use.c:2" in issue["message"]


def test_losses_and_new_security_findings_are_issues(tmp_path: Path) -> None:
    safe = "#include <string.h>\nvoid f(const char *s) { char to[4]; strncpy(to, s, 3); }\n"
    tests = "import f\n\ndef test_f():\n    assert f.g() == 1\n"
    root = make_repository(tmp_path / "work", {"a.c": safe, "tests/test_f.py": tests})
    write(root, {"a.c": safe.replace("strncpy(to, s, 3)", "strcpy(to, s)")})
    (root / "tests" / "test_f.py").unlink()
    told = {(issue["source"], issue["rule"]) for issue in as_json(cwd=root)["issues"]}
    assert {("jsec", "unbounded-string-copy"), ("guard", "lost-test")} <= told


def test_findings_of_large_files_are_told_apart_as_those_of_small_ones(tmp_path: Path) -> None:
    words = "/* " + "words " * 5_000 + "*/\n"
    old = words * 2 + "#include <stdio.h>\nvoid f(void) { char b[8]; gets(b); }\n"
    root = make_repository(tmp_path / "work", {"a.c": old})
    write(root, {"a.c": old + "void g(void) { char c[8]; gets(c); }\n"})
    found = [issue for issue in as_json(cwd=root)["issues"] if "gets" in issue["rule"]]
    assert [issue["line"] for issue in found] == [5]


def test_security_comes_first_and_renamed_files_are_one(tmp_path: Path) -> None:
    long = "".join(f"line {i}\n" for i in range(20))
    files = {"zz_auth.py": "a = 1\n", "ab.py": "a = 1\n", "old.txt": long, "x.yml": "a: 1\n"}
    root = make_repository(tmp_path / "work", files)
    write(root, {"zz_auth.py": "a = 2\n", "ab.py": "a = 2\n", "x.yml": "a: 2\n"})
    (root / "old.txt").rename(root / "new.txt")
    (root / "blob.txt").write_bytes(b"\0\1")
    git(root, "add", "--all")
    told = as_json(cwd=root)
    assert [unit["path"] for unit in told["units"]][:2] == ["zz_auth.py", "x.yml"]
    (renamed,) = [unit for unit in told["units"] if unit["status"] == "renamed"]
    assert (renamed["old_path"], renamed["path"]) == ("old.txt", "new.txt")
    assert told["summary"]["left_out"] == ["blob.txt"]
