"""The path to a finding as a call hierarchy: who has a view of one can walk the path step by step.

What leads to a step is its incoming call; what it leads to, the outgoing one. Only findings have a
hierarchy here: the calls of other code are the business of the language's own server. VS Code asks
one server alone, so that our extension is not offered this; it has a command that shows the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from jarvis_ls.lsp.convert import contains, to_range, to_steps
from jarvis_ls.lsp.protocol.extensions import FindingStep
from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Answer with the steps of the findings under the cursor."""

    async def prepare(
        params: types.CallHierarchyPrepareParams,
    ) -> list[types.CallHierarchyItem] | None:
        uri = params.text_document.uri
        state = server.findings.get(server.key(uri))
        if state is None:
            return None
        items = [
            _item(steps, len(steps) - 1, [uri, finding.fingerprint])
            for finding in state.active
            if contains(to_range(finding.span), params.position)
            and len(steps := steps_of(uri, finding.fingerprint)) > 1
        ]
        return items or None

    def steps_of(uri: str, fingerprint: str) -> list[FindingStep]:
        key = server.key(uri)
        state = server.findings.get(key)
        for finding in state.active if state is not None else ():
            if finding.fingerprint == fingerprint:
                return to_steps(finding, server.say, lambda file: server.beside(key, file))
        return []

    def neighbour(item: types.CallHierarchyItem, by: int) -> Iterator[types.CallHierarchyItem]:
        uri, fingerprint, number = _reference(item.data)
        steps = steps_of(uri, fingerprint)
        if 0 <= number < len(steps) and 0 <= number + by < len(steps):
            yield _item(steps, number + by, [uri, fingerprint])

    async def incoming(
        params: types.CallHierarchyIncomingCallsParams,
    ) -> list[types.CallHierarchyIncomingCall]:
        return [
            types.CallHierarchyIncomingCall(found, [found.selection_range])
            for found in neighbour(params.item, -1)
        ]

    async def outgoing(
        params: types.CallHierarchyOutgoingCallsParams,
    ) -> list[types.CallHierarchyOutgoingCall]:
        return [
            types.CallHierarchyOutgoingCall(found, [params.item.selection_range])
            for found in neighbour(params.item, 1)
        ]

    server.answer(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, prepare)
    server.answer(types.CALL_HIERARCHY_INCOMING_CALLS, incoming)
    server.answer(types.CALL_HIERARCHY_OUTGOING_CALLS, outgoing)


def _item(steps: list[FindingStep], number: int, finding: list[str]) -> types.CallHierarchyItem:
    """Return a step as an item; its data are the address of the file with the finding, the
    finding's fingerprint and the number of the step."""
    step = steps[number]
    return types.CallHierarchyItem(
        name=step.message,
        detail=f"{number + 1}/{len(steps)}",
        kind=types.SymbolKind.Event,
        uri=step.uri,
        range=step.range,
        selection_range=step.range,
        data=[*finding, number],
    )


def _reference(data: Any) -> tuple[str, str, int]:
    """Return what an item refers to; nothing that is known for data of a client's own making."""
    if isinstance(data, list) and len(data) == 3:
        uri, fingerprint, number = data
        if isinstance(uri, str) and isinstance(fingerprint, str) and type(number) is int:
            return uri, fingerprint, number
    return "", "", -1
