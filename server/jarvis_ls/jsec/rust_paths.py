"""Whether a path from outside was looked at before it is used."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.code import Function, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rust_values import words_in

_LOOKS = re.compile(
    r"\bfile_name\(|\bcomponents\(|\bcanonicalize\(|\bstarts_with\(|\bstrip_prefix\(|\bis_absolute\("
    r"|\benclosed_name\(|\bsanitize|\bsafe_join|\bunpack_in\(|\bclean\(|\bParentDir\b|\bnormalize"
    r"|contains\(\"\.\.|\bis_alphanumeric|\bis_ascii_alphanumeric|\bis_match\(|contains\('/'|validate"
)


def is_checked(function: Function, part: Node) -> bool:
    """Whether the function looks at the components of what `part` is made of, or resolves a path
    and compares it."""
    names = words_in(part)
    for node in [*function.nodes("call"), *function.nodes("macro")][:1024]:
        written = text(node)[:200]
        if node.start_byte <= part.start_byte < node.end_byte and node.type == "call_expression":
            written = text(part)[:200]
        match = _LOOKS.search(written)
        if match is None:
            continue
        if match[0].startswith(("canonicalize", "starts_with", "strip_prefix", "ParentDir")):
            return True
        if any(re.search(rf"\b{re.escape(name)}\b", written) for name in list(names)[:8]):
            return True
    for name in names:
        variable = function.variable(name, part.start_byte)
        if variable is not None and _LOOKS.search(text(variable.initial)[:400]):
            return True
    return False
