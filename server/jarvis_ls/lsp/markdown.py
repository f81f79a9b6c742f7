"""Text that is shown as text, whatever Markdown it resembles."""

from __future__ import annotations

_SIGNS = frozenset("\\`*_{}[]<>#|")


def escape(text: str) -> str:
    """Return text with a backslash in front of every sign that Markdown reads."""
    return "".join(f"\\{char}" if char in _SIGNS else char for char in text)


def code_block(text: str, language: str = "text") -> str:
    """Return a code block whose fence no text inside can close."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text}\n{ticks}"
