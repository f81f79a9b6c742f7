"""The process's standard streams, for the protocol alone.

Replaces the writer of pygls 2.1.1, where a ``print`` anywhere in the process, or in one it
starts, lands in the protocol stream.
"""

from __future__ import annotations

import os
import sys


class Streams:
    """The process's stdin and stdout, taken away from everything else in the process."""

    def __init__(self) -> None:
        self.input = os.dup(0)
        self.output = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        if sys.platform == "win32":  # no line feed may become two bytes
            import msvcrt

            for stream in (self.input, self.output):
                msvcrt.setmode(stream, os.O_BINARY)

    def write(self, data: bytes) -> None:
        """Write all of ``data``; raises `OSError` when the client is gone."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.output, view) :]

    def close(self) -> None:
        """Nothing to do: both ends close with the process."""
