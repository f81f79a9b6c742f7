"""`jc2r prepare` with a scripted model, with interfaces that are given, and without either."""

from __future__ import annotations

import json
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
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r rewrite needs Linux"),
]

C = """\
#include <stdlib.h>
typedef struct stack { int *items; unsigned long n; } stack;
stack *stack_new(void) { return calloc(1, sizeof(stack)); }
int stack_push(stack *s, int item) { return s->n + (unsigned long)item > 3; }
unsigned long stack_size(const stack *s) { return s->n; }
void stack_free(stack *s) { free(s->items); free(s); }
int sum(const int *items, unsigned long count) { return count ? items[0] : 0; }
void swap(void **left, void **right) { void *old = *left; *left = *right; *right = old; }
"""


def planned(*functions: dict[str, Any], definition: str = "") -> str:
    return json.dumps({"definition": definition, "functions": list(functions)})


def function(name: str, signature: str, **more: Any) -> dict[str, Any]:
    return {"c_name": name, "rust_signature": signature, **more}


class Planner:
    """Answers by what is planned; the last answer stays."""

    def __init__(self, here: Place, **answers: list[str | Answer]) -> None:
        assert here.model is not None
        self._model, self._answers = here.model, answers
        self.asked: list[str] = []
        self.prompts: list[str] = []
        here.model.decide = self._decide

    def _decide(self, asked: Asked) -> Answer | None:
        text = "\n".join(str(message.get("content")) for message in asked.body["messages"])
        name = "Stack" if "the type Stack" in text else "files"
        self.asked.append(name)
        self.prompts.append(text)
        answers = self._answers[name]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, str):
            answer = self._model.say(answer)
            self._model.answers.remove(answer)
        return answer


async def prepare(here: Place, root: Path, *more: str) -> tuple[int, Any, str]:
    """Exit status, result and errors."""
    words = ("prepare", "--trust", "--format", "json", *more, str(root))
    process = await here.start(*words, command=quick("jarvis_ls.cli.jc2r"))
    out, err = await process.communicate()
    assert process.returncode is not None and "Traceback" not in err.decode(), err.decode()
    return process.returncode, json.loads(out) if out else {}, err.decode()


def signatures(done: Any) -> dict[str, tuple[str, str]]:
    found = [one for group in done["groups"] for one in group["interfaces"]]
    return {one["c_name"]: (one["rust_signature"], one["source"]) for one in found}


async def test_rules_then_a_question_per_type_and_all_of_it_compiles(tmp_path: Path) -> None:
    body = function("stack_push", "pub fn push(&mut self, item: i32) -> bool { true }")
    raw = function("stack_size", "pub fn size(&self) -> *const u8")
    broken = function("stack_size", "pub fn size(&self) -> Missing")
    stack = "pub struct Stack {\n    items: Vec<i32>,\n}"
    size = function("stack_size", "pub fn len(&self) -> usize")
    free = function("stack_free", "", skip_implementation=True, notes="Vec frees the items.")
    async with place(tmp_path) as here:
        assert here.model is not None
        root = here.folder / "p"
        write(root, {"a.c": C})
        jc2r("config", "--path", root, "--additional-notes", "No floats.")
        refusal = here.model.refuse(401)
        here.model.answers.remove(refusal)
        script = Planner(
            here, files=[planned(function("nobody", "pub fn nobody()"))], Stack=[refusal]
        )
        status, done, err = await prepare(here, root)
        assert status == 1 and done["stopped"], err
        assert set(script.asked) == {"files", "Stack"}
        assert "No floats." in script.prompts[0] and "nobody is no function" in script.prompts[1]
        assert any("no answer" in json.dumps(note) for note in done["notes"])
        good = planned(size, free, definition=stack)
        script = Planner(here, Stack=[planned(body), planned(raw), planned(broken), good])
        status, done, err = await prepare(here, root)
        assert status == 0, err
    assert script.asked == ["Stack"] * 4, "what is decided is not asked again"
    assert "signature without a body" in script.prompts[1] and "raw pointer" in script.prompts[2]
    assert "What the compiler said" in script.prompts[3] and "Missing" in script.prompts[3]
    found = signatures(done)
    assert found["stack_size"] == ("pub fn len(&self) -> usize", "llm")
    assert found["stack_push"] == ("pub fn push(&mut self, item: i32) -> i32", "rules")
    assert found["stack_new"] == ("pub fn new() -> Option<Self>", "rules")
    assert found["sum"] == ("pub fn sum(items: &[i32]) -> i32", "rules")
    assert found["swap"][0] == "", "what its pointers are is not known"
    text = (root / ".jarvis" / "c2rust" / "interface" / "src" / "a.rs").read_text()
    assert "unimplemented!()" in text and "impl Stack {" in text
    plan = json.loads((root / ".jarvis" / "c2rust" / "crate_plan.json").read_text())
    assert {group["name"] for group in plan["groups"]} == {"Stack", ""}


async def test_interfaces_that_are_given_are_followed_if_they_compile(tmp_path: Path) -> None:
    given = tmp_path / "given"
    text = (
        "pub struct Stack {}\nimpl Stack {\n    pub fn push(&mut self, item: i32) -> bool {\n"
        "        unimplemented!()\n    }\n}\n"
        "pub fn sum(items: &[i32]) -> i32 { unimplemented!() }\n"
    )
    write(given, {"stack.rs": text})
    async with place(tmp_path, model=False) as here:
        root = here.folder / "p"
        write(root, {"a.c": C})
        status, done, err = await prepare(here, root, "--interface", str(given))
        assert status == 0, err
        found = signatures(done)
        assert found["stack_push"] == ("pub fn push(&mut self, item: i32) -> bool", "user")
        assert found["sum"] == ("pub fn sum(items: &[i32]) -> i32", "user")
        write(given, {"stack.rs": text.replace("i32 {", "Missing {")})
        status, _, err = await prepare(here, root, "--interface", str(given))
        assert status == 2 and "do not compile" in err and "Missing" in err
        status, done, err = await prepare(here, root, "--no-model", "--no-resume")
        assert status == 0 and signatures(done)["stack_push"][1] == "rules", err
        status, _, err = await prepare(here, root)
        assert status == 2 and "needs a model" in err
