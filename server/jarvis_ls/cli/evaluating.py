"""`jarvis eval TASKS.jsonl`: how many tasks agents solve, in how many rounds, at what price."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.cli.common_options import add_allow
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import visible
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.assembly.evaluation import Result

_ROW = "{:<28} {:<7} {:>6} {:>10} {:>8} {:>7} {:>9} {:>8}"
_HEAD = (
    Words("task"),
    Words("outcome"),
    Words("rounds"),
    Words("prompt"),
    Words("answer"),
    Words("cached"),
    Words("cost"),
    Words("seconds"),
)
_OUTCOMES = {"solved": Words("solved"), "failed": Words("failed")}


def add_command(commands: Any) -> None:
    """Add the command below `jarvis`."""
    parser = commands.add_parser("eval", help="work through tasks and count what they cost")
    add = parser.add_argument
    add("tasks", type=Path, metavar="TASKS.jsonl", help="one task a line, see docs/agents.md")
    add(
        "--output",
        "-o",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the results; tasks that are done there are not done again",
    )
    add("--model", metavar="GROUP", default="", help="model group, or provider/model")
    add(
        "--replay",
        type=Path,
        metavar="DIR",
        help="give the answers of an earlier evaluation again; no model is asked",
    )
    add("--trust", action="store_true", help="agents may change the copies, checks are run")
    add_allow(parser)
    add("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run_evaluation)


def run_evaluation(options: argparse.Namespace) -> ExitStatus:
    """Work through the tasks; returns 0 when all are solved, else 1."""
    from jarvis_ls.assembly.evaluation import Evaluation, Plan, read_tasks, summarise
    from jarvis_ls.cli.talk import Alone
    from jarvis_ls.runtime.tools.permissions import PermissionRule

    plan = Plan(
        options.output.absolute(),
        user_folder(),
        dict(os.environ),
        Alone(),
        options.model,
        options.replay.absolute() if options.replay is not None else None,
        options.trust,
        [PermissionRule("allow", kind=kind, target=target) for kind, target in options.allow],
    )
    evaluation = Evaluation(read_tasks(options.tasks), plan)
    for result in evaluation.results.values():
        print(speak(Words("{task} is done already", task=result.id)), file=sys.stderr)
    results = asyncio.run(evaluation.run(_tell))
    if options.format == "json":
        print(json.dumps(summarise(results), indent=2))
    else:
        print("\n".join(table(results)))
    solved = all(result.outcome == "solved" for result in results)
    return ExitStatus.SUCCESS if solved else ExitStatus.FAILURE


def table(results: Sequence[Result]) -> list[str]:
    """Return the lines of a table, the last of which adds up."""
    from jarvis_ls.assembly.evaluation import cached_share, summarise

    total = summarise(results)
    rows = [_ROW.format(*map(speak, _HEAD))]
    for r in results:
        numbers = (r.rounds, r.usage.input, r.usage.output, f"{cached_share(r.usage):.0%}")
        outcome = speak(_OUTCOMES[r.outcome])
        rows.append(_row(r.id, outcome, *numbers, f"{r.usage.cost:.4f}", f"{r.seconds:.1f}"))
    usage = total["usage"]
    rows.append(
        _row(
            speak(Words("all")),
            f"{total['solved']}/{total['tasks']}",
            f"{total['rounds_median']:g}",
            usage["input"],
            usage["output"],
            f"{total['cached_share']:.0%}",
            f"{usage['cost']:.4f}",
            f"{total['seconds']:.1f}",
        )
    )
    return rows


def _row(task: str, *values: object) -> str:
    return _ROW.format(visible(task)[:28], *map(str, values))


def _tell(result: Result) -> None:
    outcome = speak(_OUTCOMES[result.outcome])
    why = f": {visible(speak(result.error))}" if result.error else ""
    print(f"{visible(result.id)} {outcome}{why}", file=sys.stderr)
