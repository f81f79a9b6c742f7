"""Teams as YAML files describe them; what is wrong is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.agents.team_config import Member, TeamConfig, read_team
from jarvis_ls.core.errors import ConfigError

TEAM = """\
main_agent: lead
common_system_prompt: |
  Be brief.
agents:
  - name: lead
    description: Leads.
    system_prompt: You lead.
  - name: reader
    description: |
      Reads
      code.
    tools: [read_code]
    model: cheap
    summary_on_send: false
    clear_after_send_message: true
"""


def read(folder: Path, text: str | bytes) -> TeamConfig:
    file = folder / "team.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_team(file)


def test_a_team_is_read(tmp_path: Path) -> None:
    team = read(tmp_path, TEAM)
    assert team.main == "lead"
    assert team.members == {
        "lead": Member("lead", "Leads.", "Be brief.\n\nYou lead."),
        "reader": Member(
            "reader", "Reads code.", "Be brief.", ("read_code",), "cheap", False, True
        ),
    }


@pytest.mark.parametrize(
    ("wrong", "line", "why"),
    [
        ("main_agent: lead\nagents: [", "line 2", "no YAML"),
        ("main_agent: lead\nagents:\n  - name: lead\n   - name: b\n", "line 4", "no YAML"),
        ("main_agent: lead\n\tagents: x\n", "line 2", "no YAML"),
        ("", "line 1", "main_agent"),
        ("- a\n- b\n", "line 1", "main_agent"),
        ("main_agent: lead\n", "line 1", "at least one agent"),
        ("main_agent: lead\nagents:\n  lead: x\n", "line 3", "must be a list"),
        ("main_agent: lead\nagents:\n  - lead\n", "line 3", "`name` and `description`"),
        ("agents:\n  - name: lead\n", "line 1", "`main_agent` is missing"),
        ("agents:\n  - name: lead\nmain_agent: boss\n", "line 3", "the agents are lead"),
        (TEAM.replace("name: reader", "name: lead"), "line 8", "two agents 'lead'"),
        (TEAM.replace("name: reader", "name: ''"), "line 8", "`name` needs"),
        (TEAM.replace("name: reader", "title: x"), "line 8", "unknown key 'title'"),
        (TEAM.replace("model: cheap", "model: [a]"), "line 13", "`model` must be text"),
        (TEAM.replace("[read_code]", "[7]"), "line 12", "list of names"),
        (TEAM.replace("[read_code]", "read_code"), "line 12", "`tools` must be a list"),
        (TEAM.replace("summary_on_send: false", "summary_on_send: 3"), "line 14", "true or false"),
        ("main_agent: &a lead\nagents: *a\n", "", "aliases"),
        (b"main_agent: \xff\n", "", "UTF-8"),
        ("[" * 200, "", "deep"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, wrong: str | bytes, line: str, why: str
) -> None:
    with pytest.raises(ConfigError) as error:
        read(tmp_path, wrong)
    told = str(error.value)
    assert "team.yaml" in told and line in told and why in told, told


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml"):
        read_team(tmp_path / "nothing.yaml")
