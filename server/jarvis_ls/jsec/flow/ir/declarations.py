"""What a file declares: functions as blocks of instructions, variables, records."""

from __future__ import annotations

from dataclasses import dataclass, field

from jarvis_ls.jsec.flow.ir.instructions import Block, Instruction
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import FunctionType, Type


@dataclass(slots=True)
class RecordIR:
    """A struct, union or class."""

    name: str
    fields: dict[str, tuple[int, Type]] = field(default_factory=dict)
    """Member to its offset in bytes and type."""
    size: int = 0
    """Bytes; 0 when not known."""
    bases: tuple[str, ...] = ()
    """Names of the base classes."""
    methods: frozenset[str] = frozenset()
    """Member functions declared in it."""
    virtual: frozenset[str] = frozenset()
    """Those declared virtual."""
    statics: frozenset[str] = frozenset()
    """Static data members."""
    align: int = 1
    """Bytes it is aligned to."""
    given: frozenset[str] = frozenset()
    """Data members that are declared with a value."""
    bit_fields: frozenset[str] = frozenset()
    """Those that take some bits of their type only."""


@dataclass(slots=True)
class GlobalIR:
    """A variable of file scope, or a static one of a function."""

    name: str
    type: Type
    static: bool
    constant: bool
    """Declared `const`."""
    init: tuple[Instruction, ...] | None
    """What its initialiser stores, as instructions without calls; None without initialiser."""
    extern: bool = False
    """Only declared here."""


@dataclass(slots=True)
class FunctionIR:
    """One function."""

    name: str
    """Qualified for members: `Class::method`."""
    file: str
    static: bool
    params: tuple[int, ...]
    """Slots of the parameters; that of `this` first in member functions."""
    slots: tuple[tuple[str, Type], ...]
    """Name and type of every local variable."""
    blocks: tuple[Block, ...]
    """Instructions and end of each block; the first is the entry."""
    heads: frozenset[int]
    """Blocks that an edge from a later block goes to."""
    result: Type
    span: Span
    """Of the definition."""
    name_span: Span
    record: str = ""
    """Class it is a member of."""
    variadic: bool = False
    const: tuple[bool, ...] = ()
    """Whether what each parameter leads to is declared `const`, without `this`."""
    calls: frozenset[str] = frozenset()
    """Names of the functions it calls or takes the address of."""
    reads: frozenset[str] = frozenset()
    """Globals it mentions."""
    size: int = 0
    """How many instructions."""
    temps: int = 0
    """The highest number of a temporary."""
    handlers: dict[int, int] = field(default_factory=dict)
    """Blocks inside of `try` with the block that an exception from there goes to."""
    cut: bool = False
    """Part of it nests too deep or is not understood and was left out."""
    unsure: frozenset[str] = frozenset()
    """Variables that a branch of the preprocessor which was left out may give a value."""


@dataclass(slots=True)
class FileIR:
    """What a file holds."""

    path: str
    language: str
    functions: dict[str, FunctionIR] = field(default_factory=dict)
    globals: dict[str, GlobalIR] = field(default_factory=dict)
    records: dict[str, RecordIR] = field(default_factory=dict)
    prototypes: dict[str, FunctionType] = field(default_factory=dict)
    """Types of the functions declared or defined."""
    imported: dict[str, FunctionType] = field(default_factory=dict)
    """Functions that it calls and that only headers outside of the project declare."""
    written: frozenset[str] = frozenset()
    """Globals that some function may change."""
    digest: str = ""
    """Of the text it comes from."""
    stops: frozenset[str] = frozenset()
    """Functions that it declares not to return."""
    failed: tuple[str, ...] = ()
    """Keys of functions that could not be lowered, because that raised."""
    large: tuple[str, ...] = ()
    """Keys of functions that are not lowered, because they are too large to be followed."""
    left_out: int = 0
    """How many functions are not lowered, because the file has too many short ones."""
