"""`jarvis test-repair` where a container engine answers: tests run in a container of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from jarvis_ls.runtime.sandbox.engine import LABEL
from tests.support.code_agent import applied
from tests.support.container_engine import container_engine
from tests.support.repair_bench import MENDED, PYTHON, repair_bench
from tests.support.repositories import write

pytestmark = pytest.mark.watches()

ATTACK = """\
import pathlib
import socket


def test_nothing_outside_is_reached():
    root = pathlib.Path({root!r})
    assert not root.exists() or not (root / ".git").exists()
    try:
        socket.create_connection(("127.0.0.1", {port}), 5)
    except OSError:
        return
    raise AssertionError("there is a network")
"""


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[None]:
    with container_engine() as problem:
        if problem:
            pytest.skip(problem)
        yield


async def test_a_repair_runs_its_tests_in_a_container(tmp_path: Path) -> None:
    async with repair_bench(tmp_path) as bench:
        if "DOCKER_HOST" in os.environ:
            bench.environment["DOCKER_HOST"] = os.environ["DOCKER_HOST"]
        port = int(bench.model.url.rpartition(":")[2].partition("/")[0])
        attack = ATTACK.format(root=str(bench.root), port=port)
        write(bench.root, {"tests/test_attack.py": attack})
        before = bench.state()
        bench.plan(cause="src/money.py", diagnosis="The first price is left out.")
        bench.patch([("src/money.py", "result = 0", "result = 5")])
        bench.patch([MENDED])
        status, out, err = await bench.repair()
        assert status == 0, err
        assert applied(bench.root, out)["src/money.py"] != PYTHON["src/money.py"]
        assert "All tests pass with this patch: 4 of 4" in err
        (analysis,) = [record for record in bench.audit() if record["event"] == "analysis"]
        assert "docker" in str(analysis) or "podman" in str(analysis), analysis
        assert bench.state() == before
    client = docker.from_env()
    try:
        assert client.containers.list(all=True, filters={"label": LABEL}) == []
    finally:
        client.close()
