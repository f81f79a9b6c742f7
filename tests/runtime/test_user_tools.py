"""Tools users write: loaded, run and guarded like our own; a broken file stops no other."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.messages import ToolCall
from jarvis_ls.runtime.context.user_tools import user_toolset
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.permissions import Permissions
from jarvis_ls.runtime.tools.tool import ToolContext

HEAD = """
from __future__ import annotations
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
"""
GOOD = (
    HEAD
    + '''
@tool(actions=lambda a: [Action("execute", "deploy " + a["where"])])
async def deploy(context: ToolContext, where: str, times: int = 1) -> str:
    """Deploy.

    Args:
        where: Machine.
    """
    return f"{where} {times}"

@tool()
async def hello(context: ToolContext) -> str:
    """Greet."""
    return "hello"
'''
)


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(textwrap.dedent(text))


async def test_a_users_tool_is_a_tool(tmp_path: Path) -> None:
    write(tmp_path / "tools", "mine.py", GOOD)
    write(tmp_path / "tools", "_helper.py", "raise SystemExit")
    tools = user_toolset(tmp_path)
    assert not tools.problems and sorted(tools.tools()) == ["deploy", "hello"]
    spec = tools.tools()["deploy"].spec
    assert spec.parameters["properties"]["where"]["description"] == "Machine."
    result = await tools.run(ToolCall("1", "deploy", {"where": "x", "times": "2"}), ToolContext(()))
    assert result.text == "x 2"
    gate = Approved(tools, Permissions(), None)
    assert (await gate.run(ToolCall("1", "deploy", {"where": "x"}), ToolContext(()))).is_error
    assert not (await gate.run(ToolCall("1", "hello", {}), ToolContext(()))).is_error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def broken(", "SyntaxError"),
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
        ("x = 1", "defines no tool"),
        (HEAD + "@tool()\nasync def t(context, x): 'X'\n", "not loaded"),
        ("\0", "not loaded"),
    ],
)
def test_a_broken_file_is_named_and_stops_no_other(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path / "tools", "a_broken.py", text)
    write(tmp_path / "tools", "good.py", GOOD)
    tools = user_toolset(tmp_path)
    assert sorted(tools.tools()) == ["deploy", "hello"]
    assert len(tools.problems) == 1
    assert said in tools.problems[0] and "a_broken.py" in tools.problems[0]


def test_names_are_used_once_and_builtin_ones_stay(tmp_path: Path) -> None:
    write(tmp_path / "tools", "a.py", GOOD)
    write(tmp_path / "tools", "b.py", GOOD)
    tools = user_toolset(tmp_path, taken={"hello"})
    assert list(tools.tools()) == ["deploy"] and len(tools.problems) == 3


def test_a_workspaces_tools_need_trust(tmp_path: Path) -> None:
    root, canary = tmp_path / "root", tmp_path / "canary"
    write(root / ".jarvis/tools", "evil.py", f"{GOOD}\nopen({str(canary)!r}, 'w')")
    tools = user_toolset(tmp_path / "home", [root])
    assert tools.tools() == {} and "not trusted" in tools.problems[0] and not canary.exists()
    assert sorted(user_toolset(tmp_path / "home", [root], trusted=True).tools()) == [
        "deploy",
        "hello",
    ]
    write(tmp_path / "home/tools", "mine.py", GOOD)
    both = user_toolset(tmp_path / "home", [root], trusted=True)
    assert len(both.problems) == 2 and all("evil.py" in problem for problem in both.problems)


def test_links_out_of_a_workspace_are_not_run(tmp_path: Path) -> None:
    root, canary = tmp_path / "root", tmp_path / "canary"
    write(tmp_path / "outside", "x.py", f"open({str(canary)!r}, 'w')")
    write(root / ".jarvis/tools", "good.py", GOOD)
    (root / ".jarvis/tools/link.py").symlink_to(tmp_path / "outside/x.py")
    tools = user_toolset(tmp_path / "home", [root], trusted=True)
    assert len(tools.tools()) == 2 and "link" in tools.problems[0] and not canary.exists()
    other = tmp_path / "other"
    (other / ".jarvis").mkdir(parents=True)
    (other / ".jarvis/tools").symlink_to(tmp_path / "outside")
    tools = user_toolset(tmp_path / "home", [other], trusted=True)
    assert not tools.tools() and "points outside" in tools.problems[0] and not canary.exists()
