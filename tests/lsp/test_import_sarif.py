"""A SARIF log of another tool becomes diagnostics of its own source."""

from __future__ import annotations

import json

import pytest
from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import DOUBLE_FREE, running

pytestmark = pytest.mark.watches()


def result(uri, line, **more):
    region = {"startLine": line, "startColumn": 5, "endColumn": 9}
    place = {"artifactLocation": {"uri": uri}, "region": region}
    return {"ruleId": "r1", "locations": [{"physicalLocation": place}], **more}


def write_log(folder, *results, rules=(), **more):
    driver = {"name": "OtherTool", "rules": list(rules)}
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results, **more}]}
    file = folder / "log.sarif"
    file.write_text(json.dumps(log), encoding="utf-8")
    return str(file)


async def test_results_are_shown_beside_findings_until_they_are_cleared(tmp_path):
    (tmp_path / "a b.c").write_text(DOUBLE_FREE)
    uri = uri_of(str(tmp_path / "a b.c"))
    rules = [{"id": "r1", "messageStrings": {"m": {"text": "Bad {0} of {1}"}}}]
    log = write_log(
        tmp_path,
        result("a%20b.c", 3, level="error", message={"id": "m", "arguments": ["use"]}),
        result("a%20b.c", 4, message={"text": "hidden"}, suppressions=[{"kind": "inSource"}]),
        result("../elsewhere.c", 1, message={"text": "outside"}),
        rules=rules,
    )
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        await editor.diagnostics(uri)
        done = await editor.request("jarvis/importSarif", {"path": log})
        assert (done.tools, done.shown, done.leftOut) == (["OtherTool (SARIF)"], 1, 2)
        await editor.until(lambda: len(editor.client.diagnostics[uri]) == 2)
        (other,) = [one for one in editor.client.diagnostics[uri] if one.source != "jarvis"]
        assert (other.source, other.code) == ("OtherTool (SARIF)", "r1")
        assert other.message == "Bad use of {1}"
        assert other.severity == types.DiagnosticSeverity.Error
        assert other.range == types.Range(types.Position(2, 4), types.Position(2, 8))
        assert await editor.command("jarvis.clearImported") is True
        await editor.until(lambda: len(editor.client.diagnostics[uri]) == 1)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"runs": 3}', "[" * 200_000, "\x00\xff", '{"runs": [3, {"results": [7]}]}'],
)
async def test_what_is_no_log_changes_nothing(tmp_path, text):
    file = tmp_path / "log.sarif"
    file.write_text(text, encoding="latin-1")
    async with running(tmp_path) as editor:
        if text.startswith('{"runs": ['):
            done = await editor.request("jarvis/importSarif", {"path": str(file)})
            assert (done.tools, done.shown) == ([], 0)
        else:
            with pytest.raises(Exception, match="is not a SARIF log"):
                await editor.request("jarvis/importSarif", {"path": str(file)})


async def test_odd_values_do_no_harm(tmp_path):
    (tmp_path / "a.c").write_text(DOUBLE_FREE)
    odd = [
        result("a.c", -5, message={"text": ["x"]}),
        result("a.c", 1 << 80, level=7, message=None, ruleIndex=True),
        result("a.c", 2, message={"id": {}, "arguments": "no"}, rule={"index": 99}),
        {"ruleId": 3, "locations": {"physicalLocation": 1}},
    ]
    log = write_log(tmp_path, *odd, originalUriBaseIds=[1], artifacts={"a": 1})
    async with running(tmp_path) as editor:
        done = await editor.request("jarvis/importSarif", {"path": log})
        assert (done.shown, done.leftOut) == (3, 1)
        with pytest.raises(Exception, match="must be absolute"):
            await editor.request("jarvis/importSarif", {"path": "log.sarif"})


async def test_our_own_report_can_be_read_back(tmp_path):
    (tmp_path / "a.c").write_text(DOUBLE_FREE)
    log = str(tmp_path / "own.sarif")
    async with running(tmp_path) as editor:
        await editor.request("jarvis/scanWorkspace", {})
        await editor.command("jarvis.exportReport", "sarif", log)
        done = await editor.command("jarvis.importSarif", log)
        assert (done["shown"], done["leftOut"]) == (1, 0)
