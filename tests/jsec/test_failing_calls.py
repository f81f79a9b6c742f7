"""What is shown by calls that fail, and what is not: a program that looks at the result says so in
every run where the call fails by itself."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Verdict, case_of
from jarvis_ls.jsec.proof.replay import repeats
from jarvis_ls.jsec.proof.rungs.failing_calls import FailingCalls
from jarvis_ls.jsec.proof.rungs.ignored_failures import IgnoredFailures
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder
from tests.cli.test_jsec_prove import needs_compiler

pytestmark = [pytest.mark.watches(), needs_compiler]

HEAD = (
    "#define _GNU_SOURCE\n#include <grp.h>\n#include <stdio.h>\n#include <unistd.h>\n"
    "#include <wchar.h>\n"
)


FINDING = Finding(
    rule="any",
    language="c/cpp",
    category="",
    pattern="",
    cwe=(252,),
    file="a.c",
    span=Span(1, 1, 1, 1),
    evidence="",
    message=Message(""),
    suggestion=Message(""),
    confidence=0.5,
    severity="medium",
    fingerprint="a",
)


def show(folder: Path, statement: str) -> Evidence | None:
    """What failing calls show of one statement of a program."""
    work = folder / "work"
    work.mkdir()
    (work / "a.c").write_text(f"{HEAD}int main(void)\n{{\n    {statement}\n    return 0;\n}}\n")
    finding = replace(FINDING, span=Span(8, 5, 8, 5 + len(statement)))
    bench = Workbench(work.resolve(), Ladder(folder / "home"), find_toolchain())
    return asyncio.run(FailingCalls().attempt(finding, bench, Budget(20.0)))


@pytest.mark.parametrize(
    "call", ['rename("not here", "b")', "setuid(1000)", "setgroups(0, NULL)", 'remove("not here")']
)
def test_a_result_that_is_dropped_is_told_from_one_that_is_looked_at(
    tmp_path: Path, call: str
) -> None:
    for name, statement, verdict in (
        ("dropped", f"{call};", Verdict.REPRODUCED),
        ("seen", f"if ({call} != 0) return 3;", Verdict.UNPROVEN),
    ):
        (tmp_path / name).mkdir()
        found = show(tmp_path / name, statement)
        assert found is not None
        assert found.verdict is verdict, (name, str(found.message))


@pytest.mark.parametrize("change", ["setuid(getuid())", "setreuid(getuid(), getuid())"])
def test_privileges_are_given_up_by_a_program_that_has_them(tmp_path: Path, change: str) -> None:
    for name, then, verdict in (
        ("dropped", f"{change};", Verdict.REPRODUCED),
        ("seen", f"if ({change} != 0) return 3;", Verdict.UNPROVEN),
        ("found", f"{change}; if (geteuid() != getuid()) return 3;", Verdict.UNPROVEN),
    ):
        (tmp_path / name).mkdir()
        found = show(tmp_path / name, f"if (geteuid() != getuid()) {{ {then} }}")
        assert found is not None
        assert found.verdict is verdict, (name, str(found.message))


def test_who_starts_a_program_is_told_and_repeated(tmp_path: Path) -> None:
    found = show(tmp_path, "if (geteuid() == 0 && getuid() != 0) { setuid(getuid()); }")
    assert found is not None and found.case is not None
    assert "started as a set-user-ID program of root" in str(found.message)
    assert case_of(json.loads(json.dumps(found.to_json()["case"]))) == found.case


def test_a_file_that_is_not_there_either_way_shows_nothing(tmp_path: Path) -> None:
    found = show(tmp_path, 'if (fopen("/not/here", "r") == NULL) return 3;')
    assert found is not None
    assert found.verdict is Verdict.UNPROVEN, str(found.message)


@pytest.mark.parametrize(
    "statement",
    [
        'char text[100] = ""; fread(text, 1, 99, stdin);',
        'char text[100] = ""; read(0, text, 99);',
        "fclose(stdout);",
    ],
)
def test_a_read_or_a_loss_that_is_not_looked_at_is_reproduced(
    tmp_path: Path, statement: str
) -> None:
    found = show(tmp_path, statement)
    assert found is not None
    assert found.verdict is Verdict.REPRODUCED, str(found.message)


@pytest.mark.parametrize(
    "statement",
    [
        'char text[100] = ""; if (fread(text, 1, 99, stdin) != 99) return 3;',
        'char text[100] = ""; if (read(0, text, 99) != 99) return 3;',
        'FILE *from = fdopen(0, "r"); if (from == NULL) return 3; fclose(from);',
        "close(0);",
    ],
)
def test_a_count_that_is_tested_and_closing_what_was_read_show_nothing(
    tmp_path: Path, statement: str
) -> None:
    found = show(tmp_path, statement)
    assert found is not None
    assert found.verdict is Verdict.UNPROVEN, str(found.message)


@pytest.mark.parametrize(
    ("read", "nothing"),
    [
        ('scanf("%9s", line)', "EOF"),
        ('fscanf(stdin, "%9s", line)', "EOF"),
        ('sscanf("word", "%9s", line)', "EOF"),
        ('wscanf(L"%9s", line)', "EOF"),
        ("fgets(line, 9, stdin)", "NULL"),
    ],
)
def test_the_end_of_the_input_is_no_failure_that_goes_unsaid(
    tmp_path: Path, read: str, nothing: str
) -> None:
    for name, statement, verdict in (
        ("dropped", f'char line[10] = ""; {read};', Verdict.REPRODUCED),
        (
            "seen",
            f'char line[10] = ""; if ({read} == {nothing}) puts("no line");',
            Verdict.UNPROVEN,
        ),
    ):
        (tmp_path / name).mkdir()
        found = show(tmp_path / name, statement)
        assert found is not None
        assert found.verdict is verdict, (name, str(found.message))


FUNCTIONS = """\
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

struct log {
    FILE *file;
    int lines;
};

int give_up(int verbose)
{
    if (geteuid() != getuid() && setuid(getuid()) == 0 && verbose)
        puts("given up");
    return 0;
}

int drop(void)
{
    setuid(getuid()); /* dropped */
    return 0;
}

int found(void)
{
    setuid(getuid()); /* found out */
    return geteuid() == getuid() ? 0 : -1;
}

int put(FILE *file, const char *text)
{
    fputs(text, file); /* put */
    return fflush(file);
}

int put_all(FILE *file, const char *text)
{
    fputs(text, file); /* put and asked */
    return ferror(file) ? -1 : 0;
}

void put_line(struct log *log, const char *text)
{
    if (log == NULL || log->file == NULL)
        return;
    log->lines++;
    fputs(text, log->file); /* put by a structure */
}
"""


@pytest.mark.parametrize(
    ("comment", "verdicts"),
    [
        ("dropped", {Verdict.REPRODUCED}),
        ("found out", {Verdict.UNPROVEN}),
        ("put", {Verdict.REPRODUCED}),
        ("put and asked", {Verdict.UNPROVEN, Verdict.REPRODUCED}),
        ("put by a structure", {Verdict.CALLER}),
    ],
)
def test_a_function_that_no_program_calls_is_called_itself(
    tmp_path: Path, comment: str, verdicts: set[Verdict]
) -> None:
    lines = FUNCTIONS.splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.endswith(f"/* {comment} */"))
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.c").write_text(FUNCTIONS)
    end = lines[line - 1].index(";") + 2
    bench = Workbench(work.resolve(), Ladder(tmp_path / "home"), find_toolchain())
    finding = replace(FINDING, span=Span(line, 5, line, end))
    found = asyncio.run(IgnoredFailures().attempt(finding, bench, Budget(20.0)))
    assert found is not None
    assert found.verdict in verdicts, str(found.message)
    if found.verdict is Verdict.UNPROVEN:
        assert "did not go on as before" in str(found.message)
    elif comment == "dropped":
        assert found.case is not None
        again = asyncio.run(repeats(bench, found, found.case, Budget(20.0)))
        assert again is not None and again.kind == "failed setuid"
        repaired = FUNCTIONS.replace(
            "    setuid(getuid()); /* dropped */\n    return 0;", "    return setuid(getuid());"
        )
        bench = bench.with_change("a.c", repaired.encode())
        assert asyncio.run(repeats(bench, found, found.case, Budget(20.0))) is None
