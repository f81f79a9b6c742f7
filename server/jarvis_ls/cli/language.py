"""The language of the terminal: what the environment says (`LC_ALL`, `LC_MESSAGES`, `LANG`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.translations import language_of

if TYPE_CHECKING:
    from jarvis_ls.lsp.user_messages import Messages


LOCALE = Path(__file__).resolve().parent / "locale"
"""Translations of what only commands say: their help."""


def language() -> str:
    """Return the one of our languages that is nearest to the environment's."""
    return language_of(locale_of(os.environ))


@cache
def speaker() -> Messages:
    """Says templates in the user's language."""
    from jarvis_ls.lsp.user_messages import Messages

    return Messages(language(), LOCALE)


def speak(text: str) -> str:
    """`Words`, or a template without places, in the user's language."""
    return speaker()(text)


def locale_of(environment: Mapping[str, str]) -> str:
    """Such as `zh_CN.UTF-8`; the first of the variables that is set counts, as everywhere."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((environment[name] for name in names if environment.get(name)), "")
