"""Who commits: name and address as git has them, read as data (`git_settings`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeagent.git_settings import read_setting
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words

MODE_VARIABLE = "JARVIS_GIT_CHECK_MODE"
"""`strict` (default): without an identity nothing is begun; `warn`: it is said only."""
MISSING = Words(
    "git does not know who you are. Set it with: git config --global user.name NAME, and git config"
    " --global user.email ADDRESS. With JARVIS_GIT_CHECK_MODE=warn it is said only."
)


@dataclass(frozen=True, slots=True)
class Identity:
    """An author."""

    name: str
    email: str


UNKNOWN = Identity("Jarvis", "jarvis@localhost")
"""The author where git knows nobody and that is only warned of."""


def check_identity(git_folder: Path, environment: Mapping[str, str]) -> tuple[Identity, str]:
    """Return who commits, and a warning; empty when git knows who it is.

    `git_folder` is the repository's. Raises `UsageError` when nobody is known and that is not only
    warned of.
    """
    name = environment.get("GIT_AUTHOR_NAME") or _read("name", git_folder, environment)
    email = environment.get("GIT_AUTHOR_EMAIL") or _read("email", git_folder, environment)
    if name and email:
        return Identity(name, email), ""
    if environment.get(MODE_VARIABLE, "").strip().lower() == "warn":
        return Identity(name or UNKNOWN.name, email or UNKNOWN.email), MISSING
    raise UsageError(MISSING.template)


def _read(option: str, git_folder: Path, environment: Mapping[str, str]) -> str:
    return _plain(read_setting(git_folder, environment, "user", option))


def _plain(value: str) -> str:
    """Return a value as it fits into the head of a commit."""
    return "".join(sign for sign in value if sign not in "<>").strip()
