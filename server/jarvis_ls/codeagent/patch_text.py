"""Changes of files as a patch that `git apply` takes, whatever they are.

Format: git's Documentation/diff-generate-patch.adoc and gitdiffcore.adoc; binary files as in
git's diff.c, emit_binary_diff_body.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence

from jarvis_ls.codeintel.diff import blocks, joined
from jarvis_ls.codeintel.graph.workspace import digest_of
from jarvis_ls.runtime.edits.file_change import FileChange, FileState, text_of

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"
_NOTHING = "0" * 40
_BASE85_LINE = 52
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def patch_text(changes: Iterable[FileChange]) -> str:
    """Return changes as one patch."""
    return "".join("".join(_lines(change)) for change in changes)


def count_lines(change: FileChange) -> tuple[int, int]:
    """Return how many lines of a text come and go; 0 and 0 for what is no text."""
    if not change.is_text:
        return 0, 0
    old, new = _texts(change)
    found = blocks(old, new)
    return sum(d - c for _, _, c, d in found), sum(b - a for a, b, _, _ in found)


def _lines(change: FileChange) -> Iterator[str]:
    before, after = change.before, change.after
    if before is not None and after is not None and before.kind != after.kind:
        yield from _lines(FileChange(change.path, before, None))
        yield from _lines(FileChange(change.path, None, after))
        return
    old_name, new_name = _name("a", change.path), _name("b", change.path)
    yield f"diff --git {old_name} {new_name}\n"
    if before is None and after is not None:
        yield f"new file mode {_mode(after)}\n"
    elif after is None and before is not None:
        yield f"deleted file mode {_mode(before)}\n"
    elif before is not None and after is not None and _mode(before) != _mode(after):
        yield f"old mode {_mode(before)}\nnew mode {_mode(after)}\n"
    old, new = _data(before), _data(after)
    if old == new and before is not None and after is not None:
        return
    old_id = digest_of(old) if before is not None else _NOTHING
    new_id = digest_of(new) if after is not None else _NOTHING
    same_mode = before is not None and after is not None and _mode(before) == _mode(after)
    yield f"index {old_id}..{new_id}{f' {_mode(before)}' if before and same_mode else ''}\n"
    if text_of(old) is None or text_of(new) is None:
        yield "GIT binary patch\n"
        yield from _literal(new)
        yield from _literal(old)
        return
    hunks = list(_hunks(*_texts(change)))
    if hunks:
        yield f"--- {old_name if before is not None else '/dev/null'}\n"
        yield f"+++ {new_name if after is not None else '/dev/null'}\n"
        yield from hunks


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    found = blocks(old, new)
    wide = joined(found, 2 * _CONTEXT)
    for a, b, c, d in wide:
        first, last = max(0, a - _CONTEXT), min(len(old), b + _CONTEXT)
        start = c - (a - first)
        count = (last - first) - (b - a) + (d - c)
        yield f"@@ -{_range(first, last - first)} +{_range(start, count)} @@\n"
        at = first
        for old_from, old_to, new_from, new_to in found:
            if old_from < a or old_to > b:
                continue
            yield from (_line(" ", line) for line in old[at:old_from])
            yield from (_line("-", line) for line in old[old_from:old_to])
            yield from (_line("+", line) for line in new[new_from:new_to])
            at = old_to
        yield from (_line(" ", line) for line in old[at:last])


def _range(first: int, count: int) -> str:
    start = first + 1 if count else first
    return str(start) if count == 1 else f"{start},{count}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_END}"


def _texts(change: FileChange) -> tuple[list[str], list[str]]:
    """Return the lines before and after, each with its end; only line feeds end a line."""
    old, new = (
        _data(state).decode("utf-8", "replace").split("\n")
        for state in (change.before, change.after)
    )
    return _with_ends(old), _with_ends(new)


def _with_ends(lines: list[str]) -> list[str]:
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _data(state: FileState | None) -> bytes:
    return b"" if state is None else state.data


def _mode(state: FileState) -> str:
    if state.kind == "link":
        return "120000"
    return "100755" if state.mode & 0o100 else "100644"


def _literal(data: bytes) -> Iterator[str]:
    yield f"literal {len(data)}\n"
    packed = zlib.compress(data)
    for at in range(0, len(packed), _BASE85_LINE):
        part = packed[at : at + _BASE85_LINE]
        size = chr(len(part) + 64) if len(part) <= 26 else chr(len(part) + 70)
        yield f"{size}{base64.b85encode(part, pad=True).decode()}\n"
    yield "\n"


def _name(side: str, path: str) -> str:
    """Return a name as git writes it: with quotes when it holds what would be misread."""
    data = os.fsencode(path)
    if all(32 <= byte < 127 and byte not in (34, 92) for byte in data):
        return f"{side}/{path}"
    quoted = "".join(_escape(byte) for byte in data)
    return f'"{side}/{quoted}"'


def _escape(byte: int) -> str:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
