"""Tasks with a known way to tell success, given to agents one by one: how well, at what price.

A task is a line of JSON:

    {"id": "off-by-one", "prompt": "Repair parse().", "folder": "tinyproxy",
     "check": "make -s test", "schema": {…}, "seconds": 900, "tokens": 200000}

`id` and `prompt` are needed. The agent works in a copy of `folder`. The task is solved when the
agent ends it as done, its answer meets `schema`, and `check`, a command line, ends with status 0 in
the copy. What is finished is on disk before the next task begins, so that an evaluation can
continue where it was ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.agents.node import Ending
from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.settings_file import FILE
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.process import end_group
from jarvis_ls.core.store import Appender, line_of, read_records
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.typed_answer import SchemaForm
from jarvis_ls.runtime.base.event_json import record_from_json
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.base.redaction import redact, without_secrets
from jarvis_ls.runtime.llm.call_log import FOLDER as CALLS
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.providers import Models, Provider
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import PermissionRule

RESULTS, SUMMARY, HOME = "results.jsonl", "summary.json", "home"
_OUTPUT = 4_000
"""Characters of what a check prints that are kept."""
_KEYS = frozenset("id prompt folder check schema seconds tokens".split())


@dataclass(frozen=True, slots=True)
class Task:
    """One task."""

    id: str
    prompt: str
    folder: Path | None = None
    """Copied for the agent; None means an empty folder."""
    check: str = ""
    schema: dict[str, Any] | None = None
    seconds: float = 1800.0
    """The agent, and after it the check, may take so long."""
    tokens: int | None = None
    """What the agent may spend."""
    version: str = ""
    """Another one when any of the line changes."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How a check ended."""

    status: int
    """None of ours: what the command line ended with; -1 when it was not done in time."""
    output: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a task went."""

    id: str
    version: str
    outcome: Literal["solved", "failed"]
    state: str
    """How the agent ended it."""
    error: str = ""
    text: str = ""
    value: Any = None
    rounds: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    session: str = ""
    """Id of its session in the evaluation's `home`."""
    check: Checked | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How tasks are worked on."""

    output: Path
    """Folder of the results; what it holds already is not done again."""
    user_home: Path
    """Whose settings are used."""
    environment: Mapping[str, str]
    person: Interaction
    model: str = ""
    """A group, or `provider/model`; empty takes the usual one."""
    replay: Path | None = None
    """Folder of an earlier evaluation, whose answers are given again."""
    trusted: bool = False
    rules: Sequence[PermissionRule] = ()


def read_tasks(file: Path) -> list[Task]:
    """Return the tasks of a file. Raises `UsageError`, naming the line that is wrong."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("{file}: {why}", file=file, why=error) from None
    tasks: dict[str, Task] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            task = _read_task(json.loads(line), file.absolute().parent)
            if task.id in tasks:
                raise ValueError(f"there is a task {task.id!r} already")
        except (ValueError, TypeError) as error:
            raise UsageError("{file}:{n}: {why}", file=file, n=number, why=error) from None
        tasks[task.id] = task
    return list(tasks.values())


def _read_task(table: Any, beside: Path) -> Task:
    if not isinstance(table, dict):
        raise ValueError("it is not a JSON object")
    if unknown := sorted(table.keys() - _KEYS):
        raise ValueError(f"{unknown[0]!r} is not known; there are {', '.join(sorted(_KEYS))}")
    values = dict(table)
    if not isinstance(values.get("id"), str) or not values.get("id"):
        raise ValueError("its id must be a text")
    if not isinstance(values.get("prompt"), str) or not values["prompt"].strip():
        raise ValueError("its prompt must be a text")
    if "folder" in values:
        values["folder"] = beside / values["folder"]
        if not values["folder"].is_dir():
            raise ValueError(f"{values['folder']} is not a folder")
    if (schema := values.get("schema")) is not None:
        SchemaForm(schema)
    for name in ("seconds", "tokens"):
        if name in values and not (isinstance(values[name], (int, float)) and values[name] > 0):
            raise ValueError(f"{name} must be a number above 0")
    if not isinstance(values.get("check", ""), str):
        raise ValueError("its check must be a command line")
    sum_ = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()
    return Task(**values, version=sum_[:16])


class Evaluation:
    """Works through tasks, one after the other."""

    def __init__(self, tasks: Sequence[Task], plan: Plan) -> None:
        """Raise `UsageError` when the tasks cannot be worked on as planned."""
        self._tasks = tasks
        self._plan = plan
        if any(task.check for task in tasks) and not plan.trusted:
            raise UsageError("checks run commands of the tasks; allow that with --trust")
        known = {task.id: task.version for task in tasks}
        done = (r for r in _read_results(plan.output) if known.get(r.id) == r.version)
        self.results: dict[str, Result] = {result.id: result for result in done}
        """By task, those of an earlier run too."""
        self._sessions: dict[str, str] = {}
        if plan.replay is not None:
            self._sessions = {r.id: r.session for r in _read_results(plan.replay)}
            if not self._sessions:
                raise UsageError("{folder} contains no results", folder=plan.replay)

    async def run(self, told: Callable[[Result], None]) -> list[Result]:
        """Work on what is not done yet; `told` is called with each result. Returns all of them."""
        plan = self._plan
        home = plan.output / HOME
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if (settings := plan.user_home / FILE).is_file():
            replace_file(home / FILE, settings.read_bytes(), mode=0o600)
        with Appender(plan.output / RESULTS) as kept:
            for task in self._tasks:
                if task.id not in self.results:
                    result = await self._work_on(task, home)
                    kept.append(line_of(asdict(result)))
                    kept.sync()
                    self.results[task.id] = result
                    told(result)
        found = [self.results[task.id] for task in self._tasks]
        written = json.dumps(summarise(found), indent=2, ensure_ascii=False)
        replace_file(plan.output / SUMMARY, written.encode() + b"\n")
        return found

    async def _work_on(self, task: Task, home: Path) -> Result:
        begun = time.monotonic()
        assembly = self._assembly(task, home)
        with tempfile.TemporaryDirectory(prefix="jarvis-eval-") as place:
            folder = Path(os.path.realpath(place)) / "work"
            if task.folder is None:
                folder.mkdir()
            else:
                await asyncio.to_thread(shutil.copytree, task.folder, folder, symlinks=True)
            try:
                result = await self._ask(task, assembly, folder)
            finally:
                await assembly.close()
            if task.check and result.state == "completed":
                checked = await run_check(task.check, folder, task.seconds, self._plan.environment)
                outcome: Any = "solved" if checked.status == 0 else "failed"
                result = replace(result, check=checked, outcome=outcome)
        return replace(result, seconds=round(time.monotonic() - begun, 3))

    async def _ask(self, task: Task, assembly: Assembly, folder: Path) -> Result:
        plan = self._plan
        conversation = await assembly.start(
            None,
            [folder],
            plan.person,
            trusted=plan.trusted,
            options=replace(assembly.options, non_interactive=True),
            additions=Additions(rules=plan.rules),
        )
        if task.tokens is not None:
            conversation.tree.set_budget(ROOT, Budget(tokens=int(task.tokens)))
        form = SchemaForm(task.schema) if task.schema is not None else None
        ending = await _within(conversation, task, form)
        tree = conversation.tree
        return Result(
            task.id,
            task.version,
            "solved" if ending.state == "completed" else "failed",
            ending.state,
            redact(ending.error),
            redact(ending.text),
            ending.value,
            sum(node.info.rounds for node in tree.walk()),
            tree.root.info.subtree,
            session=conversation.id,
        )

    def _assembly(self, task: Task, home: Path) -> Assembly:
        plan = self._plan
        assembly = build(
            home=home,
            environment=plan.environment,
            arguments={"model_group": "balanced" if plan.replay else plan.model or None},
        )
        if plan.replay is not None:
            session = self._sessions.get(task.id, "")
            calls = plan.replay / HOME / "sessions" / session / CALLS
            assembly.use_models(recorded_models(calls, assembly.models))
        return assembly


def recorded_models(calls: Path, models: Models) -> Models:
    """Return models that answer only what is recorded in a folder; of each group the window stays
    that of its first model.
    """
    provider = Provider("recorded", "replay", str(calls), needs_key=False)
    groups: dict[str, tuple[str, ...]] = {"balanced": (), **models.groups}
    infos = {
        f"recorded/{group}": replace(
            next((models.infos[n] for n in names if n in models.infos), ModelInfo(group)),
            name=group,
        )
        for group, names in groups.items()
    }
    named: dict[str, tuple[str, ...]] = {group: (f"recorded/{group}",) for group in groups}
    return replace(models, providers={"recorded": provider}, groups=named, infos=infos)


async def _within(conversation: Conversation, task: Task, form: SchemaForm | None) -> Ending:
    """Return how the agent ends the task, in the time it has."""
    try:
        return await asyncio.wait_for(conversation.ask(task.prompt, form=form), task.seconds)
    except asyncio.TimeoutError:
        await conversation.stop()
        return Ending("failed", error=Words("It was not done in time."))
    except JarvisError as error:
        return Ending("failed", error=str(error))


async def run_check(
    line: str, folder: Path, seconds: float, environment: Mapping[str, str]
) -> Checked:
    """Run a command line in a folder, without the secrets of the environment."""
    process = await asyncio.create_subprocess_shell(
        line,
        cwd=folder,
        env=without_secrets(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), seconds)
    except asyncio.TimeoutError:
        return Checked(-1, "")
    finally:
        end_group(process)
    assert process.returncode is not None
    return Checked(process.returncode, redact(output.decode("utf-8", "replace"))[-_OUTPUT:])


def summarise(results: Sequence[Result]) -> dict[str, Any]:
    """Return what results add up to, as plain JSON values."""
    usage = sum((result.usage for result in results), Usage())
    rounds = [result.rounds for result in results]
    return {
        "tasks": len(results),
        "solved": sum(result.outcome == "solved" for result in results),
        "rounds_median": statistics.median(rounds) if rounds else 0,
        "usage": asdict(usage),
        "cached_share": cached_share(usage),
        "seconds": round(sum(result.seconds for result in results), 3),
        "results": [asdict(result) for result in results],
    }


def cached_share(usage: Usage) -> float:
    """Return the share of prompt tokens that came from the provider's cache."""
    return round(usage.cached / usage.input, 4) if usage.input else 0.0


def _read_results(folder: Path) -> Iterator[Result]:
    if (file := folder / RESULTS).is_file():
        for record in read_records(file):
            with contextlib.suppress(ValueError):
                yield record_from_json(Result, record)
