"""Lambdas: run where they are called by their name; what others may run may change what they
capture by reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.instructions import CallMethod, Eval, Jump, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import Reference, Type, pointer_to, reference_to
from jarvis_ls.jsec.flow.lower.c.context import FunctionBuilder, LambdaLowering, Typed

_NESTED: Final = 4
"""Lambdas run inside of each other."""
_RUNS: Final = 40
"""Lambdas run in one function."""
_MENTIONS: Final = 200
"""Nodes of a lambda that are examined for what it mentions."""


@dataclass(slots=True)
class _Run:
    """A lambda that is being run."""

    temp: int
    """Takes its value."""
    after: int
    """Label of what follows it."""
    depth: int
    """Scopes around it."""
    type: Type = ANY
    """Of its value."""


class Lambdas(LambdaLowering):
    """Lowers lambdas; part of `Body`."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.known: dict[int, Node] = {}
        """Lambdas by the variable that is declared with them."""
        self._running: list[_Run] = []
        self._runs = 0

    def value(self, node: Node) -> Typed:
        """Return a lambda that is passed on."""
        of = self.body.of
        for slot in self._captures(node):
            of.blocks.add(
                CallMethod(
                    of.blocks.temp(),
                    nodes.Local(slot),
                    "",
                    "lambda",
                    (),
                    ANY,
                    of.span(node),
                    (),
                )
            )
        return of.unknown()

    def by_name(self, name: str) -> Node | None:
        """Return the lambda that a variable was declared with."""
        slot = self.body.scopes.find(name) if self.known else None
        return self.known.get(slot) if slot is not None else None

    def call(self, function: Node, node: Node) -> Typed:
        """Run the lambda `function` for the call `node`."""
        of, body = self.body.of, self.body
        arguments = of.calling.arguments(node)
        inner = function.child_by_field_name("body")
        if inner is None or len(self._running) >= _NESTED or self._runs >= _RUNS:
            for argument in arguments:
                of.value(argument)
            return self.value(function)
        self._runs += 1
        given = [(of.address(a), of.span(a)) for a in arguments]
        body.scopes.open()
        for index, (name, type_) in enumerate(self._parameters(function)):
            (address, from_), span = (
                given[index] if index < len(given) else (of.spill(of.unknown(type_)), of.span(node))
            )
            kind: Type
            if isinstance(type_, Reference) or type_ == ANY:
                stored, at = of.through_reference(address, from_, span)
                type_, kind = reference_to(at), pointer_to(at)
            else:
                stored, kind = of.as_type(of.load(address, from_, span), type_, span), type_
            slot = body.scopes.declare(name, type_)
            of.blocks.add(Eval(nodes.Store(nodes.Local(slot), stored, kind, (0, 0))))
        run = _Run(of.blocks.temp(), of.blocks.label(), body.scopes.depth)
        of.blocks.add(SetTemp(run.temp, of.unknown()[0]))
        self._running.append(run)
        body.statement(inner)
        self._running.pop()
        body.destroy(body.scopes.close(), body.end_of(inner))
        of.blocks.start(run.after)
        return nodes.Temp(run.temp), run.type

    def leave(self, value: Node | None, end: Span) -> bool:
        """Lower a `return` when it belongs to a lambda."""
        if not self._running:
            return False
        run, of = self._running[-1], self.body.of
        if value is not None:
            expr, run.type = of.value(value)
            of.blocks.add(SetTemp(run.temp, expr))
        self.body.destroy(self.body.scopes.objects_from(run.depth), end)
        of.blocks.end(Jump(run.after))
        return True

    def _parameters(self, node: Node) -> Iterator[tuple[str, Type]]:
        declarator = node.child_by_field_name("declarator")
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        for child in listed.named_children if listed is not None else ():
            if child.type in ("parameter_declaration", "optional_parameter_declaration"):
                inner = child.child_by_field_name("declarator")
                yield self.body.types.declarator(inner, self.body.types.specifier_type(child))

    def _captures(self, node: Node) -> list[int]:
        """Return the slots of the variables that a lambda holds by reference and mentions."""
        captures = node.child_by_field_name("captures")
        written = text(captures)
        by_name = {
            part.strip()[1:]
            for part in written.strip("[]").split(",")
            if part.strip().startswith("&")
        }
        everything = "" in by_name
        found: dict[int, None] = {}
        work, seen = [node.child_by_field_name("body")], 0
        while work and seen < _MENTIONS:
            current = work.pop()
            seen += 1
            if current is None:
                continue
            work.extend(current.named_children)
            name = text(current) if current.type == "identifier" else ""
            slot = self.body.scopes.find(name) if name and (everything or name in by_name) else None
            if slot is not None and slot >= 0:
                found[slot] = None
        return list(found)
