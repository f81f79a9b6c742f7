"""What is known about a region of memory at a point of the program."""

from __future__ import annotations

from typing import Any, Final, final

from jarvis_ls.jsec.flow.domain.abstract_value import NOT_NULL
from jarvis_ls.jsec.flow.ir.nodes import Number

LIVE: Final = 0
FREED: Final = 1
MAYBE_FREED: Final = 2
"""Status of an allocation: there; released; released on some way."""
UNINITIALISED: Final = 0
ZEROED: Final = 1
UNKNOWN_FILL: Final = 2
"""What a region holds where nothing was written: nothing; zero; anything."""
ENDLESS: Final = 2**63
"""A size or length without known limit."""


@final
class RegionState:
    """What is known about a region at a point. Never changed once made; `but` makes another."""

    __slots__ = tuple(
        "below escaped extent family fill fixed flags freed high locked low max_length "
        "min_length nullness open owner record site status taint text touched written".split()
    )

    def __init__(self) -> None:
        self.status = LIVE
        self.low: Number = 0
        """Least size in bytes."""
        self.high: Number = ENDLESS
        """Greatest size in bytes."""
        self.flags = 0
        """Whether the ends of the size are reached (`TIGHT`)."""
        self.nullness = NOT_NULL
        """Whether the allocation failed: no, maybe, yes."""
        self.min_length: Number = 0
        """Least number of bytes before the terminator."""
        self.max_length: Number = ENDLESS
        """Greatest, `ENDLESS` when there may be none."""
        self.taint: Any = None
        """Where input that is in it came from."""
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
        """The step that took the lock that is in it."""
        self.extent: Any = None
        """The length of a text as a symbol, when it is as large as that to the byte."""
        self.touched: Any = None
        """The function and place that last had to do with it."""

    def but(self, **changes: Any) -> RegionState:
        """Return a copy with some members changed."""
        new = RegionState()
        new.status = self.status
        new.low = self.low
        new.high = self.high
        new.flags = self.flags
        new.nullness = self.nullness
        new.min_length = self.min_length
        new.max_length = self.max_length
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

    def same(self, other: RegionState) -> bool:
        """Return whether both know the same."""
        return (
            self.status == other.status
            and self.low == other.low
            and self.high == other.high
            and self.flags == other.flags
            and self.nullness == other.nullness
            and self.min_length == other.min_length
            and self.max_length == other.max_length
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
        """Return what tells it from others."""
        return (
            self.status,
            self.low,
            self.high,
            self.nullness,
            self.min_length,
            self.max_length,
            self.taint is None,
            self.text,
            self.escaped,
            self.family,
            self.written,
        )
