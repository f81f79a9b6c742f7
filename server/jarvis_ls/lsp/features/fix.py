"""The rewrite of one finding, by name: what `Fix` in the findings view applies.

The view knows a finding as it was when it was told; the answer is the rewrite for the text as it
is now.
"""

from __future__ import annotations

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.convert import to_text_edits
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import FindingRef, FixResult
from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Answer `jarvis/fix` for findings of open documents."""

    async def fix(params: FindingRef) -> FixResult:
        state = await server.live.settled(params.uri)
        document = server.documents.get(params.uri)
        if state is None or document is None:
            raise UsageError(server.say("The document is not open."))
        for finding in state.active:
            if finding.fingerprint == params.fingerprint and finding.fix is not None:
                edits = to_text_edits(document, finding.fix.edits)
                reason = "" if finding.fix.safe else server.say("Changes behaviour")
                return FixResult(server.edit_of(document, edits, reason))
        raise UsageError(server.say("The code has changed; this finding no longer exists."))

    server.answer(extensions.FIX, fix)
