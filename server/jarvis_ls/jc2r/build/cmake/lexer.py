"""Files for CMake as text: the commands in them, and what their words represent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_LONGEST = 65_536
"""Characters that a variable may have."""
_DEEPEST = 64
"""So many blocks may be in each other."""
_NESTED = 8
"""How deep names of variables are made of other variables."""
_TOKEN = re.compile(
    r"(?P<remark>#?)\[(?P<bracket>=*)\[|#[^\n]*|\"(?P<quoted>(?:[^\"\\]|\\.)*)\""
    r"|(?P<round>[()])|(?P<plain>(?:[^\s()#\"\\]|\\.|\"[^\"\n]*\")+)",
    re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{([\w.+/-]+)\}")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9;])")
_ENDS = {
    "function": "endfunction",
    "macro": "endmacro",
    "while": "endwhile",
    "foreach": "endforeach",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is written."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command; one that has branches, with all that is in them."""

    name: str
    words: Sequence[Word]
    bodies: Sequence[tuple[Sequence[Word], Sequence[Command]]] = ()
    """Of `if`, loops and functions: what each branch asks or is given, and what is in it."""


def commands_of(text: str) -> Sequence[Command]:
    """Return the commands of a file, those with branches with all that is in them."""
    return _block(_plain_commands(text), ())[0]


def _block(
    commands: Iterator[Command], ends: Sequence[str], depth: int = 0
) -> tuple[list[Command], Command | None]:
    """Commands up to one of those that end the block, and that one; none of what is too deep."""
    found: list[Command] = []
    for command in commands:
        if command.name in ends:
            return found, command
        if depth > _DEEPEST:
            continue
        if command.name in _ENDS:
            body, _ = _block(commands, (_ENDS[command.name],), depth + 1)
            found.append(Command(command.name, (), [(command.words, body)]))
        elif command.name == "if":
            bodies: list[tuple[Sequence[Word], Sequence[Command]]] = []
            branch: Command | None = command
            while branch is not None and branch.name != "endif":
                asked = () if branch.name == "else" else branch.words or (Word("0"),)
                body, branch = _block(commands, ("elseif", "else", "endif"), depth + 1)
                bodies.append((asked, body))
            found.append(Command("if", (), bodies))
        else:
            found.append(command)
    return found, None


def _plain_commands(text: str) -> Iterator[Command]:
    name, depth = "", 0
    words: list[Word] = []
    for match, raw in _tokens(text):
        round_ = match["round"]
        depth += {"(": 1, ")": -1}.get(round_, 0)
        if round_ == "(" and depth == 1:
            words = []
        elif round_ == ")" and depth <= 0:
            if name:
                yield Command(name.lower(), words)
            name, depth = "", 0
        elif depth == 0:
            name = match["plain"] or name
        elif match["plain"] is not None or round_:
            words.append(Word(match["plain"] or round_))
        elif match["quoted"] is not None:
            words.append(Word(match["quoted"], quoted=True))
        elif raw is not None and not match["remark"]:
            words.append(Word(raw, quoted=True))


def _tokens(text: str) -> Iterator[tuple[re.Match[str], str | None]]:
    """Yield the tokens of a text, those in brackets with what is between them."""
    at = 0
    open_ended: set[str] = set()
    """Brackets that nothing closes: they are looked for once."""
    while (match := _TOKEN.search(text, at)) is not None:
        at = match.end()
        if match["bracket"] is None:
            yield match, None
            continue
        closing = f"]{match['bracket']}]"
        end = text.find(closing, at) if closing not in open_ended else -1
        if end < 0:
            open_ended.add(closing)
            continue
        yield match, text[at:end]
        at = end + len(closing)


def words_of(text: str) -> list[Word]:
    """Return the words of a condition that is written as a text."""
    return [Word(match[0]) for match, _ in _tokens(text)]


def expand_words(words: Iterable[Word], known: Mapping[str, str]) -> list[str]:
    """Words as a command is given them."""
    return [text for word in words for text in expand_word(word, known)]


def expand_word(word: Word, known: Mapping[str, str]) -> list[str]:
    """Return a word with its variables filled in; without quotes it may be several, or none."""
    text = word.text
    for _ in range(_NESTED):  # names may be made of others
        text, count = _VARIABLE.subn(lambda match: known.get(match[1], ""), text)
        if not count or len(text) > _LONGEST:
            break
    text = _ESCAPED.sub(r"\1", short(text))
    if word.quoted:
        return [text]
    return split_list(text)


def split_list(value: str) -> list[str]:
    """Return the parts of a value."""
    return [part for part in value.split(";") if part]


def short(value: str) -> str:
    """Return a value; none when it has grown without end."""
    return value if len(value) <= _LONGEST else ""
