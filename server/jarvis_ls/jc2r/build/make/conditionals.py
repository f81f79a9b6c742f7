"""Conditionals of makefiles, decided from their text as `make` would without arguments.

What only a command could tell is not decided: neither of its branches is read, and variables that
are set in one are not known any more.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_DIRECTIVE = re.compile(r"(else\s+)?(ifn?eq|ifn?def)\b\s*(.*)|(else|endif)\b")
_OF_AUTOMAKE = re.compile(r"if\s+(!?)\s*(\w+)\s*$")
"""What `configure` decides: where that is known, `if NAME` is yes or no."""
_QUOTED = re.compile(r"""(?:"([^"]*)"|'([^']*)')\s*(?:"([^"]*)"|'([^']*)')\s*""")
_INNERMOST = re.compile(r"\$(?:\(([^$(){}]*)\)|\{([^$(){}]*)\})")
_MOST = 200
"""So many expansions are examined in one condition."""
_BUILT_IN = {
    "CC": "cc",
    "CXX": "g++",
    "AR": "ar",
    "AS": "as",
    "LD": "ld",
    "RM": "rm -f",
    "MAKE": "make",
    "CPP": "cc -E",
    "ARFLAGS": "rv",
    "SHELL": "/bin/sh",
    "COMPILE": "",
}
"""What `make` itself sets."""


@dataclass(slots=True)
class _Level:
    """One conditional. None represents what is not decided."""

    taken: bool | None
    """Whether the branch that is being read is the one."""
    done: bool | None
    """Whether this or one before it was."""


class Conditionals:
    """Which lines of a makefile count, as it is read from the top."""

    def __init__(self, known: Mapping[str, str], folder: Path, *, whole: bool) -> None:
        self._known, self._folder = known, folder
        self.whole = whole
        """Whether what is not set here is set nowhere."""
        self._levels: list[_Level] = []
        self._unsure: set[str] = set()

    def takes(self, line: str) -> bool:
        """Return whether a line is a directive of a conditional; it is followed."""
        if (chosen := _OF_AUTOMAKE.match(line)) is not None:
            said = self._known.get(f"if {chosen[2]}")
            fits = None if said is None else (said == "yes") != bool(chosen[1])
            self._levels.append(_Level(fits, fits))
            return True
        match = None if line.startswith("\t") else _DIRECTIVE.match(line.strip())
        if match is None:
            return False
        if match[4] == "endif":
            del self._levels[-1:]
        elif match[4] == "else" or match[1]:
            if self._levels:
                self._otherwise(True if match[4] else self._decide(match[2], match[3]))
        else:
            taken = self._decide(match[2], match[3]) if self.counts is not False else False
            self._levels.append(_Level(taken, taken))
        return True

    @property
    def counts(self) -> bool | None:
        """Return whether the lines here are read; None where that is not decided."""
        found = {level.taken for level in self._levels}
        return False if False in found else None if None in found else True

    def doubt(self, name: str) -> None:
        """Mark the value of a variable as unknown."""
        self._unsure.add(name)

    def said(self, text: str) -> str | None:
        """Return a text with its variables filled in; None when that is not known."""
        for _ in range(_MOST):
            match = _INNERMOST.search(text)
            if match is None:
                return None if "$" in text.replace("$$", "") or "`" in text else text
            inner = match[1] if match[1] is not None else match[2]
            value = self._value(inner)
            if value is None:
                return None
            text = text[: match.start()] + value + text[match.end() :]
        return None

    def _otherwise(self, condition: bool | None) -> None:
        level = self._levels[-1]
        if level.done is True or condition is False:
            level.taken = False
            return
        level.taken = None if level.done is None else condition
        level.done = level.taken

    def _decide(self, word: str, rest: str) -> bool | None:
        rest = rest.partition(" #")[0].strip()
        if word.endswith("def"):
            name = self.said(rest)
            if name is None or name in self._unsure:
                return None
            if name not in self._known and name not in _BUILT_IN and not self.whole:
                return None
            found = bool(self._known.get(name, _BUILT_IN.get(name, "")).strip())
            return found if word == "ifdef" else not found
        sides = _sides(rest)
        first, second = (None, None) if sides is None else map(self.said, sides)
        if first is None or second is None:
            return None
        return (first.strip() == second.strip()) == (word == "ifeq")

    def _value(self, inner: str) -> str | None:
        word, _, rest = inner.strip().partition(" ")
        if rest:
            function = _FUNCTIONS.get(word)
            if word == "wildcard":
                return self._wildcard(rest)
            return None if function is None else function(rest.split(","))
        if word in self._unsure or not re.fullmatch(r"[\w.-]+", word):
            return None
        if word in self._known or word in _BUILT_IN:
            return self._known.get(word, _BUILT_IN.get(word, ""))
        return "" if self.whole else None

    def _wildcard(self, names: str) -> str | None:
        if any(character in names for character in "*?["):
            return None
        return " ".join(name for name in names.split() if (self._folder / name).exists())


def named_by_system(command: str) -> str | None:
    """Return what `uname` would say; None for other commands."""
    match = re.fullmatch(r"uname(?:\s+-([smo]))?\s*(?:2>\s*/dev/null\s*)?(?:\|\|.*)?", command)
    if match is None:
        return None
    own = platform.uname()
    return {"m": own.machine, "o": f"GNU/{own.system}"}.get(match[1] or "s", own.system)


def in_shell(command: str) -> str | None:
    """Return what `echo` or `uname` would say, alone or with its letters changed or left out by
    `tr`. None for other commands: nothing is run.
    """
    first, *others = (word.strip() for word in command.split("|"))
    echoed = re.fullmatch(r"""echo\s+("?)([\w ./:+-]*)\1""", first)
    said = named_by_system(first) if echoed is None else echoed[2].strip()
    for other in others:
        written = re.sub(r"[\[\]'\"]", "", other)
        left_out = _LEAVES_OUT.fullmatch(written)
        if said is None or (written not in _CHANGES and left_out is None):
            return None
        said = re.sub(f"[{left_out[1]}]", "", said) if left_out else _CHANGES[written](said)
    return said


def _sides(rest: str) -> tuple[str, str] | None:
    """Return the two sides of `ifeq`: `(a,b)`, or two texts in quotes."""
    if match := _QUOTED.fullmatch(rest):
        return match[1] or match[2] or "", match[3] or match[4] or ""
    if not rest.startswith("(") or not rest.endswith(")"):
        return None
    depth = 0
    for place, character in enumerate(rest):
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 1:
            return rest[1:place], rest[place + 1 : -1]
    return None


def _fits(word: str, patterns: str) -> bool:
    return any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("%", 1))), word)
        for pattern in patterns.split()
    )


_CHANGES: dict[str, Callable[[str], str]] = {
    "tr A-Z a-z": str.lower,
    "tr :upper: :lower:": str.lower,
    "tr a-z A-Z": str.upper,
    "tr :lower: :upper:": str.upper,
}
"""What `tr` does, its brackets and quotes left out."""
_LEAVES_OUT = re.compile(r"tr -d (\w-\w|[\w.-])")
_FUNCTIONS: dict[str, Callable[[list[str]], str | None]] = {
    "strip": lambda given: " ".join(",".join(given).split()),
    "findstring": lambda given: given[0] if given[0] in ",".join(given[1:]) else "",
    "filter": lambda given: " ".join(
        word for word in ",".join(given[1:]).split() if _fits(word, given[0])
    ),
    "filter-out": lambda given: " ".join(
        word for word in ",".join(given[1:]).split() if not _fits(word, given[0])
    ),
    "firstword": lambda given: next(iter(",".join(given).split()), ""),
    "lastword": lambda given: next(reversed(",".join(given).split()), ""),
    "notdir": lambda given: " ".join(word.rpartition("/")[2] for word in ",".join(given).split()),
    "shell": lambda given: in_shell(",".join(given)),
    "subst": lambda given: given[2].replace(given[0], given[1]) if len(given) == 3 else None,
}
