"""Every message the server can say has a Chinese translation with the same places."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import jarvis_ls.lsp
from jarvis_ls.core.finding import Message
from jarvis_ls.core.translations import language_of
from jarvis_ls.lsp.features.code_actions import _SCOPES
from jarvis_ls.lsp.user_messages import CATALOGS, Messages

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
    [
        ("zh-CN", "zh-cn"),
        ("zh", "zh-cn"),
        ("zh_Hans", "zh-cn"),
        ("en-US", "en"),
        ("de", "en"),
        (None, "en"),
        ("", "en"),
    ],
)
def test_the_nearest_language(locale, language):
    assert language_of(locale) == language


def test_a_message_without_a_translation_stays_english():
    say = Messages("zh-cn")
    assert say.text(Message("'{a}' is odd.", (("a", "x"),))) == "'x' is odd."
    assert say("high") == "高" and Messages()("high") == "high"


MIGRATION = [
    *(PACKAGE.parent / "jc2r").rglob("*.py"),
    PACKAGE.parent / "codeintel" / "clang.py",
    *(PACKAGE.parent / "cli").glob("jc2r*.py"),
]


def sample(text: ast.expr) -> str:
    """A text as it may come out, when it is one that is written down; empty when it is not."""
    if isinstance(text, ast.Constant):
        return text.value if isinstance(text.value, str) else ""
    if isinstance(text, ast.IfExp):
        return sample(text.body)
    if isinstance(text, ast.BinOp):
        left, right = sample(text.left), sample(text.right)
        return (left or "x7") + (right or "x7") if left or right else ""
    if not isinstance(text, ast.JoinedStr):
        return ""
    return "".join(str(one.value) if isinstance(one, ast.Constant) else "x7" for one in text.values)


def told() -> set[str]:
    """What a migration raises, gives as a reason, or notes."""
    found = set()
    for file in MIGRATION:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name = getattr(node.exc.func, "id", "")
                if name not in ("ValueError", "ArgumentTypeError"):
                    found.add(sample(node.exc.args[0]))
            elif isinstance(node, ast.Return) and file.stem in ("eligibility", "functions"):
                found.add(sample(node.value) if node.value is not None else "")
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
                if getattr(getattr(node.func, "value", None), "id", "") == "notes":
                    found.add(sample(node.args[0]))
            elif isinstance(node, ast.keyword) and node.arg in ("reason", "why"):
                found.add(sample(node.value))
    return {one for one in found if any(map(str.isalpha, one.replace("x7", "")))}


def test_what_a_migration_tells_is_translated_wherever_it_comes_from():
    say = Messages("zh-cn")
    assert len(told()) > 90
    whole = {
        f"x7 is {one}"
        if one.startswith(("of a", "of type", "a pointer to", "a struct ", "a union"))
        else one
        for one in told()
    }
    assert {one for one in whole if say.told(one) == one} == {
        "x7 is x7",
        "the result is x7",  # those of others, above
    }
    assert all(Messages().told(one) == one for one in told())


def test_what_stands_in_the_places_is_translated_too():
    say = Messages("zh-cn")
    chain = "it calls helper, which calls write"
    assert say.told(chain) == "它调用 helper，后者调用 write"
    assert say.told("it behaves differently: a.c: nothing to do").startswith("行为不同：")
    assert say.told("no generated input was valid: the C timed out") == ("生成的输入都无效：C 超时")
    assert say.told("something of a compiler") == "something of a compiler"
