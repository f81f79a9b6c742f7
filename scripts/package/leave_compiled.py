"""Leaves the analysis of flow as machine code to the environment that this runs in, in which the
package is installed as its sources: for `npm start`, in the background, and `npm run setup`.

    python leave_compiled.py --state   prints `done`, `under way`, `to do`, or why it cannot be done
    python leave_compiled.py           does it; a second one meanwhile ends at once
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import sysconfig
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import machine_code
from compiled import compile_modules, missing
from filelock import FileLock, Timeout

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
NAME = "jarvis_ls_machine_code"
"""The finder in the environment, and the `.pth` file that begins it."""
WATCHED = ("jarvis_ls/jsec/flow", "jarvis_ls/codeintel", "jarvis_ls/core")
"""What is compiled, and all that the compiler reads of ours along with it."""


def leave(root: Path, site: Path) -> None:
    """Compile the modules of a checkout, and let the environment with the folder `site` for its
    packages import them. Raises `RuntimeError` with what the compiler said when it fails."""
    sources = machine_code.sources_below(str(root / "server"), WATCHED)
    folder = compile_modules(root, _modules(root))  # of an edit meanwhile, the list says: not these
    listing = {
        "python": sys.version,
        "root": str(root / "server"),
        "watched": WATCHED,
        "sources": sources,
        "modules": _files(folder),
    }
    _write(_listing(root), json.dumps(listing))
    _write(site / f"{NAME}.py", Path(machine_code.__file__).read_text())
    _write(site / f"{NAME}.pth", f"import {NAME}; {NAME}.install({str(_listing(root))!r})\n")
    _remove_others(folder)


def state(root: Path, site: Path) -> str:
    """Return `done`, `under way`, `to do`, or why nothing can be compiled here."""
    try:
        with _lock(root).acquire(blocking=False):
            return "done" if _is_left(root, site) else missing() or "to do"
    except Timeout:
        return "under way"


def _is_left(root: Path, site: Path) -> bool:
    finder = site / f"{NAME}.py"
    if not (finder.exists() and (site / f"{NAME}.pth").exists()):
        return False
    if finder.read_bytes() != Path(machine_code.__file__).read_bytes():
        return False
    return machine_code.read(str(_listing(root))) is not None


def _modules(root: Path) -> list[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    hooks = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]
    modules: list[str] = hooks["custom"]["modules"]
    return modules


def _files(folder: Path) -> dict[str, str]:
    """Return the files of compiled modules, by the modules' names."""
    return {
        ".".join((*file.relative_to(folder).parts[:-1], file.name.partition(".")[0])): str(file)
        for file in sorted(folder.rglob("*"))
        if file.name.endswith(tuple(EXTENSION_SUFFIXES))
    }


def _listing(root: Path) -> Path:
    return root / ".cache" / "compiled" / "current.json"


def _lock(root: Path) -> FileLock:
    file = root / ".cache" / "compiled" / "leave.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(file)


def _write(file: Path, text: str) -> None:
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def _remove_others(folder: Path) -> None:
    """Remove what was compiled of earlier sources, unless a wheel may just be made of it."""
    before = time.time() - 86_400
    for other in folder.parent.iterdir():
        if other.is_dir() and other != folder and other.stat().st_mtime < before:
            shutil.rmtree(other, ignore_errors=True)


def main() -> int:
    """Do what the arguments say, return the exit status."""
    site = Path(sysconfig.get_path("purelib"))
    if sys.argv[1:] == ["--state"]:
        print(state(ROOT, site))
        return 0
    if hasattr(os, "nice"):
        os.nice(10)  # whoever began it goes on working
    with contextlib.suppress(Timeout), _lock(ROOT).acquire(blocking=False):
        leave(ROOT, site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
