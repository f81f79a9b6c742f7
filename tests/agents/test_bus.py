"""The bus: only parents and children reach each other, in order, and nothing is lost in silence."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.agents.bus import Bus
from jarvis_ls.agents.envelopes import (
    Body,
    Cancel,
    Command,
    Completed,
    Envelope,
    Error,
    Pause,
    Query,
    QueryResponse,
    Report,
    RequestReport,
    Resume,
    UpdateParameters,
)
from jarvis_ls.agents.errors import NoAnswer, Undeliverable

#        root
#      a      b
#    c   d
PARENTS: dict[str, str | None] = {"root": None, "a": "root", "b": "root", "c": "a", "d": "a"}
UP: list[Body] = [
    Report(0.5, "half"),
    Completed("done"),
    Error("no"),
    QueryResponse("status", 1, "x"),
]
DOWN: list[Body] = [Command(Pause()), Query("status", "x")]


class Nodes:
    def __init__(self, capacity: int = 100) -> None:
        self.parents = dict(PARENTS)
        self.bus = Bus("s", self.parents.get, capacity=capacity)
        self.got: dict[str, list[Envelope]] = defaultdict(list)
        self.open = asyncio.Event()
        self.open.set()
        for node in self.parents:
            self.bus.register(node, self.receive)

    async def receive(self, envelope: Envelope) -> None:
        await self.open.wait()
        self.got[envelope.receiver].append(envelope)


@pytest.mark.parametrize("body", UP, ids=lambda b: b.kind)
@pytest.mark.parametrize("sender", PARENTS)
@pytest.mark.parametrize("receiver", PARENTS)
async def test_reports_go_up_only(sender: str, receiver: str, body: Body) -> None:
    await only(sender, receiver, body, PARENTS[sender] == receiver)


@pytest.mark.parametrize("body", DOWN, ids=lambda b: b.kind)
@pytest.mark.parametrize("sender", PARENTS)
@pytest.mark.parametrize("receiver", PARENTS)
async def test_commands_go_down_only(sender: str, receiver: str, body: Body) -> None:
    await only(sender, receiver, body, PARENTS[receiver] == sender)


async def only(sender: str, receiver: str, body: Body, allowed: bool) -> None:
    nodes = Nodes()
    if allowed:
        sent = await nodes.bus.send(sender, receiver, body)
        await nodes.bus.settle()
        assert nodes.got == {receiver: [sent]}
        assert nodes.bus.lost == 0
    else:
        with pytest.raises(Undeliverable):
            await nodes.bus.send(sender, receiver, body)
        await nodes.bus.settle()
        assert not nodes.got
        [dead] = nodes.bus.dead_letters
        assert (dead.envelope.sender, dead.envelope.body) == (sender, body)
        assert dead.reason


async def test_orders_of_every_kind_are_broadcast() -> None:
    nodes = Nodes()
    orders = [Pause(), Resume(), Cancel(), UpdateParameters({"tokens": 5}), RequestReport()]
    for order in orders:
        assert len(await nodes.bus.broadcast("a", ["c", "d", "gone", "b"], order)) == 2
    await nodes.bus.settle()
    assert [e.body.command for e in nodes.got["c"] if isinstance(e.body, Command)] == orders
    assert len(nodes.got["d"]) == 5
    assert nodes.bus.lost == 10


async def test_a_message_names_its_cause() -> None:
    nodes = Nodes()
    first = await nodes.bus.send("root", "a", Command(Pause()))
    assert (first.causation, first.correlation, first.session) == (None, None, "s")
    await nodes.bus.settle()
    second = await nodes.bus.send("a", "root", Report(0.1, "paused"))
    assert second.causation == first.id


async def test_a_query_is_answered() -> None:
    nodes = Nodes()

    async def answering(envelope: Envelope) -> None:
        nodes.got["c"].append(envelope)
        answer = nodes.bus.answer(envelope, {"state": "running"})
        nodes.got["answers"].append(answer)

    nodes.bus.unregister("c")
    nodes.bus.register("c", answering)
    assert await nodes.bus.ask("a", "c", "status") == {"state": "running"}
    [query], [answer] = nodes.got["c"], nodes.got["answers"]
    assert query.correlation == answer.correlation == query.body.correlation_id  # type: ignore[union-attr]
    assert answer.causation == query.id
    assert nodes.bus.lost == 0


async def test_answers_that_nobody_waits_for_are_dead_letters() -> None:
    nodes = Nodes()
    with pytest.raises(NoAnswer, match=r"0\.01 s"):
        await nodes.bus.ask("a", "c", "progress", timeout=0.01)
    [query] = nodes.got["c"]
    nodes.bus.answer(query, 1)
    [dead] = nodes.bus.dead_letters
    assert isinstance(dead.envelope.body, QueryResponse)
    with pytest.raises(TypeError):
        nodes.bus.answer(dead.envelope, 1)


async def test_only_the_node_that_was_asked_answers() -> None:
    nodes = Nodes()
    asking = asyncio.ensure_future(nodes.bus.ask("a", "c", "result", timeout=30))
    while not nodes.got["c"]:
        await asyncio.sleep(0)
    [query] = nodes.got["c"]
    body = query.body
    assert isinstance(body, Query)
    forged = Envelope("x", "s", "a", "d", body, body.correlation_id)
    nodes.bus.answer(forged, "forged")
    assert not asking.done()
    assert nodes.bus.dead_letters[-1].reason == "another node was asked"
    nodes.bus.answer(query, "real")
    assert await asking == "real"


async def test_queries_of_someone_who_is_cancelled_leave_nothing() -> None:
    nodes = Nodes()
    asking = asyncio.ensure_future(nodes.bus.ask("a", "c", "result"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not nodes.bus._asked


async def test_who_sends_too_much_waits() -> None:
    nodes = Nodes(capacity=3)
    nodes.open.clear()
    sending = [
        asyncio.ensure_future(nodes.bus.send("a", "root", Report(None, str(n)))) for n in range(10)
    ]
    await asyncio.sleep(0.05)
    assert sum(task.done() for task in sending) == 4  # three wait in the box, one is being handled
    nodes.bus.post("a", "root", Completed("last"))
    nodes.open.set()
    await asyncio.gather(*sending)
    await nodes.bus.settle()
    bodies = [e.body for e in nodes.got["root"]]
    assert bodies == [*(Report(None, str(n)) for n in range(10)), Completed("last")]


async def test_a_sender_that_is_cancelled_while_it_waits_loses_nothing_silently() -> None:
    nodes = Nodes(capacity=1)
    nodes.open.clear()
    sending = [
        asyncio.ensure_future(nodes.bus.send("a", "root", Report(None, str(n)))) for n in range(4)
    ]
    await asyncio.sleep(0.01)
    sending[3].cancel()
    await asyncio.wait([sending[3]])
    nodes.open.set()
    await asyncio.gather(*sending[:3])
    await nodes.bus.settle()
    assert [e.body.message for e in nodes.got["root"]] == ["0", "1", "2"]  # type: ignore[union-attr]
    [dead] = nodes.bus.dead_letters
    assert dead.envelope.body == Report(None, "3")


async def test_a_node_that_goes_leaves_dead_letters() -> None:
    nodes = Nodes(capacity=1)
    nodes.open.clear()
    sending = [
        asyncio.ensure_future(nodes.bus.send("a", "root", Report(None, str(n)))) for n in range(3)
    ]
    nodes_waiting = asyncio.ensure_future(nodes.bus.ask("root", "a", "status", timeout=30))
    await asyncio.sleep(0.01)
    nodes.bus.unregister("root")
    results = await asyncio.gather(*sending, return_exceptions=True)
    assert [isinstance(r, Undeliverable) for r in results] == [False, False, True]
    await asyncio.sleep(0.01)
    assert nodes.bus.lost == 3
    await nodes.bus.close()
    with pytest.raises(NoAnswer):
        await nodes_waiting


async def test_a_handler_that_fails_does_not_stop_the_next_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nodes = Nodes()
    nodes.bus.unregister("root")

    async def failing(envelope: Envelope) -> None:
        if envelope.body == Report(None, "bad"):
            raise RuntimeError("broken")
        nodes.got["root"].append(envelope)

    nodes.bus.register("root", failing)
    await nodes.bus.send("a", "root", Report(None, "bad"))
    await nodes.bus.send("a", "root", Report(None, "good"))
    await nodes.bus.settle()
    assert len(nodes.got["root"]) == 1
    assert "broken" in nodes.bus.dead_letters[0].reason
    assert "broken" in caplog.text


async def test_an_edge_that_is_cut_before_delivery_delivers_nothing() -> None:
    nodes = Nodes()
    nodes.open.clear()
    await nodes.bus.send("a", "root", Report(None, "first"))
    await asyncio.sleep(0)
    await nodes.bus.send("a", "root", Report(None, "second"))
    nodes.parents["a"] = "b"
    nodes.open.set()
    await nodes.bus.settle()
    assert len(nodes.got["root"]) == 1
    assert nodes.bus.dead_letters[0].envelope.body == Report(None, "second")


def test_a_node_is_registered_once() -> None:
    bus = Bus("s", PARENTS.get)

    async def nothing(_: Envelope) -> None: ...

    bus.register("a", nothing)
    with pytest.raises(ValueError, match="registered"):
        bus.register("a", nothing)


names = st.sampled_from(sorted(PARENTS))
actions = st.lists(
    st.one_of(
        st.tuples(st.just("send"), names, names, st.sampled_from([*UP[:3], DOWN[0]])),
        st.tuples(st.just("ask"), names, names),
        st.tuples(st.just("cancel"), st.integers(0, 30)),
        st.tuples(st.just("turn"), st.integers(0, 3)),
        st.tuples(st.just("hold"), st.booleans()),
        st.tuples(st.just("remove"), st.sampled_from(["b", "c", "d"])),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(actions, st.integers(1, 4))
def test_whatever_happens_each_message_is_handled_once_or_dead(
    steps: list[tuple[Any, ...]], capacity: int
) -> None:
    asyncio.run(play(steps, capacity))


async def play(steps: list[tuple[Any, ...]], capacity: int) -> None:
    nodes = Nodes(capacity)
    number = 0
    made: list[str] = []
    tasks: list[asyncio.Task[Any]] = []

    async def answering(envelope: Envelope) -> None:
        await nodes.receive(envelope)
        if isinstance(envelope.body, Query):
            nodes.bus.answer(envelope, envelope.body.correlation_id)

    for node in list(nodes.parents):
        nodes.bus.unregister(node)
        nodes.bus.register(node, answering)

    async def sent(sender: str, receiver: str, body: Body) -> None:
        with contextlib.suppress(Undeliverable):
            await nodes.bus.send(sender, receiver, body)

    async def asked(parent: str, child: str) -> None:
        with contextlib.suppress(Undeliverable, NoAnswer):
            answer = await nodes.bus.ask(parent, child, "status", timeout=0.2)
            correlation = next(e.correlation for e in nodes.got[child] if e.correlation == answer)
            assert correlation == answer  # the answer to this very query

    for kind, *values in steps:
        if kind == "send":
            number += 1
            sender, receiver, body = values
            marked = Report(None, f"m{number}") if isinstance(body, Report) else body
            if isinstance(marked, Report):
                made.append(marked.message)
            tasks.append(asyncio.ensure_future(sent(sender, receiver, marked)))
            await asyncio.sleep(0)
        elif kind == "ask":
            tasks.append(asyncio.ensure_future(asked(*values)))
        elif kind == "cancel" and values[0] < len(tasks):
            tasks[values[0]].cancel()
        elif kind == "turn":
            for _ in range(values[0]):
                await asyncio.sleep(0)
        elif kind == "hold":
            nodes.open.clear() if values[0] else nodes.open.set()
        elif kind == "remove":
            nodes.parents.pop(values[0], None)
            nodes.bus.unregister(values[0])
    nodes.open.set()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert result is None or isinstance(result, asyncio.CancelledError), result
    await nodes.bus.settle()
    handled = [e for got in nodes.got.values() for e in got]
    for envelope in handled:  # routing
        assert envelope.receiver in (
            PARENTS[envelope.sender],
            *(child for child, parent in PARENTS.items() if parent == envelope.sender),
        )
    for receiver, got in nodes.got.items():  # order on each edge
        for sender in PARENTS:
            edge = [
                int(e.body.message[1:])
                for e in got
                if e.sender == sender and isinstance(e.body, Report)
            ]
            assert edge == sorted(edge), (sender, receiver)
    told = [e.body.message for e in handled if isinstance(e.body, Report)]
    dead = [
        d.envelope.body.message
        for d in nodes.bus.dead_letters
        if isinstance(d.envelope.body, Report)
    ]
    assert sorted(told + dead) == sorted(made)  # each once, here or there
    await nodes.bus.close()
    assert not nodes.bus._asked
