"""Help and wrong use of the commands, in the language of the environment."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator

import pytest

from jarvis_ls.cli.entry import parsers
from jarvis_ls.cli.language import LOCALE
from jarvis_ls.lsp.user_messages import Messages

CHINESE = {"LC_ALL": "zh_CN.UTF-8", "COLUMNS": "80"}
PLACES = re.compile(r"\{\w+\}|%\(\w+\)\w|%\w")


def texts(name: str) -> Iterator[str]:
    """Everything the help of a command says, in English."""
    for parser in parsers(importlib.import_module(f"jarvis_ls.cli.{name}").build_parser()):
        yield from (text for text in (parser.description, parser.epilog) if text)
        for action in parser._actions:
            lines = getattr(action, "_choices_actions", [])
            yield from (one.help for one in (action, *lines) if one.help)


def command(name: str, *arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a language."""
    program = f"import sys; from jarvis_ls.cli.{name} import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", **env},
    )


@pytest.mark.parametrize("name", ["jarvis", "jsec", "jc2r", "jca", "language_server"])
def test_every_line_of_help_is_translated(name: str) -> None:
    known = Messages("zh-cn", LOCALE)
    said = {text for text in texts(name) if text != argparse.SUPPRESS}
    assert len(said) > 4
    assert {text for text in said if known(text) == text} == set()


def test_translations_of_commands_have_the_same_places() -> None:
    for english, chinese in json.loads((LOCALE / "zh-cn.json").read_text("utf-8")).items():
        assert sorted(PLACES.findall(english)) == sorted(PLACES.findall(chinese)), english


@pytest.mark.parametrize("words", [["jarvis"], ["jarvis", "memory", "organize"], ["jsec", "scan"]])
def test_help_in_chinese(words: list[str]) -> None:
    """No line of it is wider than the terminal, where each sign takes two columns."""
    name, *rest = words
    done = command(name, *rest, "--help", env=CHINESE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"用法: {' '.join(words)}") and "显示此帮助并退出" in done.stdout
    for english in ("usage", "options:", "positional", "default:", "show this"):
        assert english not in done.stdout
    widths = [
        sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line)
        for line in done.stdout.splitlines()
    ]
    assert max(widths) <= 80


def test_wrong_use_is_told_in_chinese() -> None:
    done = command("jsec", "scan", "--jobs", "x", env=CHINESE)
    assert done.returncode == 2
    assert "jsec scan：错误：参数 --jobs/-j：“x”不是整数" in done.stderr
    assert "无法识别的参数：--wrong" in command("jarvis", "--wrong", env=CHINESE).stderr
    assert "invalid choice" not in command("jc2r", "none", env=CHINESE).stderr


def test_help_stays_english_elsewhere() -> None:
    done = command("jarvis", "--help", env={"LC_ALL": "C.UTF-8", "COLUMNS": "80"})
    assert done.stdout.startswith("usage: jarvis [-h]") and "options:" in done.stdout
