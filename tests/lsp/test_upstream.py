"""Each fault of pygls 2.1 that we replace: plain pygls has it, our server has not.

When a test fails on the plain side, upstream has mended the fault: delete our override, which
names this behaviour, and the test.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.wire import PLAIN, Wire, wire
from tests.support.patience import HANGS

pytestmark = pytest.mark.watches()

OURS = (sys.executable, str(Path(__file__).with_name("our_server.py")))
URI = "file:///nowhere/a.c"
PLAIN_SECONDS = 2.0
"""For an answer that pygls by itself does not give."""


def text_of(server: Wire, msg_id: Any = "text", uri: str = URI) -> Any:
    answer = server.hover(msg_id, uri)
    result = (answer or {}).get("result")
    return result and result["contents"]


def insert(line: int, character: int, text: str) -> dict[str, Any]:
    position = {"line": line, "character": character}
    return {"range": {"start": position, "end": position}, "text": text}


def one_future_a_change(server: Wire) -> bool:
    server.open(URI, "a")
    for version in range(2, 52):
        server.change(URI, version, insert(0, 0, "x"))
    return server.request("s", "plain/state", {}, HANGS)["result"]["futures"] < 5


def lines_end_where_lsp_says(server: Wire) -> bool:
    server.open(URI, "a\fb\u2028c\x85d\ne")
    server.change(URI, 2, insert(1, 0, "!"))
    return text_of(server) == "a\fb\u2028c\x85d\n!e"


def bad_parameters_are_answered(server: Wire) -> bool:
    answer = server.request(7, "textDocument/hover", {"nonsense": 1})
    return answer is not None and answer["error"]["code"] == -32602


def a_bad_position_is_answered(server: Wire) -> bool:
    params = {"textDocument": {"uri": URI}, "position": {"line": -1, "character": "x"}}
    answer = server.request(7, "textDocument/hover", params)
    return answer is not None and answer["error"]["code"] == -32602


def a_method_that_is_a_number_is_answered(server: Wire) -> bool:
    server.send({"jsonrpc": "2.0", "id": 7, "method": 5, "params": {}})
    answer = server.answer_to(7)
    return answer is not None and answer["error"]["code"] == -32600


def a_request_after_shutdown_is_answered(server: Wire) -> bool:
    server.request("s", "shutdown")
    answer = server.hover(7, URI)
    return answer is not None and answer["error"]["code"] == -32600


def a_notification_sent_as_a_request_is_answered(server: Wire) -> bool:
    answer = server.request(7, "textDocument/didClose", {"textDocument": {"uri": URI}})
    return answer is not None and answer["error"]["code"] == -32600


def files_of_the_disk_are_not_read(server: Wire) -> bool:
    return not text_of(server, uri="file:///tmp/../etc/passwd")


def a_header_in_lower_case_is_read(server: Wire) -> bool:
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "plain/state", "params": {}}).encode()
    server.raw(b"content-length: %d\r\n\r\n" % len(body) + body)
    return server.answer_to(7) is not None and text_after(server)


def a_length_too_small_is_survived(server: Wire) -> bool:
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "plain/state", "params": {}}).encode()
    server.raw(b"Content-Length: %d\r\n\r\n" % (len(body) - 9) + body)
    return text_after(server)


def a_length_too_large_is_survived(server: Wire) -> bool:
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "plain/state", "params": {}}).encode()
    server.raw(b"Content-Length: %d\r\n\r\n" % (len(body) + 9) + body)
    return server.answer_to(7) is not None and text_after(server)


def a_negative_length_is_survived(server: Wire) -> bool:
    server.raw(b"Content-Length: -5\r\n\r\n{}")
    return text_after(server)


def a_huge_length_is_survived(server: Wire) -> bool:
    server.raw(b"Content-Length: 1000000000000\r\n\r\n{}")
    return text_after(server)


def a_second_initialize_keeps_the_documents(server: Wire) -> bool:
    server.open(URI, "kept")
    server.request(8, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    return text_of(server) == "kept"


def text_that_is_null_is_refused(server: Wire) -> bool:
    item = {"uri": URI, "languageId": "c", "version": 1, "text": None}
    server.notify("textDocument/didOpen", {"textDocument": item})
    return text_of(server) != "None"


def positions_are_whole_numbers(server: Wire) -> bool:
    server.open(URI, "ab")
    server.change(URI, 2, insert(0, 1.5, "!"))  # type: ignore[arg-type]
    return text_of(server) == "ab"


def versions_go_forward(server: Wire) -> bool:
    server.open(URI, "ab", version=5)
    server.change(URI, 4, insert(0, 0, "!"))
    return text_of(server) == "ab"


def nested_json_rpc_is_data(server: Wire) -> bool:
    params = {"inner": {"jsonrpc": "2.0", "id": 1, "result": 5}}
    return server.request(7, "plain/state", params) is not None


def stray_output_stays_out_of_the_stream(server: Wire) -> bool:
    server.open(URI, "text")
    server.hover(7, URI, line=99)
    return b"stray" not in server.received


def a_cancelled_command_stops(server: Wire) -> bool:
    slow = {"command": "plain/slow", "arguments": []}
    server.send({"jsonrpc": "2.0", "id": 7, "method": "workspace/executeCommand", "params": slow})
    server.notify("$/cancelRequest", {"id": 7})
    server.request(8, "workspace/executeCommand", slow, HANGS)  # ends after the first would have
    done = [one for one in server.seen if one.get("method") == "plain/slowIsDone"]
    return len(done) == 1


def a_request_taken_back_before_its_turn_is_not_worked_on(server: Wire) -> bool:
    server.send({"jsonrpc": "2.0", "id": 7, "method": "plain/work", "params": {"seconds": 0.3}})
    server.send({"jsonrpc": "2.0", "id": 8, "method": "plain/work", "params": {"seconds": 0}})
    server.notify("$/cancelRequest", {"id": 8})
    return server.request("s", "plain/state", {}, HANGS)["result"]["worked"] == 1


def positions_are_utf16_whatever_the_client_prefers(server: Wire) -> bool:
    return server.first["result"]["capabilities"]["positionEncoding"] == "utf-16"  # type: ignore[attr-defined]


def no_traceback_in_answers(server: Wire) -> bool:
    answer = server.hover(7, "file:///a\x00b/../../etc/passwd")
    return "Traceback" not in json.dumps(answer) and "File " not in json.dumps(answer)


def text_after(server: Wire) -> bool:
    """Whether the server still listens and answers."""
    server.open(URI, "alive")
    return bool(text_of(server, "after") == "alive")


CASES: list[Callable[[Wire], bool]] = [
    one_future_a_change,
    lines_end_where_lsp_says,
    bad_parameters_are_answered,
    a_bad_position_is_answered,
    a_method_that_is_a_number_is_answered,
    a_request_after_shutdown_is_answered,
    a_notification_sent_as_a_request_is_answered,
    files_of_the_disk_are_not_read,
    a_header_in_lower_case_is_read,
    a_length_too_small_is_survived,
    a_length_too_large_is_survived,
    a_negative_length_is_survived,
    a_huge_length_is_survived,
    a_second_initialize_keeps_the_documents,
    text_that_is_null_is_refused,
    positions_are_whole_numbers,
    versions_go_forward,
    nested_json_rpc_is_data,
    stray_output_stays_out_of_the_stream,
    a_cancelled_command_stops,
    a_request_taken_back_before_its_turn_is_not_worked_on,
    positions_are_utf16_whatever_the_client_prefers,
    no_traceback_in_answers,
]


def outcome(command: tuple[str, ...], case: Callable[[Wire], bool], patience: float) -> bool:
    with wire(command, patience=patience) as server:
        server.first = server.initialize()  # type: ignore[attr-defined]
        return case(server)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_ours_has_not_the_fault(case):
    assert outcome(OURS, case, HANGS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_pygls_still_has_the_fault(case):
    try:
        healthy = outcome(PLAIN, case, PLAIN_SECONDS)
    except BrokenPipeError:  # it ended
        healthy = False
    assert not healthy, f"upstream has mended: {case.__name__}. Delete our override and this test"
