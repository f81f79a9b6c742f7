"""What is known about a region of memory at a point of the program."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow.ir import Number

LIVE, FREED, MAYBE_FREED = 0, 1, 2
UNINITIALISED, ZEROED, UNKNOWN_FILL = 0, 1, 2
ENDLESS = 2**63


class Reg:
    """What is known about a region at a point. Never changed once made; `but` makes another."""

    def __init__(self) -> None:
        self.status = LIVE
        self.lo: Number = 0
        """Least size in bytes."""
        self.hi: Number = ENDLESS
        """Greatest size in bytes."""
        self.flags = 0
        """Whether the ends of the size are reached (`TIGHT`)."""
        self.null = 0
        """Whether the allocation failed: no, maybe, yes."""
        self.len_lo: Number = 0
        """Least number of bytes before the terminator."""
        self.len_hi: Number = ENDLESS
        """Greatest, `ENDLESS` when there may be none."""
        self.taint: Any = None
        """Where input that lies in it came from."""
        self.text: bytes | None = None
        """The string in it, when known."""
        self.fixed = False
        """A literal was copied to it as a block."""
        self.escaped = False
        """Given to code that is not seen."""
        self.family = ""
        """What allocated it."""
        self.fill = UNKNOWN_FILL
        self.site: Any = None
        """The step of its allocation."""
        self.freed: Any = None
        """The step of its release."""
        self.record = ""
        """Class of the object in it."""
        self.written: Number = 0
        """Byte after the last that may have been written; for arrays that are not initialised."""
        self.owner: Any = None
        """The step that gave it to a smart pointer, which releases it."""
        self.open: Number = 0
        """Bytes of a text without terminator at its start; nothing was ever put behind them."""
        self.below = False
        """Input was put behind what was there before."""
        self.locked: Any = None
        """The step that took the lock that lies in it."""
        self.extent: Any = None
        """The length of a text, as `Val.sym` has it, when it is as large as that to the byte."""
        self.touched: Any = None
        """The function and place that last had to do with it."""

    def but(self, **changes: Any) -> Reg:
        """A copy with some members changed."""
        new = Reg.__new__(Reg)
        new.__dict__ = {**self.__dict__, **changes}  # they are copied a lot: the fastest way
        return new

    def key(self) -> tuple[Any, ...]:
        """What tells it from others."""
        return (self.status, self.lo, self.hi, self.null, self.len_lo, self.len_hi,
                self.taint is None, self.text, self.escaped, self.family, self.written)  # fmt: skip
