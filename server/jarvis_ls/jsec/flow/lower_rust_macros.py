"""Macros of the standard library: their arguments are read as expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.parse import Node, Tree, parse
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Type
from jarvis_ls.jsec.flow.lower_rust_body import NOTHING
from jarvis_ls.jsec.flow.rust_types import NEVER, STRING, UNIT, is_pointer, joined, width
from jarvis_ls.jsec.flow.types import ANY, BOOL

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.lower_rust_body import Body, Typed

_SHOWS = frozenset({"println", "print", "eprintln", "eprint", "write", "writeln", "debug", "info",
                    "warn", "error", "trace", "log", "dbg"})  # fmt: skip
_STOPS = frozenset({"panic", "unreachable", "todo", "unimplemented", "bail"})
_ASSERTS = frozenset({"assert", "debug_assert", "ensure"})
_COMPARES = {"assert_eq": "==", "debug_assert_eq": "==", "assert_ne": "!=", "debug_assert_ne": "!="}
_HARMLESS = frozenset({"cfg", "concat", "stringify", "line", "file", "include_str", "include_bytes",
                       "env", "option_env", "module_path", "column", "compile_error", "format_args",
                       "thread_local", "concat_bytes"})  # fmt: skip
_CAPTURED = re.compile(r"\{([a-z_]\w*)[:}]")
_LONGEST = 4_000


class Macros:
    """The macros of one function."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._trees: list[Tree] = []

    def value(self, node: Node, wanted: Type) -> Typed:
        """What a macro gives."""
        body = self.body
        name = text(node.child_by_field_name("macro")).rpartition("::")[2]
        written = text(node.named_children[-1])[1:-1] if node.named_child_count > 1 else ""
        before, body.fixed = body.fixed, body.span(node)
        found = self._of(name, written, wanted)
        body.fixed = before
        return found

    def _of(self, name: str, written: str, wanted: Type) -> Typed:
        body = self.body
        if name in _STOPS:
            self._values(written)
            body.blocks.end((ir.STOP,) if name != "bail" else (ir.RETURN, None, (0, 0)))
            return NOTHING, NEVER
        if name in _SHOWS or name == "format":
            return self._formatted(name, written)
        if name in _ASSERTS:
            parts = self._parts(f"({written})")
            if parts:
                yes, no = body.blocks.label(), body.blocks.label()
                body.control.branch(parts[0], yes, no)
                body.blocks.start(no)
                body.blocks.end((ir.STOP,))
                body.blocks.start(yes)
            return NOTHING, UNIT
        if name in _COMPARES:
            parts = self._parts(f"({written})")
            if len(parts) >= 2:
                a, b, type_ = body.of.operators.operands(parts[0], parts[1])
                yes, no = body.blocks.label(), body.blocks.label()
                test = (ir.CMP, _COMPARES[name], a, b, type_, (0, 0))
                known = type_[0] in ("i", "f", "p")
                body.blocks.end((ir.IF, test if known else (ir.UNKNOWN, BOOL), yes, no, (0, 0)))
                body.blocks.start(no)
                body.blocks.end((ir.STOP,))
                body.blocks.start(yes)
            return NOTHING, UNIT
        if name == "vec":
            return self._vector(written, wanted)
        if name in ("matches", "addr_of", "addr_of_mut"):
            return self._special(name, written)
        if name not in _HARMLESS:
            body.cut = True  # it may do anything with what is around it
        return (ir.UNKNOWN, ANY), ANY

    def _formatted(self, name: str, written: str) -> Typed:
        body = self.body
        # digits are no way to a path or command
        values = [value for value, type_ in self._values(written) if type_[0] != "i"]
        for captured in _CAPTURED.findall(written):
            slot = body.scopes.find(captured)
            if slot is not None and body.scopes.slots[slot][1][0] != "i":
                values.append((ir.LOCAL, slot))
        if name != "format":
            plain = name.endswith(("print", "println"))
            return (NOTHING, UNIT) if plain else ((ir.UNKNOWN, ANY), ANY)
        return body.call("@mix", values, STRING, (0, 0)), STRING

    def _values(self, written: str) -> list[Typed]:
        """The arguments, only looked at: references to them are taken."""
        found = []
        for part in self._parts(f"({written})"):
            if part.type in ("identifier", "field_expression"):
                address, type_ = self.body.of.addressed(part)
                while is_pointer(type_) and type_[0] != "p":
                    address, type_ = self.body.load(address, type_), type_[1]
                found.append((address, type_))
            else:
                value, type_ = self.body.of.value(part)
                if value[0] == ir.LOAD:
                    self.body.blocks.add((ir.EVAL, value))
                found.append((value, type_))
        return found

    def _vector(self, written: str, wanted: Type) -> Typed:
        body = self.body
        parts = self._parts(f"([{written}])")
        if not parts or parts[0].type != "array_expression":
            return (ir.UNKNOWN, ANY), ("vec", ANY)
        array = parts[0]
        element: Type = wanted[1] if wanted[0] == "vec" else ANY
        length = array.child_by_field_name("length")
        held = [c for c in array.named_children if c != length and "comment" not in c.type]
        values = [body.of.moved(one, element) for one in held]
        for _, type_ in values[:1]:
            element = joined(element, type_)
        found: Type = ("vec", element)
        if length is not None:
            count, _ = body.of.value(length, ("i", 8, False))
        else:
            count = (ir.CONST, len(held), ("i", 8, False))
        args = [count, *(value for value, _ in values)]
        return body.call("@filled", args, found, body.span(array), (width(element),)), found

    def _special(self, name: str, written: str) -> Typed:
        body = self.body
        if name == "matches":
            tree = parse(f"fn f(){{match {_cut(written)} }}".encode(), "rust")
            self._trees.append(tree)
            found = _first(tree.root_node, "match_expression")
            return body.control.truth_of(found) if found is not None else ((ir.UNKNOWN, BOOL), BOOL)
        parts = self._parts(f"({written})")
        if not parts:
            return (ir.UNKNOWN, ANY), ANY
        address, type_ = body.of.addressed(parts[0])
        body.of.borrow(address)
        return address, ("p", type_)

    def _parts(self, written: str) -> list[Node]:
        """The expressions between commas; none where the text is none."""
        if len(written) > _LONGEST:
            return []
        tree = parse(f"fn f(){{m{written};}}".encode(), "rust")
        self._trees.append(tree)  # nodes are only as good as their tree
        listed = _first(tree.root_node, "arguments")
        if listed is None or listed.has_error:
            return self._loose(written)
        found = []
        for part in listed.named_children:
            if "comment" in part.type:
                continue
            if part.type == "assignment_expression":  # `name = value` of a format
                part = part.named_children[-1]
            found.append(part)
        return found

    def _loose(self, written: str) -> list[Node]:
        self.body.cut = True
        return []


def _cut(written: str) -> str:
    """The arguments of `matches!` as a `match` with one arm."""
    depth = 0
    for index, char in enumerate(written):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return f"{written[:index]} {{ {written[index + 1 :].rstrip(', ')} => true }}"
    return f"{written} {{}}"


def _first(node: Node, kind: str) -> Node | None:
    work = [node]
    while work:
        current = work.pop(0)
        if current.type == kind:
            return current
        work.extend(current.named_children)
    return None
