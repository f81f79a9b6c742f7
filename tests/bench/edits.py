"""Random edits: what is shown while the user types equals what a fresh scan of the text finds.

    npm run bench -- edits [-- --edits N] [--seed TEXT] [--style NAME]

Each style has its share of the edits. Every edit is analysed; after some of them the document is
analysed until it rests, and so is a fresh one with the same text.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.random_edits import STYLES, Difference, differences  # noqa: E402

EDITS = 100_000


def main() -> int:
    """Print a line for each style; status 1 when there was a difference."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--edits", type=int, default=EDITS)
    parser.add_argument("--seed", default="2026")
    parser.add_argument("--style", choices=list(STYLES), action="append")
    given = parser.parse_args()
    styles = given.style or list(STYLES)
    print(f"seed {given.seed}\n{'style':<24}{'edits':>9}{'compared':>10}{'differ':>8}{'CPU s':>9}")
    found: list[Difference] = []
    for style in styles:
        began = time.process_time()
        run = differences(style, f"{given.seed} {style}", given.edits // len(styles))
        found += run.differences
        seconds = time.process_time() - began
        print(
            f"{style:<24}{run.edits:>9}{run.compared:>10}{len(run.differences):>8}{seconds:>9.1f}",
            flush=True,
        )
    for one in found:
        print(f"\n{one.style}, seed {one.seed!r}, edit {one.edit}:\n{one.live}\n{one.fresh}")
        print(repr(one.text))
    print(f"\n{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
