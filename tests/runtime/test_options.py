"""Where the parameters of an agent come from."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.base.options import ENVIRONMENT, AgentOptions, read_options


def test_an_argument_wins_over_the_environment_and_that_over_the_file() -> None:
    def name(arguments: dict[str, Any], environment: dict[str, str]) -> str:
        settings = {"name": "file"}
        return read_options(arguments, settings=settings, environment=environment).name

    assert name({}, {}) == "file"
    assert name({}, {"JARVIS_AGENT_NAME": "environment"}) == "environment"
    assert name({"name": "argument"}, {"JARVIS_AGENT_NAME": "environment"}) == "argument"
    assert name({"name": None}, {"JARVIS_AGENT_NAME": " "}) == "file"


def test_the_defaults() -> None:
    options = read_options(environment={})
    assert options == AgentOptions()
    assert (options.name, options.tool_reminder_rounds, options.summary_share) == (
        "Jarvis",
        20,
        0.8,
    )


def test_every_parameter_of_the_environment_is_one() -> None:
    assert set(ENVIRONMENT.values()) <= {f.name for f in fields(AgentOptions)}
    assert read_options(environment={"JARVIS_TOOL_REMINDER_ROUNDS": "7"}).tool_reminder_rounds == 7
    assert read_options(environment={"JARVIS_NEED_SUMMARY": "Yes"}).need_summary
    assert not read_options(environment={"JARVIS_NEED_SUMMARY": "off"}).need_summary
    assert read_options(environment={"JARVIS_USE_TOOLS": "a, b,"}).use_tools == ("a", "b")
    assert read_options(environment={"JARVIS_AUTO_COMPLETE": "true"}).auto_complete is True
    assert read_options(environment={"JARVIS_TEMPERATURE": "0.5"}).temperature == 0.5


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        ({}, {"JARVIS_MAX_ROUNDS": "many"}, "JARVIS_MAX_ROUNDS must be a whole number"),
        ({}, {"JARVIS_NEED_SUMMARY": "perhaps"}, "must be true or false"),
        ({}, {"JARVIS_SUMMARY_SHARE": "2"}, "between 0.1 and 0.95"),
        ({"agent_type": "cat"}, {}, "normal or code"),
        ({"nonsense": 1}, {}, "Unknown setting"),
        ({"name": 3}, {}, "wrong type"),
        ({"need_summary": "yes"}, {}, "wrong type"),
        ({"max_rounds": -1}, {}, "between 0"),
        ({"max_rounds": True}, {}, "must be a number"),
        ({"max_rounds": 1.5}, {}, "must be a number"),
        ({"use_tools": "a"}, {}, "list of strings"),
        ({"files": [1]}, {}, "list of strings"),
    ],
)
def test_what_is_wrong_is_named(
    arguments: dict[str, Any], environment: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        read_options(arguments, environment=environment)


def test_a_wrong_setting_says_where_it_stands() -> None:
    with pytest.raises(ConfigError, match=r"agent\.max_rounds"):
        read_options(settings={"max_rounds": "x"}, environment={})


@pytest.mark.parametrize(
    ("options", "child", "completes"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"non_interactive": True}, False, True),
        ({"non_interactive": True, "in_multi_agent": True}, False, False),
        ({"in_multi_agent": True}, True, False),
        ({"in_multi_agent": True, "auto_complete": True}, False, True),
        ({"non_interactive": True, "auto_complete": False}, True, False),
    ],
)
def test_who_completes_itself(options: dict[str, Any], child: bool, completes: bool) -> None:
    assert AgentOptions(**options).completes_itself(child) is completes
