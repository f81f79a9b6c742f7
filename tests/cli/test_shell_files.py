"""Completions and manual pages, as shells and `man` use them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import HANGS

MANUAL = Path(__file__).resolve().parents[2] / "server" / "man"
PROGRAMS = {
    "jarvis": "jarvis",
    "jca": "jca",
    "jarvis-ls": "language_server",
    "jsec": "jsec",
    "jc2r": "jc2r",
}


COMPLETED = [
    (["jsec", "sc"], ["scan"]),
    (["jsec", "scan", "--format", "gi"], ["github", "gitlab"]),
    (["jsec", "scan", "--sev"], ["--severity"]),
    (["jsec", "explain-finding", "--color", "n"], ["never"]),
    (["jarvis", "mo"], ["models"]),
    (["jca", "im"], ["impact"]),
    (["jc2r", "--ver"], ["--version"]),
    (["jarvis-ls", "--t"], ["--tcp"]),
]
"""What is typed, and what is offered for it."""


def run(module: str, *arguments: str, locale: str = "C.UTF-8") -> subprocess.CompletedProcess[str]:
    """Run a program of ours."""
    code = f"import sys; from jarvis_ls.cli.{module} import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        env={**os.environ, "LC_ALL": locale, "PYTHONUTF8": "1"},
    )


def completed(shell_file: Path, program: str, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    script = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        "$(complete -p \"$1\" | sed 's/.* -F \\([^ ]*\\) .*/\\1/'); "
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", shell_file, program, *words],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The completion of each program for bash, as the program prints it."""
    folder = tmp_path_factory.mktemp("scripts")
    found = {}
    for program, module in PROGRAMS.items():
        done = run(module, "--print-completion", "bash")
        assert done.returncode == 0, done.stderr
        found[program] = folder / program
        found[program].write_text(done.stdout, encoding="utf-8")
    return found


@pytest.mark.parametrize(("words", "offered"), COMPLETED)
def test_bash_completes(scripts: dict[str, Path], words: list[str], offered: list[str]) -> None:
    program, *rest = words
    assert completed(scripts[program], program, *rest) == offered


def test_bash_completes_files(
    scripts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.sarif").touch()
    assert completed(scripts["jsec"], "jsec", "scan", "--output", "rep") == ["report.sarif"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize(("program", "module"), PROGRAMS.items())
def test_zsh_loads_its_completion(program: str, module: str, tmp_path: Path) -> None:
    (tmp_path / f"_{program}").write_text(run(module, "--print-completion", "zsh").stdout)
    script = (
        'fpath=("$1" $fpath); autoload -U compinit && compinit -D -u; '
        'print -r -- $_comps[$2]; autoload -Uz +X "_$2"'
    )
    done = subprocess.run(
        ["zsh", "-f", "-c", script, "zsh", tmp_path, program],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"_{program}\n", "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize(("words", "offered"), COMPLETED)
def test_fish_completes(words: list[str], offered: list[str], tmp_path: Path) -> None:
    program, *_ = words
    script = tmp_path / f"{program}.fish"
    script.write_text(run(PROGRAMS[program], "--print-completion", "fish").stdout)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C '{' '.join(words)}'"],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == offered
    assert (done.returncode, done.stderr) == (0, "")


def test_a_shell_without_completion_is_an_error() -> None:
    done = run("jsec", "--print-completion", "tcsh")
    assert done.returncode == 2 and "bash" in done.stderr and done.stdout == ""


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("program", PROGRAMS)
def test_manual_pages_are_well_formed(program: str) -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", MANUAL / f"{program}.1"],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    assert done.stderr == ""
    shown = re.sub(r"\s+", " ", done.stdout)
    assert f"NAME {program} - " in shown and "OPTIONS -h, --help" in shown
    if program == "jsec":
        assert "--severity SEVERITY report findings of at least this severity only" in shown
        assert "exit status: 0 success; 1 a finding meets --fail-on" in shown


def test_the_server_says_what_is_wrong_in_chinese() -> None:
    done = run("language_server", "--tcp", "x:y", locale="zh_CN.UTF-8")
    assert done.returncode == 2 and "“x:y”不是 HOST:PORT" in done.stderr
