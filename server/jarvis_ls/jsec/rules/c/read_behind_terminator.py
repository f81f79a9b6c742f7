"""Second character behind a tested one is read without a look at the first.

## What it does
Finds loops over a text that end at its terminator and read two characters behind each other,
such as `s[i + 1]` and `s[i + 2]`, with no test of the first before the second: `%41` in a URL.

## Why is this bad?
When the text ends with the tested character, the first of the two is the terminator and the second
is beyond the text. Loops that then skip both go on beyond the end.

## Example
```c
for (; s[i]; i++)
    if (s[i] == '%')
        value = hex(s[i + 1]) * 16 + hex(s[i + 2]);
```

Use instead:
```c
for (; s[i]; i++)
    if (s[i] == '%' && isxdigit(s[i + 1]) && isxdigit(s[i + 2]))
        value = hex(s[i + 1]) * 16 + hex(s[i + 2]);
```

## References
- CWE-125: Out-of-bounds Read
- CWE-126: Buffer Over-read
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.guards import enclosing_loop

_SECOND = re.compile(r"(?:(?P<index>[A-Za-z_]\w*)\s?\+\s?)?(?P<far>[23])")
_DECIDES = re.compile(r"&&|\|\||\?|\b(?:if|while|switch|for|return)\b")
_BOUND = re.compile(r"[<>]=?")
_MAX_BODY = 20_000


def _is_second(node: Node) -> bool:
    """Return whether an index ends in 2 or 3; the text rules out most."""
    return (node.text or b"").rstrip(b"] ").endswith((b"2", b"3"))


@rule(
    query=nodes("(subscript_expression) @site", when=_is_second),
    category="buffer_overflow",
    cwe=(125, 126),
    confidence=0.55,
    severity="medium",
    suggestion="Test '{first}' before '{second}' is read.",
)
def read_behind_terminator(site: Site) -> Iterator[Report]:
    base, index = field(site.node, "argument"), index_of(site.node)
    match = _SECOND.fullmatch(text(index)) if index is not None else None
    if site.function is None or base is None or match is None or base.type != "identifier":
        return
    loop = enclosing_loop(site.node, site.function)
    condition, body = field(loop, "condition"), field(loop, "body")
    if condition is None or body is None or body.end_byte - body.start_byte > _MAX_BODY:
        return
    name, at = text(base), match["index"]
    if not _ends_at_terminator(text(condition), name, at):
        return
    before = site.unit.source.data[body.start_byte : site.node.start_byte].decode(
        "utf-8", "replace"
    )
    place = rf"{name}\s?\[\s?" + (rf"{at}\s?\+\s?" if at else "")
    far = int(match["far"])
    firsts = list(re.finditer(rf"\b{place}{far - 1}\s?\]", before))
    if len(firsts) != 1 or re.search(rf"\b{place}{far}\s?\]", before):
        return
    if _DECIDES.search(before[firsts[0].end() :]) or _is_bounded(before, name, at):
        return
    yield Report(
        site.node,
        "'{second}' is beyond the end when '{first}' is the terminator, which nothing tests "
        "before.",
        pattern=name,
        first=firsts[0].group(),
        second=text(site.node),
    )


def _ends_at_terminator(condition: str, name: str, index: str | None) -> bool:
    """Return whether a loop goes on while the character it stands at is not the terminator, and no
    more is known of the length."""
    here = rf"\b{name}\s?\[\s?{index}\s?\]" if index else rf"\*\s?{name}\b|\b{name}\s?\[\s?0\s?\]"
    found = re.search(rf"(?:{here})\s?(?!\s?[<>])", condition)
    return found is not None and re.search(r"[-+]\s?\d", condition) is None


def _is_bounded(before: str, name: str, index: str | None) -> bool:
    """Return whether something in the loop compares how much is left, or asks for the length."""
    if re.search(rf"len\w*\s?\([^()]*\b{name}\b", before):
        return True
    word = re.compile(rf"\b{index or name}\b")
    return any(
        _BOUND.search(part.replace("->", " ")) and word.search(part)
        for part in re.split(r"[;{}]", before)
    )
