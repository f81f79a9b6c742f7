"""SARIF 2.1.0, for GitHub code scanning, viewers and other tools.

Within the limits that GitHub documents, so that an upload is never refused: the gravest 25,000
results, fewer where they would take more than 10 MB by gzip; 1,000 locations of a result, 10,000
steps of a flow, 20 tags of a rule. A notification says what is left out.
https://docs.github.com/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jarvis_ls import __version__
from jarvis_ls.core.finding import AGENTS, Finding, Fix, Proof, Related, Severity, Span
from jarvis_ls.jsec.base.weaknesses import weakness_names, weakness_uri
from jarvis_ls.jsec.findings.baseline import BASELINE
from jarvis_ls.jsec.findings.scan_findings import PAGES
from jarvis_ls.jsec.proof.evidence_store import EVIDENCE_FILE
from jarvis_ls.jsec.report.json import written_one_a_line
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.source_files import Skipped

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

MAX_RESULTS = 25_000
MAX_LOCATIONS = 1_000
MAX_STEPS = 10_000
MAX_TAGS = 20
MAX_UPLOAD = 10_000_000
"""Bytes of an upload once gzip has compressed it."""
_MARGIN = 500_000
"""Bytes of it that are kept for everything but the results."""
_LONGEST = 4_000
"""Characters of a message; patterns of users may have longer ones."""
_LONGEST_TITLE = 1_024
_CHUNK = 64
"""Results that are compressed together."""

_LEVEL: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "note"}
_SECURITY: dict[Severity, str] = {"high": "8.0", "medium": "5.5", "low": "3.0"}
_PACKAGE = "jarvis-ls"
_ADDRESSES = ("documentation", "homepage", "repository", "source")
"""Names of addresses in a package's metadata, the one for readers first."""
_BASE = "SRCROOT"
_CWE = "CWE"
_LIMITS = "the report would exceed the limits of code scanning"


def render_sarif(result: ScanResult, findings: Sequence[Finding]) -> str:
    """One run with the findings, each on a line, those that are hidden marked as suppressed."""
    allowed = findings[:MAX_RESULTS]
    rules = sorted({finding.rule for finding in allowed})
    index = {rule: number for number, rule in enumerate(rules)}
    compared = any(finding.suppressed == BASELINE for finding in result.findings)
    results = _fit(_result(finding, index[finding.rule], compared) for finding in allowed)
    first = {finding.rule: finding for finding in reversed(allowed)}
    described = [_describe(first[rule]) for rule in rules]
    weaknesses = sorted({number for rule in described for number in rule.cwe})
    run = {
        "tool": {"driver": _driver(described, weaknesses)},
        "taxonomies": [_taxonomy(weaknesses)],
        "invocations": [_invocation(result, len(findings) - len(results))],
        "originalUriBaseIds": {_BASE: {"uri": _folder_uri(result.root)}},
        "columnKind": "utf16CodeUnits",
    }
    runs = written_one_a_line(run, "results", results)
    return f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{runs}]}}\n'


def _fit(results: Iterable[dict[str, Any]]) -> list[str]:
    """Return the first results as JSON, as many as an upload takes."""
    kept: list[str] = []
    squeeze, size = zlib.compressobj(), 0
    for chunk in _chunks(map(json.dumps, results)):
        data = "".join(chunk).encode()
        size += len(squeeze.compress(data) + squeeze.flush(zlib.Z_SYNC_FLUSH))
        if size > MAX_UPLOAD - _MARGIN:
            break
        kept += chunk
    return kept


def _chunks(texts: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(islice(texts, _CHUNK)):
        yield chunk


def _driver(rules: Sequence[_Description], weaknesses: Sequence[int]) -> dict[str, Any]:
    address = _address()
    return {
        "name": "jsec",
        "fullName": "Jarvis LS security scanner",
        **({"informationUri": address} if address else {}),
        "version": __version__,
        "semanticVersion": __version__,
        "supportedTaxonomies": [{"name": _CWE, "index": 0}],
        "rules": [_descriptor(rule, weaknesses) for rule in rules],
    }


def _address() -> str:
    """Return the address that the installed package gives for itself; empty when it gives none.

    Whoever publishes the package names it in `[project.urls]`. The source tree has none, because it
    is published nowhere, and an address that leads to nothing would be worse than none.
    """
    try:
        urls = metadata(_PACKAGE).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = {
        name.strip().lower(): url.strip() for name, _, url in (line.partition(",") for line in urls)
    }
    found = next((named[name] for name in _ADDRESSES if name in named), "")
    return found if found.startswith(("https://", "http://")) else ""


@dataclass(frozen=True, slots=True)
class _Description:
    """What is said of all findings of a rule."""

    id: str
    """Id of the rule."""
    title: str
    """What it reports, in a line."""
    page: str
    """Its documentation."""
    category: str
    """Its category."""
    cwe: Sequence[int]
    """Weakness numbers, the most exact first."""
    severity: Severity
    """The worst it can be."""
    confidence: float
    """How sure it is, in [0, 1]."""


def _describe(finding: Finding) -> _Description:
    """Return the description of a rule, a hint about the scan, or a pattern of the user's own."""
    known = all_rules().get(finding.rule)
    page = PAGES.get(finding.rule) or f"{finding.message}\n\n{finding.suggestion}".strip()
    by = known or finding
    return _Description(
        id=finding.rule,
        title=known.title if known else page.partition("\n")[0],
        page=known.page if known else page,
        category=by.category,
        cwe=by.cwe,
        severity=by.severity,
        confidence=by.confidence,
    )


def _descriptor(rule: _Description, weaknesses: Sequence[int]) -> dict[str, Any]:
    tags = ["security", rule.category, *(f"external/cwe/cwe-{n:03d}" for n in rule.cwe)]
    title = _cut(rule.title, _LONGEST_TITLE)
    descriptor: dict[str, Any] = {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.replace(".", "-").split("-")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": rule.page, "markdown": rule.page},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
        "properties": {
            "tags": tags[:MAX_TAGS],
            "precision": _precision(rule.confidence),
            "problem.severity": {"high": "error", "medium": "warning"}.get(
                rule.severity, "recommendation"
            ),
            "security-severity": _SECURITY[rule.severity],
        },
    }
    if rule.cwe:
        descriptor["helpUri"] = weakness_uri(rule.cwe[0])
        descriptor["relationships"] = [
            _relationship(number, weaknesses.index(number)) for number in dict.fromkeys(rule.cwe)
        ]
    return descriptor


def _relationship(number: int, index: int) -> dict[str, Any]:
    component = {"name": _CWE, "index": 0}
    target = {"id": str(number), "index": index, "toolComponent": component}
    return {"target": target, "kinds": ["superset"]}


def _taxonomy(weaknesses: Sequence[int]) -> dict[str, Any]:
    """Return the part of CWE that the rules refer to."""
    names = weakness_names(rule.page for rule in all_rules().values())
    taxa = []
    for number in weaknesses:
        taxon: dict[str, Any] = {"id": str(number), "helpUri": weakness_uri(number)}
        if number in names:
            taxon["shortDescription"] = {"text": names[number]}
        taxa.append(taxon)
    return {
        "name": _CWE,
        "fullName": "Common Weakness Enumeration",
        "organization": "MITRE",
        "informationUri": "https://cwe.mitre.org/",
        "downloadUri": "https://cwe.mitre.org/data/downloads.html",
        "isComprehensive": False,
        "shortDescription": {"text": "Weaknesses of software and hardware"},
        "taxa": taxa,
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


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
        "message": {"text": _cut(f"{finding.message}\n{finding.suggestion}".strip(), _LONGEST)},
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


def _invocation(result: ScanResult, left_out: int) -> dict[str, Any]:
    notes = [
        *(_notification(file, "not scanned") for file in result.skipped),
        *(_notification(note, "partly scanned") for note in result.notes),
        *(_warning(text) for text in result.warnings),
        *([_warning(f"{left_out} weaker findings are left out: {_LIMITS}")] if left_out else ()),
    ]
    return {
        "executionSuccessful": not result.cancelled,
        "workingDirectory": {"uri": _folder_uri(result.root)},
        "toolExecutionNotifications": notes,
        "properties": {
            "installedHeaders": {"count": result.headers.count, "digest": result.headers.digest}
        },
    }


def _warning(text: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": text}}


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
