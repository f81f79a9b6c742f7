"""How rules speak about commands: by words, never by text put together from them.

The target of a rule is read as a shell reads words, quotes included. A word of it is a pattern for
one word of the command; `*` alone represents any number of words, and a pattern at the end that
ends with `*` for whatever follows. So `git log *` is git with `log` as its first argument, and
nothing that merely begins with these letters.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import shlex
from collections.abc import Sequence

from jarvis_ls.codeintel.shell import Command, Doubt, Why
from jarvis_ls.core.words import Words

_REASONS = {
    Why.SYNTAX: Words(
        "How the shell expands this cannot be determined: {part}. Write it more simply."
    ),
    Why.CHARACTER: Words("The command line holds a character that cannot be seen: {part}."),
    Why.PROGRAM: Words(
        "Which program this starts is only known when it runs: {part}. Write its name."
    ),
    Why.CODE: Words(
        "What the shell is to run is only known when it runs: {part}. Write the commands out."
    ),
    Why.FILE: Words(
        "Which file is opened is only known when it runs: {part}. Write its path, from the folder "
        "where the script starts."
    ),
    Why.OPTION: Words(
        "This may run or write more than the rule names: {part}. Leave it out, or ask for a rule "
        "that spells it."
    ),
    Why.VALUE: Words(
        "This is only known when it runs, and could be an option: {part}. Write the value."
    ),
    Why.MEANING: Words("This may change what later words mean: {part}. Leave it out."),
}


def reason_of(doubt: Doubt) -> Words:
    """Return what is in doubt, and what would pass, for the model and the user."""
    return Words(_REASONS[doubt.why].template, part=doubt.part or "''")


def matches_command(target: str, words: Sequence[str]) -> bool:
    """Return whether the target of a rule speaks about a command."""
    return _match(words_of(target), tuple(words))


def is_any_command(target: str) -> bool:
    """Return whether a rule speaks about every program."""
    return bool(target) and not target.strip("* ")


def spells(target: str, command: Command) -> bool:
    """Return whether a rule itself holds each word by which a command may do more."""
    named = {re.sub(r"\[([*?\[])\]", r"\1", word) for word in words_of(target)[1:]}
    return can_be_spelled(command) and all(doubt.part in named for doubt in command.doubts)


def can_be_spelled(command: Command) -> bool:
    """Return whether a rule can hold each word by which a command may do more."""
    own = command.words[1:]
    return all(doubt.why is Why.OPTION and doubt.part in own for doubt in command.doubts)


def pattern_of(words: Sequence[str]) -> str:
    """Return the target of a rule that speaks about exactly this command."""
    escaped = (re.sub(r"([*?\[])", r"[\1]", word) for word in words)
    return " ".join(
        shlex.quote(word) if not word or re.search(r"[\s'\"\\]", word) else word for word in escaped
    )


@functools.lru_cache(maxsize=4096)
def words_of(target: str) -> tuple[str, ...]:
    """Return the words of a rule's target; with a broken quote, what is between blanks."""
    try:
        return tuple(shlex.split(target))
    except ValueError:
        return tuple(target.split())


def _match(pattern: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Return whether a pattern matches all words, in time linear in both together: each word of
    the pattern takes the places where the one before may end to those where it may end.
    """
    ends = {0}
    for number, wanted in enumerate(pattern, 1):
        if wanted and not wanted.strip("*"):
            ends = set(range(min(ends), len(words) + 1))
            continue
        ends = {at + 1 for at in ends if at < len(words) and fnmatch.fnmatchcase(words[at], wanted)}
        if not ends:
            return False
        if number == len(pattern) and wanted.endswith("*"):
            return True
    return len(words) in ends
