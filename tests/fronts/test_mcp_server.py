"""`jarvis mcp` as a process, with the client of the official SDK on the other side."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent, TextResourceContents

from jarvis_ls.tester.protocol import function_definition
from tests.support.patience import HANGS
from tests.support.repair_bench import MENDED, repair_bench
from tests.support.repositories import commit, git

pytestmark = pytest.mark.watches()

JARVIS = Path(sys.executable).with_name("jarvis")
FLAWED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char place[16];
    char *word = malloc(10);
    if (argc < 2 || word == NULL)
        return 1;
    strcpy(place, argv[1]);
    puts(place);
    free(word);
    free(word);
    return 0;
}
"""
SECRET = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "main.c").write_text(FLAWED)
    return root


def environment(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return {**os.environ, "HOME": str(home), "JARVIS_HOME": str(home / ".jarvis")}


@asynccontextmanager
async def connected(
    project: Path, tmp_path: Path, *options: str, **more: Any
) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=str(JARVIS), args=["mcp", str(project), *options], env=environment(tmp_path)
    )
    async with Client(server, read_timeout_seconds=120, **more) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def text_of(client: Client, resource: str) -> str:
    (content,) = (await client.read_resource(resource)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return "".join(part.text for part in answer.content if isinstance(part, TextContent))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_findings_are_listed_and_explained(project: Path, tmp_path: Path, mode: str) -> None:
    async with connected(project, tmp_path, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert len(tools) >= 9
        assert [
            name
            for name, tool in tools.items()
            if not (tool.annotations and tool.annotations.read_only_hint)
        ] == ["prove", "repair_tests"]
        scanned = await ask(client, "scan")
        listed = await ask(client, "findings")
        assert scanned["files"] == 1
        assert scanned["findings"] == listed["total"] == len(listed["findings"])
        twice = next(item for item in listed["findings"] if item["rule"] == "double-free")
        assert (twice["file"], twice["line"], twice["cwe"][0]) == ("main.c", 14, 415)
        told = await ask(client, "explain_finding", name=twice["id"])
        assert told["code"] == "free(word);"
        assert [step["line"] for step in told["path"]][-1] == 14
        assert "free" in told["why"]
        same = await text_of(client, f"jsec://finding/{twice['fingerprint']}")
        assert json.loads(same) == told


async def test_what_is_wanted_is_chosen(project: Path, tmp_path: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "other.c").write_text(FLAWED.replace("main", "run"))
    async with connected(project, tmp_path) as client:
        everything = await ask(client, "findings")
        below = await ask(client, "findings", paths=["lib"])
        assert {item["file"] for item in below["findings"]} == {"lib/other.c"}
        assert 0 < below["total"] < everything["total"]
        part = await ask(client, "findings", skip=1, limit=2)
        assert part["total"] == everything["total"]
        assert part["findings"] == everything["findings"][1:3]
        sure = await ask(client, "findings", rule="double-free", min_confidence=0.5)
        assert {item["rule"] for item in sure["findings"]} == {"double-free"}
        assert (await ask(client, "findings", evidence="reproduced"))["total"] == 0


async def test_a_change_is_seen(project: Path, tmp_path: Path) -> None:
    async with connected(project, tmp_path) as client:
        assert (await ask(client, "findings", rule="double-free"))["total"] == 1
        (project / "main.c").write_text(FLAWED.replace("    free(word);\n", "", 1))
        assert (await ask(client, "findings", rule="double-free"))["total"] == 0


async def test_a_rewrite_is_shown_and_nothing_written(project: Path, tmp_path: Path) -> None:
    (project / "name.c").write_text(
        "#include <stdio.h>\nvoid f(char *s) { char b[8]; gets(b); (void)s; }\n"
    )
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    async with connected(project, tmp_path) as client:
        listed = await ask(client, "findings")
        fixable = [item for item in listed["findings"] if item["fixable"]]
        shown = await ask(client, "preview_fix", name=fixable[0]["id"])
        assert shown["diff"].startswith(f"--- a/{fixable[0]['file']}\n")
        none = next(item for item in listed["findings"] if not item["fixable"])
        assert "offers no rewrite" in await refusal(client, "preview_fix", name=none["id"])
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


async def test_rules_have_pages(project: Path, tmp_path: Path) -> None:
    async with connected(project, tmp_path) as client:
        found = (await ask(client, "rules", words="CWE-416"))["result"]
        assert "use-after-free" in [rule["id"] for rule in found]
        page = (await ask(client, "explain_rule", rule="use-after-free"))["result"]
        assert page.startswith("# use-after-free\n")
        assert await text_of(client, "jsec://rules/use-after-free") == page
        assert "did you mean use-after-free" in await refusal(
            client, "explain_rule", rule="use-after-fre"
        )
        with pytest.raises(MCPError, match="unknown rule"):
            await client.read_resource("jsec://rules/nothing-of-the-kind")


async def test_what_a_change_touches_is_told_and_nothing_written_without_trust(
    project: Path, tmp_path: Path
) -> None:
    async with connected(project, tmp_path) as client:
        assert "in no git repository" in await refusal(client, "impact")
        (project / "lib.c").write_text("int twice(int n)\n{\n    return n + n;\n}\n")
        user = "int twice(int n);\nint four(int n) { return twice(twice(n)); }\n"
        (project / "user.c").write_text(user)
        git(project, "init", "--quiet")
        commit(project, "first")
        (project / "lib.c").write_text("int twice(long n)\n{\n    return (int)(n + n);\n}\n")
        told = await ask(client, "impact")
        assert told["files"] == ["lib.c"]
        assert [(it["name"], it["change"]) for it in told["symbols"]] == [("twice", "signature")]
        assert ("user.c", "four") in [(it["path"], it["name"]) for it in told["callers"]]
        assert told["findings"] == {"new": [], "gone": []}
        assert "no_such" in await refusal(client, "impact", revisions="no_such..HEAD")
    assert not (project / ".jarvis").exists()


async def test_nothing_is_built_without_trust(project: Path, tmp_path: Path) -> None:
    async with connected(project, tmp_path) as client:
        listed = await ask(client, "findings", rule="double-free")
        name = listed["findings"][0]["id"]
        assert "not trusted" in await refusal(client, "prove", name=name)
        request = {"project_root": str(project), "task_id": "t1"}
        assert "not trusted" in await refusal(client, "repair_tests", **request)
    assert not (project / ".jarvis").exists()


async def test_failing_tests_are_repaired_as_a_function_call(tmp_path: Path) -> None:
    async with repair_bench(tmp_path) as bench:
        bench.plan(cause="src/money.py", diagnosis="The first price is left out.")
        bench.patch([MENDED])
        server = StdioServerParameters(
            command=str(JARVIS), args=["mcp", str(bench.root), "--trust"], env=bench.environment
        )
        async with Client(server, read_timeout_seconds=HANGS) as client:
            (tool,) = [t for t in (await client.list_tools()).tools if t.name == "repair_tests"]
            definition = function_definition()["function"]["parameters"]
            assert tool.input_schema["properties"].keys() == definition["properties"].keys()
            assert tool.input_schema["required"] == definition["required"]
            request = {"project_root": str(bench.root), "task_id": "t1"}
            answer = await ask(client, "repair_tests", **request)
            assert answer["status"] == "candidates"
            assert [item["id"] for item in answer["candidates"]] == ["fix-1"]
            elsewhere = {**request, "project_root": str(tmp_path)}
            assert "which is served" in await refusal(client, "repair_tests", **elsewhere)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
async def test_a_finding_is_proven_and_stays_so(project: Path, tmp_path: Path) -> None:
    async with connected(project, tmp_path, "--trust") as client:
        listed = await ask(client, "findings", rule="double-free")
        name = listed["findings"][0]["id"]
        proof = await ask(client, "prove", name=name, seconds=30)
        assert proof["verdict"] == "reproduced"
    async with connected(project, tmp_path) as client:
        again = await ask(client, "findings", evidence="reproduced")
        assert [(item["id"], item["confidence"]) for item in again["findings"]] == [(name, 0.99)]


async def test_what_is_not_there_and_what_is_nonsense_is_told(
    project: Path, tmp_path: Path
) -> None:
    async with connected(project, tmp_path) as client:
        assert "no finding 'C000000'" in await refusal(client, "explain_finding", name="C000000")
        assert await refusal(client, "findings", limit=10**9)
        assert await refusal(client, "findings", paths=7)
        assert await refusal(client, "nothing_of_the_kind")
        (project / ".jarvis").mkdir()
        (project / ".jarvis" / "jsec.toml").write_text("rules = 7\n[")
        assert "jsec.toml" in await refusal(client, "scan")
        (project / ".jarvis" / "jsec.toml").unlink()
        assert (await ask(client, "scan"))["files"] == 1


async def test_a_secret_in_the_code_is_not_passed_on(project: Path, tmp_path: Path) -> None:
    (project / "key.c").write_text(f'const char *api_key = "{SECRET}";\n')
    async with connected(project, tmp_path) as client:
        listed = await ask(client, "findings", paths=["key.c"])
        for item in listed["findings"]:
            told = await client.call_tool("explain_finding", {"name": item["id"]})
            assert SECRET not in str(told)
        assert listed["findings"]
        assert SECRET not in str(listed)


async def test_a_scan_tells_how_far_it_is_and_ends_when_it_is_taken_back(
    project: Path, tmp_path: Path
) -> None:
    for number in range(150):
        (project / f"part{number}.c").write_text(
            "\n".join(FLAWED.replace("main", f"run{number}_{copy}") for copy in range(20))
        )
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total is not None and progress <= total and message is None
        seen.append(progress)

    async with connected(project, tmp_path) as client:
        call = asyncio.create_task(client.call_tool("scan", {}, progress_callback=note))
        while not seen and not call.done():
            await asyncio.sleep(0.02)
        assert not call.done(), "the scan has ended before it told anything"
        call.cancel()
        began = time.monotonic()
        rules = await ask(client, "rules", words="CWE-415")
        assert rules["result"]
        assert time.monotonic() - began < 60


async def test_over_http_only_who_has_the_token_is_answered(project: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [JARVIS, "mcp", project, "--http", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    )
    try:
        assert process.stderr is not None
        url = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())[0]  # type: ignore[index]
        header = process.stderr.readline().partition(": ")[2].strip()
        async with httpx2.AsyncClient() as plain:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": ""}):
                assert (await plain.post(url, headers=headers, json={})).status_code == 401
            far = {"Authorization": header, "Host": "evil.example"}
            assert (await plain.post(url, headers=far, json={})).status_code in (403, 421)
        async with (
            httpx2.AsyncClient(headers={"Authorization": header}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            assert (await ask(client, "scan"))["files"] == 1
    finally:
        process.terminate()
        assert process.wait(30) is not None
