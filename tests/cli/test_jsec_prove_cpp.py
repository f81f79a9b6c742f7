"""`jsec prove` on C++: programs, free functions and methods, with real compilers in the sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.jsec.proof.toolchain import find_toolchain
from tests.cli.test_jsec_prove import jsec, needs_compiler, prove

LIBRARY = """\
#include <cstring>
#include <string>

namespace tools
{
void name(const std::string &text)
{
    char place[16];
    strcpy(place, text.c_str());
    place[0] = 'x';
}
}

class Label
{
  public:
    explicit Label(int width) : width_(width)
    {
    }
    int set(const char *text)
    {
        char copy[24];
        strcpy(copy, text);
        return copy[0] + width_;
    }

  private:
    int width_;
};

class Hidden
{
    Hidden()
    {
    }

  public:
    int put(const char *words)
    {
        char room[20];
        strcpy(room, words);
        return room[0];
    }
};
"""
PROGRAM = """\
#include <cstring>
#include <iostream>

class Greeting
{
  public:
    void say(const char *who)
    {
        strcpy(text_, who);
        std::cout << text_;
    }

  private:
    char text_[12];
};

int main(int argc, char **argv)
{
    Greeting *greeting = new Greeting;
    if (argc > 1)
        greeting->say(argv[1]);
    delete greeting;
    return 0;
}
"""

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(not find_toolchain().cpp, reason="no C++ compiler is here"),
]


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


def by_line(told: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """What is shown of findings, by their line."""
    return {finding["line"]: finding["proof"] for finding in told["findings"]}


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_functions_and_methods_are_called(project: Path, home: Path) -> None:
    (project / "a.cpp").write_text(LIBRARY)
    shown = by_line(prove(project, home, "--all"))
    free = shown[line_of(LIBRARY, "strcpy(place")]
    assert free["verdict"] == "depends_on_caller", free["message"]
    assert "tools::name" in free["message"]["text"]
    method = shown[line_of(LIBRARY, "strcpy(copy")]
    assert method["verdict"] == "depends_on_caller", method["message"]
    assert "Label::set" in method["message"]["text"]
    hidden = shown[line_of(LIBRARY, "strcpy(room")]
    assert hidden["verdict"] == "unproven", hidden["message"]
    for proof in (free, method):
        replayed = jsec("replay", proof["case_id"], str(project), "--trust", home=home)
        assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    later = jsec("scan", str(project), "--format", "json", home=home)
    assert later.stdout.count('"depends_on_caller"') >= 2


def test_a_program_with_a_flaw_in_a_method(project: Path, home: Path) -> None:
    (project / "a.cpp").write_text(PROGRAM)
    told = by_line(prove(project, home, "--all"))[line_of(PROGRAM, "strcpy(text_")]
    assert (told["verdict"], told["rung"]) == ("reproduced", "whole-program"), told["message"]


def test_each_language_is_built_by_its_own_standard(project: Path, home: Path) -> None:
    (project / "copy.c").write_text(
        "#include <string.h>\n\nint copy(const char *text)\n{\n    char place[16];\n"
        "    strcpy(place, text);\n    return place[0];\n}\n"
    )
    (project / "main.cpp").write_text(
        'extern "C" int copy(const char *);\n\nint main(int argc, char **argv)\n{\n'
        "    auto words = argv;\n    return argc > 1 ? copy(words[1]) : 0;\n}\n"
    )
    commands = [("copy.c", "gcc -std=c99"), ("main.cpp", "g++ -std=c++17")]
    (project / "compile_commands.json").write_text(
        json.dumps(
            [
                {"directory": str(project), "file": file, "command": f"{command} -c {file}"}
                for file, command in commands
            ]
        )
    )
    found = prove(project, home, "--all")["findings"]
    told = next(item["proof"] for item in found if item["file"] == "copy.c")
    assert (told["verdict"], told["report"]["line"]) == ("reproduced", 6), told["message"]
