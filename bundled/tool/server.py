"""Starts the Jarvis language server from the libraries that lie beside this file.

A packaged extension has ``bundled/libs/common`` (pure Python) and ``bundled/libs/cpXY`` (compiled
for one CPython); a development checkout has ``server/`` and an environment that holds the rest.
The editor runs this with ``python -I``, so that neither the workspace nor ``PYTHONPATH`` can put
another module in place of ours; processes started from here find the same libraries. With ``mcp`` as
first argument it is ``jarvis mcp``, for agents of the editor.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARIES = ROOT / "bundled" / "libs"


def library_paths() -> list[str]:
    """The folders to import from, first the one that wins."""
    common = LIBRARIES / "common"
    if not common.is_dir():
        return [str(ROOT / "server")]
    compiled = LIBRARIES / f"cp{sys.version_info.major}{sys.version_info.minor}"
    return [str(common), str(compiled), *windows_paths(compiled)]


def windows_paths(compiled: Path) -> list[str]:
    """Folders of pywin32, which an installation would have named in a `.pth` file."""
    parts = [compiled / "win32", compiled / "win32" / "lib", compiled / "pywin32_system32"]
    return [str(part) for part in parts if part.is_dir()]


# Also when a worker process imports this file as its main module.
sys.path[:0] = [path for path in library_paths() if path not in sys.path]

if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(library_paths())
    os.environ["PYTHONSAFEPATH"] = "1"
    if sys.argv[1:2] == ["mcp"]:
        from jarvis_ls.cli.jarvis import main
    else:
        from jarvis_ls.cli.language_server import main

    sys.exit(main(sys.argv[1:]))
