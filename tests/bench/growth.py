"""How much longer each rule alone takes over twice the text, over shapes made to be slow.

The engine runs with that one rule, over trees parsed beforehand: what is measured is the rule,
the cutting into items and the collecting of facts, in processor seconds of this process, with the
collector at rest. The runs over n and 2n take turns, and the shortest of each counts, so that a
machine that slows down in between says nothing about a rule. A ratio above the limit is taken
again, of more turns, and then over four times the text: what grows faster than its text shows
there all the more, what was chance does not.
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
LONGER = 4
"""How much longer the texts are that a rule is measured over again."""
FLOOR = 0.008
"""Seconds below which a time says nothing."""
TURNS = (1, 3, 9)
"""How often both texts are run over, until the ratio is within the limit."""
MOST = 2.3
Text = tuple[LanguageName, Source, Tree]
Pair = tuple[Text, Text]
"""A shape at n and at 2n."""


def main() -> int:
    """Measure, print the table, return the exit status."""
    texts = {name: _pair(name, BYTES) for name in SHAPES}
    gc.set_threshold(50_000, 20, 50)  # as the worker that scans
    gc.freeze()
    worst: list[tuple[float, str, str]] = []
    for rule in all_rules().values():
        engine = Engine([rule])
        ratios = [
            (_settled(engine, name, pair), rule.id, name)
            for name, pair in texts.items()
            if pair[0][0] in rule.dialects
        ]
        worst.append(max(ratios))
    worst.sort(reverse=True)
    table = Table(f"{len(worst)} rules, each over the shapes of its language, n and 2n")
    for ratio, name, shape in worst[:5]:
        table.note(f"{name}, {shape}", ratio, "x")
    table.at_most("the most that twice the text took of any rule", worst[0][0], MOST, "x")
    return table.finish()


def _pair(name: str, length: int) -> Pair:
    return _text(name, length), _text(name, 2 * length)


def _text(name: str, length: int) -> Text:
    once, language = shaped(name, 1)
    unit = max(1, len(shaped(name, 11)[0]) - len(once)) / 10
    data, _ = shaped(name, max(64, int(length / unit)))
    return language, Source("a", data), parse(data, language)


def _settled(engine: Engine, name: str, pair: Pair) -> float:
    ratio = _ratio(engine, pair)
    return ratio if ratio <= MOST else _ratio(engine, _pair(name, LONGER * BYTES))


def _ratio(engine: Engine, pair: Pair) -> float:
    once = twice = float("inf")
    ratio = 0.0
    for turns in TURNS:
        for _ in range(turns):
            once, twice = (
                min(once, _seconds(engine, pair[0])),
                min(twice, _seconds(engine, pair[1])),
            )
        ratio = twice / max(FLOOR, once)
        if ratio <= MOST:
            break
    return ratio


def _seconds(engine: Engine, text: Text) -> float:
    language, source, tree = text
    gc.collect(0)
    gc.disable()
    started = time.process_time()
    engine.analyse(source, language, tree=tree)
    spent = time.process_time() - started
    gc.enable()
    return spent


if __name__ == "__main__":
    sys.exit(main())
