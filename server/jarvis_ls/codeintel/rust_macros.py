"""Rust items inside macros: `cfg_if! { … }` and macros of a crate's own that wrap whole items, such
as `cfg_rt! { pub fn f() { … } }`. A grammar sees tokens there; what parses as items is read as
items. Definitions (`macro_rules!`) stay tokens: their bodies are patterns, not code.
"""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node, parse_parts

MAX_OPENED = 3
"""Macros within macros that are opened: the text of each level is parsed once more."""

_BODIES = frozenset({"function_item", "impl_item", "macro_invocation", "mod_item", "trait_item"})
"""What makes it worth to open a macro."""


def wrapped_items(macro: Node, data: bytes) -> Node | None:
    """Return the root of a tree of the items that a macro call with braces holds; None when that is
    something else. `data` is the text of the whole file."""
    name, tokens = macro.child_by_field_name("macro"), macro.children[-1]
    if name is None or tokens.type != "token_tree" or not _in_braces(tokens):
        return None
    arms = [tokens]
    if (name.text or b"").rpartition(b"::")[2].strip() == b"cfg_if":
        arms = [child for child in tokens.children if _in_braces(child)]
    written = data[tokens.start_byte : tokens.end_byte]
    if not arms or not (b"fn" in written or b"impl" in written or b"mod" in written):
        return None
    parts = [(arm.children[0], arm.children[-1]) for arm in arms]
    root = parse_parts(data, "rust", parts).root_node
    if root.has_error or not any(child.type in _BODIES for child in root.children):
        return None
    return root


def _in_braces(tokens: Node) -> bool:
    if tokens.type != "token_tree" or tokens.child_count < 2:
        return False
    return tokens.children[0].type == "{" and tokens.children[-1].type == "}"
