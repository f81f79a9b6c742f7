"""Whether a block of `unsafe` says why it is sound, and of what."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, below

MARK = "SAFETY:"
_WORDS = re.compile(r"[A-Za-z_]\w*")
_INVARIANT = re.compile(
    r"non-?null|not null|null|valid|initiali[sz]ed|align|bound|within|length|range|index|alive|"
    r"lives?\b|point|element|alias|exclusive|unique|own|zero|at least|at most|less than|"
    r"one thread|single.?thread|terminat|utf-?8|union|member|reach|byte|layout|repr",
    re.IGNORECASE,
)
"""What a reason speaks of: a condition that can be true or false of a value."""
_COMMENTS = ("line_comment", "block_comment")
_STATEMENTS = ("block", "declaration_list", "source_file")


def unexplained(source: Source, node: Node) -> Iterator[Node]:
    """Yield the blocks of `unsafe` in a node that no comment explains: a SAFETY comment names
    something that the block speaks of, and the condition on it."""
    for block in below(node, "unsafe_block"):
        if not _is_reason(_comment(source, block), source.text(block).decode("utf-8", "replace")):
            yield block


def _is_reason(comment: str, code: str) -> bool:
    _, mark, reason = comment.partition(MARK)
    if not mark or not _INVARIANT.search(reason):
        return False
    named = set(_WORDS.findall(reason)) & (set(_WORDS.findall(code)) - {"unsafe"})
    return bool(named)


def _comment(source: Source, block: Node) -> str:
    """Return the comment above the statement with a block, or at the beginning of the block."""
    place = block
    while (above := place.parent) is not None and above.type not in _STATEMENTS:
        place = above
        if place.type == "match_arm":
            break
    parts: list[str] = []
    before = place.prev_sibling
    row = place.start_point[0]
    while before is not None and before.type in _COMMENTS and before.end_point[0] >= row - 1:
        parts.insert(0, source.text(before).decode("utf-8", "replace"))
        row = before.start_point[0]
        before = before.prev_sibling
    inner = next((child for child in block.children if child.type == "block"), None)
    for child in inner.named_children if inner is not None else ():
        if child.type not in _COMMENTS:
            break
        parts.append(source.text(child).decode("utf-8", "replace"))
    return " ".join(parts)
