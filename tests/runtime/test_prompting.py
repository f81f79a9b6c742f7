"""What a model is told besides the conversation."""

from __future__ import annotations

import pytest

from jarvis_ls.runtime.agent.prompts import COMPLETE, SUMMARY, Prompts, joined, prompt
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.llm.platforms.base import ToolSpec

SPEC = ToolSpec("look", "Look at something.", {"type": "object", "properties": {}})
RULES = "<rules>\n  Keep   this, word for word.\n</rules>"


def test_the_system_prompt_is_behaviour_rules_and_tools() -> None:
    built = Prompts(AgentOptions(), rules=RULES).system([SPEC], native=False)
    assert built.text == joined(built.behaviour, built.rules, built.tools)
    assert RULES in built.text and "## look" in built.text and "You are Jarvis" in built.behaviour


def test_native_tools_are_not_repeated_in_it() -> None:
    built = Prompts(AgentOptions()).system([SPEC], native=True)
    assert built.tools == "" and "look\n" not in built.text and built.text == built.behaviour


def test_without_tools_nothing_is_said_of_them() -> None:
    prompts = Prompts(AgentOptions())
    assert prompts.system([], native=False).tools == "" == prompts.tool_rules([], native=False)
    assert "TOOL_CALL" not in joined(*prompts.addon([], native=False))


def test_the_types_have_prompts_of_their_own() -> None:
    assert Prompts(AgentOptions()).system([], True).behaviour == prompt("system")
    code = AgentOptions(agent_type="code")
    assert Prompts(code).system([], True).behaviour == prompt("code")
    own = AgentOptions(system_prompt=" Be brief. ", agent_type="code")
    assert Prompts(own).system([], True).behaviour == "Be brief."


def test_the_addon_prompt_has_tool_rules_memory_and_marks() -> None:
    prompts = Prompts(
        AgentOptions(),
        memory=lambda: "Tags: parser",
        extra=[lambda: "Method: look twice"],
        completes_itself=True,
    )
    addon = joined(*prompts.addon([SPEC], native=False))
    order = ["<TOOL_CALL>", "Tools: look.", "Tags: parser", COMPLETE, SUMMARY, "Method: look twice"]
    assert [part for part in order if part in addon] == order
    places = [addon.index(part) for part in order]
    assert places == sorted(places)


def test_who_does_not_complete_itself_is_not_told_the_mark() -> None:
    addon = joined(*Prompts(AgentOptions()).addon([SPEC], native=True))
    assert COMPLETE not in addon and SUMMARY in addon and "function interface" in addon
    assert "look" not in addon  # native calls come with their names


def test_what_is_remembered_is_asked_for_each_time() -> None:
    seen = iter(["a", "b"])
    prompts = Prompts(AgentOptions(), memory=lambda: next(seen))
    assert prompts.remembered() == "a" and prompts.remembered() == "b"


def test_pieces_can_be_added_later() -> None:
    prompts = Prompts(AgentOptions())
    prompts.add(lambda: "More.")
    assert "More." in joined(*prompts.addon([], native=True))


def test_a_prompt_that_is_not_there_is_no_empty_prompt() -> None:
    with pytest.raises(FileNotFoundError):
        prompt("no-such-prompt")
