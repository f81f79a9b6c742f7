"""Headers outside of the project, and `compile_commands.json`: what they say removes and adds
findings. The headers of the tests are in a folder of their own beside the project."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from commands import issues, jsec, write

pytestmark = pytest.mark.watches()

SDK = """#ifndef SDK_H
#define SDK_H
#include "sdk/loop.h"
#ifdef __cplusplus
extern "C" {
#endif
#define SDK_NAME (4 * SDK_UNIT)
#define SDK_API __attribute__((visibility("default")))
#if defined(SDK_OLD)
#define SDK_CALL __cdecl
#else
#define SDK_CALL
#endif
enum sdk_sizes { SDK_SMALL = 8, SDK_LARGE };
struct sdk_packed { char tag; int length; char body[3]; } __attribute__((packed));
typedef struct { char tag; int length; char body[3]; } sdk_padded;
typedef char sdk_word[6];
SDK_API extern int SDK_CALL sdk_open(const struct sdk_packed *from, sdk_word into);
#ifdef __cplusplus
}
#endif
#endif
"""
LOOP = '#include "sdk.h"\n#define SDK_UNIT 4\n#define SDK_UNIT_OF(x) x\n'

USES = """#include <string.h>
#include <sdk/sdk.h>
void constant(const char *from) {{ char to[SDK_NAME]; memcpy(to, from, {constant}); }}
void enumerator(const char *from) {{ char to[SDK_LARGE]; memcpy(to, from, {enumerator}); }}
void packed(const char *from) {{ struct sdk_packed to; memcpy(&to, from, {packed}); }}
void padded(const char *from) {{ sdk_padded to; memcpy(&to, from, {padded}); }}
void word(const char *from) {{ sdk_word to; memcpy(to, from, {word}); }}
"""
SOUND = {"constant": 16, "enumerator": 9, "packed": 8, "padded": 12, "word": 6}
FLAWED = {name: size + 1 for name, size in SOUND.items()}
ALL = list(range(3, 8))


def project(root: Path, files: dict[str, str], *words: str, headers: str = SDK) -> Path:
    """Write a project and the headers beside it; return the folder of the project."""
    own, sdk = root / "own", root / "include"
    write(own, files)
    write(sdk, {"sdk/sdk.h": headers, "sdk/loop.h": LOOP})
    entries = [
        {"directory": str(own), "file": name, "arguments": ["cc", f"-I{sdk}", *words, "-c", name]}
        for name in files
        if name.endswith((".c", ".cc"))
    ]
    (own / "build").mkdir(exist_ok=True)
    (own / "build" / "compile_commands.json").write_text(json.dumps(entries))
    return own


def past(own: Path, *words: str) -> list[int]:
    """Return the lines in which something is written past its end."""
    found = issues("--no-cache", *words, cwd=own)
    return sorted({one["line"] for one in found if one["rule"] == "write-past-buffer"})


def head(own: Path) -> dict[str, Any]:
    """Return the summary of a scan."""
    run = jsec("scan", "--format", "json", "--no-cache", cwd=own)
    summary: dict[str, Any] = json.loads(run.stdout)["summary"]
    return summary


@pytest.mark.parametrize("end", [".c", ".cc"])
def test_types_constants_and_layouts_are_known(tmp_path: Path, end: str) -> None:
    own = project(tmp_path, {f"a{end}": USES.format(**FLAWED)})
    assert past(own) == ALL


def test_what_fits_is_not_told(tmp_path: Path) -> None:
    assert past(project(tmp_path, {"a.c": USES.format(**SOUND)})) == []


def test_switched_off_nothing_is_asked(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": USES.format(**FLAWED)})
    write(own, {".jarvis/jsec.toml": "installed_headers = false\n"})
    assert past(own) == []
    assert head(own)["installed_headers"] == {"count": 0, "digest": ""}


def test_the_report_says_how_many_headers_there_were(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": "#include <sdk/sdk.h>\nint f(void) { return 1; }\n"})
    first = head(own)["installed_headers"]
    assert first["count"] == 2
    assert len(first["digest"]) == 32
    (tmp_path / "include" / "sdk" / "sdk.h").write_text(SDK + "\n")
    assert head(own)["installed_headers"]["digest"] != first["digest"]
    sarif = json.loads(jsec("scan", "--format", "sarif", "--no-cache", cwd=own).stdout)
    assert sarif["runs"][0]["invocations"][0]["properties"]["installedHeaders"]["count"] == 2


def test_a_kept_answer_is_forgotten_when_a_header_changes(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": USES.format(**SOUND)})
    assert issues(cwd=own) == []
    smaller = SDK.replace("4 * SDK_UNIT", "3 * SDK_UNIT")
    (tmp_path / "include" / "sdk" / "sdk.h").write_text(smaller)
    assert [one["line"] for one in issues(cwd=own)] == [3]


def test_gaps_are_closed_by_headers(tmp_path: Path) -> None:
    code = (
        "#include <sdk/sdk.h>\n#include <sdk/none.h>\n"
        "int f(struct sdk_packed *p, sdk_word w, sdk_none *n)"
        " { return sdk_open(p, w) + sdk_close(n); }\n"
    )
    own = project(tmp_path, {"a.c": code})
    run = jsec("scan", "--explain-gaps", "--format", "json", "--no-cache", cwd=own)
    found = {(gap["kind"], gap["name"]) for gap in json.loads(run.stdout)["gaps"]}
    assert found == {("header", "sdk/none.h"), ("type", "sdk_none"), ("function", "sdk_close")}


def test_a_declared_function_leaves_alone_what_it_may_not_write(tmp_path: Path) -> None:
    code = """#include <string.h>
#include <sdk/sdk.h>
char f(void) {{
    struct sdk_packed one = {{1, 2, "x"}};
    char to[4];
    sdk_word word;
    sdk_open(&one, word);
    memcpy(to, "abcdef", one.length + {more});
    return to[0];
}}
"""
    own = project(tmp_path, {"a.c": code.format(more=2)})
    assert past(own) == []
    write(own, {"a.c": code.format(more=3)})
    assert past(own) == [8]


def test_names_that_headers_declare_in_several_ways_stay_unknown(tmp_path: Path) -> None:
    unsure = SDK.replace(
        "#define SDK_NAME (4 * SDK_UNIT)",
        "#ifdef A\n#define SDK_NAME 9\n#else\n#define SDK_NAME 99\n#endif",
    ).replace(
        "char body[3]; } _",
        """
#ifdef SDK_MORE
long more;
#endif
char body[3]; } _""",
    )
    own = project(tmp_path, {"a.c": USES.format(**FLAWED)}, headers=unsure)
    assert past(own) == [4, 6, 7]


def test_a_torn_header_costs_only_what_it_would_have_said(tmp_path: Path) -> None:
    torn = SDK.replace("typedef struct {", "SDK_WHAT(x) typedef strukt {{ (((").replace(
        "#define SDK_NAME", "}}}}) #ifdef\n#if (((\n#endif\n#define SDK_NAME"
    )
    own = project(tmp_path, {"a.c": USES.format(**FLAWED)}, headers=torn)
    assert past(own) == [3, 5]


CONDITIONAL = """#include <string.h>
#ifdef NARROW
#define SIZE 8
#else
#define SIZE 64
#endif
void f(const char *from) { char to[SIZE]; memcpy(to, from, 32); }
#if LEVEL >= 2
void g(const char *from) { char to[8]; memcpy(to, from, 9); }
#else
void g(const char *from) { char to[8]; memcpy(to, from, 8); }
#endif
void h(const char *from) { char to[WIDTH]; memcpy(to, from, 5); }
"""


def test_macros_of_the_command_line_decide_conditions(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": CONDITIONAL}, "-DNARROW", "-D", "LEVEL=2", "-DWIDTH=4")
    assert past(own) == [7, 9, 13]
    own = project(tmp_path, {"a.c": CONDITIONAL}, "-UNARROW", "-DLEVEL=1", "-DWIDTH=5")
    assert past(own) == []
    write(own, {"args": "-DNARROW -DWIDTH=4"})
    own = project(tmp_path, {"a.c": CONDITIONAL}, "-UNARROW", "-DLEVEL=1", "@args")
    assert past(own) == []


def test_kept_answers_know_the_macros_of_the_command_line(tmp_path: Path) -> None:
    code = CONDITIONAL.partition("#if LEVEL")[0].replace("#include <string.h>\n", "")
    code = code.replace("memcpy(to, from, 32)", "to[32] = *from")
    own = project(tmp_path, {"a.c": code}, "-UNARROW")
    assert [one for one in issues(cwd=own) if one["rule"] == "write-past-buffer"] == []
    own = project(tmp_path, {"a.c": code}, "-DNARROW")
    assert [one["line"] for one in issues(cwd=own) if one["rule"] == "write-past-buffer"] == [6]


def test_of_several_commands_for_a_file_the_first_counts(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": CONDITIONAL}, "-UNARROW", "-DLEVEL=1", "-DWIDTH=5")
    place = own / "build" / "compile_commands.json"
    entry = json.loads(place.read_text())[0]
    command = {"directory": "..", "file": "a.c", "command": 'cc -DNARROW "-DLEVEL=2" -c a.c'}
    place.write_text(json.dumps([entry, command]))
    assert past(own) == []
    place.write_text(json.dumps([command, entry]))
    assert past(own) == [7, 9]


def test_headers_of_the_project_are_taken_from_the_folders_that_are_named(tmp_path: Path) -> None:
    own = project(
        tmp_path,
        {
            "src/a.c": "#include <string.h>\n#include <config.h>\n"
            "void f(const char *from) { char to[SIZE]; memcpy(to, from, 20); }\n",
            "src/other/config.h": "#define SIZE 32\n",
            "far/config.h": "#define SIZE 16\n",
        },
        "-Ifar",
    )
    assert past(own) == [3]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 100_000,
        '{"file": "a.c"}',
        "\x00\xff",
        "[" + "1" * 5_000 + "]",
        '[{"file": "a.c", "directory": "/", "arguments": "x"}, 7, null, {"file": ["a.c"]}]',
        '[{"file": "a.c", "directory": ".", "command": "cc \\"-DX"}]',
    ],
)
def test_what_is_wrong_in_the_file_is_told_in_a_line(tmp_path: Path, text: str) -> None:
    own = tmp_path / "own"
    write(own, {"a.c": USES.format(**FLAWED), "compile_commands.json": text})
    warnings = head(own)["warnings"]
    assert len(warnings) == (0 if text.startswith("[{") else 1)
    assert all("compile_commands.json is not used" in warning for warning in warnings)


def test_hostile_headers_are_left_out(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": USES.format(**FLAWED)})
    sdk = tmp_path / "include" / "sdk"
    names = [
        "huge.h",
        "loop_a.h",
        "pipe.h",
        "locked.h",
        "folder.h",
        "deep.h",
        "bomb.h",
        "many.h",
        "ways.h",
    ]
    with (sdk / "huge.h").open("wb") as huge:
        huge.truncate(100_000_000)
    (sdk / "loop_a.h").symlink_to(sdk / "loop_b.h")
    (sdk / "loop_b.h").symlink_to(sdk / "loop_a.h")
    os.mkfifo(sdk / "pipe.h")
    (sdk / "locked.h").write_text("#define SDK_LOCKED 1\n")
    (sdk / "locked.h").chmod(0)
    (sdk / "folder.h").mkdir()
    deep = "struct a { " * 5_000
    (sdk / "deep.h").write_text(deep + "#if " + "(" * 5_000 + "1\nint f(" + "(" * 5_000)
    bomb = "".join(f"#define B{n} B{n + 1} B{n + 1}\n" for n in range(40))
    chain = "".join(f"#define C{n} C{n + 1}\n" for n in range(3_000))
    (sdk / "bomb.h").write_text(f"{bomb}typedef int B0 sdk_bomb;\n{chain}#define F(x) F(F(x))\n")
    ways = "".join(
        f"#ifdef O{n}\n#define A{n % 40} {' '.join(f'A{m}' for m in range(40))} {n}\n#endif\n"
        for n in range(200)
    )
    calls = "F(" * 3_000 + "x" + ")" * 3_000
    (sdk / "ways.h").write_text(f"{ways}typedef A0 sdk_ways;\ntypedef {calls} sdk_calls;\n")
    (sdk / "many.h").write_text("".join(f"#include <m{n}.h>\n" for n in range(20_000)))
    uses = "".join(f"#include <sdk/{name}>\n" for name in names)
    code = "sdk_ways *w; sdk_calls *c;\n"
    code += "sdk_bomb g(sdk_bomb x) { char to[C0]; to[5] = F(x); return to[B0]; }\n"
    write(own, {"a.c": uses + USES.format(**FLAWED) + code})
    before = time.monotonic()
    found = past(own)
    assert found == [line + len(names) for line in ALL]
    assert time.monotonic() - before < 60
    (sdk / "locked.h").chmod(0o600)


def test_hostile_commands_are_refused(tmp_path: Path) -> None:
    own = project(tmp_path, {"a.c": USES.format(**FLAWED)})
    place = own / "build" / "compile_commands.json"
    entry = json.loads(place.read_text())[0]
    with place.open("wb") as file:
        file.truncate(200_000_000)
    (warning,) = head(own)["warnings"]
    assert "build/compile_commands.json is not used: larger than" in warning
    other = {"directory": "/", "file": "x.c", "command": "cc"}
    place.write_text(json.dumps([other] * 150_000 + [entry]))
    assert past(own) == ALL
    for name in ("..", "/dev", "/proc/self", "\0", "\ud800"):
        place.write_text(
            json.dumps(
                [{**entry, "arguments": ["cc", "-I", name, "-include", name, f"-DX={name}"]}]
            )
        )
        assert head(own)["warnings"] == []
    place.unlink()
    os.mkfifo(place)
    assert head(own)["notes"] == []


ADDRESS = """#include <sdk/sdk.h>
long recvfrom(int, void *, unsigned long, int, struct sdk_address *, unsigned *);
int sent(int from) {{
    char text[64];
    union {{ struct sdk_address any; char raw[16]; }} peer;
    unsigned length = sizeof peer;
    long size = {call};
    return size > 0 && peer.any.family == 2;
}}
int bits(void) {{
    struct sdk_bits head;
    head.version = 4; head.length = 5; head.kind = 0; head.total = 0;
    return ((unsigned short *)&head)[0];
}}
"""


def test_what_is_received_with_an_address_gives_it_a_value(tmp_path: Path) -> None:
    headers = SDK.replace(
        "enum sdk_sizes",
        "struct sdk_address { unsigned short family; char data[14]; };\n"
        "struct sdk_bits { unsigned version:4; unsigned length:4; char kind; short total; };\n"
        "enum sdk_sizes",
    )
    call = "recvfrom(from, text, sizeof text, 0, &peer.any, &length)"
    own = project(tmp_path, {"a.c": ADDRESS.format(call=call)}, headers=headers)

    def unset() -> list[int]:
        found = issues("--no-cache", cwd=own)
        return [one["line"] for one in found if one["rule"] == "uninitialized-variable"]

    assert unset() == []
    write(own, {"a.c": ADDRESS.format(call="from")})
    assert unset() == [8]
