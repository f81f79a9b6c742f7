"""A hook of hatchling: the wheel with the analysis of flow as machine code, by mypyc.

Off unless `HATCH_BUILD_HOOK_ENABLE_CUSTOM=1`. What is compiled lies beside the Python it was made
of: a Python of another version takes that. Run by itself, it says why nothing can be compiled here,
or nothing.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from filelock import FileLock
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SUFFIXES = (".so", ".pyd")
_SETUP = """
from mypyc.build import mypycify
from setuptools import setup

setup(
    name="jarvis-ls",
    packages=[],
    ext_modules=mypycify(
        {arguments!r},
        opt_level={level!r},
        debug_level="0",
        group_name="jarvis_ls_flow",
        multi_file=True,
    ),
)
"""
"""Level 1: higher ones take half as long again to compile and are no faster here. A C file for each
module: one for all takes the compiler nearly four times as long, and is no faster either."""
_LEVEL = os.environ.get("JARVIS_COMPILED_LEVEL", "1")
"""Another one, for tests of what the modules do: at 0 the compiler takes two thirds of the time."""


class CompiledHook(BuildHookInterface[Any]):
    """Adds the extension modules to a wheel, which is then one of this Python and platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what was not compiled before; raises `RuntimeError` with what the compiler said
        when it fails."""
        if version == "editable":
            return  # what is edited is what has to run
        place = compile_modules(Path(self.root), self.config["modules"])
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update(
            {
                str(file): file.relative_to(place).as_posix()
                for file in sorted(place.rglob("*"))
                if file.suffix in _SUFFIXES
            }
        )


def compile_modules(root: Path, modules: list[str]) -> Path:
    """The folder with what comes of modules of the package, named without it; it is kept by the
    content of the sources. Raises `RuntimeError` with what the compiler said when it fails."""
    place = root / ".cache" / "compiled" / _key(root)
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):  # who builds a wheel meanwhile waits for the same
        if not place.is_dir():
            with tempfile.TemporaryDirectory(prefix=".", dir=place.parent) as name:
                _compile(root, Path(name), modules).rename(place)
    return place


def _compile(root: Path, folder: Path, modules: list[str]) -> Path:
    shutil.copytree(root / "server", folder / "server", ignore=shutil.ignore_patterns("*.so"))
    shutil.copy(root / "pyproject.toml", folder / "mypy.toml")  # setuptools must not read it
    files = [f"jarvis_ls/{name}.py" for name in modules]
    # From within `server`: mypyc names a module by its path.
    arguments = ["--config-file", str(folder / "mypy.toml"), *files]
    (folder / "setup.py").write_text(_SETUP.format(arguments=arguments, level=_LEVEL))
    built = folder / "built"
    done = subprocess.run(
        [sys.executable, folder / "setup.py", "build_ext", "--build-lib", built],
        cwd=folder / "server",
        env={**os.environ, "MYPYPATH": str(folder / "server")},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"mypyc: {done.stdout}{done.stderr}")
    return built


def _key(root: Path) -> str:
    """Names the sources, how they are compiled, and the Python they are compiled for."""
    digest = hashlib.sha256(f"{sys.version} {_LEVEL}".encode())
    files = [root / "pyproject.toml", Path(__file__), *sorted((root / "server").rglob("*.py"))]
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def missing() -> str:
    """Why nothing can be compiled for this Python here; empty when it can."""
    compiler = shlex.split(sysconfig.get_config_var("CC") or "")
    if not compiler or shutil.which(compiler[0]) is None:
        return "there is no C compiler"
    headers = ["-I", sysconfig.get_path("include"), "-fsyntax-only", "-x", "c", "-"]
    program = "#include <Python.h>\n"
    tried = subprocess.run([*compiler, *headers], input=program, text=True, capture_output=True)
    return "" if tried.returncode == 0 else "Python's headers are not installed"


if __name__ == "__main__":
    print(missing())
