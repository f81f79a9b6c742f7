"""The same server in Emacs with Eglot: the configuration of `docs/editors.md` shows a finding."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.editor import DOUBLE_FREE
from tests.support.patience import HANGS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
SESSION = """
(package-initialize)
(require 'eglot)
{configuration}
(setq eglot-sync-connect 60)
(find-file (getenv "FILE"))
(c-mode)
(apply #'eglot (eglot--guess-contact))
(let ((end (+ (float-time) 100)))
  (while (and (< (float-time) end) (not (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (flymake-start)))
(dolist (diagnostic (flymake-diagnostics))
  (message "finding: %s" (flymake-diagnostic-text diagnostic)))
(kill-emacs (if (flymake-diagnostics) 0 1))
"""


def has_eglot() -> bool:
    """Return whether Emacs is there and has Eglot, which is part of it since 29."""
    if shutil.which("emacs") is None:
        return False
    check = '(progn (package-initialize) (kill-emacs (if (locate-library "eglot") 0 1)))'
    return (
        subprocess.run(["emacs", "--batch", "--eval", check], capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not has_eglot(), reason="Emacs with Eglot is not installed")
def test_the_configuration_on_the_docs_page_works(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    file = tmp_path / "main.c"
    file.write_text(DOUBLE_FREE)
    section = PAGE.read_text(encoding="utf-8").partition("## Emacs")[2]
    (block, *_) = re.findall(r"```elisp\n(.*?)```", section, re.DOTALL)
    session = tmp_path / "session.el"
    session.write_text(SESSION.format(configuration=block))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["emacs", "--batch", "--load", session],
        env={**os.environ, "FILE": str(file), "HOME": str(tmp_path), "PATH": path},
        capture_output=True,
        text=True,
        timeout=HANGS,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "finding: " in result.stderr and "freed twice" in result.stderr
