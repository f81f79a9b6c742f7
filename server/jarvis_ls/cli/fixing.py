"""`jsec fix`: show or write the rewrites that rules offer."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scan_job import Job, prepare
from jarvis_ls.cli.scanning import chosen, perform
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.report.spoken import count_phrase
from jarvis_ls.jsec.scan.apply_fixes import FixedFile, fix_file, write_fixed
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.settings.settings import SHOWN_CONFIDENCE


def run_fix(options: argparse.Namespace) -> ExitStatus:
    """Scan, then rewrite; returns the exit status: 1 when a file could not be rewritten."""
    job = prepare(options, least=SHOWN_CONFIDENCE)
    result = perform(job, options)
    if result.cancelled:
        return ExitStatus.INTERRUPTED
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(chosen(result, options), key=lambda item: item.gid):
        if finding.fix is not None:
            by_file[finding.file].append(finding)
    applied = failed = changed = unwritten = 0
    for path, findings in by_file.items():
        fixed = _apply(job, result, path, findings, options)
        if fixed is None:
            failed += len(findings)
            unwritten += 1
            continue
        failed += len(fixed.refused)
        applied += len(fixed.applied)
        changed += bool(fixed.applied)
        _tell_refused(fixed, options)
    if not options.quiet:
        print(f"jsec: {_summary(applied, changed, failed, options)}", file=sys.stderr)
    return ExitStatus.FAILURE if unwritten else ExitStatus.SUCCESS


def _summary(applied: int, changed: int, failed: int, options: argparse.Namespace) -> str:
    say = reporter()
    rewrites = count_phrase(say, "{count} fix", "{count} fixes", applied)
    files = count_phrase(say, "{count} file", "{count} files", changed)
    done = "{rewrites} in {files} applied"
    if not options.write:
        done = "{rewrites} in {files} ready; --write applies them"
    told = say(done, rewrites=rewrites, files=files)
    return told + (say(", {count} not applied", count=failed) if failed else "")


def _apply(
    job: Job, result: ScanResult, path: str, findings: list[Finding], options: argparse.Namespace
) -> FixedFile | None:
    try:
        fixed = fix_file(
            job.root,
            path,
            result.digests[path],
            findings,
            unsafe=options.unsafe,
            limit=job.settings.max_file_size,
        )
        if fixed.after == fixed.before.data:
            return fixed
        if options.write:
            write_fixed(job.root, fixed)
        else:
            sys.stdout.write(fixed.diff())
    except SkippedFile as skipped:
        say = reporter()
        told = say("{path}: not changed: {why}", path=path, why=say(skipped.reason))
        print(f"jsec: {told}", file=sys.stderr)
        return None
    except JarvisError as error:
        print(f"jsec: {error}", file=sys.stderr)
        return None
    return fixed


def _tell_refused(fixed: FixedFile, options: argparse.Namespace) -> None:
    if options.quiet:
        return
    say = reporter()
    for finding, reason in fixed.refused:
        place = f"{fixed.path}:{finding.span.line}"
        told = say(
            "{place}: {rule}: not applied: {why}", place=place, rule=finding.rule, why=say(reason)
        )
        print(f"jsec: {told}", file=sys.stderr)
