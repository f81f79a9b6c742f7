"""Verifying a finding with agents: `jarvis/verify`, and the command of other editors.

Agents read the workspace and may build and run its code in a sandbox, only when the user asks and
only in a workspace that they trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, UsageError, missing_package
from jarvis_ls.lsp.features.prove import choose_findings
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import VerifyParams, VerifyResult
from jarvis_ls.lsp.pygls_fixes.lean import load_tls
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.verify_text import STAGES, VERIFY, page, summary

if TYPE_CHECKING:
    from jarvis_ls.jsec.pipeline.agent_port import Role


def register(server: Server) -> None:
    """Answer `jarvis/verify` and the command `jarvis.verify`."""
    feature = _Verify(server)
    server.answer(extensions.VERIFY, feature.verify)
    server.run(extensions.COMMAND_VERIFY, feature.verify_command)


class _Verify:
    def __init__(self, server: Server) -> None:
        self._server = server

    async def verify(self, params: VerifyParams) -> VerifyResult:
        server = self._server
        if not server.trusted:
            raise UsageError(
                server.say(
                    "Agents read the workspace and run its code to verify a finding: trust the "
                    "workspace first."
                )
            )
        root, (finding, *_) = await choose_findings(server, params.uri, params.finding)
        load_tls()
        async with server.work.work(server.say(VERIFY), params.work_done_token) as work:

            def tell(stage: Role | None) -> None:
                name = stage.value if stage is not None else ""
                work.report(0, 0, server.say(STAGES[name]), at_once=True)

            try:
                done = await server.verifying.verify(root, finding, work, tell, server.model_keys)
            except JarvisError as error:
                if not work.cancelled:
                    raise UsageError(server.say(str(error))) from None
                done = None
            except ModuleNotFoundError as error:
                raise UsageError(
                    server.say(
                        "{name} is missing: pip install 'jarvis-ls[agent,migrate]'",
                        name=missing_package(error),
                    )
                ) from error
            finally:
                await server.proofs.written(str(root))
        if done is None:
            return VerifyResult("cancelled", server.say("It was cancelled."), "")
        server.tell_model("none" if done.lacking else "ready")
        if done.lacking:
            return VerifyResult("no_model", server.say(done.lacking), "")
        told = summary(done, server.say)
        if done.finding.conclusion is None:
            return VerifyResult("unfinished", told, "")
        return VerifyResult("verified", told, page(done, server.say))

    async def verify_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.verify` (uri, and fingerprint, id or number of a finding)."""
        if len(arguments) != 2 or not all(isinstance(item, str) for item in arguments):
            raise UsageError(self._server.say("The command needs a URI and a finding."))
        result = await self.verify(VerifyParams(*arguments))
        if not self._server.own_client:
            shown = types.ShowMessageParams(types.MessageType.Info, result.summary)
            self._server.window_show_message(shown)
        return {"status": result.status, "summary": result.summary, "report": result.markdown}
