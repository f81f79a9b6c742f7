"""The tree of agents as a user has it: model groups by kind, budgets, what comes back."""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path

from jarvis_ls.agents.records import INTERRUPTED
from jarvis_ls.runtime.base.events import Budget
from tests.agents.world import call, delegate, name_of, say
from tests.assembly.test_conversation import House, house, notices
from tests.support.agents import until
from tests.support.model_server import Answer, Asked

GROUPS = """
[model_groups.think]
models = ["t/large"]
[model_groups.act]
models = ["t/small"]
"""


def script(h: House, **answers: list[Answer]) -> None:
    """What each agent answers, by the name in square brackets of its task."""
    left = defaultdict(deque, {name: deque(said) for name, said in answers.items()})

    def decide(asked: Asked) -> Answer | None:
        return left[name_of(asked)].popleft() if left[name_of(asked)] else None

    h.server.decide = decide


def models(h: House) -> dict[str, str]:
    """Which model answered each agent."""
    return {name_of(asked): asked.body["model"] for asked in h.server.requests if asked.body}


async def test_each_kind_of_agent_has_its_group(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(GROUPS)
        act = delegate("b", type="act")
        script(h, root=[call(delegate("a")), say("end")], a=[call(act), say("a")], b=[say("b")])
        c = await h.start()
        assert (await c.ask("[root] go")).text == "end"
        assert models(h) == {"root": "large", "a": "m", "b": "small"}
        assert [n.info.group for n in c.tree.walk()] == ["think", "balanced", "act"]
        assert c.tree.root.info.subtree.input == 5 * 11 == c.session.spent().input


async def test_groups_by_kind_are_settings(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(GROUPS + '[agents.groups]\nroot = "balanced"\nchild = "t/other"\n')
        script(h, root=[call(delegate("a")), say("end")], a=[say("a")])
        c = await h.start()
        assert (await c.ask("[root] go")).text == "end"
        assert models(h) == {"root": "m", "a": "t/other".partition("/")[2]}


async def test_a_group_that_was_chosen_for_the_session_is_the_roots(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(GROUPS)
        script(h, root=[say("end")])
        c = await h.start(assembly=h.assembly(model_group="act"))
        assert (await c.ask("[root] go")).text == "end"
        assert models(h) == {"root": "small"}


async def test_the_budget_of_a_session_is_a_setting_and_the_user_is_asked(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure("[agents]\ntokens = 20000\n")
        work = [call(("echo", {"text": str(n)}), prompt=6_000) for n in range(9)]
        script(h, root=[*work, say("end")])
        c = await h.start()
        ending = await c.ask("[root] go")
        assert (
            ending.state == "failed" and "The budget of “Jarvis” is 20,000 tokens" in ending.error
        )
        [question] = h.person.questions
        assert "Continue?" in question
        spent = c.tree.root.info.subtree
        assert spent.input + spent.output <= 20_000
        assert "20,000 tokens" in notices(c)
        h.person.words = ["Continue without a limit"]
        assert (await c.ask("go on")).text == "end"
        assert c.tree.root.info.budget == Budget()


async def test_settings_that_make_no_sense_are_named_and_the_rest_works(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure('[agents]\nparallel = "many"\n')
        script(h, root=[say("end")])
        c = await h.start()
        assert any("agents.parallel" in problem for problem in c.problems)
        assert (await c.ask("[root] go")).text == "end"


async def test_stop_reaches_everyone_and_the_session_goes_on_later(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        endless = say("x", delay=0.02)
        endless.chunks[:1] = endless.chunks[:1] * 10_000
        script(
            h,
            root=[call(delegate("a"), delegate("b"))],
            a=[call(delegate("a1"))],
            a1=[endless],
            b=[endless],
        )
        c = await h.start()
        await c.send("[root] go")
        await until(lambda: {"a1", "b"} <= set(models(h)))
        await c.stop()
        assert not c.working
        assert {n.state for n in c.tree.walk()} == {"cancelled"}
        name, nodes = c.id, [n.id for n in c.tree.walk()]
        await c.close()
        c = await h.start(name)
        assert [n.id for n in c.tree.walk()] == nodes
        script(h, root=[say("end")], a=[say("a")], a1=[say("a1")], b=[say("b")])
        c.tree.retry("root", subtree=True)
        assert (await c.wait()).text == "end"
        assert {n.state for n in c.tree.walk()} == {"completed"}


async def test_an_agent_that_was_cut_off_says_so_when_it_comes_back(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        endless = say("x", delay=0.02)
        endless.chunks[:1] = endless.chunks[:1] * 10_000
        script(h, root=[endless])
        c = await h.start()
        await c.send("[root] go")
        await until(lambda: c.tree.root.state == "running" and bool(models(h)))
        left = (c.session.path / "journal.jsonl").read_bytes()
        path, name = c.session.path, c.id
        await c.close()
        (path / "journal.jsonl").write_bytes(left)  # as a kill would have left it
        c = await h.start(name)
        assert (c.tree.root.state, c.tree.root.info.error) == ("failed", INTERRUPTED)
        script(h, root=[say("end")])
        assert (await c.ask("go on")).text == "end"
