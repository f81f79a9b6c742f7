"""Tools for the language models of the editor: `jarvis/tool`.

They ask the facade, as other programs do over MCP. A model sees what is on the disk.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError, UsageError, missing_package
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import ToolParams, ToolResult
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.facade.project import Project


def register(server: Server) -> None:
    """Answer `jarvis/tool`."""
    feature = _LanguageTools(server)
    server.answer(extensions.TOOL, feature.run)
    server.closing.append(feature.close)


class _LanguageTools:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._projects: dict[tuple[str, bool], Project] = {}

    async def run(self, params: ToolParams) -> ToolResult:
        server = self._server
        root = self._root(params.folder)
        try:
            from jarvis_ls.facade.questions import ask

            answer = await ask(self._project(root), params.name, params.arguments)
        except ModuleNotFoundError as error:
            raise UsageError(
                server.say(
                    "{name} is missing: pip install 'jarvis-ls[agent,migrate]'",
                    name=missing_package(error),
                )
            ) from error
        except JarvisError as error:
            raise UsageError(server.say(str(error))) from None
        finally:
            if params.name == "prove":
                await server.proofs.written(root)
        if isinstance(answer, str):
            return ToolResult(answer)
        return ToolResult(json.dumps(answer, ensure_ascii=False, indent=1))

    def _root(self, uri: str | None) -> str:
        """Return the path of a folder of the workspace, by its URI; of the first without."""
        for folder in self._server.folders:
            if uri in (None, folder.uri):
                return folder.path
        raise UsageError(self._server.say("Open a folder first."))

    def _project(self, root: str) -> Project:
        from jarvis_ls.facade.project import Project

        key = root, self._server.trusted
        if key not in self._projects:
            self._projects[key] = Project(Path(root), trusted=self._server.trusted)
        return self._projects[key]

    async def close(self) -> None:
        for project in self._projects.values():
            project.close()
