"""Hover, lenses, rule pages, messages in Chinese: what the user reads."""

from __future__ import annotations

import pytest
from lsprotocol import types

from jarvis_ls.lsp.features.hover import describe
from jarvis_ls.lsp.folders import uri_of
from jarvis_ls.lsp.user_messages import Messages
from tests.lsp.editor import DOUBLE_FREE, running

pytestmark = pytest.mark.watches()

AT_FINDING = types.Position(4, 6)


async def hover(editor, uri, position=AT_FINDING):
    params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
    return await editor.client.text_document_hover_async(params)


async def test_hover_tells_what_is_known_of_a_finding(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        await editor.diagnostics(uri)
        found = await hover(editor, uri)
        text = found.contents.value
        assert "is freed twice." in text and "`double-free`" in text
        assert "[CWE-415](https://cwe.mitre.org/data/definitions/415.html)" in text
        assert "Confidence 0." in text and "free(p);" in text
        assert "allocator" in text, "what the rule's page says about why it is bad"
        assert found.range == types.Range(types.Position(4, 4), types.Position(4, 11))
        assert await hover(editor, uri, types.Position(0, 0)) is None
        assert await hover(editor, uri_of(str(tmp_path / "not-open.c"))) is None


async def test_lenses_count_the_findings_of_each_function(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    text = DOUBLE_FREE + "\nint fine(void) { return 1; }\n\nvoid three(char *p) {\n"
    text += "    free(p);\n    free(p);\n    free(p);\n}\n"
    async with running(tmp_path) as editor:
        editor.open(uri, text)
        await editor.diagnostics(uri)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        lenses = await editor.client.text_document_code_lens_async(params)
        assert [(one.range.start.line, one.command.title) for one in lenses] == [
            (2, "1 finding"),
            (9, "2 findings"),
        ]


async def test_a_click_on_a_lens_goes_to_the_first_finding(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        await editor.diagnostics(uri)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        (lens,) = await editor.client.text_document_code_lens_async(params)
        assert await editor.command(lens.command.command, *lens.command.arguments) is True
        (shown,) = editor.client.shown_documents
        assert (shown.uri, shown.selection.start) == (uri, types.Position(4, 4))
        with pytest.raises(Exception, match="needs a file"):
            await editor.command(lens.command.command, uri)


async def test_rules_and_their_pages(tmp_path):
    async with running(tmp_path) as editor:
        rules = await editor.request("jarvis/rules", {})
        names = [one["id"] for one in rules]
        assert names == sorted(names, key=names.index) and len(set(names)) == len(names)
        assert "double-free" in names and "unused-suppression" in names
        page = await editor.request("jarvis/explainRule", {"rule": "double-free"})
        assert page.markdown.startswith("# ") and "## Why is this bad?" in page.markdown
        link = "https://cwe.mitre.org/data/definitions/415.html"
        assert f"- [CWE-415: Double Free]({link})\n" in page.markdown
        assert await editor.command("jarvis.explainRule", "double-free") == page.markdown
        for wrong in ("no-such-rule", "../../etc/passwd", ""):
            with pytest.raises(Exception, match="Unknown rule"):
                await editor.request("jarvis/explainRule", {"rule": wrong})


@pytest.mark.parametrize("options", [{}, {"locale": "zh-cn"}])
async def test_chinese(tmp_path, options):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options=options, locale="zh-CN") as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        titles = [one.title for one in await editor.actions(uri, found.range)]
        assert "解释 double-free" in titles
        assert found.message.endswith("。") and "。 " not in found.message
        shown = (await hover(editor, uri)).contents.value
        assert "置信度" in shown and "第二次 `free`" in shown
        page = await editor.request("jarvis/explainRule", {"rule": "double-free"})
        assert page.title == "双重释放" and "## 为什么有问题" in page.markdown
        assert "free(p->name);" in page.markdown and "## Why" not in page.markdown


def test_a_finding_cannot_smuggle_markdown_into_the_hover():
    from jarvis_ls.core.finding import Finding, Message, Span

    finding = Finding(
        rule="r",
        language="c/cpp",
        category="c",
        pattern="p",
        cwe=(),
        file="a.c",
        span=Span(1, 1, 1, 2),
        evidence="``` ![x](http://evil) <img src=x> ````",
        message=Message("'{name}'", (("name", "[click](command:evil) <b>"),)),
        suggestion=Message(""),
        confidence=0.5,
        severity="low",
        fingerprint="f",
    )
    text = describe(finding, None, Messages())
    fence = text.splitlines()[4]
    assert fence.startswith("`````") and text.count(fence.rstrip("c")) == 2
    assert "\\[click\\]" in text and "<b>" not in text.replace("\\<b\\>", "")
    assert "Confidence 0.50" in text
    beside = describe(finding, None, Messages(), told=True)  # a diagnostic stands above it
    assert beside.startswith("Confidence 0.50") and "click" not in beside and "```" not in beside
