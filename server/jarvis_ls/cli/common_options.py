"""Options that several programs and commands have."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the working folder."""
    parser.add_argument(
        "-C",
        "--folder",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="working folder (default: the current folder)",
    )


def add_model_group(parser: argparse._ActionsContainer) -> None:
    """Add the option for the model of a command that otherwise takes that of the settings."""
    parser.add_argument(
        "--llm-group",
        "-g",
        metavar="GROUP",
        default="",
        help="model group, or provider/model (default: that of the settings)",
    )


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add the option for permission rules."""
    parser.add_argument(
        "--allow",
        metavar="RULE",
        action="append",
        default=[],
        type=read_rule,
        help="allow without asking, for example write, write:src/*, execute:make* (repeatable)",
    )


def add_color(parser: argparse.ArgumentParser) -> None:
    """Add the option for colours."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="default: auto (NO_COLOR is respected)",
    )


def read_rule(text: str) -> tuple[str, str]:
    """Return kind and target of a permission rule, for argparse."""
    kind, _, target = text.partition(":")
    if kind not in ("read", "write", "execute", "connect"):
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' must begin with write, execute or connect", text=text))
        )
    return kind, target or "*"


def positive(text: str) -> int:
    """Return a whole number above 0, for argparse."""
    if not text.isdecimal() or not int(text) > 0:
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' is not a whole number above 0", text=text))
        )
    return int(text)


def amount(text: str) -> float:
    """Return a number above 0, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' is not a number above 0", text=text))
        )
    return number


def add_spending(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add what a model may use for one function."""
    add = parser.add_argument
    add("--tokens", type=positive, metavar="N", help="tokens for one function at most")
    add("--cost", type=amount, metavar="SUM", help="money for one function at most")


def add_attempts(parser: argparse.ArgumentParser | argparse._ArgumentGroup, *also: str) -> None:
    """Add how many answers of a model for one function are judged, by other names as well."""
    parser.add_argument(
        "--attempts",
        *also,
        type=positive,
        default=3,
        metavar="N",
        help="answers for one function that are judged (default: 3)",
    )
