"""A thousand messages that are wrong: every request is answered, the server lives on."""

from __future__ import annotations

import json
import random
from typing import Any

from lsprotocol import types

from tests.lsp.wire import Wire, wire

URI = "file:///nowhere/a.c"
COUNT = 1_000
VALID: list[tuple[str, Any]] = [
    ("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 1}}),
    (
        "textDocument/codeAction",
        {
            "textDocument": {"uri": URI},
            "range": {
                "start": {"line": 0, "character": 0},
                "end": {"line": 9, "character": 0},
            },
            "context": {"diagnostics": [], "only": ["quickfix"]},
        },
    ),
    ("textDocument/codeLens", {"textDocument": {"uri": URI}}),
    ("textDocument/diagnostic", {"textDocument": {"uri": URI}, "previousResultId": "1"}),
    ("workspace/executeCommand", {"command": "jarvis.explainRule", "arguments": ["double-free"]}),
    ("workspace/executeCommand", {"command": "jarvis.addToBaseline", "arguments": [URI, "f"]}),
    ("workspace/executeCommand", {"command": "jarvis.exportReport", "arguments": ["json", "/x"]}),
    ("jarvis/findings", {}),
    ("jarvis/rules", {}),
    ("jarvis/explainRule", {"rule": "double-free"}),
    (
        "jarvis/suppress",
        {"items": [{"uri": URI, "fingerprint": "f"}], "scope": "line", "reason": "r"},
    ),
    ("jarvis/export", {"format": "sarif", "path": "/nowhere/report.sarif"}),
    ("jarvis/scanWorkspace", {"changedOnly": True}),
]
NOTIFICATIONS: list[tuple[str, Any]] = [
    (
        "textDocument/didOpen",
        {"textDocument": {"uri": URI, "languageId": "c", "version": 1, "text": "int a;"}},
    ),
    (
        "textDocument/didChange",
        {
            "textDocument": {"uri": URI, "version": 2},
            "contentChanges": [
                {
                    "range": {
                        "start": {"line": 0, "character": 0},
                        "end": {"line": 0, "character": 0},
                    },
                    "text": "x",
                }
            ],
        },
    ),
    ("textDocument/didSave", {"textDocument": {"uri": URI}}),
    ("workspace/didChangeConfiguration", {"settings": {"jarvisLs": {"debounce": 1}}}),
    ("workspace/didChangeWatchedFiles", {"changes": [{"uri": URI, "type": 1}]}),
    ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}),
    ("window/workDoneProgress/cancel", {"token": 1}),
    ("$/cancelRequest", {"id": 1}),
    ("$/setTrace", {"value": "off"}),
]
ODD: list[Any] = [
    None,
    True,
    -1,
    1.5,
    2**31,
    2**63,
    10**40,
    "",
    "x" * 1000,
    "\x00",
    "\ud800",
    [],
    {},
    [[]],
    {"uri": 5},
    {"jsonrpc": "2.0"},
    {"jsonrpc": "2.0", "id": 1, "result": 1},
    "file:///etc/passwd",
    "%",
    "file://[",
    {"line": "1", "character": None},
    [None],
    {"": {"": {}}},
]


def spoiled(rng: random.Random, value: Any) -> Any:
    """``value`` with one thing in it replaced, left out or added."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        roll = rng.random()
        if roll < 0.15:
            return {name: one for name, one in value.items() if name != key}
        if roll < 0.25:
            return {**value, rng.choice(["extra", "class", "a-b", "jsonrpc"]): rng.choice(ODD)}
        return {**value, key: spoiled(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        return [spoiled(rng, value[0]), *value[1:]]
    return rng.choice(ODD)


def envelope(rng: random.Random, number: int) -> Any:
    method, params = rng.choice(VALID if rng.random() < 0.8 else NOTIFICATIONS)
    message = {"jsonrpc": "2.0", "method": method, "params": spoiled(rng, params)}
    if method in dict(VALID):
        message["id"] = rng.choice([number, f"n{number}"])
    roll = rng.random()
    if roll < 0.05:
        message["method"] = rng.choice([5, None, [], {}, "", "no/such", "$/no", method.upper()])
    elif roll < 0.08:
        del message["params"]
    elif roll < 0.10:
        message["jsonrpc"] = rng.choice(["1.0", 2, None])
    elif roll < 0.12:
        message["id"] = number  # a notification sent as a request
    return message


def test_a_thousand_malformed_messages():
    rng = random.Random(2026)
    with wire() as server:
        server.initialize()
        server.open(URI, "void f(char *p) { free(p); free(p); }\n")
        asked = []
        for number in range(1, COUNT + 1):
            message = envelope(rng, number)
            server.send(message)
            if "id" in message and message["method"] != types.EXIT:
                asked.append(message)
            if number % 100 == 0:
                for one in asked:
                    answer = server.answer_to(one["id"])
                    assert answer is not None, json.dumps(one)[:300]
                    assert ("result" in answer) != ("error" in answer)
                    assert "Traceback" not in json.dumps(answer)
                asked.clear()
        assert_alive(server)


def test_each_kind_of_message_around_the_protocol():
    bodies = [
        b"[]",
        b"5",
        b'"x"',
        b"null",
        b"{}",
        b"[" * 50_000,
        b'{"a":' * 50_000,
        b"NaN",
        b"\xff",
        b'{"jsonrpc":"2.0","id":null,"method":"jarvis/rules"}',
        b'{"jsonrpc":"2.0","id":[1],"method":"jarvis/rules"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"jarvis/rules"}',
        b'{"jsonrpc":"2.0","id":true,"method":"jarvis/rules"}',
        b'{"jsonrpc":"2.0","id":77,"result":null}',
        b'{"jsonrpc":"2.0","id":{"a":1},"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":78,"error":"broken"}',
        b'{"jsonrpc":"2.0","id":1' + b"0" * 5000 + b',"method":"jarvis/rules"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"jarvis/rules"}]',
    ]
    with wire() as server:
        server.initialize()
        for body in bodies:
            server.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert_alive(server)


def test_null_is_answered_and_does_not_hold_back_the_next_message():
    with wire() as server:
        server.initialize()
        server.raw(b"Content-Length: 4\r\n\r\nnull")
        refused = server.wait_for(lambda message: "id" in message and message["id"] is None)
        assert refused["error"]["code"] == -32600
        assert_alive(server)


def test_requests_before_initialize_are_refused_and_those_after_work():
    with wire() as server:
        assert server.hover(1, URI)["error"]["code"] == -32002
        server.open(URI, "x")
        server.initialize()
        assert_alive(server)


def assert_alive(server: Wire) -> None:
    uri = "file:///nowhere/alive.c"
    server.open(uri, "void f(char *p) { free(p); free(p); }\n")
    params = {"textDocument": {"uri": uri}}
    answer = server.request("alive", "textDocument/diagnostic", params)
    assert [one["code"] for one in answer["result"]["items"]] == ["double-free"]
