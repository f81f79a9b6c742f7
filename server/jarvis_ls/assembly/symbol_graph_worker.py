"""Keeps the graph of a workspace up to date with an editor: `python -m` this `ROOT`.

A process of low priority beside the language server, see `core/process.py`. The graph is opened for
each update and only where it is there, so that other programs never wait for long, and one that the
user has deleted is not made again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.serving import serve
from jarvis_ls.core.work_tree import symbols_file

if TYPE_CHECKING:
    from jarvis_ls.codeintel.graph.store import SymbolStore


class _Keeper:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, bytes] = {}
        """Unsaved texts, by path."""

    def update(
        self, written: Iterable[str], unsaved: Mapping[str, str], saved: Iterable[str], listed: bool
    ) -> bool:
        """Bring the graph up to date; return whether there is one.

        `written` are files, `unsaved` the texts of documents by path, `saved` files that no unsaved
        document stands for any more; with `listed`, all files of the folder are looked at.
        """
        from jarvis_ls.assembly.symbol_graph import open_symbols
        from jarvis_ls.codeintel.graph.workspace import sync_files, sync_folder

        for path in saved:
            self._texts.pop(path, None)
        self._texts.update(
            (path, text.encode("utf-8", "replace")) for path, text in unsaved.items()
        )
        if not symbols_file(self._root).is_file():
            return False
        store = open_symbols(self._root)
        try:
            if listed or not sync_files(store, self._root, {*written, *saved}):
                sync_folder(store, self._root)
            with store.changing():
                self._put_unsaved(store)
        finally:
            store.close()
        return True

    def _put_unsaved(self, store: SymbolStore) -> None:
        from jarvis_ls.codeintel.graph.workspace import digest_of, put_file

        for path, data in self._texts.items():
            file = store.file(path)
            if file is not None and file.digest != digest_of(data):
                put_file(store, path, data)


if __name__ == "__main__":
    with contextlib.suppress(AttributeError, OSError):  # Windows has none, a container may forbid
        os.nice(10)
    serve({"update": _Keeper(Path(sys.argv[1])).update})
