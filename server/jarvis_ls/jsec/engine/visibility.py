"""From what the rules said to what the user reads of one file.

One place for the editor and the command line, so that both always say the same: the user's own
patterns and what runs have shown are added, suppressing comments are honoured and complained
about. Settings and the baseline come after it, for they may change while the file does not
(`Settings.judge`, `Baseline.mark`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Tree, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.user_patterns import match_patterns
from jarvis_ls.jsec.findings.merge_repeats import gather
from jarvis_ls.jsec.findings.sanitizer_findings import Observed, match_observed
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.findings.suppressions import MARK, suppress
from jarvis_ls.jsec.settings.settings import Pattern


def assess(
    source: Source,
    language: LanguageName,
    tree: Tree,
    findings: list[Finding],
    *,
    patterns: Sequence[Pattern] = (),
    observed: Sequence[Observed] = (),
    unsettled: bool = False,
) -> list[Finding]:
    """Return the findings of one file with what hides them filled in; none of those is removed.

    `unsettled` says that flow has yet to judge the guesses (`assess_again`): those stay apart.
    """
    more = match_patterns(source, language, patterns) if patterns else []
    more += match_observed(source, language, observed)
    if more:
        findings = sorted(findings + more, key=_place)
    if MARK in source.data:
        findings = suppress(source, language, tree, findings, {pattern.id for pattern in patterns})
    return gather(findings, unsettled=unsettled)


def assess_again(
    source: Source,
    language: LanguageName,
    findings: Sequence[Finding],
    change: Callable[[list[Finding]], list[Finding]],
    *,
    patterns: Sequence[Pattern] = (),
) -> list[Finding]:
    """Assessed findings of a file after `change` had its way with them, assessed again.

    What comments hide, and the hints about comments, are worked out again.
    """
    if MARK not in source.data:
        return gather(change(list(findings)))
    plain = [
        replace(finding, suppressed="") if finding.suppressed else finding
        for finding in findings
        if not is_hint(finding)
    ]
    tree = parse(source.data, language)
    return gather(
        suppress(source, language, tree, change(plain), {pattern.id for pattern in patterns})
    )


def _place(finding: Finding) -> tuple[int, int]:
    return finding.span.line, finding.span.column
