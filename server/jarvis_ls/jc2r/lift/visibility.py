"""What only its own module names is private; constants that nothing names leave programs."""

from __future__ import annotations

from collections import Counter

from jarvis_ls.jc2r.lift.rust import Source, below, name_of


def private(sources: list[Source]) -> dict[int, bytes]:
    """Return new texts by the index of their file."""
    times = [Counter(map(source.text, below(source.root, "identifier"))) for source in sources]
    made = {}
    for number, source in enumerate(sources):
        parts, at = [], 0
        program = source.path.parent.name == "bin"
        for item in source.root.children:
            if item.type not in ("function_item", "static_item", "const_item"):
                continue
            name = name_of(item).encode()
            shown = next((c for c in item.children if c.type == "visibility_modifier"), None)
            before = item.prev_sibling
            above = b"" if before is None else source.text(before)
            others = any(name in counted for i, counted in enumerate(times) if i != number)
            if shown is None or others or above.startswith(b"#"):
                continue
            alone = times[number][name] == 1
            if alone and program and item.type == "const_item" and not above.startswith(b"///"):
                parts.append(source.data[at : item.start_byte])
                at = item.end_byte
            elif not alone or program:  # others may use what a header has
                parts.append(source.data[at : shown.start_byte])
                at = shown.end_byte + 1
        if parts:
            made[number] = b"".join([*parts, source.data[at:]])
    return made
