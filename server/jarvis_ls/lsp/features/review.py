"""Review of a change: `jarvis/review`, its issues as diagnostics, and what the user decides on
them: `jarvis/reviewAccept`, `jarvis/reviewDismiss`.

The review runs in a process of its own, so that the editor never waits for it. Nothing of the
workspace is executed; agents are asked only when the user says so.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.finding import Severity
from jarvis_ls.core.words import Words, from_json
from jarvis_ls.lsp.child_runs import run_child
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.notes import Note
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import (
    ReviewAcceptParams,
    ReviewDismissParams,
    ReviewIssue,
    ReviewParams,
    ReviewResult,
    ReviewState,
    ReviewStatus,
)
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.review.decisions import Outcome

SOURCE = "jarvis review"
"""What its diagnostics say they come from."""
_MODULE = "jarvis_ls.assembly.review_process"
_STATES: dict[str, ReviewState] = {"working": "working", "staged": "staged"}
_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "high": types.DiagnosticSeverity.Error,
    "medium": types.DiagnosticSeverity.Warning,
    "low": types.DiagnosticSeverity.Information,
}

logger = logging.getLogger(__name__)


def register(server: Server) -> None:
    """Answer `jarvis/review`, the decisions on its issues, and the command `jarvis.review`."""
    feature = _Review(server)
    server.answer(extensions.REVIEW, feature.review)
    server.answer(extensions.REVIEW_ACCEPT, feature.accept)
    server.answer(extensions.REVIEW_DISMISS, feature.dismiss)
    server.run(extensions.COMMAND_REVIEW, feature.review_command)


class _Review:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._places: dict[str, tuple[Path, str]] = {}
        """By the key of a file with issues: the repository, and its path there."""
        self._issues: dict[str, list[ReviewIssue]] = {}
        """By the key of a file."""
        self._learning = asyncio.Lock()

    async def review(self, params: ReviewParams) -> ReviewResult:
        from jarvis_ls.assembly.review_process import Request  # not needed to start

        server = self._server
        request = Request(self._folder(params.uri), params.state, params.agents, server.trusted)
        title = server.say("Reviewing the change")
        async with server.work.work(title, params.work_done_token) as work:

            def tell(said: dict[str, Any]) -> None:
                if "total" in said:
                    done, total = said["done"], said["total"]
                    text = server.say("agents read: {done}/{total}", done=done, total=total)
                    work.report(done, total, text)

            try:
                result = await run_child(
                    _MODULE, request, work, tell, server.say, server.model_keys
                )
            except JarvisError as error:
                raise UsageError(str(error)) from None
        if not result:
            return ReviewResult("cancelled", server.say("It was cancelled."), [])
        shown = self._show(params, result)
        if server.trusted and result["files"]:
            spawn(self._learn(Path(result["root"])), "memory of the project")
        return shown

    async def _learn(self, root: Path) -> None:
        """Build the memory of the project once the review is shown, one process at a time."""
        from jarvis_ls.assembly.project_memory import learning_beside

        async with self._learning, learning_beside(root) as process:
            await process.wait()

    def _folder(self, uri: str | None) -> str:
        """Return the folder to look for a repository in."""
        if uri is not None:
            place = self._server.place(uri)
            path = Path(place.root, place.path) if place.root else None
            if path is not None:
                return str(path if path.is_dir() else path.parent)
        first = next(iter(self._server.folders), None)
        if first is None:
            raise UsageError(self._server.say("Open a folder first."))
        return first.path

    def _show(self, params: ReviewParams, result: dict[str, Any]) -> ReviewResult:
        """Take what was found in place of what the last review found."""
        root = Path(result["root"])
        by_key: dict[str, list[ReviewIssue]] = {}
        issues = []
        for item in result["issues"]:
            uri = (root / item["path"]).as_uri()
            issue = ReviewIssue(
                item["key"],
                uri,
                item["line"],
                item["severity"],
                item["rule"],
                self._server.say(from_json(item["message"])),
                self._server.say(from_json(item["suggestion"])),
                item["accepted"],
            )
            issues.append(issue)
            key = self._server.key(uri)
            by_key.setdefault(key, []).append(issue)
            self._places[key] = (root, item["path"])
        self._issues = by_key
        self._publish(by_key)
        lacking = from_json(result["lacking"])
        status: ReviewStatus = "reviewed"
        if lacking:
            status = "no_model"
        elif result["not_read"]:
            status = "unfinished"
        if params.agents and not lacking:
            self._server.tell_model("ready")
        return ReviewResult(status, self._summary(result, lacking), issues)

    def _summary(self, result: dict[str, Any], lacking: str) -> str:
        said = [
            Words(
                "Files reviewed: {files}. Issues: {issues}.",
                files=result["files"],
                issues=len(result["issues"]),
            )
            if result["files"]
            else Words("Nothing has changed.")
        ]
        if result["dismissed"]:
            said.append(Words("{count} dismissed before.", count=result["dismissed"]))
        if lacking:
            said.append(Words("Reviewing without agents: {why}", why=lacking))
        if result["not_read"]:
            count = len(result["not_read"])
            why = next(map(from_json, result["problems"]), "")
            said.append(
                Words("Not read by every agent: {count} files. {why}", count=count, why=why)
            )
        return " ".join(map(self._server.say, said))

    def _publish(self, by_key: dict[str, list[ReviewIssue]]) -> None:
        notes = {key: [self._note(issue) for issue in issues] for key, issues in by_key.items()}
        self._server.notes.replace(SOURCE, notes, self._server.notes.keys(SOURCE))

    async def dismiss(self, params: ReviewDismissParams) -> bool:
        """Return whether there was such an issue."""
        if not params.reason.strip():
            raise UsageError(self._server.say("Give a reason."))
        return await self._decide(params.uri, params.key, "dismissed", params.reason.strip())

    async def accept(self, params: ReviewAcceptParams) -> bool:
        """Return whether there was such an issue."""
        return await self._decide(params.uri, params.key, "accepted", "")

    async def _decide(self, uri: str, number: str, outcome: Outcome, reason: str) -> bool:
        """Keep a decision on an issue, and show it."""
        from jarvis_ls.core.files import user_folder
        from jarvis_ls.review.decisions import Decision, Decisions

        key = self._server.key(uri)
        issues = self._issues.get(key, [])
        issue = next((issue for issue in issues if issue.key == number), None)
        if issue is None:
            return False
        root, path = self._places[key]
        decisions = Decisions(user_folder(), Path(os.path.realpath(root)))
        decision = Decision(number, outcome, reason, issue.rule, path, issue.message)
        try:
            await asyncio.to_thread(decisions.add, decision)
        except JarvisError as error:
            raise UsageError(self._server.say(str(error))) from None
        self._issues[key] = [
            attrs.evolve(issue, accepted=True) if issue.key == number else issue
            for issue in self._issues.get(key, [])
            if issue.key != number or outcome == "accepted"
        ]
        self._publish(self._issues)
        return True

    def _note(self, issue: ReviewIssue) -> Note:
        text = f"{issue.message} {issue.suggestion}"
        if issue.accepted:
            text = f"{text} ({self._server.say('accepted')})"
        return Note(issue.line, text, _SEVERITIES[issue.severity], issue.rule)

    async def review_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.review` (`working` or `staged`, then `agents` if they shall read it)."""
        state, *more = arguments or ["working"]
        if state not in _STATES or more not in ([], ["agents"]):
            raise UsageError(self._server.say("Give working or staged, then perhaps agents."))
        result = await self.review(ReviewParams(_STATES[state], more == ["agents"]))
        if not self._server.own_client:
            shown = types.ShowMessageParams(types.MessageType.Info, result.summary)
            self._server.window_show_message(shown)
        return {"status": result.status, "summary": result.summary, "issues": len(result.issues)}
