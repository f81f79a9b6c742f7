"""`jsec prove`, `jsec replay`, `jsec doctor`: evidence by execution at the terminal."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.assembly.sandbox import read_ladder
from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scan_job import prepare
from jarvis_ls.cli.scanning import perform, stop_on_interrupt
from jarvis_ls.cli.trust import PROVING, require_trust
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import STATE
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.store import read_records
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.check_invariant import check_invariant
from jarvis_ls.jsec.proof.evidence import Evidence, Verdict
from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
from jarvis_ls.jsec.proof.invariants import Invariant, InvariantStore, Outcome
from jarvis_ls.jsec.proof.ladder import prove
from jarvis_ls.jsec.proof.regression_test import save_test
from jarvis_ls.jsec.proof.replay import repeats
from jarvis_ls.jsec.proof.rungs.registry import RUNGS
from jarvis_ls.jsec.proof.said import NAMES, OUTCOMES
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.report.text import printable, wrap_lines
from jarvis_ls.jsec.scan.folder import project_root
from jarvis_ls.jsec.scan.records import CANDIDATES
from jarvis_ls.jsec.scan.result import by_score
from jarvis_ls.runtime.sandbox.base import NoSandbox
from jarvis_ls.runtime.sandbox.ladder import Ladder

_WIDTH = 100
_KINDS_OF_NAME = ("C", "R")


def run_prove(options: argparse.Namespace) -> ExitStatus:
    """Scan, then look for evidence of some findings; returns the exit status."""
    names, root = names_and_root(options.names)
    if not names and not options.all:
        raise UsageError("Name findings by id or number, or use --all.")
    require_trust(root, given=options.trust, why=PROVING)
    options.paths = [root]
    result = perform(prepare(options), options)
    if result.cancelled:
        return ExitStatus.INTERRUPTED
    shown = [
        finding
        for finding in result.shown
        if not is_hint(finding) and (not options.rule or finding.rule in options.rule)
    ]
    findings = shown if options.all else choose_findings(shown, names, root)
    if options.invariant is not None:
        return _tell_invariant(_chosen_one(findings), root, options)
    told, stopped = asyncio.run(_prove_all(findings, root, options))
    if options.format == "json":
        _tell_json(told)
    else:
        _tell_summary(told)
    if stopped:
        return ExitStatus.INTERRUPTED
    done = any(evidence.verdict is Verdict.REPRODUCED for _, evidence in told)
    return ExitStatus.FAILURE if done else ExitStatus.SUCCESS


def _chosen_one(findings: Sequence[Finding]) -> Finding:
    """Return the only finding. Raises `UsageError` when there are several."""
    if len(findings) != 1:
        raise UsageError("An invariant is one of a single finding: name it.")
    return findings[0]


def _tell_invariant(finding: Finding, root: Path, options: argparse.Namespace) -> ExitStatus:
    """Check an invariant, keep and tell it; returns 1 when it is broken."""
    stop = asyncio.Event()

    async def check() -> Invariant:
        stop_on_interrupt(stop)
        bench = Workbench(root, open_sandbox(), find_toolchain())
        budget = Budget(options.budget, stop)
        return await check_invariant(finding, options.invariant, bench, budget)

    found = asyncio.run(check())
    if stop.is_set():
        return ExitStatus.INTERRUPTED
    InvariantStore(root).add(found)
    if options.format == "json":
        write_out(json.dumps(found.to_json(), ensure_ascii=False) + "\n")
    else:
        say = reporter()
        span = finding.span
        print(f"{printable(finding.file)}:{span.line}:{span.column}  {finding.rule}, {found.id}")
        print(f"  {say(OUTCOMES[found.outcome])}: {printable(found.expression)}")
        print(*wrap_lines(say(found.evidence.message), _WIDTH), sep="\n")
        if found.rules_out:
            print(*wrap_lines(say("Where it holds, the finding cannot be right."), _WIDTH))
        _tell_assumptions(found.evidence)
    return ExitStatus.FAILURE if found.outcome is Outcome.BROKEN else ExitStatus.SUCCESS


def run_replay(options: argparse.Namespace) -> ExitStatus:
    """Run a case again; returns the exit status: 1 when it still shows the flaw."""
    root = _folder(options.folder)
    found = EvidenceStore(root).case(options.case)
    if found is None:
        raise UsageError(
            "There is no case {name}; `jsec prove` finds cases and names them.", name=options.case
        )
    evidence, case = found
    say = reporter()
    if options.save_test:
        path = save_test(root, evidence)
        print(say("The regression test was written to {path}.", path=path))
        return ExitStatus.SUCCESS
    require_trust(root, given=options.trust, why=PROVING)
    bench = Workbench(root, open_sandbox(), find_toolchain())
    seconds = options.budget
    seen = asyncio.run(repeats(bench, evidence, case, Budget(seconds)))
    if options.format == "json":
        record = {"case": case.id, "reproduced": seen is not None, "evidence": evidence.to_json()}
        write_out(json.dumps(record, ensure_ascii=False) + "\n")
    elif seen is None:
        print(say("Case {case} shows nothing any more.", case=case.id))
    else:
        where = f"{seen.file}:{seen.line}"
        told = say("Case {case}: {kind} at {where}.", case=case.id, kind=seen.kind, where=where)
        print(printable(told))
        print(printable(f"  {seen.text}"))
    return ExitStatus.SUCCESS if seen is None else ExitStatus.FAILURE


def run_doctor(options: argparse.Namespace) -> ExitStatus:
    """Say which rungs this machine has; returns 1 when it has none. What is in the current folder
    is no program of this machine.
    """
    leave_out(Path.cwd())
    tools = find_toolchain()
    problem = ""
    name = ""
    try:
        name = asyncio.run(open_sandbox().best(trusted=True)).name
    except NoSandbox as error:
        problem = str(error)
    rows = list({rung.name: problem or rung.missing(tools) for rung in RUNGS}.items())
    able = any(not reason for _, reason in rows)
    if options.format == "json":
        record = {
            "compiler": tools.compiler,
            "linker": tools.linker,
            "cargo": tools.cargo,
            "libfuzzer": tools.has_fuzzer,
            "sandbox": name,
            "rungs": [{"name": rung, "missing": str(reason)} for rung, reason in rows],
        }
        write_out(json.dumps(record, ensure_ascii=False) + "\n")
    else:
        say = reporter()
        none = say("none")
        print(say("compiler: {name}", name=_pair(tools.compiler, tools.linker) or none))
        print(say("libFuzzer: {state}", state=say("available") if tools.has_fuzzer else none))
        print(say("sandbox: {name}", name=name or none))
        for rung, reason in rows:
            print(f"  {rung:<18} {say('available') if not reason else say(reason)}")
    return ExitStatus.SUCCESS if able else ExitStatus.FAILURE


async def _prove_all(
    findings: Sequence[Finding], root: Path, options: argparse.Namespace
) -> tuple[list[tuple[Finding, Evidence]], bool]:
    """Prove findings one after the other; also returns whether the user has stopped it."""
    bench = Workbench(root, open_sandbox(), find_toolchain())
    store = EvidenceStore(root)
    stop = asyncio.Event()
    stop_on_interrupt(stop)
    line = _Line(enabled=sys.stderr.isatty() and not options.quiet)
    told: list[tuple[Finding, Evidence]] = []
    for number, finding in enumerate(findings, 1):
        line.place = f"{number}/{len(findings)} {finding.file}:{finding.span.line}"
        budget = Budget(options.budget, stop)
        found = await prove(finding, bench, budget, RUNGS, line.show)
        line.clear()
        if stop.is_set():
            return told, True
        if any(not rung.missing(bench.tools) for rung in RUNGS):
            store.add(found)
        told.append((finding, found))
        if options.format == "text":
            _tell(finding, found)
    return told, False


def _tell(finding: Finding, evidence: Evidence) -> None:
    say = reporter()
    span = finding.span
    cwe = f" CWE-{finding.cwe[0]}" if finding.cwe else ""
    print(f"{printable(finding.file)}:{span.line}:{span.column}  {finding.rule}{cwe}, {finding.id}")
    print(f"  {say(NAMES[evidence.verdict])}")
    print(*wrap_lines(say(evidence.message), _WIDTH), sep="\n")
    _tell_assumptions(evidence)
    if evidence.case is not None:
        print(f"  jsec replay {evidence.case.id}")
    sys.stdout.flush()


def _tell_assumptions(evidence: Evidence) -> None:
    say = reporter()
    for assumption in evidence.assumptions:
        print(*wrap_lines(say("Assumed: {what}", what=say(assumption)), _WIDTH), sep="\n")


def _tell_summary(told: Sequence[tuple[Finding, Evidence]]) -> None:
    say = reporter()
    counts = {
        verdict: sum(evidence.verdict is verdict for _, evidence in told) for verdict in Verdict
    }
    parts = ", ".join(f"{count} {say(NAMES[key])}" for key, count in counts.items() if count)
    seconds = f"{sum(evidence.seconds for _, evidence in told):.1f}"
    print(
        say(
            "{count} examined: {parts} ({seconds} CPU seconds)",
            count=len(told),
            parts=parts or say("none"),
            seconds=seconds,
        )
    )


def _tell_json(told: Sequence[tuple[Finding, Evidence]]) -> None:
    findings = [{**finding.to_json(), "proof": found.to_json()} for finding, found in told]
    counts = {
        verdict.value: sum(found.verdict is verdict for _, found in told) for verdict in Verdict
    }
    record = {"summary": {"findings": len(told), **counts}, "findings": findings}
    write_out(json.dumps(record, ensure_ascii=False) + "\n")


def names_and_root(words: Sequence[str]) -> tuple[list[str], Path]:
    """Split what is named: findings, and behind them perhaps a folder."""
    names = list(words)
    if names and not _is_name(names[-1]):
        return names[:-1], _folder(Path(names[-1]))
    return names, _folder(Path())


def _is_name(word: str) -> bool:
    """Return whether a word is a number, an id or a fingerprint rather than a folder."""
    digits = word[1:] if word[:1] in _KINDS_OF_NAME and len(word) == 7 else word
    is_hex = all(char in "0123456789abcdef" for char in digits) and digits != ""
    return word.isdecimal() or (is_hex and (len(word) in (7, 16)) and not Path(word).is_dir())


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError("{path}: no such folder.", path=path)
    return project_root(path)


def choose_findings(findings: Sequence[Finding], names: Sequence[str], root: Path) -> list[Finding]:
    """Return the findings of those names. Numbers are those of the last scan that was kept."""
    before = {
        str(record["gid"]): record.get("fingerprint")
        for record in read_records(root / STATE / "sec" / CANDIDATES)
        if isinstance(record, dict) and isinstance(record.get("gid"), int)
    }
    chosen: dict[str, Finding] = {}
    for name in names:
        wanted = before.get(name, name)
        own = {str(finding.gid) for finding in findings} if not before else set()
        found = [
            finding
            for finding in findings
            if wanted in (finding.fingerprint, finding.id)
            or (name in own and str(finding.gid) == name)
        ]
        if not found:
            raise UsageError(
                "unknown finding '{name}'; `jsec scan --format json` lists id and gid", name=name
            )
        chosen.update((finding.fingerprint, finding) for finding in found)
    return sorted(chosen.values(), key=by_score)


def open_sandbox() -> Ladder:
    """Return the sandbox as the user's settings want it. Raises `UsageError`."""
    try:
        return read_ladder()
    except JarvisError as error:
        raise UsageError(str(error)) from None


def _pair(compiler: str, linker: str) -> str:
    return compiler if compiler == linker else f"{compiler} + {linker}"


class _Line:
    """One line of a terminal that says what is tried."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._shown = False
        self.place = ""
        """What is examined."""

    def show(self, rung: str) -> None:
        """Show the place and a rung instead of the last."""
        if self._enabled:
            told = printable(f"{self.place} {rung}")
            sys.stderr.write(f"\r\x1b[K{reporter()('proving')} {told}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
