"""What the runtime says to the user has a Chinese translation too."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

import jarvis_ls
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words, either, mapped, together
from jarvis_ls.lsp.user_messages import CATALOGS, Messages

PACKAGE = Path(jarvis_ls.__file__).parent
FOLDERS = ("runtime", "assembly", "agents", "tools")
FILES = tuple(
    "lsp/panel/interaction.py lsp/panel/editor.py core/files.py core/store.py "
    "core/beneath.py core/words.py cli/talk.py cli/terminal.py cli/screen.py "
    "cli/terminal_commands.py cli/stored_data.py cli/memory_commands.py cli/extending.py "
    "cli/evaluating.py cli/setup.py cli/share_command.py cli/import_command.py".split()
)
TAKES = {"notice": 1, "doing": 0, "Words": 0, "within": 2}
"""Which argument of which call is a template."""


def errors() -> set[str]:
    """Names of all our errors: their first argument is a template."""
    bases: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {getattr(b, "attr", getattr(b, "id", "")) for b in node.bases}
    found = {"JarvisError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def templates() -> Iterator[tuple[str, str]]:
    """Every template a user can see, and where it stands."""
    takes = TAKES | dict.fromkeys(errors(), 0)
    files = [file for folder in FOLDERS for file in (PACKAGE / folder).rglob("*.py")]
    for file in [*files, *(PACKAGE / name for name in FILES)]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            place = takes.get(name)
            if place is None or len(node.args) <= place:
                continue
            where = f"{file.relative_to(PACKAGE)}:{node.lineno}"
            for template in _branches(node.args[place]):
                assert not isinstance(template, ast.JoinedStr), f"{where}: no template"
                if isinstance(template, ast.Constant) and isinstance(template.value, str):
                    yield template.value, where


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _branches(node.body)
        yield from _branches(node.orelse)
    else:
        yield node


def has_words(template: str) -> bool:
    """Whether anything of it would be said in another language."""
    return any(char.isalpha() for char in re.sub(r"\{\w+\}", "", template))


def test_every_template_of_the_runtime_is_translated() -> None:
    catalog = json.loads((CATALOGS[0] / "zh-cn.json").read_text(encoding="utf-8"))
    found = [(text, where) for text, where in templates() if has_words(text)]
    missing = {text: where for text, where in found if text not in catalog}
    assert missing == {}
    assert len({text for text, _ in found}) > 300


def test_places_are_filled_in_either_language() -> None:
    template, values = "running {tools}", {"tools": "echo {x}"}
    assert Words(template, **values) == "running echo {x}"
    assert Messages("zh-cn")(template, **values) == "正在运行 echo {x}"
    assert Words("{unknown} stays") == "{unknown} stays"


def test_an_error_passes_its_template_on_to_the_face() -> None:
    """An error within an error within a list: each is said in the user's language."""
    inner = UsageError("{path} is outside the workspace; nothing was done.", path="a{b}")
    outer = UsageError("{name} was not changed. {why}", name="x.c", why=inner)
    lines = together([str(outer), "plain", Words("Saved.")], "\n")
    assert str(lines) == (
        "x.c was not changed. a{b} is outside the workspace; nothing was done.\nplain\nSaved."
    )
    say = Messages("zh-cn")
    assert say(lines) == "未更改 x.c。a{b} 位于工作区之外；未执行任何操作。\nplain\n已保存。"
    assert say("Waiting {seconds} s for the model: {why}", seconds=1, why=inner).endswith("操作。")
    assert say(either(["A", "B", "C"])) == "A或B或C"


def test_words_are_kept_by_copies_and_by_what_hides_a_secret() -> None:
    words = Words("Set a valid key in {names}.", names=either(["K_SECRET", "L"]))
    assert copy.deepcopy(words).template == words.template
    hidden = mapped(words, lambda text: text.replace("SECRET", "…"))
    assert hidden == "Set a valid key in K_… or L."
    assert Messages("zh-cn")(hidden) == "请将有效的密钥放入 K_…或L。"
    assert json.loads(json.dumps({"a": words})) == {"a": str(words)}
