"""Analysis processes on the workers of a Dask scheduler, for the pool of a scan.

    async with connect("tcp://10.0.0.1:8786") as hosts:
        await scan(listing, settings, effort=Effort(hosts.count, make=hosts.make))

Files that a worker does not have are sent to it, compressed and by digest; the functions that it
keeps of a file come back, and go to the others before values are followed. A worker that is lost is
replaced by another: its work is done again there, with the same result.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jarvis_ls.core.errors import (
    JarvisError,
    SkippedFile,
    UsageError,
    WorkerGone,
    missing_package,
)
from jarvis_ls.core.process import RemoteError
from jarvis_ls.jsec.cluster.host import Host, Reply, version
from jarvis_ls.jsec.flow.program.ir_store import Store
from jarvis_ls.jsec.scan.project import Project, digest_of
from jarvis_ls.jsec.scan.result import FileReport
from jarvis_ls.jsec.scan.source_files import SourceFile
from jarvis_ls.jsec.scan.worker_pool import Introduce

LOCAL = "local:"
"""Begins an address that starts workers on this machine."""
_MOST_LOCAL = 256
_CONNECT_SECONDS = 15
_WAIT_SECONDS = 30
"""How long the scan waits for a worker when all are lost."""
_LOOK_SECONDS = 1.0
_BATCH = 16_000_000
"""Bytes that are sent at once."""


@contextlib.asynccontextmanager
async def connect(address: str) -> AsyncIterator[Hosts]:
    """Connect to the scheduler at an address, or start workers here (`local:N`); at the end nothing
    of the scan is left on the workers.

    Raises `JarvisError` that says what is wrong.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        missing_package(error)
        raise UsageError(
            "--scheduler needs more packages: pip install 'jarvis-ls[cluster]'"
        ) from None

    async with contextlib.AsyncExitStack() as stack:
        target: Any = address
        if address.startswith(LOCAL):
            target = await stack.enter_async_context(
                distributed.LocalCluster(
                    n_workers=_local_count(address),
                    threads_per_worker=1,
                    asynchronous=True,
                    dashboard_address=":0",
                    silence_logs=logging.ERROR,
                )
            )
        try:
            client = await stack.enter_async_context(
                distributed.Client(target, asynchronous=True, timeout=_CONNECT_SECONDS)
            )
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            raise JarvisError(
                "The scheduler at {address} cannot be reached: {why}",
                address=address,
                why=str(error).partition("\n")[0] or "no answer",
            ) from None
        hosts = Hosts(client, address)
        await hosts.count_workers()
        try:
            yield hosts
        finally:
            await hosts.close()


def _local_count(address: str) -> int:
    count = address.removeprefix(LOCAL)
    if not count.isdecimal() or not 0 < int(count) <= _MOST_LOCAL:
        raise UsageError(
            "{address}: give local:N with a number of workers from 1 to {most}",
            address=address,
            most=_MOST_LOCAL,
        )
    return int(count)


class Hosts:
    """The processes of one scan."""

    def __init__(self, client: Any, address: str) -> None:
        """For `connect`."""
        self.client, self.address = client, address
        self.count = 0
        """How many work at once: one for each thread of a worker."""
        self.used: Counter[str] = Counter()
        """Processes by address of their worker."""
        self._made: list[RemoteProcess] = []
        self._project: SharedProject | None = None
        self._sharing = asyncio.Lock()

    async def count_workers(self) -> None:
        """Count the workers. Raises `JarvisError` when there is none."""
        self.count = sum((await self.threads()).values())

    async def threads(self) -> dict[str, int]:
        """Return the threads of each worker. Raises `JarvisError` when none comes in time."""
        try:
            await self.client.wait_for_workers(1, timeout=_WAIT_SECONDS)
            found: dict[str, int] = await self.client.nthreads()
        except (OSError, asyncio.TimeoutError, RuntimeError, ValueError) as error:
            raise self.lost(error) from None
        return found

    def lost(self, error: BaseException) -> JarvisError:
        """Return the error of a scan without workers."""
        return JarvisError(
            "No worker of the scheduler at {address} answers. Each must have the same version of "
            "Jarvis LS. ({why})",
            address=self.address,
            why=str(error).partition("\n")[0] or type(error).__name__,
        )

    def make(self, introduce: Introduce) -> RemoteProcess:
        """Return a process that is not started yet."""
        made = RemoteProcess(self, introduce)
        self._made.append(made)
        return made

    async def place(self) -> str:
        """Return the worker with the most threads that nobody uses."""
        threads = await self.threads()
        return max(threads, key=lambda worker: (threads[worker] - self.used[worker], worker))

    async def share(self, project: Project) -> SharedProject:
        """Return a project with what its files hold; they are read once."""
        async with self._sharing:
            if self._project is None or self._project.project is not project:
                self._project = await asyncio.to_thread(SharedProject, project)
            return self._project

    @property
    def shared(self) -> SharedProject:
        """The project that is scanned."""
        assert self._project is not None
        return self._project

    async def close(self) -> None:
        """End all processes."""
        await asyncio.gather(*(made.kill() for made in self._made))


class SharedProject:
    """A project whose files other machines need."""

    def __init__(self, project: Project) -> None:
        """Read its files; call it off the event loop."""
        self.project = project
        self.store = Store(project.flow) if project.flow is not None else None
        self.digests: dict[str, str] = {}
        """By location."""
        self.unreadable: dict[str, str] = {}
        """By path: why a file is not analysed."""
        for file in project.files:
            if file.given is not None:
                continue
            try:
                self.digests[file.location] = digest_of(file.read(project.limit, project.root))
            except SkippedFile as skipped:
                self.unreadable[file.path] = skipped.reason

    def batches(self, locations: Sequence[str]) -> list[list[str]]:
        """Return locations in parts that may be sent at once."""
        sizes = {file.location: file.size for file in self.project.files}
        return _batches(locations, sizes)

    def packed(self, locations: Sequence[str]) -> dict[str, bytes]:
        """Return files compressed, by digest; those that have changed meanwhile are as they are."""
        chosen = set(locations)
        found = {}
        for file in self.project.files:
            if file.location in chosen:
                with contextlib.suppress(SkippedFile):
                    data = file.read(self.project.limit, self.project.root)
                    found[self.digests[file.location]] = zlib.compress(data, 1)
        return found

    def copied(self, locations: Sequence[str]) -> list[tuple[SourceFile, str]]:
        """Return files with the names of their copies."""
        chosen = set(locations)
        return [(f, self.digests[f.location]) for f in self.project.files if f.location in chosen]


class RemoteProcess:
    """One process on some worker; see `scan.worker_pool.Process`."""

    def __init__(self, hosts: Hosts, introduce: Introduce) -> None:
        """For `Hosts.make`."""
        self._hosts, self._introduce = hosts, introduce
        self._actor: Any = None
        self._worker = ""
        self._starting = asyncio.Lock()
        self._starter: asyncio.Task[Any] | None = None
        self._own: dict[str, str] = {}
        """Functions kept there: the names they have here to those they have there."""
        self._has: set[str] = set()
        """Names under which functions are kept there."""

    @property
    def pid(self) -> int | None:
        """See `Process`."""
        return None if self._actor is None else id(self)

    async def start(self) -> None:
        """See `Process`. Raises `JarvisError` when no worker takes it."""
        async with self._starting:
            if self._actor is not None:
                return
            worker = await self._hosts.place()
            self._hosts.used[worker] += 1
            self._worker, self._own, self._has = worker, {}, set()
            client = self._hosts.client
            try:
                made = client.submit(
                    Host, actor=True, workers=[worker], allow_other_workers=False, pure=False
                )
                self._actor = await self._made(made, worker)
                theirs = await self._actor.version()
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - what came from the other machine
                await self._forget()
                if worker not in await self._hosts.threads():
                    raise WorkerGone(f"{worker} is gone") from None
                raise JarvisError(
                    "The worker {worker} cannot analyse: {why}",
                    worker=worker,
                    why=str(error).partition("\n")[0] or type(error).__name__,
                ) from None
            if theirs != version():
                await self.kill()
                raise JarvisError(
                    "The worker {worker} has another version of Jarvis LS or of Python: install "
                    "the same there as here.",
                    worker=worker,
                )
            self._starter = asyncio.current_task()
            try:
                await self._introduce(self)
            finally:
                self._starter = None

    async def _made(self, future: Any, worker: str) -> Any:
        """Return the actor. Raises `OSError` when its worker ends meanwhile, as one does that lacks
        our modules: nothing is said of the actor then."""
        waiting = asyncio.ensure_future(future.result())
        try:
            while not (await asyncio.wait({waiting}, timeout=_LOOK_SECONDS))[0]:
                if worker not in await self._hosts.client.nthreads():
                    raise OSError("it has ended")
            return waiting.result()
        finally:
            waiting.cancel()

    async def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """See `Process`."""
        if self._actor is None and self._starter is not asyncio.current_task():
            await self.start()
        if method == "set_project":
            return await self._open(arguments[0])
        if method == "set_program":
            await self._bring(arguments[0])
        if method == "scan" and (why := self._hosts.shared.unreadable.get(arguments[0])):
            raise SkippedFile(why)
        reply: Reply = await self._ask("call", method, arguments, timeout)
        answer = self._answer(reply)
        return await self._adopt(answer, reply) if method == "scan" else answer

    async def call_or_retry(
        self, method: str, *arguments: Any, timeout: float | None = None
    ) -> Any:
        """See `Process`."""
        for _ in range(_TRIES):
            try:
                return await self.call(method, *arguments, timeout=timeout)
            except WorkerGone as gone:
                if gone.timed_out:
                    raise
        return await self.call(method, *arguments, timeout=timeout)

    async def kill(self) -> None:
        """See `Process`."""
        if self._actor is not None:
            with contextlib.suppress(WorkerGone):
                await self._ask("close")
        await self._forget()

    async def _forget(self) -> None:
        if self._worker:
            self._hosts.used[self._worker] -= 1
        self._actor, self._worker = None, ""

    async def _ask(self, method: str, *arguments: Any) -> Any:
        """Call the actor. Raises `WorkerGone` when its worker is lost."""
        actor = self._actor
        if actor is None:
            raise WorkerGone("the analysis process did not start")
        try:
            return await getattr(actor, method)(*arguments)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a lost connection raises
            if self._actor is actor:
                await self._forget()
            raise WorkerGone(f"the worker was lost: {type(error).__name__}: {error}") from None

    @staticmethod
    def _answer(reply: Reply) -> Any:
        if reply.state == "skipped":
            raise SkippedFile(reply.value)
        if reply.state == "failed":
            raise RemoteError(reply.value)
        if reply.state != "answer":
            raise WorkerGone(reply.value, timed_out=reply.state == "late")
        return reply.value

    async def _open(self, project: Project) -> Any:
        """Give the process a project, and the files that its machine does not have."""
        shared = await self._hosts.share(project)
        missing = await self._ask("missing", project.root, project.limit, shared.digests)
        for batch in shared.batches(missing):
            await self._ask("copy", await asyncio.to_thread(shared.packed, batch))
        bare = replace(project, flow=project.flow and replace(project.flow, key=b""))
        return self._answer(await self._ask("open", bare, shared.copied(missing)))

    async def _adopt(self, report: FileReport, reply: Reply) -> FileReport:
        """Keep here what the process keeps of the functions of a file."""
        store = self._hosts.shared.store
        if store is None or not reply.functions:
            return replace(report, unit="")
        name = store.name(report.path, report.digest, report.context)
        await asyncio.to_thread(store.put_payload, name, zlib.decompress(reply.functions))
        self._own[name] = report.unit
        return replace(report, unit=name)

    async def _bring(self, units: Mapping[str, str]) -> None:
        """Give the process the functions of all files under the names they have here."""
        store = self._hosts.shared.store
        assert store is not None
        own = {name: self._own[name] for name in units.values() if name in self._own}
        await self._ask("keep", {}, own)
        self._has.update(own)
        batch: dict[str, bytes] = {}
        size = 0
        for name in units.values():
            if name in self._has:
                continue
            payload = await asyncio.to_thread(store.payload, name)
            if payload is None:
                continue
            self._has.add(name)
            batch[name] = zlib.compress(payload, 1)
            size += len(batch[name])
            if size > _BATCH:
                await self._ask("keep", batch, {})
                batch, size = {}, 0
        await self._ask("keep", batch, {})


_TRIES = 3
"""Workers that may be lost during one call."""


def _batches(names: Sequence[str], sizes: Mapping[str, int]) -> list[list[str]]:
    found: list[list[str]] = []
    size = _BATCH
    for name in names:
        if size >= _BATCH:
            found.append([])
            size = 0
        found[-1].append(name)
        size += sizes[name]
    return found
