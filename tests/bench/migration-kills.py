"""Whether `jc2r evolve` loses or doubles anything when killed: `npm run bench -- migration-kills`.

A project with a flaw, which a rule repairs, is hardened, translated, rewritten by a scripted model,
lifted and optimized, while the process is killed with all that it has started, at random moments,
each run continuing the last. What is there in the end must be what a run that was not disturbed
has made: the C, the Rust, the commits, and one row of measurements for each stage.

`-- --points N` changes the number of kills (300).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "jc2r")]  # so that `tests` is found

from test_evolve import LOGGING, STAGES, Model  # noqa: E402
from test_rewrite import GOOD, C  # noqa: E402

from jarvis_ls.jc2r.evolve.pipeline import read_evolved  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.cli.test_jarvis_command import Place, place  # noqa: E402

POINTS = 300
WORDS = ("evolve", "--trust", "--apply", "--cases", "4", "--mutants", "0", "--format", "json")
SEED = 20261126


@dataclass(frozen=True, slots=True)
class Made:
    """What a run has left."""

    files: dict[str, bytes]
    """The C, and the sources of the crate."""
    commits: tuple[str, ...]
    """Their subjects in the crate, in order."""
    rows: tuple[str, ...]
    """Stages that were measured, in order."""


def main() -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=POINTS)
    points = parser.parse_args().points
    table = Table("`jc2r evolve` killed at random moments")
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(measure(table, Path(name), points))
    return table.finish()


async def measure(table: Table, folder: Path, points: int) -> None:
    """Kill runs until there were `points` kills, and compare what each project comes to."""
    draw = random.Random(SEED)
    (folder / "calm").mkdir()
    async with place(folder / "calm") as here:
        started = time.monotonic()
        Model(here, weigh=[GOOD["weigh"]], digest=[GOOD["digest"]])
        while not await run(here, None):
            pass
        whole, wanted = time.monotonic() - started, read_made(here)
    assert wanted.rows == tuple(STAGES), wanted.rows
    kills = projects = same = asked = 0
    while kills < points:
        projects += 1
        (folder / str(projects)).mkdir()
        async with place(folder / str(projects)) as here:
            model = Model(here, weigh=[GOOD["weigh"]], digest=[GOOD["digest"]])
            mine = 0  # kills of this project
            while not await run(here, moment(draw, whole) if kills < points else None):
                kills, mine = kills + 1, mine + 1
                print(f"\r{kills} kills", end="", file=sys.stderr, flush=True)
            made = read_made(here)
            same += made == wanted
            asked = max(asked, len(model.asked) - mine)
            told = "the same" if made == wanted else differences(made, wanted)
            print(f"\rproject {projects}, {mine} kills: {told}", flush=True)
    table.note("a run that is not disturbed", whole, "s")
    table.note("kills", kills)
    table.at_least("projects that came to the same", same, projects)
    table.at_most("questions to the model beyond one for each kill", asked, 2)


def moment(draw: random.Random, whole: float) -> float:
    """Return after how many seconds to kill a run: early ones often, so that there are many, and
    late ones sometimes, so that it comes to its end."""
    return math.exp(draw.uniform(math.log(0.2), math.log(whole / 2)))


async def run(here: Place, seconds: float | None) -> bool:
    """Run until the end, which is to be a success, or kill it after some seconds; return whether
    it ended."""
    root = here.folder / "p"
    if not root.exists():
        root.mkdir()
        (root / "a.c").write_text(C)
        (root / "main.c").write_text(LOGGING)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "jarvis_ls.cli.jc2r", *WORDS, str(root)),
        env=here.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(), seconds)
    except asyncio.TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        return False
    assert process.returncode == 0, said.decode()
    return True


def read_made(here: Place) -> Made:
    """Return what is there."""
    root, crate = here.folder / "p", here.folder / "p_rs"
    files = [*root.glob("*.c"), *(crate / "src").rglob("*.rs"), crate / "Cargo.toml"]
    git = ["git", "-C", str(crate), "log", "--reverse", "--format=%s"]
    log = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    return Made(
        {str(path.relative_to(here.folder)): path.read_bytes() for path in files},
        tuple(log.splitlines()),
        tuple(row.stage for row in read_evolved(root).state.measured),
    )


def differences(made: Made, wanted: Made) -> str:
    """Return in what two results differ."""
    names = made.files.keys() | wanted.files.keys()
    files = sorted(name for name in names if made.files.get(name) != wanted.files.get(name))
    commits = set(made.commits) ^ set(wanted.commits) or made.commits
    return f"files {files}, commits {commits}, rows {made.rows}"


if __name__ == "__main__":
    sys.exit(main())
