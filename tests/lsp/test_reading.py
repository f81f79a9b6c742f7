"""Hover, lenses, rule pages, messages in Chinese: what the user reads."""

from __future__ import annotations

import pytest
from lsprotocol import types

from jarvis_ls.lsp.finding_text import describe, details
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
        assert "of 3 = confidence 0." in text and "free(p);" in text
        assert "\n\nWhat to do: " in text, "the advice is apart from the message"
        assert "allocator" in text, "what the rule's page says about why it is bad"
        assert found.range == types.Range(types.Position(4, 4), types.Position(4, 11))
        assert await hover(editor, uri, types.Position(0, 0)) is None
        assert await hover(editor, uri_of(str(tmp_path / "not-open.c"))) is None


async def test_findings_at_one_place_are_told_one_after_another_with_their_rules(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    text = "#include <stdio.h>\n#include <string.h>\n\nint main(int n, char **v) {\n"
    text += "    char b[8];\n    strcpy(b, gets(b));\n    return n + v[0][0];\n}\n"
    async with running(tmp_path, options={}) as editor:
        editor.open(uri, text)
        rules = {item.code for item in await editor.diagnostics(uri)}
        shown = (await hover(editor, uri, types.Position(5, 15))).contents.value
        blocks = shown.split("\n\n---\n\n")
        assert len(blocks) == 2 and len(rules) == 2
        for block in blocks:
            heading, *rest = block.split("\n\n")
            assert heading.startswith("**") and any(f"`{rule}`" in heading for rule in rules)
            assert sum(part.startswith("What to do: ") for part in rest) == 1


async def test_details_of_a_finding_have_its_path_with_places(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        await editor.diagnostics(uri)
        (item,) = (await editor.request("jarvis/findings", {})).findings
        asked = {"uri": item.uri, "fingerprint": item.fingerprint}
        found = await editor.request("jarvis/finding", asked)
        assert len(found.steps) == item.steps >= 2
        assert [step.uri for step in found.steps] == [uri] * item.steps
        assert found.steps[-1].range.start.line == item.range.start.line
        assert found.steps[0].range.start.line < found.steps[-1].range.start.line
        assert "`double-free`" in found.markdown and "What to do: " in found.markdown
        with pytest.raises(Exception, match="no longer exists"):
            await editor.request("jarvis/finding", {"uri": uri, "fingerprint": "gone"})


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


async def test_our_client_lists_the_findings_of_a_lens(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options={"trusted": False}) as editor:
        editor.open(uri, DOUBLE_FREE.replace("free(p);\n}", "free(p);\n    free(p);\n}"))
        await editor.diagnostics(uri)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        (lens,) = await editor.client.text_document_code_lens_async(params)
        assert lens.command.command == "jarvisLs.peekFindings"
        file, places = lens.command.arguments
        assert (file, [place["start"]["line"] for place in places]) == (uri, [4, 5])


async def test_rules_and_their_pages(tmp_path):
    async with running(tmp_path) as editor:
        rules = await editor.request("jarvis/rules", {})
        names = [one["id"] for one in rules]
        assert names == sorted(names, key=names.index) and len(set(names)) == len(names)
        assert "double-free" in names and "unused-suppression" in names
        page = await editor.request("jarvis/explainRule", {"rule": "double-free"})
        assert page.markdown.startswith("# ") and "## Why is this bad?" in page.markdown
        facts = page.markdown.splitlines()[2]
        for fact in ("`double-free`", "Memory management", "CWE-415", "at most high", "C, C++"):
            assert fact in facts
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
        file="`a` [x](command:evil).c",
        span=Span(1, 1, 1, 2),
        evidence="``` ![x](http://evil) <img src=x> ````",
        message=Message("'{name}'", (("name", "[click](command:evil) <b>"),)),
        suggestion=Message(""),
        confidence=0.5,
        severity="low",
        fingerprint="f",
    )
    text = describe(finding, None, Messages())
    fence = next(line for line in text.splitlines() if line.startswith("```"))
    assert fence.startswith("`````") and text.count(fence.rstrip("c")) == 2
    assert "\\[click\\]" in text and "<b>" not in text.replace("\\<b\\>", "")
    assert "Score 0.50 of 3 = confidence 0.50 × 1 (severity low)" in text
    assert "\\[x\\]" in details(finding, None, Messages(), "")
    beside = describe(finding, None, Messages(), beside=True)  # the editor shows the diagnostic
    assert beside.startswith("`r`") and "click" not in beside and "```" not in beside


CALLER = """#include <stdlib.h>
struct node { struct node *next; int id; };
static struct node *find(struct node *list, int id) {
    for (; list; list = list->next)
        if (list->id == id)
            return list;
    return NULL;
}
int has(struct node *list, int id) { return find(list, id) != NULL; }
"""


@pytest.mark.parametrize(("locale", "said"), [("en", "Returns NULL on"), ("zh-cn", "返回 NULL")])
async def test_hover_over_a_function_tells_what_it_does_to_its_callers(tmp_path, locale, said):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, locale=locale) as editor:
        editor.open(uri, CALLER)
        await editor.diagnostics(uri)
        text = (await hover(editor, uri, types.Position(8, 46))).contents.value
        assert text.startswith("**find** — a.c:3\n\n- ") and said in text
        defined = await hover(editor, uri, types.Position(2, 22))
        assert defined.contents.value == text
        assert await hover(editor, uri, types.Position(8, 53)) is None, "an argument is none"
