"""What the server says to people, in their language.

A message is written in English where it is used: ``say("{count} findings", count=3)``. The
English template is the key of its translation in ``locale/<language>.json``; translations of
the rules' messages are in ``jsec/locale`` in the same form.
"""

from __future__ import annotations

from pathlib import Path

from jarvis_ls.core.translations import ENGLISH, Translations

_PACKAGE = Path(__file__).resolve().parents[1]
CATALOGS = tuple(
    _PACKAGE / part / "locale" for part in ("lsp", "jsec", "harness", "jc2r", "review")
)
"""Folders that hold one JSON object per language, template to translation."""


class Messages(Translations):
    """What the server says, in one language."""

    def __init__(self, language: str = ENGLISH, *more: Path) -> None:
        """``language`` is `en` or `zh-cn`, as `language_of` gives it; ``more`` are catalogs."""
        super().__init__(language, *CATALOGS, *more)
