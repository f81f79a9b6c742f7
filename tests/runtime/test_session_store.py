"""Sessions are listed, searched, forked, thrown away, exported, and survive damage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.base.events import EntryPut, NodeInfo, NodePut, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, System, ToolCall, ToolResult, Usage, User
from jarvis_ls.runtime.session.session import (
    HEADER,
    JOURNAL,
    Session,
    SessionBusy,
    SessionError,
    SessionMissing,
)
from jarvis_ls.runtime.session.store import TRASH_DAYS, SessionStore
from tests.support import full_disk
from tests.support.sessions import ClosedLater

ROOT = "root"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    with closing(ClosedLater(tmp_path)) as store:
        yield store


def talk(store: SessionStore, text: str, folder: str = "/work", answers: int = 1) -> Session:
    session = store.create(folder)
    session.append(ROOT, User(text))
    for number in range(answers):
        session.append(ROOT, Assistant(f"answer {number} to {text}"))
        session.spend(ROOT, Usage(10, 5, cost=0.5))
    return session


def test_a_list_shows_the_last_used_first_and_opens_nothing(store: SessionStore) -> None:
    assert store.list() == []
    assert store.latest() is None
    first, second = talk(store, "first"), talk(store, "second", "/other")
    first.close()
    time.sleep(0.01)
    second.append(ROOT, User("again"))  # still open, its header is old
    infos = store.list()
    assert [i.title for i in infos] == ["second", "first"]
    assert infos[0] == second.info
    assert infos[1].usage == Usage(10, 5, cost=0.5)
    assert store.list("/work") == infos[1:]
    assert store.latest("/work") == first.id
    assert store.latest() == second.id


@pytest.mark.parametrize(
    "damage",
    [
        lambda header: header[:0],
        lambda header: header[: len(header) // 2],
        lambda header: b"\0" * len(header),
        lambda header: b"[%d]\n" % len(header),
        lambda header: header.replace(b'"messages":2', b'"messages":"2"'),
        lambda header: header.replace(b'"version":1', b'"version":9'),
        lambda header: json.dumps({**json.loads(header), "check": 1}).encode(),
        lambda header: json.dumps({**json.loads(header), "bytes": 10**9}).encode(),
        None,
    ],
)
def test_a_header_that_does_not_fit_is_made_anew(store: SessionStore, damage: object) -> None:
    session = talk(store, "hello")
    session.close()
    header = session.path / HEADER
    whole = header.read_bytes()
    if damage is None:
        header.unlink()
    else:
        header.write_bytes(damage(whole))  # type: ignore[operator]
    assert store.list() == [session.info]
    assert header.read_bytes() == whole


def test_a_header_of_another_journal_is_not_believed(store: SessionStore) -> None:
    one, two = talk(store, "one"), talk(store, "two", answers=3)
    one.close()
    two.close()
    (one.path / HEADER).write_bytes((two.path / HEADER).read_bytes())
    assert {info.title for info in store.list()} == {"one", "two"}


def test_a_list_is_right_after_every_record(store: SessionStore) -> None:
    session = talk(store, "hello")
    session.sync()
    for step in (
        lambda: session.append("child", User("c")),
        lambda: session.spend("child", Usage(1, 1)),
        lambda: session.put(EntryPut(session.id, ROOT, UserEntry("e", "x"))),
        lambda: session.replace(ROOT, [User("summary")]),
        lambda: session.cut(ROOT, "m2"),
        lambda: session.append(ROOT, User("more")),
        lambda: session.data.update(k=1),
        lambda: session.set_title("named"),
    ):
        step()
        assert store.list() == [session.info]


def test_search_finds_words_in_titles_and_messages(store: SessionStore) -> None:
    for text in ("Find the Leak", 'Straße und "quotes"', "nothing here"):
        talk(store, text).close()
    found = talk(store, "other")
    found.append(ROOT, ToolResult("c", "read", "the LEAK is in parse.c"))

    def titles(words: str) -> set[str]:
        return {info.title for info in store.search(words)}

    assert titles("leak") == {"Find the Leak", "other"}
    assert titles("leak parse.c") == {"other"}
    assert titles("STRASSE") == {'Straße und "quotes"'}
    assert titles('"quotes"') == {'Straße und "quotes"'}
    assert titles("absent") == set()
    assert len(titles("  ")) == 4
    asked = found.append(ROOT, User("Tools are called like this. What is xyzzy?"))
    found.put(EntryPut(found.id, ROOT, UserEntry(asked.id, "What is xyzzy?")))  # type: ignore[union-attr]
    assert titles("xyzzy") == {"What is xyzzy?"}
    assert titles("tools called") == set(), "what was added for the model was not said"
    found.set_title("other")
    found.append(ROOT, System("hidden rules"))
    found.append(ROOT, User("hidden reminder"))
    assert titles("hidden") == set()
    assert titles("\\n") == set()
    found.cut(ROOT, "m3")
    assert titles("parse.c") == set()


def test_a_deleted_session_lies_in_the_trash_and_comes_back(
    store: SessionStore, tmp_path: Path
) -> None:
    session = talk(store, "hello")
    with pytest.raises(SessionBusy, match="has it open"):
        store.delete(session.id)
    session.close()
    store.delete(session.id)
    assert store.list() == []
    for use in (store.open, store.delete, store.fork, store.export_markdown):
        with pytest.raises(SessionMissing):
            use(session.id)
    store.restore(session.id)
    assert store.open(session.id).messages(ROOT) == session.messages(ROOT)
    with pytest.raises(SessionMissing):
        store.restore(session.id)


def test_the_trash_is_emptied_after_its_time(store: SessionStore, tmp_path: Path) -> None:
    sessions = [talk(store, text) for text in "abc"]
    for session in sessions:
        session.close()
    old, young, last = sessions
    store.delete(old.id)
    store.delete(young.id)
    past = time.time() - (TRASH_DAYS + 1) * 86400
    os.utime(tmp_path / "trash" / "sessions" / old.id, (past, past))
    store.delete(last.id)
    assert {p.name for p in (tmp_path / "trash" / "sessions").iterdir()} == {young.id, last.id}


@pytest.mark.parametrize("name", ["", "..", "../x", "/etc", "a" * 36, "x", "\0", "C:\\x"])
def test_what_is_no_id_is_no_session(store: SessionStore, name: str) -> None:
    for use in (store.open, store.delete, store.restore, store.fork, store.export_markdown):
        with pytest.raises(SessionMissing):
            use(name)


def test_a_fork_has_everything_up_to_its_message(store: SessionStore) -> None:
    session = store.create("/work")
    session.append(ROOT, System("s"))
    question = session.append(ROOT, User("question"))
    session.put(EntryPut(session.id, ROOT, UserEntry("e1", "question", checkpoint="c1")))
    session.append("child", User("sub task"))
    session.data["k"] = 1
    answer = session.append(ROOT, Assistant("answer"))
    session.spend(ROOT, Usage(5, 5))
    session.put(EntryPut(session.id, ROOT, UserEntry("e2", "later")))
    with store.fork(session.id, question.id) as fork:  # type: ignore[union-attr]
        assert fork.messages(ROOT) == [System("s"), question]
        assert fork.messages("child") == session.messages("child")
        assert [e for e in fork.events() if isinstance(e, EntryPut)] == [
            EntryPut(fork.id, ROOT, UserEntry("e1", "question"))
        ]
        assert fork.forked == session.id
        assert fork.info.title == "question (fork)"
        assert fork.info.usage == Usage()
        assert fork.data["k"] == 1
        new = fork.append(ROOT, User("another way"))
    assert session.messages(ROOT)[-1] == answer
    assert store.open(fork.id).messages(ROOT)[-1] == new
    with store.fork(session.id) as whole:
        assert whole.messages(ROOT) == session.messages(ROOT)
    with pytest.raises(SessionError, match="no message 'm99'"):
        store.fork(session.id, "m99")
    assert len(store.list()) == 3


def test_a_fork_at_a_message_that_a_summary_covers(store: SessionStore) -> None:
    session = store.create("/work")
    one, two = session.append(ROOT, User("1")), session.append(ROOT, User("2"))
    session.replace(ROOT, [User("summary")])
    session.append(ROOT, User("3"))
    with store.fork(session.id, one.id) as fork:  # type: ignore[union-attr]
        assert fork.messages(ROOT) == [one]
    session.cut(ROOT, two.id)  # type: ignore[union-attr]
    with pytest.raises(SessionError):
        store.fork(session.id, two.id)  # type: ignore[union-attr]


def test_export_shows_everything_that_was_said(store: SessionStore) -> None:
    session = store.create("/work/a b")
    session.put(NodePut(session.id, NodeInfo("n1", ROOT, "child", "Sub-task")))
    session.append(ROOT, System("rules"))
    session.append(ROOT, User("Tools are called so.\n# Why?\n```c\nx\n```"))
    session.put(EntryPut(session.id, ROOT, UserEntry("m1", "# Why?\n```c\nx\n```")))
    session.append(ROOT, User("Reminder: call tools."))
    call = ToolCall("c", "read_code", {"path": "a.c"})
    session.append(ROOT, Assistant("Because.", "hm", (call,), model="p/m"))
    session.append(ROOT, ToolResult("c", "read_code", "text with ````four```` ticks", True))
    session.append("n1", User("look <here>"))
    session.spend(ROOT, Usage(1234, 56, cost=0.125))
    session.replace(ROOT, [User("a summary")])
    gone = session.append(ROOT, User("gone"))
    session.cut(ROOT, gone.id)  # type: ignore[union-attr]
    text = store.export_markdown(session.id)
    for part in (
        "# # Why?",
        f"`{session.id}`",
        "`/work/a b`",
        "1,234 in, 56 out",
        "Cost: 0.1250",
        "## root",
        "## Sub-task",
        "### User\n\n# Why?",
        "### Assistant (p/m)",
        "Because.",
        '"path": "a.c"',
        "<summary>read_code: failed</summary>",
        "`````\ntext with ````four````",
        "look <here>",
    ):
        assert part in text
    assert "gone" not in text
    assert "Tools are called" not in text
    assert "<summary>Told to the model</summary>\n\n```\nReminder" in text
    assert "a summary" not in text


def test_only_one_writes_and_the_other_is_told_who(store: SessionStore) -> None:
    session = talk(store, "hello")
    other = store.open(session.id)
    assert f"process {os.getpid()}" in other.read_only
    assert other.messages(ROOT) == session.messages(ROOT)
    for write in (
        lambda: other.append(ROOT, User("x")),
        lambda: other.replace(ROOT, []),
        lambda: other.cut(ROOT, "m1"),
        lambda: other.put(EntryPut(other.id, ROOT, UserEntry("e", "x"))),
        lambda: other.put(NodePut(other.id, NodeInfo(ROOT, None, "root", "t"))),
        lambda: other.set_title("x"),
        lambda: other.data.update(k=1),
        lambda: other.spend(ROOT, Usage(1)),
    ):
        with pytest.raises(SessionBusy, match=r"is read-only.*has it open"):
            write()
    other.close()
    assert session.append(ROOT, User("mine")).id == "m3"  # type: ignore[union-attr]
    session.close()
    assert store.open(session.id).read_only == ""


def test_the_lock_of_a_killed_process_is_free(store: SessionStore, tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from jarvis_ls.runtime.session.store import SessionStore\n"
        "from jarvis_ls.runtime.base.messages import User\n"
        "s = SessionStore(pathlib.Path(sys.argv[1])).create('/work')\n"
        "s.append('root', User('kept'))\n"
        "print(s.id, flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert f"process {child.pid}" in store.open(name).read_only
        child.kill()
        child.wait()
    session = store.open(name)
    assert session.read_only == ""
    assert session.messages(ROOT) == [User("kept", id="m1")]


def test_damage_is_read_around_and_told(store: SessionStore) -> None:
    session = talk(store, "hello", answers=3)
    session.close()
    journal = session.path / JOURNAL
    first, *rest = journal.read_bytes().splitlines(keepends=True)
    lines = [
        first,
        rest[0],
        b"\0\0\0\0\n",
        b"{half\n",
        b"[1, 2]\n",
        b'{"is": "unknown"}\n',
        b'{"is": "message"}\n',
        b'{"is": "message", "node": "root", "message": {"kind": "user", "txt": 1}}\n',
        b'{"is": "cut", "node": "root", "first": "m44"}\n',
        b'{"is": "replace", "node": "root", "messages": [{"keep": "m44"}]}\n',
        b'{"is": "spent", "node": "root", "usage": {"inputs": 1}}\n',
        b"[" * 100_000 + b"\n",
        rest[0],  # the same message once more
        *rest[1:],
        b'{"is": "mess',
    ]
    journal.write_bytes(b"".join(lines))
    again = store.open(session.id)
    assert again.messages(ROOT) == session.messages(ROOT)
    assert again.spent() == session.spent()
    assert [line.split(":")[0] for line in again.damage] == [f"line {n}" for n in range(3, 14)]
    assert "NUL" in again.damage[0]
    more = again.append(ROOT, User("more"))
    again.close()
    assert store.open(session.id).messages(ROOT)[-1] == more
    assert store.list()[0].messages == 5


def test_a_session_without_its_first_line_is_still_readable(store: SessionStore) -> None:
    session = talk(store, "hello")
    session.close()
    journal = session.path / JOURNAL
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[1:]))
    again = store.open(session.id)
    assert again.id == session.id
    assert again.messages(ROOT) == session.messages(ROOT)
    assert "which session" in again.damage[0]
    assert abs(again.info.created - session.info.created) < 0.01
    assert store.list()[0].id == session.id


def test_a_session_of_a_newer_version_is_only_read(store: SessionStore) -> None:
    session = talk(store, "hello")
    session.close()
    journal = session.path / JOURNAL
    journal.write_bytes(journal.read_bytes().replace(b'"version":1', b'"version":2', 1))
    again = store.open(session.id)
    assert "newer version" in again.read_only
    assert len(again.messages(ROOT)) == 2
    assert "newer version" in store.open(session.id).read_only  # its lock was given back


def test_a_journal_that_is_something_else_is_said_to_be(store: SessionStore) -> None:
    session = talk(store, "hello")
    session.close()
    journal = session.path / JOURNAL
    journal.unlink()
    with pytest.raises(SessionMissing):
        store.open(session.id)
    journal.mkdir()
    with pytest.raises(SessionError, match="a folder"):
        store.open(session.id)
    assert store.list() == []
    journal.rmdir()
    journal.symlink_to("/etc/passwd")
    with pytest.raises(SessionError, match="symbolic link"):
        store.open(session.id)


def test_what_a_kill_left_of_a_creation_is_not_listed(store: SessionStore, tmp_path: Path) -> None:
    talk(store, "hello").close()
    (tmp_path / "sessions" / ".new-abc").mkdir()
    (tmp_path / "sessions" / "notes.txt").write_text("mine")
    assert len(store.list()) == 1


def test_files_are_the_users_alone(store: SessionStore, tmp_path: Path) -> None:
    session = talk(store, "hello")
    session.close()
    assert (tmp_path / "sessions").stat().st_mode & 0o077 == 0
    assert session.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("way", full_disk.WAYS)
def test_a_full_disk_loses_nothing_and_says_so(tmp_path: Path, way: str) -> None:
    told = full_disk.run(way, tmp_path)
    assert told["kept"] > 10
    assert told["reopened"] == told["kept"]  # what was acknowledged, once each
    assert told["damage"] == []
    assert "journal.jsonl" in told["error"]
    assert told["again"] == told["kept"] + 1  # with room again, the same message is appended
    assert told["spent"] == 7  # what was spent while there was no room is not forgotten
    assert JarvisError.__name__ in told["types"]
    if way == "tmpfs":  # what is kept beside a session says so too, and goes on later
        full, room = told["beside"]["full"], told["beside"]["room"]
        assert full["history"] and "No space left" in full["create"] + full["log"]
        assert room == {"log": "", "history": "", "create": "", "title": ""}
