"""How every command begins and ends: its arguments, its streams, its errors, its exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from jarvis_ls.cli.language import speak
from jarvis_ls.core.errors import JarvisError

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def run(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, *, interrupted: str = ""
) -> int:
    """What `parser.parse_args(arguments).run` returns as an exit status.

    An error of ours is one line on standard error and status 2. `interrupted` is said when the
    user stops the command.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        if interrupted:
            print(f"{parser.prog}: {speak(interrupted)}", file=sys.stderr)
        return INTERRUPTED
    except JarvisError as error:
        print(f"{parser.prog}: {speak(str(error))}", file=sys.stderr)
        return 2
