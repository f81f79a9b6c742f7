"""One folder with all that can be asked of it outside of the editor."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError, SkippedFile, missing_package
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.facade.records import (
    Details,
    FindingRecord,
    Migration,
    Preview,
    Query,
    RuleRecord,
    Scanned,
    Step,
)
from jarvis_ls.runtime.base.redaction import Redactor

if TYPE_CHECKING:
    from jarvis_ls.jsec.engine.rule_pages import RulePage
    from jarvis_ls.jsec.scan.cache import Cache
    from jarvis_ls.jsec.scan.result import ScanResult
    from jarvis_ls.jsec.settings.settings import Settings

Report = Callable[[int, int], None]
"""Is told how many files of how many are done."""
UNTRUSTED = Words(
    "This folder is not trusted, and its code would be built and run. Start with --trust, or trust"
    " it once at a terminal with `jsec prove`."
)
_MOST_SKIPPED = 50
_LONGEST_PROOF = 600.0


class Project:
    """The findings, rules, evidence and migration of one folder."""

    def __init__(self, root: Path, *, trusted: bool) -> None:
        """`root` is a real path. In a folder that is not `trusted` nothing is written or run."""
        self.root = root
        self.trusted = trusted
        self._redactor = Redactor.of_environment()
        self._scanning = asyncio.Lock()
        self._proving = asyncio.Lock()
        self._measuring = asyncio.Lock()
        self._aside: tempfile.TemporaryDirectory[str] | None = None

    async def scan(self, report: Report | None = None) -> Scanned:
        """Scan what has changed. Raises `JarvisError` when settings or baseline are damaged."""
        result, _ = await self._scan(report)
        shown = _list_shown(result)
        skipped = [
            Words("{path}: {why}", path=each.path, why=each.reason) for each in result.skipped
        ]
        if len(skipped) > _MOST_SKIPPED:
            left = len(skipped) - _MOST_SKIPPED
            skipped[_MOST_SKIPPED:] = [Words("{count} more files", count=left)]
        counts = {name: sum(item.severity == name for item in shown) for name in _SEVERITIES}
        return Scanned(
            files=len(result.digests),
            findings=len(shown),
            seconds=round(result.seconds, 2),
            skipped=tuple(skipped),
            warnings=tuple(result.warnings),
            **counts,
        )

    async def findings(self, query: Query, report: Report | None = None) -> list[FindingRecord]:
        """Return the findings that are wanted, the gravest first; what is stale is scanned."""
        result, _ = await self._scan(report)
        return [self._record(item) for item in _list_shown(result) if _is_wanted(item, query)]

    async def explain(self, name: str) -> Details:
        """Return all that is known of a finding. Raises `JarvisError` when there is none."""
        from jarvis_ls.jsec.engine.page_text import reason

        result, _ = await self._scan()
        finding = _find_named(result, name)
        page = (await self._pages()).get(finding.rule)
        clean = self._redactor.text
        return Details(
            finding=self._record(finding),
            code=clean(finding.evidence),
            path=tuple(
                Step(
                    file=step.file,
                    line=step.span.line,
                    column=step.span.column,
                    message=clean(str(step.message)),
                )
                for step in finding.steps
            ),
            why=reason(page, "en") if page is not None else "",
            proof=finding.proof.to_json() if finding.proof else {},
        )

    async def preview_fix(self, name: str) -> Preview:
        """Return what the rewrite of a finding's rule would change; nothing is written.

        Raises `JarvisError` when there is no such finding, or its rule offers no rewrite for it.
        """
        from jarvis_ls.jsec.scan.apply_fixes import fix_file

        result, settings = await self._scan()
        finding = _find_named(result, name)
        if finding.fix is None:
            raise JarvisError(
                Words("Rule {rule} offers no rewrite for this finding.", rule=finding.rule)
            )
        try:
            fixed = await asyncio.to_thread(
                fix_file,
                self.root,
                finding.file,
                result.digests[finding.file],
                [finding],
                unsafe=True,
                limit=settings.max_file_size,
            )
        except SkippedFile as skipped:
            raise JarvisError(
                Words("{path}: not changed: {why}", path=finding.file, why=skipped.reason)
            ) from None
        for _, why in fixed.refused:
            raise JarvisError(Words("{path}: not changed: {why}", path=finding.file, why=why))
        return Preview(
            title=str(finding.fix.title),
            keeps_behaviour=finding.fix.safe,
            diff=self._redactor.text(fixed.diff()),
        )

    async def rules(self, words: str = "") -> list[RuleRecord]:
        """Return the rules whose id, title or CWE has all of these words."""
        wanted = words.lower().split()
        return [
            _rule(page)
            for page in (await self._pages()).values()
            if all(word in _words_of(page) for word in wanted)
        ]

    async def rule_page(self, rule: str) -> str:
        """Return the page of a rule as Markdown. Raises `JarvisError` when there is none."""
        pages = await self._pages()
        if rule not in pages:
            from jarvis_ls.jsec.settings.rule_names import unknown_rule

            raise JarvisError(unknown_rule(rule, pages))
        return f"# {rule}\n\n{pages[rule].page.rstrip()}\n"

    async def prove(self, name: str, seconds: float) -> dict[str, Any]:
        """Return what running the code shows of a finding, and keep it; needs trust.

        `seconds` of processor time are spent at most. Raises `JarvisError`.
        """
        if not self.trusted:
            raise JarvisError(UNTRUSTED)
        try:
            from jarvis_ls.facade.proving import prove
        except ModuleNotFoundError as error:
            name = missing_package(error)
            raise JarvisError(
                Words("{name} is missing: pip install 'jarvis-ls[agent,migrate]'", name=name)
            ) from None
        result, _ = await self._scan()
        async with self._proving:
            found = await prove(self.root, _find_named(result, name), min(seconds, _LONGEST_PROOF))
        return found.to_json()

    async def repair_tests(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what came of a request to repair failing tests of this folder; see
        `tester.protocol`. Needs trust and a model; nothing is written but a log below `.jarvis`.

        Raises `JarvisError`, also when the answer holds what looks like a secret: it could not be
        left out of files that are to be written.
        """
        from jarvis_ls.assembly.test_repair import repair_tests
        from jarvis_ls.tester.protocol import read_request

        if not self.trusted:
            raise JarvisError(UNTRUSTED)
        request = read_request(values)
        if Path(os.path.realpath(request.project_root)) != self.root:
            raise JarvisError("project_root must be {folder}, which is served.", folder=self.root)
        done = await repair_tests(request, lambda _: None)
        answer = done.answer.model_dump(mode="json")
        clean: dict[str, Any] = self._redactor.values(answer)
        if any(clean.get(part) != answer.get(part) for part in _WRITTEN):
            raise JarvisError(
                "The patch holds what looks like a secret. Use `jarvis test-repair` at a terminal."
            )
        return clean

    async def impact(self, revisions: str = "", *, findings: bool = True) -> dict[str, Any]:
        """Return what a change touches, as `jca impact --format json` prints it: of the files on
        the disk against the last commit, or of two revisions such as `main..HEAD`.

        Raises `JarvisError` when the folder is not the top of a git work tree, or for revisions
        that are not there.
        """
        from jarvis_ls.assembly.change_impact import measure_range
        from jarvis_ls.codeintel.change.impact_json import impact_to_json
        from jarvis_ls.core.work_tree import find_work_tree

        if find_work_tree(self.root) != self.root:
            raise JarvisError("The folder that is served is not the top of a git work tree.")
        async with self._measuring:
            report = await asyncio.to_thread(
                measure_range, self.root, revisions, findings=findings, keep=self.trusted
            )
        clean: dict[str, Any] = self._redactor.values(impact_to_json(report))
        return clean

    async def migration(self) -> Migration:
        """Return how far the project has moved to Rust; nothing is run."""
        from jarvis_ls.jc2r.run.overview import read_overview

        known = await asyncio.to_thread(read_overview, self.root)
        return Migration(
            stages={stage.name: stage.state for stage in known.stages},
            functions=len(known.functions),
            translated=sum(item.state in ("baseline", "idiomatic") for item in known.functions),
            verified=sum(item.tests == "equal" for item in known.functions),
            differ=sum(item.tests == "differs" for item in known.functions),
            crate=str(known.crate or ""),
        )

    def close(self) -> None:
        """Remove what was kept aside."""
        if self._aside is not None:
            self._aside.cleanup()

    # -- below: the scan ------------------------------------------------------------------------

    async def _scan(self, report: Report | None = None) -> tuple[ScanResult, Settings]:
        from jarvis_ls.jsec.proof.attach import attach
        from jarvis_ls.jsec.scan.folder import read_folder
        from jarvis_ls.jsec.scan.scanner import Progress, scan

        def progress(done: Progress) -> None:
            if report is not None:
                report(done.done, done.total)

        async with self._scanning:
            folder = await asyncio.to_thread(read_folder, self.root)
            cache = await asyncio.to_thread(self._cache, folder.settings)
            result = await scan(
                folder.listing,
                folder.settings,
                cache=cache,
                baseline=folder.baseline,
                progress=progress,
            )
            try:
                result.findings = await asyncio.to_thread(attach, self.root, result.findings)
            except JarvisError as error:
                result.warnings.append(Words("evidence was not read: {error}", error=error))
            return result, folder.settings

    def _cache(self, settings: Settings) -> Cache | None:
        from jarvis_ls.jsec.scan.folder import open_cache

        if self.trusted:
            return open_cache(self.root, settings)
        if self._aside is None:
            try:
                self._aside = tempfile.TemporaryDirectory(
                    prefix="jarvis-", ignore_cleanup_errors=True
                )
            except OSError:  # the scan is only slower
                return None
        return open_cache(self.root, settings, Path(self._aside.name))

    async def _pages(self) -> dict[str, RulePage]:
        from jarvis_ls.jsec.engine.rule_pages import rule_pages

        return {page.id: page for page in await asyncio.to_thread(rule_pages)}

    def _record(self, finding: Finding) -> FindingRecord:
        return FindingRecord(
            id=finding.id,
            fingerprint=finding.fingerprint,
            rule=finding.rule,
            cwe=finding.cwe,
            file=finding.file,
            line=finding.span.line,
            column=finding.span.column,
            severity=finding.severity,
            confidence=finding.confidence,
            message=self._redactor.text(str(finding.message)),
            suggestion=str(finding.suggestion),
            fixable=finding.fix is not None,
            evidence=finding.proof.verdict if finding.proof else "",
        )


_SEVERITIES = ("high", "medium", "low")
_WRITTEN = ("fixed_files", "patch_set", "candidates")
"""Parts of an answer that somebody writes to files as they are."""


def _list_shown(result: ScanResult) -> list[Finding]:
    from jarvis_ls.jsec.findings.scan_findings import is_hint

    return [finding for finding in result.shown if not is_hint(finding)]


def _find_named(result: ScanResult, name: str) -> Finding:
    for finding in _list_shown(result):
        if finding.is_named(name):
            return finding
    raise JarvisError(Words("There is no finding '{name}' in the project as it is now.", name=name))


def _is_wanted(finding: Finding, query: Query) -> bool:
    return (
        finding.confidence >= query.min_confidence
        and query.rule in ("", finding.rule)
        and query.verdict in ("", finding.proof.verdict if finding.proof else "")
        and (not query.paths or any(_lies_in(finding.file, path) for path in query.paths))
    )


def _lies_in(file: str, path: str) -> bool:
    folder = os.path.normpath(path).replace(os.sep, "/")
    return folder == "." or file == folder or file.startswith(f"{folder}/")


def _rule(page: RulePage) -> RuleRecord:
    return RuleRecord(
        id=page.id,
        title=page.title,
        languages=page.languages,
        cwe=page.cwe,
        severity=page.severity,
        fixable=page.fixable,
    )


def _words_of(page: RulePage) -> str:
    return " ".join([page.id, page.title, *(f"cwe-{number}" for number in page.cwe)]).lower()
