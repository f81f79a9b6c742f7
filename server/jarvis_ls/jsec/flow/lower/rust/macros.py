"""Macros of the standard library: their arguments are read as expressions."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node, Tree, parse
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL
from jarvis_ls.jsec.flow.ir.instructions import Branch, Eval, Return, Stop
from jarvis_ls.jsec.flow.ir.rust_types import NEVER, STRING, UNIT, is_pointer, join_types, width
from jarvis_ls.jsec.flow.ir.types import (
    Float,
    Integer,
    Pointer,
    Type,
    Vector,
    integer,
    pointer_to,
    wrapped,
)
from jarvis_ls.jsec.flow.lower.rust.context import NOTHING, FunctionBuilder, Typed

_SHOWS = frozenset(
    "println print eprintln eprint write writeln debug info warn error trace log dbg".split()
)
_STOPS = frozenset({"panic", "unreachable", "todo", "unimplemented", "bail"})
_ASSERTS = frozenset({"assert", "debug_assert", "ensure"})
_COMPARES = {"assert_eq": "==", "debug_assert_eq": "==", "assert_ne": "!=", "debug_assert_ne": "!="}
_HARMLESS = frozenset(
    "cfg concat stringify line file include_str include_bytes env option_env module_path "
    "column compile_error format_args thread_local concat_bytes".split()
)
_CAPTURED = re.compile(r"\{([a-z_]\w*)[:}]")
_LONGEST = 4_000


class Macros:
    """The macros of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self._trees: list[Tree] = []

    def value(self, node: Node, wanted: Type) -> Typed:
        """Return the value of a macro."""
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
            body.blocks.end(Stop() if name != "bail" else Return(None, (0, 0)))
            return NOTHING, NEVER
        if name in _SHOWS or name == "format":
            return self._format(name, written)
        if name in _ASSERTS:
            parts = self._parts(f"({written})")
            if parts:
                yes, no = body.blocks.label(), body.blocks.label()
                body.control.branch(parts[0], yes, no)
                body.blocks.start(no)
                body.blocks.end(Stop())
                body.blocks.start(yes)
            return NOTHING, UNIT
        if name in _COMPARES:
            parts = self._parts(f"({written})")
            if len(parts) >= 2:
                a, b, type_ = body.of.operators.operands(parts[0], parts[1])
                yes, no = body.blocks.label(), body.blocks.label()
                test = nodes.Compare(_COMPARES[name], a, b, type_, (0, 0))
                known = isinstance(type_, (Integer, Float, Pointer))
                body.blocks.end(Branch(test if known else nodes.Unknown(BOOL), yes, no, (0, 0)))
                body.blocks.start(no)
                body.blocks.end(Stop())
                body.blocks.start(yes)
            return NOTHING, UNIT
        if name == "vec":
            return self._vector(written, wanted)
        if name in ("matches", "addr_of", "addr_of_mut"):
            return self._special(name, written)
        if name not in _HARMLESS:
            body.cut = True  # it may do anything with what is around it
        return nodes.Unknown(ANY), ANY

    def _format(self, name: str, written: str) -> Typed:
        body = self.body
        # digits are no way to a path or command
        values = [value for value, type_ in self._values(written) if not isinstance(type_, Integer)]
        for captured in _CAPTURED.findall(written):
            slot = body.scopes.find(captured)
            if slot is not None and not isinstance(body.scopes.slots[slot][1], Integer):
                values.append(nodes.Local(slot))
        if name != "format":
            plain = name.endswith(("print", "println"))
            return (NOTHING, UNIT) if plain else (nodes.Unknown(ANY), ANY)
        return body.call("@mix", values, STRING, (0, 0)), STRING

    def _values(self, written: str) -> list[Typed]:
        """Return the arguments, only examined: references to them are taken."""
        found = []
        for part in self._parts(f"({written})"):
            if part.type in ("identifier", "field_expression"):
                address, type_ = self.body.of.address(part)
                while is_pointer(type_) and not isinstance(type_, Pointer):
                    address, type_ = self.body.load(address, type_), type_.inner
                found.append((address, type_))
            else:
                value, type_ = self.body.of.value(part)
                if isinstance(value, nodes.Load):
                    self.body.blocks.add(Eval(value))
                found.append((value, type_))
        return found

    def _vector(self, written: str, wanted: Type) -> Typed:
        body = self.body
        parts = self._parts(f"([{written}])")
        if not parts or parts[0].type != "array_expression":
            return nodes.Unknown(ANY), wrapped(Vector, ANY)
        array = parts[0]
        element: Type = wanted.inner if isinstance(wanted, Vector) else ANY
        length = array.child_by_field_name("length")
        held = [c for c in array.named_children if c != length and "comment" not in c.type]
        values = [body.of.move(part, element) for part in held]
        for _, type_ in values[:1]:
            element = join_types(element, type_)
        found: Type = wrapped(Vector, element)
        if length is not None:
            count, _ = body.of.value(length, integer(8, False))
        else:
            count = nodes.Const(len(held), integer(8, False))
        args = [count, *(value for value, _ in values)]
        return body.call("@filled", args, found, body.span(array), (width(element),)), found

    def _special(self, name: str, written: str) -> Typed:
        body = self.body
        if name == "matches":
            tree = parse(f"fn f(){{match {_cut(written)} }}".encode(), "rust")
            self._trees.append(tree)
            found = _first(tree.root_node, "match_expression")
            return (
                body.control.truth_of(found) if found is not None else (nodes.Unknown(BOOL), BOOL)
            )
        parts = self._parts(f"({written})")
        if not parts:
            return nodes.Unknown(ANY), ANY
        address, type_ = body.of.address(parts[0])
        body.of.borrow(address)
        return address, pointer_to(type_)

    def _parts(self, written: str) -> list[Node]:
        """Return the expressions between commas; none where the text is none."""
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
    """Return the arguments of `matches!` as a `match` with one arm."""
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
