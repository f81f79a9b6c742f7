"""A scan or run in a process of its own: `python -m jarvis_ls.jc2r.run.process REQUEST`.

See `child_request`: `REQUEST` is a `Request`, the lines before the last are `{"stage": name}` and
`{"done": n, "total": n, "path": text}`. The process leads a process group, so that anyone who
started it can end it with everything it has started; it ends when that one is gone. Being killed at
any time loses nothing: see `pipeline`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.child_request import Tell, carry_out
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, user_folder
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.translations import ENGLISH, Translations
from jarvis_ls.jc2r.crate.config import folder_of
from jarvis_ls.jc2r.crate.state import COUNTED, LIFT, UNFINISHED, VERIFY, read_state
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.sandbox.reading import read_sandbox

Progress = Callable[[int, int, str], None]
LOCALES = tuple(
    Path(__file__).resolve().parents[2] / part / "locale" for part in ("harness", "jc2r")
)
Action = Literal["scan", "run", "resume", "verify", "lift"]


@dataclass(frozen=True, slots=True)
class Request:
    """What to do with which project."""

    action: Action
    """`resume` is a run of what the last one was asked for, `verify` compares Rust with C, `lift`
    makes better Rust of the crate."""
    root: str
    crate: str = ""
    """Where the crate goes; empty: beside the project."""
    build_project: bool = False
    """Whether the project's own build may be run in a copy, to learn how files are compiled."""
    only: tuple[str, ...] = ()
    """Files and functions to move, `FILE` or `FILE:FUNCTION`; empty: all."""
    reset: bool = False
    """Whether stages that are done are done again."""
    language: str = ENGLISH
    """The language of what it writes for people to read."""
    sandbox: dict[str, Any] = field(default_factory=dict)
    """The user's settings of the sandbox in which `lift` calls safe functions."""


def main(arguments: list[str]) -> int:
    """Do what is asked; the exit status is 0 when it was done."""
    return carry_out(arguments, _read, lambda request, tell: asyncio.run(_do(request, tell)))


def _read(**values: Any) -> Request:
    return Request(**{**values, "only": tuple(values.get("only", ()))})


async def _do(request: Request, tell: Tell) -> dict[str, Any]:
    from jarvis_ls.jc2r.run.pipeline import run_baseline
    from jarvis_ls.jc2r.symbols.scanner import scan_project

    root = Path(request.root)
    leave_out(root)

    def progress(done: int, total: int, path: str) -> None:
        tell({"done": done, "total": total, "path": path})

    def stage(name: str) -> None:
        tell({"stage": name})

    if request.action == "scan":
        stage("scan")
        scanned = await scan_project(root, build=request.build_project, progress=progress)
        functions = scanned.counts.get("function", 0)
        return {"functions": functions, "problems": len(scanned.problems)}
    if request.action == "verify":
        stage(VERIFY)
        return await asyncio.to_thread(_verify, request, progress)
    if request.action == "lift":
        stage(LIFT)
        return await asyncio.to_thread(_lift, request, progress)
    kept = folder_of(root) / UNFINISHED
    if request.action == "resume":
        request = _last_request(request, kept)
    replace_file(kept, json.dumps(asdict(request)).encode())
    done = await run_baseline(
        root,
        crate=Path(request.crate) if request.crate else None,
        build_project=request.build_project,
        trusted=True,  # the editor asks for nothing of this before its user trusts the folder
        reset=request.reset,
        only=request.only,
        progress=progress,
        stage=stage,
    )
    kept.unlink(missing_ok=True)
    left = sum(function.state in ("new", "c") for function in done.functions)
    return {
        "crate": str(done.crate),
        "functions": len(done.functions),
        "left": left,
        "skipped": len(done.skipped),
        "again": done.again,
    }


def _verify(request: Request, progress: Progress) -> dict[str, Any]:
    _check_system()
    try:
        from jarvis_ls.jc2r.equivalence.stage import MUTANTS, Extent, verify_project
        from jarvis_ls.jc2r.equivalence.verify import SECONDS, Settings
    except ImportError:
        raise JarvisError("Comparing needs Hypothesis: pip install 'jarvis-ls[migrate]'.") from None
    outcome = verify_project(
        Path(request.root),
        settings=Settings(only=request.only),
        progress=progress,
        extent=Extent(mutants=0 if request.only else MUTANTS, mutant_seconds=SECONDS),
        build_project=request.build_project,
        reset=request.reset,
        say=_speaker(request),
    )
    verified = outcome.verified
    return {
        "functions": verified.count("equal"),
        "left": len(verified.functions) - verified.count("equal"),
        "differs": 0 if outcome.good else max(1, verified.count("differs")),
    }


def _lift(request: Request, progress: Progress) -> dict[str, Any]:
    _check_system()
    try:
        from jarvis_ls.jc2r.equivalence.verify import Settings
        from jarvis_ls.jc2r.lift.stage import lift_project
    except ImportError:
        raise JarvisError(
            "Refactoring needs Hypothesis: pip install 'jarvis-ls[migrate]'."
        ) from None
    done = lift_project(
        Path(request.root),
        settings=Settings(),
        sandbox=Ladder(user_folder(), read_sandbox(request.sandbox)),
        build_project=request.build_project,
        progress=progress,
        say=_speaker(request),
    )
    kept = sum(step.kept for step in done.passes)
    before, after = asdict(done.before), asdict(done.after)
    counts = [[name, before[name], after[name]] for name in COUNTED]
    return {"functions": kept, "left": len(done.passes) - kept, "counts": counts}


def _speaker(request: Request) -> Callable[[str], str]:
    """Return the puts what a report says into the language that was asked for."""
    return Translations(request.language, *LOCALES)


def _check_system() -> None:
    if not sys.platform.startswith("linux"):
        raise JarvisError("Refactoring works on Linux only, because it compares C with Rust.")


def _last_request(request: Request, kept: Path) -> Request:
    """Return the last request: of a run like this one, else of one in a terminal."""
    try:
        return _request(json.loads(read_regular(kept, limit=16_000_000)), request)
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError):
        state = read_state(kept.parent)
        crate = state.crate or request.crate
        return replace(request, action="run", only=tuple(state.chosen), crate=crate)


def _request(values: dict[str, Any], now: Request) -> Request:
    """Return a request that was kept, for the folder of `now`."""
    only = tuple(name for name in values["only"] if isinstance(name, str))
    return replace(
        now,
        action="run",
        only=only,
        crate=str(values["crate"]),
        build_project=values["build_project"] is True,
        reset=values["reset"] is True,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
