"""`jca impact` the way a person runs it, in repositories made here."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import commit, git, make_repository
from tests.support.starting import quick


def jca(
    *arguments: str | Path, cwd: Path, status: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder; `status` is what it must exit with (None: anything)."""
    run = subprocess.run(
        [*quick("jarvis_ls.cli.jca"), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "JARVIS_HOME": str(cwd.parent / "home"), **environment},
    )
    assert status is None or run.returncode == status, run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    return run


def impact(*arguments: str | Path, cwd: Path) -> dict[str, Any]:
    run = jca("impact", "--format", "json", "--no-findings", *arguments, cwd=cwd)
    told: dict[str, Any] = json.loads(run.stdout)
    return told


LANGUAGES: dict[str, tuple[dict[str, str], str, str, str, str]] = {
    "python": (
        {
            "src/calc.py": "def add(a, b):\n    return a + b\n",
            "src/use.py": "from src.calc import add\n\ndef twice(a):\n    return add(a, a)\n",
            "tests/test_use.py": "from src.use import twice\n\ndef test_it():\n    twice(1)\n",
        },
        "src/calc.py",
        "a + b",
        "twice",
        "test_it",
    ),
    "c": (
        {
            "add.h": "int add(int a, int b);\n",
            "add.c": '#include "add.h"\nint add(int a, int b) { return a + b; }\n',
            "use.c": '#include "add.h"\nint twice(int a) { return add(a, a); }\n',
            "tests/test_use.c": "int twice(int);\nint main(void) { return twice(1); }\n",
        },
        "add.c",
        "a + b",
        "twice",
        "",
    ),
    "cpp": (
        {
            "add.hpp": "namespace m { int add(int a, int b); }\n",
            "add.cpp": '#include "add.hpp"\nint m::add(int a, int b) { return a + b; }\n',
            "use.cpp": '#include "add.hpp"\nint twice(int a) { return m::add(a, a); }\n',
            "tests/use_test.cpp": "int twice(int);\nint main() { return twice(1); }\n",
        },
        "add.cpp",
        "a + b",
        "twice",
        "",
    ),
    "rust": (
        {
            "src/lib.rs": "mod add;\npub fn twice(a: u8) -> u8 { add::add(a, a) }\n",
            "src/add.rs": "pub fn add(a: u8, b: u8) -> u8 { a + b }\n",
            "tests/use.rs": "use demo::twice;\n#[test]\nfn it() { assert_eq!(twice(1), 2); }\n",
        },
        "src/add.rs",
        "a + b",
        "twice",
        "it",
    ),
    "go": (
        {
            "calc/add.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
            "use.go": 'package use\n\nimport "demo/calc"\n\n'
            "func Twice(a int) int { return calc.Add(a, a) }\n",
            "use_test.go": 'package use\n\nimport "testing"\n\n'
            "func TestTwice(t *testing.T) { Twice(1) }\n",
        },
        "calc/add.go",
        "a + b",
        "Twice",
        "TestTwice",
    ),
    "java": (
        {
            "src/Calc.java": "class Calc { static int add(int a, int b) { return a + b; } }\n",
            "src/Use.java": "class Use { int twice(int a) { return Calc.add(a, a); } }\n",
            "test/UseTest.java": "class UseTest { @Test void it() { new Use().twice(1); } }\n",
        },
        "src/Calc.java",
        "a + b",
        "Use.twice",
        "UseTest.it",
    ),
    "javascript": (
        {
            "calc.js": "exports.add = function (a, b) { return a + b }\n",
            "use.js": "const calc = require('./calc')\n"
            "function twice(a) { return calc.add(a, a) }\nmodule.exports = { twice }\n",
            "use.test.js": "const { twice } = require('./use')\ntest('it', () => { twice(1) })\n",
        },
        "calc.js",
        "a + b",
        "twice",
        "",
    ),
    "typescript": (
        {
            "calc.ts": "export const add = (a: number, b: number) => { return a + b }\n",
            "use.ts": "import { add as plus } from './calc'\n"
            "export function twice(a: number) { return plus(a, a) }\n",
            "use.spec.ts": "import { twice } from './use'\nit('is', () => { twice(1) })\n",
        },
        "calc.ts",
        "a + b",
        "twice",
        "",
    ),
}


def test_heirs_run_inherited_tests_and_what_is_named_after_the_change_comes_first(
    tmp_path: Path,
) -> None:
    files = {
        "src/calc.py": "def add(a, b):\n    return a + b\n",
        "tests/test_all.py": "from src.calc import add\n\ndef test_a():\n    add(1, 2)\n",
        "tests/test_calc.py": "from src.calc import add\n\nclass TestInts:\n    one = 1\n\n"
        "    def test_other(self):\n        add(self.one, 2)\n\n"
        "    def test_add(self):\n        add(self.one, 2)\n\n"
        "class TestFloats(TestInts):\n    one = 1.0\n\n"
        "    def test_other(self):\n        pass\n",
    }
    root = make_repository(tmp_path / "work", files)
    (root / "src/calc.py").write_text("def add(a, b):\n    return a - b\n")
    tests = [test["name"] for test in impact(cwd=root)["tests"]]
    assert tests == ["TestFloats.test_add", "TestInts.test_add", "TestInts.test_other", "test_a"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_body_leads_to_its_callers_and_tests(language: str, tmp_path: Path) -> None:
    files, path, text, caller, test = LANGUAGES[language]
    root = make_repository(tmp_path / "work", files)
    place = root / path
    place.write_text(place.read_text().replace(text, "a - b"))
    told = impact(cwd=root)
    changed = [symbol for symbol in told["symbols"] if symbol["change"] == "body"]
    assert [symbol["name"].rpartition(".")[2].lower() for symbol in changed] == ["add"]
    assert caller in [entry["name"] for entry in told["callers"]]
    assert test in [entry["name"] for entry in told["tests"]]


def test_comments_and_blanks_change_no_symbol(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.c": "int f(int a) { return a; }\n"})
    (root / "a.c").write_text("/* why */\nint f( int a )\r\n{\n  return a; // it\n}\n")
    told = impact(cwd=root)
    assert told["files"] == ["a.c"] and told["symbols"] == []


def test_a_symbol_that_is_gone_but_used_is_a_high_risk(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    pass\n", "b.py": "import a\n\ndef g():\n    a.f()\n"}
    root = make_repository(tmp_path / "work", files)
    (root / "a.py").write_text("")
    run = jca("impact", "--no-findings", "--fail-on", "high", cwd=root, status=1)
    assert "Risk: high" in run.stdout
    assert "'f' is gone; places that still use it: 1" in run.stdout
    assert "check b.py:4, which uses 'f'" in run.stdout
    chinese = jca("impact", "--no-findings", cwd=root, LC_ALL="zh_CN.UTF-8").stdout
    assert "风险：高" in chinese and "Risk" not in chinese


def test_a_place_that_uses_two_changed_symbols_is_a_user_of_both(tmp_path: Path) -> None:
    text = "def f(n):\n    return n\n\n\ndef gone(n):\n    return n\n"
    user = "import a\n\ndef g():\n    return a.f(a.gone(1))\n\ndef h():\n    return g()\n"
    root = make_repository(tmp_path / "work", {"a.py": text, "b.py": user})
    (root / "a.py").write_text("def f(n):\n    return n + 1\n")
    told = impact(cwd=root)
    users = [(entry["name"], entry["via"], entry["depth"]) for entry in told["callers"]]
    assert users == [("g", "f", 1), ("g", "gone", 1), ("h", "g", 2)]
    assert told["risk"] == "high"


def test_a_function_that_moves_to_another_file_has_moved(tmp_path: Path) -> None:
    text = "def first(value):\n    return value * 2 + 1\n"
    root = make_repository(tmp_path / "work", {"a.py": text, "b.py": "x = 1\n"})
    (root / "a.py").unlink()
    (root / "c.py").write_text(text)
    (moved,) = [s for s in impact(cwd=root)["symbols"] if s["name"] == "first"]
    assert (moved["change"], moved["moved_from"], moved["path"]) == ("moved", "a.py", "c.py")


def test_two_revisions_are_compared_whatever_is_on_the_disk(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.py": "def f():\n    return 1\n"})
    (root / "a.py").write_text("def f():\n    return 2\n")
    (root / "b.py").write_text("from a import f\n\ndef g():\n    return f()\n")
    commit(root, "second")
    (root / "b.py").unlink()
    (root / "a.py").write_text("")
    told = impact("HEAD~1..HEAD", cwd=root)
    assert told["files"] == ["a.py", "b.py"]
    assert {s["name"]: s["change"] for s in told["symbols"] if s["name"]} == {
        "f": "body",
        "g": "added",
    }
    assert impact("HEAD..HEAD", cwd=root)["files"] == []


def test_findings_of_changed_files_are_compared(tmp_path: Path) -> None:
    safe = "#include <string.h>\nvoid f(const char *s) { char to[4]; strncpy(to, s, 3); }\n"
    root = make_repository(tmp_path / "work", {"a.c": safe})
    (root / "a.c").write_text(safe.replace("strncpy(to, s, 3)", "strcpy(to, s)"))
    told = json.loads(jca("impact", "--format", "json", cwd=root).stdout)
    assert "unbounded-string-copy" in [finding["rule"] for finding in told["findings"]["new"]]


def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.c": "int f(void) { return 1; }\n"})
    ran = tmp_path / "ran"
    script = tmp_path / "bin" / "evil"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    git = script.with_name("git")  # only the question for its version may come
    git.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo git version 2.39.0 || echo "$@" >> {ran}\n'
    )
    git.chmod(0o755)
    config = root / ".git" / "config"
    config.write_text(
        "[core]\n\trepositoryformatversion = 1\n"
        f"\tfsmonitor = {script}\n\thooksPath = {script.parent}\n\tsshCommand = {script}\n"
        f'[diff]\n\texternal = {script}\n[diff "c"]\n\ttextconv = {script}\n'
        f'[filter "x"]\n\tclean = {script}\n\tsmudge = {script}\n\tprocess = {script}\n'
        f'[remote "origin"]\n\tpromisor = true\n\turl = ext::{script}\n'
        "[extensions]\n\tpartialClone = origin\n[include]\n\tpath = /dev/zero\n"
    )
    (root / ".gitattributes").write_text("*.c diff=c filter=x\n")
    for hook in ("post-index-change", "pre-commit", "fsmonitor-watchman"):
        place = root / ".git" / "hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(script.read_text())
        place.chmod(0o755)
    (root / "a.c").write_text("int f(void) { return 2; }\n")
    run = jca("impact", cwd=root, PATH=f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    assert "a.c:1: body: f" in run.stdout
    assert not ran.exists()


def test_what_is_no_repository_or_no_revision_is_said(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "is in no git repository" in jca("impact", cwd=tmp_path / "plain", status=2).stderr
    root = make_repository(tmp_path / "work", {"a.py": "x = 1\n"})
    for wrong in ("nowhere..HEAD", "HEAD...HEAD", "HEAD..--output=x"):
        assert jca("impact", wrong, cwd=root, status=2).stderr.startswith("jca: ")


def test_damaged_objects_are_said(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.py": "x = 1\n"})
    for file in (root / ".git" / "objects").rglob("*"):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(b"damage")
    told = jca("impact", cwd=root, status=2).stderr
    assert "HEAD is not a commit that can be read" in told


def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "a.py").write_text("def f():\n    pass\n")
    told = impact(cwd=root)
    assert [symbol["change"] for symbol in told["symbols"]] == ["added", "added"]


def test_a_graph_that_is_torn_or_came_with_the_folder_is_made_anew(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "from a import f\n\ndef g():\n    f()\n"}
    root = make_repository(tmp_path / "work", files)
    (root / "a.py").write_text("def f():\n    return 2\n")
    whole = impact(cwd=root)
    assert [caller["name"] for caller in whole["callers"]] == ["g"]
    database = root / ".jarvis" / "cache" / "symbols.db"
    assert "*" in (database.parent / ".gitignore").read_text()
    with sqlite3.connect(database) as link:
        link.execute("DELETE FROM uses")
        link.execute("UPDATE owner SET proof = 'another'")
    link.close()
    assert impact(cwd=root) == whole
    database.write_bytes(database.read_bytes()[:5000] + b"torn" * 100)
    assert impact(cwd=root) == whole
    database.unlink()
    database.symlink_to(tmp_path / "elsewhere.db")
    assert impact(cwd=root) == whole
    assert not (tmp_path / "elsewhere.db").exists()


ODD = {
    "empty.py": b"",
    "latin.py": b"# \xe9\xff\ndef caf\xe9():\n    return 1\n",
    "nul.c": b"int f(void) { return 0; }\0\0",
    "deep.js": b"(" * 50_000,
    "deep.py": b"f(" * 20_000,
    "deep.c": b"int x = " + b"(" * 50_000 + b"1",
    "open.ts": b"/* " * 20_000,
    "long.go": b"package a\nvar x = " + b"1+" * 50_000 + b"1\n",
    "bom.java": b"\xef\xbb\xbfclass A { int f() { return 1; } }",
    "torn.py": b"not " * 30_000,
    "torn.c": b"!" * 30_000,
    "cr.rs": b"fn f() {\r    1\r}\r",
    "a b/é.py": b"def f(): return 1\n",
}


def test_odd_files_are_read_or_left_out_but_stop_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", {"a.py": "def f():\n    return 1\n"})
    for name, data in ODD.items():
        place = root / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    told = impact(cwd=root)
    assert {"latin.py", "bom.java", "a b/é.py"} <= set(told["files"])
    commit(root, "odd")
    assert impact("HEAD~1..HEAD", cwd=root)["symbols"] == told["symbols"]
