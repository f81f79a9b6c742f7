"""What the server says to people, in their language.

A message is written in English where it is used: ``say("{count} findings", count=3)``. The
English template is the key of its translation in ``locale/<language>.json``; translations of
the rules' messages lie in ``jsec/locale`` in the same form.
"""

from __future__ import annotations

import json
from pathlib import Path

from jarvis_ls.core.finding import Message, fill
from jarvis_ls.core.words import Words, translated

_PACKAGE = Path(__file__).resolve().parents[1]
CATALOGS = (_PACKAGE / "lsp" / "locale", _PACKAGE / "jsec" / "locale")
"""Folders that hold one JSON object per language, template to translation."""

ENGLISH = "en"
CHINESE = "zh-cn"


class Messages:
    """Templates to text in one language."""

    def __init__(self, language: str = ENGLISH) -> None:
        """``language`` is `en` or `zh-cn`, as `language_of` gives it."""
        self.language = language
        self._known: dict[str, str] = _load(language) if language != ENGLISH else {}

    def __call__(self, template: str, **args: object) -> str:
        """Return ``template`` in the user's language with its places filled.

        `Words`, given alone or for a place, are said in that language too.
        """
        return translated(Words(template, **args), lambda text: self._known.get(text, text))

    def text(self, message: Message) -> str:
        """Return a message of a finding in the user's language."""
        return fill(self._known.get(message.template, message.template), message.args)


def language_of(locale: str | None) -> str:
    """Return the language we have that is nearest to a locale such as `zh-CN` or `de`."""
    name = (locale or "").lower().replace("_", "-")
    return CHINESE if name.split("-")[0] == "zh" else ENGLISH


def _load(language: str) -> dict[str, str]:
    known: dict[str, str] = {}
    for folder in CATALOGS:
        file = folder / f"{language}.json"
        if file.is_file():
            known.update(json.loads(file.read_text(encoding="utf-8")))
    return known
