"""bzip2 1.0.8 whole: the seeds' cases of library and programs, C and Rust side by side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project import jc2r
from toolchain import needs_cargo

from support import bzip2_cases

SOURCES = Path(
    os.environ.get("JARVIS_BENCH_SOURCES", Path(__file__).parents[2] / ".cache" / "sources")
)

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(
        not (SOURCES / "bzip2" / "bzlib.c").is_file() or not sys.platform.startswith("linux"),
        reason="needs Linux and the sources that `npm run bench` fetches",
    ),
]


@pytest.fixture(scope="module")
def bzip2(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Path], str]:
    """The project, the C programs, and what the translation said."""
    root = tmp_path_factory.mktemp("bzip2") / "bzip2"
    bzip2_cases.make_project(SOURCES / "bzip2", root)
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root, bzip2_cases.build_c(root, root.parent / "c"), done.stdout


def rust(root: Path, name: str) -> Path:
    return root.parent / "bzip2_rs" / "target" / "release" / name


def test_every_function_is_translated_without_a_warning(
    bzip2: tuple[Path, dict[str, Path], str],
) -> None:
    root, _, said = bzip2
    assert "stays in C" not in said
    assert (root / ".jarvis" / "c2rust" / "build.log").read_text() == ""


def test_all_cases_are_equal(bzip2: tuple[Path, dict[str, Path], str]) -> None:
    root, c, _ = bzip2
    records = list(bzip2_cases.cases(root, c, whole=False))
    lines = "".join(json.dumps(one) + "\n" for one in records)
    (root / ".jarvis" / "c2rust" / "cases.jsonl").write_text(lines)
    done = jc2r("verify", root, "--programs", "--format", "json")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    found = json.loads(done.stdout)["cases"]
    assert len(found) == len(records) > 150
    assert [one for one in found if one["state"] != "equal"] == []


def test_each_reads_what_the_other_writes(bzip2: tuple[Path, dict[str, Path], str]) -> None:
    root, c, _ = bzip2
    data = (root / "sample3.ref").read_bytes()

    def through(writer: Path, reader: Path) -> bytes:
        packed = subprocess.run([writer, "-1"], input=data, capture_output=True, check=True).stdout
        return subprocess.run([reader, "-d"], input=packed, capture_output=True, check=True).stdout

    ours = rust(root, "bzip2")
    assert through(ours, c["bzip2"]) == through(c["bzip2"], ours) == through(ours, ours) == data
