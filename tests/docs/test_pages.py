"""What README.md and the pages under docs tell people to type works as written."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_ls.cli.jsec import build_parser
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.settings.settings import load_settings
from jarvis_ls.runtime.base.toml_files import parse_toml
from tests.support.starting import quick

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
TEXT = "\n".join(PAGES.values())


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line.partition("#")[0].strip() for line in lines if line.startswith("jsec ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [*quick("jarvis_ls.cli.jsec"), *shlex.split(command)[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("command", commands())
def test_commands_run(command: str, tmp_path: Path) -> None:
    shutil.copytree(
        *(ROOT / "tests/workspaces/inventory", tmp_path),
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".jarvis"),  # another test may be scanning it
    )
    if "explain-finding" in command:  # of a scan before, whose findings have other names than here
        run("jsec scan .", tmp_path)
        candidates = (tmp_path / ".jarvis/sec/candidates.jsonl").read_text(encoding="utf-8")
        command = f"jsec explain-finding {json.loads(candidates.splitlines()[0])['id']}"
    done = run(command, tmp_path)
    expected = 1 if "--fail-on" in command else 0
    assert done.returncode == expected, done.stderr
    assert "Traceback" not in done.stderr


def shown(language: str) -> list[str]:
    """Return the commands of jsec in blocks of a language, as words."""
    lines = [line.removeprefix("$ ") for block in blocks(language) for line in block.splitlines()]
    return [line for line in lines if line.startswith("jsec ")]


@pytest.mark.parametrize("command", [*shown("sh"), *shown("console")])
def test_commands_are_understood(command: str) -> None:
    """Also those that need a model, a case or a machine of the reader's."""
    parsed = build_parser().parse_args(shlex.split(command, comments=True)[1:])
    assert callable(parsed.run)


def test_names_may_stand_on_both_sides_of_options() -> None:
    parse = build_parser().parse_args
    prove = parse(["prove", "C1", "--trust", "C2", "--budget", "3", "src"])
    assert (prove.names, prove.trust, prove.budget) == (["C1", "C2", "src"], True, 3)
    assert parse(["scan", "-q", "--", "-b.c"]).paths == [Path("-b.c")]
    with pytest.raises(SystemExit):
        parse(["scan", "a.c", "--no-such-option", "b.c"])


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
    assert len(examples) == 3 and named and set(named) <= set(all_rules())


def test_rules_named_in_the_text_exist() -> None:
    named = re.findall(r"jsec-ignore: ([\w-]+)|--rule ([\w-]+)|jsec explain ([a-z-]+)", TEXT)
    found = {name for group in named for name in group if name}
    assert found and found <= set(all_rules())


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(([^)#]+)\)", PAGES[page])
    assert not [link for link in links if "://" not in link and not (folder / link).exists()]


def test_the_configuration_of_helix_is_valid() -> None:
    (block,) = blocks("helix")
    settings = parse_toml(block.encode())
    assert settings["language-server"]["jarvis"]["command"] == "jarvis-ls"
    served = [language["name"] for language in settings["language"]]
    assert served == ["c", "cpp", "rust"]


@pytest.mark.parametrize(("page", "most"), [("README.md", 700), ("server/ARCHITECTURE.md", 900)])
def test_overviews_stay_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


OVERVIEWS = (
    "server/ARCHITECTURE.md",
    "client-vscode/README.md",
    *(
        f"server/jarvis_ls/{package}/README.md"
        for package in (
            (
                "codeintel/change codeintel/graph jsec jsec/flow jsec/rules jc2r jc2r/build "
                "jc2r/translate review runtime agents lsp"
            ).split()
        )
    ),
)
"""Pages that lead through the code."""


@pytest.mark.parametrize("page", OVERVIEWS)
def test_paths_named_in_overviews_exist(page: str) -> None:
    """Every `folder/` and `file.ext` in code marks exists beside the page or in the tree."""
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    places = (path.parent, ROOT / "server/jarvis_ls", ROOT / "client-vscode/src", ROOT)
    named = [name for name in re.findall(r"`([\w./{},-]+)`", text) if PATHLIKE.search(name)]
    missing = [
        name
        for name in named
        if not any((place / variant).exists() for place in places for variant in variants(name))
    ]
    assert named and not missing


PATHLIKE = re.compile(r"^[\w{][\w./{},-]*(/|\.(py|ts|md|json|toml|mjs|c|rs))$")


def variants(name: str) -> list[str]:
    """Return the first name that braces stand for, or the name itself."""
    return [re.sub(r"\{(\w+)[^}]*\}", r"\1", name)]
