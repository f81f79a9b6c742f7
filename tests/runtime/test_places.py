"""The home folder opened as a workspace: what is in `~/.jarvis` is the user's, and read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.context.predefined_tasks import predefined_tasks
from jarvis_ls.runtime.context.rules_files import load_rules
from jarvis_ls.runtime.context.script_tools import scripted_toolset
from jarvis_ls.runtime.context.user_tools import user_toolset
from jarvis_ls.runtime.mcp.config import configured_servers
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.skills.skills import Skills

TOOL = """
from jarvis_ls.runtime.tools.tool import ToolContext, tool

@tool()
async def hello(context: ToolContext) -> str:
    "Greet."
    return "hello"
"""


@pytest.mark.parametrize("link", [False, True])
async def test_the_users_own_folder_counts_once(tmp_path: Path, link: bool) -> None:
    house = tmp_path / "house"
    home = house / ".jarvis"
    for folder in ("tools", "skills/s"):
        (home / folder).mkdir(parents=True)
    (home / "rules").write_text("a rule")
    (home / "pre-command").write_text("a: b")
    (home / "mcp.toml").write_text('[mcp_servers.x]\ncommand = "y"\n')
    (home / "scripted_tools.toml").write_text(
        '[[scripted_tools]]\nname = "t"\ndescription = "d"\nscript_type = "shell"\nscript = "x"\n'
    )
    (home / "tools/hello.py").write_text(TOOL)
    (home / "skills/s/SKILL.md").write_text("---\nname: s\ndescription: d\n---\n")
    root = house
    if link:
        root = tmp_path / "linked"
        root.symlink_to(house)
    rules = load_rules([root], home, True)
    assert [file.origin for file in rules.files] == ["user"] and not rules.notes
    for found in (
        predefined_tasks(home, [root]).problems,
        configured_servers(home, [root], trusted=True, environment={}).problems,
        scripted_toolset(home, [root], trusted=True).problems,
        user_toolset(home, [root], trusted=True).problems,
    ):
        assert not found
    skills = Skills(home, [root], trusted=True)
    await skills.scan()
    assert len(skills.skills) == 1 and not skills.problems
    memory = Memory(home, root, trusted=True)
    await memory.save("global_long_term", "once")
    assert len(await memory.heads()) == 1
    with pytest.raises(UsageError, match="no project folder"):
        await memory.save("project_long_term", "x")
