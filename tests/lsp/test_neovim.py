"""The same server in Neovim: findings, hover, light bulb, commands, a fix written to disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.editor import COMMAND, DOUBLE_FREE
from tests.support.patience import HANGS

SCRIPT = Path(__file__).with_name("neovim.lua")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_a_session_in_neovim(tmp_path):
    (tmp_path / "main.c").write_text(DOUBLE_FREE)
    (tmp_path / "other.c").write_text(DOUBLE_FREE)
    result = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {SCRIPT}"],
        env={**os.environ, "FILE": str(tmp_path / "main.c"), "SERVER": "\t".join(COMMAND)},
        capture_output=True,
        text=True,
        timeout=HANGS,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "ok the fix is on disk" in result.stdout


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
@pytest.mark.parametrize("since", ["0.7", "0.11"])
def test_the_configuration_on_the_docs_page_works(tmp_path, since):
    """The Lua of the page, as it stands, starts the server and shows a finding."""
    if not has(since):
        pytest.skip(f"Neovim is older than {since}")
    (tmp_path / ".git").mkdir()
    file = tmp_path / "main.c"
    file.write_text(DOUBLE_FREE)
    section = PAGE.read_text(encoding="utf-8").partition(f"## Neovim {since} and later")[2]
    (block, *_) = re.findall(r"```lua\n(.*?)```", section, re.DOTALL)
    config = tmp_path / "init.lua"
    config.write_text(
        block
        + """
vim.cmd("filetype on")
vim.cmd("edit " .. vim.env.FILE)
local found = vim.wait(100000, function() return #vim.diagnostic.get(0) == 1 end, 20)
vim.cmd(found and "qall!" or "cq 1")
"""
    )
    environment = {**os.environ, "FILE": str(file), "HOME": str(tmp_path)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    result = subprocess.run(
        ["nvim", "--headless", "-i", "NONE", "-n", "-u", str(config)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def has(version):
    check = f"if has('nvim-{version}') | qall! | else | cquit 1 | endif"
    return (
        subprocess.run(["nvim", "--headless", "-u", "NONE", "-c", check], check=False).returncode
        == 0
    )
