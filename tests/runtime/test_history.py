"""The history of a session is a git repository of its own, and touches no other."""

from __future__ import annotations

import logging
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.messages import Assistant, User
from jarvis_ls.runtime.base.redaction import HIDDEN, Redactor
from jarvis_ls.runtime.session import history as history_module
from jarvis_ls.runtime.session.history import PER_FILE, History, HistoryError
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.session.store import SessionStore

ROOT = "root"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    store = SessionStore(tmp_path / "home", Redactor(["canary-0123456789"]))
    with closing(store.create("/work")) as session:
        yield session


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout


async def test_every_turn_is_a_version(session: Session) -> None:
    history = History(session.path)
    assert await history.versions() == []
    session.append(ROOT, User("first question"))
    one = await history.record(session, "first\nquestion")
    session.append(ROOT, Assistant("first answer ü"))
    session.append(ROOT, User("second question"))
    session.append("n/1", User("sub task"))
    two = await history.record(session)
    assert await history.record(session) is None  # nothing has changed
    assert history.problem == ""
    versions = await history.versions()
    assert [(v.id, v.words) for v in versions] == [(two, "second question"), (one, "first")]
    assert abs(versions[0].time - time.time()) < 100
    assert one is not None and two is not None
    before, after = await history.read(one), await history.read(two)
    assert sorted(before) == ["root/000000.md", "session.json"]
    assert sorted(after) == ["n_1/000000.md", "root/000000.md", "session.json"]
    assert "first answer ü" in after["root/000000.md"]
    assert "first answer" not in before["root/000000.md"]
    session.cut(ROOT, "m2")
    three = await history.record(session)
    assert three is not None
    assert "first answer" not in (await history.read(three))["root/000000.md"]
    assert "first answer" in (await history.read(two))["root/000000.md"]


async def test_a_turn_of_a_long_session_changes_one_file(session: Session) -> None:
    history = History(session.path)
    for number in range(4 * PER_FILE + 1):
        session.append(ROOT, User(f"question {number}"))
    await history.record(session)
    session.append(ROOT, Assistant("answer"))
    last = await history.record(session)
    folder = session.path / "history"
    changed = git(folder, "show", "--name-only", "--format=", str(last)).split()
    assert changed == ["root/000200.md", "session.json"]


async def test_the_users_repository_and_configuration_are_not_touched(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "home"  # even when all of ~/.jarvis lies in a repository of the user's
    ran = tmp_path / "ran"
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "post-commit", "commit-msg", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
        (hooks / name).chmod(0o755)
    user = tmp_path / "user"
    user.mkdir()
    (user / ".gitconfig").write_text(
        f"[user]\n name = Me\n email = me@x\n[init]\n templateDir = {tmp_path / 'template'}\n"
        f"[core]\n hooksPath = {hooks}\n fsmonitor = touch {ran}\n[commit]\n gpgSign = true\n"
        f"[gpg]\n program = {hooks / 'pre-commit'}\n[status]\n showUntrackedFiles = no\n"
    )
    git(work, "init", "--quiet")
    (work / "mine.txt").write_text("mine")
    git(work, "-c", "user.name=a", "-c", "user.email=a@b", "add", "mine.txt")
    before = git(work, "status", "--porcelain", "--untracked-files=no")
    for name, value in {
        "HOME": user,
        "XDG_CONFIG_HOME": user,
        "GIT_DIR": work / ".git",
        "GIT_WORK_TREE": work,
        "GIT_INDEX_FILE": work / ".git" / "index",
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_CONFIG_GLOBAL": user / ".gitconfig",
        "GIT_TEMPLATE_DIR": tmp_path / "template",
    }.items():
        monkeypatch.setenv(name, str(value))
    session.append(ROOT, User("hi"))
    history = History(session.path)
    assert await history.record(session) is not None, history.problem
    assert not ran.exists()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert git(work, "status", "--porcelain", "--untracked-files=no") == before
    assert git(work, "for-each-ref") == ""
    own = session.path / "history"
    assert git(own, "log", "--format=%an <%ae>").strip() == "Jarvis <jarvis@localhost>"
    assert not (own / ".git" / "hooks").exists()


async def test_without_git_it_is_said_once_and_the_session_works(
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    history_module._said.clear()
    with caplog.at_level(logging.WARNING, logger=history_module.__name__):
        for _ in range(3):
            session.append(ROOT, User("hi"))
            history = History(session.path)
            assert await history.record(session) is None
            assert "git is not installed" in history.problem
    assert len(caplog.records) == 1
    assert await history.versions() == []
    assert len(session.messages(ROOT)) == 3


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo broken >&2; exit 3", "git init failed: broken"),
        ("exit 3", "status 3"),
        ("exec sleep 60", "took more than"),
    ],
)
async def test_a_git_that_fails_or_hangs_harms_nobody(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(history_module, "TIME_LIMIT", 1.0)
    session.append(ROOT, User("hi"))
    history = History(session.path, git=str(program))
    assert await history.record(session) is None
    assert said in history.problem
    monkeypatch.setattr(history_module, "TIME_LIMIT", 60.0)
    history = History(session.path)
    assert await history.record(session) is not None, "it goes on as soon as git works"
    assert history.problem == ""


async def test_a_lock_that_a_killed_git_left_is_taken_away(session: Session) -> None:
    history = History(session.path)
    session.append(ROOT, User("hi"))
    await history.record(session)
    lock = session.path / "history" / ".git" / "index.lock"
    lock.touch()
    session.append(ROOT, User("more"))
    assert await history.record(session) is None  # perhaps it is at work
    assert "index.lock" in history.problem
    past = time.time() - 1000
    os.utime(lock, (past, past))
    assert await history.record(session) is not None


async def test_secrets_and_odd_names(session: Session) -> None:
    session.append("../../etc", User("the key is canary-0123456789 \ud800"))
    session.append("______etc", User("another"))
    session.append(".git", User("x"))
    history = History(session.path)
    version = await history.record(session, "about canary-0123456789")
    assert version is not None, history.problem
    files = await history.read(version)
    assert "canary" not in str(files) and HIDDEN in str(files)
    assert all(name.count("/") <= 1 and ".." not in name for name in files)
    assert "another" in str(files)
    assert (await history.versions())[0].words == f"about {HIDDEN}"


@pytest.mark.parametrize("words", ["\0", "\ud800", "-m", "#hash", "\n\n", "--amend", "'\"$(x)`y`"])
async def test_words_that_git_may_not_like(session: Session, words: str) -> None:
    session.append(ROOT, User(words))
    history = History(session.path)
    assert await history.record(session) is not None, history.problem
    (version,) = await history.versions()
    assert version.words == (words.strip("\0\n").replace("\ud800", "?") or "turn")


async def test_a_turn_that_is_none(session: Session) -> None:
    history = History(session.path)
    session.append(ROOT, User("hi"))
    await history.record(session)
    for wrong in ("HEAD", "--all", "", "0" * 40):
        with pytest.raises(HistoryError):
            await history.read(wrong)
