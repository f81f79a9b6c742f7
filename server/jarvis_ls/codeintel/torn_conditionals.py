"""Conditionals of the preprocessor that are no whole of the language: `#ifdef A`, `if (x) {`,
`#else`, `if (y) {`, `#endif`.

The grammar takes a conditional for a whole. One that opens what is closed behind it tears all that
follows, so the parser is given one branch of it, and neither its directives nor its other branches;
of `extern "C" {` for C++ alone, and of its brace, nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from jarvis_ls.codeintel.conditions import holds, is_defined
from jarvis_ls.codeintel.source import line_start

_DIRECTIVE = re.compile(
    rb"#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b((?:[^\\\n]|\\.|\\\r?\n)*)",
    re.DOTALL,
)
_LONGEST = 3_000
"""Bytes of a conditional that is examined: what is torn is a line or a few."""
_MOST_INSIDE = 12
"""Directives inside a conditional that is examined."""
_MOST_PARTS = 300
"""Parts that are left out of one text."""
_FOR_CPP = b"__cplusplus"
_COMMENT = re.compile(rb"/\*.*?\*/|//.*")
_LINES_BETWEEN = 5
"""Most lines, blank ones among them, that open or close the linkage of C between two directives."""
_LONG = 200
"""Longer lines do more than that."""
_SPACED = re.compile(
    rb'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#[^\n]*',
    re.DOTALL | re.MULTILINE,
)
_UNFINISHED = re.compile(rb"(?:\belse|&&|\|\||[=,(?]|\b(?:static|extern|inline|const))\s*\Z")
_CONTINUES = re.compile(rb"\s*(?:else\b|&&|\|\|)")
_BODY = re.compile(rb"\s*\{")
_SPECIFIERS = re.compile(
    rb"\s*(?:(?:static|extern|inline|const|_Noreturn|__inline(?:__)?"
    rb"|__attribute__\s*\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)|__declspec\s*\([^()]*\))\s*)+\Z"
)

Part = tuple[int, int]
"""First byte and end of what the parser is not given."""


@dataclass(slots=True)
class _Directive:
    start: int
    end: int
    word: bytes
    condition: bytes


@dataclass(slots=True)
class _Group:
    """A conditional: its directives, in order."""

    directives: list[_Directive]
    inside: int = 0
    """Directives of conditionals inside it."""


def torn_parts(data: bytes) -> list[Part]:
    """Return what of a text in C or C++ the parser is not to see, in order and apart from each
    other; nothing of conditionals that are a whole.
    """
    groups = list(_groups(data))
    return apart([*_linkages(data, groups), *_find_torn(data, groups)])


def _linkages(data: bytes, groups: list[_Group]) -> list[Part]:
    """Return the conditionals for C++ only that hold `extern "C" {` or its brace and no more.

    The brace of one is closed in another. Nothing when as many are not closed as are opened.
    """
    found: dict[bytes, list[Part]] = {b'extern"C"{': [], b"}": []}
    for group in groups:
        first, *others = group.directives
        if len(others) != 1 or group.inside or _FOR_CPP not in first.condition:
            continue
        if data.count(b"\n", first.end, others[0].start) > _LINES_BETWEEN + 1:
            continue
        lines = data[first.end : others[0].start].split(b"\n")
        if any(len(line) > _LONG for line in lines):
            continue
        inner = b"".join(b"".join(_COMMENT.sub(b"", line).split()) for line in lines)
        if inner in found:
            found[inner].append((first.start, others[0].end))
    opening, closing = found.values()
    return opening + closing if len(opening) == len(closing) else []


def _find_torn(data: bytes, groups: list[_Group]) -> list[Part]:
    """Return the directives of torn conditionals, with all branches but one."""
    parts: list[Part] = []
    for group in groups:
        first, last = group.directives[0], group.directives[-1]
        if last.end - first.start > _LONGEST or group.inside > _MOST_INSIDE:
            continue
        if _FOR_CPP in first.condition or first.condition == b"0":
            continue  # the linkage of C, or what nobody compiles
        body = _BODY.match(data, last.end, last.end + _LONGEST) is not None
        if _is_torn(tuple(_branches(data, group, parts)), body):
            parts += _left_out(group)
        if len(parts) >= _MOST_PARTS:
            break
    return parts


def _groups(data: bytes) -> Iterator[_Group]:
    """Yield the conditionals of a text, inner ones before those around them."""
    stack: list[_Group] = []
    for match in _DIRECTIVE.finditer(data):
        start = line_start(data, match.start())
        if data[start : match.start()].strip(b" \t"):
            continue  # not the first of its line
        directive = _Directive(start, match.end(), match[1], match[2].strip())
        if directive.word.startswith(b"if"):
            stack.append(_Group([directive]))
            continue
        if not stack:
            continue
        stack[-1].directives.append(directive)
        if directive.word == b"endif":
            group = stack.pop()
            if stack:
                stack[-1].inside += group.inside + len(group.directives)
            yield group


def _branches(data: bytes, group: _Group, parts: list[Part]) -> Iterator[bytes]:
    """Yield the text of each branch, but for parts of conditionals inside that are left out."""
    for before, after in pairwise(group.directives):
        text, start = b"", before.end
        inside = [part for part in parts[-_MOST_INSIDE:] if before.end <= part[0] < after.start]
        for first, end in apart(inside):
            text += data[start:first]
            start = end
        yield text + data[start : after.start]


@lru_cache(maxsize=2048)  # an edit leaves nearly all conditionals of a file as they are
def _is_torn(branches: tuple[bytes, ...], body: bool) -> bool:
    """Return whether branches open or close what is closed or opened outside them; `body` says
    whether a brace follows the conditional."""
    for branch in branches:
        if (
            branch.count(b"{") == branch.count(b"}")
            and branch.count(b"(") == branch.count(b")")
            and not body
            and not _UNFINISHED.search(branch)
            and not _CONTINUES.match(branch)
            and not _SPECIFIERS.match(branch)
        ):
            continue
        code = _SPACED.sub(b" ", branch)
        if code.count(b"{") != code.count(b"}") or code.count(b"(") != code.count(b")"):
            return True
        stripped = code.strip()
        if stripped and (
            _UNFINISHED.search(stripped)
            or _CONTINUES.match(stripped)
            or _SPECIFIERS.match(stripped)
            or (body and stripped[-1:] not in b";}")
        ):
            return True
    return False


def _left_out(group: _Group) -> Iterator[Part]:
    """Yield the directives of a conditional, and all branches but one."""
    directives = group.directives
    chosen = _chosen(directives)
    for index, directive in enumerate(directives[:-1]):
        end = directive.end if index == chosen else directives[index + 1].start
        yield directive.start, end
    yield directives[-1].start, directives[-1].end


def _chosen(directives: list[_Directive]) -> int:
    """Return the branch that is kept: the one this platform compiles; of open ones the first, but
    not what is there without a macro, so that conditionals of one macro agree.
    """
    otherwise = -1
    for index, directive in enumerate(directives[:-1]):
        if directive.word == b"else":
            return index
        compiled = _is_compiled(directive)
        if compiled or (compiled is None and not _asks_for_none(directive)):
            return index
        if compiled is None:
            otherwise = index
    # `#ifndef A` alone: without the macro it is all there is
    return otherwise


def _is_compiled(directive: _Directive) -> bool | None:
    condition = _SPACED.sub(b" ", directive.condition).decode("utf-8", "replace").strip()
    if directive.word in (b"if", b"elif"):
        return holds(condition)
    defined = is_defined(condition)
    negated = directive.word in (b"ifndef", b"elifndef")
    return defined if defined is None else defined != negated


def _asks_for_none(directive: _Directive) -> bool:
    return directive.word in (b"ifndef", b"elifndef") or directive.condition[:1] == b"!"


def apart(parts: Iterable[Part]) -> list[Part]:
    """Return ranges in order, those that touch or overlap as one."""
    found: list[Part] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
