"""bzip2 and zlib in Rust against the C that gcc -O2 makes: the same bytes, and what they cost.

Every case of the seeds, each side reading what the other wrote, a stream over 1 GB, user time, and
how many planted mutants of the library the tests find; then what lifting leaves that is unsafe.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from jarvis_ls.jc2r.lift.rust import read_sources
from jarvis_ls.jc2r.lift.unsafe_count import count
from support import bzip2_cases

RUN = "import sys; from jarvis_ls.cli.jc2r import main; sys.exit(main())"
MUTANTS = 62
REPEATS = 5
LARGE = 1100
"""Megabytes of the large stream."""


def main() -> int:
    """Translate, compare, measure; returns the exit status."""
    table = Table("bzip2 1.0.8 and zlib, Rust against C (gcc -O2)")
    sources = Path(os.environ["JARVIS_BENCH_SOURCES"])
    with tempfile.TemporaryDirectory(prefix="jarvis-bench-") as name:
        folder = Path(name).resolve()
        _bzip2(table, sources, folder)
        _zlib(table, sources, folder)
    return table.finish()


def _bzip2(table: Table, sources: Path, folder: Path) -> None:
    root = folder / "bzip2"
    bzip2_cases.make_project(sources / "bzip2", root)
    started = time.monotonic()
    said = _jc2r("run", "--baseline", root)
    table.at_most("bzip2: translate and build", time.monotonic() - started, 20, "s")
    table.at_most("bzip2: functions left in C", said.count("stays in C"), 0)
    c = bzip2_cases.build_c(root, folder / "c")
    rust = folder / "bzip2_rs" / "target" / "release" / "bzip2"
    records = list(bzip2_cases.cases(root, c, whole=True))
    lines = "".join(json.dumps(one) + "\n" for one in records)
    (root / ".jarvis" / "c2rust" / "cases.jsonl").write_text(lines)
    found = _verified(
        root,
        "--mutants",
        str(MUTANTS),
        "--explore",
        "30",
        "--seconds",
        "400",
        "--only",
        *bzip2_cases.LIBRARY,
    )
    equal = sum(one["state"] == "equal" for one in found["cases"])
    table.at_least("bzip2: cases equal", equal, len(records))
    differ = sum(one["state"] not in ("equal", "not_run", "no_input") for one in found["functions"])
    table.at_most("bzip2: library functions that differ", differ, 0)
    mutants = found["mutants"]
    table.note("bzip2: mutants of the library that are not equivalent", mutants["planted"])
    share = 100 * mutants["killed"] / mutants["planted"]
    table.at_least("bzip2: of these found", share, 100 * 45 / 55, "%")

    data = folder / "data"
    data.write_bytes(_text(root))
    packed = folder / "data.bz2"
    packed.write_bytes(_output([c["bzip2"], "-c", str(data)]))
    _ratios(table, "bzip2", c["bzip2"], rust, data, packed)
    table.at_least("bzip2: large streams that come back whole", _large(c["bzip2"], rust), 2)

    _jc2r("lift", root)
    _ratios(table, "bzip2 lifted", c["bzip2"], rust, data, packed)
    modules = {Path(one).stem for one in bzip2_cases.LIBRARY}
    library = [one for one in read_sources(root.parent / "bzip2_rs") if one.path.stem in modules]
    counts = count(library)
    table.at_most("bzip2 lifted: unsafe lines of the library", counts.unsafe_share, 85, "%")
    table.at_most("bzip2 lifted: raw pointer types in it", counts.raw_pointers, 350)


def _ratios(table: Table, name: str, c: Path, rust: Path, data: Path, packed: Path) -> None:
    """User time of Rust and C for each thing bzip2 does."""
    for what, words, limit in (
        ("compress -1", ["-c", "-1", str(data)], 1.1),
        ("compress -9", ["-c", "-9", str(data)], 1.1),
        ("decompress", ["-dc", str(packed)], 1.2),
        ("decompress -s", ["-dcs", str(packed)], 1.2),
    ):
        _ratio(table, f"{name}: {what}", [c, *words], [rust, *words], limit)


def _zlib(table: Table, sources: Path, folder: Path) -> None:
    root, build = folder / "zlib", folder / "zlib-c"
    for target in (root, build):
        subprocess.run(["cp", "-r", sources / "zlib", target], check=True)
    _jc2r("run", "--baseline", "--build", root)
    files = [str(path) for path in sorted(build.glob("*.c"))]
    c = build / "minigzip-c"
    subprocess.run(
        [
            "gcc",
            "-w",
            "-O2",
            "-D_LARGEFILE64_SOURCE=1",
            "-DHAVE_HIDDEN",
            "-DHAVE_UNISTD_H",
            f"-I{build}",
            str(build / "test" / "minigzip.c"),
            *files,
            "-o",
            str(c),
        ],
        check=True,
        timeout=300,
    )
    rust = folder / "zlib_rs" / "target" / "release" / "minigzip"
    data, packed = folder / "data", folder / "data.gz"
    same = 0
    for level in ("-1", "-6", "-9"):
        said = [_output([program, level, "-c"], data) for program in (c, rust)]
        same += said[0] == said[1]
        packed.write_bytes(said[0])
        same += _output([rust, "-d", "-c"], packed) == data.read_bytes()
        _ratio(table, f"zlib: compress {level}", [c, level, "-c"], [rust, level, "-c"], 1.1, data)
    table.at_least("zlib: outputs equal", same, 6)
    _ratio(table, "zlib: decompress", [c, "-d", "-c"], [rust, "-d", "-c"], 1.2, packed)


def _ratio(
    table: Table,
    what: str,
    c: Sequence[Any],
    rust: Sequence[Any],
    limit: float,
    data: Path | None = None,
) -> None:
    """User time of Rust divided by that of C, the least of some runs of each."""
    costs: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(REPEATS):
        for ours in (False, True):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            _output(rust if ours else c, data)
            costs[ours].append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    table.note(f"{what}, C", min(costs[False]), "s")
    table.at_most(f"{what}, Rust / C", min(costs[True]) / min(costs[False]), limit, "x")


def _large(c: Path, rust: Path) -> int:
    """How many directions carry a stream over 1 GB: C writes and Rust reads, and the reverse."""
    good = 0
    for writer, reader in ((c, rust), (rust, c)):
        packing = subprocess.Popen([writer, "-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        unpacking = subprocess.Popen([reader, "-d"], stdin=packing.stdout, stdout=subprocess.PIPE)
        summing = subprocess.Popen(["sha256sum"], stdin=unpacking.stdout, stdout=subprocess.PIPE)
        assert packing.stdin and packing.stdout and unpacking.stdout and summing.stdout
        packing.stdout.close()
        unpacking.stdout.close()
        expected = hashlib.sha256()
        for number in range(LARGE):
            block = f"{number:>999}\n".encode() + bytes((1 << 20) - 1000)
            expected.update(block)
            packing.stdin.write(block)
        packing.stdin.close()
        digest = summing.stdout.read().split()[0].decode()
        statuses = [process.wait() for process in (packing, unpacking, summing)]
        good += digest == expected.hexdigest() and not any(statuses)
    return good


def _text(root: Path) -> bytes:
    """Some 9 MB of text, programs and numbers."""
    parts = [
        path.read_bytes()
        for path in sorted(root.glob("*"))
        if path.suffix in (".c", ".h", ".ref", ".html", ".xml", ".txt", ".ps")
    ]
    one = b"".join(parts)
    return b"".join(one[start:] + one[:start] for start in range(0, 40_000, 10_000))[:9_000_000]


def _output(command: Sequence[Any], data: Path | None = None) -> bytes:
    with (data or Path(os.devnull)).open("rb") as stdin:
        return subprocess.run(
            [str(word) for word in command], stdin=stdin, capture_output=True, check=True
        ).stdout


def _jc2r(*words: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words), "--trust"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"jc2r {words[0]} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def _verified(root: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_jc2r("verify", root, "--format", "json", *words))
    return found


if __name__ == "__main__":
    sys.exit(main())
