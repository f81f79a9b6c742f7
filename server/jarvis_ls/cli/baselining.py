"""`jsec baseline`: accept what is there, so that only new findings are reported."""

from __future__ import annotations

import argparse

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scan_job import prepare
from jarvis_ls.cli.scanning import perform
from jarvis_ls.jsec.findings.baseline import Baseline, save_baseline
from jarvis_ls.jsec.report.spoken import findings_in_words


def run_baseline(options: argparse.Namespace) -> ExitStatus:
    """Scan, then write the baseline; returns the exit status."""
    job = prepare(options)
    result = perform(job, options)
    if result.cancelled:
        return ExitStatus.INTERRUPTED
    before = job.baseline or Baseline({}, lambda _file: True)
    # What the scan did not look at is not known to be gone.
    unseen = {file.path for file in result.skipped}
    after = before.without_stale(unseen) if job.whole else before
    if not options.prune:
        asked = [
            finding
            for finding in result.findings
            if not options.rule or finding.rule in options.rule
        ]
        wanted = [finding for finding in asked if not finding.suppressed.startswith("comment")]
        after = after.with_findings(wanted)
    path = save_baseline(job.root, after, options.baseline)
    if not options.quiet:
        say = reporter()
        found = findings_in_words(say, len(after))
        print(say("{path}: {found} (before: {before})", path=path, found=found, before=len(before)))
    return ExitStatus.SUCCESS
