"""Evidence joined to findings: it lifts or lowers their confidence, and so their rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding, Proof, Severity, severity_from_confidence
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
from jarvis_ls.jsec.rules.registry import all_rules

REPRODUCED = 0.99
"""Confidence of what a run has done."""
REFUTED = 0.05
"""Highest confidence of what cannot happen."""
SURVIVED = 0.8
"""Factor for what runs that came to the place did not do."""
_LARGEST_SOURCE = 8_000_000


def attach(root: Path, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, in their order, with the evidence of the workspace that still holds. `root`
    is its real path."""
    store = EvidenceStore(root)
    if not len(store):
        return list(findings)
    found = store.find(findings, lambda file: _source(root, file))
    return [
        with_evidence(finding, found[finding.fingerprint])
        if finding.fingerprint in found
        else finding
        for finding in findings
    ]


def with_evidence(finding: Finding, evidence: Evidence) -> Finding:
    """Return a finding with what was shown of it."""
    proof = to_proof(evidence)
    confidence = _confidence(finding.confidence, evidence)
    if confidence == finding.confidence:
        return replace(finding, proof=proof)
    severity = finding.severity
    worst = _worst(finding)
    if severity == severity_from_confidence(finding.confidence, worst):  # else the user has set it
        severity = severity_from_confidence(confidence, worst)
    return replace(finding, proof=proof, confidence=confidence, severity=severity)


def to_proof(evidence: Evidence) -> Proof:
    """Return what of evidence people are told."""
    return Proof(
        verdict=evidence.verdict.value,
        message=evidence.message,
        strength=evidence.strength.value if evidence.strength else "",
        rung=evidence.rung,
        case=evidence.case.id if evidence.case else "",
        assumptions=evidence.assumptions,
    )


def _confidence(before: float, evidence: Evidence) -> float:
    if evidence.verdict is Verdict.REPRODUCED:
        return max(before, REPRODUCED)
    if evidence.verdict is Verdict.REFUTED and evidence.strength is not Strength.SURVIVED:
        return min(before, REFUTED)
    if evidence.verdict in (Verdict.REFUTED, Verdict.SURVIVED):
        return round(before * SURVIVED, 2)
    return before


def _worst(finding: Finding) -> Severity:
    """Return the severity of its rule, which a low confidence may have lowered."""
    rule = all_rules().get(finding.rule)
    return finding.severity if rule is None else rule.severity


def _source(root: Path, file: str) -> Source | None:
    try:
        return decode(file, read_regular(root / file, limit=_LARGEST_SOURCE, root=root))
    except SkippedFile:
        return None
