"""Many agents at once: the editor stays quick, and nothing is lost."""

from __future__ import annotations

import json
import time

from lsprotocol import types

from jarvis_ls.lsp.protocol import panel
from jarvis_ls.lsp.protocol.panel_json import to_wire
from jarvis_ls.runtime.base.event_batch import Batch
from jarvis_ls.runtime.base.events import AnswerEntry, NodeInfo, NodePut
from jarvis_ls.runtime.base.messages import Usage
from tests.lsp.editor import DOUBLE_FREE
from tests.lsp.page import opened
from tests.support.model_server import Answer, ModelServer, chunk, usage

CHUNKS = 3000


async def test_a_flood_of_chunks_arrives_whole_in_few_batches_while_hovers_are_answered(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "twice.c").write_text(DOUBLE_FREE)
    async with ModelServer() as model:
        parts = [f"{n} " for n in range(CHUNKS)]
        model.add(
            Answer([*(chunk({"content": part}) for part in parts), chunk({}, "stop"), usage()])
        )
        async with opened(folder, tmp_path / "home", model) as page:
            uri = (folder / "twice.c").as_uri()
            page.editor.open(uri, DOUBLE_FREE)
            await page.editor.diagnostics(uri)
            await page.attach()
            await page.send("Count")
            while not any(not a.streaming for a in page.entries(AnswerEntry)):
                position = types.Position(4, 5)
                params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
                asked = page.editor.client.text_document_hover_async(params)
                assert await page.editor.soon(asked) is not None
            answer = await page.answered(f"{CHUNKS - 1}")
            assert answer.text.split() == [str(n) for n in range(CHUNKS)]
            grown = [e for b in page.batches for e in b.events if e.kind == "entry_grew"]
            assert 0 < len(grown) < CHUNKS / 2


def test_an_update_of_one_of_two_hundred_agents_costs_what_it_costs_with_twenty():
    """To merge and to write; 2,000 of them come in sixty batches a second."""
    few, many = (min(cost_of_updates(agents) for _ in range(5)) for agents in (20, 200))
    assert many < 4 * few + 0.1


def cost_of_updates(agents: int) -> float:
    """CPU seconds of 2,000 updates."""
    texts = []
    sent: list[object] = []

    def send(events):
        sent.extend(events)
        texts.append(json.dumps(to_wire(panel.PanelEvents(1, tuple(events)))))

    batch = Batch(send)
    updates = [
        NodePut("s", NodeInfo(f"n{n % agents}", "root", "child", "t", "running", usage=Usage(n)))
        for n in range(2000)
    ]
    began = time.process_time()
    for number, update in enumerate(updates):
        batch._merge(update)
        if number % 34 == 0:  # sixty batches
            batch.flush()
    batch.flush()
    cost = time.process_time() - began
    assert len(texts) == 60 and (len(sent) == 2000 or agents < 34)
    return cost
