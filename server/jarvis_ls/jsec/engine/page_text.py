"""The pages of rules in the language of their reader.

A page is written in English, in the docstring of its rule. `locale/pages/<language>.json` has, by
the id of the rule, its `title`, `what` it does and `why` that is bad, and below the empty id the
headings. Examples and references are the same in every language; what has no translation stays
English.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.base.categories import category_name
from jarvis_ls.jsec.engine.rule_pages import RulePage

LANGUAGES = ("en", "zh-cn")
"""What pages can be asked for in."""

LANGUAGE_NAMES = {"c": "C", "cpp": "C++", "rust": "Rust"}
"""Grammars as people write them."""

_FOLDER = Path(__file__).resolve().parents[1] / "locale" / "pages"
_HEADING = re.compile(r"## (.+)")
_KEYS = {"What it does": "what", "Why is this bad?": "why"}


def in_language(page: RulePage, language: str) -> RulePage:
    """`page` in a language; `page` itself in English, and in a language we do not have."""
    known = _catalogue(language)
    if not known:
        return page
    headings, texts = known[""], known.get(page.id, {})
    title = texts.get("title", page.title)
    told = [title]
    for heading, body in _sections(page.page.splitlines()[1:]):
        if heading:
            told.append(f"## {headings.get(heading, heading)}")
        given = texts.get(_KEYS.get(heading, ""))
        told.append(given or "\n".join(headings.get(line, line) for line in body))
    return replace(page, title=title, page=_space_out(told))


def facts(page: RulePage, say: Translations, weaknesses: Iterable[str]) -> str:
    """Return in one line the category of a rule, its weaknesses as they are given, the worst
    severity, the languages, and whether it offers a fix."""
    parts = [
        category_name(page.category, say),
        *weaknesses,
        say("at most {severity}", severity=say(page.severity)),
        ", ".join(LANGUAGE_NAMES[language] for language in page.languages),
        *([say("offers a fix")] if page.fixable else []),
    ]
    return " · ".join(parts)


def reason(page: RulePage, language: str) -> str:
    """Return why the flaw is bad, from a page in a language; its title when the page has no such
    section."""
    wanted = _catalogue(language).get("", {}).get("Why is this bad?", "Why is this bad?")
    for heading, body in _sections(page.page.splitlines()[1:]):
        if heading == wanted:
            return "\n".join(body)
    return page.title


def _sections(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Each heading with the lines below it; those above the first come with an empty one."""
    found: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        match = None if fenced else _HEADING.fullmatch(line)
        if match is None:
            found[-1][1].append(line)
        else:
            found.append((match[1], []))
    trimmed = [(name, "\n".join(body).strip("\n").split("\n")) for name, body in found]
    return [(name, body) for name, body in trimmed if name or any(body)]


def _space_out(parts: list[str]) -> str:
    """Return a page of its title, headings and texts: an empty line in front of each heading, and
    behind the title."""
    title, *rest = parts
    lines = [title]
    for part in rest:
        if part.startswith("## ") or lines == [title]:
            lines.append("")
        lines.append(part)
    return "\n".join(lines)


@functools.cache
def _catalogue(language: str) -> dict[str, Any]:
    file = _FOLDER / f"{language}.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
