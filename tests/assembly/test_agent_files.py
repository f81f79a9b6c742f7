"""Agents described in files: offered to the model, started by name, held to their tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.runtime.context.agent_files import read_agent_file
from tests.assembly.test_conversation import house

REVIEWER = """---
name: reviewer
description: Reads a change like a strict reviewer.
tools: read_code, search_in_project
model: t/small
---
Name every risk with its line.
"""


def write(folder: Path, name: str, text: str) -> None:
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    (folder / "agents" / name).write_text(text, encoding="utf-8")


async def test_an_agent_of_a_file_is_started_by_name_with_its_tools_and_instructions(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        write(h.folder / ".jarvis", "reviewer.md", REVIEWER)
        conversation = await h.start()
        h.server.call("sub_agent", {"task": "Review src.", "agent": "reviewer", "type": "act"})
        h.server.say("Nothing is wrong.")
        h.server.say("Reviewed.")
        await conversation.send("Have it reviewed.")
        await conversation.wait()
        root, child, _ = (request.body for request in h.server.requests)
        assert child["model"] == "small"
        assert "reviewer: Reads a change like a strict reviewer." in str(root["messages"])
        assert "Name every risk with its line." in str(child["messages"])
        assert "Name every risk" not in str(root["messages"])
        assert {t["function"]["name"] for t in child["tools"]} == {"read_code", "search_in_project"}
        ended = await conversation.send("/agents")
        assert ended is not None and "`reviewer`" in ended.text


async def test_an_unknown_agent_is_told_with_those_there_are(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        write(h.home, "reviewer.md", REVIEWER)
        conversation = await h.start()
        h.server.call("sub_agent", {"task": "Review src.", "agent": "judge"})
        h.server.say("Then not.")
        await conversation.send("Have it reviewed.")
        await conversation.wait()
        assert "There is no agent judge. There are: reviewer." in str(h.server.requests[-1].body)


async def test_files_of_an_untrusted_workspace_are_not_read(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        write(h.folder / ".jarvis", "reviewer.md", REVIEWER)
        conversation = await h.start(trusted=False)
        assert not conversation.tree.profiles.agents
        assert any("not trusted" in problem for problem in conversation.problems)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Only text.", "front matter"),
        ("---\nname: a\n---\nDo it.", "no description"),
        ("---\ndescription: x\n---\n", "no instructions"),
        ("---\ndescription: x\ncolour: red\n---\nDo it.", "unknown key 'colour'"),
        ("---\ndescription: x\ntools: {a: 1}\n---\nDo it.", "list of names"),
        ("---\nname: ../a\ndescription: x\n---\nDo it.", "a name has"),
        ("---\ndescription: x\n---\n\udcff", "not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_agent_file("a", text.encode("utf-8", "surrogateescape"))
