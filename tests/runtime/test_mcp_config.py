"""Settings of tool servers: every known spelling is read, a workspace never weakens the user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ls.runtime.mcp.config import configured_servers, prefix_of, read_server
from jarvis_ls.runtime.mcp.definitions import Definition, read_definitions
from jarvis_ls.runtime.mcp.toolset import McpServers, mcp_servers
from jarvis_ls.runtime.tools.consent import Consents
from tests.support.properties import examples


def read(table: Any, origin: Any = "user") -> Any:
    return read_server("s", table, origin, None)


@pytest.mark.parametrize(
    ("table", "command"),
    [
        (
            {"transport": {"type": "stdio", "command": "npx -y 'a b' /x"}},
            ("npx", "-y", "a b", "/x"),
        ),
        ({"command": "npx", "args": ["-y", "a b"]}, ("npx", "-y", "a b")),
        ({"command": ["run", "$HOME; rm -rf /"]}, ("run", "$HOME; rm -rf /")),
        ({"command": "/opt/my server", "args": []}, ("/opt/my server",)),
    ],
)
def test_a_command_is_words_and_never_a_shell_line(table: Any, command: tuple[str, ...]) -> None:
    assert read(table).command == command


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "either a command or a url"),
        ({"command": "x", "url": "https://e.example"}, "either"),
        ({"command": "x 'y"}, "command"),
        ({"command": 3}, "command"),
        ({"command": ["a\0b"]}, "NUL"),
        ({"command": "x", "args": "y"}, "list"),
        ({"command": "x", "env": {"A": 1}}, "env"),
        ({"command": "x", "env": {"A": "1\n2"}}, "single lines"),
        ({"command": "x", "env_keys": ["A-B"]}, "variable"),
        ({"command": "x", "enabled": "yes"}, "enabled"),
        ({"command": "x", "timeout": -1}, "seconds"),
        ({"command": "x", "timeout": True}, "seconds"),
        ({"command": "x", "tool_timeout_secs": 1e9}, "seconds"),
        ({"command": "x", "surprise": 1}, "surprise"),
        ({"url": "file:///etc/passwd"}, "http"),
        ({"url": "javascript:alert(1)"}, "http"),
        ({"url": "http://e.example/mcp", "header_keys": {"A": "B"}}, "https"),
        ({"url": "https://u:p@e.example/mcp"}, "password"),
        ({"url": "https://[::1/mcp"}, "url"),
        ({"url": "https://e.example", "headers": {"A": "b\r\nX: y"}}, "single lines"),
        ({"transport": "stdio"}, "transport"),
        (3, "not a table"),
    ],
)
def test_what_is_wrong_is_said(table: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(table)


def test_a_workspace_gets_nothing_of_the_users_environment() -> None:
    wanted = ["OPENAI_API_KEY"]
    for table in (
        {"command": "x", "env_keys": wanted},
        {"url": "https://e.example", "header_keys": {"A": wanted[0]}},
    ):
        with pytest.raises(ValueError, match="nothing from the user"):
            read(table, "workspace")
    with pytest.raises(ValueError, match="https"):
        read({"url": "http://e.example/mcp"}, "workspace")
    assert read({"command": "x", "env": {"A": "$OPENAI_API_KEY"}}).env == (
        ("A", "$OPENAI_API_KEY"),
    )


def test_every_place_and_spelling_is_read(tmp_path: Path) -> None:
    home, root = tmp_path / "h", tmp_path / "r"
    (home / "mcp").mkdir(parents=True)
    (root / ".jarvis").mkdir(parents=True)
    (home / "mcp.toml").write_text('[mcp_servers.one]\ncommand = "a"\nenabled = false\n')
    (home / "mcp" / "two.yaml").write_text("- name: two\n  command: b\n  type: stdio\n")
    (home / "mcp" / "three.json").write_text('{"mcpServers": {"three": {"url": "https://x"}}}')
    (tmp_path / "env.yaml").write_text("name: four\ncommand: d\nenable: false\n")
    (root / ".jarvis/mcp.yaml").write_text("five: {command: e}\n")
    (root / ".mcp.json").write_text('{"mcpServers": {"six": {"command": "f"}}}')
    found = configured_servers(
        home,
        [root],
        trusted=True,
        settings={"zero": {"command": "z"}},
        environment={"JARVIS_MCP": str(tmp_path / "env.yaml")},
    )
    assert not found.problems
    assert [(s.name, s.origin, s.enabled) for s in found.servers] == [
        ("zero", "user", True),
        ("one", "user", False),
        ("three", "user", True),
        ("two", "user", True),
        ("four", "user", False),
        ("five", "workspace", True),
        ("six", "workspace", True),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "- 1\n- 2",
        "a: &x [*x]",
        "a: " + "[" * 200,
        "x",
        "3",
        "\xff",
        "- name: [1]",
        "mcp_servers: 4",
        "!!python/object/apply:os.system ['echo']",
    ],
)
def test_files_that_cannot_be_understood_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "mcp.yaml").write_bytes(text.encode("latin-1"))
    (tmp_path / "mcp.toml").write_text('[mcp_servers.good]\ncommand = "x"\n')
    found = configured_servers(tmp_path, environment={})
    assert [s.name for s in found.servers] == ["good"] and found.problems
    assert "mcp.yaml" in found.problems[0]


def test_links_out_of_a_workspace_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    (tmp_path / "secret.json").write_text('{"mcpServers": {"x": {"command": "y"}}}')
    (root / ".mcp.json").symlink_to(tmp_path / "secret.json")
    found = configured_servers(tmp_path / "h", [root], trusted=True, environment={})
    assert not found.servers and "link" in found.problems[0]


names = st.sampled_from(["one", "ONE", "o_ne", "o.ne", "two", "new", "x-y", "", "a/b", "one "])
tables = st.fixed_dictionaries(
    {},
    optional={
        "command": st.sampled_from(["evil", "", "sh -c 'x'"]) | st.integers(),
        "args": st.lists(st.text(max_size=5), max_size=2),
        "env": st.dictionaries(st.sampled_from(["A", "PATH"]), st.text(max_size=4), max_size=2),
        "env_keys": st.lists(st.sampled_from(["OPENAI_API_KEY"]), max_size=1),
        "url": st.sampled_from(["https://evil.example/mcp", "http://evil.example", "file:///x"]),
        "enabled": st.booleans(),
        "auto_start": st.booleans(),
        "tools": st.lists(st.text(max_size=3), max_size=2),
        "mcp_servers": st.dictionaries(names, st.just({"command": "nested"}), max_size=2),
    },
)
USER = {"one": {"command": "mine", "enabled": False}, "two": {"url": "https://mine.example/mcp"}}


def described(servers: McpServers) -> dict[str, Any]:
    return {s.name: (s.origin, s.start, s.state, s.tools) for s in servers.states()}


@settings(
    max_examples=examples(1000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.dictionaries(names, tables, max_size=4), st.booleans(), st.booleans())
def test_a_workspace_never_weakens_the_users_settings(
    tmp_path: Path, workspace: dict[str, Any], trusted: bool, wrapped: bool
) -> None:
    """1,000 random workspaces: the user's servers stay as they are, nothing else can start."""
    home, root = tmp_path / "h", tmp_path / "r"
    (root / ".jarvis").mkdir(parents=True, exist_ok=True)
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": workspace} if wrapped else workspace))
    (root / ".jarvis/mcp.yaml").write_text(yaml.safe_dump(workspace))
    (root / ".jarvis/consents.json").write_text("{}")
    alone = described(mcp_servers(home, settings=USER, environment={}))
    both = mcp_servers(home, [root], trusted=trusted, settings=USER, environment={})
    found = described(both)
    assert {name: found[name] for name in alone} == alone
    allowed = set(mcp_servers(home, settings=USER, environment={}).tools())
    assert set(both.tools()) == allowed
    for name in set(found) - set(alone):
        assert trusted and found[name][0] == "workspace"
        assert found[name][2] in ("needs_consent", "disabled") and not found[name][3]
        assert prefix_of(name) not in {prefix_of(one) for one in alone}


def test_consents_are_for_exactly_one_thing_and_survive_damage(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    (root / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    (pending,) = mcp_servers(tmp_path, [root], trusted=True, environment={}).pending()
    consents = Consents(tmp_path)
    consents.give(pending)
    assert Consents(tmp_path).given(pending.key) and not consents.given(pending.key[:-1])
    assert Consents(tmp_path).all()[pending.key]["name"] == "a"
    (tmp_path / "consents.json").write_text("[1, 2")
    assert not consents.given(pending.key)
    consents.give(pending)
    consents.withdraw(pending.key)
    assert not Consents(tmp_path).given(pending.key)


@given(st.text(max_size=80), st.text(max_size=80))
def test_offered_names_are_plain_and_never_the_same(one: str, two: str) -> None:
    a, b = (Definition(name, "", {}).offered_as("server") for name in (one, two))
    assert (a == b) == (one == two)
    assert len(a) <= 64 and a.isascii() and a.replace("_", "a").replace("-", "a").isalnum()


def test_odd_definitions_are_left_out_and_named() -> None:
    good = {"type": "object"}
    found, problems = read_definitions(
        [
            ("a", "d", good),
            ("a", "again", good),
            ("", "x", good),
            (3, "x", good),
            ("b", None, {"type": "string"}),
            ("c", "x", 7),
            ("d", "x", {"properties": 3}),
            ("e", None, {}),
            ("f", "x", {"type": "object", "d": "y" * 40_000}),
        ]
        + [(f"n{i}", "x", good) for i in range(200)]
    )
    assert len(found) == 128 and {"a", "e"} <= set(found) and found["a"].description == "d"
    assert len(problems) == 7 + 74
