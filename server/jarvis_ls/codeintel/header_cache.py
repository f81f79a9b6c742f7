"""What headers hold, kept by their contents in the folder of the user, so that those of a machine
are cut into declarations once."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import comments, conditions, header_text
from jarvis_ls.codeintel.header_text import Chunk, HeaderText, Template
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, user_folder

_MAX_BYTES = 16_000_000


class HeaderCache:
    """What is kept of headers; without a folder that can be written nothing is."""

    def __init__(self) -> None:
        self._writes = True
        try:
            self._folder = user_folder() / "headers" / _version()
        except (RuntimeError, OSError):  # nobody knows where the user is at home
            self._folder, self._writes = Path(os.devnull), False

    def get(self, digest: str) -> HeaderText | None:
        """Return what the header with that content holds; None when it is not kept."""
        try:
            return _from_json(json.loads(read_regular(self._folder / digest, limit=_MAX_BYTES)))
        except (SkippedFile, ValueError, TypeError, AttributeError, LookupError, RecursionError):
            return None

    def put(self, digest: str, text: HeaderText) -> None:
        """Keep what a header holds."""
        if not self._writes:
            return
        path = self._folder / digest
        beside = path.with_name(f"{digest}.{os.getpid()}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.write_text(json.dumps(_to_json(text), separators=(",", ":")), "utf-8")
            beside.replace(path)
        except OSError:  # the next scan reads the header again
            self._writes = False
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)


@functools.cache
def _version() -> str:
    """Name the code that cuts headers."""
    digest = hashlib.blake2b(digest_size=8)
    for module in (comments, conditions, header_text):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def _to_json(text: HeaderText) -> list[Any]:
    chunks: dict[Chunk, int] = {}
    names = {
        name: [chunks.setdefault(chunk, len(chunks)) for chunk in found]
        for name, found in text.names.items()
    }
    return [
        text.includes,
        [[chunk.text, chunk.is_open] for chunk in chunks],
        names,
        text.macros,
        {
            name: [[macro.parameters, macro.body] for macro in found]
            for name, found in text.function_macros.items()
        },
        sorted(text.undefined),
    ]


def _from_json(values: Any) -> HeaderText:
    includes, written, names, macros, function_macros, undefined = values
    chunks = [Chunk(text, is_open) for text, is_open in written]
    return HeaderText(
        tuple(includes),
        {name: [chunks[at] for at in found] for name, found in names.items()},
        {name: [(body, is_open) for body, is_open in found] for name, found in macros.items()},
        {
            name: [Template(tuple(parameters), body) for parameters, body in found]
            for name, found in function_macros.items()
        },
        set(undefined),
    )
