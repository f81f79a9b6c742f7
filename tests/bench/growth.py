"""How much longer the rules take over twice the text, over shapes made to be slow.

The engine runs with all rules over trees parsed beforehand, and the time in the function of each
rule is taken with it: what is measured is the whole and each rule, in processor seconds of this
process, with the collector at rest. The runs over n and 2n take turns, and the shortest of each
counts, so that a machine that slows down in between says nothing. What is above the limit is
measured again over four times the text, a rule alone: what grows faster than its text shows there
all the more, what was chance does not.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "jsec")]  # so that `shapes` is found

from shapes import SHAPES, shaped  # noqa: E402

from jarvis_ls.codeintel.languages import LanguageName  # noqa: E402
from jarvis_ls.codeintel.parse import Tree, parse  # noqa: E402
from jarvis_ls.codeintel.source import Source  # noqa: E402
from jarvis_ls.jsec.base.rule import Report, Rule  # noqa: E402
from jarvis_ls.jsec.engine.rule_runner import Engine  # noqa: E402
from jarvis_ls.jsec.rules.registry import all_rules  # noqa: E402
from measure.table import Table  # noqa: E402

BYTES = 60_000
"""Length of the shorter text."""
LONGER = 4
"""How much longer the texts are that something is measured over again."""
FLOOR = 0.008
"""Seconds below which a time says nothing."""
ROUNDS = 3
"""How often both texts are run over."""
TURNS = (1, 3, 9)
"""The same for what is measured again, until the ratio is within the limit."""
MOST = 2.3
WHOLE = "all rules"
Text = tuple[LanguageName, Source, Tree]
Pair = tuple[Text, Text]
"""A shape at n and at 2n."""


def main() -> int:
    """Measure, print a line for each shape and then the table, return the exit status."""
    spent: dict[str, float] = {}
    rules = all_rules()
    engine = Engine([_timed(rule, spent) for rule in rules.values()])
    gc.set_threshold(50_000, 20, 50)  # as the worker that scans
    gc.freeze()
    worst: dict[str, tuple[float, str]] = {}
    for name in SHAPES:
        ratios = _ratios(engine, spent, _pair(name, BYTES))
        for what, ratio in ratios.items():
            if ratio > MOST:
                alone = Engine([rules[what]]) if what in rules else Engine()
                ratios[what] = ratio = _ratio(alone, _pair(name, LONGER * BYTES))
            worst[what] = max(worst.get(what, (0.0, "")), (ratio, name))
        most = max(ratios, key=lambda one: ratios[one] if one != WHOLE else 0.0)
        print(f"  {name}: all {ratios[WHOLE]:.2f} x, {most} {ratios[most]:.2f} x", flush=True)
    table = Table(f"{len(rules)} rules over {len(SHAPES)} shapes, n and 2n")
    ranked = sorted(((*found, what) for what, found in worst.items()), reverse=True)
    for ratio, shape, what in ranked[:5]:
        table.note(f"{what}, {shape}", ratio, "x")
    table.note("rules that take time enough to be measured", len(worst) - 1)
    table.note("CPU seconds of this benchmark", time.process_time())
    table.at_most(
        "the most that twice the text took, of any rule and of all", ranked[0][0], MOST, "x"
    )
    return table.finish()


def _timed(rule: Rule, spent: dict[str, float]) -> Rule:
    """The rule, with the time in its function added to `spent`."""

    def check(place: object) -> Iterable[Report] | None:
        started = time.process_time()
        reports = rule.check(place)
        found = None if reports is None else list(reports)
        spent[rule.id] = spent.get(rule.id, 0.0) + time.process_time() - started
        return found

    return replace(rule, check=check)


def _ratios(engine: Engine, spent: dict[str, float], pair: Pair) -> dict[str, float]:
    """How much longer twice the text took: of all rules, and of each that takes time."""
    least: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for _ in range(ROUNDS):
        for text, kept in zip(pair, least, strict=True):
            spent.clear()
            spent[WHOLE] = _seconds(engine, text)
            for what, seconds in spent.items():
                kept[what] = min(kept.get(what, seconds), seconds)
    once, twice = least
    return {
        what: seconds / max(FLOOR, once.get(what, 0.0))
        for what, seconds in twice.items()
        if what == WHOLE or seconds > FLOOR
    }


def _pair(name: str, length: int) -> Pair:
    return _text(name, length), _text(name, 2 * length)


def _text(name: str, length: int) -> Text:
    once, language = shaped(name, 1)
    unit = max(1, len(shaped(name, 11)[0]) - len(once)) / 10
    data, _ = shaped(name, max(64, int(length / unit)))
    return language, Source("a", data), parse(data, language)


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
