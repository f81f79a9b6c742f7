"""`jc2r evolve`: the stages from C to Rust as one pipeline, with and without a model."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from project import JC2R, jc2r, write
from test_rewrite import COUNT, DIGEST, GOOD, SLICE, WEIGH, C, _bytes, written
from toolchain import needs_cargo

from tests.cli.test_jarvis_command import Place, place
from tests.support.model_server import Answer, Asked
from tests.support.rewriting_agents import agree
from tests.support.starting import quick

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r evolve needs Linux"),
]

COPY = "    strcpy(place, text);\n"
RIGHT = "    if (strlen(text) >= sizeof place) return;\n"
FLAWED = f"""\
#include <stdio.h>
#include <string.h>
unsigned digest(const unsigned char *data, unsigned long n);
static void copy(const char *text) {{
    char place[16];
{COPY}    puts(place);
}}
int main(int argc, char **argv) {{
    if (argc > 1) copy(argv[1]);
    printf("%u\\n", digest((const unsigned char *)"abc", 3));
    return 0;
}}
"""
REPAIRED = FLAWED.replace(COPY, RIGHT + COPY)
FAST = ("--cases", "6", "--mutants", "2", "--format", "json")
STAGES = ["assess", "harden", "replace", "transpile", "optimize"]


def evolve(root: Path, *more: object, **environment: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, result and errors of a run without a model."""
    done = jc2r("evolve", *FAST, *more, root, **environment)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def commits(root: Path) -> list[str]:
    command = ["git", "-C", str(root.parent / "p_rs"), "log", "--reverse", "--format=%s"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


class Model:
    """Repairs `copy` and rewrites `weigh` and `digest`."""

    def __init__(self, here: Place, repair: bool = True, **answers: list[str]) -> None:
        assert here.model is not None
        self._model, self._repair, self._answers = here.model, repair, answers
        self.asked: list[str] = []
        here.model.decide = self._decide

    def _decide(self, asked: Asked) -> Answer:
        messages = asked.body["messages"]
        text = "\n".join(str(message.get("content")) for message in messages)
        found = re.search(r"## The C: \S+, (\w+)", text)
        if (easy := agree(text)) is not None:
            answer = self._model.say(easy)
        elif found is None:
            answer = self._step(sum(message["role"] == "tool" for message in messages))
        else:
            self.asked.append(found[1])
            answers = self._answers.get(found[1], [json.dumps({"status": "cannot", "notes": "?"})])
            answer = self._model.say(answers.pop(0) if len(answers) > 1 else answers[0])
        self._model.answers.remove(answer)
        return answer

    def _step(self, tools: int) -> Answer:
        if not self._repair:
            self.asked.append("repair")
            return self._model.say(json.dumps({"status": "cannot", "cause": "?", "change": ""}))
        if tools == 0:
            self.asked.append("repair")
            return self._model.call("read_code", {"files": [{"path": "main.c"}]})
        if tools == 1:
            diffs = [{"search": COPY, "replace": RIGHT + COPY}]
            return self._model.call(
                "edit_file", {"files": [{"file_path": "main.c", "diffs": diffs}]}
            )
        return self._model.say(json.dumps({"status": "repaired", "cause": "a", "change": "b"}))


async def evolve_with(here: Place, root: Path, *more: str) -> tuple[int, dict[str, Any], str]:
    """The same with the model of a place."""
    words = ("evolve", "--trust", *FAST, *more, str(root))
    process = await here.start(*words, command=quick("jarvis_ls.cli.jc2r"))
    out, err = await process.communicate()
    assert process.returncode is not None and "Traceback" not in err.decode(), err.decode()
    return process.returncode, json.loads(out) if out else {}, err.decode()


def test_without_a_model_all_stages_run_once_until_the_c_changes(tmp_path: Path) -> None:
    root, page = tmp_path / "p", tmp_path / "page.html"
    write(root, {"a.c": C, "main.c": FLAWED})
    program = tmp_path / "program"
    subprocess.run(["cc", "-o", program, root / "a.c", root / "main.c"], check=True)
    recorded = jc2r("record", "--path", root, "--", program, "hello")
    assert recorded.returncode == 0, recorded.stderr
    status, first, err = evolve(root, "--html", page)
    assert status == 0, err
    assert [stage["stage"] for stage in first["stages"]] == STAGES
    assert {stage["standing"] for stage in first["stages"]} == {"done"}
    notes = [note["text"] for note in first["notes"]]
    assert sum("needs a model" in note for note in notes) == 1 and len(notes) == 3, notes
    assert [repair["fate"] for repair in first["repairs"]] == ["needs-model"]
    rows = first["measured"]
    assert rows[0]["score"] > 0 and rows[0]["families"] == {"buffer_overflow": 1}
    assert rows[0]["functions"] is None, "nothing is said of a crate that is not there"
    assert rows[2]["in_rust"] == rows[2]["functions"] == 4
    assert rows[3]["equal"] == 3 and 0 < rows[3]["killed"] <= rows[3]["mutants"]
    assert rows[4]["raw_pointers"] < rows[3]["raw_pointers"]
    assert rows[4]["c_seconds"] > 0 and rows[4]["rust_seconds"] > 0
    assert (root / "main.c").read_text() == FLAWED
    html = page.read_text()
    assert "default-src 'none'" in html and "<script" not in html
    assert html.count("<tr>") == 3 * 6 and "Buffer overflow" in html
    before = commits(root)

    shown = jc2r("evolve", "--show", root, JARVIS_HOME=str(tmp_path / "stranger"))
    assert shown.returncode == 0 and not shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines[7][:2] == ["1", "assess"] and lines[6][:3] == ["round", "stage", "score"]
    again = evolve(root)[1]
    assert again["stages"] == first["stages"] and again["measured"] == first["measured"]
    assert commits(root) == before

    (root / "a.c").write_text(C.replace("return 7;", "return 8;"))
    status, second, err = evolve(root, "--until", "replace")
    assert status == 0, err
    assert [row["round"] for row in second["measured"]] == [1] * 5 + [2] * 3
    assert second["round"] == 2 and commits(root) != before
    chinese = jc2r("evolve", "--show", root, LC_ALL="zh_CN.UTF-8").stdout
    assert "评估 C 代码" in chinese and not re.search(r"\b(done|findings|score)\b", chinese)


def test_nothing_runs_without_trust_and_wrong_words_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write(root, {"a.c": C})
    stranger = str(tmp_path / "stranger")
    status, _, err = evolve(root, JARVIS_HOME=stranger)
    assert status == 2 and "trust" in err and not (root / ".jarvis").exists()
    status, _, err = evolve(root, "--until", "harden", "--skip", "harden")
    assert status == 2 and err.count("\n") == 1
    assert jc2r("evolve", "--back", "nowhere", root).returncode == 2
    assert jc2r("evolve", "--show", root).stdout.count("\n") == 1
    (root / ".jarvis" / "c2rust" / "evolve").mkdir(parents=True)
    damaged = root / ".jarvis" / "c2rust" / "evolve" / "state.json"
    for text in ("", "[]", '{"round": "x"}', "[" * 100_000, '{"round": 1, "ended": [{}]}'):
        damaged.write_text(text)
        assert jc2r("evolve", "--show", root).returncode == 0
    done = evolve(root, "--until", "assess")[1]
    assert [row["stage"] for row in done["measured"]] == ["assess"], "it begins again"


async def test_a_model_repairs_the_c_and_rewrites_it_and_all_can_be_undone(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        root = here.folder / "p"
        write(root, {"a.c": C, "main.c": FLAWED})
        model = Model(here, weigh=[GOOD["weigh"]], digest=[GOOD["digest"]])
        status, told, err = await evolve_with(here, root, "--until", "harden")
        assert status == 0 and [r["fate"] for r in told["repairs"]] == ["proposed"], (told, err)
        assert (root / "main.c").read_text() == FLAWED, "nothing is written without --apply"
        (diff,) = (root / ".jarvis" / "c2rust" / "evolve" / "repairs").glob("*.diff")
        assert "+    if (strlen(text) >= sizeof place) return;" in diff.read_text()

        status, told, err = await evolve_with(here, root, "--apply")
        assert status == 0, (told, err)
        assert model.asked.count("repair") == 1, "what was proposed is written"
        assert (root / "main.c").read_text() == REPAIRED
        rows = {row["stage"]: row for row in told["measured"]}
        assert rows["harden"]["score"] == 0 < rows["assess"]["score"]
        assert rows["transpile"]["rewritten"] == 2 and rows["transpile"]["equal"] == 3
        assert {"Rewritten: a.c: weigh", "Rewritten: a.c: digest"} <= set(commits(root))
        asked = list(model.asked)
        again = await evolve_with(here, root, "--apply")
        assert again[1]["stages"] == told["stages"] and model.asked == asked

        source = root.parent / "p_rs" / "src" / "a.rs"
        lifted = source.read_text()
        status, told, err = await evolve_with(here, root, "--back", "optimize")
        assert status == 0 and [s["stage"] for s in told["stages"]] == STAGES[:4], err
        assert source.read_text() != lifted and "fn weigh_safe" in source.read_text()
        status, told, _ = await evolve_with(here, root, "--back", "harden")
        assert status == 0 and (root / "main.c").read_text() == FLAWED
        assert [s["stage"] for s in told["stages"]] == ["assess"] and not told["repairs"]
        skip = [word for stage in ("harden", "optimize") for word in ("--skip", stage)]
        here.model.decide = lambda _asked: here.model.refuse(401)  # type: ignore[union-attr]
        status, told, _ = await evolve_with(here, root, *skip)
        assert status == 1 and told["stopped"] == "transpile"
        assert "weigh_safe" not in source.read_text(), "the crate was translated again"


LOGGING = """\
#include <stdio.h>
int twice(int n) { return n * 2; }
int main(int argc, char **argv) { if (argc > 1) printf(argv[1]); return twice(0); }
"""


def test_killed_anywhere_it_continues_and_does_nothing_twice(tmp_path: Path) -> None:
    """At random moments, and when a repair, a translation or a lifted crate has just come."""
    root, crate = tmp_path / "p", tmp_path / "p_rs"
    write(root, {"a.c": LOGGING})
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    state = root / ".jarvis" / "c2rust" / "evolve" / "state.json"

    def has(pattern: str) -> Callable[[], bool]:
        return lambda: re.search(pattern, _bytes(state).decode()) is not None

    moments: list[Callable[[], bool]] = [
        has('"stage": "assess"'),
        has('"pending": "[^"]'),
        lambda: '"%s"' in (root / "a.c").read_text(),
        has('"stage": "harden"'),
        lambda: (crate / ".git" / "HEAD").is_file(),
        has('"stage": "replace"'),
        has('"kept"[,\n]'),
        lambda: "Lifted" in _bytes(crate / ".git" / "logs" / "HEAD").decode(),
        has('"lift"[,\n]'),
    ]
    for moment in moments:
        _kill(["evolve", "--apply", *FAST, root], moment, draw.uniform(1, 8))
    status, told, err = evolve(root, "--apply")
    assert status == 0, (seed, err)
    assert [row["stage"] for row in told["measured"]] == STAGES, seed
    assert [stage["stage"] for stage in told["stages"]] == STAGES, seed
    assert [(r["fate"], r["by"]) for r in told["repairs"]] == [("written", "rule")], seed
    assert (root / "a.c").read_text() == LOGGING.replace("printf(", 'printf("%s", '), seed
    log = commits(root)
    assert len(log) == len(set(log)), (seed, log)
    assert told["measured"][-1]["equal"] == 1 and told["measured"][-1]["score"] == 0, seed
    status, told, _ = evolve(root, "--back", "assess")
    assert status == 0 and (root / "a.c").read_text() == LOGGING and not told["measured"]


def _kill(words: list[object], moment: Callable[[], bool], seconds: float) -> None:
    """Start a run and kill it with all it has started, at a moment or after some seconds."""
    process = subprocess.Popen(
        [*JC2R, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + seconds
    while process.poll() is None and not moment() and time.monotonic() < end:
        time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


async def test_gates_stop_the_path_and_say_what_to_do(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        root = here.folder / "p"
        write(root, {"a.c": C, "main.c": FLAWED})
        wrong = [written(WEIGH.replace("31", str(n)), SLICE) for n in range(32, 36)]
        model = Model(here, repair=False, weigh=wrong, digest=[written(DIGEST, COUNT)])
        status, told, _ = await evolve_with(here, root, "--apply")
        assert (status, told["stopped"]) == (1, "harden")
        why = told["stages"][-1]["why"]["text"]
        assert "fell by 0.0 %, not by 15 %" in why and "--skip harden" in why
        asked = model.asked.count("repair")
        status, told, _ = await evolve_with(here, root, "--apply")
        assert told["stopped"] == "harden" and model.asked.count("repair") == asked
        words = ("--apply", "--skip", "harden", "--retries", "1", "--min-coverage", "100")
        status, told, _ = await evolve_with(here, root, *words)
        assert (status, told["stopped"]) == (1, "transpile")
        standings = {stage["stage"]: stage["standing"] for stage in told["stages"]}
        assert standings["harden"] == "skipped" and standings["replace"] == "done"
        assert "--retries" in told["stages"][-1]["why"]["text"]
        assert any("gate of replace" in note["text"] for note in told["notes"])
        assert model.asked.count("weigh") == 2, "one answer was repeated, the next is too many"
