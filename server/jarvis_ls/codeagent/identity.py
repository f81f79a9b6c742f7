"""Who commits: name and address as git has them, read as data.

The configuration of a repository can name commands, so git is not asked; of the repository's file
only these two values are used, and nothing that it includes is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.change.repository import load_git_python
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
    name = environment.get("GIT_AUTHOR_NAME", "")
    email = environment.get("GIT_AUTHOR_EMAIL", "")
    for file, is_own in _files(git_folder, environment):
        if name and email:
            break
        found = _read(file, follow=is_own)
        name, email = name or found[0], email or found[1]
    if name and email:
        return Identity(name, email), ""
    if environment.get(MODE_VARIABLE, "").strip().lower() == "warn":
        return Identity(name or UNKNOWN.name, email or UNKNOWN.email), MISSING
    raise UsageError(MISSING.template)


def _files(git_folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[Path, bool]]:
    """Yield the files of settings, the nearest first, and whether they are the user's own."""
    yield git_folder / "config", False
    if "GIT_CONFIG_GLOBAL" in environment:
        yield Path(environment["GIT_CONFIG_GLOBAL"]), True
    else:
        home = Path(environment.get("HOME") or Path.home())
        yield home / ".gitconfig", True
        yield Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config", True
    if environment.get("GIT_CONFIG_NOSYSTEM", "").lower() not in ("1", "true", "yes", "on"):
        yield Path("/etc/gitconfig"), True


def _read(file: Path, *, follow: bool) -> tuple[str, str]:
    """Return name and address of a file of settings; empty where it says nothing."""
    load_git_python()
    from git.config import GitConfigParser

    if not file.is_file():
        return "", ""
    try:
        with GitConfigParser(str(file), read_only=True, merge_includes=follow) as settings:
            name = settings.get_value("user", "name", default="")
            email = settings.get_value("user", "email", default="")
    except Exception:  # noqa: BLE001 - a reader of damaged data: it says nothing
        return "", ""
    return _plain(name), _plain(email)


def _plain(value: object) -> str:
    """Return a value as one line that fits into the head of a commit."""
    return "".join(sign for sign in str(value) if sign.isprintable() and sign not in "<>").strip()
