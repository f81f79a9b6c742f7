"""Crates that a crate of ours needs: in its folder `vendor`, as `cargo vendor` leaves them.

Our own builds are told of that folder on cargo's command line, because they heed no file of a
crate; for everybody else `.cargo/config.toml` says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file

VENDOR = "vendor"
CONFIG = Path(".cargo", "config.toml")
_TABLE = re.compile(r"^\[dependencies\]\n(?:(?!\[).*\n?)*", re.MULTILINE)
_LINE = re.compile(r'^([A-Za-z0-9_-]+) = "=?([^"]+)"$', re.MULTILINE)
_BEFORE = "[workspace]\n"
_CONFIG = """\
# The crates this one needs are in vendor/.
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "vendor"
"""


def source_options(folder: Path) -> list[str]:
    """Return what makes cargo take crates from a folder and from nowhere else."""
    return [
        "--config",
        'source.crates-io.replace-with="jc2r"',
        "--config",
        f"source.jc2r.directory={json.dumps(str(folder))}",
    ]


def read_dependencies(crate: Path) -> dict[str, str]:
    """Return the crates that a crate of ours needs, with their versions."""
    found = _TABLE.search(_manifest(crate))
    return dict(_LINE.findall(found[0])) if found is not None else {}


def dependency_table(dependencies: Mapping[str, str]) -> str:
    """Return the table of a manifest; empty when nothing is needed."""
    if not dependencies:
        return ""
    lines = "".join(f'{name} = "={version}"\n' for name, version in sorted(dependencies.items()))
    return f"[dependencies]\n{lines}\n"


def set_dependencies(crate: Path, dependencies: Mapping[str, str]) -> None:
    """Let a crate of ours need these crates and no others, which are in its `vendor`. Raises
    `JarvisError`."""
    text = _TABLE.sub("", _manifest(crate))
    if _BEFORE not in text:
        raise JarvisError("{path} was changed: there is no [workspace].", path=crate / "Cargo.toml")
    text = text.replace(_BEFORE, dependency_table(dependencies) + _BEFORE, 1)
    replace_file(crate / "Cargo.toml", text.encode())
    if dependencies:
        (crate / CONFIG).parent.mkdir(exist_ok=True)
        replace_file(crate / CONFIG, _CONFIG.encode())
    else:
        (crate / CONFIG).unlink(missing_ok=True)


def share_vendored(crate: Path, copy: Path) -> None:
    """Let a copy of a crate have what the crate has in `vendor`, without copying that."""
    link = copy / VENDOR
    link.unlink(missing_ok=True)
    if (crate / VENDOR).is_dir():
        link.symlink_to((crate / VENDOR).resolve(), target_is_directory=True)


def _manifest(crate: Path) -> str:
    return (crate / "Cargo.toml").read_text(encoding="utf-8")
