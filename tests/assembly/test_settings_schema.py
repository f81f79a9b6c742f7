"""The JSON schema of the user's `config.toml`: it lies beside new settings, and accepts what the
readers accept, section by section and key by key."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from jarvis_ls.agents.auto_settings import read_auto_settings
from jarvis_ls.agents.settings import read_tree_settings
from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.assembly.settings import SECTIONS
from jarvis_ls.assembly.settings_file import SCHEMA
from jarvis_ls.assembly.settings_writer import write_model
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.panel.settings import TEMPLATE
from jarvis_ls.runtime.agent.command_hooks import read_hooks
from jarvis_ls.runtime.base.options import read_options
from jarvis_ls.runtime.base.tracing import read_telemetry
from jarvis_ls.runtime.context.central import read_central
from jarvis_ls.runtime.context.rules_files import read_rules_settings
from jarvis_ls.runtime.context.script_tools import read_tool
from jarvis_ls.runtime.llm.providers import read_models
from jarvis_ls.runtime.mcp.config import read_server
from jarvis_ls.runtime.sandbox.reading import read_sandbox
from jarvis_ls.runtime.tools.permissions import read_rules

HERE = Path(__file__).parent
SAMPLES: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "agent": ({"max_rounds": 3}, lambda table: read_options(settings=table, environment={})),
    "agents": ({"parallel": 2, "groups": {"root": "think"}}, read_tree_settings),
    "auto": ({"timeout": 60.0}, read_auto_settings),
    "central": ({"repository": "team"}, lambda table: read_central(table, {})),
    "hooks": (
        [{"event": "before_tool", "command": ["check"]}],
        lambda listed: read_hooks(listed, "settings", sandboxed=False),
    ),
    "mcp_servers": (
        {"files": {"command": "serve files", "env": {"A": "b"}}},
        lambda named: [read_server(name, table, "user", None) for name, table in named.items()],
    ),
    "model_groups": (
        {"balanced": {"models": ["openai/gpt"]}},
        lambda named: read_models({"model_groups": named}, {}),
    ),
    "model_providers": (
        {"office": {"base": "http://localhost:1/v1"}},
        lambda named: read_models({"model_providers": named}, {}),
    ),
    "models": (
        {"openai/gpt": {"window": 1000}},
        lambda named: read_models({"models": named}, {}),
    ),
    "permissions": ([{"effect": "allow"}], lambda listed: read_rules(listed, "settings")),
    "rules": ({"folders": ["a"]}, read_rules_settings),
    "sandbox": ({"rungs": ["bwrap"]}, read_sandbox),
    "scripted_tools": (
        [{"name": "a", "description": "b", "script_type": "shell", "script": "ls"}],
        lambda listed: [read_tool(table, HERE) for table in listed],
    ),
    "telemetry": ({"endpoint": "https://localhost"}, lambda table: read_telemetry(table, {})),
}
"""Of each section with a reader of its own: settings that are right, and the reader."""

VALUES: tuple[Any, ...] = (
    *(True, 0, 1, -1, 7, 0.5, 5.5, 1e12, 10**9, "", "x", "code", "best", "low", "chat", "read"),
    *("http://localhost:1/v1", "after_tool", [], ["x"], [1], ["bwrap"], {}, {"X-A": "b"}),
    *({"A": 1}, {"root": ""}, {"owner": "x"}),
)

LOOSER = {
    ("rules", "central"),  # no leading dash
    ("central", "repository"),
    ("telemetry", "endpoint"),  # an address
    ("model_providers", "base"),  # an address, but for replays
    ("model_groups", "models"),  # names of providers that are known
    ("mcp_servers", "url"),  # either a command or an address
    ("mcp_servers", "command"),
    ("mcp_servers", "env_keys"),  # names of variables
    ("mcp_servers", "header_keys"),
    ("mcp_servers", "cwd"),
    ("scripted_tools", "script"),  # text, or a table with a file
    ("scripted_tools", "parameters"),
    ("scripted_tools", "name"),
    ("model_providers", "name"),  # nobody reads it
}
"""Keys of which the schema leaves something to the reader: it never says more than that."""


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


def test_every_section_that_is_read_has_a_schema() -> None:
    assert set(schema()["properties"]) == SECTIONS
    assert not Draft4Validator(schema()).is_valid({"model_group": {}}), "a misspelt section"


@pytest.mark.parametrize("section", SAMPLES)
def test_the_schema_accepts_what_the_reader_accepts(section: str) -> None:
    sample, read = SAMPLES[section]
    of_section = schema()["properties"][section]
    validator = Draft4Validator(of_section)
    assert validator.is_valid(sample)
    read(sample)
    wrong = []
    for key in _table_of(of_section)["properties"]:
        for value in VALUES:
            settings = copy.deepcopy(sample)
            _innermost(settings)[key] = value
            says, does = validator.is_valid(settings), _accepts(read, settings)
            if says != does and not (says and (section, key) in LOOSER):
                wrong.append((key, value, "schema" if says else "reader"))
    assert wrong == [], repr(wrong)


@pytest.mark.parametrize(
    "section",
    sorted(set(SAMPLES) - {"mcp_servers", "model_groups"}),
)
def test_a_misspelt_key_is_marked(section: str) -> None:
    sample, read = SAMPLES[section]
    settings = copy.deepcopy(sample)
    _innermost(settings)["misspelt"] = 1
    assert not Draft4Validator(schema()["properties"][section]).is_valid(settings)
    assert not _accepts(read, settings)


def test_new_settings_have_the_schema_beside_them(tmp_path: Path) -> None:
    file = write_model(tmp_path, "balanced", "openai/gpt")
    assert file.read_text(encoding="utf-8").startswith("#:schema ./config.schema.json\n")
    assert (tmp_path / "config.schema.json").read_bytes() == SCHEMA.read_bytes()
    assert build(home=tmp_path, environment={}).models.groups == {"balanced": ("openai/gpt",)}


def test_settings_of_the_users_own_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("# mine\n")
    write_model(tmp_path, "balanced", "openai/gpt")
    assert (tmp_path / "config.toml").read_text().startswith("# mine\n")
    assert not (tmp_path / "config.schema.json").exists()


def test_the_template_of_the_editor_names_the_schema() -> None:
    assert TEMPLATE.startswith("#:schema ./config.schema.json\n# Settings of Jarvis")


def _table_of(found: dict[str, Any]) -> dict[str, Any]:
    if found["type"] == "array":
        inner: dict[str, Any] = found["items"]
        return inner
    if "properties" not in found:
        named: dict[str, Any] = found["additionalProperties"]
        return named
    return found


def _innermost(settings: Any) -> dict[str, Any]:
    """Return the table whose keys a section is about."""
    while isinstance(settings, list) or all(isinstance(it, dict) for it in settings.values()):
        settings = settings[0] if isinstance(settings, list) else next(iter(settings.values()))
    found: dict[str, Any] = settings
    return found


def _accepts(read: Callable[[Any], object], settings: Any) -> bool:
    try:
        read(settings)
    except (JarvisError, ValueError):
        return False
    return True
