"""What only its own module names is private."""

from __future__ import annotations

from jarvis_ls.jc2r.lift.rust import Source, below, name_of


def private(sources: list[Source]) -> dict[int, bytes]:
    """Return new texts by the index of their file."""
    named: dict[bytes, set[int]] = {}
    for number, source in enumerate(sources):
        for node in below(source.root, "identifier"):
            named.setdefault(source.text(node), set()).add(number)
    made = {}
    for number, source in enumerate(sources):
        parts, at = [], 0
        for item in source.root.children:
            if item.type not in ("function_item", "static_item", "const_item"):
                continue
            shown = next((c for c in item.children if c.type == "visibility_modifier"), None)
            before = item.prev_sibling
            kept = before is not None and before.type == "attribute_item"
            if shown is None or kept or named.get(name_of(item).encode(), {-1}) != {number}:
                continue
            parts.append(source.data[at : shown.start_byte])
            at = shown.end_byte + 1
        if parts:
            made[number] = b"".join([*parts, source.data[at:]])
    return made
