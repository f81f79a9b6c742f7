"""What is interpreted: functions as blocks of small instructions over typed expressions.

Expressions and instructions are plain tuples whose first member is one of the numbers below:
they pickle small, are shared freely and dispatch by index. An address expression gives a
pointer, a value expression what is stored there. Spans are pairs of byte offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

Type = tuple[Any, ...]
"""A C type as a tuple; see `c_types`."""
Span = tuple[int, int]
"""Bytes from and up to."""
Number = int | float
"""A number of the program, exact unless it has a fraction. (`float` would allow the same, but read
by a compiler of Python it is a machine number, and 2**63 + 1 is none.)"""
Expr = tuple[Any, ...]
Instr = tuple[Any, ...]

# expressions
CONST: Final = 0
"""`(CONST, number, type)`"""
STR: Final = 1
"""`(STR, bytes, unit)`: a string literal; `unit` is the size of a character."""
LOCAL: Final = 2
"""`(LOCAL, slot)`: address of a local variable."""
GLOBAL: Final = 3
"""`(GLOBAL, name)`: address of a variable of file or program scope."""
FUNC: Final = 4
"""`(FUNC, name)`: a function as a value."""
LOAD: Final = 5
"""`(LOAD, address, type, span)`"""
STORE: Final = 6
"""`(STORE, address, value, type, span)`: gives the value."""
FIELD: Final = 7
"""`(FIELD, address, offset, type)`: address of a member; the offset is `(record, member, offset)`
when the record is in another file."""
INDEX: Final = 8
"""`(INDEX, pointer, index, element size, span)`: pointer arithmetic in elements; the size is a type
when that is in another file."""
BIN: Final = 9
"""`(BIN, operator, left, right, type, span)`: arithmetic in `type`."""
CMP: Final = 10
"""`(CMP, operator, left, right, type, span)`: `type` is that of the operands."""
NOT: Final = 11
"""`(NOT, value)`"""
NEG: Final = 12
"""`(NEG, value, type, span)`"""
COMPL: Final = 13
"""`(COMPL, value, type)`"""
CAST: Final = 14
"""`(CAST, value, from, to, explicit, span)`"""
STEP: Final = 15
"""`(STEP, address, type, delta, postfix, span)`: `++` and `--`; `delta` is in bytes, or a type with
the number of elements."""
TEMP: Final = 16
"""`(TEMP, number)`: what a call or a branch left."""
SIZEOF: Final = 17
"""`(SIZEOF, number or type, place, span)`: `place` is the address of the operand when that is a
pointer."""
UNKNOWN: Final = 18
"""`(UNKNOWN, type)`"""
PTRDIFF: Final = 19
"""`(PTRDIFF, left, right, element size)`; the size may be a type."""
NULL: Final = 20
"""`(NULL,)`"""
DECAY: Final = 21
"""`(DECAY, address, extent)`: an array of `extent` bytes as a pointer to its first element."""
BITAND: Final = 22
"""`(BITAND, left, right, span)`: `&` between two truth values, which does not short-circuit."""
ELSE: Final = 23
"""`(ELSE, value, number)`: a number, or another one where it is 0: `n ? n : 1`."""

# instructions
EVAL: Final = 0
"""`(EVAL, expression)`"""
SET: Final = 1
"""`(SET, temp, expression)`"""
CALL: Final = 2
"""`(CALL, temp, target, arguments, result type, span, argument types)`: `target` is a name, or an
expression for a call through a pointer."""
DECLARE: Final = 3
"""`(DECLARE, slot, span)`: a variable comes to life, without a value."""
CLEAR: Final = 4
"""`(CLEAR, address, type)`: all of it zero, before an initialiser list."""
NEW: Final = 5
"""`(NEW, temp, type, count or None, element size, span, may fail, all zero)`"""
DELETE: Final = 6
"""`(DELETE, pointer, is array, type, span)`"""
METHOD: Final = 7
"""`(METHOD, temp, object address, class, name, arguments, result type, span, argument types)`:
`class` is empty when it is not known."""
MACRO: Final = "#"
"""Begins the name that a call of a macro has which could not be put in."""
ALLOCA: Final = 8
"""`(ALLOCA, slot, count, element size, span)`: an array whose length is no constant; the size may
be a type."""

RCALL: Final = 9
"""`(RCALL, temp, name, arguments, result type, span, more)`: a function or an effect of Rust; see
`library.rust_functions`."""

# ends of blocks
JUMP: Final = 0
"""`(JUMP, block)`"""
IF: Final = 1
"""`(IF, condition, block when true, block when false, span, defensive)`: the last only, and true,
for a condition of `?:` in a macro, which tells nothing about what the macro is used for."""
SWITCH: Final = 2
"""`(SWITCH, value, ((low, high, block), ...), default block, span)`"""
RETURN: Final = 3
"""`(RETURN, value or None, span)`"""
STOP: Final = 4
"""`(STOP,)`: does not continue."""
THROW: Final = 5
"""`(THROW, span)`: an exception leaves the function."""


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


@dataclass(slots=True)
class GlobalIR:
    """A variable of file scope, or a static one of a function."""

    name: str
    type: Type
    static: bool
    constant: bool
    """Declared `const`."""
    init: tuple[Instr, ...] | None
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
    blocks: tuple[tuple[tuple[Instr, ...], Instr], ...]
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
    prototypes: dict[str, Type] = field(default_factory=dict)
    """Functions declared or defined: `("fn", result, parameters, variadic)`."""
    written: frozenset[str] = frozenset()
    """Globals that some function may change."""
    digest: str = ""
    """Of the text it comes from."""
    stops: frozenset[str] = frozenset()
    """Functions that it declares not to return."""
    failed: tuple[str, ...] = ()
    """Keys of functions that could not be lowered, because that raised."""
