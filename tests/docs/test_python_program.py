"""The program of docs/agents.md runs as it stands."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from jarvis_ls.runtime.agent import hooks
from jarvis_ls.runtime.base import options
from tests.support.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]


async def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    section = page.split("## From Python\n", 1)[1].split("\n## ", 1)[0]
    program = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert program is not None
    for name in re.findall(r"`(After\w+)`", section):
        assert hasattr(hooks, name)
    assert hooks.CALLBACKS_VARIABLE in section and options.ENVIRONMENT
    async with ModelServer() as server:
        server.say("It prints hello.")
        said = await output_of(
            program[1],
            tmp_path,
            {
                "JARVIS_MODEL": "openai/m",
                "OPENAI_BASE_URL": server.url,
                "OPENAI_API_KEY": "key",
            },
        )
        assert said == "completed It prints hello."
        said = await output_of(program[1], tmp_path, {"JARVIS_MODEL": "", "OPENAI_API_KEY": ""})
        assert said.startswith("failed No model is configured. Run `jarvis setup`")


async def output_of(program: str, folder: Path, environment: dict[str, str]) -> str:
    """What a program prints that ends well."""
    own = {"JARVIS_HOME": str(folder), "PYTHONPATH": str(ROOT / "server")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        env={**os.environ, **own, **environment},
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 100)
    assert process.returncode == 0, err.decode()
    return out.decode().strip()
