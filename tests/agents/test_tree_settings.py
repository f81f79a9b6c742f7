"""What the `[agents]` section may say, and what is said about a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from jarvis_ls.agents.node import TreeSettings
from jarvis_ls.agents.settings import read_tree_settings
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.base.events import Budget


def test_defaults() -> None:
    assert read_tree_settings({}) == TreeSettings()
    assert [TreeSettings().group(k) for k in ("root", "child", "act")] == [  # type: ignore[arg-type]
        "think",
        "balanced",
        "act",
    ]


def test_everything_said() -> None:
    table = {
        "parallel": 2,
        "depth": 3,
        "children": 5,
        "nodes": 9,
        "tokens": 1000,
        "cost": 2,
        "groups": {"root": "balanced", "act": "office/small"},
    }
    read = read_tree_settings(table)
    assert (read.parallel, read.depth, read.children, read.nodes) == (2, 3, 5, 9)
    assert read.budget == Budget(1000, 2)
    assert [read.group("root"), read.group("child"), read.group("act")] == [
        "balanced",
        "balanced",
        "office/small",
    ]


def test_the_group_chosen_for_a_session_is_the_roots() -> None:
    table = {"groups": {"root": "smart"}}
    assert read_tree_settings(table, "cheap").group("root") == "cheap"
    assert read_tree_settings(table, "balanced").group("root") == "smart"
    assert read_tree_settings({}, "balanced").group("root") == "think"


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"paralell": 1}, "Unknown setting agents.paralell"),
        ({"parallel": 0}, "agents.parallel"),
        ({"depth": True}, "agents.depth"),
        ({"nodes": "many"}, "agents.nodes"),
        ({"children": 10**9}, "agents.children"),
        ({"tokens": 1.5}, "agents.tokens"),
        ({"tokens": 0}, "agents.tokens"),
        ({"cost": float("nan")}, "agents.cost"),
        ({"cost": "1"}, "agents.cost"),
        ({"groups": "think"}, "agents.groups"),
        ({"groups": {"leaf": "act"}}, "agents.groups.leaf"),
        ({"groups": {"act": ""}}, "agents.groups.act"),
    ],
)
def test_wrong_settings_are_named(table: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_tree_settings(table)
    assert named in str(raised.value)
