"""Typed expressions, which the instructions of a function are made over.

Expressions are plain tuples whose first member is one of the numbers below: they are shared
freely and dispatch by index. An address expression gives a pointer, a value expression what is
stored there. Spans are pairs of byte offsets.
"""

from __future__ import annotations

from typing import Any, Final

Type = tuple[Any, ...]
"""A C type as a tuple; see `c_types`."""
Span = tuple[int, int]
"""Bytes from and up to."""
Number = int | float
"""A number of the program, exact unless it has a fraction. (`float` would allow the same, but read
by a compiler of Python it is a machine number, and 2**63 + 1 is none.)"""
Expr = tuple[Any, ...]

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

MACRO: Final = "#"
"""Begins the name that a call of a macro has which could not be put in."""
