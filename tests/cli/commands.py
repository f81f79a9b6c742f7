"""Running `jsec` the way a person does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.starting import quick

RULE = "unbounded-string-copy"

FLAWED = """\
#include <string.h>
void copy(const char *from) {
    char to[4];
    strcpy(to, from);
}
"""

TWICE = "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n"


def command(*arguments: str | Path) -> list[str]:
    """The command line of `jsec` with arguments."""
    return [
        sys.executable,
        "-c",
        "import sys; from jarvis_ls.cli.jsec import main; sys.exit(main())",
        *map(str, arguments),
    ]


def jsec(
    *arguments: str | Path, cwd: Path, status: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder; `status` is what it must exit with (None: anything)."""
    home = cwd.parent / "home"
    run = subprocess.run(
        [*quick("jarvis_ls.cli.jsec"), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "JARVIS_HOME": str(home), **environment},
    )
    assert status is None or run.returncode == status, run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    return run


def issues(*arguments: str | Path, cwd: Path) -> list[dict[str, Any]]:
    """The issues of `jsec scan --format json`."""
    run = jsec("scan", "--format", "json", *arguments, cwd=cwd)
    found: list[dict[str, Any]] = json.loads(run.stdout)["issues"]
    return found


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Put files below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
