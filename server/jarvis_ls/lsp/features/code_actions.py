"""The light bulb: safe rewrites, all of them at once, those that change behaviour, suppression with
a reason, explanations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from jarvis_ls.core.finding import Edit, Finding
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.scan.apply_fixes import join_edits
from jarvis_ls.lsp.convert import SOURCE, overlaps, to_diagnostic, to_range, to_text_edits
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.findings import FileState
from jarvis_ls.lsp.proof_text import CASE_COMMANDS, PROVE, REPLAY
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.repair_text import REPAIR
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.suppressing import Scope, suppressing_edits
from jarvis_ls.lsp.verify_text import EXPLAIN, VERIFY, reference

FIX_ALL = "source.fixAll.jarvis"
_SCOPES: tuple[tuple[Scope, str], ...] = (
    ("line", "Suppress {rule} here with a comment"),
    ("function", "Suppress {rule} in this function"),
    ("file", "Suppress {rule} in this file"),
)


def register(server: Server) -> None:
    """Answer code action requests from the findings of the text as it is now, and with what other
    features offer."""
    actions = _Actions(server)
    options = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor, FIX_ALL],
        resolve_provider=False,
    )
    server.answer(types.TEXT_DOCUMENT_CODE_ACTION, actions.answer, options)


class _Actions:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._say = server.say
        self._joined: dict[str, tuple[FileState, dict[str, list[types.TextEdit]]]] = {}
        """By URI: the edits that do several fixes at once, by rule (of all: an empty one). A light
        bulb is asked for with every move of the cursor."""
        server.closed.subscribe(self._forget)

    def _forget(self, uri: str) -> None:
        self._joined.pop(uri, None)

    async def answer(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        state = await self._server.live.current(uri)
        document = self._server.documents.get(uri)
        if state is None or document is None:
            return []
        self._say = self._server.say
        here = _findings_in_question(state.active, params)
        only = params.context.only
        found = [
            *self._fixes(document, state, here),
            *self._proofs(document, here),
            *self._settle(document, state, here),
        ]
        found += [action for more in self._server.actions for action in more(params)]
        if _is_wanted(FIX_ALL, only):
            found += self._fix_all(document, state)
        return [action for action in found if _is_wanted(action.kind, only)]

    def _fixes(
        self, document: Document, state: FileState, here: list[Finding]
    ) -> Iterator[types.CodeAction]:
        """Yield what keeps behaviour before what changes it, which the user sees first."""
        for finding in _safe(here):
            yield self._fix(document, finding)
        for rule in dict.fromkeys(finding.rule for finding in here):
            alike = [finding for finding in _safe(state.active) if finding.rule == rule]
            if len(alike) > 1:
                title = self._say("Fix all {n} '{rule}' in this file", n=len(alike), rule=rule)
                edits = self._together(document, state, rule, alike)
                yield self._action(title, document, edits)
        for finding in here:
            if finding.fix is not None and not finding.fix.safe:
                yield self._fix(document, finding)

    def _fix(self, document: Document, finding: Finding) -> types.CodeAction:
        assert finding.fix is not None
        safe, title = finding.fix.safe, self._say.text(finding.fix.title)
        return self._action(
            title if safe else self._say("{fix} (changes behaviour)", fix=title),
            document,
            to_text_edits(document, finding.fix.edits),
            finding,
            preferred=safe,
            to_confirm="" if safe else self._say("Changes behaviour"),
        )

    def _fix_all(self, document: Document, state: FileState) -> Iterator[types.CodeAction]:
        fixable = _safe(state.active)
        if fixable:
            title = self._say("Fix all findings with a safe rewrite")
            edits = self._together(document, state, "", fixable)
            yield self._action(title, document, edits, kind=FIX_ALL)

    def _proofs(self, document: Document, here: list[Finding]) -> Iterator[types.CodeAction]:
        """Yield running the code, and what can be done with a run that has shown something."""
        if not self._server.trusted or not self._server.place(document.uri).root:
            return
        own = self._server.own_client
        for finding in here:
            if is_hint(finding):
                continue
            title = self._say(PROVE)
            if own:
                reference = {"uri": document.uri, "fingerprint": finding.fingerprint}
                yield self._command(title, "jarvisLs.prove", [reference])
            else:
                arguments = [document.uri, finding.fingerprint]
                yield self._command(title, extensions.COMMAND_PROVE, arguments)
            if self._server.model != "none":
                yield from self._agents(document, finding)
            if finding.language != "rust":
                yield self._repair(document, finding)
            if finding.proof is None or not finding.proof.case:
                continue
            name = finding.proof.case
            if own:
                case = {"uri": document.uri, "case": name}
                for text, command in CASE_COMMANDS:
                    yield self._command(self._say(text), command, [case])
            else:
                arguments = [document.uri, name]
                yield self._command(self._say(REPLAY), extensions.COMMAND_REPLAY, arguments)

    def _agents(self, document: Document, finding: Finding) -> Iterator[types.CodeAction]:
        """Yield what agents can say of a finding."""
        title = self._say(VERIFY)
        if self._server.own_client:
            meant = reference(finding, document.uri)
            yield self._command(title, "jarvisLs.verify", [meant])
            yield self._command(self._say(EXPLAIN), "jarvisLs.explainFinding", [meant])
        else:
            arguments = [document.uri, finding.fingerprint]
            yield self._command(title, extensions.COMMAND_VERIFY, arguments)

    def _repair(self, document: Document, finding: Finding) -> types.CodeAction:
        title = self._say(REPAIR)
        if self._server.own_client:  # it shows the diff, then sends `jarvis/repairApply`
            reference = {"uri": document.uri, "fingerprint": finding.fingerprint}
            return self._command(title, "jarvisLs.repair", [reference])
        arguments = [document.uri, finding.fingerprint]
        return self._command(title, extensions.COMMAND_REPAIR, arguments)

    def _settle(
        self, document: Document, state: FileState, here: list[Finding]
    ) -> Iterator[types.CodeAction]:
        seen: set[str] = set()
        for finding in here:
            if finding.rule in seen:
                continue
            seen.add(finding.rule)
            for scope, title in _SCOPES:
                yield self._suppress(document, state, finding, scope, title)
            if self._server.trusted and self._server.place(document.uri).root:
                yield self._baseline(document, finding)  # elsewhere there is none
            yield self._explain(finding)

    def _suppress(
        self, document: Document, state: FileState, finding: Finding, scope: Scope, title: str
    ) -> types.CodeAction:
        text = self._say(title, rule=finding.rule)
        if self._server.own_client:  # it asks for the reason, then sends `jarvis/suppress`
            reference = {"uri": document.uri, "fingerprint": finding.fingerprint}
            return self._command(text, "jarvisLs.suppressHere", [[reference], scope])
        reason = self._say("reviewed in the editor, not a problem")
        findings = [finding] if scope == "line" else _alike(state, finding, scope)
        edits = suppressing_edits(document, findings, state.functions, scope, reason)
        return self._action(text, document, edits, finding)

    def _baseline(self, document: Document, finding: Finding) -> types.CodeAction:
        title = self._say("Add this {rule} to the baseline", rule=finding.rule)
        arguments = [document.uri, finding.fingerprint]
        return self._command(title, extensions.COMMAND_ADD_TO_BASELINE, arguments)

    def _explain(self, finding: Finding) -> types.CodeAction:
        title = self._say("Explain {rule}", rule=finding.rule)
        own = self._server.own_client
        command = "jarvisLs.explainRule" if own else extensions.COMMAND_EXPLAIN_RULE
        return self._command(title, command, [finding.rule])

    def _together(
        self, document: Document, state: FileState, rule: str, findings: Iterable[Finding]
    ) -> list[types.TextEdit]:
        """Edits of several fixes; a fix that overlaps an earlier one waits for the next time."""
        known = self._joined.get(document.uri)
        if known is None or known[0] is not state:
            known = self._joined[document.uri] = (state, {})
        edits = known[1].get(rule)
        if edits is None:
            edits = known[1][rule] = to_text_edits(document, _join(findings))
        return edits

    def _action(
        self,
        title: str,
        document: Document,
        edits: list[types.TextEdit],
        finding: Finding | None = None,
        *,
        kind: str = types.CodeActionKind.QuickFix,
        preferred: bool = False,
        to_confirm: str = "",
    ) -> types.CodeAction:
        return types.CodeAction(
            title,
            types.CodeActionKind(kind) if kind == types.CodeActionKind.QuickFix else kind,
            self._diagnostics(document, finding),
            is_preferred=preferred or None,
            edit=self._server.edit_of(document, edits, to_confirm),
        )

    def _command(self, title: str, command: str, arguments: Sequence[object]) -> types.CodeAction:
        return types.CodeAction(
            title,
            types.CodeActionKind.QuickFix,
            command=types.Command(title, command, arguments=list(arguments)),
        )

    def _diagnostics(
        self, document: Document, finding: Finding | None
    ) -> list[types.Diagnostic] | None:
        if finding is None:
            return None
        key = self._server.key(document.uri)
        locate = self._server.beside
        return [to_diagnostic(finding, self._say, lambda file: locate(key, file))]


def _join(findings: Iterable[Finding]) -> list[Edit]:
    taken: list[Edit] = []
    for finding in findings:
        assert finding.fix is not None
        together = join_edits(taken, finding.fix.edits)
        taken = taken if together is None else together
    return taken


def _safe(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.fix is not None and finding.fix.safe]


def _alike(state: FileState, finding: Finding, scope: Scope) -> list[Finding]:
    """Return the findings of the same rule that a comment of this scope would cover."""
    alike = [other for other in state.active if other.rule == finding.rule]
    if scope == "file":
        return alike[:1]
    return [finding]


def _is_wanted(kind: str | None, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    if only is None:
        return True
    name = str(kind.value if isinstance(kind, types.CodeActionKind) else kind)
    wanted = [str(kind.value if isinstance(kind, types.CodeActionKind) else kind) for kind in only]
    return any(name == kind or name.startswith(f"{kind}.") or kind == "" for kind in wanted)


def _findings_in_question(
    findings: Sequence[Finding], params: types.CodeActionParams
) -> list[Finding]:
    """Return the findings a client asks about: those under the cursor, those it names (Neovim means
    the whole line), and where there is neither and the user asked by a key, those of the line.
    """
    context = params.context
    named = {
        (str(diagnostic.code), diagnostic.range.start.line + 1)
        for diagnostic in context.diagnostics
        if diagnostic.source == SOURCE
    }
    meant = [
        finding
        for finding in findings
        if overlaps(to_range(finding.span), params.range)
        or (finding.rule, finding.span.line) in named
    ]
    if meant or context.trigger_kind != types.CodeActionTriggerKind.Invoked:
        return meant
    first, last = params.range.start.line + 1, params.range.end.line + 1
    return [finding for finding in findings if first <= finding.span.line <= last]
