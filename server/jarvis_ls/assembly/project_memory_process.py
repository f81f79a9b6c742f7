"""Learning from a project in a process of its own, see `child_request`: the request is a `Request`.

It gives way to everything else, and does nothing when the user's settings say so.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.child_request import Tell, carry_out
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.search_path import leave_out


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be learnt from."""

    root: str
    """Top of a work tree that the user trusts."""


def _learn(request: Request, _tell: Tell) -> dict[str, Any]:
    from jarvis_ls.assembly.project_memory import learn_project
    from jarvis_ls.assembly.settings_file import read_settings, section
    from jarvis_ls.runtime.base.options import read_options

    root, home = Path(request.root), user_folder()
    leave_out(root)
    if not read_options(settings=section(read_settings(home), "agent")).learn_project:
        return {}
    kept = learn_project(home, root, os.environ)
    return {} if kept is None else asdict(kept)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(10)
    sys.exit(carry_out(sys.argv[1:], Request, _learn))
