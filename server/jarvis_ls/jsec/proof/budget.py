"""What proving a finding may cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """CPU seconds for one finding; rungs take from it what their runs took."""

    seconds: float
    """All that may be spent."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the user wants no more; runs under way are ended."""
    spent: float = 0.0
    """What was spent so far."""

    @property
    def left(self) -> float:
        """Return the seconds that may still be spent; none after `stop`."""
        return 0.0 if self.stop.is_set() else max(0.0, self.seconds - self.spent)

    def without(self, seconds: float) -> Budget:
        """Return a budget that keeps some seconds of this one back, half of it at most; what is
        spent of it is to be counted here."""
        return Budget(self.left - min(seconds, self.left / 2), self.stop)

    def spend(self, seconds: float) -> None:
        """Count CPU seconds."""
        self.spent += max(0.0, seconds)
