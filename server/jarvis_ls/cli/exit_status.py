"""Exit statuses of all programs."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What a program tells its caller when it ends."""

    SUCCESS = 0
    FAILURE = 1
    """The result is not what was asked for: findings, differences, errors."""
    USAGE_ERROR = 2
    """Nothing was done: wrong arguments, or something that is needed is missing."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C, as shells have it."""
