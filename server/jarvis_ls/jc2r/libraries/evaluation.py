"""The stage `lib-replace`: which functions, with all that they call, libraries can do instead.

A table decides what the C library has (`known_functions`), a model the rest, callers before
callees: what is replaced needs no further look at what only it calls. Only tables are changed here:
`rewrite` writes the replacement under its gates, and what does not pass them keeps the baseline.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.config import Config
from jarvis_ls.jc2r.libraries.answer import Assessment
from jarvis_ls.jc2r.libraries.briefing import brief
from jarvis_ls.jc2r.libraries.call_graph import CallGraph
from jarvis_ls.jc2r.libraries.checkpoint import CHECKPOINT, Checkpoint, read_checkpoint
from jarvis_ls.jc2r.libraries.crate_registry import CrateRegistry, describe_missing
from jarvis_ls.jc2r.libraries.known_functions import KNOWN, STD
from jarvis_ls.jc2r.libraries.records import Replacement, timestamp, write_outputs
from jarvis_ls.runtime.agent.typed_answer import AnswerForm, ModelForm
from jarvis_ls.runtime.base.events import Budget

ENTRIES = (
    "JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS",
    "JARVIS_C2RUST_DELAY_ENTRIES",
    "C2RUST_DELAY_ENTRIES",
)
"""Variables that name functions which, as `main`, are never replaced."""
VENDORED = "vendor"
"""Below `.jarvis/c2rust`: the crates that replacements need."""


class Asker(Protocol):
    """A model that is asked; `assembly` makes it of the user's models."""

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """Return what a fresh agent answers."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is evaluated, and how."""

    library: str = ""
    """A crate to try first."""
    candidates: tuple[str, ...] = ()
    """Functions to look at, by name; with them only what they need is translated. Empty: all."""
    most: int = 0
    """Functions a model is asked about at most; 0: no limit."""
    group: str = ""
    """The models that are asked, as the checkpoint knows them."""
    interval: int = 1
    """Answers after which a checkpoint is written."""
    resume: bool = True
    clear: bool = True
    """Whether the checkpoint goes away at the end."""
    budget: Budget = field(default_factory=Budget)
    """For each function."""


@dataclass(slots=True)
class Evaluated:
    """What it came to."""

    replacements: list[Replacement] = field(default_factory=list)
    pruned: int = 0
    """Functions that no caller needs any more."""
    asked: int = 0
    """Functions a model was asked about, in this run and before it."""
    left: int = 0
    """Functions that no model was asked about, because there is none, or enough were."""
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    """Why it did not come to its end, in words; empty when it did."""


Tell = Callable[[int, str], None]
"""How many functions are decided, and the name of the next."""


class Evaluation:
    """One evaluation of the functions of a project."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        graph: CallGraph,
        registry: CrateRegistry,
        plan: Plan,
        config: Config,
    ) -> None:
        self._root, self._folder, self._graph = root, folder, graph
        self._registry, self._plan, self._config = registry, plan, config
        self._disabled = {_normal(name) for name in config.disabled_libraries}
        self._entries = entry_names(os.environ)
        self._done = Evaluated()
        self._versions: dict[str, str] = {}
        key = self._key()
        self._point = read_checkpoint(folder, key) if plan.resume else Checkpoint(key)
        self._selected = {found.id for found in self._point.selected_roots}

    async def run(self, asker: Asker | None, tell: Tell = lambda *_: None) -> Evaluated:
        """Evaluate, and write what came of it; without a model only the table decides. A killed run
        continues where its last checkpoint was. Raises `JarvisError`."""
        done, point = self._done, self._point
        scope = self._graph.named(self._plan.candidates) if self._plan.candidates else None
        for name in self._plan.candidates:
            if not self._graph.named((name,)):
                done.notes.append(Words("{name}: no such function.", name=name))
        processed = set(point.processed_roots)
        since = 0
        for number in self._undecided(scope, processed):
            tell(len(processed), self._graph.symbol(number).name)
            found = self._from_table(number)
            if found is None and not self._is_entry(number):
                if asker is None or 0 < self._plan.most <= point.eval_counter:
                    done.left += 1
                    continue  # a later run may decide it
                answer = await self._ask(asker, number)
                if done.stopped:
                    self._save()
                    done.asked = point.eval_counter
                    return done
                point.eval_counter += 1
                since += 1
                found = self._accepted(number, answer)
            processed.add(number)
            point.processed_roots.append(number)
            if found is not None:
                point.selected_roots.append(found)
                self._selected.add(number)
            if since >= self._plan.interval:
                self._save()
                since = 0
        return self._finish(scope)

    def _finish(self, scope: list[int] | None) -> Evaluated:
        done, point = self._done, self._point
        done.asked = point.eval_counter
        done.replacements = sorted(point.selected_roots, key=lambda found: found.id)
        crates: dict[str, str] = {}
        for found in done.replacements:
            crates.update(found.crates)
        if crates:
            self._registry.vendor(sorted(crates.items()), self._folder / VENDORED)
        self._save()
        done.pruned = write_outputs(self._folder, self._graph, done.replacements, scope)
        if self._plan.clear and not done.left:
            (self._folder / CHECKPOINT).unlink(missing_ok=True)
        return done

    def _undecided(self, scope: list[int] | None, processed: set[int]) -> Iterator[int]:
        """Yield the functions that are needed and not decided, those near a root first."""
        starts = self._graph.roots() if scope is None else scope
        live, known = self._graph.reach(starts, self._selected), len(self._selected)
        for number, _ in self._graph.breadth_first(starts):
            if len(self._selected) != known:
                live, known = self._graph.reach(starts, self._selected), len(self._selected)
            if number in live and number not in processed:
                yield number
        if scope is None:  # circles that no root leads to
            yield from sorted(self._graph.functions - self._graph.reach(starts) - processed)

    def _is_entry(self, number: int) -> bool:
        symbol = self._graph.symbol(number)
        return symbol.name in self._entries or symbol.qualified_name in self._entries

    def _from_table(self, number: int) -> Replacement | None:
        symbol = self._graph.symbol(number)
        known = KNOWN.get(symbol.name)
        if known is None or len(symbol.params) != known.parameters or self._is_entry(number):
            return None
        if STD in self._disabled:
            return None
        found = Assessment(
            replaceable=True,
            libraries=[STD],
            library=STD,
            apis=list(known.apis),
            api=known.apis[0],
            confidence=1.0,
            notes="A function of the C library that Rust's own library has.",
        )
        return self._replacement(number, found, ("",), "table")

    async def _ask(self, asker: Asker, number: int) -> AgentAnswer:
        symbol = self._graph.symbol(number)
        task = brief(
            self._root,
            self._graph,
            number,
            self._registry.listed(),
            self._plan.library,
            self._config,
        )
        form = ModelForm(Assessment)
        answer = await asker.write(task, f"library for {symbol.name}", form, self._plan.budget)
        if answer.state is AnswerState.FAILED or (
            answer.state is AnswerState.STOPPED and self._plan.budget == Budget()
        ):
            self._done.stopped = answer.error
        return answer

    def _accepted(self, number: int, answer: AgentAnswer) -> Replacement | None:
        """Return what a model proposes if nothing speaks against it."""
        name = self._graph.symbol(number).name
        found = answer.value
        if not isinstance(found, Assessment):
            self._note(name, Words("the answer of the model cannot be used"))
            return None
        if not found.replaceable:
            return None
        for library in found.libraries:
            if _normal(library) in self._disabled:
                self._note(
                    name, Words("the model proposes {name}, which is disabled", name=library)
                )
                return None
        versions = []
        for library in found.libraries:
            version = "" if library == STD else self._version(library)
            if library != STD and not version:
                self._note(name, describe_missing(library, self._registry))
                return None
            versions.append(version)
        return self._replacement(number, found, tuple(versions), "llm")

    def _version(self, library: str) -> str:
        if library not in self._versions:
            self._versions[library] = self._registry.find_version(library)
        return self._versions[library]

    def _replacement(
        self, number: int, found: Assessment, versions: tuple[str, ...], mode: str
    ) -> Replacement:
        symbol = self._graph.symbol(number)
        return Replacement(
            number,
            symbol.name,
            symbol.qualified_name,
            symbol.file,
            tuple(found.libraries),
            versions,
            found.library,
            tuple(found.apis),
            found.api,
            found.confidence,
            found.notes[:500],
            mode,
            timestamp(),
        )

    def _note(self, name: str, why: str) -> None:
        self._done.notes.append(Words("{name} stays as it is: {why}", name=name, why=why))

    def _save(self) -> None:
        starts = self._graph.roots()
        gone = self._graph.reach(starts) - self._graph.reach(starts, self._selected)
        self._point.save(self._folder, sorted(gone))

    def _key(self) -> dict[str, Any]:
        """Return what makes two evaluations the same one."""
        told = [
            {name: value for name, value in record.items() if not name.endswith("_at")}
            for record in self._graph.records
        ]
        digest = hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=16)
        plan = self._plan
        return {
            "symbols": digest.hexdigest(),
            "library_name": plan.library,
            "llm_group": plan.group,
            "candidates": sorted(plan.candidates),
            "disabled_libraries": sorted(self._disabled),
            "max_funcs": plan.most,
            "crates": self._registry.name,
        }


def entry_names(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the functions that are never replaced: `main` and what variables name."""
    told = next((environment[name] for name in ENTRIES if environment.get(name)), "")
    return frozenset({"main", *filter(None, re.split(r"[,;\s]+", told))})


def _normal(library: str) -> str:
    """Return the name of a crate as two spellings of it share it."""
    return library.strip().lower().replace("-", "_")
