"""Settings of git, read as data.

The configuration of a repository can name commands, so git is not asked; what its own file includes
is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from jarvis_ls.codeintel.change.repository import load_git_python


def read_setting(
    git_folder: Path, environment: Mapping[str, str], section: str, option: str
) -> str:
    """Return a setting, that of the nearest file which has it; empty without one.

    `git_folder` is the repository's.
    """
    for file, is_own in _files(git_folder, environment):
        if value := _read(file, section, option, follow=is_own):
            return value
    return ""


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


def _read(file: Path, section: str, option: str, *, follow: bool) -> str:
    """Return a setting of a file as one line; empty where it says nothing."""
    load_git_python()
    from git.config import GitConfigParser

    if not file.is_file():
        return ""
    try:
        with GitConfigParser(str(file), read_only=True, merge_includes=follow) as settings:
            value = settings.get_value(section, option, default="")
    except Exception:  # noqa: BLE001 - a reader of damaged data: it says nothing
        return ""
    return "".join(sign for sign in str(value) if sign.isprintable()).strip()
