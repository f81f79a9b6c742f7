"""Files that are handed over to models: those that belong to a task with its first message
(uploaded where the model takes files, else as text), and what tools put out that is too long."""

from __future__ import annotations

import asyncio
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import read_regular
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.messages import FileRef, Image, User
from jarvis_ls.runtime.context.mentions import mention_of, read_mention
from jarvis_ls.runtime.tools.permissions import inside

UPLOAD_BYTES = 20_000_000


async def hand_over_files(agent: AgentInterface) -> None:
    """Add the agent's files to its conversation. One that cannot be read is named with the
    reason; an upload that fails becomes text."""
    texts: list[str] = []
    images: list[Image] = []
    refs: list[FileRef] = []
    for path in agent.options.files:
        real = inside(path, agent.context.roots)
        goes = agent.group.takes_files and real is not None and real.is_file()
        if goes and real is not None and (ref := await _upload(agent, path, real)) is not None:
            refs.append(ref)
            continue
        mention = mention_of(path, "", agent.context.roots)
        if mention is None:
            texts.append(f"({path} was not handed over: it is not in the workspace.)")
            continue
        try:
            given = await read_mention(mention, agent.context)
        except JarvisError as error:
            texts.append(f"({error})")
            continue
        if isinstance(given, Image):
            images.append(given)
        else:
            texts.append(given)
    names = ", ".join(ref.name for ref in refs)
    said = ["Files that belong to the task:", *([f"Attached: {names}"] if names else []), *texts]
    agent.append(User("\n\n".join(said), tuple(images), id=new_id(), files=tuple(refs)))


class LongOutputs:
    """Outputs of an agent's tools that are too long for its conversation."""

    def __init__(self, agent: AgentInterface) -> None:
        self._agent = agent
        self._attached: list[FileRef] = []

    async def take(self, name: str, text: str) -> str:
        """Hand over a tool's output that is too long as a file, where the models take files; the
        words that represent it, empty when it was not taken."""
        if not self._agent.group.takes_files:
            return ""
        try:
            file = await self._agent.group.upload(
                f"{name}-{new_id()}.txt", text.encode("utf-8", "replace")
            )
        except ModelError as error:
            self._agent.showing.notice(
                "warning", "A long output could not be sent as a file: {why}", why=error
            )
            return ""
        self._attached.append(file)
        return f"The whole output ({len(text)} characters) is attached as {file.name!r}."

    def attach(self) -> None:
        """Refer to the files that the latest calls handed over."""
        files, self._attached = tuple(self._attached), []
        if files:
            names = ", ".join(file.name for file in files)
            self._agent.append(User(f"Attached output: {names}", id=new_id(), files=files))


async def _upload(agent: AgentInterface, path: str, real: Path) -> FileRef | None:
    try:
        data = await asyncio.to_thread(read_regular, real, limit=UPLOAD_BYTES)
        return await agent.group.upload(real.name, data)
    except JarvisError as error:
        agent.showing.notice(
            "warning", "{path} could not be uploaded and goes as text: {why}", path=path, why=error
        )
        return None
