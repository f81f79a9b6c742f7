"""SARIF 2.1.0, for GitHub code scanning, viewers and other tools.

Within the limits GitHub documents: the gravest 25,000 results, 1,000 locations of a result,
10,000 steps of a flow, 20 tags of a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jarvis_ls import __version__
from jarvis_ls.core.finding import AGENTS, Finding, Fix, Proof, Related, Severity, Span
from jarvis_ls.jsec.base.rule import Rule
from jarvis_ls.jsec.findings.baseline import BASELINE
from jarvis_ls.jsec.findings.scan_findings import PAGES
from jarvis_ls.jsec.proof.evidence_store import EVIDENCE_FILE
from jarvis_ls.jsec.report.json import one_a_line
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.source_files import Skipped

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

MAX_RESULTS = 25_000
MAX_LOCATIONS = 1_000
MAX_STEPS = 10_000
MAX_TAGS = 20

_LEVEL: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "note"}
_SECURITY: dict[Severity, str] = {"high": "8.0", "medium": "5.5", "low": "3.0"}
_BASE = "SRCROOT"


def render_sarif(result: ScanResult, findings: Sequence[Finding]) -> str:
    """One run with the findings, each on a line, those that are hidden marked as suppressed."""
    told = list(findings[:MAX_RESULTS])
    rules = sorted({finding.rule for finding in told})
    index = {rule: number for number, rule in enumerate(rules)}
    compared = any(finding.suppressed == BASELINE for finding in result.findings)
    run = {
        "tool": {"driver": _driver(rules, told)},
        "invocations": [_invocation(result)],
        "originalUriBaseIds": {_BASE: {"uri": _folder_uri(result.root)}},
        "columnKind": "utf16CodeUnits",
    }
    results = (_result(finding, index[finding.rule], compared) for finding in told)
    runs = one_a_line(run, "results", results)
    return f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{runs}]}}\n'


def _driver(rules: Sequence[str], findings: Sequence[Finding]) -> dict[str, Any]:
    known = all_rules()
    first = {finding.rule: finding for finding in reversed(findings)}
    return {
        "name": "jsec",
        "fullName": "Jarvis LS security scanner",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [
            _rule(known[rule]) if rule in known else _other_rule(first[rule]) for rule in rules
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return _descriptor(
        rule.id, rule.title, rule.page, rule.category, rule.cwe, rule.severity, rule.confidence
    )


def _other_rule(finding: Finding) -> dict[str, Any]:
    """Return a hint about the scan, or a pattern of the user's own."""
    page = PAGES.get(finding.rule) or f"{finding.message}\n\n{finding.suggestion}".strip()
    title = page.partition("\n")[0]
    return _descriptor(
        finding.rule,
        title,
        page,
        finding.category,
        finding.cwe,
        finding.severity,
        finding.confidence,
    )


def _descriptor(
    id_: str,
    title: str,
    page: str,
    category: str,
    cwe: Sequence[int],
    severity: Severity,
    confidence: float,
) -> dict[str, Any]:
    tags = ["security", category, *(f"external/cwe/cwe-{number:03d}" for number in cwe)]
    return {
        "id": id_,
        "name": "".join(part.capitalize() for part in id_.replace(".", "-").split("-")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVEL[severity]},
        "properties": {
            "tags": tags[:MAX_TAGS],
            "precision": _precision(confidence),
            "problem.severity": {"high": "error", "medium": "warning"}.get(
                severity, "recommendation"
            ),
            "security-severity": _SECURITY[severity],
        },
    }


def _precision(confidence: float) -> str:
    for least, name in ((0.9, "very-high"), (0.75, "high"), (0.5, "medium")):
        if confidence >= least:
            return name
    return "low"


def _result(finding: Finding, rule_index: int, compared: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVEL[finding.severity],
        "message": {"text": f"{finding.message}\n{finding.suggestion}".strip()},
        "locations": [_location(finding.file, finding.span, snippet=finding.evidence)],
        "partialFingerprints": {"primaryLocationLineHash": finding.fingerprint},
        "rank": round(finding.confidence * 100, 1),
        "properties": {
            "id": finding.id,
            "gid": finding.gid,
            "category": finding.category,
            "confidence": finding.confidence,
            "severity": finding.severity,
            "score": finding.score,
        },
    }
    if finding.related:
        result["relatedLocations"] = [
            _location(fromkey.file, fromkey.span, message=str(fromkey.message))
            for fromkey in list(dict.fromkeys(finding.related))[
                :MAX_LOCATIONS
            ]  # the schema: unique
        ]
    if finding.trace:
        result["codeFlows"] = [_code_flow(finding.trace[:MAX_STEPS])]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.file, finding.fix)]
    if finding.proof is not None:
        result["properties"]["evidence"] = finding.proof.to_json()
        if finding.proof.case:
            result["attachments"] = [_case(finding.proof)]
    if finding.conclusion is not None:
        verdict = {"verdict": finding.verdict, **finding.conclusion.to_json()}
        result["properties"]["agents"] = verdict
    if finding.suppressed:
        result["suppressions"] = [_suppression(finding.suppressed)]
    if compared:
        result["baselineState"] = "unchanged" if finding.suppressed == BASELINE else "new"
    return result


def _location(file: str, span: Span, *, snippet: str = "", message: str = "") -> dict[str, Any]:
    region: dict[str, Any] = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    if snippet:
        region["snippet"] = {"text": snippet}
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(file), "region": region}
    }
    if message:
        location["message"] = {"text": message}
    return location


def _artifact(file: str) -> dict[str, Any]:
    return {"uri": quote(file), "uriBaseId": _BASE}


def _code_flow(trace: Sequence[Related]) -> dict[str, Any]:
    steps = [
        {"location": _location(step.file, step.span, message=str(step.message))} for step in trace
    ]
    return {"threadFlows": [{"locations": steps}]}


def _fix(file: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.span.line,
                "startColumn": edit.span.column,
                "endLine": edit.span.end_line,
                "endColumn": edit.span.end_column,
            },
            "insertedContent": {"text": edit.new_text},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": str(fix.title)},
        "artifactChanges": [{"artifactLocation": _artifact(file), "replacements": replacements}],
    }


def _case(proof: Proof) -> dict[str, Any]:
    """Return the file that a case is in, and how to run it."""
    text = f"{proof.message} Case {proof.case}: jsec replay {proof.case}"
    return {"description": {"text": text}, "artifactLocation": _artifact(EVIDENCE_FILE)}


def _suppression(why: str) -> dict[str, Any]:
    if why == BASELINE:
        return {"kind": "external", "status": "accepted", "justification": "in the baseline"}
    kind, _, reason = why.partition(": ")
    if kind == AGENTS:
        told = reason or "held to be no flaw by agents"
        return {"kind": "external", "status": "accepted", "justification": told}
    suppression = {"kind": "inSource", "status": "accepted"}
    return {**suppression, "justification": reason} if reason else suppression


def _invocation(result: ScanResult) -> dict[str, Any]:
    notes = [
        *(_notification(file, "not scanned") for file in result.skipped),
        *(_notification(note, "partly scanned") for note in result.notes),
        *({"level": "warning", "message": {"text": text}} for text in result.warnings),
    ]
    return {
        "executionSuccessful": not result.cancelled,
        "workingDirectory": {"uri": _folder_uri(result.root)},
        "toolExecutionNotifications": notes,
        "properties": {
            "installedHeaders": {"count": result.headers.count, "digest": result.headers.digest}
        },
    }


def _notification(skipped: Skipped, what: str) -> dict[str, Any]:
    location = {"physicalLocation": {"artifactLocation": _artifact(skipped.path)}}
    return {
        "level": "warning",
        "message": {"text": f"{what}: {skipped.reason}"},
        "locations": [location],
    }


def _folder_uri(root: str) -> str:
    uri = Path(root).as_uri()
    return uri if uri.endswith("/") else uri + "/"
