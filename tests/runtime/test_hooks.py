"""The event bus, and callbacks from directories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import pytest

from jarvis_ls.runtime.agent.hooks import (
    CALLBACKS_VARIABLE,
    AfterToolCall,
    HookEvent,
    Hooks,
    InterruptTriggered,
    TaskStarted,
    load_callbacks,
)
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult

AGENT: Any = object()


def after() -> AfterToolCall:
    return AfterToolCall(AGENT, ToolCall("1", "t", {}), ToolResult("1", "t", "text"))


async def test_listeners_are_told_in_order() -> None:
    hooks, seen = Hooks(), []

    async def second(event: TaskStarted) -> None:
        seen.append(f"second {event.task}")

    hooks.subscribe(TaskStarted, lambda e: seen.append(f"first {e.task}"))
    hooks.subscribe(TaskStarted, second)
    hooks.subscribe(InterruptTriggered, lambda _: seen.append("other"))
    await hooks.emit(TaskStarted(AGENT, "x"))
    assert seen == ["first x", "second x"]


async def test_a_listener_is_told_once_and_no_more_after_its_end() -> None:
    hooks, seen = Hooks(), []
    listener = seen.append
    hooks.subscribe(TaskStarted, listener)
    end = hooks.subscribe(TaskStarted, listener)
    await hooks.emit(TaskStarted(AGENT, "x"))
    end()
    hooks.unsubscribe(TaskStarted, listener)  # once more is no fault
    await hooks.emit(TaskStarted(AGENT, "y"))
    assert len(seen) == 1


async def test_nobody_listens() -> None:
    await Hooks().emit(TaskStarted(AGENT, "x"))


async def test_one_that_fails_does_not_keep_others_from_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hooks, seen = Hooks(), []

    async def fails(_: TaskStarted) -> None:
        raise KeyError("on purpose")

    hooks.subscribe(TaskStarted, fails)
    hooks.subscribe(TaskStarted, seen.append)
    await hooks.emit(TaskStarted(AGENT, "x"))
    assert len(seen) == 1 and "on purpose" in caplog.text


async def test_a_shared_bus_hears_everything() -> None:
    shared, seen = Hooks(), []
    shared.subscribe(TaskStarted, lambda _: seen.append("shared"))
    own = Hooks(shared)
    own.subscribe(TaskStarted, lambda _: seen.append("own"))
    await own.emit(TaskStarted(AGENT, "x"))
    await shared.emit(TaskStarted(AGENT, "x"))
    assert seen == ["own", "shared", "shared"]


def test_the_events_are_the_seeds() -> None:
    assert {kind.__name__ for kind in get_args(HookEvent)} == {
        "TaskStarted",
        "TaskCompleted",
        "BeforeModelCall",
        "AfterModelCall",
        "BeforeHistoryClear",
        "AfterHistoryClear",
        "BeforeSummary",
        "AfterSummary",
        "BeforeToolFilter",
        "ToolFiltered",
        "BeforeToolCall",
        "AfterToolCall",
        "InterruptTriggered",
        "BeforeAddonPrompt",
        "AfterAddonPrompt",
    }


FORMS = {
    "direct": "def after_tool_call_cb(event): open(OUT, 'a').write('direct ' + event.call.name)",
    "getter": "def get_after_tool_call_cb(): return lambda e: open(OUT, 'a').write('getter')",
    "register": "def register_after_tool_call_cb(): return lambda e: open(OUT, 'a').write('reg')",
    "async": "async def after_tool_call_cb(event): open(OUT, 'a').write('async')",
    "first": (
        "def after_tool_call_cb(event): open(OUT, 'a').write('direct')\n"
        "def get_after_tool_call_cb(): raise RuntimeError('not asked')"
    ),
}


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("direct", "direct t"),
        ("getter", "getter"),
        ("register", "reg"),
        ("async", "async"),
        ("first", "direct"),
    ],
)
async def test_callbacks_in_their_forms(tmp_path: Path, form: str, written: str) -> None:
    out = tmp_path / "out"
    (tmp_path / "cb.py").write_text(f"OUT = {str(out)!r}\n{FORMS[form]}\n")
    hooks = Hooks()
    loaded = load_callbacks(hooks, environment={CALLBACKS_VARIABLE: str(tmp_path)})
    assert [p.name for p in loaded.loaded] == ["cb.py"] and not loaded.problems
    await hooks.emit(after())
    assert out.read_text() == written


def test_what_cannot_be_loaded_is_said_and_the_rest_works(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    (good / "a.py").write_text("def after_tool_call_cb(event): pass\n")
    for name, text in [
        ("syntax", "def"),
        ("empty", ""),
        ("raises", "1/0"),
        ("none", "def get_after_tool_call_cb(): return None"),
    ]:
        (bad / f"{name}.py").write_text(text)
    folders = os.pathsep.join(map(str, (bad, tmp_path / "missing", good)))
    loaded = load_callbacks(Hooks(), environment={CALLBACKS_VARIABLE: folders})
    assert [p.name for p in loaded.loaded] == ["a.py"]
    assert len(loaded.problems) == 5
    for words in ("SyntaxError", "exports no", "ZeroDivisionError", "no such folder"):
        assert words in str(loaded.problems)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_workspace_that_is_not_trusted_runs_nothing(tmp_path: Path, trusted: bool) -> None:
    folder = tmp_path / "work" / "callbacks"
    folder.mkdir(parents=True)
    ran = tmp_path / "ran"
    (folder / "a.py").write_text(f"open({str(ran)!r}, 'w')\ndef after_tool_call_cb(e): pass\n")
    link = tmp_path / "elsewhere"
    link.symlink_to(folder)
    for named in (folder, link):
        loaded = load_callbacks(
            Hooks(),
            roots=[tmp_path / "work"],
            trusted=trusted,
            environment={CALLBACKS_VARIABLE: str(named)},
        )
        assert bool(loaded.loaded) is trusted and ran.exists() is trusted


def test_without_the_variable_nothing_is_loaded() -> None:
    assert load_callbacks(Hooks(), environment={}).loaded == ()
