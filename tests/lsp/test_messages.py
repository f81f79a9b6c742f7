"""Every message the server can say has a Chinese translation with the same places."""

from __future__ import annotations

import ast
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import jarvis_ls.lsp
from jarvis_ls.core.finding import Message
from jarvis_ls.core.translations import language_of
from jarvis_ls.core.words import Words, from_json, to_json
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
    *(PACKAGE.parent / "harness").rglob("*.py"),
    *(PACKAGE.parent / "jc2r").rglob("*.py"),
    PACKAGE.parent / "codeintel" / "clang.py",
    *(PACKAGE.parent / "cli").glob("jc2r*.py"),
]


def templates(text: ast.expr | None) -> Iterator[str]:
    """The templates that an expression may be made of; of an f-string, which has lost its template,
    its source."""
    match text:
        case ast.Constant(value=str(value)):
            yield value
        case ast.IfExp():
            yield from (*templates(text.body), *templates(text.orelse))
        case ast.BinOp() | ast.JoinedStr():
            constants = (part.value for part in ast.walk(text) if isinstance(part, ast.Constant))
            if any(re.search("[a-z]{2}", value) for value in constants if isinstance(value, str)):
                yield ast.unparse(text)
        case ast.Call(func=ast.Name(id="Words"), args=[template, *_]):
            yield from templates(template)


def told() -> set[str]:
    """What a migration raises, gives as a reason, or notes."""
    found: set[str] = set()
    for file in MIGRATION:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name = getattr(node.exc.func, "id", "")
                # what is wrong with an answer is told to the model that gave it
                if name not in ("ValueError", "ArgumentTypeError", "AnswerUnusable", "AnswerUnfit"):
                    found.update(templates(node.exc.args[0]))
            elif isinstance(node, ast.Return) and file.stem in ("eligibility", "functions"):
                found.update(templates(node.value))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
                if getattr(getattr(node.func, "value", None), "id", "") == "notes":
                    found.update(templates(node.args[0]))
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Words":
                found.update(templates(node))
            elif isinstance(node, ast.keyword) and node.arg in ("reason", "why"):
                found.update(templates(node.value))
    return {one for one in found if any(map(str.isalpha, PLACES.sub("", one)))}


def test_what_a_migration_tells_has_a_template_and_a_translation() -> None:
    known = {
        english
        for folder in (*CATALOGS, PACKAGE.parent / "cli" / "locale")
        for english in json.loads((folder / "zh-cn.json").read_text(encoding="utf-8"))
    }
    assert len(told()) > 90
    assert told() - known == set()


def test_words_keep_their_template_in_files_and_between_processes() -> None:
    say = Messages("zh-cn")
    chain = Words("{name}, which calls {other}", name="helper", other="write")
    reason = Words("it calls {name}", name=chain)
    assert reason == "it calls helper, which calls write"
    for carried in (
        from_json(json.loads(json.dumps(to_json({"why": [reason]}))))["why"][0],
        pickle.loads(pickle.dumps(reason)),
    ):
        assert carried == reason
        assert say(carried) == say(reason) == "它调用 helper，后者调用 write"
    assert say("something of a compiler") == "something of a compiler"
    assert from_json({"text": "x", "template": 3, "values": {}}) == {
        "text": "x",
        "template": 3,
        "values": {},
    }
