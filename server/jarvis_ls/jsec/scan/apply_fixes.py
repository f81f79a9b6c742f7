"""Applying the rewrites of findings to files.

A file is changed whole or not at all, keeps its encoding, byte order mark, line endings and
mode, and is only changed when its tree has no more errors afterwards than before.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import count_errors, parse
from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.finding import Edit, Finding
from jarvis_ls.jsec.findings.includes import is_include
from jarvis_ls.jsec.scan.project import digest_of

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(slots=True)
class FixedFile:
    """What applying fixes to one file gave."""

    path: str
    """Path relative to the root."""
    before: Source
    """The text before."""
    after: bytes
    """The text afterwards, as UTF-8."""
    applied: list[Finding] = field(default_factory=list)
    """Findings whose rewrite is in `after`."""
    refused: list[tuple[Finding, str]] = field(default_factory=list)
    """Findings whose rewrite is not, with the reason."""

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (
            _LINE_END.sub(b"\n", data).decode("utf-8", "replace").splitlines(keepends=True)
            for data in (self.before.data, self.after)
        )
        lines = difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}")
        return "".join(
            line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            for line in lines
        )


def apply_fixes(
    source: Source, language: LanguageName, findings: Iterable[Finding], *, unsafe: bool = False
) -> FixedFile:
    """Return the text with the rewrites of `findings` applied, as far as they can be.

    Refused are rewrites that overlap one before them, that need `unsafe`, and that would leave
    the text with more syntax errors than it had.
    """
    fixed = FixedFile(source.path, source, source.data)
    errors = count_errors(parse(source.data, language))
    taken: list[Edit] = []
    for finding in findings:
        if finding.fix is None:
            continue
        reason, together = "", join_edits(taken, finding.fix.edits)
        if not finding.fix.safe and not unsafe:
            reason = "may change behaviour; --unsafe applies it"
        elif together is None:
            reason = "overlaps another rewrite; run again"
        elif len(together) > len(taken):
            text = _apply(source.data, _byte_edits(source, together))
            if count_errors(parse(text, language)) > errors:
                reason = "would break the syntax of the file"
        if reason or together is None:
            fixed.refused.append((finding, reason))
            continue
        taken = together
        fixed.applied.append(finding)
    fixed.after = _apply(source.data, _byte_edits(source, taken))
    return fixed


def join_edits(taken: Sequence[Edit], edits: Sequence[Edit]) -> list[Edit] | None:
    """Return the edits of one more rewrite with those taken before; None when they overlap.

    What both do is done once: all of a rewrite, or the `#include` it needs.
    """
    known = set(taken)
    if set(edits) <= known:
        return list(taken)
    new = [edit for edit in edits if edit not in known or not is_include(edit)]
    if any(_overlap(edit, other) for edit in new for other in taken):
        return None
    return [*taken, *new]


def fix_file(
    root: Path, path: str, digest: str, findings: Sequence[Finding], *, unsafe: bool, limit: int
) -> FixedFile:
    """`apply_fixes` for a file on disk.

    Raises `SkippedFile` when it cannot be read or is not the one that `digest` names.
    """
    raw = read_regular(root / path, limit=limit, root=os.path.realpath(root))
    if digest_of(raw) != digest:
        raise SkippedFile("changed since it was scanned")
    source = decode(path, raw)
    language = language_of(path, source.data)
    if language is None or source.encode(source.data) != raw:
        raise SkippedFile("its encoding cannot be written back as it is")
    return apply_fixes(source, language, findings, unsafe=unsafe)


def write_fixed(root: Path, fixed: FixedFile) -> None:
    """Put the new text in place of the old. Raises `JarvisError` when that is not possible."""
    place = root / fixed.path
    try:
        encoded = fixed.before.encode(fixed.after)
    except UnicodeEncodeError:
        raise JarvisError(f"{fixed.path}: not writable in {fixed.before.encoding}") from None
    replace_file(place, encoded, mode=place.lstat().st_mode)


def _byte_edits(source: Source, edits: Iterable[Edit]) -> list[tuple[int, int, bytes]]:
    ending = _line_ending(source.data)
    placed = []
    for edit in edits:
        start = source.offset(edit.span.line, edit.span.column)
        end = source.offset(edit.span.end_line, edit.span.end_column)
        new = _LINE_END.sub(lambda _: ending, edit.new_text.encode("utf-8", "replace"))
        placed.append((start, max(start, end), new))
    return placed


def _line_ending(data: bytes) -> bytes:
    match = _LINE_END.search(data)
    return match.group() if match else b"\n"


def _overlap(edit: Edit, other: Edit) -> bool:
    if is_include(edit) and is_include(other):
        return False
    start, end = _positions(edit)
    other_start, other_end = _positions(other)
    return (start < other_end and other_start < end) or (start, end) == (other_start, other_end)


def _positions(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    span = edit.span
    return (span.line, span.column), (span.end_line, span.end_column)


def _apply(data: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        parts += data[at:start], new
        at = end
    return b"".join([*parts, data[at:]])
