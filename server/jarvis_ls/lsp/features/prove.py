"""Evidence by execution: proving findings, the input of a run, its replay, a test of it.

Code of the workspace is built and run, on a copy and in a sandbox, only when the user asks and only
in a workspace that they trust.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.lsp.documents import is_text_of
from jarvis_ls.lsp.proof_text import case_page, shown_bytes, summary, to_proof_item
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import (
    CaseParams,
    CaseResult,
    ProveParams,
    ProveResult,
    RegressionTestParams,
    RegressionTestResult,
    ReplayResult,
    TestFile,
)
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.jsec.proof.evidence import Case, Evidence

_LARGEST_SOURCE = 64_000_000

logger = logging.getLogger(__name__)


def register(server: Server) -> None:
    """Answer what is asked about evidence, and the commands `jarvis.prove`, `jarvis.replay`."""
    feature = _Prove(server)
    server.closing.append(server.proving.close)
    server.evidence_written.subscribe(server.proofs.written)
    server.answer(extensions.PROVE, feature.prove)
    server.answer(extensions.REPLAY, feature.replay)
    server.answer(extensions.CASE, feature.case)
    server.answer(extensions.REGRESSION_TEST, feature.regression_test)
    server.run(extensions.COMMAND_PROVE, feature.prove_command)
    server.run(extensions.COMMAND_REPLAY, feature.replay_command)


class _Prove:
    def __init__(self, server: Server) -> None:
        self._server = server

    async def prove(self, params: ProveParams) -> ProveResult:
        server = self._server
        self._require_trust()
        root, findings = await choose_findings(server, params.uri, params.finding)
        total = len(findings)
        title = server.say("Proving by running")
        async with server.work.work(title, params.work_done_token) as work:

            def tell(done: int, rung: str) -> None:
                finding = findings[done]
                work.report(done, total, f"{finding.file}:{finding.span.line} {rung}", at_once=True)

            try:
                found = await server.proving.prove(root, findings, work, tell)
            except JarvisError as error:
                raise self._wording(error) from None
            finally:
                await server.proofs.written(str(root))
        from jarvis_ls.jsec.proof.attach import to_proof  # loaded by what has run

        return ProveResult(
            len(found),
            summary(found, server.say),
            [to_proof_item(to_proof(evidence), server.say) for evidence in found],
            work.cancelled and len(found) < total,
        )

    async def prove_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.prove` (uri, and of one finding its fingerprint, id or number)."""
        if len(arguments) not in (1, 2) or not isinstance(arguments[0], str):
            raise UsageError(self._server.say("The command needs a URI and perhaps a finding."))
        name = arguments[1] if len(arguments) > 1 else None
        if isinstance(name, bool) or not isinstance(name, str | int | None):
            raise UsageError(self._server.say("The command needs a URI and perhaps a finding."))
        result = await self.prove(ProveParams(arguments[0], None if name is None else str(name)))
        self._show(result.summary)
        return {
            "examined": result.examined,
            "summary": result.summary,
            "verdicts": [proof.verdict for proof in result.proofs],
            "cancelled": result.cancelled,
        }

    async def replay(self, params: CaseParams) -> ReplayResult:
        server = self._server
        self._require_trust()
        root, evidence, case = await self._case(params.uri, params.case)
        title = server.say("Running case {case} again", case=case.id)
        async with server.work.work(title, params.work_done_token) as work:
            try:
                seen = await server.proving.replay(root, evidence, case, work)
            except JarvisError as error:
                if not work.cancelled:
                    raise self._wording(error) from None
                seen = None
        if work.cancelled:
            return ReplayResult(False, server.say("It was cancelled."), True)
        if seen is None:
            text = server.say("Case {case} shows nothing any more.", case=case.id)
            return ReplayResult(False, text, False)
        where = f"{seen.file}:{seen.line}"
        text = server.say(
            "Case {case}: {kind} at {where}.", case=case.id, kind=seen.kind, where=where
        )
        return ReplayResult(True, text, False)

    async def replay_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.replay` (uri, name of a case)."""
        if len(arguments) != 2 or not all(isinstance(argument, str) for argument in arguments):
            raise UsageError(self._server.say("The command needs a URI and the name of a case."))
        result = await self.replay(CaseParams(*arguments))
        self._show(result.text)
        return {"reproduced": result.reproduced, "cancelled": result.cancelled}

    async def case(self, params: CaseParams) -> CaseResult:
        _root, evidence, case = await self._case(params.uri, params.case)
        return CaseResult(case_page(evidence, case, self._server.say))

    async def regression_test(self, params: RegressionTestParams) -> RegressionTestResult:
        self._require_trust()
        root, evidence, _case = await self._case(params.uri, params.case)
        try:
            return await asyncio.to_thread(self._save_test, root, evidence, write=params.write)
        except JarvisError as error:
            raise self._wording(error) from None

    def _save_test(self, root: Path, evidence: Evidence, *, write: bool) -> RegressionTestResult:
        from jarvis_ls.jsec.proof.regression_test import plan_test, save_test

        planned = plan_test(root, evidence)
        folder = self._server.folders.of_root(str(root))
        if folder is None:
            raise UsageError("The file is outside the workspace.")
        files = [
            TestFile(
                folder.uri_of(file.path),
                file.path,
                shown_bytes(file.data),
                (root / file.path).exists(),
            )
            for file in planned
        ]
        if write:
            save_test(root, evidence)
        return RegressionTestResult(files)

    async def _case(self, uri: str, name: str) -> tuple[Path, Evidence, Case]:
        server = self._server
        root = server.place(uri).root
        found = await server.proofs.case(root, name) if root else None
        if found is None:
            raise UsageError(
                server.say("There is no case {name} any more; prove again.", name=name)
            )
        return Path(root), *found

    def _require_trust(self) -> None:
        if not self._server.trusted:
            raise UsageError(
                self._server.say(
                    "Findings are proven by building and running the code of the workspace: trust "
                    "the workspace first."
                )
            )

    def _wording(self, error: JarvisError) -> UsageError:
        """Return an error in the user's language."""
        return UsageError(self._server.say(str(error)))

    def _show(self, text: str) -> None:
        """Tell the user of an editor that knows nothing of our answers."""
        if not self._server.own_client:
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))


async def choose_findings(server: Server, uri: str, name: str | None) -> tuple[Path, list[Finding]]:
    """Return the folder and the findings meant, in the order of the file, as they are in the text
    that is on disk: that is run. Raises `UsageError` when there are none."""
    await server.live.settled(uri)
    place = server.place(uri)
    if not place.root:
        raise UsageError(server.say("The file is outside the workspace."))
    state = server.findings.get(place.key)
    findings = [
        finding
        for finding in (state.active if state is not None else [])
        if not is_hint(finding) and (name is None or finding.is_named(name))
    ]
    if not findings:
        if name is None:
            raise UsageError(server.say("There are no findings in this file."))
        raise UsageError(server.say("The code has changed; this finding no longer exists."))
    document = server.documents.get(uri)
    if document is not None and not await asyncio.to_thread(
        is_saved, Path(place.root), place.path, document.text
    ):
        raise UsageError(server.say("Save the file first: what is on disk is run."))
    return Path(place.root), findings


def is_saved(root: Path, file: str, text: str) -> bool:
    """Return whether a document is what its file on the disk is."""
    try:
        data = read_regular(root / file, limit=_LARGEST_SOURCE, root=root)
    except SkippedFile:
        return False
    return is_text_of(data, text)
