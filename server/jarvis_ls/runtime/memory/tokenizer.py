"""Words of texts, as notes and skills are found by them."""

from __future__ import annotations

import re

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")
_COMMON_TEXT = """a an and are as at be by can could do for from has have how i if in into is it
its me my not of on or our please should so that the then there these this to use was we what when
where which will with would you your"""
_COMMON = frozenset(_COMMON_TEXT.split())


def words(text: str) -> list[str]:
    """Return the words of a text, small letters: parts of names too, pairs of characters in
    Chinese.
    """
    found: list[str] = []
    for run in _RUN.findall(text):
        for piece in _CJK.split(run):
            if not piece:
                continue
            parts = [part.lower() for part in _HUMP.split(piece)]
            found.extend(parts)
            if len(parts) > 1:
                found.append(piece.lower())
        for chinese in _CJK.findall(run):
            found.extend(chinese[i : i + 2] for i in range(max(1, len(chinese) - 1)))
    return [word for word in found if word not in _COMMON]
