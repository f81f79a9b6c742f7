"""jsec as the compiled wheel lays it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def compiled(folder: Path) -> Path:
    """Build the wheel and unpack it in `folder`; gives what to put in front of `PYTHONPATH`.

    Raises `RuntimeError` with what the build said when it fails.
    """
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    environment = {**os.environ, "HATCH_BUILD_HOOK_ENABLE_CUSTOM": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the compiled wheel is not built:\n{done.stdout}{done.stderr}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "wheel")
    return folder / "wheel"
