"""Many agents at once: the editor stays quick, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from lsprotocol import types

from jarvis_ls.lsp import panel_protocol as panel
from jarvis_ls.lsp.panel_wire import to_wire
from jarvis_ls.runtime.events import AnswerEntry
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
            slowest = 0.0
            while not any(not a.streaming for a in page.entries(AnswerEntry)):
                began = time.monotonic()
                position = types.Position(4, 5)
                params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
                hover = await asyncio.wait_for(
                    page.editor.client.text_document_hover_async(params), 20
                )
                slowest = max(slowest, time.monotonic() - began)
                assert hover is not None
            answer = await page.answered(f"{CHUNKS - 1}")
            assert answer.text.split() == [str(n) for n in range(CHUNKS)]
            grown = [e for b in page.batches for e in b.events if e.kind == "entry_grew"]
            assert 0 < len(grown) < CHUNKS / 2
            assert slowest < 10  # seconds: it is answered at all while the flood lasts


def test_two_hundred_agents_ten_times_a_second_are_a_small_part_of_a_second(tmp_path: Path):
    """What 2,000 updates cost to merge and to write, as a share of the second they come in."""
    from jarvis_ls.lsp.panel_batch import Batch
    from jarvis_ls.runtime.events import NodeInfo, NodePut
    from jarvis_ls.runtime.messages import Usage

    sent = 0
    texts = []

    def send(events):
        nonlocal sent
        sent += len(events)
        texts.append(json.dumps(to_wire(panel.PanelEvents(1, tuple(events)))))

    batch = Batch(send)
    updates = [
        NodePut("s", NodeInfo(f"n{n % 200}", "root", "child", "t", "running", usage=Usage(n)))
        for n in range(2000)
    ]
    began = time.process_time()
    for number, update in enumerate(updates):
        batch._merge(update)
        if number % 34 == 0:  # sixty batches
            batch.flush()
    batch.flush()
    cost = time.process_time() - began
    assert sent == 2000 and len(texts) == 60
    assert cost < 1.0
