"""What cargo needs: to be there, and a name for the crate."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from jarvis_ls.core.errors import JarvisError


def cargo() -> str:
    """Path of cargo. Raises `JarvisError`."""
    found = shutil.which("cargo")
    if found is None:
        raise JarvisError(
            "cargo is not installed, and without it no Rust can be built: install Rust (rustup.rs,"
            " or the packages cargo and rustfmt) and run this again."
        )
    return found


def crate_name(folder: Path) -> str:
    """The name of the crate in a folder, as Rust writes it: ASCII, and no digit first."""
    name = re.sub(r"[^A-Za-z0-9]", "_", folder.name)
    if not name.strip("_"):
        return "project"
    return f"p{name}" if name[0].isdigit() else name
