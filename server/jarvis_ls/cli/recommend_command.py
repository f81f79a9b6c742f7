"""`jca recommend`: where to begin reading for a task."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.errors import UsageError

if TYPE_CHECKING:
    from jarvis_ls.codeintel.graph.recommend import Recommendation


def run_recommend(options: argparse.Namespace) -> ExitStatus:
    """Print the places that a task is about; returns the exit status."""
    from jarvis_ls.assembly.symbol_graph import open_symbols
    from jarvis_ls.codeintel.graph.recommend import recommend
    from jarvis_ls.codeintel.graph.workspace import sync_folder
    from jarvis_ls.core.work_tree import find_work_tree
    from jarvis_ls.jsec.report.text import printable

    try:
        root = find_work_tree(options.folder)
    except UsageError:
        root = Path(os.path.realpath(options.folder))
    if not root.is_dir():
        raise UsageError("{folder} is not a folder", folder=options.folder)
    opened = [
        Path(os.path.relpath(os.path.realpath(path), root)).as_posix() for path in options.open
    ]
    store = open_symbols(root)
    try:
        sync_folder(store, root)
        found = recommend(store, options.words, opened)
    finally:
        store.close()
    if options.format == "json":
        write_out(json.dumps([_to_json(place) for place in found], indent=2, ensure_ascii=False))
        write_out("\n")
    else:
        write_out("".join(f"{printable(line)}\n" for line in _lines(found)))
    return ExitStatus.SUCCESS


def _to_json(place: Recommendation) -> dict[str, object]:
    return {
        "path": place.path,
        "name": place.name,
        "kind": place.kind.name.lower(),
        "line": place.line,
        "end_line": place.end_line,
        "signature": place.signature,
        "score": round(place.score, 4),
        "reasons": [str.__str__(reason) for reason in place.reasons],
    }


def _lines(found: list[Recommendation]) -> Iterator[str]:
    if not found:
        yield speak("No symbol of this folder has a name with these words.")
    for place in found:
        yield f"{place.path}:{place.line}: {place.signature or place.name}"
        yield "  " + "; ".join(speak(reason) for reason in place.reasons)
