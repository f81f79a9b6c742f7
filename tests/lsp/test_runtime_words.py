"""What the runtime says to the user has a Chinese translation too."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import jarvis_ls
from jarvis_ls.lsp.messages import CATALOGS, Messages
from jarvis_ls.runtime.showing import in_english

PACKAGE = Path(jarvis_ls.__file__).parent
FOLDERS = ("runtime", "assembly", "agents")


def templates() -> set[str]:
    """Every constant template of `notice` and `doing`."""
    found = set()
    for folder in FOLDERS:
        for file in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                place = {"notice": 1, "doing": 0}.get(getattr(node.func, "attr", ""))
                if place is None or len(node.args) <= place:
                    continue
                template = node.args[place]
                assert not isinstance(template, ast.JoinedStr), f"{file}:{node.lineno}: no template"
                if isinstance(template, ast.Constant):
                    found.add(str(template.value))
    return found


def test_every_template_of_the_runtime_is_translated() -> None:
    catalog = json.loads((CATALOGS[0] / "zh-cn.json").read_text(encoding="utf-8"))
    assert templates() - set(catalog) == set()
    assert len(templates()) > 20


def test_places_are_filled_in_either_language() -> None:
    template, values = "running {tools}", {"tools": "echo {x}"}
    assert in_english(template, values) == "running echo {x}"
    assert Messages("zh-cn")(template, **values) == "正在运行 echo {x}"
    assert in_english("{unknown} stays", {}) == "{unknown} stays"
