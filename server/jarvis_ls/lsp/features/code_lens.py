"""How many findings a function has, above the function; a click lists them where our client can,
and goes to the first elsewhere."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from lsprotocol import types

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.evidence import Verdict
from jarvis_ls.jsec.scan.result import by_score
from jarvis_ls.lsp import convert
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.repair_text import REPAIR
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.user_messages import Messages
from jarvis_ls.lsp.verify_text import VERIFY, reference

CHANGE = Words("Change with Jarvis")
"""What lets an agent change a function."""


def register(server: Server) -> None:
    """Answer with one lens for each function that has findings."""

    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        state = await server.live.current(uri)
        if state is None:
            return []
        found = [lens for more in server.lenses for lens in more(uri)]
        findings = sorted(
            state.active, key=lambda finding: (finding.span.line, finding.span.column)
        )
        lines = [finding.span.line for finding in findings]
        for name, first, last in state.functions:
            at = bisect_left(lines, first)
            count = bisect_right(lines, last) - at
            if count:
                here = findings[at : at + count]
                found.append(_lens(uri, first, here))
                found += _verify_lens(uri, first, here)
                found += _repair_lens(uri, first, here)
                found += _change_lens(uri, first, name)
        return found

    def _lens(uri: str, line: int, findings: list[Finding]) -> types.CodeLens:
        title = _title(findings, server.say)
        start = types.Position(line - 1, 0)
        window = server.client_capabilities.window
        # Without a command id the lens is a text.
        command = types.Command(title, "")
        if server.own_client:
            places = [convert.to_range(finding.span) for finding in findings]
            command = types.Command(title, "jarvisLs.peekFindings", arguments=[uri, places])
        elif window is not None and window.show_document and window.show_document.support:
            place = convert.to_range(findings[0].span).start
            arguments = [uri, place.line, place.character]
            command = types.Command(title, extensions.COMMAND_SHOW_FINDING, arguments=arguments)
        return types.CodeLens(types.Range(start, start), command)

    def _repair_lens(uri: str, line: int, findings: list[Finding]) -> list[types.CodeLens]:
        """Return what repairs the gravest finding of a function, where our client can show it."""
        chosen = [item for item in findings if item.language != "rust" and not is_hint(item)]
        if not (chosen and can_show(uri)):
            return []
        fingerprint = min(chosen, key=by_score).fingerprint
        return _offer(line, REPAIR, "jarvisLs.repair", {"uri": uri, "fingerprint": fingerprint})

    def _verify_lens(uri: str, line: int, findings: list[Finding]) -> list[types.CodeLens]:
        """Return what lets agents verify the gravest finding of a function, once there is a model
        and where our client can show what they say."""
        chosen = [item for item in findings if not is_hint(item)]
        if not (chosen and has_model() and can_show(uri)):
            return []
        return _offer(line, VERIFY, "jarvisLs.verify", reference(min(chosen, key=by_score), uri))

    def _change_lens(uri: str, line: int, name: str) -> list[types.CodeLens]:
        """Return what lets an agent change a function, once there is a model and where our client
        can show what it did."""
        if not (has_model() and can_show(uri)):
            return []
        meant = {"uri": uri, "line": line, "name": name}
        return _offer(line, CHANGE, "jarvisLs.changeCode", meant)

    def has_model() -> bool:
        """Return whether agents can be asked."""
        return server.model in ("ready", "failing")

    def can_show(uri: str) -> bool:
        """Return whether our client can show what becomes of a file, and the user trusts it."""
        return server.own_client and server.trusted and bool(server.place(uri).root)

    def _offer(line: int, title: str, command: str, meant: Any) -> list[types.CodeLens]:
        """Return what begins something at a line."""
        start = types.Position(line - 1, 0)
        offered = types.Command(server.say(title), command, arguments=[meant])
        return [types.CodeLens(types.Range(start, start), offered)]

    async def show(arguments: list[Any]) -> bool:
        if [type(argument) for argument in arguments] != [str, int, int]:
            raise UsageError(server.say("The command needs a file, a line and a column."))
        uri, line, character = arguments
        place = types.Position(max(0, line), max(0, character))
        shown = await server.window_show_document_async(
            types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(place, place))
        )
        return bool(shown.success)

    def refresh(_key: object) -> None:
        workspace = server.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            server.workspace_code_lens_refresh(None)

    server.answer(types.TEXT_DOCUMENT_CODE_LENS, lenses, types.CodeLensOptions())
    server.run(extensions.COMMAND_SHOW_FINDING, show)
    server.configured.subscribe(refresh)
    server.proofs.changed.subscribe(refresh)
    server.model_changed.subscribe(refresh)


def _title(findings: list[Finding], say: Messages) -> str:
    """Return how many there are, and how many of them a run has reproduced."""
    count = len(findings)
    told = say("1 finding") if count == 1 else say("{n} findings", n=count)
    done = sum(
        finding.proof is not None and finding.proof.verdict == Verdict.REPRODUCED.value
        for finding in findings
    )
    return f"{told} · {say('{n} reproduced', n=done)}" if done else told


def _place(finding: Finding) -> tuple[int, int]:
    return finding.span.line, finding.span.column
