"""Templates of headers, such as `config.h.in`, as autoconf, CMake and Meson fill them.

All three have lines with a directive (`#undef NAME`, `#cmakedefine NAME value`,
`#mesondefine NAME`) that becomes a definition or goes, and places (`@NAME@`, `${NAME}`) in the
others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

_DIRECTIVE = re.compile(
    r"([ \t]*#[ \t]*)(undef|cmakedefine01|cmakedefine|mesondefine)[ \t]+(\w+)(.*)"
)

Define = Callable[[str, str, str], str | None]
"""Given a directive, its macro and the rest of the line: what to write behind the `#`; None when
the line goes."""


def fill_template(
    text: str, directives: Container[str], define: Define, fill_line: Callable[[str], str]
) -> str:
    """Return the header that a build system with these `directives` makes of a template.

    `fill_line` gives what becomes of a line with none of them.
    """
    lines = []
    for line in text.splitlines():
        match = _DIRECTIVE.fullmatch(line)
        if match is None or match[2] not in directives:
            lines.append(fill_line(line))
        elif (definition := define(match[2], match[3], match[4])) is not None:
            lines.append(f"{match[1]}{definition}")
    return "\n".join([*lines, ""])
