"""The errors a user can meet, as one tree.

JarvisError
├── UsageError      the command or request was wrong; exit status 2, nothing was done
├── ConfigError     a settings file is wrong; names the file and the key
├── SkippedFile     one file could not be analysed; the rest continues, the summary names it
└── WorkerGone      a worker process ended or was ended; the caller may start another
"""

from __future__ import annotations

from jarvis_ls.core.words import Words


class JarvisError(Exception):
    """Base of everything we raise on purpose; its text is meant for the user."""

    def __init__(self, text: str = "", /, **values: object) -> None:
        """`text` may be a template, whose `{places}` get `values`: `str()` of the error then
        gives `Words`, which can be said in the user's language."""
        super().__init__(Words(text, **values))


class UsageError(JarvisError):
    """The command line or request cannot be carried out as written."""


class ConfigError(JarvisError):
    """A settings file could not be understood."""


class SkippedFile(JarvisError):
    """A file that is not analysed, with the reason in words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = str(self)


class WorkerGone(JarvisError):
    """The worker process is no longer there; `timed_out` says whether we ended it."""

    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.timed_out = timed_out


def missing_package(error: ModuleNotFoundError) -> str:
    """Return the name of the module that is not installed. Raises `error` again when it is one of
    ours, which is a fault of the program."""
    name = error.name or ""
    if name.split(".")[0] == "jarvis_ls":
        raise error
    return name
