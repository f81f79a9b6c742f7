"""The stage `harden`: findings of the C repaired one after the other, each under the gates of
`jsec fix`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.evolve.desk import Desk, Verdict
from jarvis_ls.jc2r.evolve.gates import check_hardening
from jarvis_ls.jc2r.evolve.ports import Flaw, Repaired
from jarvis_ls.jc2r.evolve.repairs import find_conflict, save_repair, write_repair
from jarvis_ls.jc2r.evolve.state import Fate, Lack, RepairRecord, Stage, Standing


def harden(desk: Desk) -> Verdict:
    """Repair what can be repaired; its gate is the score that is left."""
    missing = desk.ports.missing_model
    if missing:
        text = Words(
            "Without a model only the rewrites of the rules are tried as repairs: {why}",
            why=missing,
        )
        desk.notes.append(text)
    if desk.plan.apply:
        _write_proposed(desk)
    tried: set[str] = set()
    while len(tried) < desk.plan.repairs and (flaw := _next_flaw(desk, tried)) is not None:
        tried.add(flaw.fingerprint)
        desk.tell(Stage.HARDEN, Words("repair {n}: {what}", n=len(tried), what=flaw.title))
        if _try(desk, flaw, desk.ports.security.repair(flaw)):
            desk.scan()
    return _verdict(desk)


def _write_proposed(desk: Desk) -> None:
    """Write the repairs that earlier runs have proposed. One whose file has changed since is
    forgotten: its finding is tried again."""
    for record in [r for r in desk.state.repairs if r.fate == Fate.PROPOSED.value]:
        desk.state.repairs = [r for r in desk.state.repairs if r is not record]
        if not find_conflict(desk.root, desk.work, record.fingerprint):
            _keep_written(desk, record)
    desk.scan()


def finish_pending(desk: Desk) -> None:
    """Write what a killed run was about to write into the C."""
    pending = desk.state.pending
    if not pending:
        return
    if conflict := write_repair(desk.root, desk.work, pending):
        why = Words("{file} has changed since the repair was made", file=conflict)
        for record in [r for r in desk.state.repairs if r.fingerprint == pending]:
            _add(desk, replace(record, fate=Fate.FAILED.value, why=why))
    desk.state.pending = ""
    desk.save()


def _try(desk: Desk, flaw: Flaw, done: Repaired) -> bool:
    """Keep what came of a repair; return whether the C has changed."""
    if not done.changes:
        fate = Fate.NEEDS_MODEL if done.needs_model else Fate.FAILED
        _add(desk, RepairRecord(flaw.fingerprint, flaw.title, fate.value, done.why))
        desk.save()
        return False
    place = save_repair(desk.work, flaw.fingerprint, done.changes, done.diff)
    proposed = Fate.PROPOSED.value
    record = RepairRecord(flaw.fingerprint, flaw.title, proposed, str(place), done.by)
    if desk.plan.apply:
        _keep_written(desk, record)
    else:
        _add(desk, record)
        desk.save()
    return desk.plan.apply


def _keep_written(desk: Desk, record: RepairRecord) -> None:
    """Keep that a repair is written, then write it: a killed run is finished by the next."""
    _add(desk, replace(record, fate=Fate.WRITTEN.value, why=""))
    desk.state.pending = record.fingerprint
    desk.save()
    finish_pending(desk)


def _next_flaw(desk: Desk, tried: set[str]) -> Flaw | None:
    """Return the first finding whose repair was not tried in this run, and has not failed in an
    earlier one that had what this one has."""
    again = {Fate.FAILED} if desk.plan.rewriting.again else set()
    if not desk.ports.missing_model:
        again.add(Fate.NEEDS_MODEL)
    known = {r.fingerprint for r in desk.state.repairs if Fate(r.fate) not in again} | tried
    return next((flaw for flaw in desk.assessed.flaws if flaw.fingerprint not in known), None)


def _verdict(desk: Desk) -> Verdict:
    state, assessed = desk.state, desk.assessed
    counts = {fate: sum(r.fate == fate.value for r in state.repairs) for fate in Fate}
    base = state.first_score()
    before = base.score if base is not None else assessed.score
    told = Words(
        "repairs written: {written}, proposed: {proposed}; findings not repaired: {failed}; score"
        " {before} -> {after}",
        written=counts[Fate.WRITTEN],
        proposed=counts[Fate.PROPOSED],
        failed=counts[Fate.FAILED] + counts[Fate.NEEDS_MODEL],
        before=f"{before:.2f}",
        after=f"{assessed.score:.2f}",
    )
    if counts[Fate.PROPOSED] and not desk.plan.apply:
        desk.notes.append(
            Words(
                "{n} repairs passed the gates and were not written: use --apply, or apply the diffs"
                " in {folder}.",
                n=counts[Fate.PROPOSED],
                folder=desk.work / "repairs",
            )
        )
    lacks = _lacks(counts)
    if base is None:
        return Verdict(Standing.DONE, told, lacks)
    unmet = check_hardening(desk.plan.limits, base, assessed.score, assessed.high)
    if unmet is None:
        return Verdict(Standing.DONE, told, lacks)
    if desk.ports.missing_model or not desk.plan.apply:
        desk.notes.append(Words("The gate of harden is not met: {why}.", why=unmet))
        return Verdict(Standing.DONE, told, lacks)
    advice = Words(
        "{told}. The gate is not met: {why}. Run it again to try the findings that are left, lower"
        " --min-drop or raise --max-high, or use --skip harden.",
        told=told,
        why=unmet,
    )
    return Verdict(Standing.STOPPED, advice)


def _lacks(counts: Mapping[Fate, int]) -> tuple[Lack, ...]:
    """Return what would let more findings be repaired."""
    wanted = {Fate.NEEDS_MODEL: Lack.MODEL, Fate.PROPOSED: Lack.APPLY}
    return tuple(lack for fate, lack in wanted.items() if counts[fate])


def _add(desk: Desk, record: RepairRecord) -> None:
    others = [r for r in desk.state.repairs if r.fingerprint != record.fingerprint]
    desk.state.repairs = [*others, record]
