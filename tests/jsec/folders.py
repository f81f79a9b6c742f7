"""Folders with sources in them, for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jarvis_ls.jsec.scan.result import ScanResult

Scan = Callable[..., ScanResult]

RULE = "unbounded-string-copy"

FLAWED = """\
#include <string.h>
void copy(const char *from) {
    char to[4];
    strcpy(to, from);
}
"""


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Put files below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
