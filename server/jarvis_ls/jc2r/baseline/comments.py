"""Comments of the C file, to stand in the Rust where they stood."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    rb"""//(?:[^\n\\]|\\.)*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_FRAME = re.compile(r"^[ \t]*(?:/\*+!?<?|\*+/|\*(?!/)|//+[!/]?<?)?[ \t]?|[ \t]*\*+/[ \t]*$")
_RULER = re.compile(r"[-=*#~_/\\+ \t]*")


class Comments:
    """Finds comments between two places of a file."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def between(self, start: int, end: int) -> list[str]:
        """Comments that begin in `start..end`, as lines of Rust."""
        found: list[str] = []
        for match in _TOKEN.finditer(self._data, start, end):
            text = match[0]
            if text[:1] == b"/":
                found += [f"// {line}".rstrip() for line in _lines(text)]
        return found

    def before(self, start: int, end: int) -> list[str]:
        """The same for what stands before a definition: what touches it documents it."""
        matches = [one for one in _TOKEN.finditer(self._data, start, end) if one[0][:1] == b"/"]
        found: list[str] = []
        for number, match in enumerate(matches):
            gap = self._data[match.end() : end if number + 1 == len(matches)
                             else matches[number + 1].start()]  # fmt: skip
            touches = not gap.strip() and gap.count(b"\n") <= 1
            if number + 1 < len(matches):
                touches = touches and self._touches(matches[number + 1 :], end)
            mark = "///" if touches else "//"
            found += [f"{mark} {line}".rstrip() for line in _lines(match[0])]
            if not touches and number + 1 == len(matches):
                found.append("")
        return found

    def _touches(self, rest: list[re.Match[bytes]], end: int) -> bool:
        ends = [*(one.start() for one in rest[1:]), end]
        gaps = [self._data[one.end() : stop] for one, stop in zip(rest, ends, strict=True)]
        return all(not gap.strip() and gap.count(b"\n") <= 1 for gap in gaps)


def _lines(comment: bytes) -> list[str]:
    """The text of a comment without its frame."""
    text = comment.decode("utf-8", "replace").replace("\t", "    ").replace("\r", "")
    text = text.replace("\x00", "").replace("\f", "")
    lines = [_FRAME.sub("", line).rstrip() for line in text.split("\n")]
    lines = ["" if _RULER.fullmatch(line) else line for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return ["".join(c if c.isprintable() else " " for c in line) for line in lines]
