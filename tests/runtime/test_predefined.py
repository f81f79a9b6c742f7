"""Predefined tasks: read from two places, marked, never more than text."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.runtime.context.predefined_tasks import MAX_TASKS, PredefinedTask, predefined_tasks


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "home").mkdir()
    (tmp_path / "root/.jarvis").mkdir(parents=True)
    return tmp_path / "home", tmp_path / "root"


def test_tasks_of_the_user_and_the_workspace(places: tuple[Path, Path]) -> None:
    home, root = places
    (home / "pre-command").write_text("review: Review it.\n代码: |\n  一\n  二\n", encoding="utf-8")
    (root / ".jarvis/pre-command").write_text("Review: Another.\nrelease: Write notes.\n")
    found = predefined_tasks(home, [root])
    assert [(t.name, t.text, t.origin) for t in found.tasks] == [
        ("review", "Review it.", "user"),
        ("代码", "一\n二", "user"),
        ("release", "Write notes.", "workspace"),
    ]
    assert len(found.problems) == 1 and "the name is taken" in found.problems[0]
    task = found.find(" RELEASE ")
    assert task is not None and found.find("none") is None
    assert task.with_more("for 2.0") == "Write notes.\n\nFurther information:\nfor 2.0"
    assert task.with_more(" ") == "Write notes."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"- a\n- b", "mapping"),
        (b"a: [", "YAML"),
        (b"a: &x y\nb: *x", "aliases"),
        (b"\xff\xfe", "UTF-8"),
        (b"x" * 300_000, "larger"),
        (b"a: 3\nb: ''\nc: {d: e}\nd: good", "a name and a text"),
        (b"a: '" + b"y" * 60_000 + b"'\nd: good", "longer than"),
    ],
)
def test_what_is_wrong_is_named(places: tuple[Path, Path], text: bytes, said: str) -> None:
    home, root = places
    (home / "pre-command").write_bytes(text)
    found = predefined_tasks(home, [root])
    assert said in found.problems[0]
    assert [t.text for t in found.tasks] == (["good"] if b"good" in text else [])


def test_without_files_there_are_none(places: tuple[Path, Path]) -> None:
    found = predefined_tasks(places[0], [places[1]])
    assert found.tasks == () and found.problems == ()
    (places[0] / "pre-command").write_text("")
    assert predefined_tasks(places[0]).tasks == ()


def test_links_and_hidden_text(places: tuple[Path, Path], tmp_path: Path) -> None:
    home, root = places
    (tmp_path / "secret").write_text("a: secret")
    (root / ".jarvis/pre-command").symlink_to(tmp_path / "secret")
    assert "link" in predefined_tasks(home, [root]).problems[0]
    (home / "pre-command").write_text('"a\\u202e": "b\\u200bc"')
    (task,) = predefined_tasks(home).tasks
    assert isinstance(task, PredefinedTask)
    assert (task.name, task.text) == ("a<U+202E>", "b<U+200B>c")


def test_there_are_not_too_many(places: tuple[Path, Path]) -> None:
    (places[0] / "pre-command").write_text("".join(f"t{n}: x\n" for n in range(MAX_TASKS + 5)))
    found = predefined_tasks(places[0])
    assert len(found.tasks) == MAX_TASKS and len(found.problems) == 5
