"""What the topics of lowering Rust share: the builder of a function, and each other by abstract
class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.instructions import CallRust, Declare, Eval
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.rust_types import (
    NEVER,
    UNIT,
    RustTypes,
    is_scalar,
    place_of,
    shape,
    width,
)
from jarvis_ls.jsec.flow.ir.types import (
    Adt,
    Box,
    Option,
    Result,
    Tuple,
    Type,
    Vector,
    integer,
    pointer_to,
)
from jarvis_ls.jsec.flow.lower.builder import MOST_INSTRUCTIONS, Blocks, Scopes, span_of

Typed = tuple[Expr, Type]
NOTHING: Expr = nodes.Const(0, integer(4, True))
Visit = Callable[[Node, Type], Typed]
_MAX_LEAVES = 4


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives."""

    params: tuple[Type, ...]
    """Types of its parameters, without `self`."""
    result: Type
    has_self: bool
    """Whether it is called on a value."""


@dataclass(slots=True)
class Outer:
    """What a file declares."""

    path: str
    types: RustTypes
    constants: dict[str, int]
    """Numbers by name."""
    globals: dict[str, Type] = field(default_factory=dict)
    """Types of constants and static variables."""
    signatures: dict[str, Signature] = field(default_factory=dict)
    """By full name."""
    structs: dict[str, dict[str, Node]] = field(default_factory=dict)
    """Types of the members of each struct, as they are written."""
    methods: dict[str, set[str]] = field(default_factory=dict)
    """The types that have a function with a name."""
    foreign: set[str] = field(default_factory=set)
    """Functions of another language that it declares."""
    plain: set[str] = field(default_factory=set)
    """Functions that other languages may call."""
    dropping: set[str] = field(default_factory=set)
    """Types that carry something out when they are dropped."""
    several: set[str] = field(default_factory=set)
    """Names that several functions have."""

    def member(self, record: str, name: str) -> Type:
        """Return the type of a member."""
        return self.types.of(self.structs.get(record, {}).get(name), record)


@dataclass(slots=True)
class Loop:
    """A loop or labelled block that is being lowered."""

    name: str
    leave: int
    """Label behind it."""
    again: int
    """Label of the next round; 0 for a block."""
    temp: int
    """What `break` gives."""
    depth: int
    """Scopes around it."""
    type: Type = NEVER
    """Of what `break` gives."""


class ValueLowering(ABC):
    """Literals and values that are put together."""

    @abstractmethod
    def make(self, variant: str, members: list[tuple[str, Expr]], type_: Type) -> Typed:
        """Return a value with members, by name."""


class OperatorLowering(ABC):
    """Unary and binary operators."""

    @abstractmethod
    def operands(self, left: Node, right: Node) -> tuple[Expr, Expr, Type]:
        """Both sides of an operator in one type."""


class ControlLowering(ABC):
    """Control flow."""

    visits: dict[str, Visit]
    """What lowers an expression, by kind of node."""

    @abstractmethod
    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""

    @abstractmethod
    def branch(self, node: Node, yes: int, no: int) -> None:
        """Go on at `yes` or `no`; what patterns bind is visible from here on."""

    @abstractmethod
    def truth(self, node: Node) -> Typed:
        """Return a condition as a value."""

    @abstractmethod
    def truth_of(self, node: Node) -> Typed:
        """Return whether the one arm of a `match` is taken."""

    @abstractmethod
    def either(self, yes: int, other: int) -> None:
        """Continue at both blocks, whatever decides it: no choice worth a step."""

    @abstractmethod
    def inline(self, node: Node, values: list[Typed]) -> Typed:
        """Return the value of a closure that is run in place."""


class PatternLowering(ABC):
    """Patterns."""

    @abstractmethod
    def test(self, pattern: Node, address: Expr, type_: Type, failed: int) -> None:
        """Continue where what is at an address is of a pattern, else at `failed`."""

    @abstractmethod
    def bind(self, pattern: Node, address: Expr, type_: Type) -> None:
        """Declare what a pattern binds, with its values."""

    @abstractmethod
    def declare(self, pattern: Node, type_: Type) -> None:
        """Declare what a pattern binds, without values."""


class ExpressionLowering(ABC):
    """Expressions."""

    values: ValueLowering
    operators: OperatorLowering

    @abstractmethod
    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""

    @abstractmethod
    def value(self, node: Node | None, wanted: Type = ANY) -> Typed:
        """Return the value of an expression, with its type; `wanted` is the type expected of it."""

    @abstractmethod
    def move(self, node: Node, wanted: Type) -> Typed:
        """Return a value that is passed on: what owned it before owns it no more."""

    @abstractmethod
    def address(self, node: Node, wanted: Type = ANY) -> Typed:
        """Return the address of what an expression gives; where it is nowhere, it is put
        somewhere.
        """

    @abstractmethod
    def passing(self, node: Node, wanted: Type = ANY) -> Typed:
        """Return the address of what an expression gives; a value of its own is dropped with the
        statement."""

    @abstractmethod
    def place(self, node: Node) -> Typed | None:
        """Return where an expression is; None when it is a value of its own."""

    @abstractmethod
    def dereference(self, address: Expr, type_: Type) -> Typed:
        """Return the place that a place of references leads to."""

    @abstractmethod
    def is_raw(self, node: Node) -> bool:
        """Return whether a place is reached through a raw pointer."""

    @abstractmethod
    def type_of(self, node: Node) -> Type:
        """Return the type of an expression, as far as it can be known without carrying it out."""

    @abstractmethod
    def coerce(self, value: Expr, from_: Type, to: Type) -> Expr:
        """Return a reference to an array or vector as a slice."""

    @abstractmethod
    def as_type(self, value: Expr, from_: Type, to: Type) -> Expr:
        """Return a number in another type that holds it."""

    @abstractmethod
    def elements(self, address: Expr, type_: Type) -> tuple[Expr, Expr]:
        """Address of the first element and number of elements of what is at an address."""

    @abstractmethod
    def borrow(self, address: Expr) -> None:
        """Note that the address of a place is taken: it must not be used when the place is gone."""


class FunctionBuilder(ABC):
    """One function: its blocks, its variables, and what is dropped where scopes end."""

    of: ExpressionLowering
    patterns: PatternLowering
    control: ControlLowering

    def __init__(self, outer: Outer) -> None:
        self.outer = outer
        self.types = outer.types
        self.blocks = Blocks(MOST_INSTRUCTIONS)
        self.scopes = Scopes()
        self.record = ""
        self.result: Type = ANY
        self.calls: set[str] = set()
        self.reads: set[str] = set()
        self.cut = False
        self.depth = 0
        self.fixed: Span | None = None
        """The macro that is being lowered: what is in it has its place."""
        self.slots: list[Type] = []
        """Rust types of the variables."""
        self.owned: list[list[int]] = [[]]
        """Variables of each scope, in order."""
        self.borrowed: set[int] = set()
        """Variables whose address is taken."""
        self.passing: list[nodes.Local] = []
        """Addresses of what the statement drops at its end."""
        self.loops: list[Loop] = []
        self.closures: list[Loop] = []

    @abstractmethod
    def block(self, node: Node, wanted: Type = ANY) -> Typed:
        """Return a block as a value."""

    @abstractmethod
    def keep(self, node: Node, wanted: Type) -> Typed:
        """Return a value that outlives what the statement or scope around it drops."""

    @abstractmethod
    def give(self, value: Expr, span: Span) -> None:
        """Leave the function with a value, after what it owns is dropped."""

    def declare(self, name: str, type_: Type, span: Span) -> int:
        """Return a new variable."""
        slot = self.scopes.declare(name, shape(type_))
        self.slots.append(type_)
        self.owned[-1].append(slot)
        self.blocks.add(Declare(slot, span))
        return slot

    def store(self, address: Expr, value: Expr, type_: Type, span: Span = (0, 0)) -> None:
        """Put a value to a place; `span` is that of a raw pointer that is written through."""
        if span != (0, 0):
            self.call("@deref", [address], ANY, span, (width(type_),))
        if is_scalar(type_):
            self.blocks.add(Eval(nodes.Store(address, value, shape(type_), span)))
        else:
            self.call("@put", [address, value], ANY, span)

    def load(self, address: Expr, type_: Type, span: Span = (0, 0)) -> Expr:
        """Return what is at a place."""
        if span != (0, 0):
            self.call("@deref", [address], ANY, span, (width(type_),))
        if is_scalar(type_):
            return nodes.Load(address, shape(type_), span)
        return self.call("@get", [address], type_, span)

    def call(
        self, name: str, args: list[Expr], type_: Type, span: Span, extra: tuple[object, ...] = ()
    ) -> Expr:
        """Carry out a function or an effect; gives its value."""
        temp = self.blocks.temp()
        self.blocks.add(CallRust(temp, name, tuple(args), shape(type_), span, extra))
        return nodes.Temp(temp)

    def spill(self, value: Expr, type_: Type) -> nodes.Local:
        """Return the address of a value that is nowhere yet."""
        slot = self.declare("", type_, (0, 0))
        self.owned[-1].pop()
        self.store(nodes.Local(slot), value, type_)
        return nodes.Local(slot)

    def span(self, node: Node) -> Span:
        """Return the bytes of a node, or of the macro it comes from."""
        return self.fixed or span_of(node)

    def open(self) -> None:
        """Enter a scope."""
        self.scopes.open()
        self.owned.append([])

    def close(self, span: Span) -> None:
        """Leave a scope: what it owns is dropped, last first."""
        self._drop_all(self.owned.pop(), span)
        self.scopes.close()

    def leave(self, depth: int, span: Span) -> None:
        """Drop what the scopes from `depth` inwards own, before a jump out of them."""
        for scope in reversed(self.owned[depth:]):
            self._drop_all(scope, span)

    def _drop_all(self, slots: list[int], span: Span) -> None:
        for slot in reversed(slots):
            self.drop(nodes.Local(slot), self.slots[slot], span)
        for slot in reversed(slots):
            if slot in self.borrowed:
                self.call("@dead", [nodes.Local(slot)], ANY, span)

    def drop(self, address: Expr, type_: Type, span: Span) -> None:
        """Drop a value: it ends its life."""
        if not self.blocks.live:
            return
        if isinstance(type_, Adt) and type_.name in self.outer.dropping:
            self.function(f"{type_.name}::drop", [address], UNIT, (0, 0))
        for offset, family in self.leaves(type_):
            place = nodes.Field(address, offset, pointer_to(ANY)) if offset else address
            self.call("@drop", [place], ANY, span, (family,))

    def leaves(self, type_: Type, depth: int = 0) -> list[tuple[int, str]]:
        """Return the offsets in a value where owned memory is, and what allocated that."""
        if isinstance(type_, Box):
            return [(0, "CString" if type_.inner == integer(1, True) else "Box")]
        if isinstance(type_, Vector):
            return [(place_of("ptr"), "Vec")]
        inner: list[tuple[str, Type]] = []
        if isinstance(type_, (Option, Result)):
            inner = [("0", type_.inner)]
        elif isinstance(type_, Tuple):
            inner = [(str(index), member) for index, member in enumerate(type_.members)]
        elif isinstance(type_, Adt) and depth < _MAX_LEAVES:
            members = self.outer.structs.get(type_.name, {})
            inner = [(name, self.types.of(node, type_.name)) for name, node in members.items()]
        return [
            (place_of(name) + offset, family)
            for name, member in inner
            if depth < _MAX_LEAVES
            for offset, family in self.leaves(member, depth + 1)
        ]

    def mark_moved(self, address: Expr, type_: Type) -> None:
        """Note that a value was moved out of a place."""
        if self.leaves(type_):
            self.call("@moved", [address], ANY, (0, 0))

    def function(self, full: str, args: list[Expr], type_: Type, span: Span) -> Expr:
        """Call a function of Rust by its full name."""
        name = full if full in self.outer.plain else f"fn {full}"
        self.calls.add(name)
        return self.call(name, args, type_, span)
