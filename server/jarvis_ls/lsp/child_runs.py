"""Work in a process of its own that tells how far it is, one JSON object a line.

The process leads a group, so that stopping it ends everything it has started. It says
`{"result": {…}}` or `{"error": text}` as its last.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.process import command_of, end_group, environment
from jarvis_ls.core.words import Words, from_json

if TYPE_CHECKING:
    from jarvis_ls.lsp.pygls_fixes.progress import Work
    from jarvis_ls.lsp.user_messages import Messages

MAX_LINE = 16_000_000
"""Bytes of one line a run may write: its error may hold what a compiler said."""


async def run_child(
    module: str,
    request: Any,
    work: Work,
    take: Callable[[dict[str, Any]], None],
    say: Messages,
    variables: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a module of ours with a record as its argument, and return its result; nothing when
    `work` was cancelled. `take` hears every line.

    Raises `JarvisError` with what went wrong, in the user's language.
    """
    process = await asyncio.create_subprocess_exec(
        *command_of(module, json.dumps(asdict(request))),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**environment(), **(variables or {})},
        limit=MAX_LINE,
        start_new_session=True,  # its group is ended as a whole
    )
    assert process.stdout is not None
    work.on_cancel(lambda: end_group(process))
    last: dict[str, Any] = {}
    try:
        if work.cancelled:
            end_group(process)
        async for line in process.stdout:
            last = json.loads(line)
            take(last)
        await process.wait()
    finally:
        end_group(process)
        await process.wait()
    if work.cancelled:
        return {}
    if "result" in last:
        return dict(last["result"])
    ended = Words("The run ended with status {status}.", status=process.returncode)
    raise JarvisError(say(from_json(last.get("error")) or ended))
