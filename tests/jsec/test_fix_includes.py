"""A rewrite brings the header of what it introduces: once, behind the includes of the file."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from folders import Scan, write

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import count_errors, parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.findings.includes import HEADERS, is_include
from jarvis_ls.jsec.scan.apply_fixes import apply_fixes, fix_file

FIXTURES = [
    one
    for one in sorted((Path(__file__).parent / "rules").rglob("*.*"))
    if one.suffix in (".c", ".cpp", ".h", ".hpp")
]
SPRINTF = 'void f(const char *s) { char b[8]; sprintf(b, "%s", s); }\n'
ENGINE = Engine()


def analysed(text: str, name: str, *headers: Facts) -> list[Finding]:
    source = decode(name, text.encode())
    language = language_of(name, source.data)
    assert language is not None
    return ENGINE.analyse(source, language, headers=lambda _: ("", headers)).findings


def fixed(text: str, name: str = "a.c", *headers: Facts, rules: Sequence[str] = ()) -> str:
    """The text with every rewrite applied, twice: the second time changes nothing more."""
    for _ in range(2):
        source = decode(name, text.encode())
        language = language_of(name, source.data)
        assert language is not None
        found = [one for one in analysed(text, name, *headers) if one.rule in rules or not rules]
        result = apply_fixes(source, language, found, unsafe=True)
        assert not [why for _, why in result.refused if "syntax" in why]
        text = result.after.decode()
    return text


ONE = '#include "own.h"\n'
STDIO = "#include <stdio.h>\n"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.c", ONE + "\n", ONE + STDIO + "\n"),
        ("a.c", ONE.replace("\n", " // ours\n"), ONE.replace("\n", " // ours\n") + STDIO),
        ("a.c", "/* Licence */\n\n", "/* Licence */\n\n" + STDIO + "\n"),
        (
            "a.c",
            "/* Licence */\n\n/* Writes. */\n",
            "/* Licence */\n\n" + STDIO + "\n/* Writes. */\n",
        ),
        ("a.c", "", STDIO + "\n"),
        ("a.c", "#define _GNU_SOURCE\n", "#define _GNU_SOURCE\n" + STDIO),
        (
            "a.c",
            "#ifdef HAVE_CONFIG_H\n#include <config.h>\n#endif /* it */\n\n",
            "#ifdef HAVE_CONFIG_H\n#include <config.h>\n#endif /* it */\n" + STDIO + "\n",
        ),
        (
            "a.c",
            ONE + "#ifdef A\n#include <a.h>\n#else\n#include <b.h>\n#endif\n",
            ONE + STDIO + "#ifdef A\n#include <a.h>\n#else\n#include <b.h>\n#endif\n",
        ),
        ("a.c", ONE + "int a;\n#include <late.h>\n", ONE + STDIO + "int a;\n#include <late.h>\n"),
        ("a.c", "#ifdef A\nint a;\n#endif\n", STDIO + "\n#ifdef A\nint a;\n#endif\n"),
        ("a.h", "#ifndef A_H\n#define A_H\n" + ONE, "#ifndef A_H\n#define A_H\n" + ONE + STDIO),
        ("a.h", "#if !defined(A_H)\n#define A_H\n", "#if !defined(A_H)\n#define A_H\n" + STDIO),
        ("a.hpp", "#pragma once\n" + ONE, "#pragma once\n" + ONE + STDIO),
        (
            "a.cpp",
            "#include <vector>\nnamespace n {}\n",
            "#include <vector>\n" + STDIO + "namespace n {}\n",
        ),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_it_goes_behind_the_first_includes(name: str, before: str, after: str, ending: str) -> None:
    end = "#endif\n" if "A_H" in before else ""
    text = fixed((before + SPRINTF + end).replace("\n", ending), name, rules=["unbounded-sprintf"])
    written = SPRINTF.replace("sprintf(b", "snprintf(b, sizeof(b)")
    assert text == (after + written + end).replace("\n", ending)


@pytest.mark.parametrize(
    "before",
    [
        STDIO,
        "#include <cstdio>\n",
        "#ifdef A\n#include <stdio.h>\n#endif\n",
        "int snprintf(char *, unsigned long, const char *, ...);\n",
        "#define snprintf own_print\n",
        "#include <linux/kernel.h>\n",
    ],
)
def test_what_the_file_has_is_not_brought(before: str) -> None:
    text = fixed(before + SPRINTF, "a.cpp", rules=["unbounded-sprintf"])
    assert text == before + SPRINTF.replace("sprintf(b", "snprintf(b, sizeof(b)")


def test_what_a_header_of_the_project_includes_is_not_brought() -> None:
    header = Facts(includes=("stdio.h",))
    assert STDIO not in fixed(ONE + SPRINTF, "a.c", header, rules=["unbounded-sprintf"])


def test_several_rewrites_share_their_lines() -> None:
    body = "void g(char *p) { char c[8]; sprintf(c, p); gets(c); free(p); p++; free(p); }\n"
    text = fixed(ONE + SPRINTF + "void h(char *p) { free(p); free(p); }\n" + body)
    assert text.startswith(ONE)
    lines = [line for line in text.splitlines() if line.startswith("#include")]
    assert sorted(lines) == sorted(set(lines))
    assert "#include <stdio.h>" in lines
    assert "p = NULL;" in text


def test_a_file_on_disk_gets_it_too(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": '#include "b.h"\n' + SPRINTF, "b.h": "int b;\n"})
    result = scan_folder(tmp_path)
    found = [one for one in result.findings if one.rule == "unbounded-sprintf"]
    one = fix_file(tmp_path, "a.c", result.digests["a.c"], found, unsafe=False, limit=9999)
    assert one.after.decode().startswith('#include "b.h"\n#include <stdio.h>\nvoid f')
    write(tmp_path, {"b.h": STDIO})
    result = scan_folder(tmp_path)
    found = [one for one in result.findings if one.rule == "unbounded-sprintf"]
    one = fix_file(tmp_path, "a.c", result.digests["a.c"], found, unsafe=False, limit=9999)
    assert b"#include <stdio.h>" not in one.after


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda one: one.name)
def test_every_rewrite_of_a_fixture_brings_what_it_introduces(fixture: Path) -> None:
    """In a file without any include: nothing is introduced whose header is not known."""
    text = re.sub(
        r"(?m)^[ \t]*#[ \t]*include.*$", "", decode("", fixture.read_bytes()).data.decode()
    )
    found = [one for one in analysed(text, fixture.name) if one.fix is not None]
    for one in found:
        assert one.fix is not None
        own = [edit for edit in one.fix.edits if not is_include(edit)]
        words = {word for edit in own for word in _WORD.findall(_STRING.sub("", edit.new_text))}
        known = set(re.findall(r"\w+", text)) | _PLAIN
        brought = {edit.new_text.strip() for edit in one.fix.edits if is_include(edit)}
        for word in words - known - {name.rpartition(":")[2] for name in HEADERS}:
            assert word.endswith(("_buffer", "_method", "resized")) or word in _OF_THE_LIBRARY, word
        for word in words & HEADERS.keys() - known:
            assert brought & {f"#include <{header}>" for header in HEADERS[word]}, word
    source = decode(fixture.name, text.encode())
    language = language_of(fixture.name, source.data)
    assert language is not None
    result = apply_fixes(source, language, found, unsafe=True)
    assert count_errors(parse(result.after, language)) <= count_errors(parse(source.data, language))


_WORD = re.compile(r"(?<![\w.>])[A-Za-z_]\w*")
_STRING = re.compile(r'"[^"]*"')
_PLAIN = frozenset(
    "auto sizeof if while int break virtual default delete nullptr std return char struct "
    "void".split()
)
_OF_THE_LIBRARY = {"RSA_PKCS1_OAEP_PADDING"}
"""What the header of the call that is there declares."""


def test_the_headers_declare_the_names(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    for name, headers in HEADERS.items():
        if name.startswith("std::"):
            continue
        for header in headers:
            use = f"void *f(void) {{ return (void *) {name}; }}\n"
            code = f"#define _GNU_SOURCE\n#include <{header}>\n{use}"
            (tmp_path / "a.c").write_text(code)
            done = subprocess.run(
                [compiler, "-w", "-fsyntax-only", str(tmp_path / "a.c")],
                capture_output=True,
                text=True,
            )
            assert not done.returncode, f"{name} in {header}: {done.stderr}"
