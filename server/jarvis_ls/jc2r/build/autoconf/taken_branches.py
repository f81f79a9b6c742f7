"""Branches of a script for autoconf that are taken with the default options.

`if test "$use_double" = no` is decided where it is known what its variables are set to; all else of
the shell stays as it is written. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_IF = re.compile(r"(el)?if[ \t]+([^;]*?)[ \t]*(?:;[ \t]*(?:then)?)?")
_OPENING = re.compile(r"(?:\A|[\s;&|)])if\s")
_CLOSING = re.compile(r"(?:\A|[\s;])fi\b")
_CASE = re.compile(r"(?:\A|[\s;&|)])case\s[^;]*?\sin\b")
_ESAC = re.compile(r"(?:\A|[\s;])esac\b")
_COMMENT = re.compile(r"(?:#|dnl\b)")
_COMPARED = re.compile(r"(\S*)\s+(==?|!=)\s*(\S*)")
_TEST = re.compile(r"(?:test\s+(.*)|\[\[?\s+([^]*?]*)\s+\]\]?)")
"""What the shell asks of words; between brackets, which m4 takes one of, without patterns."""
_ASKED = re.compile(r"-([nz])\s*(\S*)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_MARK = "__jc2r_call_"


def drop_untaken_branches(script: str, known: Mapping[str, str], calls: Iterable[str]) -> str:
    """Return the script without branches that are not taken; what is in those that are begins its
    line.
    `known` are variables of the shell; what `calls` hand over stays as it is, since no one has
    chosen anything. The script itself where its branches do not close."""
    kept = list(calls)
    for number, text in enumerate(kept):
        script = script.replace(text, f"{_MARK}{number}__", 1)
    lines = _follow_branches(script.splitlines(), known)
    found = script if lines is None else "\n".join(lines)
    return re.sub(rf"{_MARK}(\d+)__", lambda match: kept[int(match[1])], found)


def _follow_branches(lines: list[str], known: Mapping[str, str]) -> list[str] | None:
    levels: list[tuple[bool | None, bool | None]] = []
    """Of each `if`: whether its branch at hand is taken, and whether one of it was."""
    found: list[str] = []
    for line in lines:
        word = line.strip()
        match = _IF.fullmatch(word)
        if match is not None and not match[1]:
            answer = _answer(match[2], known)
            levels.append((answer, answer))
        elif match is not None or word == "else":
            if not levels:
                return None
            done = levels[-1][1]
            answer = True if match is None else _answer(match[2], known)
            now = False if done else None if done is None or answer is None else answer
            levels[-1] = (now, True if done else None if now is None else now)
        elif word.rstrip(";") == "fi":
            if not levels:
                return None
            levels.pop()
        elif word != "then" or not levels:
            told = "" if _COMMENT.match(word) else word
            if len(_OPENING.findall(told)) != len(_CLOSING.findall(told)):
                return None
            inside = len(_CASE.findall(told)) - len(_ESAC.findall(told))
            if abs(inside) > 1 or (inside < 0 and not levels):
                return None
            if inside > 0:  # which of its arms is taken is not examined
                levels.append((None, None))
            elif inside < 0:
                levels.pop()
            if any(state is False for state, _ in levels):
                continue
            sure = levels and all(state for state, _ in levels)
            found.append(word if sure else line)
    return None if levels else found


def _answer(question: str, known: Mapping[str, str]) -> bool | None:
    """Return whether the shell says yes; None when that is not known."""
    answers = [_compare_words(test.strip(), known) for test in question.split("&&")]
    if any(answer is False for answer in answers):
        return False
    return True if all(answers) else None


def _compare_words(question: str, known: Mapping[str, str]) -> bool | None:
    asked = _TEST.fullmatch(question)
    names = [match[1] or match[2] for match in _VARIABLE.finditer(question)]
    if asked is None or not names or any(name not in known for name in names):
        return None
    text = re.sub(r"[\"']", "", asked[1] or asked[2]).strip()
    text = _VARIABLE.sub(lambda match: known[match[1] or match[2]], text)
    if (match := _ASKED.fullmatch(text)) is not None:
        return (match[2] == "") == (match[1] == "z")
    if (match := _COMPARED.fullmatch(f" {text} ".rstrip()[1:])) is None:
        return None
    return (match[1] == match[3]) == (match[2] != "!=")
