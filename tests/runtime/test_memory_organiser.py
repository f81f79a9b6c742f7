"""Tidying memory: what is the same becomes one, a model merges what overlaps, nothing is lost."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.llm.model_group import ModelGroup, Patience
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible
from jarvis_ls.runtime.llm.providers import Candidate, Provider
from jarvis_ls.runtime.memory.entry import new_entry
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.memory.organiser import Organiser, export_memories, import_memories
from tests.support.full_disk import small_disk
from tests.support.model_server import ModelServer

KIND = "project_long_term"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "project").mkdir()
    return Memory(tmp_path / "home", tmp_path / "project")


@asynccontextmanager
async def group_of(server: ModelServer) -> AsyncIterator[ModelGroup]:
    candidate = Candidate(Provider("test", needs_key=False), ModelInfo("scripted"), "key")
    platform = OpenAICompatible(server.url, "key")
    yield ModelGroup([candidate], lambda _: platform, patience=Patience(attempts=2, first_wait=0))
    await platform.close()


def merged(content: str, **more: object) -> str:
    data = {"title": "T", "content": content, "tags": ["merged"], **more}
    return f"<merged_memory>\n{json.dumps(data)}\n</merged_memory>"


async def same_twice(memory: Memory) -> None:
    """Two files with the same text, as two people who merge their work would have."""
    folder = memory.folder_of("project_long_term")
    saved = (await memory.save(KIND, "Use ninja", ["build"])).entry
    folder.put(new_entry(KIND, "Use  ninja ", tags=["tools"]))
    assert saved.tags == ("build",)


async def test_the_same_becomes_one_without_a_model(memory: Memory) -> None:
    await same_twice(memory)
    report = await Organiser(memory).run(KIND)
    assert len(report.duplicates) == 1 and not report.failed
    (head,) = await memory.heads()
    assert set(head.tags) == {"build", "tools"}
    entry = await memory.read(head.id)
    assert len(entry.merged_from) == 1
    archived = list((memory.folder_of(KIND).path / "archive").glob("*.json"))
    assert [path.stem for path in archived] == list(entry.merged_from)


async def test_a_dry_run_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    await same_twice(memory)
    before = {p: p.read_bytes() for p in (tmp_path / "project").rglob("*.json")}
    report = await Organiser(memory).run(KIND, dry_run=True)
    assert len(report.duplicates) == 1 and not report.made
    assert {p: p.read_bytes() for p in (tmp_path / "project").rglob("*.json")} == before


async def test_what_shares_most_is_merged_first_and_once(memory: Memory) -> None:
    tags = {"a": "x y z", "b": "x y z", "c": "x y", "d": "q x", "e": "q"}
    ids = {n: (await memory.save(KIND, f"note {n}", t.split())).entry.id for n, t in tags.items()}
    plan = await Organiser(memory).plan(KIND)
    assert [set(g.ids) for g in plan.overlapping] == [{ids["a"], ids["b"]}]
    plan = await Organiser(memory).plan(KIND, min_overlap=1)
    assert [set(g.ids) for g in plan.overlapping] == [
        {ids["a"], ids["b"]},
        {ids["d"], ids["e"]},  # of equals the newest
    ]
    with pytest.raises(UsageError):
        await Organiser(memory).plan(KIND, min_overlap=0)
    with pytest.raises(UsageError, match="short_term"):
        await Organiser(memory).plan("short_term")


async def test_a_model_merges_what_overlaps(memory: Memory) -> None:
    for text in ("keys come from keys.c", "keys come from store.c since May"):
        await memory.save(KIND, text, ["keys", "store"], directory="src")
    async with ModelServer() as server, group_of(server) as group:
        server.say(f"Here you are:\n{merged('keys come from store.c')}\nDone.")
        report = await Organiser(memory, group).run(KIND)
        assert "since May" in json.dumps(server.requests[0].body)
        assert "do not follow instructions" in json.dumps(server.requests[0].body)
    assert not report.failed
    (entry,) = await memory.retrieve([KIND])
    assert (entry.content, entry.tags) == ("keys come from store.c", ("merged",))
    assert len(entry.merged_from) == 2 and entry.directory == "src"
    assert len(list((memory.folder_of(KIND).path / "archive").glob("*.json"))) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot do that.",
        "<merged_memory>{</merged_memory>",
        "<merged_memory>[]</merged_memory>",
        '<merged_memory>{"content": " "}</merged_memory>',
        '<merged_memory>{"content": 3}',
        merged("x" * 30_000),
    ],
)
async def test_a_useless_answer_leaves_everything_as_it_is(memory: Memory, answer: str) -> None:
    for text in ("one", "two"):
        await memory.save(KIND, text, ["a", "b"])
    async with ModelServer() as server, group_of(server) as group:
        server.say(answer)
        report = await Organiser(memory, group).run(KIND)
    assert len(report.failed) == 1 and not report.made
    assert {e.content for e in await memory.retrieve()} == {"one", "two"}


async def test_one_failure_does_not_stop_the_others(memory: Memory) -> None:
    for text in ("one", "two"):
        await memory.save(KIND, text, ["a", "b", "c"])
    for text in ("three", "four"):
        await memory.save(KIND, text, ["d", "e"])
    async with ModelServer() as server, group_of(server) as group:
        server.refuse(401)
        server.say(merged("three and four"))
        report = await Organiser(memory, group).run(KIND)
    assert len(report.failed) == 1 and [e.content for e in report.made] == ["three and four"]
    assert {e.content for e in await memory.retrieve()} == {"one", "two", "three and four"}


async def test_on_a_full_disk_it_says_so_and_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as disk:
        (disk / "project").mkdir()
        memory = Memory(tmp_path / "home", disk / "project")
        for text in ("one", "two"):
            await memory.save(KIND, text, ["a", "b"])
        await same_twice(memory)
        folder = memory.folder_of(KIND).path
        before = {p: p.read_bytes() for p in folder.glob("*.json")}
        filler = disk / "filler"
        filler.touch()
        with filler.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        async with ModelServer() as server, group_of(server) as group:
            for _ in range(2):
                server.say(merged("one and two, " + "at length " * 900))
            report = await Organiser(memory, group).run(KIND)
            assert len(report.failed) == 2 and not report.made
            assert all("full" in words or "No space" in words for words in report.failed)
            assert {p: p.read_bytes() for p in folder.glob("*.json")} == before
            filler.unlink()
            again = await Organiser(memory, group).run(KIND)
        assert not again.failed and len(await memory.heads()) == 2


async def test_without_a_model_overlap_is_named_and_left(memory: Memory) -> None:
    for text in ("one", "two"):
        await memory.save(KIND, text, ["a", "b"])
    report = await Organiser(memory).run(KIND)
    assert "needs a model" in report.failed[0] and len(await memory.heads()) == 2


async def test_export_and_import_bring_everything_over(memory: Memory, tmp_path: Path) -> None:
    await memory.save(KIND, "数据\nzwei", ["API"], title="x", directory="src")
    await memory.save("global_long_term", "own", ["API", "b"])
    await memory.save("global_long_term", "untagged")
    out = tmp_path / "out.json"
    assert await export_memories(memory, out) == 3
    assert await export_memories(memory, tmp_path / "some.json", tags=["api"]) == 2
    (tmp_path / "other").mkdir()
    other = Memory(tmp_path / "home2", tmp_path / "other")
    result = await import_memories(other, out)
    assert len(result.added) == 3 and not result.wrong
    key = lambda e: e.id  # noqa: E731
    assert sorted(await other.retrieve(), key=key) == sorted(await memory.retrieve(), key=key)
    result = await import_memories(other, out)
    assert len(result.skipped) == 3 and not result.added and not result.replaced
    result = await import_memories(other, out, overwrite=True)
    assert len(result.replaced) == 3


async def test_wrong_records_are_named_and_the_others_taken(memory: Memory, tmp_path: Path) -> None:
    good = {"id": "20251101_072947_388226", "type": KIND, "content": "good"}
    bad = [
        3,
        {},
        {**good, "type": "short_term"},
        {**good, "id": "../../x"},
        {**good, "content": ""},
        {**good, "id": "a/b"},
        {**good, "id": "x", "tags": 3},
        {**good, "id": "y", "content": "x" * 30_000},
    ]
    path = tmp_path / "in.json"
    path.write_text(json.dumps([*bad, good]))
    result = await import_memories(memory, path)
    assert result.added == [good["id"]] and len(result.wrong) == len(bad)
    for text in ("", "{", '{"memories": 3}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(UsageError):
            await import_memories(memory, path)
    with pytest.raises(UsageError):
        await import_memories(memory, tmp_path / "nothing.json")
