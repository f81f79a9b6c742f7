"""A Chinese editor with a model: what is said of faults, budgets, permissions and commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jarvis_ls.lsp.protocol import panel
from jarvis_ls.runtime.base.events import NoticeEntry, ToolEntry
from tests.lsp.page import Page, opened
from tests.support.model_server import ModelServer

HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"\b(?:the|is|are|was|were|and|not|with|this|that|has|have|which)\b", re.I)
PERMISSIONS = '[[permissions]]\neffect = "deny"\ntarget = "secret*"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    (made / "a.c").write_text("int a;\n")
    (made / "secret.txt").write_text("x\n")
    return made


def chinese(text: str) -> str:
    """The text, which holds Chinese words and no English sentence."""
    assert HAN.search(text), text
    assert not ENGLISH.search(text), text
    return text


def notices(page: Page) -> str:
    return "\n".join(entry.text for entry in page.entries(NoticeEntry))


async def test_a_wrong_key_is_told_in_chinese(folder: Path, tmp_path: Path) -> None:
    async with ModelServer() as model:
        model.refuse(401, message="bad key")
        async with opened(folder, tmp_path / "home", model, locale="zh-cn") as page:
            await page.attach()
            await page.send("hi")
            await page.rest()
            said = chinese(notices(page))
            assert "API 密钥被拒绝（HTTP 401）：bad key" in said and "SCRIPTED_KEY" in said
            assert chinese(page.nodes()["root"].error) == said


async def test_a_budget_is_asked_for_in_chinese_and_the_answer_is_understood(
    folder: Path, tmp_path: Path
) -> None:
    async with ModelServer() as model:
        model.say("Within it.")
        async with opened(
            folder, tmp_path / "home", model, settings="[agents]\ntokens = 100\n", locale="zh-cn"
        ) as page:
            await page.attach()
            await page.send("hi")
            question = await page.questioned()
            chinese(question.text)
            assert "预算" in question.text and question.choices[1] == "不设上限继续"
            assert all(map(chinese, question.choices))
            await page.ask(panel.AnswerAsk(page.session, question.id, question.choices[1]))
            await page.answered("Within it.")


async def test_permissions_are_asked_and_refused_in_chinese(folder: Path, tmp_path: Path) -> None:
    async with ModelServer() as model:
        model.call("read_code", {"files": [{"path": str(tmp_path / "outside.c")}]})
        model.call("read_code", {"files": [{"path": "secret.txt"}]})
        model.say("I may not.")
        async with opened(
            folder, tmp_path / "home", model, settings=PERMISSIONS, locale="zh-cn"
        ) as page:
            await page.attach()
            await page.send("read them")
            asked = await page.asked()
            assert asked.reason == "它位于工作区之外。"
            await page.ask(panel.PermitAsk(page.session, asked.id, False))
            await page.answered("I may not.")
            first, second = page.entries(ToolEntry)
            assert first.reason == "它位于工作区之外。 用户不允许。"
            assert second.reason == "有权限规则拒绝：secret*"
            assert all("不允许，未执行任何操作。" in tool.output for tool in (first, second))
        told = str(model.requests[-1].body["messages"])
        assert "Not allowed; nothing was done." in told and not HAN.search(
            told.partition("'role': 'tool'")[2]
        )  # the model reads English


async def test_commands_and_wrong_use_answer_in_chinese(folder: Path, tmp_path: Path) -> None:
    async with opened(folder, tmp_path / "home", locale="zh-cn") as page:
        await page.attach()
        for command in (
            "/status",
            "/model",
            "/memory",
            "/title",
            "/tasks",
            "/nothing",
            "/help",
            "/skills",
            "/servers",
            "/rules",
            "/save",
            "/sessions",
        ):
            before = len(page.entries(NoticeEntry))
            await page.send(command)
            await page.until(lambda n=before: len(page.entries(NoticeEntry)) > n)  # type: ignore[misc]
            chinese(page.entries(NoticeEntry)[-1].text)
        await page.send("see @src/none.c")
        await page.until(lambda: "未配置模型" in notices(page))


async def test_what_a_page_asks_wrongly_is_refused_in_chinese(folder: Path, tmp_path: Path) -> None:
    async with opened(folder, tmp_path / "home", locale="zh-cn") as page:
        await page.attach()
        with pytest.raises(Exception, match="没有会话"):
            await page.ask(panel.ExportAsk("01990000-0000-7000-8000-000000000000"))


async def test_results_of_tools_are_shown_in_chinese_and_told_in_english(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "long.c").write_text("int f(void) {\n" + "    f();\n" * 40 + "}\n")
    calls = {
        "read_code": {"files": [{"path": "long.c", "start_line": 3, "end_line": 4}]},
        "read_file_hunk": {"file_path": "long.c", "start_line": 1, "end_line": 2},
        "read_file_info": {"file_path": "long.c"},
        "list_project_files": {"pattern": "*.none"},
        "search_in_project": {"query": "f()"},
        "read_symbols": {"names": ["f"]},
        "get_dependencies": {"path": "long.c"},
        "save_memory": {"memory_type": "short_term", "content": "f calls f", "tags": ["f"]},
        "retrieve_memory": {"tags": ["none"]},
        "rewrite_file": {"file_path": "new.c", "content": "int a;\nint b;\n"},
        "update_plan": {"steps": []},
    }
    settings = '[[permissions]]\neffect = "allow"\nkind = "write"\n'
    async with ModelServer() as model:
        for name, arguments in calls.items():
            model.call(name, arguments)
        model.say("Seen.")
        async with opened(
            folder, tmp_path / "home", model, settings=settings, locale="zh-cn"
        ) as page:
            await page.attach()
            await page.send("look at f")
            await page.answered("Seen.")
            for entry in page.entries(ToolEntry):
                assert entry.state == "done", entry
                chinese(entry.output)
        results = [m for m in model.requests[-1].body["messages"] if m["role"] == "tool"]
        assert len(results) == len(calls)
        assert not HAN.search(str(results))
