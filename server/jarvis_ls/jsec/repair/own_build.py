"""The project's own build and its own tests, run in the sandbox."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.system_build import system_of
from jarvis_ls.jsec.proof.workbench import Workbench

_RECORD = re.compile(r"^\x1e(build|tests) (\d+) ?(.*)$", re.MULTILINE)
_END = "\x1eend"
_BUILD = {
    "make": "make clean >/dev/null 2>&1; make",
    "configure": "sh ./configure && make",
    "cmake": 'cmake -S . -B "$W/b" && cmake --build "$W/b"',
    "cargo": "cargo build --offline --all-targets",
}
_BEGIN = r"""
W=$(mktemp -d) || exit 1
ulimit -c 0
tell() { printf '\036%s\n' "$*"; tail -c 3000 "$W/log"; printf '\n\036end\n'; }
"""
_MAKE_TESTS = r"""
for target in check test; do
    make -n "$target" >"$W/log" 2>&1 || continue
    grep -q -E "Nothing to be done|is up to date" "$W/log" && continue
    make "$target" >"$W/log" 2>&1 </dev/null; tell tests $? "make $target"
    exit 0
done
"""
_CMAKE_TESTS = r"""
ctest --test-dir "$W/b" -N >"$W/log" 2>&1 || exit 0
grep -q -E "Total Tests: *[1-9]" "$W/log" || exit 0
ctest --test-dir "$W/b" --output-on-failure >"$W/log" 2>&1 </dev/null; tell tests $? ctest
"""


_CARGO_BEGIN = r"""
[ -z "$HOME" ] || mkdir -p "$HOME"
export CARGO_TARGET_DIR="$W/target" CARGO_INCREMENTAL=0
cd @CRATE@ || exit 1
"""
_CARGO_TESTS = r"""
cargo test --offline -- --list >"$W/log" 2>&1 || exit 0
grep -q ': test$' "$W/log" || exit 0
cargo test --offline >"$W/log" 2>&1 </dev/null; tell tests $? "cargo test"
"""
_TESTS = {"cmake": _CMAKE_TESTS, "cargo": _CARGO_TESTS}


@dataclass(frozen=True, slots=True)
class OwnBuild:
    """What came of the project's own build and tests."""

    system: str
    """`make`, `configure`, `cmake` or `cargo`; empty when the project has no build of its own."""
    builds: bool = False
    """Whether its build succeeded."""
    build_log: str = ""
    """The end of what it wrote."""
    tests: str = ""
    """The command that runs its tests, such as `make check`; empty when there are none."""
    passes: bool = False
    """Whether these passed."""
    test_log: str = ""
    """The end of what they wrote."""
    ended: str = ""
    """Why it was ended before it was done; empty otherwise."""


async def build_and_test(bench: Workbench, budget: Budget, crate: str) -> OwnBuild:
    """Build a project as it builds itself and run its own tests; `crate` is the folder of the crate
    to do so with, empty for C and C++. Raises `JarvisError` when nothing can be run."""
    system = "cargo" if crate else system_of(bench.root)
    if not system:
        return OwnBuild("")
    script = [
        "(",
        _BEGIN,
        _CARGO_BEGIN.replace("@CRATE@", shlex.quote(f"./{crate}")) if crate else "",
        f'{{ {_BUILD[system]}; }} >"$W/log" 2>&1 </dev/null',
        "STATUS=$?; tell build $STATUS",
        "[ $STATUS = 0 ] || exit 0",
        _TESTS.get(system, _MAKE_TESTS),
        ")",
    ]
    output = await bench.run("\n".join(script), budget)
    found = {kind: (status, about, log) for kind, status, about, log in _records(output.text)}
    status, _, log = found.get("build", (1, "", output.text[-3000:]))
    tested, command, test_log = found.get("tests", (1, "", ""))
    return OwnBuild(system, status == 0, log, command, tested == 0, test_log, output.ended)


def _records(text: str) -> list[tuple[str, int, str, str]]:
    found = []
    for head in _RECORD.finditer(text):
        end = text.find(_END, head.end())
        log = text[head.end() : end if end >= 0 else len(text)].strip()
        found.append((head[1], int(head[2]), head[3].strip(), log))
    return found
