"""What runs on a machine of the cluster: one analysis process behind a Dask actor.

The actor only passes messages on. Files that are too much for their time, or crash the analysis,
cost that process alone, as on one machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import shutil
import signal
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_bytes
from typing import Any, Literal

from jarvis_ls.core.errors import SkippedFile, WorkerGone
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.process import RemoteError, Worker
from jarvis_ls.jsec.flow.program.ir_store import Store, StoreFolder
from jarvis_ls.jsec.scan.cache import engine_version
from jarvis_ls.jsec.scan.project import Project, digest_of
from jarvis_ls.jsec.scan.source_files import SourceFile
from jarvis_ls.jsec.scan.worker_pool import WORKER


def version() -> str:
    """Return what must be the same here and there: what is kept of functions is not portable."""
    return f"{engine_version()} Python {'.'.join(platform.python_version_tuple()[:2])}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a call."""

    state: Literal["answer", "skipped", "failed", "gone", "late"]
    """`gone` and `late` end the process: by itself, or because its time was up."""
    value: Any = None
    """The answer, or why there is none."""
    functions: bytes = b""
    """After a scan: what is kept of the file's functions, compressed."""


class Host:
    """The actor."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="jsec-host-"))
        self._place = StoreFolder(
            str(self._folder / "functions"), token_bytes(32), engine_version(), lasting=False
        )
        self._store = Store(self._place)
        self._copies = self._folder / "files"
        self._copies.mkdir()
        self._worker = Worker(WORKER)

    def version(self) -> str:
        """Return what analyses here."""
        return version()

    async def missing(self, root: str, limit: int, digests: Mapping[str, str]) -> list[str]:
        """Return which files (by location, with their digests) this machine does not have."""
        return await asyncio.to_thread(self._missing, root, limit, digests)

    @staticmethod
    def _missing(root: str, limit: int, digests: Mapping[str, str]) -> list[str]:
        missing = []
        for location, digest in digests.items():
            try:
                same = digest_of(read_regular(location, limit=limit, root=root)) == digest
            except SkippedFile:
                same = False
            if not same:
                missing.append(location)
        return missing

    async def copy(self, files: Mapping[str, bytes]) -> None:
        """Keep compressed files by the names of their copies."""
        await asyncio.to_thread(self._copy, files)

    def _copy(self, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            (self._copies / name).write_bytes(zlib.decompress(data))

    async def open(self, project: Project, copied: Sequence[tuple[SourceFile, str]]) -> Reply:
        """Scan files of this project from now on; the files of `copied`, with the names of their
        copies, are read from these."""
        files = {file.path: file for file in project.files}
        for file, name in copied:
            place, folder = str(self._copies / name), str(self._copies)
            files[file.path] = replace(file, location=place, folder=folder)
        here = replace(
            project,
            files=tuple(files.values()),
            flow=self._place if project.flow is not None else None,
        )
        return await self.call("set_project", (here,), None)

    async def keep(self, functions: Mapping[str, bytes], own: Mapping[str, str]) -> None:
        """Keep functions of files under these names; `own` are those scanned here, with the names
        they have here."""
        await asyncio.to_thread(self._keep, functions, own)

    def _keep(self, functions: Mapping[str, bytes], own: Mapping[str, str]) -> None:
        for name, data in functions.items():
            self._store.put_payload(name, zlib.decompress(data))
        for name, here in own.items():
            payload = self._store.payload(here)
            if payload is not None:
                self._store.put_payload(name, payload)

    async def call(self, method: str, arguments: Sequence[Any], seconds: float | None) -> Reply:
        """Call a method of the analysis process."""
        try:
            answer = await self._worker.call(method, *arguments, timeout=seconds)
        except WorkerGone as gone:
            return Reply("late" if gone.timed_out else "gone", str.__str__(str(gone)))
        except SkippedFile as skipped:
            return Reply("skipped", skipped.reason)
        except RemoteError as error:
            return Reply("failed", str.__str__(str(error)))
        functions = b""
        if method == "scan" and answer.unit:
            payload = await asyncio.to_thread(self._store.payload, answer.unit)
            functions = zlib.compress(payload, 1) if payload is not None else b""
        return Reply("answer", answer, functions)

    async def close(self) -> None:
        """End the process and remove what was kept."""
        await self._worker.kill()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def __del__(self) -> None:
        """Do the same where nobody has: whoever scanned is gone."""
        with contextlib.suppress(AttributeError, OSError):  # it was not made whole, or has ended
            if self._worker.pid is not None:
                os.killpg(self._worker.pid, signal.SIGKILL)
            shutil.rmtree(self._folder, ignore_errors=True)
