"""What is in an archive of objects, as `ar` writes it."""

from __future__ import annotations

_START = 8
_HEAD = 60


def members(data: bytes) -> list[str]:
    """Return the names of what an archive holds; as far as it is whole."""
    found: list[str] = []
    long_names = b""
    at = _START
    while at + _HEAD <= len(data):
        name, size = data[at : at + 16].rstrip(), data[at + 48 : at + 58].strip()
        if not size.isdigit():
            break
        at += _HEAD
        if name == b"//":
            long_names = data[at : at + int(size)]
        elif name[:1] == b"/" and name[1:].isdigit():
            found.append(_until(long_names[int(name[1:]) :], b"/\n"))
        elif name not in (b"/", b"/SYM64/"):
            found.append(_until(name, b"/"))
        at += int(size) + int(size) % 2
    return found


def _until(text: bytes, mark: bytes) -> str:
    return text.partition(mark)[0].decode("utf-8", "replace")
