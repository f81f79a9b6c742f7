"""The path to a finding, walked as a call hierarchy by any client."""

from __future__ import annotations

import pytest
from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import DOUBLE_FREE, running


async def prepared(editor, uri, position):
    params = types.CallHierarchyPrepareParams(types.TextDocumentIdentifier(uri), position)
    return await editor.client.text_document_prepare_call_hierarchy_async(params) or []


async def test_the_path_is_walked_back_and_forth(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        assert editor.offered.capabilities.call_hierarchy_provider
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        (last,) = await prepared(editor, uri, found.range.start)
        assert (last.uri, last.range.start.line, last.detail) == (uri, 4, "2/2")
        params = types.CallHierarchyIncomingCallsParams(last)
        (call,) = await editor.client.call_hierarchy_incoming_calls_async(params)
        first = call.from_
        assert (first.range.start.line, first.detail) == (
            3,
            "1/2",
        ) and "freed" in first.name.lower()
        params = types.CallHierarchyIncomingCallsParams(first)
        assert not await editor.client.call_hierarchy_incoming_calls_async(params)
        params = types.CallHierarchyOutgoingCallsParams(first)
        (call,) = await editor.client.call_hierarchy_outgoing_calls_async(params)
        assert call.to.range == last.range


@pytest.mark.parametrize("options", [{"trusted": True}, {"trusted": False}])
async def test_our_extension_leaves_calls_to_the_server_of_the_language(tmp_path, options):
    async with running(tmp_path, options=options) as editor:
        assert editor.offered.capabilities.call_hierarchy_provider is None


async def test_elsewhere_there_is_none_and_foreign_data_are_no_harm(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        assert not await prepared(editor, uri, types.Position(0, 0))
        (item,) = await prepared(editor, uri, found.range.start)
        for data in (None, [], [1, 2, 3], [uri, "none", 0], [uri, item.data[1], 99], "text"):
            item.data = data
            params = types.CallHierarchyIncomingCallsParams(item)
            assert not await editor.client.call_hierarchy_incoming_calls_async(params)
