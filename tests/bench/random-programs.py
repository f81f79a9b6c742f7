"""Random programs in C (gcc) and in Rust: what each ends in must be the same.

`JARVIS_BENCH_PROGRAMS` says how many of our own there are (10,000), `JARVIS_BENCH_CSMITH` how many
of Debian's `csmith` (20), where that is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import random_c

RUN = "import sys; from jarvis_ls.cli.jc2r import main; sys.exit(main())"
PROGRAMS = int(os.environ.get("JARVIS_BENCH_PROGRAMS", "10_000"))
CSMITH = int(os.environ.get("JARVIS_BENCH_CSMITH", "20"))
IN_A_CRATE, IN_A_FILE, OF_CSMITH = 250, 50, 5
SECONDS = 20
"""How long a program of csmith may run; many never end."""
SIZES = (
    "--max-funcs",
    "4",
    "--max-block-depth",
    "3",
    "--max-expr-complexity",
    "6",
    "--max-block-size",
    "4",
)


def main() -> int:
    """Compare, print the table, return the exit status."""
    table = Table("random programs, C (gcc) against Rust")
    equal = 0
    with tempfile.TemporaryDirectory(prefix="jarvis-bench-") as name:
        for first in range(0, PROGRAMS, IN_A_CRATE):
            seeds = list(range(first, min(PROGRAMS, first + IN_A_CRATE)))
            equal += _own(Path(name).resolve() / f"own{first}", seeds)
            print(f"  {equal} of {seeds[-1] + 1} equal", flush=True)
        table.at_least("own programs that end the same", equal, PROGRAMS)
        if CSMITH and shutil.which("csmith") is not None:
            ended = same = 0
            for first in range(1, CSMITH + 1, OF_CSMITH):
                seeds = list(range(first, min(CSMITH + 1, first + OF_CSMITH)))
                found = _csmith(Path(name).resolve() / f"csmith{first}", seeds)
                ended, same = ended + found[0], same + found[1]
                print(f"  {same} of {ended} of csmith equal", flush=True)
            table.at_least("programs of csmith that end the same", same, ended)
    return table.finish()


def _own(root: Path, seeds: list[int]) -> int:
    files = {"main.c": random_c.driver(seeds)}
    for place in range(0, len(seeds), IN_A_FILE):
        files[f"unit{place}.c"] = random_c.unit(seeds[place : place + IN_A_FILE])
    c, rust = _both(root, files, [])
    said = [
        subprocess.run(
            [one], capture_output=True, text=True, check=False, timeout=600
        ).stdout.splitlines()
        for one in (c, rust)
    ]
    for one, other in zip(*said, strict=False):
        if one != other:
            print(f"  differs: program {one} in C, {other} in Rust")
    shutil.rmtree(root.with_name(f"{root.name}_rs"))
    return sum(one == other for one, other in zip(*said, strict=False))


def _csmith(root: Path, seeds: list[int]) -> tuple[int, int]:
    """How many programs of csmith came to an end, and how many ended the same."""
    folder = next(Path("/usr/include").glob("csmith*"))
    files = {}
    for seed in seeds:
        text = subprocess.run(
            ["csmith", "-s", str(seed), *SIZES],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        files[f"p{seed}.c"] = re.sub(
            r"\bint main \([^)]*\)", f"int p{seed}(int argc, char *argv[])", text
        )
    cases = "".join(f"  case {seed}: return p{seed}(1, v);\n" for seed in seeds)
    declared = "".join(f"int p{seed}(int, char **);\n" for seed in seeds)
    files["main.c"] = (
        f"#include <stdlib.h>\n{declared}int main(int c, char **v) {{\n"
        f"  switch (atoi(v[1])) {{\n{cases}  }}\n  return 99;\n}}\n"
    )
    files["Makefile"] = f"CFLAGS = -I{folder}\n"
    c, rust = _both(root, files, [f"-I{folder}"])
    ended = same = 0
    for seed in seeds:
        wanted = _result(c, seed)
        if wanted is None:
            continue
        ended += 1
        if _result(rust, seed) == wanted:
            same += 1
        else:
            print(f"  differs: csmith -s {seed} {' '.join(SIZES)}")
    shutil.rmtree(root.with_name(f"{root.name}_rs"))
    return ended, same


def _result(program: Path, seed: int) -> tuple[int, bytes] | None:
    try:
        done = subprocess.run(
            [program, str(seed)], capture_output=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, done.stdout


def _both(root: Path, files: dict[str, str], arguments: list[str]) -> tuple[Path, Path]:
    """The programs as gcc and as we make them. Raises `RuntimeError` when a function stays in C."""
    root.mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    c = root / "in-c"
    sources = [root / name for name in files if name.endswith(".c")]
    subprocess.run(
        ["gcc", "-w", "-O1", "-fwrapv", "-fno-strict-aliasing", *arguments, "-o", c, *sources],
        check=True,
        timeout=1800,
    )
    done = subprocess.run(
        [sys.executable, "-c", RUN, "run", "--baseline", root],
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
        env={**os.environ, "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1"},
    )
    if done.returncode != 0 or "stays in C" in done.stdout:
        raise RuntimeError(f"jc2r run {root}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return c, root.with_name(f"{root.name}_rs") / "target" / "release" / "main"


if __name__ == "__main__":
    sys.exit(main())
