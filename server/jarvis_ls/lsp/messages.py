"""What the server says to people, in their language.

A message is written in English where it is used: ``say("{count} findings", count=3)``. The
English template is the key of its translation in ``locale/<language>.json``; translations of
the rules' messages lie in ``jsec/locale`` in the same form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from jarvis_ls.core.finding import Message, fill
from jarvis_ls.core.words import Words, filled, translated

_PACKAGE = Path(__file__).resolve().parents[1]
MIGRATION = _PACKAGE / "jc2r" / "locale"
"""What a migration says: its runs are processes of their own and keep what they say in files, so
that it comes here as text."""
CATALOGS = (_PACKAGE / "lsp" / "locale", _PACKAGE / "jsec" / "locale", MIGRATION)
"""Folders that hold one JSON object per language, template to translation."""
_PLACE = re.compile(r"\{(\w+)\}")

ENGLISH = "en"
CHINESE = "zh-cn"


class Messages:
    """Templates to text in one language."""

    def __init__(self, language: str = ENGLISH, *more: Path) -> None:
        """``language`` is `en` or `zh-cn`, as `language_of` gives it; ``more`` are catalogs."""
        self.language = language
        self._known: dict[str, str] = (
            _load(language, (*CATALOGS, *more)) if language != ENGLISH else {}
        )

    def __call__(self, template: str, **args: object) -> str:
        """Return ``template`` in the user's language with its places filled.

        `Words`, given alone or for a place, are said in that language too.
        """
        return translated(Words(template, **args), lambda text: self._known.get(text, text))

    def told(self, text: str) -> str:
        """Return what a migration has told, in the user's language: its template is found again by
        what stands around the places, and so is that of what they hold."""
        said = self(text)
        if said != text or self.language == ENGLISH:
            return said
        for pattern, translation in _shapes(self.language):
            if found := pattern.fullmatch(text):
                held = {name: self.told(value) if " " in value else value  # else it is a name
                        for name, value in found.groupdict().items()}  # fmt: skip
                return filled(translation, held)
        return text

    def text(self, message: Message) -> str:
        """Return a message of a finding in the user's language."""
        return fill(self._known.get(message.template, message.template), message.args)


def language_of(locale: str | None) -> str:
    """Return the language we have that is nearest to a locale such as `zh-CN` or `de`."""
    name = (locale or "").lower().replace("_", "-")
    return CHINESE if name.split("-")[0] == "zh" else ENGLISH


def _load(language: str, catalogs: Iterable[Path]) -> dict[str, str]:
    known: dict[str, str] = {}
    for folder in catalogs:
        file = folder / f"{language}.json"
        if file.is_file():
            known.update(json.loads(file.read_text(encoding="utf-8")))
    return known


@cache
def _shapes(language: str) -> list[tuple[re.Pattern[str], str]]:
    """What texts of a migration look like, with their translations; those that say most first."""
    known = _load(language, [MIGRATION])
    templates = sorted((one for one in known if "{" in one),
                       key=lambda one: -len(_PLACE.sub("", one)))  # fmt: skip
    return [(re.compile(_shape(one), re.DOTALL), known[one]) for one in templates]


def _shape(template: str) -> str:
    parts = _PLACE.split(template)  # text, name, text, name, …, text
    return "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part)
                   for at, part in enumerate(parts))  # fmt: skip
