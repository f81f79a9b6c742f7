"""What a client of the Agent Client Protocol says, for the facade, and what it can choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from acp import schema

from jarvis_ls.core.errors import UsageError
from jarvis_ls.facade.session_records import Picture, ToolServer

if TYPE_CHECKING:
    from jarvis_ls.facade.sessions import OpenSession

MODEL = "model"
"""Id of the session's option for the model."""


def choices(opened: OpenSession) -> dict[str, Any]:
    """Return what the user can choose in a session, for the answers that open one."""
    modes = [schema.SessionMode(id=mode.id, name=mode.name) for mode in opened.modes]
    state = schema.SessionModeState(current_mode_id=opened.mode, available_modes=modes)
    return {"modes": state, "config_options": [model_option(opened)]}


def model_option(opened: OpenSession) -> schema.SessionConfigOptionSelect:
    """Return the option of a session by which the user chooses a model."""
    return schema.SessionConfigOptionSelect(
        type="select",
        id=MODEL,
        name="Model",
        category="model",
        current_value=opened.model,
        options=[
            schema.SessionConfigSelectOption(value=model.id, name=model.name)
            for model in opened.models
        ],
    )


def read_server(server: Any) -> ToolServer:
    """Return a tool server that the client names. Raises `UsageError` for other transports."""
    if isinstance(server, schema.McpServerStdio):
        environment = {variable.name: variable.value for variable in server.env}
        return ToolServer(server.name, (server.command, *server.args), environment)
    if isinstance(server, schema.HttpMcpServer):
        headers = {header.name: header.value for header in server.headers}
        return ToolServer(server.name, url=server.url, headers=headers)
    raise UsageError(
        "The tool server {name} is reached neither by stdio nor HTTP.", name=server.name
    )


def read_prompt(opened: OpenSession, blocks: Sequence[Any]) -> tuple[str, list[Picture]]:
    """Return the text of a prompt, with its files as mentions, and its pictures."""
    said, attached, pictures = "", [], []
    for block in blocks:
        if isinstance(block, schema.TextContentBlock):
            said += block.text
        elif isinstance(block, schema.ResourceContentBlock):
            said += opened.mention(path) if (path := _path_of(block.uri)) else block.uri
        elif isinstance(block, schema.ImageContentBlock):
            pictures.append(Picture(block.mime_type, block.data))
        elif isinstance(block, schema.EmbeddedResourceContentBlock):
            text = getattr(block.resource, "text", None)
            if text is None:
                raise UsageError("Binary resources cannot be attached.")
            attached.append(opened.quote(_path_of(block.resource.uri) or block.resource.uri, text))
        else:
            raise UsageError("Prompts of the kind {kind} cannot be read.", kind=block.type)
    return "\n\n".join(part for part in (said, *attached) if part.strip()), pictures


def _path_of(uri: str) -> str:
    """Return the path of a `file:` URI; empty for others."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return url2pathname(unquote(parts.path)) if parts.scheme == "file" else ""
