"""A hook of hatchling: the wheel with the interpreter of functions as machine code, by mypyc.

Off unless `HATCH_BUILD_HOOK_ENABLE_CUSTOM=1`. What is compiled lies beside the Python it was made
of: a Python of another version takes that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SUFFIXES = (".so", ".pyd")
_SETUP = """
from mypyc.build import mypycify
from setuptools import setup

setup(
    name="jarvis-ls",
    packages=[],
    ext_modules=mypycify(
        {arguments!r}, opt_level="1", debug_level="0", group_name="jarvis_ls_flow"
    ),
)
"""
"""Level 1: higher ones take half as long again to compile and are no faster here."""


class CompiledHook(BuildHookInterface[Any]):
    """Adds the extension modules to a wheel, which is then one of this Python and platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; raises `RuntimeError` with what the compiler said when it fails."""
        if version == "editable":
            return  # what is edited is what has to run
        self._folder = Path(tempfile.mkdtemp(prefix="jarvis-compiled-"))
        try:
            modules = _compile(Path(self.root), self._folder, self.config["modules"])
        except BaseException:  # nobody calls `finalize` then
            shutil.rmtree(self._folder)
            raise
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update(modules)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel holds by now."""
        if version != "editable":
            shutil.rmtree(self._folder)


def _compile(root: Path, folder: Path, modules: list[str]) -> dict[str, str]:
    """Compile modules of the package, named without it, in a copy of `root`. Gives the files that
    come of it, and where they lie in the wheel."""
    shutil.copytree(root / "server", folder / "server", ignore=shutil.ignore_patterns("*.so"))
    shutil.copy(root / "pyproject.toml", folder / "mypy.toml")  # setuptools must not read it
    files = [f"jarvis_ls/{name}.py" for name in modules]
    # From within `server`: mypyc names a module by its path.
    arguments = ["--config-file", str(folder / "mypy.toml"), *files]
    (folder / "setup.py").write_text(_SETUP.format(arguments=arguments))
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
    return {
        str(file): file.relative_to(built).as_posix()
        for file in sorted(built.rglob("*")) if file.suffix in _SUFFIXES
    }  # fmt: skip
