"""bzip2 1.0.8 with a driver of its library as one project, and the seeds' cases of it."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DRIVER = Path(__file__).parents[1] / "jc2r" / "bzip2" / "driver.c"
LIBRARY = (
    "blocksort.c",
    "bzlib.c",
    "compress.c",
    "crctable.c",
    "decompress.c",
    "huffman.c",
    "randtable.c",
)
PROGRAMS = ("bzip2.c", "bzip2recover.c", "driver.c")


def make_project(sources: Path, root: Path) -> None:
    """A copy of bzip2's sources at `root`, with the driver and how files are compiled."""
    shutil.copytree(sources, root, symlinks=True)
    shutil.copyfile(DRIVER, root / "driver.c")
    entries = [
        {
            "directory": str(root),
            "file": file,
            "arguments": ["cc", "-O2", "-D_FILE_OFFSET_BITS=64", "-c", file],
        }
        for file in (*LIBRARY, *PROGRAMS)
    ]
    (root / "compile_commands.json").write_text(json.dumps(entries))


def build_c(root: Path, folder: Path) -> dict[str, Path]:
    """The C programs, built as a user would, by name."""
    folder.mkdir()
    library = [str(root / file) for file in LIBRARY]
    found = {}
    for file in PROGRAMS:
        found[Path(file).stem] = folder / Path(file).stem
        needed = [] if file == "bzip2recover.c" else library
        subprocess.run(
            [
                "gcc",
                "-w",
                "-O2",
                "-D_FILE_OFFSET_BITS=64",
                str(root / file),
                *needed,
                "-lpthread",
                "-o",
                str(found[Path(file).stem]),
            ],
            check=True,
            timeout=300,
        )
    return found


def cases(root: Path, c: Mapping[str, Path], *, whole: bool) -> Iterator[dict[str, Any]]:
    """Records of `cases.jsonl` without what is expected; `whole` for all of them, else those that
    cost little."""
    samples = {n: (root / f"sample{n}.ref").read_bytes() for n in (1, 2, 3)}
    packed = {n: (root / f"sample{n}.bz2").read_bytes() for n in (1, 2, 3)}
    some = samples[1][:20_000]
    for level in range(1, 10):
        data = samples[1] if whole or level in (1, 9) else some
        yield case(f"level {level}", "bzip2", ["-z", "-c", f"-{level}"], data)
    for n in (1, 2, 3):
        yield case(f"sample {n}", "bzip2", ["-dc"], packed[n])
        if whole:
            yield case(f"sample {n} packed", "bzip2", [f"-{n}"], samples[n])
            yield case(f"sample {n} small", "bzip2", ["-dcs"], packed[n])
    yield from _of_bzip2(some, packed)
    yield from _damaged(packed[2] if whole else pack(c, some))
    yield from _of_recover(c, samples[1], whole)
    yield from _of_library(c, samples, whole)


def case(
    name: str,
    program: str,
    arguments: list[str],
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    called: str = "",
) -> dict[str, Any]:
    """A record of `cases.jsonl`."""
    return {
        "name": name,
        "program": program,
        "as": called or program,
        "arguments": arguments,
        "stdin": _text(stdin),
        "files": {path: [_text(data), 0o644] for path, data in (files or {}).items()},
    }


def pack(c: Mapping[str, Path], data: bytes, *options: str) -> bytes:
    """What the C makes of data."""
    return subprocess.run(
        [c["bzip2"], "-c", *options], input=data, capture_output=True, check=True, timeout=60
    ).stdout


def _of_bzip2(some: bytes, packed: Mapping[int, bytes]) -> Iterator[dict[str, Any]]:
    text = {"a.txt": some}
    both = {"a.txt": some, "a.txt.bz2": b"old"}
    third = {"s.bz2": packed[3]}
    for name, arguments, files in (
        ("replace", ["a.txt"], text),
        ("keep", ["-k", "a.txt"], text),
        ("there already", ["a.txt"], both),
        ("force", ["-f", "a.txt"], both),
        ("test", ["-t", "s.bz2"], third),
        ("test aloud", ["-tvv", "s.bz2"], third),
        ("test of none", ["-t", "a.txt"], text),
        ("decompress", ["-d", "s.bz2"], third),
        ("decompress and keep", ["-dkv", "s.bz2"], third),
        ("to output", ["-c", "a.txt"], text),
        ("aloud", ["-vvvv", "-1", "a.txt"], text),
        ("quiet", ["-q", "-d", "a.txt"], text),
        ("missing", ["nothing.txt"], {}),
        ("suffix", ["a.bz2"], {"a.bz2": some}),
        ("many", ["-v", "a.txt", "b.txt", "none"], {**text, "b.txt": b"\0" * 5000}),
        ("help", ["--help"], {}),
        ("licence", ["-L"], {}),
        ("wrong", ["--wrong"], {}),
        ("wrong too", ["-X"], {}),
        ("long words", ["--fast", "--keep", "-v", "a.txt"], text),
        ("after dashes", ["-z", "--", "a.txt"], text),
        ("repetitive", ["--repetitive-best"], {}),
        ("forced through", ["-dcf", "a.txt"], text),
        ("tbz", ["-d", "x.tbz"], {"x.tbz": packed[3]}),
    ):
        yield case(name, "bzip2", arguments, some[:100], files)
    yield case("bunzip2", "bzip2", ["s.bz2"], b"", third, "bunzip2")
    yield case("bunzip2 keeps", "bzip2", ["-k", "s.bz2"], b"", third, "bunzip2")
    yield case("bunzip2 of input", "bzip2", [], packed[3], None, "bunzip2")
    yield case("bzcat", "bzip2", ["s.bz2"], b"", third, "bzcat")
    yield case("bzcat quiet", "bzip2", ["-s", "a.txt"], b"", text, "bzcat")
    yield case("nothing", "bzip2", ["-c"], b"")
    yield case("several streams", "bzip2", ["-dc"], packed[3] + packed[3])
    yield case("rubbish behind", "bzip2", ["-dc"], packed[3] + b"rubbish")
    yield case(
        "rubbish behind a file", "bzip2", ["-dv", "s.bz2"], b"", {"s.bz2": packed[3] + b"no"}
    )


def _damaged(data: bytes) -> Iterator[dict[str, Any]]:
    draw = random.Random(1)
    for number in range(24):
        bad = bytearray(data)
        at = draw.randrange(4 + 40 * (number % 2 == 0), len(bad)) if number > 4 else number
        bad[at] ^= 1 << draw.randrange(8)
        yield case(f"damaged {number}", "bzip2", ["-dc"], bytes(bad))
    for number, length in enumerate((0, 1, 3, 4, 10, 14, 20, len(data) // 2, len(data) - 1)):
        yield case(f"cut {number}", "bzip2", ["-dc"], data[:length])
    for at in range(5, 14):  # what a block begins with, and its check sum
        bad = bytearray(data)
        bad[at] ^= 4
        yield case(f"no block {at}", "bzip2", ["-dc"], bytes(bad))
    randomised = bytearray(data)
    randomised[14] |= 0x80  # the flag of the first block that old versions set
    yield case("randomised", "bzip2", ["-dc"], bytes(randomised))
    yield case("randomised, small", "bzip2", ["-dcs"], bytes(randomised))


def _of_recover(c: Mapping[str, Path], text: bytes, whole: bool) -> Iterator[dict[str, Any]]:
    packed = pack(c, (text * 4)[: 380_000 if whole else 110_000], "-1")
    bad = bytearray(packed)
    bad[len(bad) // 2] ^= 64
    for name, data in (
        ("recover", packed),
        ("recover damaged", bytes(bad)),
        ("recover none", text[:1000]),
    ):
        yield case(name, "bzip2recover", ["x.bz2"], b"", {"x.bz2": data})
    yield case("recover what is missing", "bzip2recover", ["x.bz2"])
    yield case("recover nothing", "bzip2recover", [])


def _of_library(
    c: Mapping[str, Path], samples: Mapping[int, bytes], whole: bool
) -> Iterator[dict[str, Any]]:
    draw = random.Random(2)
    alike = b"abcabcabd" * 900 + b"\0" * 3000 + b"x" * 300 + b"y" * 255 + b"z" * 4
    noise = draw.randbytes(6000)
    letters = bytes(draw.choice(b"ab") for _ in range(9000))
    inputs = {
        "text": samples[1][:30_000],
        "alike": alike,
        "noise": noise,
        "letters": letters,
        "one": b"q",
        "none": b"",
        "sample": samples[2][: 210_000 if whole else 16_000],
        "periodic": bytes(range(251)) * 60,
    }
    for name, data in inputs.items():
        packed = pack(c, data, "-1")
        for level, work, piece, room, flush in (
            (1, 30, 777, 100, 3),
            (9, 1, 50_000, 7, 0),
            (3, 250, 1, 4096, 0),
            (2, 0, 5000, 600, 1),
        ):
            if piece == 1 and len(data) > 31_000:
                continue
            words = [str(one) for one in (level, work, piece, room, flush)]
            yield case(f"stream {name} {' '.join(words)}", "driver", ["compress", *words], data)
        for small, piece, room in ((0, 13, 100), (1, 1000, 1), (0, 1, 4096), (1, 97, 50)):
            words = [str(one) for one in (small, piece, room)]
            yield case(
                f"unpack {name} {' '.join(words)}",
                "driver",
                ["decompress", *words],
                packed + packed,
            )
        yield case(f"buffers {name}", "driver", ["buffers", "1"], data)
        yield case(f"files {name}", "driver", ["files", "5", "999"], data)
    packed = pack(c, inputs["text"])
    for number in range(16):
        bad = bytearray(packed)
        bad[draw.randrange(4, len(bad))] ^= 1 << draw.randrange(8)
        yield case(
            f"unpack damaged {number}",
            "driver",
            ["decompress", str(number & 1), "500", "333"],
            bytes(bad),
        )
    randomised = bytearray(packed)
    randomised[14] |= 0x80
    for small in ("0", "1"):
        yield case(
            f"unpack randomised {small}",
            "driver",
            ["decompress", small, "99", "9"],
            bytes(randomised),
        )
    yield case("errors", "driver", ["errors"])
    small = pack(c, samples[1][:160])
    for kind in ("0", "1"):
        yield case(f"counters {kind}", "driver", ["counters", kind], small)
    for length in (*range(len(small) - 14, len(small) + 1), 3, 9, len(small) // 2):
        yield case(f"reading {length}", "driver", ["reading", str(length & 1)], small[:length])
        yield case(f"reading on {length}", "driver", ["reading", "0"], (small + small)[:-length])
    for which in range(6):
        yield case(f"memory {which}", "driver", ["memory", str(which)], packed)
    yield case("threads", "driver", ["threads", "8"], inputs["text"])


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
