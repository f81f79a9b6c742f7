"""Every message the server can say has a Chinese translation with the same places."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import jarvis_ls.lsp
from jarvis_ls.core.finding import Message
from jarvis_ls.lsp.features.code_actions import _SCOPES
from jarvis_ls.lsp.messages import CATALOGS, Messages, language_of

PACKAGE = Path(jarvis_ls.lsp.__file__).parent
PLACES = re.compile(r"\{(\w+)\}")


def said() -> set[str]:
    found = {title for _scope, title in _SCOPES}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            template = node.args[0]
            if name in ("say", "_say") and isinstance(template, ast.Constant):
                found.add(str(template.value))
    return found


def test_every_message_is_translated():
    catalog = json.loads((CATALOGS[0] / "zh-cn.json").read_text(encoding="utf-8"))
    assert said() - set(catalog) == set()
    assert len(said()) > 15


def test_translations_have_the_same_places():
    for folder in CATALOGS:
        for file in folder.glob("*.json"):
            for english, other in json.loads(file.read_text(encoding="utf-8")).items():
                assert sorted(PLACES.findall(english)) == sorted(PLACES.findall(other)), english


@pytest.mark.parametrize(
    ("locale", "language"),
    [("zh-CN", "zh-cn"), ("zh", "zh-cn"), ("zh_Hans", "zh-cn"), ("en-US", "en"), ("de", "en"),
     (None, "en"), ("", "en")],
)  # fmt: skip
def test_the_nearest_language(locale, language):
    assert language_of(locale) == language


def test_a_message_without_a_translation_stays_english():
    say = Messages("zh-cn")
    assert say.text(Message("'{a}' is odd.", (("a", "x"),))) == "'x' is odd."
    assert say("high") == "高" and Messages()("high") == "high"
