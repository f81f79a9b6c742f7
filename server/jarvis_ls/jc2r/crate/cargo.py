"""What cargo needs: to be there, to be new enough, and a name for the crate."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words

OLDEST = (1, 82)
"""The Rust that the crates are written for: `&raw` and `unsafe extern` came with it."""
ANSWER_SECONDS = 60


def cargo() -> str:
    """Path of a cargo that can build our crates. Raises `JarvisError`."""
    found = program("cargo")
    if found is None:
        raise JarvisError(
            "cargo is not installed, and without it no Rust can be built: install Rust (rustup.rs,"
            " or the packages cargo and rustfmt) and run this again."
        )
    problem = _problem(found, os.environ.get("RUSTUP_TOOLCHAIN", ""))
    if problem is not None:
        raise JarvisError(problem)
    return found


def program(name: str) -> str | None:
    """Path of a program of Rust, or None: one on the PATH, or where rustup puts them, because an
    editor that was started from a desktop often has no PATH of a shell."""
    own = Path(os.environ.get("CARGO_HOME") or "~/.cargo", "bin").expanduser()
    return shutil.which(name) or shutil.which(name, path=own)


def crate_name(folder: Path) -> str:
    """Return the name of the crate in a folder, as Rust writes it: ASCII, and no digit first."""
    name = re.sub(r"[^A-Za-z0-9]", "_", folder.name)
    if not name.strip("_"):
        return "project"
    return f"p{name}" if name[0].isdigit() else name


@functools.cache
def _problem(path: str, _toolchain: str) -> Words | None:
    """Return why this cargo cannot build our crates: rustup's stands there without a toolchain too,
    and distributions have old ones.
    """
    try:
        said = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Words("{cargo} does not run: {error}", cargo=path, error=error)
    if said.returncode != 0:
        reason = said.stderr.strip().partition("\n\n")[0]
        return Words("{cargo} does not run: {error}", cargo=path, error=reason)
    version = re.match(r"cargo (\d+)\.(\d+)", said.stdout)
    if version is not None and (int(version[1]), int(version[2])) < OLDEST:
        return Words(
            "{cargo} is of Rust {found}; {oldest} or newer is needed: rustup update, or a newer"
            " package, and run this again.",
            cargo=path,
            found=f"{version[1]}.{version[2]}",
            oldest=f"{OLDEST[0]}.{OLDEST[1]}",
        )
    return None
