"""The worker process: `python -m jarvis_ls.jsec.worker`. See `core/process.py`."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from jarvis_ls.core.memory import give_back, resident
from jarvis_ls.core.serving import serve

if TYPE_CHECKING:
    from jarvis_ls.jsec.report.render import Format
    from jarvis_ls.jsec.scan.project import Project
    from jarvis_ls.jsec.scan.result import ScanResult


def main() -> None:
    """Load the rules, then serve requests."""
    # Modules make no garbage, trees many short-lived objects and few cycles.
    gc.set_threshold(50_000, 20, 50)
    from jarvis_ls.jsec.engine.rule_pages import rule_pages
    from jarvis_ls.jsec.engine.rule_runner import Engine
    from jarvis_ls.jsec.live.documents import LiveDocuments
    from jarvis_ls.jsec.scan.file_scanner import DiskFiles

    engine = Engine()
    live, disk = LiveDocuments(engine), DiskFiles(engine)
    gc.freeze()

    def set_project(project: Project) -> None:
        # What a scan makes is freed without the collector, which would look at every node and
        # instruction on the way: a tenth of the time. It is asked after so many files instead.
        gc.disable()
        disk.set_project(project)

    def set_program(units: dict[str, str]) -> None:
        disk.set_program(units)
        gc.freeze()  # the outlines stay: to look at each takes longer than to follow many functions

    serve(
        {
            "ping": lambda: True,
            "set_files": live.set_files,
            "set_patterns": live.set_patterns,
            "set_flow": live.set_flow,
            "set_installed_headers": live.set_installed_headers,
            "set_live_program": live.set_program,
            "file_changed": live.file_changed,
            "open": live.open,
            "change": live.change,
            "close_all": live.close_all,
            "give_back": _give_back,
            "text": live.text,
            "analyse": live.analyse,
            "value_hints": live.value_hints,
            "function_summary": live.function_summary,
            "set_project": set_project,
            "scan": disk.scan,
            "gaps": disk.gaps,
            "keep_functions": disk.keep_functions,
            "set_program": set_program,
            "summaries": disk.summaries,
            "follow": disk.follow,
            "functions": disk.functions,
            "settle": disk.settle,
            "rules": rule_pages,
            "report": _report,
        }
    )


def _give_back() -> int | None:
    """Return free memory to the system, and how many bytes are taken after that."""
    give_back()
    return resident()


def _report(form: Format, result: ScanResult, language: str) -> str:
    from jarvis_ls.jsec.report.render import render  # only who asks for a report pays for it
    from jarvis_ls.jsec.report.spoken import speaker

    return render(form, result, say=speaker(language))


if __name__ == "__main__":
    main()
