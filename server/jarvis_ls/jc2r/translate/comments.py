"""Comments of the C file, to be in the Rust where they stood."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    rb"""//(?:[^\n\\]|\\.)*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_FRAME = re.compile(r"^[ \t]*(?:/\*+!?<?|\*+/|\*(?!/)|//+[!/]?<?)?[ \t]?|[ \t]*\*+/[ \t]*$")
_NEAR = 4000
"""How many bytes above something are examined for what is said about it."""
_WORDS = re.compile(rb"(?:\b(?:typedef|extern|static|const)\b\s*)+\Z")
_RULER = re.compile(r"[-=*#~_/\\+ \t]*")


_ENDS = re.compile(rb"[ \t]*[;,]?[ \t]*")
_REST = re.compile(rb"[ \t]*(?:\r?\n|$)")


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

    def behind(self, end: int) -> tuple[list[str], int]:
        """Return the same for what is behind something that ends at `end`, alone on the rest of
        its line, and where that ends.
        """
        match = _ENDS.match(self._data, end)
        comment = _TOKEN.match(self._data, match.end() if match else end)
        if comment is None or comment[0][:1] != b"/" or not _REST.match(self._data, comment.end()):
            return [], end
        return [f"// {line}".rstrip() for line in _lines(comment[0])], comment.end()

    def about(self, start: int, end: int) -> list[str]:
        """Return what documents a type or a member that is in `start..end`: what touches it
        from above, or is behind it on its line.
        """
        first = max(0, start - _NEAR)
        head = _WORDS.sub(b"", self._data[first:start])
        begin = _first_above(head)
        found = self.between(first + begin, first + len(head))
        return [f"/{line}" for line in found or self.behind(end)[0]]

    def before(self, start: int, end: int) -> list[str]:
        """Return the same for what is before a definition: what touches it documents it, unless
        it begins behind something else.
        """
        matches = [
            match for match in _TOKEN.finditer(self._data, start, end) if match[0][:1] == b"/"
        ]
        found: list[str] = []
        for number, match in enumerate(matches):
            gap = self._data[
                match.end() : end if number + 1 == len(matches) else matches[number + 1].start()
            ]
            touches = not gap.strip() and gap.count(b"\n") <= 1 and self._begins_line(match.start())
            if number + 1 < len(matches):
                touches = touches and self._touches(matches[number + 1 :], end)
            mark = "///" if touches else "//"
            found += [f"{mark} {line}".rstrip() for line in _lines(match[0])]
            if not touches and number + 1 == len(matches):
                found.append("")
        return found

    def _begins_line(self, place: int) -> bool:
        return not self._data[self._data.rfind(b"\n", 0, place) + 1 : place].strip()

    def _touches(self, rest: list[re.Match[bytes]], end: int) -> bool:
        ends = [*(comment.start() for comment in rest[1:]), end]
        gaps = [self._data[comment.end() : stop] for comment, stop in zip(rest, ends, strict=True)]
        return all(not gap.strip() and gap.count(b"\n") <= 1 for gap in gaps)


def _first_above(head: bytes) -> int:
    """Return where the comments begin that are directly above the end of a text, each on lines of
    its own.
    """
    begin = len(head)
    while True:
        above = head[:begin].rstrip()
        line = above.rfind(b"\n") + 1
        begins = (
            above.rfind(b"/*")
            if above.endswith(b"*/")
            else (line if above[line:].lstrip().startswith(b"//") else -1)
        )
        apart = head.count(b"\n", len(above), begin) > 1
        if apart or begins < 0 or head[head.rfind(b"\n", 0, begins) + 1 : begins].strip():
            return begin
        begin = begins


def _lines(comment: bytes) -> list[str]:
    """Return the text of a comment without its frame."""
    text = comment.decode("utf-8", "replace").replace("\t", "    ").replace("\r", "")
    text = text.replace("\x00", "").replace("\f", "")
    lines = [_FRAME.sub("", line).rstrip() for line in text.split("\n")]
    lines = ["" if _RULER.fullmatch(line) else line for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return ["".join(c if c.isprintable() else " " for c in line) for line in lines]
