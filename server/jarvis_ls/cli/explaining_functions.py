"""`jsec explain-function`: what functions of a project do to their callers."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scanning import wants_colour
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import STATE
from jarvis_ls.jsec.findings.function_summary import FunctionSummary
from jarvis_ls.jsec.report.text import painter, printable
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.folder import project_root
from jarvis_ls.jsec.scan.function_lookup import find_functions
from jarvis_ls.jsec.scan.scanner import SECONDS_PER_FILE, processors
from jarvis_ls.jsec.scan.source_files import Listing, list_sources
from jarvis_ls.jsec.settings.settings import Settings, load_settings

NOTHING = "Nothing was found that callers have to look after."


def run_explain_function(options: argparse.Namespace) -> ExitStatus:
    """Print what the functions of a name do; raises `UsageError` when there is none."""
    root = project_root(options.folder)
    settings = load_settings(root, Settings())
    listing = list_sources(root, settings)
    file, _, name = options.function.partition(":")
    if not name or name.startswith(":"):  # no file, but perhaps a C++ name such as ns::find
        file, name = "", options.function
    found = asyncio.run(_find(listing, settings, name, file))
    if not found:
        raise UsageError(
            "no function '{name}' with a body was found in {root}",
            name=options.function,
            root=root,
        )
    say = reporter()
    if options.format == "json":
        print(json.dumps([_record(summary) for summary in found], ensure_ascii=False, indent=2))
        return ExitStatus.SUCCESS
    paint = painter(wants_colour(options.color))
    for number, summary in enumerate(found):
        if number:
            print()
        place = f"{printable(summary.file)}:{summary.line}"
        print(f"{paint(printable(summary.name), 'bold')}  {place}")
        for sentence in summary.sentences or (say(NOTHING),):
            print(f"  {printable(say(sentence))}")
    return ExitStatus.SUCCESS


async def _find(
    listing: Listing, settings: Settings, name: str, file: str
) -> list[FunctionSummary]:
    cache = None
    root = Path(listing.root)
    if (root / STATE).is_dir():
        try:
            cache = Cache(root, settings.patterns, settings.functions, settings.observed)
        except JarvisError as error:  # the functions are made ready anew
            print(reporter()("the cache was not read: {error}", error=error), file=sys.stderr)
    return await find_functions(
        listing,
        settings,
        name,
        file=file,
        jobs=processors(),
        seconds=SECONDS_PER_FILE,
        cache=cache,
    )


def _record(summary: FunctionSummary) -> dict[str, object]:
    return {
        "name": summary.name,
        "file": summary.file,
        "line": summary.line,
        "effects": [str.__str__(sentence) for sentence in summary.sentences],
    }
