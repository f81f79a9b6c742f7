"""Rust source as text and tree, and rewriting it from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.parse import Node, nests_too_deep, parse
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

MOST = 64_000_000
"""Bytes of one file."""

Say = Callable[[Node], bytes]
"""The text of a node after rewriting."""
Rule = Callable[[Node, Say], bytes | None]
"""What a node becomes; None leaves it to its children."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a crate."""

    path: Path
    data: bytes
    root: Node

    @property
    def functions(self) -> list[Node]:
        """Functions at the top of the file, in order."""
        return [node for node in self.root.children if node.type == "function_item"]

    def text(self, node: Node) -> bytes:
        """Return the text of a node."""
        return self.data[node.start_byte : node.end_byte]

    def with_functions(self, new: Callable[[int, Node], bytes]) -> bytes:
        """Return the text with what each function becomes, by its number and node."""
        parts, at = [], 0
        for number, function in enumerate(self.functions):
            parts += [self.data[at : function.start_byte], new(number, function)]
            at = function.end_byte
        return b"".join([*parts, self.data[at:]])


def parse_source(path: Path, data: bytes) -> Source:
    """Return the text of a file with its tree."""
    return Source(path, data, parse(data, "rust").root_node)


def read_sources(crate: Path, known: dict[Path, Source] | None = None) -> list[Source]:
    """Modules and programs of a crate that can be looked into, in order of path. `known` are those
    of before, by path: what has not changed is not parsed again."""
    found = []
    for path in sorted([*(crate / "src").glob("*.rs"), *(crate / "src" / "bin").glob("*.rs")]):
        try:
            data = read_regular(path, limit=MOST)
        except SkippedFile:
            continue  # a link or a device: nothing of ours
        old = None if known is None else known.get(path)
        source = old if old is not None and old.data == data else parse_source(path, data)
        if known is not None:
            known[path] = source
        if not source.root.has_error and not nests_too_deep(source.root):
            found.append(source)
    return found


def rewritten(data: bytes, node: Node, rule: Rule) -> bytes:
    """Return the text of `node`, where every node for which `rule` has an answer is replaced by
    it.
    """

    def say(node: Node) -> bytes:
        new = rule(node, say)
        if new is not None:
            return new
        parts = []
        at = node.start_byte
        for child in node.children:
            parts += [data[at : child.start_byte], say(child)]
            at = child.end_byte
        parts.append(data[at : node.end_byte])
        return b"".join(parts)

    return say(node)


def below(node: Node, *kinds: str) -> Iterator[Node]:
    """Nodes of these kinds in `node`, in order of position."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in kinds:
            yield node
        waiting.extend(reversed(node.children))


def field(node: Node, name: str) -> Node | None:
    """Return a child by the name of its role."""
    return node.child_by_field_name(name)


def bare(node: Node | None) -> Node | None:
    """Return an expression without its parentheses."""
    while node is not None and node.type == "parenthesized_expression":
        node = first(node)
    return node


def first(node: Node) -> Node | None:
    """Return the first named child."""
    return next(iter(node.named_children), None)


def variable_of(source: Source, declared: Node) -> bytes:
    """Name of a declared variable or parameter; empty when it has none."""
    pattern = field(declared, "pattern")
    inner = first(pattern) if pattern is not None and pattern.type == "mut_pattern" else pattern
    return b"" if inner is None else source.text(inner)


def name_of(function: Node) -> str:
    """Name of a function."""
    found = field(function, "name")
    return "" if found is None or found.text is None else found.text.decode()
