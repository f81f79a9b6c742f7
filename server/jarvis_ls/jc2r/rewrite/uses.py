"""What a Rust text does that a rewrite must not begin to do, found in its syntax tree.

Names are compared as paths of tokens, so that an alias (`use core::mem::transmute as t`), a raw
identifier (`r#transmute`), an escape in a literal or a macro's argument hides nothing. A macro that
is defined hides code from every rule and is a use of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import pairwise

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of
from jarvis_ls.jc2r.rewrite.pointer_casts import PointerCasts
from jarvis_ls.jc2r.rewrite.rules import Rule

_SHOWN = 80
"""Characters of the code that are shown."""
_STD = frozenset({"std", "core", "alloc"})
_MODULES = {
    "process": Rule.PROCESS,
    **dict.fromkeys(("fs", "net", "os", "thread", "io"), Rule.EFFECT),
    "env": Rule.OBSERVED_TEST,
    "panic": Rule.CAUGHT_PANIC,
    "backtrace": Rule.OBSERVED_TEST,
    "arch": Rule.ASSEMBLY,
}
"""Modules of the standard library."""
_NAMES = {
    **dict.fromkeys(("transmute", "transmute_copy", "transmute_unchecked"), Rule.TRANSMUTE),
    **dict.fromkeys(
        ("catch_unwind", "resume_unwind", "set_hook", "take_hook", "panic_any"), Rule.CAUGHT_PANIC
    ),
    **dict.fromkeys(("type_name", "type_name_of_val", "current_exe"), Rule.OBSERVED_TEST),
    **dict.fromkeys(("dlopen", "dlsym", "syscall"), Rule.FOREIGN_CALL),
    **dict.fromkeys(
        (
            "with_exposed_provenance",
            "with_exposed_provenance_mut",
            "from_exposed_addr",
            "from_exposed_addr_mut",
            "without_provenance",
            "without_provenance_mut",
        ),
        Rule.INTEGER_TO_POINTER,
    ),
    **dict.fromkeys(("assume_init", "assume_init_ref", "assume_init_mut"), Rule.UNCHECKED),
    "slice_from_raw_parts": Rule.FROM_RAW,
    "slice_from_raw_parts_mut": Rule.FROM_RAW,
}
"""Names that mean the same wherever they are written."""
_METHODS = {
    "set_len": Rule.UNCHECKED,
    "with_addr": Rule.INTEGER_TO_POINTER,
    "map_addr": Rule.INTEGER_TO_POINTER,
}
"""Names that mean it as methods."""
_MACROS = {
    **dict.fromkeys(("asm", "global_asm", "naked_asm", "llvm_asm"), Rule.ASSEMBLY),
    **dict.fromkeys(("print", "println", "eprint", "eprintln", "dbg"), Rule.EFFECT),
    **dict.fromkeys(("todo", "unimplemented"), Rule.UNFINISHED),
    **dict.fromkeys(("include", "include_str", "include_bytes"), Rule.INCLUDED),
    **dict.fromkeys(
        ("env", "option_env", "module_path", "file", "line", "column"), Rule.OBSERVED_TEST
    ),
    "cfg": Rule.CONDITIONAL,
}
_PLAIN_ATTRIBUTES = frozenset(
    "inline must_use derive doc cold track_caller test rustfmt non_exhaustive".split()
)
_MEMORY = re.compile(r"/proc\b|/dev/k?mem\b|\bself/mem\b", re.IGNORECASE)
_BENCH = re.compile(r"jc2r|under_test|cargo_|\.jarvis", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F_]{1,8})\}|\n\s*)")
_ITEMS = {
    "macro_definition": Rule.MACRO,
    "union_item": Rule.TRANSMUTE,
    "extern_crate_declaration": Rule.FOREIGN_CALL,
}


@dataclass(frozen=True, slots=True)
class Use:
    """One thing of which there must not be more than before."""

    rule: Rule
    key: str
    """What makes it the same one elsewhere: the code without blanks, or a name."""
    code: str
    """For people."""
    node: Node

    @property
    def line(self) -> int:
        """Return the line, 1-based."""
        return int(self.node.start_point[0]) + 1


def find_uses(source: Source, modules: Set[str] = frozenset(), *, ffi: bool = False) -> list[Use]:
    """Return all uses in a text, in order. `modules` are those of the crate, which a path may begin
    with; `ffi` says that the text is a module for C."""
    uses = [
        *_paths(source, modules),
        *_items(source, ffi=ffi),
        *_attributes(source),
        *_literals(source),
        *_casts(source),
    ]
    return sorted(uses, key=lambda use: (use.node.start_byte, use.rule.value))


def find_paths_into(source: Source, crates: Set[str]) -> Iterator[Node]:
    """Yield where a text names one of some crates: first in a path, or in a `use`."""
    for node in below(source.root, "identifier", "crate", "type_identifier"):
        if plain_name(source.text(node)) not in crates:
            continue
        after = node.next_sibling
        parent = node.parent
        heads = after is not None and after.type == "::"
        imported = parent is not None and parent.type in (
            "use_declaration",
            "use_as_clause",
            "use_list",
        )
        hidden = parent is not None and parent.type in ("token_tree", "extern_crate_declaration")
        if heads or imported or hidden:
            yield node


def shorten(text: bytes) -> str:
    """Return code as one short line."""
    line = " ".join(text.decode("utf-8", "replace").split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def plain_name(text: bytes) -> str:
    """Return an identifier without the mark of a raw one."""
    return text.decode("utf-8", "replace").removeprefix("r#")


def tokens(node: Node) -> Iterator[Node]:
    """Yield the tokens below a node, without comments; a literal is one token."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in ("line_comment", "block_comment"):
            continue
        if node.child_count == 0 or node.type.endswith("string_literal"):
            yield node
        else:
            waiting.extend(reversed(node.children))


def _use(source: Source, rule: Rule, node: Node, key: str = "") -> Use:
    return Use(rule, key or _flatten(source, node), shorten(source.text(node)), node)


def _paths(source: Source, modules: Set[str]) -> Iterator[Use]:
    """Yield uses of names: paths, methods and names in `use`."""
    path: list[Node] = []
    gap = True
    for token in [*tokens(source.root), None]:
        kind = "" if token is None else token.type
        is_name = "identifier" in kind or kind in ("crate", "self", "super", "metavariable")
        if token is not None and is_name and not gap:
            path.append(token)
        elif kind == "::" and path:
            gap = False
            continue
        else:
            if path:
                yield from _path(source, path, modules, macro=kind == "!")
            path = [token] if token is not None and is_name else []
        gap = True
    for declaration in below(source.root, "use_declaration"):
        for name in below(declaration, "identifier"):
            rule = _MODULES.get(plain_name(source.text(name)))
            first = next(iter(below(declaration, "identifier", "crate", "self", "super")), None)
            outside = first is not None and plain_name(source.text(first)) in _STD
            if rule is not None and outside:
                yield _use(source, rule, declaration)
                break
    for first_token, second, third in _threes(source.root):
        parent = first_token.parent
        if first_token.type not in ("as", "unsafe") or parent is None:
            continue
        if parent.type != "token_tree":
            continue  # it is seen as what it is
        if first_token.type == "unsafe":
            yield _use(source, Rule.MACRO, parent)
        elif second.type == "*" and third.type in ("const", "mut", "mutable_specifier"):
            yield _use(source, Rule.INTEGER_TO_POINTER, parent)


def _threes(node: Node) -> Iterator[tuple[Node, Node, Node]]:
    for (first, second), (_, third) in pairwise(pairwise(tokens(node))):
        yield first, second, third


def _path(source: Source, path: list[Node], modules: Set[str], *, macro: bool) -> Iterator[Use]:
    names = [plain_name(source.text(node)) for node in path]
    whole = "::".join(names)
    last = path[-1]
    shown = shorten(source.data[path[0].start_byte : last.end_byte])
    if macro:
        if (rule := _MACROS.get(names[-1])) is not None:
            yield Use(rule, f"{names[-1]}!", f"{names[-1]}!", last)
        return
    if "sys" in names[:-1]:  # the crate's module of what C offers
        name = names[names.index("sys") + 1]
        yield Use(Rule.FOREIGN_CALL, f"sys::{name}", shown, last)
    if names[0] == "libc" and names[0] not in modules:
        yield Use(Rule.FOREIGN_CALL, whole, shown, last)
    if (rule := _module_rule(names, modules)) is not None:
        yield Use(rule, whole, shown, last)
        return
    if names[-2:] == ["Command", "new"]:
        yield Use(Rule.PROCESS, whole, shown, last)
        return
    if last.type == "field_identifier" and (rule := _METHODS.get(names[-1])) is not None:
        yield Use(rule, names[-1], shown, last)
        return
    for name in names:
        rule = _NAMES.get(name)
        if name.startswith("from_raw"):
            rule = Rule.FROM_RAW
        elif name.endswith(("_unchecked", "_unchecked_mut")) or name.startswith("unchecked_"):
            rule = rule or Rule.UNCHECKED
        if rule is not None and not _is_declared_here(last):
            yield Use(rule, _flatten(source, _call(last)), shown, last)
            return


def _module_rule(names: list[str], modules: Set[str]) -> Rule | None:
    """Return what a path breaks that leads into a module of the standard library."""
    if names[0] in _STD:
        return _MODULES.get(names[1]) if len(names) > 1 else None
    return _MODULES.get(names[0]) if len(names) > 1 and names[0] not in modules else None


def _call(name: Node) -> Node:
    """Return the function that is called by a name, with the types it is given; the whole call
    where it is given none; the name itself where nothing is called."""
    node = name
    while node.parent is not None and node.parent.type in ("scoped_identifier", "field_expression"):
        node = node.parent
    if node.parent is not None and node.parent.type in ("generic_function", "call_expression"):
        return node.parent
    return name


def _flatten(source: Source, node: Node) -> str:
    return "".join(source.text(node).decode("utf-8", "replace").split())


def _is_declared_here(name: Node) -> bool:
    """Return whether a name is that of a function or parameter that the text itself declares."""
    parent = name.parent
    return parent is not None and (
        (parent.type in ("function_item", "function_signature_item"))
        and parent.child_by_field_name("name") == name
    )


def _items(source: Source, *, ffi: bool) -> Iterator[Use]:
    for node in below(
        source.root,
        "function_item",
        "function_signature_item",
        "static_item",
        "impl_item",
        "trait_item",
        "foreign_mod_item",
        *_ITEMS,
    ):
        if node.type in _ITEMS:
            yield _use(source, _ITEMS[node.type], node)
        elif node.type == "function_item":
            yield from _function(source, node, ffi=ffi)
        elif node.type == "function_signature_item":
            if _is_foreign(node):
                yield Use(
                    Rule.FOREIGN_CALL, f"sys::{name_of(node)}", shorten(source.text(node)), node
                )
        elif node.type == "static_item":
            shared = any(child.type == "mutable_specifier" for child in node.children)
            if (shared or b"UnsafeCell" in source.text(node)) and not _is_foreign(node):
                yield _use(source, Rule.STATIC_MUT, node, f"static {name_of(node)}")
            elif _is_foreign(node):
                yield _use(source, Rule.FOREIGN_CALL, node, f"sys::{name_of(node)}")
        elif any(child.type == "unsafe" for child in node.children) and (
            node.type != "foreign_mod_item"
        ):
            yield _use(source, Rule.UNSAFE_INTERFACE, node, shorten(source.text(node)))


def _is_foreign(node: Node) -> bool:
    above = node.parent.parent if node.parent is not None else None
    return above is not None and above.type == "foreign_mod_item"


def _function(source: Source, node: Node, *, ffi: bool) -> Iterator[Use]:
    name = name_of(node)
    body = field(node, "body")
    head = source.data[node.start_byte : body.start_byte if body is not None else node.end_byte]
    modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
    kinds = {child.type for child in modifiers.children} if modifiers is not None else set()
    is_for_c = ffi or _is_in_ffi(node)
    if "extern_modifier" in kinds and not is_for_c:
        yield Use(Rule.EXTERN_C, f"extern fn {name}", shorten(head), node)
    if "unsafe" in kinds:
        if not is_for_c:
            yield Use(Rule.UNSAFE_INTERFACE, f"unsafe fn {name}", shorten(head), node)
        return
    parameters = field(node, "parameters")
    handed = parameters is not None and any(True for _ in below(parameters, "pointer_type"))
    if handed and body is not None and any(True for _ in below(body, "unsafe_block")):
        yield Use(Rule.UNSAFE_INTERFACE, f"pointers of {name}", shorten(head), node)


def _is_in_ffi(node: Node | None) -> bool:
    while node is not None:
        if node.type == "mod_item" and name_of(node) == "ffi":
            return True
        node = node.parent
    return False


def _attributes(source: Source) -> Iterator[Use]:
    for node in below(source.root, "attribute_item", "inner_attribute_item"):
        names = [plain_name(source.text(name)) for name in below(node, "identifier")]
        first = names[0] if names else ""
        item = _item_below(node)
        rule = Rule.ATTRIBUTE
        if first in ("allow", "expect"):
            rule = Rule.ALLOWED_LINT
        elif first in ("cfg", "cfg_attr"):
            rule = Rule.CONDITIONAL
            if names == ["cfg", "test"] and item is not None and item.type == "mod_item":
                continue  # tests of the crate
        elif first in _PLAIN_ATTRIBUTES:
            continue
        name = "" if item is None or node.type != "attribute_item" else name_of(item)
        yield _use(source, rule, node, f"{_flatten(source, node)} {name}")


def _item_below(attribute: Node) -> Node | None:
    """Return the item that an attribute is of."""
    after = attribute.next_named_sibling
    while after is not None and after.type in ("attribute_item", "line_comment", "block_comment"):
        after = after.next_named_sibling
    return after


def _literals(source: Source) -> Iterator[Use]:
    """Yield literals that name what a rewrite must not reach, in pieces too."""
    for scope in _scopes(source):
        found = [
            (_content(source, node), node)
            for node in tokens(scope)
            if node.type.endswith("string_literal")
        ]
        texts = [text for text, _ in found]
        for pattern, rule in ((_MEMORY, Rule.OWN_MEMORY), (_BENCH, Rule.OBSERVED_TEST)):
            told = [(text, node) for text, node in found if pattern.search(text)]
            if not told and pattern.search("".join(texts)):
                told = found[:1]
            for text, node in told:
                yield Use(rule, text, shorten(source.text(node)), node)


def _scopes(source: Source) -> Iterable[Node]:
    """Return the items of a text, in each of which literals may be put together."""
    return source.root.named_children


def _content(source: Source, literal: Node) -> str:
    parts = (c for c in literal.children if c.type in ("string_content", "escape_sequence"))
    text = b"".join(source.text(part) for part in parts).decode("utf-8", "replace")
    return _ESCAPE.sub(_unescape, text) if literal.type == "string_literal" else text


def _unescape(found: re.Match[str]) -> str:
    digits = (found[1] or found[2] or "").replace("_", "")
    number = int(digits, 16) if digits else -1
    return chr(number) if 0 <= number < 0x110000 else ""


def _casts(source: Source) -> Iterator[Use]:
    casts = PointerCasts(source)
    for node in below(source.root, "type_cast_expression"):
        kind, value = field(node, "type"), field(node, "value")
        if kind is None or value is None or kind.type != "pointer_type":
            continue
        if not casts.is_of_pointer(value):
            yield _use(source, Rule.INTEGER_TO_POINTER, node)
