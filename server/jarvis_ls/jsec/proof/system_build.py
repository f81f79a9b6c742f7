"""Building a program by the project's own Makefile, CMakeLists.txt or configure, in the sandbox.

Stand-ins for the compilers, first on the path, add the sanitizers and the interposers to what the
build asks for, and leave out what contradicts them.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from jarvis_ls.jsec.proof.evidence import Build
from jarvis_ls.jsec.proof.toolchain import LINKED, Toolchain

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_NAMES = "cc gcc clang c99 c89 c++ g++ clang++"
_STAND_IN = r"""#!/bin/bash
compile= only= shared=
words=()
for word in "$@"; do
    case $word in
    -c) compile=1 ;;
    -E|-S|-M|-MM|--version|-v|-V|-qversion|-dump*|-print*) only=1 ;;
    -shared) shared=1 ;;
    -s|-static|-flto*|-Werror*|-fsanitize*|-pg|--coverage|*_FORTIFY_SOURCE*) continue ;;
    esac
    words+=("$word")
done
case ${0##*/} in
*++) compiler=@CPP@ linker=@CPP_LINKER@ ;;
*) compiler=@C@ linker=@LINKER@ ;;
esac
[ -z "$only" ] || exec "$linker" "$@"
[ -z "$compile" ] || exec "$compiler" "${words[@]}" @OPTIONS@
[ -z "$shared" ] || exec "$linker" "${words[@]}" @PLAIN@ @LINKED@
exec "$linker" "${words[@]}" @PLAIN@ @LINKED@ @WRAP@ @W@/interposers.o
"""


def system_of(root: Path) -> str:
    """Return how a project is built: `make`, `configure`, `cmake`, or nothing that is known."""
    if any((root / name).is_file() for name in _MAKEFILES):
        return "make"
    if (root / "CMakeLists.txt").is_file():
        return "cmake"
    return "configure" if (root / "configure").is_file() else ""


def system_lines(build: Build, options: str, plain: str, wrap: str, tools: Toolchain) -> list[str]:
    """Return the lines of a script that build all of a project and take the program that the file
    `build.sources[0]` is in as `$W/prog`. `options` are those for every file, `plain` those for
    what the linker compiles itself."""
    text = _STAND_IN
    for name, value in (
        ("OPTIONS", options),
        ("PLAIN", plain),
        ("LINKED", LINKED),
        ("WRAP", wrap),
        ("CPP_LINKER", _path(tools.cpp_linker or build.linker)),
        ("CPP", _path(tools.cpp or build.compiler)),
        ("C", _path(build.compiler)),
        ("LINKER", _path(build.linker)),
    ):
        text = text.replace(f"@{name}@", value)
    steps = {
        "make": ["make clean >/dev/null 2>&1", 'make -k >"$W/errors" 2>&1'],
        "configure": [
            'sh ./configure >"$W/errors" 2>&1 || fail',
            'make -k >"$W/errors" 2>&1',
        ],
        "cmake": [
            'cmake -S . -B "$W/b" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$W/bin/cc" '
            '-DCMAKE_CXX_COMPILER="$W/bin/c++" >"$W/errors" 2>&1 || fail',
            'cmake --build "$W/b" >"$W/errors" 2>&1',
        ],
    }
    name = shlex.quote(Path(build.sources[0]).name)
    return [
        'mkdir "$W/bin" "$W/b"',
        f"cat >\"$W/stand-in\" <<'JSEC_END'\n{text}JSEC_END",
        'sed -i "s|@W@|$W|" "$W/stand-in"; chmod +x "$W/stand-in"',
        f'for name in {_NAMES}; do cp "$W/stand-in" "$W/bin/$name"; done',
        'PATH="$W/bin:$PATH"; export PATH',
        *steps[build.system],
        'find . "$W/b" -type f -perm -100 ! -name "*.so*" ! -name "*.o" | head -n 400 >"$W/found"',
        "while IFS= read -r place; do",
        '    head -c 4 "$place" | grep -q -a ELF || continue',
        f'    grep -q -a -F {name} "$place" || continue',
        '    grep -q -a -F __asan_init "$place" || continue',
        '    grep -q -a -F __wrap_malloc "$place" || continue',
        '    cp "$place" "$W/prog" && break',
        'done <"$W/found"',
        '[ -x "$W/prog" ] || fail',
    ]


def _path(name: str) -> str:
    return f'"$(PATH=/usr/local/bin:/usr/bin:/bin command -v {shlex.quote(name)})"'
