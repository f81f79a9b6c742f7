"""The abstract base of the interpreter: what checks, models and transfer functions ask it for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import AbstractValue
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.domain.lookup import Lookup
from jarvis_ls.jsec.flow.domain.memory_regions import Frame, RegionTable
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import Integer, Pointer, Type

Outcome = tuple[AbstractState, "AbstractValue | None"]
Effects = Mapping[str, tuple[tuple[Any, ...], ...]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run from a root.

    Chosen by what is found for what is spent: twice as much for calls finds a tenth more in large
    programs, hardly any of it certain; half as much begins to miss what small ones hold.
    """

    fuel: int = 400
    """Instructions, besides a number for each instruction of the root itself."""
    per_instruction: int = 3
    """How many times each instruction of the root may be passed."""
    depth: int = 9
    """Calls inside of calls."""
    ways: int = 6
    """States kept apart at one place."""
    rounds: int = 2
    """Times a loop is passed before it is widened."""
    share: int = 60
    """Instructions a call may take at least, of what is left."""
    part: int = 8
    """What part of what is left a call may take: one call must not be all that is followed."""
    begun: int = 2
    """How many times its own instructions must be left for a call to be begun, unless with all it
    calls it is small. Of what was followed inside of calls half was in some that did not come to
    their end; this tells nearly half of those beforehand, for a fourteenth of the others."""
    inside: int = 80
    """Instructions of all calls together, besides `inside_per_instruction` for each of the root."""
    inside_per_instruction: int = 2
    """Instructions of calls for each of the root."""
    stepping: int = 300
    """Instructions that calls may spend besides on loops in which everything is known: few do, and
    what is in an array that only part of was given a value shows nowhere else."""
    callee: int = 400
    """Instructions of the largest function that is entered from another."""


class Engine(RegionTable):
    """What a run shares with the parts of the analysis below it: budget, call stack and faults.

    The fixpoint above implements the methods; so checks and models call it without importing it.
    """

    def __init__(
        self, program: Lookup, limits: Limits | None = None, own: Effects | None = None
    ) -> None:
        """Take the program, bounds, and the effects of functions the user named, in the words of
        `library.c_functions`."""
        super().__init__(program)
        self.limits = limits or Limits()
        self.own = own or {}
        self.faults: dict[tuple[str, str, Span], Fault] = {}
        self.released: set[tuple[str, Span]] = set()
        """File and place of the allocations that some way of this root releases, or hands on."""
        self.losses: dict[tuple[str, str, Span], tuple[str, Span]] = {}
        """Leaks that may be meant, by the key of the fault, with the place of the allocation."""
        self.block = 0
        """Block of the current function whose branch is followed."""
        self.fuel = 0
        """Instructions that are left."""
        self.stack: list[FunctionIR] = []
        self.witness: Callable[[FunctionIR, list[AbstractValue]], None] | None = None
        """Told what each call of a function of the program passes; mostly no one is."""

    @abstractmethod
    def assume(self, state: AbstractState, condition: Expr) -> bool:
        """Refine a state by a condition; return whether it can hold."""

    @abstractmethod
    def takes_up(self, function: FunctionIR) -> bool:
        """Return whether the budget allows to follow a call."""

    @abstractmethod
    def run_call(self, frame: Frame, state: AbstractState) -> list[Outcome] | None:
        """Run a function that is called; None when its share of the budget was not enough."""

    @abstractmethod
    def fault(
        self,
        state: AbstractState,
        kind: str,
        span: Span,
        *,
        certain: bool,
        source: Any = None,
        causes: tuple[Any, ...] = (),
        where: Any = None,
        doubtful: bool = False,
        **args: str,
    ) -> None:
        """Note a flaw at a place of the current function. `source` is the step at which input
        came in, `causes` are steps that it comes from, `where` is the region it is about."""

    @abstractmethod
    def fault_in(
        self,
        function: FunctionIR,
        state: AbstractState,
        kind: str,
        span: Span,
        *,
        certain: bool,
        causes: tuple[Any, ...],
        doubtful: bool = False,
        **args: str,
    ) -> None:
        """Note a flaw at a place of a function around the current one."""

    @abstractmethod
    def note_reached(
        self,
        state: AbstractState,
        kind: str,
        span: Span,
        *,
        source: Any = None,
        causes: tuple[Any, ...] = (),
        where: Any = None,
    ) -> None:
        """Note a way to a place that a rule checks without flow: no flaw by itself."""

    @abstractmethod
    def taken_under(self, state: AbstractState, rid: int, span: Span) -> None:
        """Note that a lock of file scope is taken while others are held."""

    @abstractmethod
    def lock_left(
        self,
        state: AbstractState,
        frame: Frame,
        rid: int,
        taken: Any,
        value: AbstractValue | None,
        span: Span,
    ) -> None:
        """Note that a function returns with a lock that it, or what it calls, took."""

    @abstractmethod
    def returned_free(self, frame: Frame, value: AbstractValue | None, span: Span) -> None:
        """Note that a function returns without a lock."""

    @abstractmethod
    def cell(self, state: AbstractState, address: Expr) -> tuple[int, Any] | None:
        """Return the one cell a load from this address expression reads, or None."""

    def size(self, type_: Type) -> int:
        """Return the bytes of a type as the program sees it."""
        if isinstance(type_, Integer):
            return type_.size
        return 8 if isinstance(type_, Pointer) else self.size_in_file(type_)
