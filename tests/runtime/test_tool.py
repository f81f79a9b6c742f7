"""A typed function becomes a tool; whatever a model sends gives a result, never an exception."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.tools.tool import Action, Joined, Selected, ToolContext, Tools, cap, tool

CONTEXT = ToolContext(())


looking: set[str] = set()
most: list[int] = []


@tool(actions=lambda a: [Action("read", a["path"])], independent=True)
async def look(
    context: ToolContext, path: str, first: int = 1, mode: Literal["text", "hex"] = "text"
) -> str:
    """Look at a file.

    It is only read.

    Args:
        path: Path relative to
            the workspace.
        first: First line.
    """
    looking.add(path)
    await asyncio.sleep(0.05)
    most.append(len(looking))
    looking.discard(path)
    return f"{path}:{first}:{mode}"


@tool(timeout=0.1)
async def hang(context: ToolContext) -> str:
    """Hang."""
    await asyncio.sleep(60)
    return ""


@tool()
async def fail(context: ToolContext, how: str) -> str:
    """Fail."""
    if how == "retry":
        raise ToolRetry("say it otherwise")
    if how == "disk":
        raise OSError(28, "No space left on device")
    raise RuntimeError("a fault")


TOOLS = Tools([look, hang, fail])


def run(name: str, arguments: dict[str, Any], raw: str | None = None) -> ToolResult:
    return asyncio.run(TOOLS.run(ToolCall("1", name, arguments, raw), CONTEXT))


def test_the_signature_is_the_schema_and_the_docstring_the_description() -> None:
    spec = look.spec
    assert (spec.name, spec.description) == ("look", "Look at a file.\n\nIt is only read.")
    assert spec.parameters["required"] == ["path"]
    assert "additionalProperties" not in spec.parameters  # refused all the same; it costs tokens
    assert spec.parameters["properties"] == {
        "path": {"type": "string", "description": "Path relative to the workspace."},
        "first": {"type": "integer", "default": 1, "description": "First line."},
        "mode": {"type": "string", "enum": ["text", "hex"], "default": "text"},
    }
    assert look.actions({"path": "a.c"}) == [Action("read", "a.c")]


def test_arguments_arrive_typed() -> None:
    assert run("look", {"path": "a", "first": "7"}) == ToolResult("1", "look", "a:7:text")


@pytest.mark.parametrize(
    ("name", "arguments", "raw", "said"),
    [
        ("look", {}, None, "path: Field required"),
        ("look", {"path": 3}, None, "path"),
        ("look", {"path": "a", "more": 1}, None, "more"),
        ("look", {"path": "a", "mode": "oct"}, None, "mode"),
        ("look", {}, '{"path": ', "not a JSON object"),
        ("lok", {}, None, "Unknown tool 'lok'. Tools: fail, hang, look."),
        ("hang", {}, None, "timed out after"),
        ("fail", {"how": "retry"}, None, "say it otherwise"),
        ("fail", {"how": "disk"}, None, "No space left"),
        ("fail", {"how": "x"}, None, "RuntimeError: a fault"),
    ],
)
def test_what_goes_wrong_is_said(
    name: str, arguments: dict[str, Any], raw: str | None, said: str
) -> None:
    result = run(name, arguments, raw)
    assert result.is_error and said in result.text


@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5)))
def test_no_arguments_raise(arguments: dict[str, Any]) -> None:
    assert isinstance(run("fail", arguments), ToolResult)


async def test_calls_that_change_nothing_run_together_and_keep_their_order() -> None:
    calls = [ToolCall(str(n), "look", {"path": str(n)}) for n in range(8)]
    calls.insert(4, ToolCall("f", "fail", {"how": "retry"}))
    most.clear()
    results = await TOOLS.run_all(calls, CONTEXT)
    assert max(most) == 4, "those before and after the one that may change something"
    assert [r.call_id for r in results] == [c.id for c in calls]


async def test_a_selection_hides_and_refuses_the_rest() -> None:
    few = Selected(TOOLS, ["look"])
    assert [s.name for s in few.specs()] == ["look"]
    assert (await few.run(ToolCall("1", "fail", {"how": "x"}), CONTEXT)).is_error
    both = Joined([few, Tools([hang])])
    assert set(both.tools()) == {"look", "hang"}
    assert not (await both.run(ToolCall("1", "look", {"path": "p"}), CONTEXT)).is_error


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="look"):
        Tools([look, look])


@given(st.text(max_size=400), st.integers(20, 200))
def test_output_is_capped(text: str, limit: int) -> None:
    capped = cap(text, limit)
    assert capped == text if len(text) <= limit else len(capped) <= limit + 60


def test_long_output_keeps_its_ends() -> None:
    capped = cap("\n".join(f"line {n}" for n in range(1000)), 2000).splitlines()
    assert (capped[0], capped[29], capped[-1]) == ("line 0", "line 29", "line 999")
    assert capped[30] == "… 940 lines left out …"
