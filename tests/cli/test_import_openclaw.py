"""`jarvis import openclaw` on a folder as OpenClaw writes it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from jarvis_ls.core.toml import read_toml
from jarvis_ls.runtime.llm.providers import read_models
from jarvis_ls.runtime.mcp.config import configured_servers
from jarvis_ls.runtime.session.store import SessionStore
from tests.support.repositories import write
from tests.support.starting import quick

SETTINGS = """\
{
  // comments and trailing commas are allowed
  agents: {
    defaults: {
      model: { primary: "office/large", fallbacks: ["anthropic/claude-sonnet", "nobody/x"] },
      imageModel: "openai/gpt-4o",
    },
  },
  model_groups: { think: { models: ["openai/o3", "minimax-m2"] }, odd: { models: ["openai/x"] } },
  models: {
    providers: {
      office: {
        baseUrl: "http://office.example:4000/v1", apiKey: "${OFFICE_KEY}", api: "openai-responses",
        headers: { "X-Region": "west", "X-Api-Key": "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c" },
        models: [
          { id: "large", contextWindow: 128000, api: "openai-completions" }, { id: "small" },
        ],
      },
      literal: { baseUrl: "https://l.example/v1", apiKey: "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f" },
      mine: { baseUrl: "https://other.example/v1" },
      strange: { baseUrl: "https://s.example", api: "google-generative-ai" },
    },
  },
  mcp: {
    servers: {
      files: { command: "npx", args: ["-y", "files"], env: { LEVEL: "1", FILES_TOKEN: "abc" } },
      web: { url: "https://mcp.example/mcp", headers: { Authorization: "${WEB_AUTH}" } },
      old: { url: "https://sse.example", transport: "sse" },
    },
  },
  channels: { telegram: { botToken: "123" } },
  gateway: { port: 1 },
}
"""
OWN = """\
# mine
[model_providers.mine]
base = "https://mine.example/v1"
[model_groups.act]
models = ["mine/small"]
"""


def line(**values: object) -> str:
    return json.dumps(values) + "\n"


def said(id: str, parent: str | None, role: str, content: object) -> str:
    return line(type="message", id=id, parentId=parent, message={"role": role, "content": content})


def openclaw(tmp_path: Path) -> Path:
    folder = tmp_path / "openclaw"
    call = {"type": "toolCall", "id": "c", "name": "exec", "arguments": {}}
    text = {"type": "text", "text": "It returns 7."}
    transcript = (
        line(type="session", id="s-1", cwd=str(tmp_path))
        + said("1", None, "user", "What does it return?")
        + said("2", "1", "assistant", [{"type": "text", "text": "An answer that was undone."}])
        + said("3", "1", "assistant", [{"type": "thinking", "thinking": "Hm."}, text, call])
        + said("4", "3", "toolResult", [{"type": "text", "text": "7"}])
        + '{"type": "mess'
    )
    write(
        folder,
        {
            "openclaw.json": SETTINGS,
            "skills/parsing/SKILL.md": "---\nname: parsing\ndescription: Parse.\n---\nTwice.\n",
            "workspace/skills/naming/SKILL.md": "---\nname: naming\ndescription: N.\n---\nWell.\n",
            "agents/main/sessions/s-1.jsonl": transcript,
            "agents/main/sessions/empty.jsonl": line(type="session", id="s-2"),
            "agents/main/sessions/broken.jsonl": "no JSON\n",
            "agents/main/sessions/sessions.json": json.dumps(
                {"agent:main:main": {"sessionId": "s-1", "displayName": "Sevens"}}
            ),
        },
    )
    (folder / "skills/parsing/link").symlink_to("/etc/passwd")
    return folder


def take(home: Path, *arguments: str) -> tuple[int, str, str]:
    run = subprocess.run(
        [*quick("jarvis_ls.cli.jarvis"), "import", "openclaw", *arguments],
        env={**os.environ, "JARVIS_HOME": str(home), "LC_ALL": "C.UTF-8"},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout, run.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_models_servers_skills_and_sessions_are_taken_over(tmp_path: Path) -> None:
    source, home = openclaw(tmp_path), tmp_path / "home"
    write(home, {"config.toml": OWN})
    before = contents(source)
    status, out, err = take(home, str(source))
    assert status == 0, err
    assert contents(source) == before
    text = (home / "config.toml").read_text()
    settings = read_toml(text)
    assert text.startswith("# mine") and settings["model_groups"]["act"]["models"] == ["mine/small"]
    assert settings["model_providers"]["mine"]["base"] == "https://mine.example/v1"
    models = read_models(settings, {"OFFICE_KEY": "k"})
    assert models.wrong == ()
    assert models.groups["balanced"] == ("office/large", "anthropic/claude-sonnet")
    assert models.groups["think"] == ("openai/o3", "minimax-cn/minimax-m2")
    assert models.groups["image"] == ("openai/gpt-4o",)
    assert models.providers["office"].env_keys == ("OFFICE_KEY",)
    assert settings["models"]["office/large"] == {"window": 128000, "headers": {"X-Region": "west"}}
    assert settings["models"]["office/small"]["api"] == "responses"
    servers = configured_servers(home, settings=settings["mcp_servers"], environment={})
    assert servers.problems == ()
    files, web = servers.servers
    assert (files.start, files.env, files.env_keys) == (
        "npx -y files",
        (("LEVEL", "1"),),
        ("FILES_TOKEN",),
    )
    assert (web.url, web.header_keys) == (
        "https://mcp.example/mcp",
        (("Authorization", "WEB_AUTH"),),
    )
    assert "sk-live" not in text and "abc" not in text
    assert sorted(p.name for p in (home / "skills").iterdir()) == ["naming", "parsing"]
    assert not (home / "skills/parsing/link").exists()
    (info,) = SessionStore(home).list()
    assert info.title == "Sevens"
    with SessionStore(home).open(info.id, read_only=True) as session:
        (node,) = session.nodes
        assert [m.text for m in session.messages(node)] == ["What does it return?", "It returns 7."]
    taken, _, left = out.partition("Not taken:\n")
    assert "tool server files: npx -y files" in taken and "skill parsing" in taken
    for what in (
        "nobody/x",
        "model_groups.odd",
        "models.providers.mine",
        "models.providers.strange",
        "models.providers.literal.apiKey",
        "models.providers.office.headers.X-Api-Key",
        "mcp.servers.files.env.FILES_TOKEN",
        "mcp.servers.old",
        "channels",
        "gateway",
        "session empty.jsonl",
        "session broken.jsonl",
        "session s-1.jsonl: 1 calls of tools",
    ):
        assert what in left, what


def test_a_second_import_takes_nothing_twice_and_a_dry_one_nothing(tmp_path: Path) -> None:
    source, home = openclaw(tmp_path), tmp_path / "home"
    home.mkdir()
    status, out, _ = take(home, str(source), "--dry-run")
    assert (status, out.splitlines()[0]) == (0, "Would be taken:")
    assert [path.name for path in home.iterdir() if path.name != "sessions"] == []
    assert take(home, str(source))[0] == 0
    before = contents(home)
    status, out, _ = take(home, str(source))
    assert (status, out.splitlines()[0]) == (0, "Taken: nothing")
    assert contents(home) == before


def test_what_is_not_of_openclaw_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    status, _, err = take(home, str(tmp_path))
    assert status == 2 and "neither a folder nor a settings file" in err
    for text in ("[1, 2]", "{", "{a: \0}"):
        (tmp_path / "openclaw.json").write_text(text)
        assert take(home, str(tmp_path / "openclaw.json"))[0] == 2
    for odd in ("{models: 3, mcp: [], agents: {list: [1, {}]}}", "{models: {providers: {a: 1}}}"):
        (tmp_path / "openclaw.json").write_text(odd)
        status, out, err = take(home, str(tmp_path))
        assert (status, out.splitlines()[0]) == (0, "Taken: nothing"), err
