"""The cases are valid programs with a true table, and what jsec reached on them stays reached."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cases.families import all_shapes
from cases.tree import Row, read_truth, write_tree
from scoring import Rate, judge, rate, rates, scan

STUB = Path(__file__).parent / "stub"
FAMILIES = {
    23,
    36,
    78,
    121,
    122,
    124,
    126,
    127,
    134,
    190,
    191,
    194,
    195,
    197,
    242,
    252,
    253,
    256,
    259,
    321,
    327,
    338,
    364,
    366,
    367,
    369,
    377,
    401,
    404,
    415,
    416,
    426,
    427,
    457,
    467,
    476,
    590,
    667,
    676,
    680,
    690,
    761,
    762,
    789,
}
RECALL, FALSE_POSITIVES = 0.93, 0.03
"""What the quick subset reaches; raised when jsec gets better, never lowered."""


def test_every_family_has_shapes_and_no_two_are_named_alike() -> None:
    shapes = all_shapes()
    assert {shape.cwe for shape in shapes} == FAMILIES
    named = [(shape.cwe, shape.name) for shape in shapes]
    assert len(named) == len(set(named))


def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    trees = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        write_tree(folder, seed=7, per_family=1)
        trees.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert trees[0] == trees[1]


def test_each_case_has_one_flaw_and_twins_that_do_not_overlap(tmp_path: Path) -> None:
    rows = write_tree(tmp_path, seed=3, per_family=4)
    assert rows == read_truth(tmp_path)
    cases: dict[str, list[Row]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row)
    for members in cases.values():
        assert [row.flawed for row in members].count(True) == 1
        assert any(not row.flawed for row in members)
        places = [place for row in members for place in row.places]
        lines = [(file, line) for file, first, last in places for line in range(first, last + 1)]
        assert len(lines) == len(set(lines))
        (flaw,) = (row for row in members if row.flawed)
        assert len(flaw.places) == 1


def test_nothing_in_a_case_says_what_it_is(tmp_path: Path) -> None:
    write_tree(tmp_path, seed=4, per_family=2)
    for file in tmp_path.glob("*.c*"):
        text = file.read_text()
        for word in ("$", "@", "//", "/*", "<text>", "<body>", "<dead>", "CWE", "flaw"):
            assert word not in text, file.read_text()


@pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("g++")), reason="no C and C++ compiler here"
)
def test_the_cases_are_valid_programs(tmp_path: Path) -> None:
    write_tree(tmp_path, seed=5, per_family=1)
    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(_compile, sorted(tmp_path.glob("*.c*"))))
    assert [error for error in errors if error] == []


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rate, dict[str, Rate]]:
    folder = tmp_path_factory.mktemp("cases")
    write_tree(folder, seed=2, per_family=4)
    verdicts = judge(folder, scan(folder))
    return rate(verdicts), rates(verdicts, lambda row: str(row.cwe))


def test_flaws_are_found_and_their_twins_are_left_alone(
    reached: tuple[Rate, dict[str, Rate]],
) -> None:
    whole, families = reached
    assert whole.recall >= RECALL, families
    assert whole.false_positives <= FALSE_POSITIVES, families


def _compile(file: Path) -> str:
    command = (
        ["g++", "-std=gnu++17", "-fpermissive"] if file.suffix == ".cpp" else ["gcc", "-std=gnu11"]
    )
    command += ["-w", "-fsyntax-only", f"-I{STUB}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""
