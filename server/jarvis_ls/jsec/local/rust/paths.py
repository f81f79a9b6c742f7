"""Whether an untrusted path is checked before it is used."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.rust.values import words_in

_MAX_TEXT = 400
_MOST = 64
_CHECKS = re.compile(
    r"\bfile_name\(|\bcomponents\(|\bcanonicalize\(|\bstarts_with\(|\bstrip_prefix\(|\bis_absolute\("
    r"|\benclosed_name\(|\bsanitize|\bsafe_join|\bunpack_in\(|\bclean\(|\bParentDir\b|\bnormalize"
    r"|contains\(\"\.\.|\bis_alphanumeric|\bis_ascii_alphanumeric|\bis_match\(|contains\('/'|validate"
)


def is_checked(function: Function, part: Node) -> bool:
    """Return whether the function checks the components of `part`, or canonicalises a path and
    compares it.
    """
    if _CHECKS.search(text(part)[:_MAX_TEXT]):
        return True
    names = words_in(part)
    for check in _path_checks(function):
        if check.resolves or names & check.words:
            return True
    for name in list(names)[:8]:
        variable = function.variable(name, part.start_byte)
        if variable is not None and _CHECKS.search(text(variable.initial)[:_MAX_TEXT]):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _PathCheck:
    """A call that checks a path."""

    words: frozenset[str]
    resolves: bool


@once_per_function
def _path_checks(function: Function) -> list[_PathCheck]:
    """Return the first calls of the function that check components of a path, at most 64."""
    found = []
    for node in function.nodes("call"):
        callee = text(field(node, "function"))[-_MAX_TEXT:]
        written = callee + text(field(node, "arguments"))[:40]
        match = _CHECKS.search(written[-240:])
        if match is not None:
            resolves = match[0].startswith(
                ("canonicalize", "starts_with", "strip_prefix", "Parent")
            )
            found.append(_PathCheck(frozenset(re.findall(r"[A-Za-z_]\w*", callee)), resolves))
            if len(found) == _MOST:
                break
    return found
