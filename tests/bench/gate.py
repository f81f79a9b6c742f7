"""What the gate lets pass: `npm run bench -- gate [-- FOLDER]`.

Without a folder: 5,000 generated command lines, each that passes run by real shells, see
`tests.support.command_lines`. With one: also the commands of recorded agent runs found in its
files `*.log` (terminal recordings of mini-swe-agent), with any program and writing allowed, in a
proven sandbox and without one. Commands that the terminal has wrapped are left out; the tasks own
their whole machine, so the workspace is `/`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.runtime.tools.permissions import PermissionRule, Permissions  # noqa: E402
from jarvis_ls.runtime.tools.tool import Action, ToolContext  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.runtime.test_gate_properties import KNOWN, passes_wrongly  # noqa: E402
from tests.support.command_lines import Lines, Oracle  # noqa: E402

LINES = 5_000
WIDTH = 160
"""Columns of the recorded terminals."""
_STEP = re.compile(
    r"mini-swe-agent \(step \d+, \$[\d.]+\):\n(.*?)(?=\nUser:\n|mini-swe-agent \(step|\Z)",
    re.DOTALL,
)
_COMMAND = re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


def main(folders: list[str]) -> int:
    """Measure; return the exit status."""
    table = Table("Command lines at the gate")
    generated(table)
    for folder in folders:
        recorded(table, Path(folder))
    return table.finish()


def generated(table: Table) -> None:
    """Count the generated lines that do what no rule names."""
    wrong = passed = 0
    with tempfile.TemporaryDirectory(prefix="jarvis-gate-") as folder:
        oracle = Oracle(Path(folder))
        for seed in range(LINES):
            line = Lines(seed).line()
            allowed = KNOWN if seed % 4 else KNOWN[seed % 7 :: 2]
            if (did := passes_wrongly(line, allowed, oracle)) is not None:
                passed += 1
            if did:
                wrong += 1
                print(f"{line!r}: {did}")
    table.note("generated lines", LINES)
    table.note("of them allowed, and run by real shells", passed)
    table.at_most("generated lines that pass wrongly", wrong, 0)


def recorded(table: Table, folder: Path) -> None:
    """Count recorded commands that are refused."""
    rules = [PermissionRule("allow", kind="execute"), PermissionRule("allow", kind="write")]
    gate, context = Permissions(rules), ToolContext((Path("/"),))
    tasks = {path: list(commands(path)) for path in sorted(folder.rglob("*.log"))}
    tasks = {path: found for path, found in tasks.items() if found}
    number = sum(map(len, tasks.values()))
    table.note("recorded commands", number)
    table.note("recorded tasks", len(tasks))
    for contained in (True, False):
        where = "in a sandbox" if contained else "without a sandbox"
        refused = dict.fromkeys(tasks, 0)
        for path, lines in tasks.items():
            for line in lines:
                action = Action("execute", line)
                decision = gate.decide("execute_script", [action], context, contained=contained)
                if decision.effect != "allow":
                    refused[path] += 1
                    print(f"{where}: {line[:70]!r}: {decision.reason}"[:200])
        share = 100 * sum(refused.values()) / max(number, 1)
        hit = 100 * sum(map(bool, refused.values())) / max(len(tasks), 1)
        table.at_most(f"refused {where}", share, 0.5, "%")
        table.at_most(f"tasks with a refusal {where}", hit, 3, "%")


def commands(path: Path) -> Iterator[str]:
    """Yield the commands of a recorded run that stand as they were written."""
    text = _COLOURS.sub("", path.read_text("utf-8", "replace"))
    for step in _STEP.finditer(text):
        match = _COMMAND.search(step[1])
        if match and not _is_wrapped(match[1].split("\n")):
            yield match[1]


def _is_wrapped(lines: list[str]) -> bool:
    """Return whether the terminal may have broken one of these lines."""
    return any(
        len(line) + len(following.partition(" ")[0]) >= WIDTH - 2
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
