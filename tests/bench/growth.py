"""How much longer each rule alone takes over twice the text, over shapes made to be slow.

The engine runs with that one rule, over trees parsed beforehand: what is measured is the rule,
the cutting into items and the collecting of facts. A ratio is taken again, of more runs, before
it counts against a rule.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "jsec")]  # so that `shapes` is found

from shapes import SHAPES, shaped  # noqa: E402

from jarvis_ls.codeintel.languages import LanguageName  # noqa: E402
from jarvis_ls.codeintel.parse import Tree, parse  # noqa: E402
from jarvis_ls.codeintel.source import Source  # noqa: E402
from jarvis_ls.jsec.engine import Engine  # noqa: E402
from jarvis_ls.jsec.rule import all_rules  # noqa: E402
from measure.table import Table  # noqa: E402

BYTES = 60_000
"""Length of the shorter text."""
FLOOR = 0.008
"""Seconds below which a time says nothing."""
MOST = 2.3
Text = tuple[LanguageName, Source, Tree]


def main() -> int:
    """Measure, print the table, return the exit status."""
    texts = {name: (_text(name, 1), _text(name, 2)) for name in SHAPES}
    gc.set_threshold(50_000, 20, 50)  # as the worker that scans
    gc.freeze()
    worst: list[tuple[float, str, str]] = []
    for rule in all_rules().values():
        engine = Engine([rule])
        ratios = [
            (_ratio(engine, *pair), rule.id, name)
            for name, pair in texts.items()
            if pair[0][0] in rule.dialects
        ]
        worst.append(max(ratios))
    worst.sort(reverse=True)
    table = Table(f"{len(worst)} rules, each over the shapes of its language, n and 2n")
    for ratio, rule, shape in worst[:5]:
        table.note(f"{rule}, {shape}", ratio, "x")
    table.at_most("the most that twice the text took of any rule", worst[0][0], MOST, "x")
    return table.finish()


def _text(name: str, times: int) -> Text:
    once, language = shaped(name, 1)
    unit = max(1, len(shaped(name, 11)[0]) - len(once)) / 10
    data, _ = shaped(name, times * max(64, int(BYTES / unit)))
    return language, Source("a", data), parse(data, language)


def _ratio(engine: Engine, once: Text, twice: Text) -> float:
    ratio = 0.0
    for runs in (1, 3, 9):
        short = max(FLOOR, min(_seconds(engine, once) for _ in range(runs)))
        ratio = min(_seconds(engine, twice) for _ in range(runs)) / short
        if ratio <= MOST:
            break
    return ratio


def _seconds(engine: Engine, text: Text) -> float:
    language, source, tree = text
    started = time.process_time()
    engine.analyse(source, language, tree=tree)
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
