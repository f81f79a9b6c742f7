"""What `jsec agent` costs besides its model: `python tests/bench/pipeline.py`.

1,000 candidates in twenty files, verified by agents with a scripted model that answers at once: the
processor time of the command, and of the same command when everything is done. And 300 kills of a
process that runs the pipeline.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from tests.bench.measure.table import Table  # noqa: E402
from tests.support import pipeline_killing  # noqa: E402
from tests.support.security_model import Question, SecurityModel, no_flaw  # noqa: E402

FILES, EACH, KILLS = 20, 50, 300
CODE = """\
void copy{n}(const char *from) {{
    char to[4];
    strcpy(to, from);
}}
"""
SETTINGS = """\
[model_providers.scripted]
base = "{url}"
env_keys = ["SCRIPTED_KEY"]
[model_groups.balanced]
models = ["scripted/scripted"]
"""


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    table = Table("What `jsec agent` costs besides its model")
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(_measure(Path(name), table))
    with tempfile.TemporaryDirectory() as name:
        counted = pipeline_killing.run(Path(name), KILLS, seed=1)
        whole = counted["whole"]
        table.note("kills", counted["kills"], "")
        table.note("of these with a line torn", counted["torn"], "")
        table.at_least("runs that were completed with no candidate lost or doubled", whole, 30)
    return table.finish()


async def _measure(folder: Path, table: Table) -> None:
    work, home = folder / "work", folder / "home"
    for place in (work, home):
        place.mkdir()
    for file in range(FILES):
        text = "".join(CODE.format(n=f"{file}_{number}") for number in range(EACH))
        (work / f"f{file:02}.c").write_text(f"#include <string.h>\n{text}")
    async with SecurityModel() as model:
        model.roles = {"clustering": _clusters, "analysis": _analysis}
        (home / "config.toml").write_text(SETTINGS.format(url=model.url))
        await _seconds(work, home, "scan")
        scan = await _seconds(work, home, "scan")
        agent = await _seconds(work, home, "agent")
        asked = len(model.asked)
        again = await _seconds(work, home, "agent")
        assert len(model.asked) == asked, "a finished run has asked"
    table.note("agents", asked, "")
    table.note("a scan from its cache", scan, "s")
    table.at_most("1,000 candidates, besides the scan", agent - scan, 10, "s")
    table.at_most("again, when all is done, besides the scan", again - scan, 1, "s")


def _clusters(question: Question) -> list[Any]:
    parts = [question.gids[start : start + 5] for start in range(0, len(question.gids), 5)]
    return [{"verification": f"check {p[0]}", "gids": p, "is_invalid": False} for p in parts]


def _analysis(question: Question) -> list[Any] | None:
    """Every fourth cluster holds no flaws."""
    if question.gids[0] % 20 == 1:
        return [no_flaw(gid) for gid in question.gids]
    return None


async def _seconds(work: Path, home: Path, command: str) -> float:
    """Processor time of a command and of the processes it starts."""
    before = _spent()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "jarvis_ls.cli.jsec",
        command,
        "--quiet",
        "-o",
        os.devnull,
        cwd=work,
        env={**os.environ, "JARVIS_HOME": str(home), "SCRIPTED_KEY": "sk-1"},
    )
    status = await process.wait()
    assert status == 0, f"{command} ended with {status}"
    return _spent() - before


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
