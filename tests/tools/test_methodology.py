"""How problems were solved well is kept with consent, replaced by name, and offered again."""

from __future__ import annotations

from pathlib import Path

from jarvis_ls.runtime.base.messages import ToolCall
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.tools.permissions import Permissions
from jarvis_ls.runtime.tools.tool import ToolContext, Tools, actions_of
from jarvis_ls.tools.methodology import methodology


def desk(folder: Path) -> tuple[Memory, ToolContext]:
    (folder / "project").mkdir(exist_ok=True)
    memory = Memory(folder / "home", folder / "project", trusted=True)
    return memory, ToolContext((folder / "project",), trusted=True, services={"memory": memory})


async def use(context: ToolContext, **arguments: str) -> str:
    result = await Tools([methodology]).run(ToolCall("c", "methodology", arguments), context)
    return result.text


async def test_it_is_kept_found_replaced_and_forgotten(tmp_path: Path) -> None:
    memory, context = desk(tmp_path)
    assert await use(context, operation="find", problem="leak") == "No methodologies yet."
    leak = {"problem": "Find a memory leak", "steps": "1. Run valgrind.\n2. Look at the first."}
    await use(context, operation="save", **leak)
    await use(context, operation="save", problem="Cut a release", steps="Tag it.", scope="project")
    assert "1. Run valgrind." in await use(context, operation="find", problem="a leak of memory")
    assert "Tag it." not in await use(context, operation="find", problem="a leak of memory")
    listed = await use(context, operation="find")
    assert listed.splitlines() == ["- Cut a release", "- Find a memory leak"]
    said = await use(
        context,
        operation="save",
        **{**leak, "problem": "find a  memory leak", "steps": "Use heaptrack."},
    )
    assert "replaced" in said and len(await memory.heads()) == 2
    assert "heaptrack" in await use(context, operation="find", problem="memory leak")
    # where it was kept only, and only by its name
    assert "No memories match" in await use(context, operation="delete", problem="Cut a release")
    await use(context, operation="delete", problem="Find a memory leak")
    assert await use(context, operation="find") == "- Cut a release"


async def test_a_later_task_is_offered_it_unless_that_is_not_wanted(tmp_path: Path) -> None:
    _, context = desk(tmp_path)
    await use(context, operation="save", problem="Find a memory leak", steps="Run valgrind.")
    again = Memory(tmp_path / "home", tmp_path / "project")
    assert "Run valgrind." in await again.activated("There is a memory leak in the reader")
    without = await again.activated("There is a memory leak", methodologies=False)
    assert "valgrind" not in without
    assert "`methodology`" in again.guide_now(["methodology"])


async def test_keeping_one_is_asked_and_nothing_is_kept_of_half_a_call(tmp_path: Path) -> None:
    memory, context = desk(tmp_path)
    call = ToolCall("c", "methodology", {"operation": "save", "problem": "x", "steps": "y"})
    actions = actions_of(methodology, call)
    assert Permissions().decide("methodology", actions or (), context).effect == "ask"
    assert actions_of(methodology, ToolCall("c", "methodology", {"operation": "find"})) == []
    said = await use(context, operation="save", problem="x")
    assert "nothing was changed" in said
    assert await memory.heads() == []
