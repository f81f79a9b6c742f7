"""What sessions cost: `python tests/bench/sessions.py`.

A session of 5,000 messages, a third of them results of tools of 2 kB, with everything the panel
showed of them: to open it with its conversation and its picture, to add to it, to list and search
three hundred sessions. And 1,000 kills of a process that writes one. What needs nothing but the
processor is measured by its time, so that other work on the machine does not count.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.core.store import Appender  # noqa: E402
from jarvis_ls.runtime.base.events import (  # noqa: E402
    AnswerEntry,
    EntryPut,
    NodeInfo,
    NodePut,
    ToolEntry,
    UserEntry,
)
from jarvis_ls.runtime.base.messages import Assistant, Message, ToolCall, ToolResult, Usage, User  # noqa: E402
from jarvis_ls.runtime.base.redaction import Redactor  # noqa: E402
from jarvis_ls.runtime.llm.call_log import CallLog  # noqa: E402
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Request, TextDelta  # noqa: E402
from jarvis_ls.runtime.session.session import JOURNAL, Session  # noqa: E402
from jarvis_ls.runtime.session.store import SessionStore  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.support import session_killing  # noqa: E402

MESSAGES = 5_000
SESSIONS = 300
KILLS = 1_000
RUNS = 9
OUTPUT = "static int parse(struct reader *r, const char *s)\n" * 40


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    table = Table("What sessions cost")
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(Path(folder), Redactor(["a-key-that-is-never-met"]))
        session = store.create("/work")
        appended = [_timed(lambda n=n: _say(session, n)) for n in range(MESSAGES)]  # type: ignore[misc]
        plain = _plain_write(Path(folder))
        synced = [_timed(session.sync) for _ in range(RUNS)]
        session.close()
        size = (session.path / JOURNAL).stat().st_size
        opened, used = zip(*(_resumed(store, session.id) for _ in range(RUNS)), strict=True)
        table.note("journal of 5,000 messages", size / 1e6, "MB")
        table.at_most("resumed with messages and picture, median", _ms(used), 300, "ms")
        table.note("the same on the clock, median", _ms(opened), "ms")
        table.at_most("a message with its records, median", _ms(appended), 1, "ms")
        table.note("of these the slowest of a hundred", _ms(appended, 99), "ms")
        table.note("a plain write of as much, median", _ms(plain), "ms")
        table.note("brought onto the disk, median", _ms(synced), "ms")
        forked = [_timed(lambda: store.fork(session.id, "m2500").close()) for _ in range(3)]
        table.note("forked in the middle, median", _ms(forked), "ms")
        for number in range(SESSIONS):
            with store.create("/work") as short:
                for more in range(20):
                    _say(short, number + more)
        listed = [_timed(store.list) for _ in range(RUNS)]
        table.at_most(f"{SESSIONS} sessions listed, median", _ms(listed), 150, "ms")
        searched = [_timed(lambda: store.search("absent")) for _ in range(3)]
        table.at_most(f"{SESSIONS} sessions searched, median", _ms(searched), 2_000, "ms")
    with tempfile.TemporaryDirectory() as folder:
        log = CallLog(Path(folder), Redactor(["a-key-that-is-never-met"]))
        for messages, limit in ((60, 15), (2_000, 60)):
            called = [_worked(lambda n=messages: _logged(log, n)) for _ in range(RUNS)]  # type: ignore[misc]
            table.at_most(
                f"a call logged with {messages} messages, median", _ms(called), limit, "ms"
            )
    with tempfile.TemporaryDirectory() as folder:
        counted = session_killing.run(Path(folder), KILLS, seed=1, timeout=1_800)
    table.at_least("kills survived, nothing lost or doubled", counted["kills"], KILLS)
    table.note("steps acknowledged before them", counted["acknowledged"])
    return table.finish()


def _say(session: Session, number: int) -> None:
    """A message, and what the panel shows of it."""
    node, name = "root", f"e{number}"
    message: Message
    if number % 3 == 0:
        message = User(f"{number}: why does the reader of the header lose a byte? " * 3)
        entry: UserEntry | AnswerEntry | ToolEntry = UserEntry(name, message.text)
    elif number % 3 == 1:
        call = ToolCall(f"c{number}", "read_code", {"path": f"src/reader{number}.c", "first": 1})
        message = Assistant("I look at the reader. " * 8, "", (call,), "tool_calls", "p/m")
        entry = AnswerEntry(name, message.text, model="p/m", usage=Usage(9_000, 300))
        session.spend(node, Usage(9_000, 300, cost=0.01), "p/m")
    else:
        message = ToolResult(f"c{number - 1}", "read_code", OUTPUT)
        entry = ToolEntry(name, "read_code", '{"path": "src/reader.c"}', "done", OUTPUT, 0.1)
    session.append(node, message)
    session.put(EntryPut(session.id, node, entry))
    session.put(NodePut(session.id, NodeInfo(node, None, "root", "Task", rounds=number)))


def _resumed(store: SessionStore, name: str) -> tuple[float, float]:
    """Seconds on the clock and of the processor to have a session back for writing."""
    began, used = time.perf_counter(), time.process_time()
    session = store.open(name)
    messages, events = session.messages("root"), session.events()
    seconds = time.perf_counter() - began, time.process_time() - used
    session.close()
    if len(messages) != MESSAGES or len(events) < MESSAGES or session.damage:
        raise RuntimeError("it did not come back whole")
    return seconds


def _logged(log: CallLog, messages: int) -> None:
    """All that is written of one call; it is done beside the loop."""
    said = [ToolResult("c", "read_code", OUTPUT) for _ in range(messages)]
    call = log.begin("p/m", ModelInfo("m"), Request(said))
    for _ in range(50):
        call.chunk(TextDelta("and so it goes on "))
    call.end()


def _plain_write(folder: Path) -> list[float]:
    """What the file system takes for lines of that size."""
    line = b"x" * 3_000 + b"\n"
    with Appender(folder / "plain") as appender:
        return [_timed(lambda: appender.append(line)) for _ in range(1_000)]


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _worked(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _ms(seconds: Sequence[float], percent: int = 50) -> float:
    if percent == 50:
        return statistics.median(seconds) * 1000
    return statistics.quantiles(seconds, n=100)[percent - 1] * 1000


if __name__ == "__main__":
    sys.exit(main())
