"""Why something unsafe is sound where it is: what it depends on, by name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.compiler import Message
from jarvis_ls.jc2r.lift.rust import Source, field

MOST = 5
"""Things of one kind that are named."""
WIDTH = 96
_SHORT = 28
"""Characters of what is named whole."""
_MOVING = frozenset({"add", "sub", "offset", "offset_from"})
_SLICES = frozenset({"from_raw_parts", "from_raw_parts_mut"})
_ZEROED = re.compile(r"(?:sys|mem)::zeroed::<(.+)>\Z", re.DOTALL)
_PLAIN = re.compile(r"[&\w. *]+")
_SAID = {
    "pointer": (
        "{} points to what is alive here, as in the C",
        "{} point to what is alive here, as in the C",
    ),
    "moved": (
        "{} stays within what it points into, as in the C",
        "{} stay within what they point into, as in the C",
    ),
    "slice": ("{}, as in the C", "{}, as in the C"),
    "static": (
        "{} is shared as in the C, by one thread",
        "{} are shared as in the C, by one thread",
    ),
    "zero": ("all of {} may be zero", "all of {} may be zero"),
    "call": ("{} is called as the C calls it", "{} are called as the C calls them"),
    "union": ("{} is the member that the C reads", "{} are the members that the C reads"),
    "never": ("this is never reached, as in the C", "this is never reached, as in the C"),
    "other": ("this is done as in the C", "this is done as in the C"),
}
"""What is said of one and of several; the order is that of the comment."""


def reason(source: Source, messages: Iterable[Message]) -> bytes:
    """Return the comment for what the compiler calls unsafe."""
    found: dict[str, dict[str, None]] = {}
    for message in messages:
        kind, name = _depends(source, message)
        found.setdefault(kind, {})[name] = None
    parts = [_wording(kind, list(found[kind])) for kind in _SAID if kind in found]
    return _comment("// ", f"SAFETY: {'; '.join(parts)}.")


def demand(pointers: Sequence[str]) -> bytes:
    """Return the comment for what a function that stays unsafe wants of its callers."""
    if not pointers:
        return _comment("/// ", "It is called as the C calls it.")
    single, several = _SAID["pointer"]
    text = (single if len(pointers) == 1 else several).format(
        _enumerate_words([f"`{n}`" for n in pointers])
    )
    return _comment("/// ", f"{text}, or to nothing where the C allows for that.")


def _comment(mark: str, text: str) -> bytes:
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{mark}{line}\n" for line in lines).encode()


def _wording(kind: str, names: Sequence[str]) -> str:
    told = list(names[:MOST])
    if len(names) > MOST:
        told.append(f"{len(names) - MOST} more")
    return _SAID[kind][len(names) > 1].format(_enumerate_words(told))


def _enumerate_words(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _depends(source: Source, message: Message) -> tuple[str, str]:
    """Return what something unsafe rests on: of which kind that is, and what it is called."""
    text = message.text
    node = source.root.descendant_for_byte_range(message.start, message.end)
    code = source.data[message.start : message.end].decode("utf-8", "replace")
    if "dereference of raw pointer" in text:
        return "pointer", _short_name(_pointer(code))
    if "use of mutable static" in text:
        return "static", _short_name(code)
    if "access to union field" in text:
        return "union", _short_name(code)
    if "call to unsafe function" in text and node is not None:
        return _call(source, node, text)
    return "other", ""


def _pointer(code: str) -> str:
    """Return the pointer that is looked through: `(*p).a` and `*p` come by `p`."""
    found = re.match(r"\(*\*\s*", code)
    inner = code[found.end() :] if found else code
    depth = 0
    for at, letter in enumerate(inner):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return inner[:at]
    return inner


def _call(source: Source, node: Node, text: str) -> tuple[str, str]:
    while (
        node.type != "call_expression"
        and node.parent is not None
        and (node.parent.start_byte <= node.start_byte or node.parent.type == "call_expression")
    ):
        node = node.parent
    named = re.search(r"`([^`]*)`", text)
    name = "" if named is None else re.sub(r"<.*>::|::<.*>", "", named[1]).rsplit("::", 1)[-1]
    if name == "unreachable_unchecked":
        return "never", ""
    callee, given = field(node, "function"), field(node, "arguments")
    if node.type != "call_expression" or callee is None or given is None:
        return "call", _short_name(name)
    if name == "zeroed" and (
        made := _ZEROED.search(source.text(callee).decode("utf-8", "replace"))
    ):
        return "zero", _short_name(made[1])
    values = [_flat(source.text(value)) for value in given.named_children]
    if callee.type == "field_expression" and name in _MOVING:
        value = field(callee, "value")
        moved = "" if value is None else _flat(source.text(value))
        by = values[0] if values else ""
        return "moved", _short_name(f"{moved}.{name}({by})", f"{moved}.{name}(…)", moved or name)
    if name in _SLICES and len(values) == 2:
        first, count = (value if len(value) <= _SHORT else "…" for value in values)
        return "slice", f"`{first}` leads to `{count}` elements"
    whole = f"{name}({', '.join(values)})"
    plain = [value if _PLAIN.fullmatch(value) else "…" for value in values]
    return "call", _short_name(whole, f"{name}({', '.join(plain)})", name)


def _flat(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())


def _short_name(*names: str) -> str:
    """Return the first of these names that is short, else the last, cut."""
    short = next((name for name in map(_join_lines, names) if len(name) <= 2 * _SHORT), "")
    name = short or f"{_join_lines(names[-1])[:_SHORT]}…"
    return f"`{name}`"


def _join_lines(name: str) -> str:
    return " ".join(name.split())
