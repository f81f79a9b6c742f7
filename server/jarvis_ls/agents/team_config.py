"""A team of agents as a YAML file describes it.

main_agent: lead
common_system_prompt: Answer in short sentences.
agents:
  - name: lead
    description: Plans the work and writes the answer.
    system_prompt: You lead the team.
  - name: reader
    description: Reads code and reports what it does.
    tools: [read_code, search_in_project]
    model: cheap
    summary_on_send: true
    clear_after_send_message: false
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import MAX_BYTES, parse_yaml
from jarvis_ls.runtime.tools.permissions import shown

MOST = 50
"""Agents of one team."""
_NAME = re.compile(r"\w[\w .-]{0,62}\Z")
_TEAM = {"main_agent": str, "common_system_prompt": str, "agents": list}
_MEMBER = {
    "name": str,
    "description": str,
    "system_prompt": str,
    "tools": list,
    "model": str,
    "summary_on_send": bool,
    "clear_after_send_message": bool,
}
_KINDS = {str: "text", list: "a list", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Member:
    """One agent of a team."""

    name: str
    """Unique in the team."""
    description: str = ""
    """What it is for; the others choose by it."""
    instructions: str = ""
    """Its part of the system prompt, with what the team has in common."""
    tools: tuple[str, ...] | None = None
    """Names of the only tools it may use; None means all."""
    model: str = ""
    """A model group or `provider/model`; empty takes that of its kind."""
    summary_on_send: bool = True
    """Whether its messages carry a summary of its work."""
    clear_after_send: bool = False
    """Whether it forgets the conversation when it has sent a message."""


@dataclass(frozen=True, slots=True)
class TeamConfig:
    """The agents of a team."""

    main: str
    """Name of the agent that the user talks with."""
    members: Mapping[str, Member]
    """By name."""


class _Wrong(Exception):
    """What is wrong, and where."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


def read_team(path: Path) -> TeamConfig:
    """Return the team of a file. Raises `ConfigError` with the line of what is wrong."""
    try:
        data = read_regular(path.absolute(), limit=MAX_BYTES)
    except SkippedFile as error:
        raise ConfigError("{file}: {why}", file=path, why=error.reason) from None
    try:
        return _team(parse_yaml(data), _Lines(data))
    except ValueError as error:
        raise ConfigError("{file}: {why}", file=path, why=error) from None
    except _Wrong as error:
        raise ConfigError(
            "{file}, line {line}: {why}", file=path, line=error.line, why=error.why
        ) from None


class _Lines:
    """Where the values of a YAML text are; lines from 1."""

    def __init__(self, data: bytes) -> None:
        import yaml

        self._root = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)

    def of(self, *path: str | int) -> int:
        """Return the line of a value, or of what is nearest above it."""
        import yaml

        node = self._root
        for step in path:
            found = None
            if isinstance(node, yaml.MappingNode):
                found = next((v for k, v in node.value if k.value == step), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                found = node.value[step] if step < len(node.value) else None
            if found is None:
                break
            node = found
        return 1 if node is None else int(node.start_mark.line) + 1


def _team(values: Any, lines: _Lines) -> TeamConfig:
    if not isinstance(values, dict):
        raise _Wrong(1, Words("the file must hold `main_agent` and `agents`"))
    _check(values, _TEAM, lines)
    listed = values.get("agents")
    if not listed:
        raise _Wrong(lines.of("agents"), Words("`agents` must list at least one agent"))
    if len(listed) > MOST:
        raise _Wrong(lines.of("agents"), Words("there are more than {most} agents", most=MOST))
    common = str(values.get("common_system_prompt") or "").strip()
    members: dict[str, Member] = {}
    for number, item in enumerate(listed):
        member = _member(item, number, common, lines)
        if member.name in members:
            where = lines.of("agents", number, "name")
            raise _Wrong(where, Words("there are two agents {name}", name=repr(member.name)))
        members[member.name] = member
    main = values.get("main_agent")
    if main is None:
        raise _Wrong(1, Words("`main_agent` is missing: the name of the agent that starts"))
    if main not in members:
        raise _Wrong(
            lines.of("main_agent"),
            Words(
                "`main_agent` is {name}, but the agents are {names}",
                name=repr(main),
                names=", ".join(members),
            ),
        )
    return TeamConfig(main, members)


def _member(item: Any, number: int, common: str, lines: _Lines) -> Member:
    here = ("agents", number)
    if not isinstance(item, dict):
        raise _Wrong(lines.of(*here), Words("an agent has `name` and `description`"))
    _check(item, _MEMBER, lines, *here)
    name = item.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        raise _Wrong(
            lines.of(*here, "name"),
            Words("`name` needs up to 63 letters, digits, spaces, dots, dashes, underscores"),
        )
    tools = item.get("tools")
    if tools is not None and not all(isinstance(tool, str) for tool in tools):
        raise _Wrong(lines.of(*here, "tools"), Words("`tools` must be a list of names"))
    parts = [common, str(item.get("system_prompt") or "").strip()]
    return Member(
        name,
        shown(" ".join(str(item.get("description") or "").split())),
        shown("\n\n".join(part for part in parts if part)),
        tuple(tools) if tools is not None else None,
        str(item.get("model") or ""),
        item.get("summary_on_send", True) is not False,
        item.get("clear_after_send_message", False) is True,
    )


def _check(
    values: Mapping[Any, Any], kinds: Mapping[str, type], lines: _Lines, *here: str | int
) -> None:
    """Raise `_Wrong` for a key that is not known, or a value of another kind."""
    for key, value in values.items():
        if key not in kinds:
            raise _Wrong(
                lines.of(*here, str(key)),
                Words("unknown key {key}; known are {keys}", key=repr(key), keys=", ".join(kinds)),
            )
        if value is not None and not isinstance(value, kinds[key]):
            raise _Wrong(
                lines.of(*here, key),
                Words("`{key}` must be {kind}", key=key, kind=Words(_KINDS[kinds[key]])),
            )
