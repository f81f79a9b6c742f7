"""Auto mode: a task is planned, split, carried out by several agents at once, and watched.

plan → tasks whose dependencies are done run as children of the root → answer from their reports

A watch looks at the agents now and then. One that takes too long is ended and tried again; one
that makes no progress is held until the root has said what to do; one whose tool calls fail is told
so. Everything is kept in the session before it happens: a process that is killed resumes with
`resume`, and a task that has ended is not done again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from jarvis_ls.agents.auto_plan import ExecutionPlan, PlanForm, Subtask, tasks_of
from jarvis_ls.agents.auto_record import AutoRecords, RunRecord, TaskRecord
from jarvis_ls.agents.auto_settings import AutoSettings
from jarvis_ls.agents.auto_watch import AutoWatch
from jarvis_ls.agents.briefing import load_prompt, result_of
from jarvis_ls.agents.node import Assignment, Ending, Node
from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.agents import Agents
from jarvis_ls.assembly.auto_correction import Corrector
from jarvis_ls.assembly.conversation_interface import ConversationInterface
from jarvis_ls.assembly.tools import LOOKING
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words, filled
from jarvis_ls.runtime.agent.agent_view import Showing, new_id
from jarvis_ls.runtime.agent.prompts import FAILED, without_marks
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    Correction,
    NodeState,
    TaskGraphEntry,
    TaskGraphState,
    TaskShown,
)
from jarvis_ls.runtime.base.messages import Assistant, System, User

PLANS = 3
"""How often a plan is asked for before one agent does all."""
HANDED_OVER = 8_000
"""Characters of a result that other agents are given."""
STOPPED = Words("Stopped. “/auto” without a task resumes it.")
logger = logging.getLogger(__name__)


class Auto:
    """Auto mode of one conversation. Everything here is for its event loop."""

    def __init__(
        self, conversation: ConversationInterface, agents: Agents, settings: AutoSettings
    ) -> None:
        """For `Conversation`."""
        self.settings = settings
        self._conversation = conversation
        self._agents = agents
        self._records = AutoRecords(conversation.session)
        self._work: asyncio.Task[Ending] | None = None
        self._is_stopping = False
        self._ended: dict[str, asyncio.Event] = {}
        self._watch: AutoWatch
        self._corrector: Corrector

    # -- what callers use ------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Return whether it works on a task."""
        return self._work is not None and not self._work.done()

    def begin(self, task: str, *, is_shown: bool = False) -> None:
        """Work on a task from now on; `is_shown` says that the user sees it already.

        Raises `UsageError` while an agent works, `JarvisError` when no model can be asked.
        """
        self._check_idle()
        if not task.strip():
            raise UsageError("Say what is to be done.")
        Assignment(task).shown  # noqa: B018 - raises for what cannot be read
        self._records.begin(task)
        self._start(is_shown)

    def resume(self) -> None:
        """Continue with the task that was interrupted, or of which parts failed. Raises like
        `begin`."""
        self._check_idle()
        run = self._records.run
        if run is None or (run.phase == "ended" and not self._retriable()):
            raise UsageError("This session has no task that can be resumed in auto mode.")
        if run.phase == "ended":
            for task in self._retriable():
                self._records.set_task(task.id, state="waiting", attempts=0, error="")
            self._records.update(phase="working", answer=new_id())
        self._start(is_shown=False)

    async def wait(self) -> Ending:
        """Return how the work ends. When this is cancelled the work goes on."""
        assert self._work is not None
        await asyncio.wait([self._work])
        if self._work.cancelled():
            return Ending("cancelled", error=STOPPED)
        return self._work.result()

    def begin_stop(self) -> None:
        """Begin and correct nothing more; what works is for the tree to end, then call `end`."""
        if self.running:
            self._is_stopping = True
            self._corrector.close()

    async def end(self) -> None:
        """End the work once the tree has ended its agents. It can be resumed."""
        if self._work is not None and not self._work.done():
            await self._conversation.tree.bus.settle(ROOT)  # else they report to the root's model
            self._work.cancel()
            await asyncio.wait([self._work])

    # -- below: planning, working, answering -----------------------------------------------------

    def _check_idle(self) -> None:
        if self.running or self._conversation.working:
            raise UsageError("An agent is running; stop it first.")
        group = self._conversation.tree.root.info.group
        if (missing := self._conversation.assembly.missing(group)) is not None:
            raise missing

    def _start(self, is_shown: bool) -> None:
        c = self._conversation
        self._is_stopping = False
        c.tree.reopen(ROOT)
        self._watch = AutoWatch(c.tree, self.settings)
        self._corrector = Corrector(c.tree, self._watch, self.settings, self._agents, self._correct)
        self._work = asyncio.create_task(self._run(is_shown), name="auto mode")

    async def _run(self, is_shown: bool) -> Ending:
        c = self._conversation
        c.session.working = True
        end_observing = c.feed.observe(self._watch.observe)
        watching = asyncio.create_task(self._look())
        try:
            await self._say_task(is_shown)
            plan = self._records.plan or await self._make_plan()
            if isinstance(plan, Ending):
                return self._fail(plan)
            await self._carry_out(plan)
            return await self._answer(plan)
        except asyncio.CancelledError:
            self._show("stopped")
            return Ending("cancelled", error=STOPPED)
        except JarvisError as error:  # the disk is full
            await self._end_agents()
            return self._fail(Ending("failed", error=str(error)))
        except Exception as error:  # a fault of ours ends the run, not the session
            logger.exception("auto mode failed")
            await self._end_agents()
            return self._fail(Ending("failed", error=f"{type(error).__name__}: {error}"))
        finally:
            watching.cancel()
            self._corrector.close()
            end_observing()
            c.session.working = c.tree.working

    async def _look(self) -> None:
        before = time.monotonic()
        while True:
            await asyncio.sleep(self.settings.interval)
            now = time.monotonic()
            # a machine that slept has not worked
            self._corrector.handle(self._watch.look(min(now - before, 2 * self.settings.interval)))
            before = now

    async def _say_task(self, is_shown: bool) -> None:
        """Let the user's task begin the conversation of the root, once."""
        c, run = self._conversation, self._run_record
        if any(m.id == run.id for m in c.session.transcript(ROOT) if not isinstance(m, System)):
            return
        checkpoint = await c.checkpoint()
        c.session.append(ROOT, User(run.task, id=run.id))
        if not is_shown:
            self._showing().user(run.id, run.task, checkpoint=checkpoint)

    async def _make_plan(self) -> ExecutionPlan | Ending:
        """Return the plan; without a usable one, that one agent does all. An ending says that no
        model can be asked."""
        tree = self._conversation.tree
        form = PlanForm(tree.profiles.agents)
        ending = Ending("failed")
        for _ in range(PLANS):
            node = self._planner(form)
            self._watch.begin(node.id)
            ending = await self._result(node)
            self._watch.end(node.id)
            fault = self._corrector.take(node.id)
            plan = ending.value
            if plan is None and ending.state == "completed":  # by a process that was killed then
                plan = _read_plan(form, ending.text)
            if isinstance(plan, ExecutionPlan):
                self._records.update(plan=plan.model_dump(mode="json"), phase="working")
                return plan
            is_cancelled = ending.state == "cancelled" and fault is None
            if is_cancelled or tree.root.refused or node.refused:
                return ending
            if form.refused:
                break
        if not form.refused:
            return ending
        self._showing().notice(
            "warning", "No plan could be made of the model's answers; one agent does the task."
        )
        plan = ExecutionPlan(should_split=False)
        self._records.update(plan=plan.model_dump(mode="json"), phase="working")
        return plan

    def _planner(self, form: PlanForm) -> Node:
        """Return the agent that plans, at work or at its end."""
        tree, run = self._conversation.tree, self._run_record
        if run.planner in tree:
            node = tree.node(run.planner)
            node.form = form
            self._continue(node)
            return node
        known = self._conversation.sources.toolset.tools()
        node = tree.add(
            ROOT,
            Assignment(
                run.task,
                title=Words("Plan"),
                background=load_prompt("auto_plan"),
                tools=tuple(name for name in LOOKING if name in known),
                group=tree.root.info.group,
                unattended=True,
            ),
            form,
        )
        self._records.update(planner=node.id)
        tree.start(node.id)
        return node

    async def _carry_out(self, plan: ExecutionPlan) -> None:
        """Return when all tasks have ended."""
        tasks = tasks_of(plan, self._run_record.task)
        self._ended = {task.id: asyncio.Event() for task in tasks}
        self._show()
        working = [asyncio.create_task(self._do(plan, task)) for task in tasks]
        try:
            await asyncio.gather(*working)
        finally:
            for job in working:
                job.cancel()

    async def _do(self, plan: ExecutionPlan, task: Subtask) -> None:
        """Do a task once those are done that it needs."""
        for need in task.dependencies:
            await self._ended[need].wait()
        self._check_stopping()
        record = self._records.task(task.id)
        if record.state in ("waiting", "running"):
            missing = [n for n in task.dependencies if self._records.task(n).state != "done"]
            if missing:
                title = next(other.title for other in plan.subtasks if other.id == missing[0])
                why = Words("It needs “{task}”, which is not done.", task=title or missing[0])
                self._set(task.id, state="skipped", error=self._say(why))
            else:
                await self._attempt(plan, task)
        self._ended[task.id].set()

    async def _attempt(self, plan: ExecutionPlan, task: Subtask) -> None:
        """Let agents work on a task until it is done or no more attempts are left."""
        stretch = 1.0
        try:
            node = self._begin_agent(plan, task)
        except JarvisError as limit:  # of trees, or a tool that is not there
            self._set(task.id, state="failed", error=self._say(str(limit)))
            return
        while True:
            self._watch.begin(node.id, stretch)
            ending = await self._result(node)
            self._watch.end(node.id)
            if ending.state == "completed":
                self._set(task.id, state="done", result=ending.text, error="")
                return
            fault = self._corrector.take(node.id)
            record = self._records.task(task.id)
            error = self._say(ending.error or Words("It gave no answer."))
            if ending.state == "cancelled" and fault is None:
                self._set(task.id, state="cancelled", error=error)
                return
            is_refused = any(above.refused for above in node.lineage())
            gives_up = fault is not None and fault.kind == "give_up"
            if gives_up or is_refused or record.attempts > self.settings.retries:
                self._set(task.id, state="failed", error=error)
                return
            if fault is not None and fault.cause == "timeout":
                stretch *= 1.5
            node = self._try_again(plan, task, node, ending, fault)

    async def _result(self, node: Node) -> Ending:
        """Return how the work of an agent ended; nothing is concluded from a stop of all."""
        tree = self._conversation.tree
        ending = await tree.result(node.id)
        if node.id in tree:
            await tree.wait(node.id)  # until nothing of it runs: it may be tried again
        self._check_stopping()
        return ending

    def _check_stopping(self) -> None:
        if self._is_stopping:
            raise asyncio.CancelledError

    def _begin_agent(self, plan: ExecutionPlan, task: Subtask) -> Node:
        """Return the agent of a task, at work or at its end; that of an earlier process goes on."""
        tree = self._conversation.tree
        record = self._records.task(task.id)
        if record.node in tree:
            node = tree.node(record.node)
            self._set(task.id, state="running")
            self._continue(node)
            return node
        return self._new_agent(plan, task, "")

    def _new_agent(self, plan: ExecutionPlan, task: Subtask, instructions: str) -> Node:
        """Return another agent that works on a task."""
        tree = self._conversation.tree
        profile = tree.profiles.agents.get(task.agent)
        node = tree.add(
            ROOT,
            Assignment(
                task.task,
                title=task.title,
                kind=task.agent_type,
                background=self._background(plan, task),
                plan=instructions,
                tools=profile.tools if profile is not None else None,
                group=profile.model if profile is not None else "",
                profile=task.agent if profile is not None else "",
                code=task.code,
                unattended=True,
            ),
        )
        attempts = self._records.task(task.id).attempts + 1
        self._set(task.id, node=node.id, state="running", attempts=attempts)
        tree.start(node.id)
        return node

    def _try_again(
        self,
        plan: ExecutionPlan,
        task: Subtask,
        node: Node,
        ending: Ending,
        fault: Correction | None,
    ) -> Node:
        if fault is not None and fault.kind == "restart":
            return self._new_agent(plan, task, fault.text)
        if fault is None:
            fault = Correction("failed", "retry", self._say(ending.error))
            self._correct(node.id, fault)
        self._set(task.id, attempts=self._records.task(task.id).attempts + 1)
        self._conversation.tree.retry(node.id)
        return node

    def _continue(self, node: Node) -> None:
        """Let an agent of an earlier process go on, unless it has given its last answer."""
        tree = self._conversation.tree
        if node.state == "completed":
            node.ending = node.ending or Ending("completed", self._last_answer(node))
        elif node.state in ("failed", "cancelled"):
            if answer := self._last_answer(node):
                node.ending = Ending("completed", answer)
            else:
                tree.retry(node.id)
        elif node.state == "paused":
            tree.resume(node.id)

    def _last_answer(self, node: Node) -> str:
        """Return the answer that ended an agent's work; empty when it was still working."""
        said = self._conversation.session.messages(node.id)
        last = said[-1] if said else None
        if any(child.state != "completed" for child in node.children.values()):
            return ""  # it waited for them
        if not isinstance(last, Assistant) or last.tool_calls or last.finish != "stop":
            return ""
        return "" if FAILED in last.text else without_marks(last.text)

    def _background(self, plan: ExecutionPlan, task: Subtask) -> str:
        """Return what the agent of a task should know: results of those before it too."""
        parts = [plan.background]
        for other in tasks_of(plan, ""):
            if other.id in task.dependencies:
                result = self._records.task(other.id).result[:HANDED_OVER]
                parts.append(f"## Result of “{other.title or other.id}”\n{result}")
        return "\n\n".join(part for part in parts if part)

    async def _answer(self, plan: ExecutionPlan) -> Ending:
        """Return the answer to the user, which ends the run."""
        tasks = tasks_of(plan, self._run_record.task)
        records = {task.id: self._records.task(task.id) for task in tasks}
        left = [task for task in tasks if records[task.id].state != "done"]
        text = self._answered()
        if not text and not plan.is_split:
            text = records[tasks[0].id].result
        elif not text:
            text = await self._summarise(tasks, records)
        tree = self._conversation.tree
        await tree.wait(ROOT)  # the user may talk with it meanwhile
        if text:
            if not self._answered():
                self._conversation.session.append(ROOT, Assistant(text, id=self._run_record.answer))
            self._showing().put(AnswerEntry(self._run_record.answer, text))
        self._records.update(phase="ended")
        self._show("failed" if left else "done")
        if not left:
            return Ending("completed", text)
        first = records[left[0].id]
        if not plan.is_split:
            return Ending("failed", text, first.error)
        why = Words(
            "{n} of {all} tasks were not done; the first: {error}",
            n=len(left),
            all=len(tasks),
            error=first.error or first.state,
        )
        self._showing().notice("warning", why)
        return Ending("failed", text, why)

    def _answered(self) -> str:
        """Return the answer that the session holds already."""
        said = self._conversation.session.transcript(ROOT)
        wanted = self._run_record.answer
        return next((m.text for m in said if isinstance(m, Assistant) and m.id == wanted), "")

    async def _summarise(self, tasks: Sequence[Subtask], records: dict[str, TaskRecord]) -> str:
        """Return the root's answer; without a model, the reports as they are."""
        reports = "\n\n".join(_report(task, records[task.id]) for task in tasks)
        places = {"reports": reports, "task": self._run_record.task}
        words = filled(load_prompt("auto_summary"), places)
        root = self._agents.of(self._conversation.tree.root)
        try:
            answer = await root.aside([User(words)])
        except JarvisError as error:
            self._showing().notice("warning", "No summary was written: {why}", why=error)
            return reports
        return without_marks(answer.text) or reports

    async def _end_agents(self) -> None:
        """End what still works on tasks."""
        self._is_stopping = True
        for node in list(self._conversation.tree.root.children.values()):
            if node.assignment.unattended:
                await self._conversation.tree.cancel(node.id)

    def _fail(self, ending: Ending) -> Ending:
        """End the run without an answer; it can be resumed."""
        if ending.error:
            self._showing().notice("error", ending.error)
        self._show("failed")
        state: NodeState = "cancelled" if ending.state == "cancelled" else "failed"
        return Ending(state, ending.text, ending.error)

    # -- below: what is kept and shown -----------------------------------------------------------

    @property
    def _run_record(self) -> RunRecord:
        assert self._records.run is not None
        return self._records.run

    def _retriable(self) -> list[Subtask]:
        """Return the tasks of the latest run that are not done."""
        plan, run = self._records.plan, self._records.run
        if plan is None or run is None:
            return []
        tasks = tasks_of(plan, run.task)
        return [task for task in tasks if self._records.task(task.id).state != "done"]

    def _correct(self, node: str, correction: Correction) -> None:
        """Keep and show what was done about an agent."""
        plan = self._records.plan
        for task in tasks_of(plan, "") if plan is not None else ():
            record = self._records.task(task.id)
            if record.node == node:
                self._set(task.id, corrections=(*record.corrections, correction))

    def _set(self, task: str, **changes: Any) -> None:
        self._records.set_task(task, **changes)
        self._show()

    def _show(self, state: TaskGraphState = "running") -> None:
        plan, run = self._records.plan, self._run_record
        if plan is None:
            return
        shown = []
        for task in tasks_of(plan, run.task):
            record = self._records.task(task.id)
            shown.append(
                TaskShown(
                    task.id,
                    Assignment(task.task, task.title).shown,
                    task.dependencies,
                    record.state,
                    record.node,
                    record.attempts,
                    record.corrections,
                    record.error,
                )
            )
        self._showing().put(TaskGraphEntry(f"tasks-{run.id}", tuple(shown), state))

    def _showing(self) -> Showing:
        c = self._conversation
        root = c.tree.root
        return Showing(c.session, c.feed, root.info, root, c.place.say)

    def _say(self, text: str) -> str:
        say = self._conversation.place.say
        return say(text) if say is not None else text


def _read_plan(form: PlanForm, text: str) -> Any:
    try:
        return form.read(text)
    except AnswerUnfit:
        return None


def _report(task: Subtask, record: TaskRecord) -> str:
    ending = Ending(
        "completed" if record.state == "done" else "failed",
        record.result[:HANDED_OVER],
        record.error,
    )
    return f"## {task.title or task.id} ({record.state})\n{result_of(ending)}"
