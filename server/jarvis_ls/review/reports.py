"""A review as JSON, SARIF 2.1.0, and commands of GitHub's workflows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from jarvis_ls import __version__
from jarvis_ls.core.finding import Severity
from jarvis_ls.core.words import Words
from jarvis_ls.core.workflow_commands import annotate
from jarvis_ls.review.issues import Issue, Reading, Review

FORMAT = 1
"""Version of the JSON format."""
_WITHOUT_MODEL = Words(
    "Reviewed without a model: rules, impact, deletion guard and security analysis only."
)
_WITH_MODEL = Words(
    "Reviewed by rules, impact, deletion guard, security analysis and agents with a model."
)
_LEVELS: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_RESULTS = 25_000


def describe_readers(review: Review) -> Words:
    """Return who has reviewed, in a sentence."""
    return _WITH_MODEL if review.readings else _WITHOUT_MODEL


def review_to_json(review: Review) -> dict[str, Any]:
    """Return the review as plain data."""
    return {
        "version": FORMAT,
        "model": review.model or None,
        "summary": {
            "note": str.__str__(describe_readers(review)),
            "risk": review.risk,
            "reasons": [str.__str__(reason) for reason in review.reasons],
            "files": len(review.units),
            "added": sum(unit.added for unit in review.units),
            "deleted": sum(unit.deleted for unit in review.units),
            "tests_at_risk": list(review.tests),
            "left_out": list(review.left_out),
            "not_analysed": list(review.not_analysed),
            "not_read": list(review.not_read),
            "dismissed": review.dismissed,
        },
        "notes": [
            {"id": note.id, "title": note.title, "category": note.category, "text": note.content}
            for note in review.notes
        ],
        "readings": [_reading(reading) for reading in review.readings],
        "issues": [_issue(issue) for issue in review.issues],
        "units": [
            {
                "path": unit.path,
                "old_path": unit.old_path,
                "status": unit.status.value,
                "added": unit.added,
                "deleted": unit.deleted,
                "level": unit.level.name.lower(),
                "tags": sorted(tag.value for tag in unit.tags),
                "symbols": list(unit.symbols),
                "hunks": [[h.old_start, h.old_end, h.start, h.end] for h in unit.hunks],
            }
            for unit in review.units
        ],
    }


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "role": reading.role,
        "files": list(reading.files),
        "summary": reading.summary,
        "problem": str.__str__(reading.problem),
        "tokens": reading.spent.input + reading.spent.output,
        "cost": reading.spent.cost,
    }


def _issue(issue: Issue) -> dict[str, Any]:
    return {
        "rule": issue.rule,
        "source": issue.source,
        "also": list(issue.also),
        "path": issue.path,
        "line": issue.line,
        "end_line": issue.end_line,
        "severity": issue.severity,
        "message": str.__str__(issue.message),
        "suggestion": str.__str__(issue.suggestion),
        "accepted": issue.is_accepted,
    }


def review_to_sarif(review: Review) -> dict[str, Any]:
    """Return the review as a SARIF log with one run."""
    issues = review.issues[:_MOST_RESULTS]
    rules = sorted({issue.rule for issue in issues})
    number = {rule: index for index, rule in enumerate(rules)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "jarvis review",
                        "version": __version__,
                        "rules": [{"id": rule} for rule in rules],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": level, "message": {"text": str.__str__(text)}}
                            for level, text in _notifications(review)
                        ],
                    }
                ],
                "results": [_result(issue, number[issue.rule]) for issue in issues],
            }
        ],
    }


def _notifications(review: Review) -> Iterator[tuple[str, Words]]:
    yield "note", describe_readers(review)
    for path in review.not_read:
        yield "warning", not_read_text(path)


def not_read_text(path: str) -> Words:
    """Return that a file was not read by all agents, in words."""
    return Words("{path}: not read by every agent", path=path)


def _result(issue: Issue, rule: int) -> dict[str, Any]:
    said = f"{issue.rule}\0{issue.path}\0{issue.message}"
    return {
        "ruleId": issue.rule,
        "ruleIndex": rule,
        "level": _LEVELS[issue.severity],
        "message": {"text": f"{issue.message} {issue.suggestion}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(issue.path), "uriBaseId": "SRCROOT"},
                    "region": {"startLine": issue.line, "endLine": issue.end_line},
                }
            }
        ],
        "partialFingerprints": {
            "jarvisReview/v1": hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]
        },
        "properties": {"source": issue.source, "also": list(issue.also)},
    }


def github_lines(review: Review, say: Callable[[str], str]) -> Iterator[str]:
    """Yield the commands by which a workflow of GitHub shows the issues beside the diff."""
    yield annotate("low", say(describe_readers(review)))
    for path in review.not_read:
        yield annotate("medium", say(not_read_text(path)), file=path)
    for issue in review.issues:
        text = f"{say(issue.message)} {say(issue.suggestion)}"
        yield annotate(
            issue.severity,
            text,
            file=issue.path,
            line=issue.line,
            endLine=issue.end_line,
            title=issue.rule,
        )
