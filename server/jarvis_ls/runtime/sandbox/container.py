"""One container from its making to its end."""

from __future__ import annotations

import contextlib
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.sandbox.base import Script
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace

TIMEOUT = 30
"""Seconds an engine has to answer."""


class ContainerEngine(Protocol):
    """Where a container runs, as `engine.Engine` is one."""

    def connect(self) -> Any:
        """Return a client of the engine. Raises `JarvisError` when it does not answer."""

    def options(
        self, client: Any, folder: RunFolder, script: Script, places: Sequence[Workplace]
    ) -> dict[str, Any]:
        """Return the options that the container is created with."""


class Container:
    """`run` in a thread, `end` from any."""

    def __init__(
        self,
        engine: ContainerEngine,
        folder: RunFolder,
        script: Script,
        places: Sequence[Workplace],
        hear: Callable[[bytes], None],
    ) -> None:
        """`hear` is given the output as it comes, in the thread of `run`."""
        self._engine = engine
        self._given = (folder, script, places)
        self._hear = hear
        self._container: Any = None
        self._ended = threading.Event()

    def run(self) -> tuple[int, bool]:
        """Exit status, and whether it ran out of memory. Raises `JarvisError`."""
        import docker

        client = self._engine.connect()
        try:
            self._container = client.containers.create(**self._engine.options(client, *self._given))
            return self._follow(client)
        except docker.errors.DockerException as error:
            raise JarvisError("The container engine refused: {why}", why=error) from None
        finally:
            self._remove(client)
            client.close()

    def end(self) -> None:
        """Kill the container, with all in it."""
        self._ended.set()
        if self._container is not None:
            client = self._engine.connect()
            with contextlib.suppress(Exception):
                client.api.kill(self._container.id)
            client.close()

    def _follow(self, client: Any) -> tuple[int, bool]:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        attached = self._container.attach_socket(params=params)
        stream = getattr(attached, "_sock", attached)
        stream.settimeout(None)
        try:
            self._container.start()
            if self._ended.is_set():
                self.end()
            while (head := _exactly(stream, 8)) is not None:
                data = _exactly(stream, struct.unpack(">BxxxL", head)[1])
                self._hear(data or b"")
            result = client.api.wait(self._container.id, timeout=TIMEOUT)
            state = client.api.inspect_container(self._container.id)["State"]
        finally:
            attached.close()  # gives up its hold of the socket, no more
            stream.close()
        return int(result["StatusCode"]), bool(state.get("OOMKilled"))

    def _remove(self, client: Any) -> None:
        with contextlib.suppress(Exception):
            if self._container is not None:
                client.api.remove_container(self._container.id, force=True, v=True)
        folder, _, places = self._given
        for number, place in enumerate(places):
            if not place.is_copy:
                with contextlib.suppress(Exception):
                    client.api.remove_volume(f"{folder.path.name}-{number}", force=True)


def _exactly(stream: Any, size: int) -> bytes | None:
    """So many bytes; None when the stream ends first."""
    data = b""
    while len(data) < size:
        try:
            more = stream.recv(size - len(data))
        except OSError:
            return None
        if not more:
            return None
        data += more
    return data
