"""Undoes stages of a round, the last first; a killed one is finished by the next run."""

from __future__ import annotations

from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.evolve.crate_sources import restore_sources
from jarvis_ls.jc2r.evolve.desk import Desk
from jarvis_ls.jc2r.evolve.repairs import undo_repair
from jarvis_ls.jc2r.evolve.state import Fate, Stage, stages_from


def go_back(desk: Desk, stage: Stage) -> None:
    """Undo what a stage of this round, and those after it, have done. Repairs are taken out of the
    C; the crate is translated again by the next run, or, for `optimize`, is what it was before.

    Raises `JarvisError`.
    """
    desk.state.back = stage.value
    desk.save()
    finish_going_back(desk)


def finish_going_back(desk: Desk) -> None:
    """Do what `go_back` has begun. Raises `JarvisError`."""
    state = desk.state
    if not state.back:
        return
    gone = stages_from(Stage(state.back))
    if Stage.TRANSPILE in gone:
        state.anew = True
    elif state.find(Stage.OPTIMIZE) is not None or "kept" in state.steps:
        state.anew = not restore_sources(desk)
    if Stage.HARDEN in gone:
        _undo_repairs(desk)
        state.sources = ""
    state.drop(*gone)
    state.steps = []
    state.back = ""
    desk.save()


def _undo_repairs(desk: Desk) -> None:
    """Take the repairs of this round out of the C, the last first."""
    left = []
    for record in reversed(desk.state.repairs):
        if record.fate != Fate.WRITTEN.value:
            continue
        if conflict := undo_repair(desk.root, desk.work, record.fingerprint):
            left.append(record)
            desk.notes.append(
                Words(
                    "The repair of {what} was not undone: {file} has changed since.",
                    what=record.title,
                    file=conflict,
                )
            )
    desk.state.pending = ""
    desk.state.repairs = left[::-1]
