"""The pages of rules in Chinese: all of them, and nothing that the English page does not name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import jarvis_ls.jsec
from jarvis_ls.jsec.engine.page_text import LANGUAGES, in_language, reason
from jarvis_ls.jsec.engine.rule_pages import rule_pages

PAGES = {page.id: page for page in rule_pages()}
CATALOGUE = json.loads(
    Path(jarvis_ls.jsec.__file__)
    .with_name("locale")
    .joinpath("pages", "zh-cn.json")
    .read_text(encoding="utf-8")
)
CODE = re.compile(r"`([^`]+)`")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
HEADINGS = re.compile(r"^## .*$", re.MULTILINE)
EXAMPLES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def test_every_rule_has_a_chinese_page():
    assert set(CATALOGUE) - {""} == set(PAGES)
    for name, texts in CATALOGUE.items():
        if name:
            assert set(texts) == {"title", "what", "why"}, name
        assert all(CHINESE.search(text) for text in texts.values()), name


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_the_same_in_chinese(name):
    english, chinese = PAGES[name], in_language(PAGES[name], "zh-cn")
    written = " ".join(english.page.split())
    for text in CATALOGUE[name].values():
        assert text.count("`") % 2 == 0
        assert all(code in written for code in CODE.findall(text))
    assert chinese.page.splitlines()[0] == chinese.title == CATALOGUE[name]["title"]
    assert EXAMPLES.findall(chinese.page) == EXAMPLES.findall(english.page)
    headings = HEADINGS.findall(chinese.page)
    assert len(headings) == len(HEADINGS.findall(english.page))
    assert all(CHINESE.search(heading) for heading in headings)
    assert reason(chinese, "zh-cn") == CATALOGUE[name]["why"]


def test_a_page_in_english_or_an_unknown_language_is_as_it_is_written():
    page = PAGES["double-free"]
    assert LANGUAGES == ("en", "zh-cn")
    assert in_language(page, "en") is page and in_language(page, "fr") is page
    assert reason(page, "en").startswith("The second `free`")


@pytest.mark.parametrize(
    ("name", "left"), [("double-free", "Local checks"), ("memory-leak", "nothing")]
)
def test_a_rule_that_asks_flow_says_what_is_left_without_it(name, left):
    parts = PAGES[name].page.partition("## With `--no-flow`\n")
    assert left in parts[2].splitlines()[0]
    translated = in_language(PAGES[name], "zh-cn").page.partition("`--no-flow` 时\n")[2]
    assert CHINESE.search(translated.splitlines()[0])
    assert "--no-flow" not in PAGES["gets-call"].page
