"""Write what shells and `man` want of the commands: completions and manual pages, from their help.

    python scripts/shell_files.py            write them
    python scripts/shell_files.py --check    fail when they are not up to date

Completions are scripts that shtab generates, not programs that are asked at each key (argcomplete):
they cost the start of a command nothing and need no package on the user's machine.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import shtab

from jarvis_ls import __version__
from jarvis_ls.cli.entry import COMPLETIONS, SHELLS, parsers

MANUAL = Path(__file__).resolve().parent.parent / "server" / "man"
PROGRAMS = {
    "jarvis": "jarvis",
    "jca": "jca",
    "jarvis-ls": "language_server",
    "jsec": "jsec",
    "jc2r": "jc2r",
}
"""The module of each program."""


def files() -> Iterator[tuple[Path, str]]:
    """Yield each file with what is in it."""
    for program, module in PROGRAMS.items():
        parser = importlib.import_module(f"jarvis_ls.cli.{module}").build_parser()
        for command in parsers(parser):
            for action in command._actions:
                if action.type is Path:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
        for shell in SHELLS:
            yield COMPLETIONS / f"{program}.{shell}", shtab.complete(parser, shell)
        yield MANUAL / f"{program}.1", manual_page(parser)


def manual_page(parser: argparse.ArgumentParser) -> str:
    """Return the manual page of a program in the language of `man` (groff_man(7))."""
    title = parser.prog.upper()
    lines = [f'.TH {_quoted(title)} 1 "" {_quoted(f"{parser.prog} {__version__}")}']
    first, *_ = (parser.description or "").splitlines()
    lines += [".SH NAME", f"{_text(parser.prog)} \\- {_text(first.rstrip('.'))}"]
    lines += [".SH SYNOPSIS", *_synopsis(parser)]
    lines += [".SH DESCRIPTION", *_paragraphs(parser.description or "")]
    lines += [".SH OPTIONS", *_arguments(parser)]
    commands = [command for command in parsers(parser) if command is not parser]
    if commands:
        lines.append(".SH COMMANDS")
    for command in commands:
        name = command.prog.partition(" ")[2]
        lines += [f".SS {_quoted(name)}", *_synopsis(command)]
        lines += [".PP", *_paragraphs(command.description or "")]
        lines += _arguments(command)
    if parser.epilog:
        lines += [".SH NOTES", *_paragraphs(parser.epilog)]
    return "\n".join(lines) + "\n"


def _synopsis(parser: argparse.ArgumentParser) -> list[str]:
    words = [f"\\fB{_text(parser.prog)}\\fR"]
    if any(action.option_strings for action in parser._actions):
        words.append("[\\fIoption\\fR ...]")
    for action in parser._actions:
        if action.option_strings:
            continue
        name = _text(_value(action))
        words.append(f"[{name}]" if action.nargs in ("?", "*") else name)
    return [" ".join(words)]


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield an item for each argument and option that the help shows."""
    for action in parser._actions:
        if action.help is argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):
            continue
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
        value = f"\\fI{_text(_value(action))}\\fR" if _takes_value(action) else ""
        yield ".TP"
        yield " ".join(part for part in (names, value) if part)
        formatter = parser._get_formatter()
        yield from _paragraphs(formatter._expand_help(action) if action.help else "")


def _takes_value(action: argparse.Action) -> bool:
    return not action.option_strings or action.nargs != 0


def _value(action: argparse.Action) -> str:
    """Return how the help calls the value of an argument."""
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of a text; an empty one begins a paragraph."""
    for line in text.splitlines():
        yield _text(line.strip()) if line.strip() else ".PP"


def _text(text: str) -> str:
    """Return a text in which nothing is a request or an escape."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\\", "\\e") + '"'


def main() -> int:
    """Write or check the files; the status is 1 when a check finds a difference."""
    outdated = 0
    wanted = dict(files())
    found = {path for folder in (COMPLETIONS, MANUAL) for path in folder.glob("*.*")}
    for path in sorted(found.union(wanted)):
        old = path.read_text(encoding="utf-8") if path.exists() else None
        if old == wanted.get(path):
            continue
        if "--check" in sys.argv:
            print(f"{path.name} is out of date; run python scripts/shell_files.py")
            outdated = 1
        elif path in wanted:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()
    return outdated


if __name__ == "__main__":
    sys.exit(main())
