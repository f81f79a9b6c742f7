"""What a provider's cache can cover of the prompts of whole tasks: `python tests/bench/agents.py`.

Tasks of more than five rounds are played against a scripted server through the real tools: an
explanation, a repair with a plan, a renaming over files, a long search with reminders and memory,
each with a second question of the user. The prompt of each request is compared, byte by byte, with
those before it: what it shares with the longest of them, in whole blocks of 128 tokens, is what a
prefix cache covers (a task's first request shares the tools with the task before it). Nothing but
bytes is counted, so that the numbers are the same on every machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.assembly.bootstrap import build  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.support.agents import Person  # noqa: E402
from tests.support.model_server import Asked, ModelServer  # noqa: E402

FILES, FUNCTIONS = 14, 30
BLOCK = 512
"""Bytes of a block of the cache: 128 tokens of four bytes."""
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Played:
    """One task."""

    name: str
    words: str
    rounds: Sequence[list[Call]]
    """Calls of each answer; the answer without calls follows."""


def read(file: int, start: int, end: int) -> Call:
    """A reading of lines."""
    path = f"src/f{file}.c"
    return "read_code", {"files": [{"path": path, "start_line": start, "end_line": end}]}


def search(query: str) -> Call:
    """A search."""
    return "search_in_project", {"query": query, "max_matches": 12}


def edit(file: int, before: str, after: str) -> Call:
    """A change of one place."""
    diffs = [{"search": before, "replace": after}]
    return "edit_file", {"files": [{"file_path": f"src/f{file}.c", "diffs": diffs}]}


def plan(done: int) -> Call:
    """A plan of three steps, so many of them done."""
    words = ("Find the fault", "Mend it", "Look for others")
    steps = [
        {"text": text, "state": "done" if n < done else "active" if n == done else "pending"}
        for n, text in enumerate(words)
    ]
    return "update_plan", {"steps": steps}


NOTE: Call = (
    "save_memory",
    {"memory_type": "short_term", "content": "f3 is hot", "tags": ["hot", "f3"]},
)
TASKS = (
    Played(
        "explain",
        "How does value_3_7 come about?",
        [
            [search("value_3_7")],
            [read(3, 40, 60)],
            [("read_symbols", {"names": ["value_3_7"], "max_references": 8})],
            [read(3, 1, 12), read(2, 40, 52)],
            [search("total_3")],
            [read(4, 60, 80)],
            [read(3, 70, 84)],
            [search("seed")],
        ],
    ),
    Played(
        "repair",
        "value_5_2 is one too large. Repair it.",
        [
            [plan(0)],
            [search("value_5_2")],
            [read(5, 10, 26)],
            [plan(1)],
            [edit(5, "    return total_5 + 2;", "    return total_5 + 1;")],
            [read(5, 12, 18)],
            [plan(2)],
            [search("total_5 +")],
            [read(6, 10, 26)],
            [NOTE],
            [plan(3)],
        ],
    ),
    Played(
        "rename",
        "Rename total_N to sum_N where it is declared, in f0 to f7.",
        [
            [search("static int total_")],
            *(
                [edit(n, f"static int total_{n} = 0;", f"static int sum_{n} = 0;")]
                for n in range(8)
            ),
            [search("static int sum_")],
        ],
    ),
    Played(
        "long search",
        "Which functions are never called?",
        [
            *([read(n % FILES, 5 * n + 1, 5 * n + 14)] for n in range(16)),
            [NOTE],
            *([search(f"value_{n}_1(")] for n in range(12)),
        ],
    ),
)


def write_project(folder: Path) -> None:
    """Write the files that are read."""
    (folder / "src").mkdir(parents=True)
    for file in range(FILES):
        lines = [f"static int total_{file} = 0;", ""]
        for n in range(FUNCTIONS):
            lines += [
                f"int value_{file}_{n}(int seed)",
                "{",
                f"    total_{file} += seed * {n};",
                f"    return total_{file} + {n};",
                "}",
                "",
            ]
        (folder / "src" / f"f{file}.c").write_text("\n".join(lines))


def prompt_of(asked: Asked) -> bytes:
    """The bytes of a request that providers cache: tools first, then messages."""
    parts = [asked.body.get("tools", []), *asked.body["messages"]]
    return "\n".join(json.dumps(part) for part in parts).encode()


def shared(prompt: bytes, before: Sequence[bytes]) -> int:
    """Bytes that a cache covers: whole blocks that a prompt shares with one before it."""
    longest = max((common(prompt, other) for other in before), default=0)
    return longest // BLOCK * BLOCK


def common(left: bytes, right: bytes) -> int:
    """Blocks that both begin with, in bytes."""
    places = range(0, min(len(left), len(right)) + 1, BLOCK)
    return places[bisect_left(places[1:], True, key=lambda end: left[:end] != right[:end])]


async def play(folder: Path, task: Played, server: ModelServer) -> list[bytes]:
    """The prompts of a task."""
    begun = len(server.requests)
    home = folder / "home"
    environment = {"MINE_KEY": "key-0123456789"}
    assembly = build(home=home, environment=environment, arguments={"non_interactive": True})
    conversation = await assembly.start(None, [folder / "work"], Person(), trusted=True)
    for calls in task.rounds:
        server.call_all(calls, text="I look further.")
    server.say("This is what I found. !!!COMPLETE!!!")
    ending = await conversation.ask(task.words)
    server.say("Yes, I am. !!!COMPLETE!!!")
    again = await conversation.ask("Are you sure?")
    await assembly.close()
    if (ending.state, again.state) != ("completed", "completed"):
        raise SystemExit(f"{task.name}: {ending.error or again.error}")
    return [prompt_of(asked) for asked in server.requests[begun:]]


async def measure(folder: Path) -> int:
    """Print the table; 1 when a limit is missed."""
    table = Table("Cached share of prompts")
    write_project(folder / "work")
    (folder / "home").mkdir()
    known: list[bytes] = []
    sizes = covered = kept = pairs = 0
    async with ModelServer() as server:
        (folder / "home" / "config.toml").write_text(
            f'[model_providers.mine]\nbase = "{server.url}"\nenv_keys = ["MINE_KEY"]\n'
            '[model_groups.balanced]\nmodels = ["mine/m"]\n'
        )
        for task in TASKS:
            prompts = await play(folder, task, server)
            size = sum(map(len, prompts))
            cover = 0
            for number, prompt in enumerate(prompts):
                cover += shared(prompt, known)
                known.append(prompt)
                if number:
                    pairs += 1
                    kept += prompt.startswith(prompts[number - 1])
            name = f"{task.name}, {len(prompts)} rounds, {size // 4:,} tokens"
            table.note(name, 100 * cover / size, "%")
            sizes, covered = sizes + size, covered + cover
    table.at_least("all of it", 100 * covered / sizes, 90, "%")
    table.at_least("requests that begin with the whole one before", 100 * kept / pairs, 100, "%")
    return table.finish()


def main() -> int:
    """Measure in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measure(Path(folder).resolve()))


if __name__ == "__main__":
    sys.exit(main())
