"""Templates said in one language: what people read, in theirs.

A text is written in English where it is used, ``say("{count} findings", count=3)``; the English
template is the key of its translation in a catalog, a JSON object in ``<language>.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from jarvis_ls.core.finding import Message, fill
from jarvis_ls.core.words import Words, translated

ENGLISH = "en"
CHINESE = "zh-cn"


class Translations:
    """Templates to text in one language."""

    def __init__(self, language: str = ENGLISH, *catalogs: Path) -> None:
        """``language`` is `en` or `zh-cn`, as `language_of` gives it; ``catalogs`` are folders."""
        self.language = language
        self._known = catalog(language, catalogs) if language != ENGLISH else {}

    def __call__(self, template: str, **args: object) -> str:
        """Return ``template`` in the user's language with its places filled.

        `Words`, given alone or for a place, are said in that language too.
        """
        return translated(Words(template, **args), lambda text: self._known.get(text, text))

    def text(self, message: Message) -> str:
        """Return a message of a finding in the user's language.

        So are the values in it that the catalog has and that hold a blank, as no name of code does.
        """
        args = tuple(
            (name, self._known.get(value, value) if " " in value else value)
            for name, value in message.args
        )
        return fill(self._known.get(message.template, message.template), args)


def language_of(locale: str | None) -> str:
    """Return the language we have that is nearest to a locale such as `zh-CN` or `de`."""
    name = (locale or "").lower().replace("_", "-")
    return CHINESE if name.split("-")[0] == "zh" else ENGLISH


def catalog(language: str, folders: Iterable[Path]) -> dict[str, str]:
    """Return the translations into a language; of several for one template the last counts."""
    known: dict[str, str] = {}
    for folder in folders:
        file = folder / f"{language}.json"
        if file.is_file():
            known.update(json.loads(file.read_text(encoding="utf-8")))
    return known
