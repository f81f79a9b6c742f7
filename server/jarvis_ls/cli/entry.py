"""How every command begins and ends: its arguments, its streams, its errors, its exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from gettext import ngettext
from pathlib import Path
from typing import Any

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.columns import broken
from jarvis_ls.core.errors import JarvisError, missing_package
from jarvis_ls.core.files import write_error

SHELLS = ("bash", "zsh", "fish")
COMPLETIONS = Path(__file__).resolve().parent / "completion"
"""A file for each program and shell."""


def run(
    build: Callable[[], argparse.ArgumentParser],
    arguments: Sequence[str] | None,
    *,
    interrupted: str = "",
) -> int:
    """Parse the arguments, run the command and return its exit status.

    `build` makes the parser, in English; it is said in the user's language. An error of ours is
    one line on standard error and status 2. `interrupted` is said when the user stops the command.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: what is said goes nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(build, arguments, interrupted)
        finally:
            sys.stdout.flush()  # now, because Python's own end would only complain
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _drop_output()
        return ExitStatus.SUCCESS
    except OSError as error:
        if _takes_more():
            raise
        _drop_output()
        told = write_error(Path("/dev/stdout"), error)
        print(f"{Path(sys.argv[0]).name}: {speak(str(told))}", file=sys.stderr)
        return ExitStatus.USAGE_ERROR


def run_with_extra(
    name: str,
    extra: str,
    build: Callable[[], argparse.ArgumentParser],
    arguments: Sequence[str] | None,
) -> int:
    """Run the command `name` as `run` does; where a package is missing, say which of our extras
    brings it."""
    try:
        return run(build, arguments)
    except ModuleNotFoundError as error:
        missing = missing_package(error)
        print(f"{name}: {missing} is missing: pip install 'jarvis-ls[{extra}]'", file=sys.stderr)
        return ExitStatus.USAGE_ERROR


def _run(
    build: Callable[[], argparse.ArgumentParser], arguments: Sequence[str] | None, interrupted: str
) -> int:
    name = Path(sys.argv[0]).name
    try:
        parser = spoken(build)
        name = parser.prog
        if not (sys.argv[1:] if arguments is None else arguments) and _requires_command(parser):
            print(parser.format_help(), end="", file=sys.stderr)
            return ExitStatus.USAGE_ERROR
        options = parser.parse_args(arguments)
        return int(options.run(options))
    except KeyboardInterrupt:
        if interrupted:
            print(f"{name}: {speak(interrupted)}", file=sys.stderr)
        return ExitStatus.INTERRUPTED
    except JarvisError as error:
        print(f"{name}: {speak(str(error))}", file=sys.stderr)
        return ExitStatus.USAGE_ERROR


def _requires_command(parser: argparse.ArgumentParser) -> bool:
    commands = (act for act in parser._actions if isinstance(act, argparse._SubParsersAction))
    return any(action.required for action in commands)


def write_out(text: str) -> None:
    """Text to standard output. Raises `JarvisError` when the disk behind it takes no more."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        raise write_error(Path("/dev/stdout"), error) from None


def _takes_more() -> bool:
    """Return whether standard output can be written, so that an error came from elsewhere."""
    try:
        print(flush=True)
    except OSError:
        return False
    return True


def _drop_output() -> None:
    """Discard buffered output, so that the interpreter does not complain when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def spoken(build: Callable[[], argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Return the parser that `build` makes, with its help and its errors in the user's language."""
    # argparse asks gettext for its own words, by these names of its module
    vars(argparse).update(_=speak, ngettext=_speak_counted)
    parser = build()
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        help="print the completion of this program for a shell: bash, zsh, fish",
    )
    for command in parsers(parser):
        command.formatter_class = Columns
        command.description = command.description and speak(command.description)
        command.epilog = command.epilog and speak(command.epilog)
        for action in _all_actions(command):
            if action.help and action.help is not argparse.SUPPRESS:
                action.help = speak(action.help)
    return parser


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands, each once."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                yield from parsers(command)


def _all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Its arguments, and the lines that its commands have in its help."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            yield from action._choices_actions


class PrintCompletion(argparse.Action):
    """Prints the completion of the program for a shell, as `scripts/shell_files.py` has written it,
    and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        """Print the file and exit."""
        write_out((COMPLETIONS / f"{parser.prog}.{values}").read_text(encoding="utf-8"))
        parser.exit()


class Columns(argparse.RawDescriptionHelpFormatter):
    """Breaks lines by the columns they take: a Chinese sign takes two, and no blank is
    between words. Line ends of descriptions are kept."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return broken(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = (line for part in text.splitlines() for line in broken(part, width) or [""])
        return "\n".join(indent + line for line in lines)


def _speak_counted(item: str, many: str, number: int) -> str:
    """`ngettext` of argparse's own words: Chinese has one form, English the given two."""
    return speak(ngettext(item, many, number))
