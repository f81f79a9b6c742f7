"""The `[agents]` section of the user's settings: how a tree of agents may grow and spend.

[agents]
parallel = 4          # children of one agent that run at the same time
depth = 6             # levels below the root
children = 64         # children of one agent that have not ended
nodes = 1000          # agents of one session
tokens = 2000000      # what a session may spend before the user is asked
cost = 5.0

[agents.groups]       # which models answer, by kind of agent
root = "think"
child = "balanced"
act = "act"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jarvis_ls.agents.node import TYPES, TreeSettings
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.options import AgentOptions

_NUMBERS = {"parallel": 256, "depth": 32, "children": 10_000, "nodes": 100_000}
"""Whole numbers above 0, and the largest that makes sense."""


def read_tree_settings(table: Mapping[str, Any], group: str = "") -> TreeSettings:
    """Return the settings of a tree. Raises `ConfigError` naming the key that is wrong.

    `group` is the model group the user chose for this session: the root's, unless it is the
    usual one and the section names another.
    """
    for key in table:
        if key not in (*_NUMBERS, "tokens", "cost", "groups"):
            raise ConfigError("Unknown setting agents.{key}.", key=key)
    numbers = {key: _number(table, key, most) for key, most in _NUMBERS.items() if key in table}
    tokens, cost = table.get("tokens"), table.get("cost")
    if tokens is not None and (type(tokens) is not int or tokens <= 0):
        raise ConfigError("agents.tokens must be a whole number above 0.")
    if cost is not None and (type(cost) not in (int, float) or not cost > 0):
        raise ConfigError("agents.cost must be a number above 0.")
    groups = _groups(table.get("groups", {}))
    if group and group != AgentOptions().model_group:
        groups["root"] = group
    return TreeSettings(**numbers, groups=groups, budget=Budget(tokens, cost))


def _number(table: Mapping[str, Any], key: str, most: int) -> int:
    value = table[key]
    if type(value) is not int or not 0 < value <= most:
        raise ConfigError(
            "agents.{key} must be a whole number from 1 to {most}.", key=key, most=most
        )
    return value


def _groups(table: Any) -> dict[str, str]:
    if not isinstance(table, Mapping):
        raise ConfigError("[agents.groups] must be a table.")
    for kind, name in table.items():
        if kind not in TYPES:
            raise ConfigError(
                "Unknown setting agents.groups.{kind}; known kinds are {kinds}.",
                kind=kind,
                kinds=", ".join(TYPES),
            )
        if not isinstance(name, str) or not name.strip():
            raise ConfigError("agents.groups.{kind} must name a model group.", kind=kind)
    return dict(table)
