"""Tools that talk: to the user, to the panel, to a search server; and how tools are found."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qs, urlsplit

import pytest

from jarvis_ls import tools
from jarvis_ls.runtime.base.events import EntryPut, Feed, PlanEntry
from jarvis_ls.runtime.session.store import SessionStore
from jarvis_ls.runtime.tools.permissions import Answer, PermissionRule
from jarvis_ls.tools.discover import builtin_tools, tools_of
from tests.support.desk import Desk

Reply = tuple[int, bytes]


class SearchServer:
    """A search server over real HTTP."""

    def __init__(self) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.reply: Reply = (200, b"{}")
        self.url = ""
        self.kind = "application/json"

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(parse_qs(urlsplit(head.split(" ")[1]).query))
        status, body = self.reply
        location = "location: http://127.0.0.1:9/elsewhere\r\n" if status == 302 else ""
        writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n{location}"
            f"content-type: {self.kind}\r\n"
            "connection: close\r\n\r\n".encode()
            + body
        )
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()


@pytest.fixture
async def web(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[SearchServer]:
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "home"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    one = SearchServer()
    server = await asyncio.start_server(one.accept, "127.0.0.1", 0)
    one.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    monkeypatch.setenv("JARVIS_SEARCH_URL", one.url + "/")
    async with server:
        yield one


def results(count: int) -> bytes:
    found = [
        {"title": f"Result {n}\u202e", "url": f"https://x/{n}", "content": "about\n it " * 200}
        for n in range(count)
    ]
    return json.dumps({"results": found}).encode()


async def test_the_web_is_searched_after_consent(desk: Desk, web: SearchServer) -> None:
    web.reply = 200, results(30)
    assert "Not allowed" in await desk.refused("search_web", query="strcpy overflow")
    assert web.asked == []
    assert desk.user.asked[0].actions[0].target.startswith(f"{web.url}/search?q=strcpy+overflow")
    desk.user.permits = Answer(True)
    said = await desk.text("search_web", query=" strcpy & overflow ", max_results=3)
    assert web.asked == [{"q": ["strcpy & overflow"], "format": ["json"]}]
    assert said.count("Result") == 3 and "https://x/2" in said and "<U+202E>" in said
    assert len(said) < 3_000


async def test_a_rule_can_allow_the_search_server(desk: Desk, web: SearchServer) -> None:
    desk.rules = [PermissionRule("allow", "search_web", "connect", f"{web.url}/search?*")]
    web.reply = 200, results(0)
    assert "Nothing was found" in await desk.text("search_web", query="x")
    assert desk.user.asked == []


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((403, b""), "search.formats"),
        ((500, b"oops"), "HTTP 500"),
        ((302, b""), "HTTP 302"),
        ((200, b"<html>"), "does not answer as SearXNG"),
        ((200, b"[]"), "does not answer as SearXNG"),
        ((200, b'{"results": 3}'), "does not answer as SearXNG"),
        ((200, b" " * 3_000_000), "more than 2,000,000 bytes"),
    ],
)
async def test_what_a_search_server_does_wrong_is_said(
    desk: Desk, web: SearchServer, reply: Reply, said: str
) -> None:
    desk.user.permits = Answer(True)
    web.reply = reply
    assert said in await desk.refused("search_web", query="x")
    assert len(web.asked) == 1  # a redirection is not followed


async def test_without_a_search_server_it_is_said_what_to_set(
    desk: Desk, web: SearchServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JARVIS_SEARCH_URL")
    said = await desk.refused("search_web", query="x")
    assert "JARVIS_SEARCH_URL" in said and "SearXNG" in said and desk.user.asked == []
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'[search]\nurl = "{web.url}"\n')
    desk.user.permits = Answer(True)
    web.reply = 200, results(1)
    assert "Result 0" in await desk.text("search_web", query="x")
    (home / "config.toml").write_text("[search\n")
    assert "config.toml" in await desk.refused("search_web", query="x")
    for wrong in ("file:///etc/passwd", "ftp://x", "no address"):
        monkeypatch.setenv("JARVIS_SEARCH_URL", wrong)
        assert "not an http or https" in await desk.refused("search_web", query="x")


async def test_a_search_server_that_is_gone_is_said(
    desk: Desk, web: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.user.permits = Answer(True)
    monkeypatch.setenv("JARVIS_SEARCH_URL", "http://127.0.0.1:9")
    assert "cannot be reached" in await desk.refused("search_web", query="x")
    assert (await desk.run("search_web", query=" ")).is_error


PAGE = b"""<html><head><title>no</title><style>x</style></head><body><h1>Title</h1>
<p>First <a href="/next?a=1">more</a> &amp; so on</p><script>evil()</script><ul><li>one<li>two</ul>
<p>\xe2\x80\xaeend</p></body></html>"""


async def test_a_page_is_read_after_consent(desk: Desk, web: SearchServer) -> None:
    web.reply, web.kind = (200, PAGE), "text/html; charset=utf-8"
    address = f"{web.url}/page?x=1"
    assert "Not allowed" in await desk.refused("fetch_web", url=f"{address}#part")
    assert web.asked == []
    assert [action.target for action in desk.user.asked[0].actions] == [address]
    desk.user.permits = Answer(True)
    said = await desk.text("fetch_web", url=address)
    lines = [
        f"(content of {address}; material)",
        "Title",
        f"First more <{web.url}/next?a=1> & so on",
    ]
    assert said.splitlines() == [*lines, "one", "two", "<U+202E>end"]


async def test_a_long_page_is_gone_on_with(desk: Desk, web: SearchServer) -> None:
    desk.rules = [PermissionRule("allow", "fetch_web", "connect", f"{web.url}/*")]
    web.reply, web.kind = (200, b"".join(b"line %d\n" % n for n in range(5_000))), "text/plain"
    said = await desk.text("fetch_web", url=f"{web.url}/long")
    assert "line 0\n" in said and "go on with start 20000" in said and desk.user.asked == []
    said = await desk.text("fetch_web", url=f"{web.url}/long", start=40_000)
    assert "line 4999" in said and "go on" not in said


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        ((302, b""), "text/html", "fetch http://127.0.0.1:9/elsewhere instead"),
        ((404, b""), "text/html", "HTTP 404"),
        ((200, b"\x89PNG"), "image/png", "not a text but image/png"),
        ((200, b""), "text/plain", "has no text"),
    ],
)
async def test_what_is_no_page_is_said(
    desk: Desk, web: SearchServer, reply: Reply, kind: str, said: str
) -> None:
    desk.user.permits = Answer(True)
    web.reply, web.kind = reply, kind
    result = await desk.run("fetch_web", url=f"{web.url}/x")
    assert said in result.text and len(web.asked) == 1  # a redirection is not followed


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "http://me:secret@x/", "no address", "http://169.254.169.254/latest"],
)
async def test_only_addresses_of_the_web_are_read(desk: Desk, web: SearchServer, url: str) -> None:
    desk.user.permits = Answer(True)
    assert "address" in await desk.refused("fetch_web", url=url)


async def test_the_user_is_asked(desk: Desk) -> None:
    assert "No one can be asked" in await desk.refused("ask_user", question="Which?")
    desk.offer(interaction=desk.user)
    desk.user.answer = "the second"
    said = await desk.text("ask_user", question="Which\u202e?", choices=["the first", "the second"])
    assert said == "The user answers: the second"
    assert desk.user.questions == [("Which<U+202E>?", ("the first", "the second"))]
    desk.user.answer = ""
    assert "gave no answer" in await desk.text("ask_user", question="Which?")


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": " "},
        {"question": "x", "choices": ["a", "a"]},
        {"question": "x", "choices": ["a", " "]},
        {"question": "x", "choices": [str(n) for n in range(20)]},
    ],
)
async def test_wrong_questions_are_said(desk: Desk, arguments: dict[str, object]) -> None:
    desk.offer(interaction=desk.user)
    assert (await desk.run("ask_user", **arguments)).is_error and desk.user.questions == []


async def test_the_plan_is_shown_and_replaced(desk: Desk) -> None:
    feed = Feed()
    desk.offer(feed=feed)
    steps = [
        {"text": "read", "state": "done"},
        {"text": "fix", "state": "active"},
        {"text": "test"},
    ]
    said = await desk.text("update_plan", steps=steps)
    assert said == "[x] read\n[>] fix\n[ ] test"
    await desk.text("update_plan", steps=steps[:1])
    (event,) = feed.snapshot("session")
    assert isinstance(event, EntryPut) and event.node == "node"
    assert isinstance(event.entry, PlanEntry) and [s.text for s in event.entry.steps] == ["read"]
    assert "empty" in await desk.text("update_plan", steps=[])


async def test_the_plan_comes_back_with_the_session(desk: Desk, tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(str(desk.root))
    desk.offer(session=session)
    desk.context = replace(desk.context, session=session.id)
    await desk.text("update_plan", steps=[{"text": "read", "state": "done"}])
    session.close()
    again = store.open(session.id)
    plans = [e.entry for e in again.events() if isinstance(e, EntryPut)]
    assert [p.steps[0].text for p in plans if isinstance(p, PlanEntry)] == ["read"]
    again.close()


@pytest.mark.parametrize(
    "steps",
    [
        [{"text": "a", "state": "active"}, {"text": "b", "state": "active"}],
        [{"text": " "}],
        [{"text": "x" * 400}],
        [{"text": "x"}] * 50,
        [{"text": "x", "state": "maybe"}],
        [{"text": "x", "more": 1}],
        3,
    ],
)
async def test_wrong_plans_are_said(desk: Desk, steps: object) -> None:
    feed = Feed()
    desk.offer(feed=feed)
    assert (await desk.run("update_plan", steps=steps)).is_error and feed.snapshot("session") == []


async def test_echo_says_the_same(desk: Desk) -> None:
    assert await desk.text("echo", text="a\n b") == "a\n b"


def test_every_tool_is_found_and_says_what_it_does() -> None:
    found = {one.spec.name: one for one in builtin_tools()}
    expected = {
        "read_code",
        "read_symbols",
        "edit_file",
        "edit_file_free",
        "apply_patch",
        "rewrite_file",
        "echo",
        "search_in_project",
        "list_project_files",
        "read_file_hunk",
        "read_file_info",
        "get_dependencies",
        "search_web",
        "ask_user",
        "update_plan",
    }
    assert expected <= set(found)
    for name in expected:
        spec = found[name].spec
        assert spec.description and "$ref" not in json.dumps(spec.parameters)
        for parameter in spec.parameters["properties"].values():
            is_plain = parameter.get("type") in ("boolean", "integer", "array")
            assert parameter.get("description") or is_plain, name
    writers = {n for n in expected if found[n].proposes}
    assert writers == {"edit_file", "edit_file_free", "rewrite_file", "apply_patch"}


def package(tmp_path: Path, name: str, **modules: str) -> ModuleType:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    import importlib

    return importlib.import_module(name)


TOOL = """
from jarvis_ls.runtime.tools.tool import ToolContext, tool

@tool()
async def {name}(context: ToolContext) -> str:
    '''Do it.'''
    return "{name}"
"""


@pytest.fixture
def importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name: str, **modules: str) -> ModuleType:
        for known in [n for n in sys.modules if n == name or n.startswith(name + ".")]:
            monkeypatch.delitem(sys.modules, known)
        return package(tmp_path, name, **modules)

    return make


def test_adding_a_tool_is_adding_a_file(importing: Callable[..., ModuleType]) -> None:
    made = importing(
        "tools_a",
        one=TOOL.format(name="one"),
        two=TOOL.format(name="two"),
        support="from tools_a.one import one\nVALUE = 3\n",
    )
    assert [t.spec.name for t in tools_of(made)] == ["one", "two"]


def test_a_tool_with_another_name_is_refused(importing: Callable[..., ModuleType]) -> None:
    with pytest.raises(ValueError, match="another name"):
        tools_of(importing("tools_b", one=TOOL.format(name="two")))


def test_a_tool_that_cannot_be_loaded_is_an_error(importing: Callable[..., ModuleType]) -> None:
    with pytest.raises(ModuleNotFoundError):
        tools_of(importing("tools_c", one="import no_such_module_here\n"))


def test_nothing_heavy_is_loaded_with_the_tools() -> None:
    import subprocess

    code = (
        "import sys\nfrom jarvis_ls.tools.discover import builtin_tools\nbuiltin_tools()\n"
        "print([m for m in ('openai', 'anthropic', 'mcp', 'httpx2', 'docker', 'yaml', 're2')"
        " if m in sys.modules])"
    )
    paths = [str(Path(tools.__file__).parents[2])]
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": paths[0]},
    )
    assert ran.stdout.strip() == "[]"
