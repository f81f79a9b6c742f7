"""Reports of jsec in the language of the terminal."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jarvis_ls.cli.language import language

if TYPE_CHECKING:
    from jarvis_ls.core.translations import Translations


@cache
def reporter() -> Translations:
    """Return what says the templates of reports and findings in the user's language."""
    from jarvis_ls.jsec.report.spoken import speaker  # what it needs takes a while

    return speaker(language())
