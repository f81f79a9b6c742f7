"""`jc2r run` with a scripted model: every stage, in order, and killed in between."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from tests.cli.test_jarvis_command import Place, place
from tests.support.model_server import Answer, Asked
from tests.support.rewriting_agents import agree
from tests.support.starting import quick

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r rewrite needs Linux"),
    pytest.mark.watches(),
]

C = """\
#include <stdlib.h>
typedef struct box { unsigned sum; } box;
unsigned weigh(const unsigned char *data, unsigned long n) {
    unsigned long i;
    unsigned sum = 0;
    for (i = 0; i < n; i++) sum = sum * 31u + data[i];
    return sum;
}
void box_free(box *b) { free(b); }
int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
"""
FOLD = "data.iter().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)))"
WEIGH = {
    "status": "rewritten",
    "code": f"fn weigh_safe(data: &[u8]) -> u32 {{\n    {FOLD}\n}}\n",
    "arguments": [{"kind": "slice", "parameter": "data", "length": "n"}],
}
NO = {"replaceable": False}
FREES = {"c_name": "box_free", "rust_signature": "", "skip_implementation": True, "notes": "A Box."}
PLAN = {"definition": "pub struct Box {\n    sum: u32,\n}", "functions": [FREES]}
KINDS = {"library": "## The function: \\S+, (\\w+)", "rust": "## The C: \\S+, (\\w+)"}


class Scripted:
    """Answers what each stage asks; one question may be left without an answer."""

    def __init__(self, here: Place, stuck: str = "") -> None:
        assert here.model is not None
        self._model, self._stuck = here.model, stuck
        self.asked: list[str] = []
        self.prompts: dict[str, str] = {}
        here.model.decide = self._decide

    def _decide(self, asked: Asked) -> Answer | None:
        text = "\n".join(str(message.get("content")) for message in asked.body["messages"])
        if (easy := agree(text)) is not None:
            said = self._model.say(easy)
            self._model.answers.remove(said)
            return said
        for kind, pattern in KINDS.items():
            if (found := re.search(pattern, text)) is not None:
                name = f"{kind}:{found[1]}"
                break
        else:
            name = "plan:Box" if "the type Box" in text else "plan:files"
        self.asked.append(name)
        self.prompts[name] = text
        if name == self._stuck:
            return Answer(silent=600.0)
        answers: dict[str, Any] = {
            "rust:weigh": WEIGH,
            "rust:tolower": {"status": "cannot", "notes": "It is fine."},
            "plan:Box": PLAN,
            "plan:files": {"functions": []},
        }
        said = self._model.say(json.dumps(answers.get(name, NO)))
        self._model.answers.remove(said)
        return said


def start(here: Place, root: Path) -> Any:
    words = ("run", "--trust", "--cases", "8", "--attempts", "1", str(root))
    return here.start(*words, command=quick("jarvis_ls.cli.jc2r"))


async def test_all_stages_run_once_in_order_however_often_they_are_killed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        root = here.folder / "p"
        write(root, {"a.c": C})
        everything: list[str] = []
        prompts: dict[str, str] = {}
        for stuck in ("library:box_free", "plan:Box", "rust:weigh"):
            script = Scripted(here, stuck)
            process = await start(here, root)
            while stuck not in script.asked and process.returncode is None:
                await asyncio.sleep(0.02)
            assert process.returncode is None, (await process.communicate())[1].decode()
            process.send_signal(signal.SIGKILL)
            await process.communicate()
            prompts.update(script.prompts)
            everything += [name for name in script.asked if name != stuck]
        script = Scripted(here)
        process = await start(here, root)
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        everything += script.asked
        prompts.update(script.prompts)
        assert len(everything) == len(set(everything)), "nothing is asked twice"
        script = Scripted(here)
        process = await start(here, root)
        _, err = await process.communicate()
        assert process.returncode == 0 and script.asked == [], err.decode()
    told = out.decode()
    assert "a.c: tolower: by std (u8::to_ascii_lowercase), as the table says" in told
    assert "a.c: weigh: rewritten: equal on" in told and "All stages are done" in told
    assert "the plan leaves it to `Drop`: A Box." in told
    folder = root / ".jarvis" / "c2rust"
    done = json.loads((folder / "run_state.json").read_text())["done"]
    stages = ["scan", "baseline", "build", "lib-replace", "prepare", "transpile", "lift"]
    assert set(stages) <= set(done)
    records = [json.loads(line) for line in (folder / "symbol_map.jsonl").read_text().splitlines()]
    by_name = {record["c_name"]: record for record in records}
    assert by_name["weigh"]["rust_symbol"] == "weigh_safe" and not by_name["weigh"]["skipped"]
    assert by_name["box_free"]["skipped"] and by_name["weigh"]["module"] == "src/a.rs"
    assert set(by_name["weigh"]) >= {"c_qname", "c_file", "start_line", "end_line", "updated_at"}
    assert "pub fn weigh(data: &[u8]) -> u32" in prompts["rust:weigh"], "its planned interface"
    assert "unimplemented!()" in (folder / "interface" / "src" / "a.rs").read_text()
    progress = json.loads((folder / "progress.json").read_text())
    assert progress["converted"] == ["a.c:weigh"] and progress["current"] == {}
    done = jc2r("verify", "--trust", "--mutants", "0", "--cases", "8", root)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_without_a_model_the_baseline_is_named(tmp_path: Path) -> None:
    async with place(tmp_path, model=False) as here:
        root = here.folder / "p"
        write(root, {"a.c": C})
        process = await start(here, root)
        _, err = await process.communicate()
        assert process.returncode == 2 and "needs a model" in err.decode()
        assert "jc2r run --baseline" in err.decode()
        done = jc2r("run", "--trust", "--only", "a.c", root)
        assert done.returncode == 2 and "need --baseline" in done.stderr
