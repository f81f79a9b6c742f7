"""`jc2r prepare`: interfaces planned once per type, by the rules, the user or a model, and a crate
of them that compiles."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.store import read_records
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.config import alone, folder_of, read_config
from jarvis_ls.jc2r.crate.state import read_state, record_stage
from jarvis_ls.jc2r.libraries.call_graph import read_graph
from jarvis_ls.jc2r.libraries.records import ORDER
from jarvis_ls.jc2r.prepare.answer import PlanForm, PlannedType, take_answer
from jarvis_ls.jc2r.prepare.briefing import brief
from jarvis_ls.jc2r.prepare.crate_plan import read_plan, write_plan
from jarvis_ls.jc2r.prepare.given import take_given
from jarvis_ls.jc2r.prepare.proposals import Group, propose
from jarvis_ls.jc2r.prepare.skeleton import FOLDER, check_skeleton, write_skeleton
from jarvis_ls.jc2r.symbols.scanner import scan_project
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget

PREPARE = "prepare"
"""The name of this stage in `run_state.json`."""
ATTEMPTS = 3
"""Answers for one group."""


class Planner(Protocol):
    """A model that is asked; `assembly` makes it of the user's models."""

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """Return what a fresh agent answers."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a plan is made."""

    interface: Path | None = None
    """Folder of Rust files with interfaces that the user gives."""
    attempts: int = ATTEMPTS
    budget: Budget = field(default_factory=Budget)
    """For each answer."""
    resume: bool = True
    build_project: bool = False


@dataclass(slots=True)
class Prepared:
    """What it came to."""

    groups: list[Group] = field(default_factory=list)
    crate: str = ""
    """Folder of the crate of interfaces."""
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    """Why it did not come to its end, in words; empty when it did."""

    def count(self, source: str) -> int:
        """Return how many functions have an interface of a source."""
        return sum(
            interface.source == source and bool(interface.rust_signature)
            for group in self.groups
            for interface in group.interfaces
        )


Tell = Callable[[int, int, str], None]


async def prepare_crate(
    root: Path, planner: Planner | None, wanted: Wanted, *, tell: Tell = lambda *_: None
) -> Prepared:
    """Plan the interfaces of the project at `root` and write them to `.jarvis/c2rust/interface`;
    without a model they follow from the C alone. Raises `JarvisError`."""
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        if read_graph(folder) is None:
            await scan_project(root, build=wanted.build_project, graphs=False)
        records = _needed(folder)
        notes = read_config(root).additional_notes
        run = _Run(root, folder, records, wanted, notes)
        done = await run.run(planner, tell)
        if not done.stopped:
            state = read_state(folder)
            if state.crate:  # before there is a crate, no run has begun
                record_stage(folder, state, PREPARE)
        return done


class _Run:
    def __init__(
        self, root: Path, folder: Path, records: list[dict[str, Any]], wanted: Wanted, notes: str
    ) -> None:
        self._root, self._folder, self._wanted, self._notes = root, folder, wanted, notes
        self._crate = folder / FOLDER
        self._proposed = propose(records)
        told = [{k: v for k, v in record.items() if not k.endswith("_at")} for record in records]
        text = json.dumps(told, sort_keys=True) + notes
        self._key = {"symbols": hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}
        self._done = Prepared(crate=str(self._crate))

    async def run(self, planner: Planner | None, tell: Tell) -> Prepared:
        done = self._done
        if self._wanted.interface is not None:
            done.groups = await asyncio.to_thread(self._take_given, self._wanted.interface)
            write_plan(self._folder, self._key, done.groups)
            return done
        known = (
            {g.key: g for g in read_plan(self._folder, self._key)} if self._wanted.resume else {}
        )
        groups = [known.get(group.key, group) for group in self._proposed]
        await asyncio.to_thread(self._check_rules, groups)
        decided = dict(known)
        for number, group in enumerate(groups):
            if planner is None or group.key in known:
                continue
            tell(number, len(groups), group.name or group.module)
            groups[number] = await self._ask(planner, groups, number)
            if done.stopped:
                break
            decided[group.key] = groups[number]
            write_plan(self._folder, self._key, list(decided.values()))
        if not done.stopped:
            write_plan(self._folder, self._key, groups)
        await asyncio.to_thread(write_skeleton, self._crate, groups)
        done.groups = groups
        return done

    def _take_given(self, interface: Path) -> list[Group]:
        groups = take_given(self._proposed, interface)
        shutil.rmtree(self._crate / "src", ignore_errors=True)
        write_skeleton(self._crate, [])
        shutil.copytree(interface, self._crate / "src", dirs_exist_ok=True)
        if not (interface / "lib.rs").is_file():
            names = sorted(path.stem for path in interface.glob("*.rs"))
            text = "".join(f"pub mod {name};\n" for name in names)
            replace_file(self._crate / "src" / "lib.rs", text.encode())
        if said := check_skeleton(self._crate):
            raise JarvisError(
                "The interfaces in {folder} do not compile:\n{said}", folder=interface, said=said
            )
        return groups

    def _check_rules(self, groups: list[Group]) -> None:
        write_skeleton(self._crate, groups)
        if said := check_skeleton(self._crate):
            raise JarvisError("The planned interfaces do not compile:\n{said}", said=said)

    async def _ask(self, planner: Planner, groups: Sequence[Group], number: int) -> Group:
        """Return a group as the model plans it, once that compiles; else as it follows from the
        C."""
        group, before = groups[number], ""
        for _ in range(self._wanted.attempts):
            task = brief(self._root, group, self._notes, before)
            title = f"interface of {group.name or group.module}"
            answer = await planner.write(task, title, PlanForm(group), self._wanted.budget)
            if answer.state is AnswerState.FAILED or (
                answer.state is AnswerState.STOPPED and self._wanted.budget == Budget()
            ):
                self._done.stopped = answer.error
                return group
            if not isinstance(answer.value, PlannedType):
                break
            planned = take_answer(group, answer.value)
            trial = [*groups[:number], planned, *groups[number + 1 :]]
            said = await asyncio.to_thread(self._try, trial)
            if not said:
                return planned
            before = said
        name = group.name or group.module
        self._done.notes.append(
            Words("{name}: no answer of the model could be used; the rules decide.", name=name)
        )
        return group

    def _try(self, groups: Sequence[Group]) -> str:
        write_skeleton(self._crate, groups)
        return check_skeleton(self._crate)


def _needed(folder: Path) -> list[dict[str, Any]]:
    """Return the symbols without functions that libraries have made superfluous."""
    order = read_records(folder / ORDER)
    wanted = {int(number) for step in order for number in step["ids"]}
    return [
        record
        for record in read_records(folder / "symbols_raw.jsonl")
        if record["category"] != "function" or record["id"] in wanted
    ]
