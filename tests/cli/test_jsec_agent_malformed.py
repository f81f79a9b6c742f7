"""`jsec agent` with a model whose every answer is damaged: 500 of them, none the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jsec_agent import COPY, agent_place
from tests.support.security_model import Question, agreeable

pytestmark = pytest.mark.watches()

OUTPUTS = 500
FILES = 40
MOST_RUNS = 12
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "",
    "1",
    "\ud800",
    [],
    {},
    [[]],
    float("nan"),
)


class Damage:
    """Damages answers by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.given: set[str] = set()

    def __call__(self, question: Question) -> str:
        """Return an answer that cannot be taken as it is."""
        kinds = [self._cut, self._without_characters, self._with_wrong_values, self._with_others]
        while True:
            text = self._chance.choice(kinds)(agreeable(question))
            if text not in self.given:
                self.given.add(text)
                return text

    def _cut(self, whole: list[Any]) -> str:
        text = json.dumps(whole)
        return "<ANSWER>" + text[: self._chance.randrange(1, len(text))]

    def _without_characters(self, whole: list[Any]) -> str:
        text = list(json.dumps(whole))
        for _ in range(self._chance.randint(2, 12)):
            at = self._chance.randrange(len(text))
            text[at] = self._chance.choice(["", "{", "]", '"', ",", "\x00", "\x1b[2J", "`", "\\"])
        return "".join(text)

    def _with_wrong_values(self, whole: list[Any]) -> str:
        for item in whole:
            for key in list(item):
                if self._chance.random() < 0.5:
                    item[key] = self._chance.choice(WRONG)
            if self._chance.random() < 0.3:
                item[f"x{self._chance.random()}"] = item.pop(self._chance.choice(list(item)))
        return json.dumps([*whole, self._chance.choice(WRONG)])

    def _with_others(self, whole: list[Any]) -> str:
        number = self._chance.randint(41, 10**6)
        others = [{**item, "gid": number, "gids": [number, -number]} for item in whole]
        return json.dumps(self._chance.choice([others, {"all": others}, [others], str(others)]))


async def test_malformed_answers_lose_nothing_and_do_nothing(tmp_path: Path) -> None:
    files = {f"f{number:02}": COPY.format(n=number) for number in range(FILES)}
    async with agent_place(tmp_path, **files) as here:
        damage = Damage(seed=7)
        here.model.roles = dict.fromkeys(
            ("clustering", "review", "analysis", "verification"), damage
        )
        before = {path.name: path.read_bytes() for path in here.folder.glob("*") if path.is_file()}
        for _ in range(MOST_RUNS):
            status, _, err = await here.agent()
            assert status in (0, 1), err
            clusters = {r["cluster_id"]: r for r in here.records("clusters")}
            grouped = [gid for record in clusters.values() for gid in record["gids"]]
            assert sorted(set(grouped)) == sorted(grouped)
            assert set(grouped) <= set(range(1, FILES + 1))
            if len(damage.given) >= OUTPUTS:
                break
        assert len(damage.given) >= OUTPUTS
        assert "reproduced" not in here.verdicts().values()
        after = {path.name: path.read_bytes() for path in here.folder.glob("*") if path.is_file()}
        assert after == before
        here.model.roles.clear()
        status, _, err = await here.agent()
        assert status == 0, err
        here.check_complete()
