"""What is known about a region of memory at a point of the program."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.ir import Number

LIVE: Final = 0
FREED: Final = 1
MAYBE_FREED: Final = 2
UNINITIALISED: Final = 0
ZEROED: Final = 1
UNKNOWN_FILL: Final = 2
ENDLESS: Final = 2**63


class Reg:
    """What is known about a region at a point. Never changed once made; `but` makes another."""

    __slots__ = (
        "below",
        "escaped",
        "extent",
        "family",
        "fill",
        "fixed",
        "flags",
        "freed",
        "hi",
        "len_hi",
        "len_lo",
        "lo",
        "locked",
        "null",
        "open",
        "owner",
        "record",
        "site",
        "status",
        "taint",
        "text",
        "touched",
        "written",
    )

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
        new = Reg()
        new.status = self.status
        new.lo = self.lo
        new.hi = self.hi
        new.flags = self.flags
        new.null = self.null
        new.len_lo = self.len_lo
        new.len_hi = self.len_hi
        new.taint = self.taint
        new.text = self.text
        new.fixed = self.fixed
        new.escaped = self.escaped
        new.family = self.family
        new.fill = self.fill
        new.site = self.site
        new.freed = self.freed
        new.record = self.record
        new.written = self.written
        new.owner = self.owner
        new.open = self.open
        new.below = self.below
        new.locked = self.locked
        new.extent = self.extent
        new.touched = self.touched
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def same(self, other: Reg) -> bool:
        """Whether both know the same."""
        return (
            self.status == other.status
            and self.lo == other.lo
            and self.hi == other.hi
            and self.flags == other.flags
            and self.null == other.null
            and self.len_lo == other.len_lo
            and self.len_hi == other.len_hi
            and self.taint == other.taint
            and self.text == other.text
            and self.fixed == other.fixed
            and self.escaped == other.escaped
            and self.family == other.family
            and self.fill == other.fill
            and self.site == other.site
            and self.freed == other.freed
            and self.record == other.record
            and self.written == other.written
            and self.owner == other.owner
            and self.open == other.open
            and self.below == other.below
            and self.locked == other.locked
            and self.extent == other.extent
            and self.touched == other.touched
        )

    def key(self) -> tuple[Any, ...]:
        """What tells it from others."""
        return (self.status, self.lo, self.hi, self.null, self.len_lo, self.len_hi,
                self.taint is None, self.text, self.escaped, self.family, self.written)  # fmt: skip
