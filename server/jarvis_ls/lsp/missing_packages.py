"""What to install, where packages that only agents need are missing."""

from __future__ import annotations

import sys

from jarvis_ls.core.errors import UsageError, missing_package
from jarvis_ls.lsp.user_messages import Messages


def ask_for_packages(error: ModuleNotFoundError, say: Messages) -> UsageError:
    """Return what the user is told. Raises `error` again when a module of ours is missing."""
    return UsageError(
        say(
            "The packages for agents are not installed ({name} is missing)."
            " Run: {python} -m pip install 'jarvis-ls[agent]'",
            name=missing_package(error),
            python=sys.executable,
        )
    )
