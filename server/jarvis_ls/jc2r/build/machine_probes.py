"""What a machine says to the questions of a set-up: `HAVE_STRDUP`, `SIZEOF_LONG`, `HAVE_STDINT_H`.

Whether a function is there one call of the linker says for all of them, whether a type is or a
member of a structure one of the compiler.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from jarvis_ls.codeintel import clang

SECONDS = 60
"""How long the linker or the compiler may take."""
_ALWAYS = ("STDC_HEADERS", "TIME_WITH_SYS_TIME", "HAVE_BOTH_TIME_H", "HAVE_ALLOCA")
TYPES = re.compile(
    r"(?:off|size|ssize|pid|uid|gid|mode|time|sig|ino|dev|socklen|ptrdiff|wchar|wint|u?intptr|u?intmax"
    r"|(?:u_?)?int(?:8|16|32|64))_t|u_(?:char|short|int|long)|(?:unsigned_)?long_long(?:_int)?"
    r"|long_double|_bool"
)
"""Types that C and POSIX have, as macros ask for them."""
_SIZES = {
    name: struct.calcsize(code)
    for name, code in {
        "CHAR": "b",
        "SHORT": "h",
        "INT": "i",
        "LONG": "l",
        "LONG_LONG": "q",
        "VOID_P": "P",
        "SIZE_T": "N",
        "SSIZE_T": "n",
        "OFF_T": "q",
        "TIME_T": "l",
        "INT16_T": "h",
        "INT32_T": "i",
        "INT64_T": "q",
        "FLOAT": "f",
        "DOUBLE": "d",
        "WCHAR_T": "i",
    }.items()
}
_MISSING = re.compile(r"undefined (?:symbol: |reference to `)(\w+)")
_WRONG = re.compile(r"^[^:\n]*:(\d+):\d+: (?:fatal )?error:", re.MULTILINE)
_STRUCTURED = tuple(
    "sys/types.h sys/stat.h sys/time.h sys/socket.h sys/un.h sys/uio.h sys/resource.h "
    "sys/statvfs.h sys/ioctl.h sys/times.h sys/utsname.h netinet/in.h net/if.h netdb.h "
    "arpa/inet.h ifaddrs.h dirent.h time.h pwd.h grp.h utmpx.h utime.h termios.h signal.h "
    "poll.h locale.h wchar.h wctype.h regex.h stdint.h inttypes.h".split()
)
"""Headers that types are looked for in."""
_PARTS = 8
"""So many words of a macro name a structure and its member."""


def answers(asked: Iterable[str]) -> dict[str, str]:
    """Of the macros that ask something, those that the machine says yes to."""
    functions: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in asked:
        word = name.removeprefix("HAVE_").lower()
        size = _SIZES.get(name.removeprefix("SIZEOF_").removeprefix("UNSIGNED_"))
        if size is not None and name.startswith("SIZEOF_"):
            found[name] = str(size)
        elif (
            name in _ALWAYS
            or TYPES.fullmatch(word)
            or (name.endswith("_H") and _is_header(word[:-2]))
        ):
            found[name] = "1"
        elif not name.endswith("_H"):
            functions[name] = word.removeprefix("decl_")
    there = in_library(sorted(set(functions.values())))
    found |= {name: "1" for name, word in functions.items() if word in there}
    of_types = {name: [*_of_types(word)] for name, word in functions.items() if name not in found}
    return {**found, **dict.fromkeys(_that_compile(of_types), "1")}


def size_of(type_: str) -> int | None:
    """Return how many bytes a type of C or POSIX has; None when it is not known."""
    name = re.sub(r"\s+", "_", type_.strip().removeprefix("struct ")).upper().replace("*", "_P")
    name = name.replace("__", "_").removeprefix("UNSIGNED_").removeprefix("SIGNED_")
    match = re.fullmatch(r"U?INT(?:_LEAST)?(8|16|32|64)_T", name)
    return int(match[1]) // 8 if match is not None else _SIZES.get(name)


def _of_types(word: str) -> Iterator[str]:
    """Yield the C expressions, a type or a member, whose presence a macro tests."""
    if word.startswith("struct_"):
        parts = word.split("_")[1 : 1 + _PARTS]
        yield f"sizeof(struct {'_'.join(parts)})"
        for n in range(1, len(parts)):
            yield f"sizeof(((struct {'_'.join(parts[:n])} *)0)->{'_'.join(parts[n:])})"
    elif word.endswith("_t"):
        yield f"sizeof({word})"
    elif word.startswith(("tm_", "st_")):  # as autoconf had it once
        yield f"sizeof(((struct {'tm' if word[0] == 't' else 'stat'} *)0)->{word})"


def _that_compile(forms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names for which one of the expressions compiles."""
    compiler = shutil.which("cc")
    asked = [(name, form) for name, every in forms.items() for form in every]
    if compiler is None or not asked:
        return []
    lines = [
        "#define _GNU_SOURCE 1",
        *(f"#if __has_include(<{header}>)\n#include <{header}>\n#endif" for header in _STRUCTURED),
    ]
    lines = "\n".join(lines).split("\n")
    start = len(lines) + 1
    lines += [f"enum {{ f{n} = {form} }};" for n, (_, form) in enumerate(asked)]
    with tempfile.TemporaryDirectory(prefix="jc2r-") as folder:
        source = Path(folder, "asked.c")
        source.write_text("\n".join([*lines, ""]), encoding="utf-8")
        done = _run([compiler, "-w", "-fsyntax-only", "-fmax-errors=0", str(source)])
    if done is None:
        return []
    wrong = {int(line) - start for line in _WRONG.findall(done.stderr)}
    if wrong and min(wrong) < 0:  # then nothing is known
        return []
    return [name for n, (name, _) in enumerate(asked) if n not in wrong]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Return what a compiler says, in English; None when it takes too long."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return None


def _is_header(word: str) -> bool:
    parts = word.split("_")
    paths = (
        "/".join([*parts[:n], between.join(parts[n:])])
        for n in range(len(parts))
        for between in "_-"
    )
    return any(
        Path(folder, f"{path}.h").is_file() for path in paths for folder in clang.system_includes()
    )


def in_library(names: Sequence[str]) -> set[str]:
    """Functions of these names that programs are linked with; none when nothing can be linked."""
    compiler = shutil.which("cc")
    names = [name for name in names if re.fullmatch(r"[a-z_]\w*", name)]
    if compiler is None or not names:
        return set()
    text = "".join(f'char f{n}(void) __asm__("{name}");\n' for n, name in enumerate(names))
    calls = " + ".join(f"f{n}()" for n in range(len(names)))
    with tempfile.TemporaryDirectory(prefix="jc2r-") as folder:
        source = Path(folder, "asked.c")
        source.write_text(f"{text}int main(void) {{ return {calls}; }}\n", encoding="utf-8")
        command = [compiler, "-w", str(source), "-lm", "-o", str(Path(folder, "asked"))]
        done = _run(command)
    if done is None:
        return set()
    missing = set(_MISSING.findall(done.stderr))
    return set(names) - missing if done.returncode == 0 or missing else set()
