"""Files on disk, scanned in a worker process: read, parse, run the rules, assess."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field

from jarvis_ls.codeintel.facts import Facts
from jarvis_ls.codeintel.headers import MAX_HEADER_BYTES, Headers
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.jsec.assess import assess
from jarvis_ls.jsec.engine import Engine
from jarvis_ls.jsec.project import Project, digest_of
from jarvis_ls.jsec.result import FileReport
from jarvis_ls.jsec.walk import NOT_A_SOURCE

_COLLECT_AFTER = 1_000_000


@dataclass(slots=True)
class _Open:
    project: Project
    places: dict[str, str]
    headers: Headers = field(init=False)

    def __post_init__(self) -> None:
        self.headers = Headers(self._header, self.places)

    def read(self, path: str, limit: int) -> bytes:
        return read_regular(self.places[path], limit=limit, root=self.project.root)

    def _header(self, path: str) -> bytes | None:
        try:
            return self.read(path, MAX_HEADER_BYTES)
        except SkippedFile:  # the scan of that file itself says why it cannot be read
            return None


class DiskFiles:
    """The files of one folder at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._open: _Open | None = None
        self._since_collection = 0

    def set_project(self, project: Project) -> None:
        """From now on `scan` is asked for files of this project."""
        self._open = _Open(project, {one.path: one.location for one in project.files})

    def scan(self, path: str) -> FileReport:
        """Findings of one file of the project, those that comments suppress marked so.

        Raises `SkippedFile` when it cannot be read as a source.
        """
        assert self._open is not None, "set_project comes first"
        raw = self._open.read(path, self._open.project.limit)
        refuse_binary(raw)
        self._collect(len(raw))
        source = decode(path, raw)
        language = language_of(path, source.data)
        if language is None:
            raise SkippedFile(NOT_A_SOURCE)
        context = ""

        def headers(own: Facts) -> tuple[str, Sequence[Facts]]:
            nonlocal context
            assert self._open is not None
            context, facts = self._open.headers.facts_for(path, own)
            return context, facts

        tree = parse(source.data, language)
        analysis = self._engine.analyse(source, language, tree=tree, headers=headers)
        findings = assess(
            source, language, tree, analysis.findings, patterns=self._open.project.patterns
        )
        return FileReport(
            path=path,
            findings=findings,
            notes=tuple(analysis.notes),
            digest=digest_of(raw),
            text_digest=digest_of(source.data),
            includes=analysis.facts.includes,
            context=context,
        )

    def _collect(self, size: int) -> None:
        """Give back the trees of the files before, now and then: they are full of cycles."""
        self._since_collection += size
        if self._since_collection > _COLLECT_AFTER:
            self._since_collection = 0
            gc.collect()


def refuse_binary(raw: bytes) -> None:
    """Raise `SkippedFile` for data: a NUL near the start of what is not UTF-16."""
    if b"\0" in raw[:8192] and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SkippedFile("binary")
