"""Fulfils the ports of `jc2r.evolve` with jsec and the user's models."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.assembly.repairing import repair_with_models
from jarvis_ls.assembly.rewriting import find_missing_model, open_writer
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.evolve.ports import Assessment, Change, Flaw, Ports, Repaired
from jarvis_ls.jsec.findings.baseline import load_baseline
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.repair.judge import Judge
from jarvis_ls.jsec.repair.patch import patch_of_fix
from jarvis_ls.jsec.repair.repair import Repair, find_evidence
from jarvis_ls.jsec.repair.verdict import Limits
from jarvis_ls.jsec.report.summary import top_files
from jarvis_ls.jsec.scan.folder import open_cache
from jarvis_ls.jsec.scan.scanner import scan
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import SHOWN_CONFIDENCE, Settings, load_settings
from jarvis_ls.runtime.sandbox.ladder import Ladder

_LANGUAGES = ("c", "cpp")


def open_ports(root: Path, group: str, sandbox: Ladder, environment: Mapping[str, str]) -> Ports:
    """Return the ports of a project; `group` names the models, else those of the settings."""
    missing = asyncio.run(find_missing_model(group, environment))
    security = ProjectSecurity(root, sandbox, has_model=not missing)
    return Ports(security, missing, lambda: open_writer(root, group, environment))


class ProjectSecurity:
    """See `jc2r.evolve.ports.Security`."""

    def __init__(self, root: Path, sandbox: Ladder, *, has_model: bool) -> None:
        """For `open_ports`."""
        self._root = root
        self._sandbox = sandbox
        self._has_model = has_model
        self._settings = load_settings(root, Settings(min_confidence=SHOWN_CONFIDENCE))
        self._findings: dict[str, Finding] = {}

    def scan(self) -> Assessment:
        """See `Security`."""
        listing = list_sources(self._root, self._settings)
        cache = open_cache(self._root, self._settings)
        baseline = load_baseline(self._root)
        result = asyncio.run(scan(listing, self._settings, cache=cache, baseline=baseline))
        told = [f for f in result.shown if language_of(f.file) in _LANGUAGES and not is_hint(f)]
        self._findings = {f.fingerprint: f for f in told}
        risk = {row["file"]: number for number, row in enumerate(top_files(told))}
        queue = sorted(
            told, key=lambda f: (f.severity != "high", risk.get(f.file, len(risk)), -f.score)
        )
        families = Counter(f.category for f in told)
        return Assessment(
            round(sum(f.score for f in told), 2),
            len(told),
            sum(f.severity == "high" for f in told),
            dict(sorted(families.items())),
            tuple(Flaw(f.fingerprint, f"{f.file}:{f.span.line} {f.rule}") for f in queue),
            _digest(result.digests),
        )

    def repair(self, flaw: Flaw) -> Repaired:
        """See `Security`."""
        finding = self._findings[flaw.fingerprint]
        if not self._has_model and patch_of_fix(self._root, finding) is None:
            why = Words("the rule offers no rewrite, and there is no model")
            return Repaired(why=why, needs_model=True)
        try:
            done = asyncio.run(self._repair(finding))
        except JarvisError as error:
            return Repaired(why=str(error))
        return _repaired(done)

    async def _repair(self, finding: Finding) -> Repair:
        bench = Workbench(self._root, self._sandbox, find_toolchain())
        stop, limits = asyncio.Event(), Limits()
        judge = Judge(bench, finding, None, self._settings, limits, stop)
        evidence = await find_evidence(bench, finding, judge.budget(limits.proving))
        judge = Judge(bench, finding, evidence, self._settings, limits, stop)
        return await repair_with_models(judge, stop, lambda *_: None)


def _digest(digests: Mapping[str, str]) -> str:
    """Return what names the contents of the C files: the crate may be among the project's files."""
    told = sorted((path, name) for path, name in digests.items() if language_of(path) in _LANGUAGES)
    return hashlib.sha256(repr(told).encode("utf-8", "surrogateescape")).hexdigest()


def _repaired(done: Repair) -> Repaired:
    passed = done.passed
    if passed is None or passed.judgement is None:
        return Repaired(why=str(done.diagnosis), needs_model=bool(done.lacking))
    patch = passed.judgement.patch
    changes = tuple(Change(c.path, c.raw_before, c.raw_after) for c in patch.changes)
    return Repaired(changes, patch.diff(), passed.by)
