"""The same server in Helix: the configuration of `docs/editors.md` shows a finding."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Person
from tests.lsp.editor import DOUBLE_FREE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
SHOWN_AT_THE_LINE = '[editor]\nend-of-line-diagnostics = "hint"\n'


@pytest.mark.skipif(shutil.which("hx") is None, reason="Helix is not installed")
async def test_the_configuration_on_the_docs_page_works(tmp_path: Path) -> None:
    config = tmp_path / "home" / "helix"
    config.mkdir(parents=True)
    (block,) = re.findall(r"```helix\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (config / "languages.toml").write_text(block)
    (config / "config.toml").write_text(SHOWN_AT_THE_LINE)
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "main.c").write_text(DOUBLE_FREE)
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(config.parent)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    person = Person(("hx", "main.c"), work, environment)
    try:
        await person.sees("is freed")
        person.type(":q!\r")
        assert await person.ended() == 0
    finally:
        person.close()
