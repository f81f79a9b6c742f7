"""A part of the analysis that raises: the report names what is missing, the log has the traceback,
and everything else is found as always."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from folders import write
from live_files import opened, settled

from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
from jarvis_ls.jsec.flow.lower.c.function import Body
from jarvis_ls.jsec.live.records import TextChange

pytestmark = pytest.mark.watches()

SOURCE = """\
#include <stdlib.h>
int breaks(int n) {
    int *p = malloc(4);
    free(p);
    return *p + n;
}
int fine(int n) {
    int *p = malloc(4);
    free(p);
    return *p + n;
}
"""
RUST = "fn breaks() -> i32 {\n    1\n}\npub fn fine() -> i32 {\n    breaks()\n}\n"

FAULTS = {
    "analysing": """
import jarvis_ls.jsec.flow.interp.fixpoint as module
analyse = module.Interpreter.root
def root(self, function):
    if "breaks" in function.name:
        raise ZeroDivisionError("planted")
    return analyse(self, function)
module.Interpreter.root = root
""",
    "lowering": """
import jarvis_ls.jsec.flow.lower.c.function as c
import jarvis_ls.jsec.flow.lower.rust.function as rust
lower_c, lower_rust = c.Body.lower, rust.Body.lower
def lower(self, node, name, *arguments, **options):
    if "breaks" in name:
        raise ZeroDivisionError("planted")
    known = lower_c if isinstance(self, c.Body) else lower_rust
    return known(self, node, name, *arguments, **options)
c.Body.lower = rust.Body.lower = lower
""",
    "declaring": """
import jarvis_ls.jsec.scan.file_scanner as module
def lower(*_):
    raise ZeroDivisionError("planted")
module.lower = lower
""",
    "checking": """
import jarvis_ls.jsec.rules.registry as registry
def fail(*_):
    raise ZeroDivisionError("planted")
rule = registry.all_rules()["use-after-free"]
object.__setattr__(rule, "check", fail)
object.__setattr__(rule, "report_fault", fail)
""",
}
"""What is planted into every process of a scan, by the step of the analysis that it breaks."""


def scan(root: Path, fault: str, *arguments: str) -> tuple[dict[str, Any], str]:
    """The report of `jsec scan`, and what its processes wrote on standard error."""
    planted = root.parent / "planted"
    write(planted, {"sitecustomize.py": FAULTS[fault]})
    command = "import sys; from jarvis_ls.cli.jsec import main; sys.exit(main())"
    run = subprocess.run(
        [sys.executable, "-c", command, "scan", "--format", "json", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={
            **os.environ,
            "JARVIS_HOME": str(root.parent / "home"),
            "PYTHONPATH": os.pathsep.join([str(planted), *filter(None, sys.path)]),
        },
    )
    return json.loads(run.stdout), run.stderr


def notes(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(note["file"], note["note"]) for note in report["summary"]["notes"]]


@pytest.mark.parametrize("fault", ["analysing", "lowering"])
def test_a_function_that_cannot_be_analysed_is_named(tmp_path: Path, fault: str) -> None:
    root = tmp_path / "project"
    write(root, {"a.c": SOURCE, "b.rs": RUST})
    report, log = scan(root, fault)
    told = notes(report)
    assert [file for file, _ in told] == ["a.c", "b.rs"]
    assert all("data-flow analysis of 'breaks' failed" in note for _, note in told)
    assert "planted" in log and "Traceback" in log
    proven = [i for i in report["issues"] if i["rule"] == "use-after-free" and i["trace"]]
    assert 10 in [issue["line"] for issue in proven]
    again, _ = scan(root, fault)
    assert notes(again) == told, "from the cache"


def test_a_file_whose_functions_cannot_be_read_is_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, {"a.c": SOURCE})
    report, log = scan(root, "declaring", "--no-cache")
    assert [file for file, _ in notes(report)] == ["a.c"]
    assert "data-flow analysis of this file failed" in notes(report)[0][1]
    assert "planted" in log and "Traceback" in log
    assert "use-after-free" in [issue["rule"] for issue in report["issues"]]


def test_a_rule_that_raises_is_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, {"a.c": SOURCE})
    report, log = scan(root, "checking", "--no-cache")
    assert notes(report) == [
        (
            "a.c",
            "the check 'use-after-free' failed, and some of its findings are missing; the log has "
            "the details",
        )
    ]
    assert "planted" in log and "Traceback" in log


def test_an_open_document_says_which_function_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    analyse = Interpreter.root
    broken = True

    def root(self: Interpreter, function: Any) -> Any:
        if function.name == "breaks" and broken:
            raise ZeroDivisionError("planted")
        return analyse(self, function)

    monkeypatch.setattr(Interpreter, "root", root)
    live = opened(Path("/nowhere"), {"a.c": SOURCE})
    result = settled(live, "a.c")
    assert [note for note in result.notes if "'breaks'" in note] == result.notes != []
    assert 10 in [found.span.line for found in result.findings if found.trace]
    broken = False
    live.change("a.c", 1, [TextChange(SOURCE + "\n")])
    assert settled(live, "a.c").notes == []


def test_an_open_document_survives_a_function_that_cannot_be_lowered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower = Body.lower

    def broken(self: Body, node: Any, name: str, *arguments: Any, **options: Any) -> Any:
        if name == "breaks":
            raise ZeroDivisionError("planted")
        return lower(self, node, name, *arguments, **options)

    monkeypatch.setattr(Body, "lower", broken)
    result = settled(opened(Path("/nowhere"), {"a.c": SOURCE}), "a.c")
    assert [note for note in result.notes if "'breaks'" in note] == result.notes != []
    assert 10 in [found.span.line for found in result.findings if found.trace]
