"""What docs/agents.md says of tool servers and scripts is understood as written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from jarvis_ls.runtime.base.toml_files import parse_toml
from jarvis_ls.runtime.context.script_tools import _program, read_tool, scripted_toolset
from jarvis_ls.runtime.llm.model_settings import read_model
from jarvis_ls.runtime.mcp.config import configured_servers

PAGE = (Path(__file__).resolve().parents[2] / "docs/agents.md").read_text(encoding="utf-8")


def test_the_examples_of_servers_and_scripts_are_valid(tmp_path: Path) -> None:
    (example,) = [b for b in re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL) if "mcp_" in b]
    settings = parse_toml(example.encode())
    servers = configured_servers(tmp_path, settings=settings["mcp_servers"], environment={})
    assert [server.name for server in servers.servers] == ["tickets"] and not servers.problems
    tools = scripted_toolset(tmp_path, settings=settings["scripted_tools"])
    assert list(tools.tools()) == ["longest_lines"] and not tools.problems
    (tmp_path / "a b.txt").write_text("aaa\nb\ncc c\n")
    tool = read_tool(settings["scripted_tools"][0], tmp_path)
    text = _program(tool, ["a b.txt"])
    said = subprocess.run(["sh", "-c", text], cwd=tmp_path, capture_output=True, text=True)
    assert said.stdout == "4 cc c\n3 aaa\n1 b\n" and said.stderr == ""


def test_the_example_of_a_model_is_valid() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/configuration.md").read_text("utf-8")
    (example,) = re.findall(r"```ini\n(.*?)```", page, re.DOTALL)
    ((name, table),) = parse_toml(example.encode())["models"].items()
    model, headers = read_model(name, table)
    assert (model.name, model.api, headers) == (
        "large",
        "responses",
        {"X-Gateway-Token": "GATEWAY_TOKEN"},
    )
