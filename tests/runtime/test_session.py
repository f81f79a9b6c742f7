"""A session keeps what was said, seen and spent, and gives it back as it was."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    AskedTarget,
    Budget,
    EntriesCut,
    EntryGrew,
    EntryPut,
    Event,
    Hunk,
    Meter,
    MeterPut,
    NodeGone,
    NodeInfo,
    NodePut,
    NoticeEntry,
    PlanEntry,
    PlanStep,
    ProposedEdit,
    QuestionEntry,
    SessionPut,
    ToolEntry,
    UserEntry,
)
from jarvis_ls.runtime.base.messages import (
    Assistant,
    Image,
    Message,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from jarvis_ls.runtime.base.redaction import Redactor
from jarvis_ls.runtime.session.records import new_id
from jarvis_ls.runtime.session.session import JOURNAL, Session, SessionBusy, SessionError
from jarvis_ls.runtime.session.store import SessionStore
from tests.support.sessions import ClosedLater

ROOT = "root"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    with closing(ClosedLater(tmp_path)) as store:
        yield store


def reopened(store: SessionStore, session: Session) -> Session:
    session.close()
    again = store.open(session.id)
    assert again.damage == ()
    assert again.read_only == ""
    return again


def lines(session: Session) -> list[dict[str, object]]:
    return [json.loads(line) for line in (session.path / JOURNAL).read_bytes().splitlines()]


def test_every_kind_of_message_comes_back_as_it_was(store: SessionStore) -> None:
    session = store.create("/work")
    said: list[Message] = [
        System("Be brief.\nAlways."),
        User("Look: \u2028 \x00 ü 漢字 \U0001f600 \ud800", (Image("image/png", "AAAA"),)),
        Assistant(
            "Reading.",
            "hm",
            (
                ToolCall("c", "read_code", {"path": "a.c", "n": [1, None, 0.5]}),
                ToolCall("d", "x", {}, "{broken"),
            ),
            "tool_calls",
            "p/m",
            Usage(1, 2, 3, 4, 0.5),
        ),
        ToolResult("c", "read_code", "```\nx\r\n", is_error=True),
    ]
    kept = [session.append(ROOT, message) for message in said]
    assert [getattr(m, "id", None) for m in kept] == [None, "m1", "m2", "m3"]
    again = reopened(store, session)
    assert again.messages(ROOT) == kept == again.transcript(ROOT)
    assert again.nodes == (ROOT,)


def test_a_message_is_in_the_file_when_append_returns(store: SessionStore) -> None:
    session = store.create("/work")
    session.append(ROOT, User("now"))
    assert lines(session)[-1]["message"]["text"] == "now"  # type: ignore[index]


def test_ids_are_never_given_twice(store: SessionStore) -> None:
    session = store.create("/work")
    first = session.append(ROOT, User("a"))
    session.append("child", User("b"))
    session.cut("child", "m2")
    assert session.append("child", User("c")).id == "m3"  # type: ignore[union-attr]
    with pytest.raises(SessionError, match="already"):
        session.append(ROOT, first)
    own = session.append(ROOT, User("mine", id="m77"))
    again = reopened(store, session)
    assert again.messages(ROOT)[-1] == own
    assert again.append(ROOT, User("d")).id == "m78"  # type: ignore[union-attr]


def test_a_summary_replaces_what_the_model_sees_and_nothing_is_forgotten(
    store: SessionStore,
) -> None:
    session = store.create("/work")
    system, *said = [
        session.append(ROOT, m)
        for m in (System("s"), User("1"), Assistant("2"), User("3"), Assistant("4"))
    ]
    given = session.replace(ROOT, [system, User("summary of 1 and 2"), *said[2:]])
    assert given[1].id == "m5"  # type: ignore[union-attr]
    assert lines(session)[-1]["messages"][2:] == [{"keep": "m3"}, {"keep": "m4"}]  # type: ignore[index]
    more = session.append(ROOT, User("6"))
    again = reopened(store, session)
    assert again.messages(ROOT) == [*given, more]
    assert again.transcript(ROOT) == [system, *said, more]


def test_a_kept_message_may_be_changed_by_a_summary(store: SessionStore) -> None:
    session = store.create("/work")
    long = session.append(ROOT, ToolResult("c", "read", "long text"))
    assert isinstance(long, ToolResult)
    short = ToolResult("c", "read", "(left out)", id=long.id)
    assert session.replace(ROOT, [short]) == [short]
    again = reopened(store, session)
    assert again.messages(ROOT) == [short]
    assert again.transcript(ROOT) == [long]


def test_rewinding_goes_behind_summaries(store: SessionStore) -> None:
    session = store.create("/work")
    one, two, three = (session.append(ROOT, User(t)) for t in ("1", "2", "3"))
    (first_summary, _) = session.replace(ROOT, [User("summary of 1 and 2"), three])
    four = session.append(ROOT, User("4"))
    session.replace(ROOT, [User("summary of all")])
    session.append(ROOT, User("5"))
    session.cut(ROOT, four.id)  # type: ignore[union-attr]
    assert session.messages(ROOT) == [first_summary, three]
    session.cut(ROOT, two.id)  # type: ignore[union-attr]
    assert session.messages(ROOT) == [one] == session.transcript(ROOT)
    assert reopened(store, session).messages(ROOT) == [one]


def test_rewinding_to_what_was_never_said_is_refused(store: SessionStore) -> None:
    session = store.create("/work")
    session.append(ROOT, User("1"))
    (summary,) = session.replace(ROOT, [User("summary")])
    for wrong in ("m99", summary.id, ""):  # type: ignore[union-attr]
        with pytest.raises(SessionError, match="No message has the id"):
            session.cut(ROOT, wrong)
    with pytest.raises(SessionError):
        session.cut("other", "m1")
    assert session.messages(ROOT) == [summary]


def test_the_panels_picture_comes_back(store: SessionStore) -> None:
    session = store.create("/work")
    hunk = Hunk(0, 1, ("a",), 1, ("b", "c"), before=("x",))
    shown: list[Event] = [
        NodePut(session.id, NodeInfo(ROOT, None, "root", "Task", budget=Budget(None, 2.5))),
        NodePut(session.id, NodeInfo("n1", ROOT, "child", "Part", "paused", progress=0.5)),
        EntryPut(session.id, ROOT, UserEntry("e1", "hi", (Image("image/png", "AA"),), True, "cp")),
        EntryPut(session.id, ROOT, AnswerEntry("e2", "text", "hm", usage=Usage(1, 2, cost=0.25))),
        EntryPut(
            session.id,
            ROOT,
            ToolEntry(
                "e3",
                "edit_file",
                "{}",
                "done",
                "out",
                1.5,
                (AskedTarget("write", "a.c"),),
                "why",
                (ProposedEdit("a.c", "modify", (hunk,), 1),),
                "bwrap",
                "n1",
            ),
        ),
        EntryPut(session.id, ROOT, NoticeEntry("e4", "warning", "slow")),
        EntryPut(session.id, ROOT, PlanEntry("e5", (PlanStep("a", "done"), PlanStep("b")))),
        EntryPut(session.id, "n1", QuestionEntry("e6", "Which?", ("a", "b"))),
        MeterPut(session.id, ROOT, Meter(1000, {"system": 3})),
    ]
    for event in shown:
        session.put(event)
    assert session.events()[1:] == shown
    again = reopened(store, session)
    info, *events = again.events()
    assert events == shown
    assert info == SessionPut(again.info)


def test_later_events_win_and_cut_entries_are_gone(store: SessionStore) -> None:
    session = store.create("/work")
    for text in ("a", "b", "c"):
        session.put(EntryPut(session.id, ROOT, UserEntry(text, text)))
    session.put(EntryPut(session.id, ROOT, UserEntry("a", "changed")))
    session.put(EntriesCut(session.id, ROOT, "b"))
    session.put(NodePut(session.id, NodeInfo("n", None, "child", "t")))
    session.put(EntryPut(session.id, "n", UserEntry("x", "x")))
    session.put(MeterPut(session.id, "n", Meter(1)))
    session.put(NodeGone(session.id, "n"))
    expected = [EntryPut(session.id, ROOT, UserEntry("a", "changed"))]
    assert session.events()[1:] == expected
    assert reopened(store, session).events()[1:] == expected


def test_a_node_that_was_removed_stands_where_it_came_back(store: SessionStore) -> None:
    session = store.create("/work")

    def move(node: str, rounds: int) -> None:
        info = NodeInfo(node, None, "root", node, "running", rounds=rounds)
        session.put(NodePut(session.id, info))
        session.sync()

    move("a", 0)
    session.put(NodeGone(session.id, "a"))
    for node, rounds in (("a", 1), ("b", 0), ("a", 2), ("a", 3)):
        move(node, rounds)
    session = reopened(store, session)
    nodes = [event.node for event in session.events() if isinstance(event, NodePut)]
    assert [(node.id, node.rounds) for node in nodes] == [("a", 3), ("b", 0)]


def test_what_moves_all_the_time_waits_for_a_record_that_matters(store: SessionStore) -> None:
    session = store.create("/work")
    node = NodeInfo(ROOT, None, "root", "Task", "running")
    session.put(NodePut(session.id, node))
    before = len(lines(session))
    for rounds in range(50):
        moved = NodeInfo(ROOT, None, "root", "Task", "running", f"round {rounds}", rounds=rounds)
        session.put(NodePut(session.id, moved))
        session.put(MeterPut(session.id, ROOT, Meter(100, {"history": rounds})))
        session.put(EntryGrew(session.id, ROOT, "e", "text", 0, "x"))
    assert len(lines(session)) == before
    session.append(ROOT, User("matters"))
    assert [line["is"] for line in lines(session)[before:]] == ["node", "meter", "message"]
    done = NodeInfo(ROOT, None, "root", "Task", "completed")
    session.put(NodePut(session.id, done))
    assert lines(session)[-1]["info"]["state"] == "completed"  # type: ignore[index]
    session.put(MeterPut(session.id, ROOT, Meter(7)))
    again = reopened(store, session)  # closing writes what waits
    assert MeterPut(again.id, ROOT, Meter(7)) in again.events()


def test_nothing_streams_or_waits_in_a_session_that_was_left(store: SessionStore) -> None:
    session = store.create("/work")
    asked = (AskedTarget("execute", "make"),)
    for entry in (
        AnswerEntry("a", streaming=True),
        AnswerEntry("b", "half an ans", streaming=True),
        ToolEntry("c", "execute_script", "{}", "running"),
        ToolEntry("d", "execute_script", "{}", "asked", asked=asked),
        ToolEntry("e", "execute_script", "{}", "failed"),
    ):
        session.put(EntryPut(session.id, ROOT, entry))
    reader = store.open(session.id)  # while it is at work, others see it at work
    assert [e.entry.id for e in reader.events() if isinstance(e, EntryPut)] == list("abcde")
    again = reopened(store, session)
    assert [e.entry for e in again.events() if isinstance(e, EntryPut)] == [
        AnswerEntry("b", "half an ans"),
        ToolEntry("c", "execute_script", "{}", "cancelled"),
        ToolEntry("d", "execute_script", "{}", "cancelled"),
        ToolEntry("e", "execute_script", "{}", "failed"),
    ]


def test_the_users_data_is_kept_as_it_is_set(store: SessionStore) -> None:
    session = store.create("/work")
    value = {"a": [1, 2]}
    session.data["k"] = value
    value["a"].append(3)  # what is changed outside is not kept by accident
    session.data["gone"] = 1
    del session.data["gone"]
    with pytest.raises(KeyError):
        del session.data["gone"]
    with pytest.raises(TypeError):
        session.data["no json"] = object()  # type: ignore[assignment]
    session.replace(ROOT, [])
    again = reopened(store, session)
    assert dict(again.data) == {"k": {"a": [1, 2]}}


def test_clearing_keeps_system_prompt_and_data(store: SessionStore) -> None:
    session = store.create("/work")
    system = session.append(ROOT, System("Be brief."))
    user = session.append(ROOT, User("hi"))
    session.data["k"] = 1
    session.clear(ROOT)
    again = reopened(store, session)
    assert again.messages(ROOT) == [system]
    assert again.transcript(ROOT) == [system, user]
    assert again.data["k"] == 1


def test_costs_add_up_by_agent_subtree_and_session(store: SessionStore) -> None:
    session = store.create("/work")
    for node, parent in ((ROOT, None), ("a", ROOT), ("b", "a"), ("c", ROOT)):
        session.put(NodePut(session.id, NodeInfo(node, parent, "child", node)))
    for number, node in enumerate((ROOT, "a", "b", "b", "c"), 1):
        session.spend(node, Usage(10**number, 1, cost=0.5), "p/m")
    session.put(NodeGone(session.id, "b"))
    session.spend(ROOT, Usage())  # what cost nothing is no call
    for each in (session, reopened(store, session)):
        assert each.spent() == Usage(111110, 5, cost=2.5) == each.info.usage
        assert each.spent("b") == Usage(11000, 2, cost=1.0)
        assert each.totals.subtree("a").usage == Usage(11100, 3, cost=1.5)
        assert each.totals.subtree("a").calls == 3
        assert each.totals.subtree(ROOT) == each.totals.session
        assert each.totals.labels["p/m"].calls == 5


def test_threads_may_append_at_the_same_time(store: SessionStore) -> None:
    session = store.create("/work")

    def work(node: str) -> None:
        for number in range(50):
            session.append(node, User(f"{node} {number}"))
            session.spend(node, Usage(1))
            if number % 20 == 0:
                session.sync()

    threads = [threading.Thread(target=work, args=(f"n{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = reopened(store, session)
    for node in again.nodes:
        assert [m.text for m in again.messages(node)] == [f"{node} {n}" for n in range(50)]
    ids = {m.id for n in again.nodes for m in again.messages(n) if isinstance(m, User)}
    assert len(ids) == 300
    assert again.spent().input == 300


def test_closing_while_others_write_and_sync(store: SessionStore) -> None:
    for _ in range(10):
        session = store.create("/work")
        kept: list[str] = []
        odd: list[BaseException] = []

        def work(
            session: Session = session, kept: list[str] = kept, odd: list[BaseException] = odd
        ) -> None:
            try:
                while True:
                    kept.append(session.append(ROOT, User("x")).id)  # type: ignore[union-attr]
                    session.sync()
            except SessionBusy as error:
                assert "it was closed" in str(error)
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test must tell
                odd.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not kept:
            time.sleep(0.001)
        session.close()
        for thread in threads:
            thread.join()
        assert odd == []
        with store.open(session.id) as again:
            assert again.damage == ()
            assert {m.id for m in again.messages(ROOT)} == set(kept)  # type: ignore[union-attr]


def test_a_command_is_a_title_only_until_there_are_words(store: SessionStore) -> None:
    with store.create("/work") as session:
        for number, (text, title) in enumerate(
            [
                ("/scan src", "/scan src"),
                ("!make", "/scan src"),
                ("Why does it leak?",) * 2,
                ("/help", "Why does it leak?"),
                ("And here?", "Why does it leak?"),
            ]
        ):
            session.put(EntryPut(session.id, "root", UserEntry(f"m{number}", text)))
            assert session.info.title == title
    assert store.list()[0].title == "Why does it leak?"
    with store.open(session.id) as again:
        assert again.info.title == "Why does it leak?"


def test_titles(store: SessionStore) -> None:
    session = store.create("/work")
    assert session.info.title == ""
    session.append(ROOT, User("\n\n  Find   the leak in " + "x" * 100 + "\nplease"))
    session.append(ROOT, User("and now this"))
    assert session.info.title.startswith("Find the leak in xxx")
    assert len(session.info.title) == 60
    session.set_title(" The\nleak ")
    again = reopened(store, session)
    assert again.info.title == "The leak"
    again.set_title("")
    assert again.info.title.startswith("Find the leak")


def test_a_closed_session_can_be_read_but_not_written(store: SessionStore) -> None:
    with store.create("/work") as session:
        said = session.append(ROOT, User("hi"))
    session.close()
    assert session.messages(ROOT) == [said]
    with pytest.raises(SessionBusy, match="closed"):
        session.append(ROOT, User("more"))
    assert session.messages(ROOT) == [said]
    session.sync()  # has nothing to do


def test_known_secrets_reach_the_model_but_no_disk(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, Redactor(["canary-0123456789"]))
    session = store.create("/work")
    said = session.append(ROOT, User("the key is canary-0123456789, keep it"))
    session.put(EntryPut(session.id, ROOT, UserEntry("e", "canary-0123456789")))
    session.data["k"] = ["canary-0123456789"]
    assert session.messages(ROOT) == [said]
    session.set_title("canary-0123456789")
    session.close()
    assert b"canary" not in b"".join(p.read_bytes() for p in session.path.iterdir())
    with closing(store.open(session.id)) as again:
        assert again.messages(ROOT) == [User("the key is [redacted], keep it", id="m1")]


def test_ids_are_uuids_in_the_order_of_time() -> None:
    before = time.time_ns() // 1_000_000
    ids = [new_id() for _ in range(5000)]
    assert ids == sorted(set(ids))
    for name in (ids[0], ids[-1]):
        made = uuid.UUID(name)
        assert (made.version, made.variant) == (7, uuid.RFC_4122)
        assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 10
