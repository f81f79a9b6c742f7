"""Meaningless names, and the lines on which each function ends up."""

from __future__ import annotations

import random
import re

from cases.weave import BEGIN, END

_NAME = re.compile(r"([$@])(\w+(?::\d+)?)")
_FILLER = re.compile(r"<(text|word|WORD)>")
_LETTERS = "abcdefghkmnpqrstuvwxyz"
_PORTABLE = {
    "access": "_access",
    "alloca": "_alloca",
    "chdir": "_chdir",
    "close": "_close",
    "closesocket": "closesocket",
    "execl": "_execl",
    "execlp": "_execlp",
    "execv": "_execv",
    "execvp": "_execvp",
    "fopen": "fopen",
    "getenv": "getenv",
    "open": "_open",
    "pclose": "_pclose",
    "popen": "_popen",
    "putenv": "_putenv",
    "snprintf": "_snprintf",
    "system": "system",
    "tempnam": "_tempnam",
    "unlink": "_unlink",
}
"""Functions that portable programs call through a macro, with their name elsewhere."""
_SYLLABLES = ["ka", "lo", "mi", "ru", "te", "sa", "no", "vi", "pe", "du", "gi", "fo"]


class Names:
    """Names of one tree: none is used twice at file level."""

    def __init__(self, chooser: random.Random) -> None:
        self._chooser = chooser
        self._count = 0
        self._support: dict[str, str] = {}

    def fresh(self, letter: str = "") -> str:
        """A name that no other thing of the tree has."""
        self._count += 1
        return f"{letter or self._chooser.choice(_LETTERS)}{self._count}"

    def case(self) -> CaseNames:
        """Names for one case."""
        return CaseNames(self, self._chooser)

    def with_macros(self, text: str) -> str:
        """`text`, in which about half of the portable functions are called through a macro."""
        defined = ""
        for name, other in _PORTABLE.items():
            call = re.compile(rf"\b(?<![.>:_]){name}\(")
            if not call.search(text):
                continue
            here = "close" if name == "closesocket" else name
            if here == name and self._chooser.random() < 0.5:
                continue
            macro = self.fresh().upper()
            text = call.sub(f"{macro}(", text)
            defined += f"#ifdef _WIN32\n#define {macro} {other}\n#else\n"
            defined += f"#define {macro} {here}\n#endif\n"
        return defined + text

    def tree_wide(self, text: str) -> str:
        """`text` with the names of the support files."""

        def name(match: re.Match[str]) -> str:
            word = match[2]
            if word not in self._support:
                made = self.fresh()
                self._support[word] = made.upper() if word.startswith("rand") else made
            return self._support[word]

        return re.sub(r"(@)([a-z]\w*)", name, text)


class CaseNames:
    """Names of one case: locals alike in all twins, functions and globals not."""

    def __init__(self, names: Names, chooser: random.Random) -> None:
        self._names = names
        self._chooser = chooser
        self._given: dict[str, str] = {}
        self._locals: set[str] = set()

    def text(self, text: str, twin: str = "") -> str:
        """`text` with names for this case, and for this twin of it."""
        text = _FILLER.sub(self._filler, text)

        def name(match: re.Match[str]) -> str:
            if match[1] == "@":
                return match[0]
            word = match[2]
            private = word.startswith("_") and ":" not in word
            key = word + (":" + twin if private else "")
            if key not in self._given:
                alone = word.startswith("_") or word[0].isupper()
                self._given[key] = self._names.fresh() if alone else self._local()
            return self._given[key]

        return _NAME.sub(name, text)

    def _local(self) -> str:
        while True:
            name = self._chooser.choice(_LETTERS) + str(self._chooser.randrange(10, 99)) + "_"
            if name not in self._locals:
                self._locals.add(name)
                return name

    def _filler(self, match: re.Match[str]) -> str:
        word = "".join(self._chooser.choices(_SYLLABLES, k=2))
        return {"text": f'"{word}"', "word": word, "WORD": word.upper()}[match[1]]


def laid_out(text: str) -> tuple[str, list[tuple[int, int, int, bool]]]:
    """The text with indentation, and (twin, first line, last line, holds the sink) of functions."""
    lines: list[str] = []
    marks: list[tuple[int, int, int, bool]] = []
    depth, twin, first, sink = 0, 0, 0, False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("\x03"):
            twin = int(line[1:])
        elif line.startswith(BEGIN):
            first, sink = len(lines) + 1, line[1:] == "sink"
        elif line.startswith(END):
            marks.append((twin, first, len(lines), sink))
            lines.append("")
        elif line:
            depth -= line.startswith("}")
            label = line.startswith(("case ", "default:"))
            lines.append("    " * max(depth - label, 0) + line if line[0] != "#" else line)
            depth += line.endswith("{")
    return "\n".join(lines) + "\n", marks
