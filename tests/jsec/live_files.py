"""Documents open in an editor, and what is known of them at the end."""

from __future__ import annotations

from pathlib import Path

from jarvis_ls.jsec.live.documents import LiveDocuments
from jarvis_ls.jsec.live.records import LiveResult


def opened(root: Path, documents: dict[str, str]) -> LiveDocuments:
    live = LiveDocuments()
    live.set_files(str(root), [*documents, "a/sink.h"])
    for path, text in documents.items():
        live.open(path, str(root), path, "c", text, 0)
    return live


def settled(live: LiveDocuments, *uris: str) -> LiveResult:
    """What is known of the last of the documents when all has been followed."""
    for _ in range(200):
        results = [live.analyse(uri) for uri in uris]
        if not any(result.more for result in results):
            return results[-1]
    raise AssertionError("following does not come to an end")
