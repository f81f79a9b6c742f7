"""`jsec agent` in a trusted folder: what a run shows outweighs what agents say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jsec_agent import agent_place
from tests.cli.test_jsec_prove import FLAWED, needs_compiler
from tests.support.security_model import Question, agreeable, no_flaw
from tests.support.starting import quick

pytestmark = pytest.mark.watches()


def _gid(question: Question, rule: str) -> int:
    return next((c["gid"] for c in question.candidates if c["rule"] == rule), 0)


@needs_compiler
async def test_a_run_outweighs_agents_that_deny_and_no_run_means_unproven(tmp_path: Path) -> None:
    told: dict[str, str] = {}

    def analyse(question: Question) -> Any:
        gid = _gid(question, "double-free")
        if not gid:
            return None
        if question.round == 0:
            return (
                [no_flaw(g) for g in question.gids] if told else agent.tool("prove", {"gid": gid})
            )
        if question.round == 1:
            told["prove"] = question.results[0]
            case = re.search(r"case ([0-9a-f]{12})", question.results[0])
            assert case is not None, question.results[0]
            return agent.tool("replay", {"case": case[1]})
        told["replay"] = question.results[1]
        return [no_flaw(g) for g in question.gids]

    async with agent_place(tmp_path, a=FLAWED) as here:
        agent = here.model
        agent.roles["analysis"] = analyse
        status, out, err = await here.agent("--trust", "--format", "json")
        assert status == 0, err
        assert told["prove"].startswith("reproduced: ")
        assert "double-free at a.c:19" in told["replay"]
        found = {issue["rule"]: issue for issue in json.loads(out)["issues"]}
        denied = found["double-free"]
        assert denied["verdict"] == "reproduced" and denied["proof"]["case"]
        for issue in found.values():
            shown = issue.get("proof", {}).get("verdict") == "reproduced"
            assert issue["verdict"] == ("reproduced" if shown else "unproven")
        assert "unproven" in {issue["verdict"] for issue in found.values()}
        here.check_complete()
        assert (here.folder / "a.c").read_text() == FLAWED
        assert sorted(p.name for p in here.folder.iterdir()) == [".jarvis", "a.c"]


@needs_compiler
async def test_what_a_run_changes_in_the_workspace_is_put_back(tmp_path: Path) -> None:
    work = tmp_path / "work"
    reach = (
        f'    {{ FILE *o = fopen("{work}/notes.txt", "w"); fputs("gone", o); fclose(o); }}\n'
        f'    {{ FILE *o = fopen("{work}/new.txt", "w"); fputs("x", o); fclose(o); }}\n'
        f'    remove("{work}/kept.txt");\n'
    )
    code = FLAWED.replace("    FILE *f =", f"{reach}    FILE *f =")
    async with agent_place(tmp_path, a=code) as here:
        with (here.home / "config.toml").open("a") as settings:
            settings.write('[sandbox]\nisolation = "none"\n')
        here.model.roles["analysis"] = lambda q: (
            None if _gid(q, "double-free") else [no_flaw(gid) for gid in q.gids]
        )
        (work / "notes.txt").write_text("not committed\n")
        (work / "kept.txt").write_text("kept\n")
        status, _, err = await here.agent("--trust")
        assert status == 0, err
        assert (work / "notes.txt").read_text() == "not committed\n"
        assert (work / "kept.txt").read_text() == "kept\n"
        assert not (work / "new.txt").exists() and (work / "a.c").read_text() == code
        assert "notes.txt was changed while code of a candidate ran; it is as before" in err
        assert "kept.txt was deleted while code of a candidate ran" in err
        aside = {path.read_text() for path in (work / ".jarvis/sec/set-aside").rglob("*-notes.txt")}
        assert aside == {"gone"}


@needs_compiler
async def test_an_invariant_counts_only_when_it_was_proven(tmp_path: Path) -> None:
    told: list[str] = []

    def analyse(question: Question) -> Any:
        gid = _gid(question, "double-free")
        if not gid:
            return [no_flaw(g) for g in question.gids]
        if question.round < 2:
            told.extend(question.results[-1:])
            expression = ("n > 3", "n++")[question.round]
            arguments = {"gid": gid, "expression": expression}
            return here.model.tool("check_invariant", arguments)
        told.append(question.results[-1])
        name = question.results[0].partition(":")[0]
        return [{**no_flaw(g), "invariant": name} for g in question.gids]

    async with agent_place(tmp_path, a=FLAWED) as here:
        here.model.roles["analysis"] = analyse
        here.model.roles["review"] = lambda q: [
            {"gid": gid, "is_reason_sufficient": False, "review_notes": "no"} for gid in q.gids
        ]
        status, _, err = await here.agent("--trust")
        assert status == 0, err
        assert re.match("i[0-9a-f]{12}: (broken|undecided)", told[0]), told
        assert not told[1].startswith("i"), told  # it would change something
        reviewed = {gid for question in here.model.called("review") for gid in question.gids}
        assert reviewed == {r["gid"] for r in here.records("candidates")}  # none was proven
        assert set(here.verdicts().values()) == {"undecided"}


@needs_compiler
async def test_reviewers_are_not_asked_about_what_a_run_has_shown(tmp_path: Path) -> None:
    def cluster(question: Question) -> Any:
        invalid = {"is_invalid": True, "invalid_reason": "n is never above 5"}
        return [{**item, **invalid} for item in agreeable(question)]

    async with agent_place(tmp_path, a=FLAWED) as here:
        process = await here.start(
            "prove", "--all", "--trust", ".", command=quick("jarvis_ls.cli.jsec")
        )
        await process.communicate()
        here.model.roles["clustering"] = cluster
        status, _, err = await here.agent()  # not trusted: nothing is run, evidence still counts
        assert status == 0, err
        reproduced = {gid for gid, verdict in here.verdicts().items() if verdict == "reproduced"}
        assert reproduced
        reviewed = {gid for question in here.model.called("review") for gid in question.gids}
        assert reviewed and not reviewed & reproduced
        assert all("prove" not in question.tools for question in here.model.asked)
        here.check_complete()
