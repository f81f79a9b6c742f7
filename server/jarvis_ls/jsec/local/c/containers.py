"""What the names of standard C++ types tell: which own memory, which are sequences."""

from __future__ import annotations

import re

_OWNING = re.compile(
    r"(?:std\s*::\s*)?\b(?:w?string|u8string|u16string|u32string|vector|deque|list|forward_list|map"
    r"|set|multimap|multiset|unordered_map|unordered_set|unique_ptr|shared_ptr|weak_ptr|function"
    r"|any|thread|[io]?fstream|[io]?stringstream|queue|stack|priority_queue|mutex|QString"
    r"|QByteArray|QVector|QList)\b"
)
_SEQUENCE = re.compile(
    r"(?:std\s*::\s*)?\b(?:w?string|vector|deque|list|forward_list|queue|stack|priority_queue)\b"
)
_INDEXED = re.compile(r"(?:std\s*::\s*)?\b(?:w?string|vector|deque|array)\b")


def owns_memory(type_text: str) -> bool:
    """Return whether a type is a standard class that owns memory or another resource."""
    return _OWNING.match(_plain(type_text)) is not None


def is_sequence(type_text: str) -> bool:
    """Return whether a type has `front`, `back`, `top` or `pop` that need at least one element."""
    return _SEQUENCE.match(_plain(type_text)) is not None


def is_indexed(type_text: str) -> bool:
    """Return whether a type has an unchecked `[]` and a checked `at`."""
    return _INDEXED.match(_plain(type_text)) is not None


def is_string(type_text: str) -> bool:
    """Return whether a type is a standard string that owns its characters."""
    return re.fullmatch(r"(?:std\s*::\s*)?w?string", _plain(type_text)) is not None


def _plain(type_text: str) -> str:
    return type_text.removeprefix("const ").strip()[:200]
