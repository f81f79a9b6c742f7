"""The files of `jsec agent`: killed, damaged or renumbered, nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from jarvis_ls.jsec.pipeline.desk import Plan
from tests.support import pipeline_killing as killing
from tests.support.properties import examples

CLUSTERS, ANALYSIS = "clusters.jsonl", "analysis.jsonl"
FOUND = killing.candidates(files=3, each=12)
GARBAGE = (
    b'{"file": 3}\n',
    b"[" * 5000 + b"\n",
    b'{"file": "0.c", "gids": [1e400], "digest": "d"}\n',
    b"\xff\n",
)
DAMAGES = ("cut", "drop", "double", "swap", "garbage", "foreign")


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
def test_a_process_killed_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    counted = killing.run(tmp_path, kills=30, seed=7)
    assert counted["kills"] == 30 and counted["whole"] == 3


@pytest.fixture(scope="module")
def user() -> Iterator[Path]:
    """The user's own folder, with the key that records are signed with."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JARVIS_HOME", name)
        yield Path(name)


@pytest.fixture(autouse=True)
def home(user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same user for all tests here."""
    monkeypatch.setenv("JARVIS_HOME", str(user))
    return user


@pytest.fixture(scope="module")
def whole(user: Path) -> Iterator[Path]:
    """A folder in which a run of the user has come to its end."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        killing.write_files(root, FOUND)
        _finish(root, FOUND)
        yield root


def _finish(root: Path, found: list) -> int:
    """Run to the end; how many agents were asked."""
    asked = 0
    for seed in range(20):
        agents = killing.ChanceAgents(seed)
        left = asyncio.run(killing.work(root, found, agents, Plan(cluster_limit=5)))
        asked += len(agents.asked)
        if not left.candidates:
            break
    return asked


def _damage(path: Path, kind: str, where: float) -> None:
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    at = int(where * (len(lines) - 1))
    if kind == "cut":
        path.write_bytes(data[: int(where * len(data))])
        return
    if kind == "drop":
        del lines[at]
    elif kind == "double":
        lines.append(lines[at])
    elif kind == "swap":
        lines[0], lines[at] = lines[at], lines[0]
    elif kind == "garbage":
        odd = (
            b'{"file": 3}\n',
            b"[" * 5000 + b"\n",
            b'{"file": "0.c", "gids": [1e400]}\n',
            b"\xff\n",
        )
        lines[at:at] = odd
    else:  # a record that claims what others have
        lines.append(
            lines[at].replace(b"|0|", b"|9|").replace(b'"batch_index":0', b'"batch_index":9')
        )
    path.write_bytes(b"".join(lines))


@profile(max_examples=examples(40))
@given(
    st.lists(
        st.tuples(st.sampled_from([CLUSTERS, ANALYSIS]), st.sampled_from(DAMAGES), st.floats(0, 1)),
        min_size=1,
        max_size=4,
    ),
    st.sets(st.integers(0, len(FOUND) - 1), max_size=5),
)
def test_damaged_files_and_other_numbers_are_completed(
    whole: Path, damages: list[tuple[str, str, float]], gone: set[int]
) -> None:
    found = [f for number, f in enumerate(FOUND) if number not in gone]
    found = [replace(f, gid=gid) for gid, f in enumerate(found, 1)]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "w"
        shutil.copytree(whole, root)
        for file, kind, where in damages:
            if (root / ".jarvis" / "sec" / file).stat().st_size:
                _damage(root / ".jarvis" / "sec" / file, kind, where)
        killing.check_partial(root, found)
        _finish(root, found)
        killing.check_whole(root, found)


def test_a_finished_run_asks_nobody_and_leaves_its_files_as_they_are(whole: Path) -> None:
    folder = whole / ".jarvis" / "sec"
    _finish(whole, FOUND)  # what later lines have replaced is left out
    before = [(folder / name).read_bytes() for name in (CLUSTERS, ANALYSIS)]
    assert _finish(whole, FOUND) == 0
    assert [(folder / name).read_bytes() for name in (CLUSTERS, ANALYSIS)] == before


def test_a_file_that_changed_is_examined_again(whole: Path, tmp_path: Path) -> None:
    root = tmp_path / "w"
    shutil.copytree(whole, root)
    agents = killing.ChanceAgents(1)
    moved = [replace(f, fingerprint=f"f{f.fingerprint}") if f.file == "1.c" else f for f in FOUND]
    asyncio.run(killing.work(root, moved, agents, Plan()))
    assert {task.file for task in agents.asked} <= {"1.c", ""}
    assert agents.asked


def test_what_somebody_else_concluded_counts_for_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "w"
    shutil.copytree(whole, root)  # as a repository may bring it along
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "other"))
    assert killing.check_partial(root, FOUND) == (0, 0)
    agents = killing.ChanceAgents(1)
    asyncio.run(killing.work(root, FOUND, agents, Plan()))
    assert {gid for task in agents.asked for gid in task.gids} == {f.gid for f in FOUND}
