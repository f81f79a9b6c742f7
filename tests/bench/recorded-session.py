"""A recorded session of a model with a library: `npm run bench -- recorded-session`.

`recorded/packets.c` is translated, and a scripted server says to the agents of `jc2r rewrite` what
`recorded/session.toml` holds. All gates run. In the end no function that C does not call may hold
`unsafe`, the crate's tests pass, `jc2r verify` finds no difference, and what `jc2r check-rewrite`
says of the whole is nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]  # so that `tests` is found

from jarvis_ls.jc2r.crate.cargo import run_cargo  # noqa: E402
from jarvis_ls.jc2r.lift.rust import Source, below, read_sources  # noqa: E402
from jarvis_ls.runtime.base.toml_files import parse_toml  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.cli.test_jarvis_command import Place, place  # noqa: E402
from tests.support.model_server import Answer, Asked  # noqa: E402
from tests.support.rewriting_agents import REVIEW, TESTS, agree  # noqa: E402
from tests.support.starting import quick  # noqa: E402

RECORDED = Path(__file__).parent / "recorded"
KINDS = {"tests": TESTS, "review": REVIEW, "rewrite": r"## The C: \S+, (\w+)"}


class Recording:
    """Says what was recorded for a kind of question about a function, one after the other."""

    def __init__(self, here: Place) -> None:
        assert here.model is not None
        self._model = here.model
        self._said: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for kind, answers in parse_toml((RECORDED / "session.toml").read_bytes()).items():
            for answer in answers:
                name = answer.pop("function")
                told = {"status": "rewritten", **answer} if kind == "rewrite" else answer
                self._said[kind, name].append(told)
        here.model.decide = self._decide

    @property
    def left(self) -> int:
        """Return how many answers nobody has asked for."""
        return sum(map(len, self._said.values()))

    def _decide(self, asked: Asked) -> Answer:
        text = "\n".join(str(message.get("content")) for message in asked.body["messages"])
        kind, found = next((k, m) for k, p in KINDS.items() if (m := re.search(p, text)))
        answers = self._said[kind, found[1]]
        said = json.dumps(answers.pop(0)) if answers else agree(text)
        answer = self._model.say(said or json.dumps({"status": "cannot", "notes": "not recorded"}))
        self._model.answers.remove(answer)
        return answer


def main() -> int:
    """Measure; return the exit status."""
    table = Table("a library of about 300 lines of C by a recorded model, all gates real")
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(measure(table, Path(name)))
    return table.finish()


async def measure(table: Table, folder: Path) -> None:
    """Replay the session, and look at what it has made."""
    async with place(folder) as here:
        root, crate, before = (here.folder / name for name in ("p", "p_rs", "before"))
        root.mkdir()
        for file in ("packets.c", "packets.h"):
            shutil.copy(RECORDED / file, root)
        await jc2r(here, "run", "--baseline", root)
        shutil.copytree(crate, before, ignore=shutil.ignore_patterns("target", ".git"))
        recording = Recording(here)
        started = time.monotonic()
        said = await jc2r(here, "rewrite", "--trust", "--all", "--format", "json", root)
        seconds = time.monotonic() - started
        records = json.loads(said)["records"]
        kept = [record for record in records if record["outcome"] != "rewritten"]
        for record in kept:
            print(f"{record['name']}: {record['reason']}")
        code = [line for line in (RECORDED / "packets.c").read_text().split("\n") if line.strip()]
        table.note("lines of C with code or comments", len(code))
        table.at_least("functions rewritten", len(records) - len(kept), len(records))
        table.at_least("unsafe lines that the model wrote, none", -unsafe_lines(records), 0)
        table.at_most("unsafe outside of the functions that C calls", count_unsafe(crate), 0)
        table.at_most("recorded answers that nobody asked for", recording.left, 0)
        table.at_least("answers refused by a gate", refused(root), 2)
        rules = await jc2r(here, "check-rewrite", "--format", "json", before, crate, most=1)
        table.at_most("rules broken by the whole", len(json.loads(rules)), 0)
        tests = await asyncio.to_thread(run_cargo, crate, "test", "--release", seconds=600)
        table.at_most("exit status of cargo test", tests.returncode, 0)
        verified = await jc2r(here, "verify", "--trust", "--mutants", "0", root)
        print(verified.strip().split("\n")[-1])
        table.note("time", seconds, "s")


async def jc2r(here: Place, *words: object, most: int = 0) -> str:
    """Return what a command has said, which ends with a status of at most `most`."""
    command = quick("jarvis_ls.cli.jc2r")
    process = await here.start(*map(str, words), command=command)
    out, err = await process.communicate()
    assert process.returncode in range(most + 1), (words, out.decode(), err.decode())
    return out.decode()


def unsafe_lines(records: list[dict[str, Any]]) -> int:
    """Return how many lines of what the model wrote are unsafe."""
    return sum(record["counts"]["unsafe_lines"][1] for record in records if record["counts"])


def count_unsafe(crate: Path) -> int:
    """Return how often `unsafe` stands outside of functions with the ABI of C."""
    return sum(
        not _is_for_c(source, node)
        for source in read_sources(crate)
        for node in below(source.root, "unsafe_block", "function_modifiers")
        if b"unsafe" in source.text(node)
    )


def _is_for_c(source: Source, node: Any) -> bool:
    while node is not None and node.type != "function_item":
        node = node.parent
    if node is None:
        return False
    modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
    return modifiers is not None and b'extern "C"' in source.text(modifiers)


def refused(root: Path) -> int:
    """Return how many answers a gate has refused."""
    journal = root / ".jarvis" / "c2rust" / "rewrite" / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return sum(line["kind"] == "attempt" and line["gate"] != "" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
