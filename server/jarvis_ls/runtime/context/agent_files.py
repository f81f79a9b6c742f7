"""Agents that users and projects describe in files: a name, what it is for, its tools, its models.

    ---
    name: reviewer
    description: Reads a change like a strict reviewer and reports what is wrong.
    tools: [read_code, search_in_project, findings]
    model: think
    ---
    Read the whole change before you say anything …

The user's are in `~/.jarvis/agents/*.md`, a trusted workspace's in `.jarvis/agents/*.md`; of two
with the same name the user's counts. A file gives no right: what an agent does passes the gate, and
it never has more tools than who starts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import front_matter
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.workspace_extras import with_state

MAX_FILES = 100
MAX_FILE = 64_000
"""Bytes of one file."""
MAX_DESCRIPTION = 300
_NAME = re.compile(r"\w[\w.-]{0,63}\Z")
_KEYS = frozenset({"name", "description", "tools", "model"})


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One agent of a file."""

    name: str
    description: str
    """What it is for; other agents choose by it."""
    instructions: str
    """How it works: part of its system prompt."""
    tools: tuple[str, ...] | None = None
    """Names of the only tools it may use; None means all of who starts it."""
    model: str = ""
    """A model group or `provider/model`; empty takes that of its kind."""


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """The agents there are, by name."""

    agents: Mapping[str, AgentFile]
    problems: tuple[str, ...] = ()
    """Files left out, in words for the user."""

    def prompt(self) -> str:
        """Return the names and what they are for, for models; empty without any."""
        if not self.agents:
            return ""
        lines = [f"- {agent.name}: {agent.description}" for agent in self.agents.values()]
        return "\n".join(["Agents that `sub_agent` can start by name (`agent`):", *lines])


def load_agent_files(home: Path, roots: Sequence[Path], *, trusted: bool) -> AgentFiles:
    """Read all files of agents. Never raises for what is in them; call it off the event loop."""
    agents: dict[str, AgentFile] = {}
    problems: list[str] = []
    places: list[tuple[Path, Path | None]] = [(home / "agents", None)]
    for root in with_state(roots, home):
        place = root / STATE / "agents"
        if place.is_dir() and not trusted:
            problems.append(Words("{place}: skipped, the workspace is not trusted", place=place))
        elif trusted:
            places.append((place, root))
    for place, within in places:
        for path in _files(place):
            try:
                if len(agents) >= MAX_FILES:
                    raise ValueError(f"there are more than {MAX_FILES} files of agents")
                read = path if within is not None else path.resolve()
                agent = read_agent_file(path.stem, read_regular(read, limit=MAX_FILE, root=within))
                if agent.name in agents:
                    raise ValueError(f"there is an agent {agent.name}")
            except (SkippedFile, ValueError) as error:
                problems.append(Words("{path}: skipped: {why}", path=path, why=error))
            else:
                agents[agent.name] = agent
    return AgentFiles(agents, tuple(problems))


def read_agent_file(stem: str, data: bytes) -> AgentFile:
    """Return the agent that a file describes; `stem` is its name where it says none.

    Raises `ValueError` saying what is wrong.
    """
    values, body = front_matter(data)
    if unknown := set(map(str, values)) - _KEYS:
        raise ValueError(f"unknown key {min(unknown)!r}")
    name = values.get("name", stem)
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError("a name has up to 64 letters, digits, dots, dashes and underscores")
    described = values.get("description")
    if not isinstance(described, str) or not described.strip():
        raise ValueError("it has no description")
    model = values.get("model", "")
    if not isinstance(model, str):
        raise ValueError("model must be the name of a model group or provider/model")
    if not body.strip():
        raise ValueError("it has no instructions below its front matter")
    description = shown(" ".join(described.split()))[:MAX_DESCRIPTION]
    return AgentFile(name, description, shown(body.strip()), _names(values.get("tools")), model)


def _names(value: Any) -> tuple[str, ...] | None:
    """Return the names of tools, from a list or from text divided by commas."""
    if value is None:
        return None
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise ValueError("tools must be a list of names")
    return tuple(name.strip() for name in listed if name.strip())


def _files(place: Path) -> Iterable[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.suffix == ".md")
    except OSError:
        return ()
