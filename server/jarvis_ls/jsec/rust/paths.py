"""Whether a path from outside was looked at before it is used."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rust.values import words_in

_MAX_TEXT = 400
_MOST = 64
_LOOKS = re.compile(
    r"\bfile_name\(|\bcomponents\(|\bcanonicalize\(|\bstarts_with\(|\bstrip_prefix\(|\bis_absolute\("
    r"|\benclosed_name\(|\bsanitize|\bsafe_join|\bunpack_in\(|\bclean\(|\bParentDir\b|\bnormalize"
    r"|contains\(\"\.\.|\bis_alphanumeric|\bis_ascii_alphanumeric|\bis_match\(|contains\('/'|validate"
)


def is_checked(function: Function, part: Node) -> bool:
    """Whether the function looks at the components of what `part` is made of, or resolves a path
    and compares it."""
    if _LOOKS.search(text(part)[:_MAX_TEXT]):
        return True
    names = words_in(part)
    for look in _looks(function):
        if look.resolves or names & look.words:
            return True
    for name in list(names)[:8]:
        variable = function.variable(name, part.start_byte)
        if variable is not None and _LOOKS.search(text(variable.initial)[:_MAX_TEXT]):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Look:
    """A call that looks at a path."""

    words: frozenset[str]
    resolves: bool


@once_per_function
def _looks(function: Function) -> list[_Look]:
    """The first calls of the function that look at components of a path, at most 64."""
    found = []
    for node in function.nodes("call"):
        callee = text(field(node, "function"))[-_MAX_TEXT:]
        written = callee + text(field(node, "arguments"))[:40]
        match = _LOOKS.search(written[-240:])
        if match is not None:
            resolves = match[0].startswith(
                ("canonicalize", "starts_with", "strip_prefix", "Parent")
            )
            found.append(_Look(frozenset(re.findall(r"[A-Za-z_]\w*", callee)), resolves))
            if len(found) == _MOST:
                break
    return found
