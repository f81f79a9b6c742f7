"""jsec as the compiled wheel lays it, built once for a state of the sources."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SOURCES = ("pyproject.toml", "scripts/package/compiled.py")


def compiled() -> Path:
    """A folder to put in front of `PYTHONPATH`, kept in `.cache` by the content of the sources.

    Raises `RuntimeError` with what the build said when it fails.
    """
    place = ROOT / ".cache" / "compiled" / _key()
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as name:
        folder = Path(name)
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name]
        environment = {**os.environ, "HATCH_BUILD_HOOK_ENABLE_CUSTOM": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"the compiled wheel is not built:\n{done.stdout}{done.stderr}")
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "wheel")
        (folder / "wheel").rename(place)
    return place


def _key() -> str:
    """Of the sources, and of the Python they are compiled for."""
    digest = hashlib.sha256(sys.version.encode())
    files = [ROOT / name for name in _SOURCES]
    for file in [*files, *sorted((ROOT / "server").rglob("*.py"))]:
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
