"""Rust: what items declare, the variables of functions, attributes, unsafe scopes and the
comments that argue for them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.declarations import Declared, Facts
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.rust_tests import attribute_text, is_test_attribute
from jarvis_ls.codeintel.variables import FunctionSyntax, Variable

DETAIL_QUERY = """
(identifier) @id
(let_declaration) @let
(let_condition) @iflet
(match_arm) @arm
(closure_expression) @closure
(assignment_expression) @assign
(compound_assignment_expr) @update
(call_expression) @call
(macro_invocation) @macro
(if_expression) @if
[(while_expression) (loop_expression) (for_expression)] @loop
(match_expression) @match
(unsafe_block) @unsafe
(unary_expression) @unary
(binary_expression) @binary
(index_expression) @index
(field_expression) @member
(type_cast_expression) @cast
(return_expression) @return
(block) @block
(reference_expression) @reference
(await_expression) @await
(try_expression) @try
"""

SAFETY = re.compile(
    r"\bSAFETY\b|(?i:\bsafe(?:ty)?\s*[:：]|#\s*safety\b"
    r"|\b(?:is|are|be|it's) (?:always |also |now |thus |therefore |only )?(?:safe|sound)\b"
    r"|\bso (?:it's |this is )?(?:safe|sound)\b|(?<!not )(?<!n't )\bsafe (?:to|as|since|here)\b"
    r"|\b(?:safe|sound|fine|ok) because\b|\bsoundness\b)"
    r"|安全性|安全[:：]|安全保证|安全说明|安全前提|是安全的|不变量"
)
"""A comment that argues why unsafe code is sound, in English or Chinese."""

_TYPE_ITEMS = frozenset({"struct_item", "enum_item", "union_item"})
_MAX_ABOVE = 256
_LONGEST_PATH = 4_000
"""Characters of a path from which on `use` is not followed further inside."""
_MAX_NAMES = 64


def item_facts(node: Node, prefix: tuple[Node, ...] = ()) -> Facts | None:
    """Return what a top-level item declares to the rest of the file.

    `prefix` are the attributes and comments above it. Types say how they are laid out:
    `Facts.types["Point"]` is `struct repr(C)` for `#[repr(C)] struct Point`. An import gives
    the path a name represents: `use std::mem as m` gives `types["m"]` = `std::mem`, and a
    renamed import is a macro too, so that calls of the new name are calls of the old one.
    """
    kind = node.type
    if kind in ("function_item", "function_signature_item"):
        name = text(field(node, "name"))
        declared = Declared(name, text(field(node, "return_type")))
        return Facts(functions={name: declared}, defined=frozenset({name}))
    if kind in ("const_item", "static_item"):
        name = text(field(node, "name"))
        mutable = any(c.type == "mutable_specifier" for c in node.children)
        words = ("mut " if mutable and kind == "static_item" else "") + text(field(node, "type"))
        return Facts(
            variables={name: Declared(name, words)},
            macros={name: text(field(node, "value"))} if kind == "const_item" else {},
        )
    if kind in _TYPE_ITEMS:
        return _type_facts(node, prefix)
    if kind == "use_declaration":
        return _use_facts(node)
    if kind == "type_item":
        name = text(field(node, "name"))
        return Facts(types={name: Declared(name, text(field(node, "type")))})
    return None


def variables(function: FunctionSyntax) -> Iterator[Variable]:
    """Parameters, then names bound by `let`, `if let`, `for`, `match` and closures.

    Names that a pattern takes out of a value have no initialiser and no type.
    """
    everywhere = (function.start, function.end)
    yield from _parameters(field(function.node, "parameters"), everywhere, is_parameter=True)
    for node in function.nodes("let"):
        block = next((a for a in ancestors(node) if a.type == "block"), None)
        scope = (node.end_byte, block.end_byte if block is not None else function.end)
        pattern = field(node, "pattern")
        name = _plain_name(pattern)
        if name is not None:
            declared = Declared(text(name), text(field(node, "type")))
            yield Variable(declared, name, scope, field(node, "value"), is_parameter=False)
        else:
            yield from _bind(pattern, scope)
    for node in function.nodes("closure"):
        yield from _parameters(
            field(node, "parameters"), (node.start_byte, node.end_byte), is_parameter=False
        )
    for node in function.nodes("loop"):
        yield from _bind(field(node, "pattern"), (node.start_byte, node.end_byte))
    for node in function.nodes("arm"):
        yield from _bind(field(node, "pattern"), (node.start_byte, node.end_byte))
    for node in function.nodes("iflet"):
        holder = next(
            (
                a
                for a in ancestors(node)
                if a.type in ("if_expression", "while_expression", "match_arm")
            ),
            node,
        )
        yield from _bind(field(node, "pattern"), (node.end_byte, holder.end_byte))


def attributes(node: Node) -> list[str]:
    """Text of the attributes above an item, without `#[` and `]`, nearest first."""
    return [attribute_text(text(a)) for a in _above(node) if a.type == "attribute_item"]


def documentation(node: Node) -> str:
    """Return the doc comment (and any other comment) directly above an item, in order."""
    return "".join(reversed([text(a) for a in _above(node) if "comment" in a.type]))


def modifiers(function: Node) -> str:
    """Words before `fn`, such as `unsafe extern "C"`; empty when there are none."""
    return text(next((c for c in function.children if c.type == "function_modifiers"), None))


def in_unsafe(node: Node) -> bool:
    """Return whether `node` is in an `unsafe` block or an `unsafe fn`."""
    for ancestor in ancestors(node):
        if ancestor.type == "unsafe_block":
            return True
        if ancestor.type == "function_item":
            return "unsafe" in modifiers(ancestor)
    return False


def in_test(node: Node) -> bool:
    """Return whether a function around `node`, or what it is in, is compiled for tests only.

    Top-level items know this already (`Item.in_test`); this sees attributes on methods and on
    nested functions.
    """
    return any(
        any(is_test_attribute(attribute) for attribute in attributes(ancestor))
        for ancestor in (node, *ancestors(node))
        if ancestor.type in ("function_item", "impl_item", "mod_item")
    )


def has_safety_comment(node: Node, prefix: tuple[Node, ...] = ()) -> bool:
    """Return whether a SAFETY comment is in the block of `node`, or directly above it, its
    statement, or a block, function or `impl` around it.

    `prefix` are comments above the item, for nodes that are items themselves.
    """
    if any(SAFETY.search(text(c)) for c in prefix if "comment" in c.type):
        return True
    if _comment_inside(node):
        return True
    for candidate in (node, *ancestors(node)):
        if candidate.type in ("source_file", "mod_item"):
            return False
        if _comment_beside(candidate):
            return True
        if candidate.type == "unsafe_block" and _comment_inside(candidate):
            return True
    return False


def _type_facts(node: Node, prefix: tuple[Node, ...]) -> Facts:
    name = text(field(node, "name"))
    above = [attribute_text(text(p)) for p in prefix if p.type == "attribute_item"]
    layout = " ".join(attribute for attribute in above if attribute.startswith("repr"))
    words = f"{node.type.removesuffix('_item')} {layout}".strip()
    facts = Facts(types={name: Declared(name, words)})
    for child in (field(node, "body") or node).named_children:
        if child.type == "field_declaration":
            member = text(field(child, "name"))
            known = facts.fields.get(member, ())
            facts.fields[member] = (*known, Declared(member, text(field(child, "type"))))
    return facts


def _use_facts(node: Node) -> Facts:
    facts = Facts()
    stack: list[tuple[Node | None, str]] = [(field(node, "argument"), "")]
    while stack:
        tree, base = stack.pop()
        if tree is None:
            continue
        kind = tree.type
        if len(base) > _LONGEST_PATH:
            continue
        if kind == "use_list":
            stack.extend((child, base) for child in tree.named_children)
        elif kind == "scoped_use_list":
            stack.append((field(tree, "list"), _join(base, text(field(tree, "path")))))
        elif kind == "use_as_clause":
            alias, path = text(field(tree, "alias")), _join(base, text(field(tree, "path")))
            facts.types[alias] = Declared(alias, path)
            last = path.rpartition("::")[2]
            if last != alias and alias != "_":
                facts.macros[alias] = last
        elif kind == "self":
            facts.types[base.rpartition("::")[2]] = Declared(base, base)
        elif kind in ("identifier", "scoped_identifier"):
            path = _join(base, text(tree))
            name = path.rpartition("::")[2]
            facts.types[name] = Declared(name, path)
    return facts


def _join(base: str, path: str) -> str:
    return f"{base}::{path}" if base else path


def _parameters(
    parameters: Node | None, scope: tuple[int, int], *, is_parameter: bool
) -> Iterator[Variable]:
    for node in parameters.named_children if parameters is not None else ():
        pattern = field(node, "pattern") if node.type == "parameter" else node
        name = _plain_name(pattern)
        if name is None:
            yield from _bind(pattern, scope)
            continue
        declared = Declared(text(name), text(field(node, "type")))
        yield Variable(declared, name, scope, None, is_parameter=is_parameter)


def _bind(pattern: Node | None, scope: tuple[int, int]) -> Iterator[Variable]:
    """Names a pattern binds; constants and variants without fields look the same and count."""
    stack = [pattern] if pattern is not None else []
    for _ in range(_MAX_NAMES):
        if not stack:
            return
        node = stack.pop()
        if node.type in ("identifier", "shorthand_field_identifier"):
            yield Variable(Declared(text(node), ""), node, scope, None, is_parameter=False)
            continue
        kind, condition = field(node, "type"), field(node, "condition")
        stack.extend(c for c in node.named_children if c not in (kind, condition))


def _plain_name(pattern: Node | None) -> Node | None:
    if pattern is None:
        return None
    if pattern.type == "identifier":
        return pattern
    if pattern.type in ("mut_pattern", "ref_pattern"):
        return next((c for c in pattern.named_children if c.type == "identifier"), None)
    return None


def _above(node: Node) -> Iterator[Node]:
    """Comments and attributes that are directly above `node`, nearest first."""
    sibling = node.prev_sibling
    for _ in range(_MAX_ABOVE):
        if sibling is None or ("comment" not in sibling.type and sibling.type != "attribute_item"):
            return
        yield sibling
        sibling = sibling.prev_sibling


def _comment_beside(node: Node) -> bool:
    """Return a SAFETY comment directly above `node`, or behind it on its last line."""
    row = node.start_point[0]
    for above in _above(node):
        if row - above.end_point[0] > 1:
            break
        if "comment" in above.type and SAFETY.search(text(above)):
            return True
        row = above.start_point[0]
    after = node.next_sibling
    if after is not None and after.type == ";":
        after = after.next_sibling
    return (
        after is not None
        and "comment" in after.type
        and after.start_point[0] == node.end_point[0]
        and SAFETY.search(text(after)) is not None
    )


def _comment_inside(node: Node) -> bool:
    block = (
        node
        if node.type in ("block", "declaration_list")
        else next((c for c in node.named_children if c.type in ("block", "declaration_list")), None)
    )
    if block is None or not block.named_child_count:
        return False
    child: Node | None = block.named_child(0)
    for _ in range(_MAX_ABOVE):
        if child is None or "comment" not in child.type:
            return False
        if SAFETY.search(text(child)):
            return True
        child = child.next_named_sibling
    return False
