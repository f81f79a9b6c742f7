"""Scripts in the background: they run on after the call that started them, and are read later.

Each is shown by the entry of that call, which outlives it: it runs, grows and ends there, and what
the script changed is asked for there. A session has few at a time. They end with the session; with
the agent that started them, when it is stopped, or has ended and is no root; and when the user goes
back in the conversation. What ends the server ends them too, as any script (`process`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import EntryPut, ToolState
from jarvis_ls.runtime.sandbox.base import Ran, Sandbox, Script
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.tools.current_call import RunningCall
from jarvis_ls.runtime.tools.long_output import OutputFile, Outputs
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext

SERVICE = "background"
"""Under this name the services of a context hold the scripts of a session."""
MOST = 4
"""Scripts of a session that may run at the same time."""
LONGEST = 14_400
"""Seconds one may take at most."""
STOPPED_BY_USER = Words("the user stopped it")
_SHOWN = 20_000
"""Characters of output that are shown as they come; of more, the last half of them."""
_SHOW_SECONDS = 0.5
_SETTLING = 2.0
"""Seconds within which changes that need no consent are written."""

logger = logging.getLogger(__name__)

Report = Callable[[Ran], Awaitable[str]]
"""Carries over what a script changed, and returns what to tell the model of its end."""


class BackgroundScript:
    """One script; see the module."""

    def __init__(self, id: str, call: RunningCall, session: Session, output: OutputFile) -> None:
        """`call` is the call that starts it, and shows it from now on."""
        self.id = id
        """How the model and the user name it, such as `b1`."""
        self.call = call
        self.ran: Ran | None = None
        """What came of it; None while it runs, and when it was ended with its session."""
        self.read_to_end = False
        """Whether the model has been told of its end."""
        self._session = session
        self._output = output
        self._shown = _ShownOutput(call)
        self._began = time.monotonic()
        self._stop = asyncio.Event()
        self._why = ""
        """Why it was ended, as the end of a sentence; empty when it was not."""
        self._problem = ""
        """What went wrong with it, a sentence."""
        self._report = ""
        self._task: asyncio.Task[None] | None = None

    @property
    def node(self) -> str:
        """Id of the agent that started it."""
        return self.call.node

    @property
    def runs(self) -> bool:
        """Return whether its processes may still be there."""
        return self.ran is None and not self.settled

    @property
    def settled(self) -> bool:
        """Return whether it has ended and what it changed has been written or refused."""
        return self._task is not None and self._task.done()

    @property
    def seconds(self) -> float:
        """Seconds it has run."""
        return time.monotonic() - self._began if self.ran is None else self.ran.seconds

    def begin(self, sandbox: Sandbox, script: Script, context: ToolContext, report: Report) -> None:
        """Let it run from now on."""
        self.call.outlives = True
        self.call.show(background=self.id, isolation=sandbox.name)
        script = replace(script, stop=self._stop)
        self._task = asyncio.create_task(
            self._run(sandbox, script, context, report), name=f"background script {self.id}"
        )

    async def wait(self, seconds: float) -> None:
        """Wait until it has ended and what it changed is settled, at most so long."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            if self.ran is not None:
                await asyncio.wait({self._task}, timeout=_SETTLING)

    def stop(self, why: str) -> None:
        """End its processes; what it has changed until then is carried over. `wait` for that."""
        if self.runs:
            self._why = why
            self._stop.set()

    async def end(self, why: str) -> None:
        """End it; when this returns nothing of it runs, and nothing of it is carried over."""
        task = self._task
        if task is None or task.done():
            return
        self._why = why
        task.cancel()
        await asyncio.wait({task})

    def tell(self) -> str:
        """Return what to tell the model: its state, and what it has printed since last time."""
        output = self._output.unread().rstrip("\n") or Words("(no new output)")
        if self.runs:
            head = Words(
                "{id} has been running for {seconds} s.", id=self.id, seconds=f"{self.seconds:.1f}"
            )
            return together([head, output], "\n\n")
        self.read_to_end = self.settled
        if self._report:
            return together([Words("{id} has ended.", id=self.id), self._report, output], "\n\n")
        if self.ran is not None and not self.settled:
            head = Words(
                "{id} has ended; the user is still looking at what it changed.", id=self.id
            )
            return together([head, output], "\n\n")
        head = Words("{id} has ended.", id=self.id)
        return together([together([head, self._reason()], " "), output], "\n\n")

    def _reason(self) -> str:
        """Return why it ended before it was done, or did not begin; empty otherwise."""
        if self._problem or not self._why:
            return self._problem
        return Words("It was ended: {why}.", why=self._why)

    async def _run(
        self, sandbox: Sandbox, script: Script, context: ToolContext, report: Report
    ) -> None:
        state: ToolState = "failed"
        try:
            ran = await sandbox.run(script, context.roots, self._hear)
            self.ran = replace(ran, ended=self._why) if self._why and ran.ended else ran
            self.call.show(isolation=ran.isolation)
            self._report = await report(self.ran)
            state = "failed" if ran.exit else "done"
            if ran.ended:
                state = "cancelled" if self._why else "failed"
        except asyncio.CancelledError:
            state = "cancelled"  # its caller waits for the end of this task only
        except JarvisError as error:
            self._problem = str(error)
        except Exception as error:  # a fault of ours ends one script, and is told
            logger.exception("background script %s failed", self.id)
            self._problem = f"{type(error).__name__}: {error}"
        finally:
            self._output.close()
            self._show_end(state)

    def _hear(self, text: str) -> None:
        self._output.add(text)
        self._shown.add(text)

    def _show_end(self, state: ToolState) -> None:
        self._shown.close()
        parts = [mapped(text, shown) for text in (self._report, self._shown.text) if text]
        self.call.show(
            state=state,
            asked=(),
            reason=self._reason(),
            output=together(parts, "\n\n"),
            seconds=round(self.seconds, 3),
        )
        self._session.put(EntryPut(self._session.id, self.node, self.call.entry))


class BackgroundScripts:
    """The scripts of a session."""

    def __init__(self, session: Session, outputs: Outputs) -> None:
        """Their whole outputs are files of `outputs`."""
        self._session = session
        self._outputs = outputs
        self._scripts: dict[str, BackgroundScript] = {}

    @property
    def running(self) -> list[BackgroundScript]:
        """Return those that run."""
        return [script for script in self._scripts.values() if script.runs]

    @property
    def busy(self) -> bool:
        """Return whether one runs, or what it changed is not settled."""
        return any(not script.settled for script in self._scripts.values())

    async def add(self, call: RunningCall) -> BackgroundScript:
        """Return one that is to begin. Raises `ToolRetry` when there are too many."""
        self._check_number()
        output = await asyncio.to_thread(self._outputs.begin)
        try:
            self._check_number()
        except ToolRetry:
            output.close()
            raise
        id = f"b{len(self._scripts) + 1}"
        script = BackgroundScript(id, call, self._session, output)
        self._scripts[id] = script
        return script

    def find(self, name: str) -> BackgroundScript:
        """Return the script with an id, or that of an entry. Raises `ToolRetry`."""
        for script in self._scripts.values():
            if name in (script.id, script.call.id):
                return script
        known = ", ".join(self._scripts)
        if not known:
            raise ToolRetry("No script was started in the background; execute_script can.")
        raise ToolRetry("There is no script {name}; there are {known}.", name=name, known=known)

    def text(self) -> str:
        """Return what agents are told of them; empty when there is nothing to read."""
        lines = [
            f"- {script.id}: {'running' if script.runs else 'ended, not read yet'}"
            for script in self._scripts.values()
            if script.runs or not script.read_to_end
        ]
        return "\n".join(["Scripts in the background (script_output):", *lines]) if lines else ""

    def listed(self) -> str:
        """Return a line for each, for people."""
        lines: list[str] = []
        for script in self._scripts.values():
            state = Words("running for {seconds} s", seconds=f"{script.seconds:.0f}")
            if not script.runs:
                state = Words(script.call.entry.state)
            run = script.call.entry.script
            first = shown(run.text.strip().partition("\n")[0])[:80] if run is not None else ""
            values = {"id": script.id, "state": state, "line": first}
            lines.append(Words("- `{id}`: {state}: `{line}`", **values))
        return together(lines, "\n") or Words("No scripts run in the background.")

    def _check_number(self) -> None:
        if len(self.running) >= MOST:
            names = ", ".join(script.id for script in self.running)
            raise ToolRetry(
                "{count} scripts run in the background already: {names}. Wait for one, or end it,"
                " with script_output. Nothing was run.",
                count=MOST,
                names=names,
            )

    async def end_of(self, nodes: Sequence[str], why: str) -> None:
        """End those of agents; when this returns nothing of them runs."""
        found = [script for script in self._scripts.values() if script.node in nodes]
        await asyncio.gather(*(script.end(why) for script in found))

    async def end_all(self, why: str) -> None:
        """End every one; when this returns nothing of them runs."""
        await asyncio.gather(*(script.end(why) for script in self._scripts.values()))


class _ShownOutput:
    """What the entry shows of a growing output: all of it while it is short, then its end."""

    def __init__(self, call: RunningCall) -> None:
        self.text = ""
        self._call = call
        self._left_out = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        if not self._left_out and len(self.text) + len(text) <= _SHOWN:
            self.text += text
            self._call.grow(text)
            return
        self.text += text
        if len(self.text) > 2 * _SHOWN or not self._left_out:
            cut = len(self.text) - _SHOWN // 2
            self._left_out += cut
            self.text = self.text[cut:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SHOW_SECONDS, self._show)

    def close(self) -> None:
        """Show nothing more; `text` is what there is to show."""
        if self._timer is not None:
            self._timer.cancel()
        self.text = self._mark()

    def _show(self) -> None:
        self._timer = None
        self._call.show(output=self._mark())

    def _mark(self) -> str:
        if not self._left_out:
            return self.text
        gap = Words("… {count} characters left out …", count=f"{self._left_out:,}")
        return together([gap, self.text], "\n")
