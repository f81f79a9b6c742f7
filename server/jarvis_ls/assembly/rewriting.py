"""The agents of `jc2r rewrite`: each answer comes from a fresh agent that can only look."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.assembly.task_agents import AgentWriter, open_readers
from jarvis_ls.core.errors import UsageError

_NAME = "jc2r rewrite"


async def find_missing_model(group: str, environment: Mapping[str, str]) -> str:
    """Return why there is no model in `group`, or in that of the user's settings; empty when there
    is one."""
    assembly = build(environment=environment)
    try:
        return assembly.missing_model(group or assembly.tree_settings("").group("child"))
    finally:
        await assembly.close()


@contextlib.asynccontextmanager
async def open_writer(
    root: Path, group: str, environment: Mapping[str, str]
) -> AsyncIterator[AgentWriter]:
    """Open a session over the C project at `root` whose agents write Rust with the models of
    `group`, or those of the user's settings; at the end all of them have ended.

    Raises `UsageError` that says what to set when there is no model.
    """
    assembly = build(environment=environment)
    try:
        name = group or assembly.tree_settings("").group("child")
        if why := assembly.missing_model(name):
            raise UsageError("Rewriting needs a model: {why}", why=why)
        async with open_readers(assembly, root, _NAME, trusted=True) as agents:
            yield AgentWriter(agents, group)
    finally:
        await assembly.close()
