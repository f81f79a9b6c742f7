"""Every use of variables of a crate, in all of its modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import module_of
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of

_NO_VALUE = frozenset(
    "token_tree use_declaration use_list scoped_use_list shorthand_field_initializer match_pattern"
    " closure_parameters".split()
)


def uses_of(
    sources: Sequence[Source], items: Iterable[tuple[int, Node]]
) -> dict[int, list[tuple[int, Node]]]:
    """Return where variables are named, by the declaration: index of the file, and the name with
    its path. `items` are their declarations, with the index of the file."""
    wanted = {item.id: name_of(item).encode() for _, item in items}
    names = set(wanted.values())
    top = {
        (module_of(source), name_of(item).encode()): item.id
        for source in sources
        for item in source.root.children
        if item.type == "static_item"
    }
    found: dict[int, list[tuple[int, Node]]] = {key: [] for key in wanted}
    for number, source in enumerate(sources):
        for name in below(source.root, "identifier"):
            if source.text(name) not in names:
                continue
            whole = _with_path(name)
            declared = 0 if whole is None else _meant(source, whole, source.text(name), top)
            if whole is not None and declared in found:
                found[declared].append((number, whole))
    return found


def is_in_pattern(use: Node) -> bool:
    """Return whether a name is where no value is, or in a macro, of which nothing is known."""
    return use.parent is None or use.parent.type in _NO_VALUE


def function_name(node: Node) -> str:
    """Return the function that a place is in; empty outside of all."""
    around: Node | None = node
    while around is not None and around.type != "function_item":
        around = around.parent
    return "" if around is None else name_of(around)


def attributes_of(source: Source, item: Node) -> Iterator[bytes]:
    """Yield the attributes of an item."""
    before = item.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if before.type == "attribute_item":
            yield source.text(before).strip()
        before = before.prev_sibling


def _with_path(name: Node) -> Node | None:
    """Return a name with its path; None when it declares something, or is a part of the path."""
    whole, around = name, name.parent
    if around is not None and around.type == "static_item" and field(around, "name") == name:
        return None
    while around is not None and around.type == "scoped_identifier":
        if field(around, "name") != whole:
            return None
        whole, around = around, around.parent
    return whole


def _meant(source: Source, whole: Node, name: bytes, top: dict[tuple[str, bytes], int]) -> int:
    """Return the declaration that a name means; 0 when it is none that is known."""
    if whole.type == "scoped_identifier":
        path = field(whole, "path")
        last = b"" if path is None else source.text(path).rpartition(b"::")[2]
        module = module_of(source) if last in (b"self", b"Self") else last.decode()
        return top.get((module, name), 0)
    around = whole.parent
    while around is not None:
        if around.type == "block":
            for item in around.named_children:
                if item.type == "static_item" and name_of(item).encode() == name:
                    return item.id
        around = around.parent
    return top.get((module_of(source), name), 0)
