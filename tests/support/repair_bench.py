"""`jarvis test-repair` the way people and programs run it: a real repository, a scripted model."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.code_agent import CodeBench
from tests.support.model_server import ModelServer
from tests.support.patience import HANGS
from tests.support.starting import quick

PYTHON = {
    "src/__init__.py": "",
    "src/money.py": "from src.rounding import half_up\n\n\n"
    "def share(total, people):\n    return half_up(total / people)\n\n\n"
    "def total(prices):\n    result = 0\n    for price in prices[1:]:\n"
    "        result += price\n    return half_up(result)\n",
    "src/rounding.py": "def half_up(value):\n    return int(value + 0.5)\n",
    "src/unrelated.py": "def greet(name):\n    return 'hello ' + name\n",
    "tests/test_money.py": "from src.money import share, total\n\n\n"
    "def test_total():\n    assert total([1, 2, 3]) == 6\n\n\n"
    "def test_share():\n    assert share(7, 2) == 4\n",
    "tests/test_unrelated.py": "from src.unrelated import greet\n\n\n"
    "def test_greet():\n    assert greet('x') == 'hello x'\n",
    ".gitignore": "*.log\n",
}
"""A project whose `total` leaves out the first price."""
MENDED = ("src/money.py", "in prices[1:]:", "in prices:")


class RepairBench(CodeBench):
    """A repository with failing tests and a model."""

    def plan(self, *files: str, cause: str = "", diagnosis: str = "It is wrong.") -> None:
        """Let the model plan."""
        self.model.say(json.dumps({"diagnosis": diagnosis, "cause": cause, "files": files}))

    def patch(self, *candidates: Sequence[tuple[str, str, str]]) -> None:
        """Let the model answer with patches, each as edits of file, search and replace."""
        made = [
            {
                "id": f"fix-{number}",
                "description": "It repairs.",
                "edits": [{"file": f, "search": s, "replace": r} for f, s, r in edits],
            }
            for number, edits in enumerate(candidates, 1)
        ]
        self.model.say(json.dumps({"status": "patched", "candidates": made}))

    async def repair(self, *arguments: str, given: str = "") -> tuple[int, str, str]:
        """Exit status, output and errors of a run in the trusted folder."""
        return await self.run_jarvis("test-repair", "--trust", *arguments, given=given)

    async def run_jarvis(self, *arguments: str, given: str = "") -> tuple[int, str, str]:
        """Exit status, output and errors of `jarvis`."""
        process = await self.start(*arguments, command=quick("jarvis_ls.cli.jarvis"))
        out, err = await asyncio.wait_for(process.communicate(given.encode()), HANGS)
        assert process.returncode is not None
        assert "Traceback" not in err.decode(), err.decode()
        return process.returncode, out.decode(), err.decode()

    async def request(self, **fields: Any) -> dict[str, Any]:
        """What a program that calls the function gets."""
        values = {"project_root": str(self.root), "task_id": "t1", **fields}
        _, out, err = await self.repair("--request", "-", given=json.dumps(values))
        assert out, err
        answer: dict[str, Any] = json.loads(out)
        return answer

    def audit(self) -> list[dict[str, Any]]:
        """What the log says of all sessions."""
        text = (self.root / ".jarvis/tester/audit.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def told(self) -> str:
        """All that the model was told."""
        return "\n".join(str(request.body.get("messages")) for request in self.model.requests)


@contextlib.asynccontextmanager
async def repair_bench(
    folder: Path, files: Mapping[str, str | bytes] | None = None
) -> AsyncIterator[RepairBench]:
    """A bench below a folder."""
    async with ModelServer() as model:
        yield RepairBench(folder, model, PYTHON if files is None else files)
