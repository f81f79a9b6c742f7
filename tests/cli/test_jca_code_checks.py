"""`jca -r`: what is checked after an edit, and what of it the model is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.code_agent import FILES, code_bench, events
from tests.support.repositories import git, write

MAKE = {
    "Makefile": "all: main\nmain: main.c lib.c\n\tcc -Wall -o main main.c lib.c\n",
    "main.c": "int twice(int a);\nint main(void) { return twice(2); }\n",
    "lib.c": "int twice(int a) {\n    int unused;\n    return a + a;\n}\n",
}
CARGO = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub fn twice(a: i32) -> i32 {\n    a + a\n}\n",
    ".gitignore": "target\n",
}
CMAKE = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_library(x lib.c)\n",
    "lib.c": "int twice(int a) { return a + a; }\n",
}
NPM = {
    "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"build": "node --check a.js"}}',
    "a.js": "function twice(a) {\n  return a + a;\n}\n",
}
PYTHON = {**FILES, "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n'}
GO = {
    "go.mod": "module x\n",
    "lib.go": "package x\n\nfunc Twice(a int) int {\n\treturn a + a\n}\n",
}
JAVA = "class Twice {\n    static int twice(int a) {\n        return a + a;\n    }\n}\n"
TWICE = "src/main/java/Twice.java"
MAVEN = {
    TWICE: JAVA,
    "pom.xml": """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
  </properties>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
    <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
  </plugins></build>
</project>
""",
}
GRADLE = {TWICE: JAVA, "build.gradle": "apply plugin: 'java'\n"}
BROKEN = {
    "make": (MAKE, "lib.c", "a + a", "a + b", "2 * a", "lib.c:3: error: 'b' undeclared"),
    "cargo": (CARGO, "src/lib.rs", "a + a", "a + b", "2 * a", "src/lib.rs:2: error[E0425]"),
    "cmake": (CMAKE, "lib.c", "a + a", "a + b", "2 * a", "lib.c:1: error: 'b' undeclared"),
    "npm": (NPM, "a.js", "a + a", "a + ", "2 * a", "a.js"),
    "go": (GO, "lib.go", "a + a", "a + b", "2 * a", "lib.go:4: undefined: b"),
    "yarn": ({**NPM, "yarn.lock": ""}, "a.js", "a + a", "a + ", "2 * a", "a.js"),
    "pnpm": (
        {**NPM, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
        "a.js",
        "a + a",
        "a + ",
        "2 * a",
        "a.js",
    ),
    "maven": (MAVEN, TWICE, "a + a", "a + b", "2 * a", f"{TWICE}:3: cannot find symbol"),
    "gradle": (GRADLE, TWICE, "a + a", "a + b", "2 * a", f"{TWICE}:3: error: cannot find symbol"),
    "python": (PYTHON, "src/use.py", "    return", "    return )", "    return 0 or", "use.py:5"),
}
NOT_EVERYWHERE = {"go": "go", "yarn": "yarn", "pnpm": "pnpm", "maven": "mvn", "gradle": "gradle"}
"""Programs that are large or of other registries: where they are missing, their outputs are read
from what was recorded (`test_outputs_of_builds.py`)."""
DEBIAN = Path("/usr/share/maven-repo")
COMPILER_PLUGIN = DEBIAN / "org" / "apache" / "maven" / "plugins" / "maven-compiler-plugin"
QUOTES = str.maketrans({"‘": "'", "’": "'"})


def link_all(source: Path, target: Path) -> None:
    """Make a folder of links to all files below another."""
    for folder, _, files in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True)
        for name in files:
            (place / name).symlink_to((Path(folder) / name).resolve())


@pytest.mark.parametrize("system", BROKEN)
async def test_a_build_that_an_edit_breaks_is_told_until_it_is_mended(
    tmp_path: Path, system: str
) -> None:
    files, path, search, replace, harmless, complaint = BROKEN[system]
    program = NOT_EVERYWHERE.get(system, "sh")
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    if system == "maven" and not COMPILER_PLUGIN.is_dir():
        pytest.skip("Debian's packages of Maven plugins are not installed")
    async with code_bench(tmp_path, files) as bench:
        if system == "maven":  # what its plugins need comes from the home folder, as for people
            link_all(DEBIAN, tmp_path / "me" / ".m2" / "repository")
            bench.environment["HOME"] = str(tmp_path / "me")
        before = bench.state()
        bench.edit(path, search, replace)
        bench.always_say("Done.")
        status, out, err = await bench.fix("--json")
        assert status == 0, err
        everything = "\n".join(str(request.body["messages"]) for request in bench.model.requests)
        flat = (
            everything.replace("‘", "'").replace("’", "'").replace('\\"', '"').replace("\\'", "'")
        )
        assert f"build.{system}, new since your changes:" in flat
        assert complaint in flat
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert patch["checks"][f"build.{system}"] != []
        bench.edit(path, search, harmless)
        bench.model.say("Done.")
        status, out, err = await bench.fix("--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert patch["checks"][f"build.{system}"] == []
        assert bench.state() == before


async def test_what_was_broken_before_is_not_blamed_on_an_edit(tmp_path: Path) -> None:
    files = {**MAKE, "main.c": MAKE["main.c"].replace("twice(2)", "twice(two)")}
    async with code_bench(tmp_path, files) as bench:
        bench.edit("lib.c", "return a + a;", "return 2 * a;")
        bench.model.say("Done.")
        status, out, err = await bench.fix("--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert patch["checks"]["build.make"] == []
        assert len(bench.model.requests) == 2


async def test_tests_at_risk_are_run_and_a_failure_is_told(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        write(bench.root, {"src/header.py": "def parse_header(data):\n    return data\n"})
        bench.always_say("Done.")
        bench.edit("src/header.py", "return data", "return data[1:]")
        status, out, err = await bench.fix("--json")
        assert status == 0, err
        said = "\n".join(str(request.body["messages"][-1]) for request in bench.model.requests)
        assert "tests.pytest, new since your changes:" in said
        assert "test failed: tests/test_header.py::test_all" in said
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        (complaint,) = patch["checks"]["tests.pytest"]
        assert complaint.startswith("test failed: tests/test_header.py::test_all")


async def test_a_test_that_failed_before_is_not_blamed_on_an_edit(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        bench.edit("src/use.py", "return parse_header(data)", "return parse_header(data) or data")
        bench.edit("src/header.py", "- 1", "- 2")
        bench.always_say("Done.")
        status, out, err = await bench.fix("--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert patch["checks"]["tests.pytest"] == []


async def test_linters_of_the_user_are_run_and_only_new_complaints_are_told(
    tmp_path: Path,
) -> None:
    async with code_bench(tmp_path, {"a.txt": "bad\n", "b.txt": "good\n"}) as bench:
        command = "grep -n -H bad {files} | sed 's/:bad/: bad word/'"
        (bench.home / "lint_tools.yaml").write_text(
            f'".txt":\n  - {{name: words, command: "{command}"}}\n'
        )
        bench.edit("a.txt", "bad\n", "bad\nfine\n")
        bench.edit("b.txt", "good", "bad")
        bench.always_say("It is meant.")
        status, out, err = await bench.fix("--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert patch["checks"]["lint.words"] == ["b.txt:1: bad word"]
        said = "\n".join(str(request.body["messages"][-1]) for request in bench.model.requests)
        assert "b.txt:1: bad word" in said and "a.txt:1: bad" not in said
        for wrong in ("[", "a: 1", '".txt": [no_such]', '".txt": [{name: x}]'):
            (bench.home / "lint_tools.yaml").write_text(wrong)
            status, _, err = await bench.fix()
            assert (status, "lint_tools.yaml" in err) == (2, True)


async def test_a_check_that_cannot_be_run_is_remembered_and_not_tried_again(
    tmp_path: Path,
) -> None:
    files = {"a.txt": "a\n", "go.mod": "module x\n"}
    async with code_bench(tmp_path, files) as bench:
        (bench.home / "lint_tools.yaml").write_text(
            '".txt":\n  - {name: none, command: "no-such-program {files}"}\n'
        )
        before = bench.state()
        for times in (1, 0):
            bench.edit("a.txt", "a", "b")
            bench.model.say("Done.")
            status, _, err = await bench.fix()
            assert status == 0, err
            assert err.count("lint.none is not run in this repository from now on") == times
        record = bench.root / ".jarvis/build_validation_config.yaml"
        assert "lint.none: no-such-program is not there" in record.read_text()
        assert bench.state() == before
        assert git(bench.root, "status", "--porcelain") == ""
        record.write_text("disabled: [")
        bench.edit("a.txt", "a", "b")
        bench.model.say("Done.")
        status, _, err = await bench.fix()
        assert (status, "build_validation_config.yaml" in err) == (0, True)
        assert record.read_text() == "disabled: ["


async def test_without_checks_nothing_of_the_project_runs(tmp_path: Path) -> None:
    async with code_bench(tmp_path, MAKE) as bench:
        bench.edit("lib.c", "return a + a;", "return a + b;")
        bench.model.say("Done.")
        status, out, _ = await bench.fix("--json", "--no-checks")
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert (status, patch["checks"]) == (0, {})


async def test_what_a_shell_changed_is_told_file_by_file(tmp_path: Path) -> None:
    long = "".join(f"x{number} = {number}\n" for number in range(400))
    files = {"long.py": long, "old.py": long, "note.js": "let a = 1;\n", "gone.txt": "x\n" * 4}
    async with code_bench(tmp_path, files) as bench:
        script = "sed -i 's/ = / = 1/' long.py; mv old.py new.py; echo 'let b = (;' >> note.js"
        bench.model.call("execute_script", {"script": script})
        bench.model.say("<!!!YES!!!>")
        bench.model.say("Done.")
        status, _, err = await bench.fix("--allow", "execute", "--no-checks")
        assert status == 0, err
        said = "\n".join(str(request.body["messages"][-1]) for request in bench.model.requests)
        assert "long.py: +400 -400, too much to show" in said
        assert "new.py: renamed from old.py" in said
        assert "+let b = (;" in said
        assert "note.js:2 " in said.partition("New syntax errors")[2]
        assert "Impact: " in said
