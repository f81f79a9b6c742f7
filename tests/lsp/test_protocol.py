"""The wire protocol: the TypeScript is that of the Python, and messages of clients are taken."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
import pytest_lsp
from lsprotocol import types

from jarvis_ls.lsp.protocol import extensions, typescript
from jarvis_ls.lsp.pygls_fixes import strict
from jarvis_ls.lsp.settings import read_settings
from tests.lsp.wire import wire

CLIENTS = sorted((Path(pytest_lsp.__file__).parent / "clients").glob("*.json"))


def test_the_committed_typescript_is_up_to_date():
    assert typescript.main(["--check"]) == 0


def test_every_field_and_message_is_in_the_typescript():
    text = typescript.generate()
    for params in [*extensions.REQUESTS.values(), extensions.NOTIFICATIONS.values()]:
        for cls in params:
            for field in attrs.fields(cls) if attrs.has(cls) else ():
                assert f"  {extensions.camel_case(field.name)}" in text
    for method in [*extensions.REQUESTS, *extensions.NOTIFICATIONS]:
        assert f"  '{method}':" in text


@pytest.mark.parametrize("file", CLIENTS, ids=lambda file: file.stem)
def test_what_real_clients_send_at_their_start_is_taken(file):
    params = json.loads(file.read_text())
    read = strict.converter().structure(params, types.InitializeParams)
    assert read.capabilities.text_document is not None


def test_values_of_another_type_are_refused():
    converter = strict.converter()
    for value in (None, 1.5, "1", True, -1, [], {}):
        with pytest.raises((ValueError, TypeError)):
            converter.structure({"line": value, "character": 0}, types.Position)


def test_all_server_commands_are_offered_to_every_client():
    with wire() as server:
        answer = server.initialize()["result"]
    assert set(answer["capabilities"]["executeCommandProvider"]["commands"]) == set(
        extensions.SERVER_COMMANDS
    )
    assert answer["serverInfo"]["name"] == "jarvis-ls"
    provided = answer["capabilities"]
    assert provided["positionEncoding"] == "utf-16"
    assert provided["textDocumentSync"]["change"] == 2
    assert "source.fixAll.jarvis" in provided["codeActionProvider"]["codeActionKinds"]
    for name in ("hoverProvider", "codeLensProvider"):
        assert provided[name], name
    assert "diagnosticProvider" not in provided  # to who does not say that it would ask
    assert provided["workspace"]["workspaceFolders"]["supported"]


def test_settings_are_taken_one_by_one():
    complaints: list[str] = []
    read = read_settings(
        {
            "debounce": -5,
            "minConfidence": 7,
            "rules": {"a": "off", "b": "loud"},
            "exclude": ["x"],
            "enable": "yes",
            "maxFileSize": 10**20,
            "other": 1,
        },
        complaints,
    )
    assert (read.debounce, read.min_confidence, read.exclude) == (0, 1.0, ["x"])
    assert read.rules == {} and read.enable is True and read.max_file_size == 1 << 30
    assert sorted(complaints) == ["enable", "rules"]
    assert read_settings(None, complaints) == extensions.Settings()
    assert read_settings({"jarvisLs": {"debounce": 7}}, complaints).debounce == 7
