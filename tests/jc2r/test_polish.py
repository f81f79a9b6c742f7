"""`jc2r optimize --model`: a scripted model goes on where clippy is not sure, under the gates."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from project import jc2r, write
from toolchain import needs_cargo

from tests.cli.test_jarvis_command import Place, place
from tests.support.model_server import Answer, Asked
from tests.support.starting import quick

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r optimize needs Linux"),
    pytest.mark.skipif(shutil.which("cargo-clippy") is None, reason="needs clippy"),
    pytest.mark.watches(),
]

C = """\
int twice(int x) { return x > 1000000 ? 0 : 2 * x; }
unsigned half(unsigned x) { return x / 2; }
"""
TWICE = """\
#[no_mangle]
pub extern "C" fn twice(x: i32) -> i32 {
    if x > 1000000 {
        0
    } else {
        x.wrapping_mul(2)
    }
}
"""
HALF = '#[no_mangle]\npub extern "C" fn half(x: u32) -> u32 {\n    x / 2\n}\n'
KINDS = {
    "clippy": "Fix one warning of clippy",
    "unsafe": "Lessen what is `unsafe`",
    "docs": "Write the documentation",
}


def changed(name: str, code: str) -> str:
    return json.dumps({"status": "changed", "items": [{"name": name, "code": code}]})


class Script:
    """Answers by what is asked for; when nothing is left there is nothing to change."""

    def __init__(self, here: Place, **answers: list[str]) -> None:
        assert here.model is not None
        self._model, self._answers = here.model, answers
        self.prompts: list[tuple[str, str]] = []
        here.model.decide = self._decide

    def _decide(self, asked: Asked) -> Answer:
        text = "\n".join(str(message.get("content")) for message in asked.body["messages"])
        kind = next(kind for kind, words in KINDS.items() if words in text)
        self.prompts.append((kind, text))
        left = self._answers.get(kind, [])
        said = self._model.say(left.pop(0) if left else json.dumps({"status": "nothing"}))
        self._model.answers.remove(said)
        return said


async def optimize(here: Place, root: Path, *more: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, result and errors."""
    words = ("optimize", "--trust", "--cases", "8", "--format", "json", *more, str(root))
    process = await here.start(*words, command=quick("jarvis_ls.cli.jc2r"))
    out, err = await process.communicate()
    assert process.returncode is not None and "Traceback" not in err.decode(), err.decode()
    return process.returncode, json.loads(out) if out else {}, err.decode()


def translated(here: Place) -> Path:
    root = here.folder / "p"
    write(root, {"a.c": C})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    return root


def commits(root: Path) -> list[str]:
    command = ["git", "-C", str(root.parent / "p_rs"), "log", "--reverse", "--format=%s"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


async def test_warnings_unsafe_and_docs_under_the_gates(tmp_path: Path) -> None:
    silenced = TWICE.replace("pub extern", "pub unsafe extern").replace(
        "#[no_mangle]", "#[no_mangle]\n#[allow(clippy::missing_safety_doc)]"
    )
    comments = {
        "module": "Small sums.",
        "functions": [
            {"name": "half", "text": "Returns half of a number.\n\nRounded \x1b[1mdown."}
        ],
    }
    async with place(tmp_path) as here:
        root = translated(here)
        script = Script(
            here,
            clippy=[changed("twice", silenced), changed("twice", TWICE)],
            unsafe=[changed("half", HALF.replace("x / 2", "x / 3")), changed("half", HALF)],
            docs=[
                json.dumps({"functions": [{"name": "other", "text": "It is not there."}]}),
                json.dumps(comments),
            ],
        )
        status, told, err = await optimize(here, root, "--model", "all", "--include", "src/a.rs")
        assert status == 0, err
        before = len(script.prompts)
        again = await optimize(here, root, "--model", "all", "--include", "src/a.rs")
        assert again[0] == 0 and len(script.prompts) == before, "nobody is asked twice"
    text = (root.parent / "p_rs" / "src" / "a.rs").read_text()
    assert text.startswith("//! a.c\n//!\n//! Small sums.\n")
    assert "/// Returns half of a number.\n///\n/// Rounded [1mdown.\n#[no_mangle]\npub ext" in text
    assert 'pub extern "C" fn twice(x: i32) -> i32' in text and "unsafe" not in text
    parts = {touched["part"]: touched for touched in told["polished"]["touched"]}
    assert {part: parts[part]["changes"] for part in parts} == {"clippy": 1, "unsafe": 1, "docs": 1}
    assert parts["clippy"]["unsafe_removed"] > 0 and parts["docs"]["docs_added"] == 2
    log = commits(root)[-3:]
    assert log == [f"Optimized: {part}: src/a.rs" for part in ("clippy", "unsafe", "docs")]
    prompts = [text for kind, text in script.prompts if kind != "docs"]
    assert "clippy::missing_safety_doc" in prompts[0]
    assert "allowed-lint: " in prompts[1].rpartition("was refused")[2]
    assert "behaves differently from the C" in prompts[-1].rpartition("was refused")[2]
    report = json.loads((root / ".jarvis" / "c2rust" / "optimize_report.json").read_text())
    assert report["docs_added"] == 2 and report["unsafe_removed"] > 0 and report["errors"] == []
    done = jc2r("verify", "--trust", "--mutants", "0", "--cases", "8", root)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_what_is_refused_stays_out_and_is_not_tried_again(tmp_path: Path) -> None:
    wrong = changed("half", HALF.replace("x / 2", "x / 3"))
    async with place(tmp_path) as here:
        root = translated(here)
        text = (root.parent / "p_rs" / "src" / "a.rs").read_bytes()
        script = Script(here, unsafe=[wrong, wrong])
        words = ("--model", "unsafe", "--lint", "none", "--include", "src/a.rs")
        status, told, err = await optimize(here, root, *words)
        assert status == 0, err
        (touched,) = told["polished"]["touched"]
        assert touched["changes"] == 0 and "behaves differently" in touched["refused"][0]["text"]
        assert (root.parent / "p_rs" / "src" / "a.rs").read_bytes() == text
        await optimize(here, root, *words)
        assert len(script.prompts) == 2
        script = Script(here, docs=[json.dumps({"functions": []})])
        status, _, err = await optimize(here, root, *words, "--model", "docs", "--tokens", "9")
        assert status == 0 and script.prompts == []


async def test_without_a_model_nothing_is_done(tmp_path: Path) -> None:
    async with place(tmp_path, model=False) as here:
        root = translated(here)
        before = commits(root)
        status, told, err = await optimize(here, root, "--model", "docs")
        assert status == 2 and not told and err.startswith("jc2r: Rewriting needs a model: ")
        assert commits(root) == before
