"""Repairing a finding: a patch that has passed the gates is shown, and written when it is accepted.

Code of the workspace is built and run, on copies and in a sandbox, only when the user asks and only
in a workspace that they trust.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.lsp.features.prove import choose_findings, is_saved
from jarvis_ls.lsp.missing_packages import ask_for_packages
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import (
    RepairApplyParams,
    RepairApplyResult,
    RepairFile,
    RepairParams,
    RepairResult,
    RepairStatus,
)
from jarvis_ls.lsp.pygls_fixes.lean import load_tls
from jarvis_ls.lsp.repair_text import REPAIR, page, summary
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.jsec.repair.patch import FileChange
    from jarvis_ls.jsec.repair.repair import Repair
    from jarvis_ls.jsec.repair.verdict import Gate


def register(server: Server) -> None:
    """Answer `jarvis/repair` and `jarvis/repairApply`, and the commands of other editors."""
    feature = _Repair(server)
    server.answer(extensions.REPAIR, feature.repair)
    server.answer(extensions.REPAIR_APPLY, feature.apply)
    server.run(extensions.COMMAND_REPAIR, feature.repair_command)
    server.run(extensions.COMMAND_APPLY_REPAIR, feature.apply_command)


class _Repair:
    def __init__(self, server: Server) -> None:
        self._server = server

    async def repair(self, params: RepairParams) -> RepairResult:
        server = self._server
        self._require_trust()
        root, (finding, *_) = await choose_findings(server, params.uri, params.finding)
        load_tls()
        async with server.work.work(server.say(REPAIR), params.work_done_token) as work:

            def tell(what: str, gate: Gate | None) -> None:
                from jarvis_ls.jsec.repair.repair import DOING
                from jarvis_ls.jsec.repair.verdict import TITLES

                told = server.say(DOING[what])
                if gate is not None:
                    told = f"{told}: {server.say(TITLES[gate])}"
                work.report(0, 0, told, at_once=True)

            try:
                done = await server.repairing.repair(root, finding, work, tell, server.model_keys)
            except JarvisError as error:
                if not work.cancelled:
                    raise UsageError(server.say(str(error))) from None
                done = None
            except ModuleNotFoundError as error:
                raise ask_for_packages(error, server.say) from error
            finally:
                await server.proofs.written(str(root))
        if done is None:
            text = server.say("It was cancelled.")
            return RepairResult("cancelled", text, "", "", "", [])
        return self._result(root, done)

    def _result(self, root: Path, done: Repair) -> RepairResult:
        server = self._server
        text, told = summary(done, server.say), page(done, server.say)
        passed = done.passed
        folder = server.folders.of_root(str(root))
        if passed is None or passed.judgement is None or folder is None:
            status: RepairStatus = "no_model" if done.lacking else "unfixable"
            return RepairResult(status, text, told, "", "", [])
        patch = passed.judgement.patch
        files = [
            RepairFile(
                folder.uri_of(change.path), change.path, change.after.decode(errors="replace")
            )
            for change in patch.changes
        ]
        name = server.repairing.keep(root, patch)
        return RepairResult("repaired", text, told, name, patch.diff(), files)

    async def apply(self, params: RepairApplyParams) -> RepairApplyResult:
        server = self._server
        self._require_trust()
        try:
            kept = server.repairing.find(params.name)
            folder = server.folders.of_root(str(kept.root))
            if folder is None:
                raise UsageError("The file is outside the workspace.")
            uris = [folder.uri_of(change.path) for change in kept.patch.changes]
            for uri, change in zip(uris, kept.patch.changes, strict=True):
                document = server.documents.get(uri)
                if document is not None and not is_saved(kept.root, change.path, document.text):
                    raise UsageError(
                        "{file} has changes that are not saved; nothing was written.",
                        file=change.path,
                    )
            await server.repairing.apply(params.name)
        except JarvisError as error:
            raise UsageError(server.say(str(error))) from None
        return RepairApplyResult(uris)

    async def repair_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.repair` (uri, and fingerprint, id or number of a finding)."""
        if len(arguments) != 2 or not all(isinstance(item, str) for item in arguments):
            raise UsageError(self._server.say("The command needs a URI and a finding."))
        result = await self.repair(RepairParams(*arguments))
        self._show(result.summary)
        return {
            "status": result.status,
            "summary": result.summary,
            "report": result.markdown,
            "repair": result.name,
            "diff": result.diff,
        }

    async def apply_command(self, arguments: list[Any]) -> list[str]:
        """`jarvis.applyRepair` (the name that `jarvis.repair` gave)."""
        if len(arguments) != 1 or not isinstance(arguments[0], str):
            raise UsageError(self._server.say("The command needs the name of a repair."))
        return (await self.apply(RepairApplyParams(arguments[0]))).files

    def _require_trust(self) -> None:
        if not self._server.trusted:
            raise UsageError(
                self._server.say(
                    "Findings are repaired by building and running the code of the workspace: "
                    "trust the workspace first."
                )
            )

    def _show(self, text: str) -> None:
        """Tell the user of an editor that knows nothing of our answers."""
        if not self._server.own_client:
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))


def _text(change: FileChange) -> str:
    return change.after.decode("utf-8", "replace")
