"""Texts for models: `prompts/NAME.md` of a package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def read_prompt(package: str, name: str) -> str:
    """Return a text of a package. Raises `FileNotFoundError` when there is none."""
    found = files(package) / "prompts" / f"{name}.md"
    return found.read_text(encoding="utf-8").strip()
