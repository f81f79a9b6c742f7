"""What the topics of lowering C share: the builders that each of them gets, by abstract class.

A topic (calls, lvalues, operators ...) sees the others through these classes alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, VOID
from jarvis_ls.jsec.flow.ir.declarations import GlobalIR
from jarvis_ls.jsec.flow.ir.instructions import Eval
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    FunctionType,
    Pointer,
    Record,
    Reference,
    Type,
    pointer_to,
)
from jarvis_ls.jsec.flow.lower.builder import MOST_INSTRUCTIONS, Blocks, Scopes
from jarvis_ls.jsec.flow.lower.c.macros import Macros
from jarvis_ls.jsec.flow.lower.c.types import Types

Typed = tuple[Expr, Type]
Lowered = TypeVar("Lowered")


class Outer:
    """What a function body needs to know of its file."""

    def __init__(self, types: Types, macros: Macros) -> None:
        self.types = types
        self.macros = macros
        self.globals: dict[str, Type] = {}
        self.functions: dict[str, FunctionType] = {}
        """Functions declared or defined, with their types."""
        self.imported: dict[str, FunctionType] = {}
        """Functions that headers outside of the project declare, as far as they are called."""
        self.written: set[str] = set()
        """Globals that may be changed somewhere."""


class CallLowering(ABC):
    """Calls, `new` and `delete`."""

    @abstractmethod
    def value(self, node: Node) -> Typed:
        """Return the result of a call."""

    @abstractmethod
    def arguments(self, node: Node) -> list[Node]:
        """Return the nodes of the arguments."""

    @abstractmethod
    def written_arguments(self, node: Node) -> list[str]:
        """Return the arguments of a macro as text: `struct item` is one, which reads like two."""

    @abstractmethod
    def is_assertion(self, name: str, arguments: list[Node]) -> bool:
        """Return whether a macro asserts its argument, by its name."""

    @abstractmethod
    def expected_condition(self, node: Node) -> Node | None:
        """Return the condition that a call returns as it is: that of `__builtin_expect`,
        `unlikely` and the like, and of an `assert` of the program's own whose value is examined.
        """

    @abstractmethod
    def is_function(self, name: str) -> bool:
        """Return whether a name is that of a function of the program; a macro of that name is for
        builds without it, unless it calls another function instead.
        """

    @abstractmethod
    def expansion(self, node: Node) -> Node | None:
        """Return the expression that a call of a macro of the program represents; None for any
        other call. The macro is to be left afterwards.
        """

    @abstractmethod
    def method(
        self,
        base: Expr,
        owner: str,
        name: str,
        arguments: list[Node],
        node: Node,
        type_: Type = ANY,
    ) -> Typed:
        """Return a call of a member function on the object at `base`."""

    @abstractmethod
    def element(self, base: Expr, type_: Container, index: Typed, span: Span) -> Typed:
        """Return the place that `[]` of a container gives."""

    @abstractmethod
    def assign(self, place: Expr, record: str, value: Typed, node: Node) -> Typed:
        """Run the assignment operator of a class."""

    @abstractmethod
    def construct(self, place: Expr, record: str, arguments: list[Node], node: Node) -> None:
        """Run the constructor of a class."""


class LvalueLowering(ABC):
    """Addresses of lvalues, and initialisers."""

    @abstractmethod
    def address(self, node: Node) -> Typed:
        """Return the address of an lvalue, and the type of what is there."""

    @abstractmethod
    def by_name(self, node: Node, name: str, slot: int | None) -> Typed:
        """Return the place of a variable, which is the local one in `slot` if there is one, or of a
        function."""

    @abstractmethod
    def is_member(self, name: str) -> bool:
        """Return whether the class around has a data member of the name."""

    @abstractmethod
    def member_of_this(self, name: str, span: Span) -> Typed:
        """Return a member named without `this->`."""

    @abstractmethod
    def initialise(self, address: Expr, type_: Type, node: Node | None) -> None:
        """Store an initialiser at a fresh place."""

    @abstractmethod
    def indices(self, items: list[Node]) -> list[int] | None:
        """Return the index of each item of an array's initialiser; None when it cannot be told."""

    @abstractmethod
    def only_text(self, type_: Type, node: Node) -> Node | None:
        """Return the string of an initialiser such as `{"text"}`, which gives an array of
        characters what `"text"` does; None for any other."""

    @abstractmethod
    def may_be_several(self, item: Node) -> bool:
        """Return whether a part of an initialiser list is a macro that may represent more than
        one."""


class OperatorLowering(ABC):
    """Unary and binary operators."""

    @abstractmethod
    def bytes_of(self, type_: Type) -> nodes.Size:
        """Return the size of a type; for one of another file the type itself, until that file is
        known.
        """

    @abstractmethod
    def offset(self, pointer: Expr, type_: Type, index: Expr, span: Span) -> Typed:
        """Return a pointer moved by a number of elements."""

    @abstractmethod
    def truth(self, node: Node) -> Typed:
        """0 or 1, worked out by branches."""


class StreamLowering(ABC):
    """Streams and strings of C++."""

    @abstractmethod
    def shift(self, node: Node) -> Typed | None:
        """Lower `stream >> a >> b` and `stream << a << b`; None for other shifts."""

    @abstractmethod
    def stream(self, node: Node | None) -> tuple[Expr, str] | None:
        """Return the place and kind of a stream that is named; None for what is none."""

    @abstractmethod
    def line(self, arguments: list[Node], span: Span) -> Typed | None:
        """Lower `getline(stream, text)`; None when it is that of C."""

    @abstractmethod
    def concatenate(self, left: Typed, right: Typed, span: Span) -> Typed | None:
        """Lower `a + b` where one is a string; None for other sums."""

    @abstractmethod
    def assign(self, place: Expr, type_: Container, name: str, value: Typed, span: Span) -> None:
        """Assign a string to another, or append it."""


class LambdaLowering(ABC):
    """Lambdas of a function."""

    known: dict[int, Node]
    """Lambdas by the variable that is declared with them."""

    @abstractmethod
    def value(self, node: Node) -> Typed:
        """Return a lambda that is passed on."""

    @abstractmethod
    def by_name(self, name: str) -> Node | None:
        """Return the lambda that a variable was declared with."""

    @abstractmethod
    def call(self, function: Node, node: Node) -> Typed:
        """Run the lambda `function` for the call `node`."""

    @abstractmethod
    def leave(self, value: Node | None, end: Span) -> bool:
        """Lower a `return` when it belongs to a lambda."""


class LocalLowering(ABC):
    """Declarations of local variables."""

    @abstractmethod
    def array_type(self, type_: Array, value: Node) -> Type:
        """Return the type of an array with its length, which its initialiser says."""

    @abstractmethod
    def declaration(self, node: Node) -> None:
        """Lower a declaration: its variables and what they start with."""


class ExpressionBuilder(ABC):
    """The expressions of one function, with the state that all topics share."""

    __deletable__ = ("calling", "function", "lambdas", "operators", "places", "streams")

    calling: CallLowering
    places: LvalueLowering
    operators: OperatorLowering
    streams: StreamLowering

    def __init__(self, outer: Outer, blocks: Blocks, scopes: Scopes) -> None:
        self.outer, self.types = outer, outer.types
        self.blocks, self.scopes = blocks, scopes
        self.record = ""
        """Class the function is a member of."""
        self.statics: list[str] = []
        """Global names of the static variables, by `-1 - number`."""
        self.calls: set[str] = set()
        self.reads: set[str] = set()
        self.cut = False
        self.choosing = False
        """Whether the condition of a `?:` is being lowered."""
        self.fixed: Span | None = None
        """The place of the macro whose text is being lowered."""
        self.depth = 0
        self.lambdas: LambdaLowering | None = None
        """What is known of lambdas; None outside of functions."""
        self.function: FunctionBuilder | None = None
        """The statements around the expression; None outside of functions."""

    @abstractmethod
    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""

    @abstractmethod
    def this(self, node: Node) -> Typed:
        """Return `this`."""

    @abstractmethod
    def value(self, node: Node | None) -> Typed:
        """Return the value of an expression; arrays as pointers to their first element."""

    @abstractmethod
    def address(self, node: Node | None) -> Typed:
        """Return the address of an lvalue, and the type of what is there."""

    @abstractmethod
    def branch(self, node: Node | None, then: int, other: int) -> None:
        """End the block with a branch on a condition; `&&`, `||` and `!` become branches."""

    @abstractmethod
    def misread(self, node: Node) -> Node | None:
        """Return the "cast" at the left end of a condition such as `(p) && (p->n) == 3`, which the
        parser takes for `((p) &(&(p->n))) == 3`: no program takes the address of an address.
        """

    @abstractmethod
    def signature(self, name: str) -> FunctionType | None:
        """Return the type of a function that the file or a header of the project declares, of this
        one without its parameters; None when none does.
        """

    @abstractmethod
    def installed_function(self, name: str) -> FunctionType | None:
        """Return the type of a function that a header outside of the project declares."""

    @abstractmethod
    def cast_to(self, node: Node) -> Type | None:
        """Return the number type whose name alone is in brackets, if it does."""

    @abstractmethod
    def brackets_type(self, node: Node) -> bool:
        """Return whether the name of a type, as nothing else has that name, is alone in
        brackets.
        """

    def as_type(self, typed: Typed, to: Type, span: Span, *, explicit: bool = False) -> Expr:
        """Return the value converted to a type."""
        expr, from_ = typed
        if isinstance(to, Reference):
            to = to.inner
        if from_ is to or to is ANY or to is VOID or isinstance(to, (Record, Container)):
            return expr
        if isinstance(expr, nodes.Const) and isinstance(to, Pointer):
            return nodes.Null() if expr.value == 0 else nodes.Cast(expr, from_, to, explicit, span)
        return nodes.Cast(expr, from_, to, explicit, (0, 0) if self.fixed else span)

    def span(self, node: Node) -> Span:
        """Return where `node` is written in the file."""
        return self.fixed or (node.start_byte, node.end_byte)

    @staticmethod
    def unknown(type_: Type = ANY) -> Typed:
        """Return a value nothing is known about."""
        return nodes.Unknown(type_), type_

    def spill(self, typed: Typed) -> Typed:
        """Return a place that holds a value which has none."""
        slot = self.scopes.declare("", typed[1])
        self.blocks.add(Eval(nodes.Store(nodes.Local(slot), typed[0], typed[1], (0, 0))))
        return nodes.Local(slot), typed[1]

    def load(self, address: Expr, type_: Type, span: Span) -> Typed:
        """Return what is at an address, as a value."""
        if isinstance(type_, Reference):
            return self.load(nodes.Load(address, type_, span), type_.inner, span)
        if isinstance(type_, Array):
            return nodes.Decay(address, self.types.size(type_)), pointer_to(type_.inner)
        if isinstance(type_, FunctionType):
            return address, type_
        return nodes.Load(address, type_, span), type_

    def expand(self, node: Node, span: Span) -> Typed:
        """Return the value of the text of a macro, placed where the macro is used."""
        return self.within(self.value, node, span)

    def within(self, lower: Callable[[Node], Lowered], node: Node, span: Span) -> Lowered:
        """Return what `lower` makes of the text of a macro, placed where the macro is used; the
        macro is left."""
        before, self.fixed = self.fixed, self.fixed or span
        found = lower(node)
        self.fixed = before
        self.outer.macros.leave()
        return found

    def through_reference(self, address: Expr, type_: Type, span: Span) -> Typed:
        """Return the place itself, for one reached through a reference."""
        if isinstance(type_, Reference):
            return nodes.Load(address, type_, span), type_.inner
        return address, type_


class FunctionBuilder(ABC):
    """The statements of one function."""

    __deletable__ = ("lambdas", "locals", "of")

    of: ExpressionBuilder
    lambdas: LambdaLowering
    locals: LocalLowering

    def __init__(self, outer: Outer, globals_: dict[str, GlobalIR], path: str) -> None:
        self.outer, self.types, self.path = outer, outer.types, path
        self.globals = globals_
        self.blocks, self.scopes = Blocks(MOST_INSTRUCTIONS), Scopes()
        self.name = self.shape = ""
        self.result: Type = VOID

    @abstractmethod
    def statement(self, node: Node | None) -> None:
        """Lower one statement."""

    @abstractmethod
    def children(self, node: Node) -> None:
        """Lower all of a node, one after the other."""

    @abstractmethod
    def statement_expression(self, node: Node) -> Typed:
        """Return the value of GNU's `({ ... })`: that of its last statement."""

    @abstractmethod
    def end_of(self, node: Node) -> Span:
        """Return the last byte of a node, its closing brace for one: where the objects in it
        end.
        """

    @abstractmethod
    def destroy(self, objects: list[tuple[int, str]], at: Span) -> None:
        """Run the destructors of objects whose scope ends at a place."""
