"""Templates said in one language: what people are told, in theirs.

A text is written in English where it is used, ``say("{count} findings", count=3)``; the English
template is the key of its translation in a catalog, a JSON object in ``<language>.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from jarvis_ls.core.finding import Message, fill
from jarvis_ls.core.words import Words, filled, translated

_PLACE = re.compile(r"\{(\w+)\}")

ENGLISH = "en"
CHINESE = "zh-cn"


class Translations:
    """Templates to text in one language."""

    def __init__(self, language: str = ENGLISH, *catalogs: Path) -> None:
        """``language`` is `en` or `zh-cn`, as `language_of` gives it; ``catalogs`` are folders."""
        self.language = language
        self._known = catalog(language, catalogs) if language != ENGLISH else {}
        self._shapes: list[tuple[re.Pattern[str], str]] | None = None

    def __call__(self, template: str, **args: object) -> str:
        """Return ``template`` in the user's language with its places filled.

        `Words`, given alone or for a place, are said in that language too.
        """
        return translated(Words(template, **args), lambda text: self._known.get(text, text))

    def told(self, text: str) -> str:
        """Return what comes as text, from a file or another process, in the user's language: its
        template is found again by what stands around the places, and so is that of what they
        hold."""
        said = self(text)
        if said != text or self.language == ENGLISH:
            return said
        if self._shapes is None:
            self._shapes = _shapes(self._tellable())
        for pattern, translation in self._shapes:
            if found := pattern.fullmatch(text):
                held = {
                    name: self.told(value) if " " in value else value  # else it is a name
                    for name, value in found.groupdict().items()
                }
                return filled(translation, held)
        return text

    def _tellable(self) -> dict[str, str]:
        """Return the translations of what may come as text."""
        return self._known

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


def _shapes(known: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of filled templates with their translations, the most specific first."""
    templates = sorted(
        (item for item in known if "{" in item), key=lambda item: -len(_PLACE.sub("", item))
    )
    return [(re.compile(_shape(template), re.DOTALL), known[template]) for template in templates]


def _shape(template: str) -> str:
    """Return a pattern with a group for each place; one that comes twice holds the same twice."""
    parts, seen = _PLACE.split(template), set[str]()  # text, name, text, name, …, text
    told = []
    for at, part in enumerate(parts):
        if at % 2 == 0:
            told.append(re.escape(part))
        else:
            told.append(f"(?P={part})" if part in seen else f"(?P<{part}>.+?)")
            seen.add(part)
    return "".join(told)
