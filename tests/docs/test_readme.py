"""What README.md tells people to type works as written."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_ls.jsec.rule import all_rules
from jarvis_ls.jsec.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line.partition("#")[0].strip() for line in lines if line.startswith("jsec ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "jarvis_ls.cli.jsec", *shlex.split(command)[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("command", commands())
def test_commands_run(command: str, tmp_path: Path) -> None:
    shutil.copytree(
        *(ROOT / "tests/workspaces/inventory", tmp_path), dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".jarvis"),  # another test may be scanning it
    )  # fmt: skip
    if "explain-finding" in command:  # of a scan before, whose findings have other names than here
        run("jsec scan .", tmp_path)
        candidates = (tmp_path / ".jarvis/sec/candidates.jsonl").read_text(encoding="utf-8")
        command = f"jsec explain-finding {json.loads(candidates.splitlines()[0])['id']}"
    done = run(command, tmp_path)
    expected = 1 if "--fail-on" in command else 0
    assert done.returncode == expected, done.stderr
    assert "Traceback" not in done.stderr


def test_there_are_commands() -> None:
    assert len(commands()) >= 6


def test_the_settings_examples_are_valid(tmp_path: Path) -> None:
    named: list[str] = []
    (tmp_path / ".jarvis").mkdir()
    examples = blocks("toml")
    for example in examples:
        (tmp_path / ".jarvis/jsec.toml").write_text(example)
        settings = load_settings(tmp_path)
        named += [name for name, _ in settings.rules]
        named += [name for path in settings.paths for name, _ in path.rules]
    assert len(examples) == 2 and named and set(named) <= set(all_rules())


def test_rules_named_in_the_text_exist() -> None:
    named = re.findall(r"jsec-ignore: ([\w-]+)|--rule ([\w-]+)|jsec explain ([a-z-]+)", README)
    found = {name for group in named for name in group if name}
    assert found and found <= set(all_rules())


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing
