"""Spans reach a collector the user names, by OpenTelemetry's conventions, and nobody else."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from jarvis_ls.assembly.bootstrap import build
from tests.support.agents import Person
from tests.support.model_server import ModelServer


class Collector:
    """Takes spans over HTTP."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        taken = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                taken.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    @property
    def spans(self) -> list[Any]:
        """All spans, the first to begin first."""
        found = []
        for _, body in self.requests:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                found += [span for scope in resource.scope_spans for span in scope.spans]
        return sorted(found, key=lambda span: span.start_time_unix_nano)


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def attributes(span: Any) -> dict[str, Any]:
    def value(any_value: Any) -> Any:
        kind = any_value.WhichOneof("value")
        if kind == "array_value":
            return [value(inner) for inner in any_value.array_value.values]
        return getattr(any_value, kind)

    return {item.key: value(item.value) for item in span.attributes}


async def work(home: Path, server: ModelServer, settings: str, folder: Path) -> None:
    home.mkdir()
    folder.mkdir()
    (folder / "a.c").write_text("int canary_of_content;\n")
    (home / "config.toml").write_text(
        f'[model_providers.mine]\nbase = "{server.url}"\nenv_keys = ["MINE_KEY"]\n'
        f'[model_groups.balanced]\nmodels = ["mine/m"]\n{settings}'
    )
    environment = {"MINE_KEY": "key-0123456789", "OTLP_TOKEN": "Bearer collector-secret"}
    assembly = build(home=home, environment=environment)
    conversation = await assembly.start(None, [folder], Person(), trusted=True)
    server.call("read_code", {"files": [{"path": "a.c"}, {"path": "none.c"}]})
    server.refuse(503, {"retry-after": "0.01"}, message="busy")
    server.say("Said.")
    assert (await conversation.ask("What is in a.c?")).state == "completed"
    await assembly.close()


async def test_turns_model_calls_and_tool_calls_are_spans(
    tmp_path: Path, collector: Collector
) -> None:
    settings = f'[telemetry]\nendpoint = "{collector.url}"\n'
    settings += 'env_headers = { Authorization = "OTLP_TOKEN" }\n'
    async with ModelServer() as server:
        await work(tmp_path / "home", server, settings, tmp_path / "work")
    spans = collector.spans
    names = ["invoke_agent Jarvis", "chat m", "execute_tool read_code", "chat m", "chat m"]
    assert [span.name for span in spans] == names
    turn, first, tool, busy, _ = spans
    assert {span.parent_span_id for span in (first, tool, busy)} == {turn.span_id}
    facts = attributes(first)
    assert facts["gen_ai.operation.name"] == "chat" and facts["gen_ai.request.model"] == "m"
    assert facts["gen_ai.provider.name"] == "mine" and facts["server.address"] == "127.0.0.1"
    assert (facts["gen_ai.usage.input_tokens"], facts["gen_ai.usage.output_tokens"]) == (11, 7)
    assert facts["gen_ai.usage.cache_read.input_tokens"] == 4
    assert facts["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert attributes(busy)["error.type"] == "ModelBusy" and busy.status.code == 2
    assert attributes(tool)["gen_ai.tool.name"] == "read_code"
    assert attributes(turn)["gen_ai.usage.input_tokens"] == 22
    assert collector.requests[0][0]["authorization"] == "Bearer collector-secret"
    assert b"canary_of_content" not in b"".join(body for _, body in collector.requests)


async def test_what_is_said_is_sent_only_on_request(tmp_path: Path, collector: Collector) -> None:
    settings = f'[telemetry]\nendpoint = "{collector.url}"\ncontent = true\n'
    async with ModelServer() as server:
        await work(tmp_path / "home", server, settings, tmp_path / "work")
    tool = collector.spans[2]
    assert "a.c" in attributes(tool)["gen_ai.tool.call.arguments"]
    assert "canary_of_content" in attributes(tool)["gen_ai.tool.call.result"]
    assert attributes(collector.spans[-1])["gen_ai.output.messages"] == "Said."


async def test_without_the_section_nothing_is_sent(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    async with ModelServer() as server:
        await work(tmp_path / "home", server, "", tmp_path / "work")
    assert collector.requests == []


def test_a_missing_package_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    (tmp_path / "config.toml").write_text('[telemetry]\nendpoint = "http://127.0.0.1:1/"\n')
    problems = build(home=tmp_path, environment={}).problems
    assert any("jarvis-ls[otel]" in str(problem) for problem in problems)


@pytest.mark.parametrize(
    "setting",
    ['endpoint = "ftp://x"', 'content = "yes"', "env_headers = 1", 'headers = { A = "b" }'],
)
def test_settings_that_are_wrong_are_said(tmp_path: Path, setting: str) -> None:
    (tmp_path / "config.toml").write_text(f"[telemetry]\n{setting}\n")
    assert any("[telemetry]" in str(p) for p in build(home=tmp_path, environment={}).problems)
