"""Command lines as an attacker would write them, and what real shells do with them.

The lines are put together from pieces of the shell's grammar. The oracle is no parser: it runs a
line in bash and dash, in a folder of its own, with a PATH on which every program leaves a note of
itself; programs that can run or write more are the real ones, behind such a note.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

REAL = "sed sort awk find xargs env timeout nohup nice tar make sh".split()
"""Programs that do what they do, after a note of it."""
NOTED = "ls cat grep wc git gcc tee rm evil nproc touch".split()
"""Programs that only leave a note."""
NEVER = ("rm", "evil")
"""No rule names these."""

_PROGRAMS = [*REAL, *NOTED, "echo", "printf", "test", "true", "cd", "set", "eval", "command"]
_OWN = {
    "sed": ["-i", "s/a/b/w out", "1e rm x", "-f", "a", "s/l/rm/e", "-n", "p", "-nfa", "-ni"],
    "sort": [
        "-o",
        "out",
        "-oout",
        "-oout=1",
        "--compress-program=rm",
        "-S1",
        "a",
        "-rn",
        "--outp=x",
    ],
    "awk": [
        "-f",
        "a",
        'BEGIN{system("rm")}',
        "-faw=1",
        '{print > "out"}',
        "{print $1}",
        "-F:",
        "-v",
    ],
    "find": [".", "-exec", "rm", "{}", ";", "+", "-delete", "-fprint", "out", "-name", "a", "-ok"],
    "xargs": ["rm", "-n1", "-I{}", "ls", "{}", "-a", "a", "-0", "sh", "-c"],
    "env": [
        "A=1",
        "rm",
        "-i",
        "-Srm x",
        "PATH=.",
        "ls",
        "-u",
        "A",
        "--",
        "-S",
        "--split-string=rm",
    ],
    "timeout": ["1", "rm", "ls", "-s", "KILL", "-k1", "--foreground"],
    "nohup": ["rm", "ls", "--"],
    "nice": ["rm", "ls", "-n", "5", "-n5", "-5"],
    "tar": [
        "-cf",
        "out",
        "a",
        "-Irm",
        "--to-command=rm",
        "cfI",
        "-I=rm",
        "xf",
        "--use-compress=rm",
    ],
    "make": ["-f", "mk", "-fmk=1", "CC=rm", "--eval=x:;rm", "x", "-s", "-n", "-j2", "SHELL=rm"],
    "sh": ["-c", "rm x", "ls", "-ec", "a", "-s"],
    "set": ["-e", "-u", "-o", "pipefail", "--", "-k", "rm"],
    "eval": ["rm x", "ls", "r", "m"],
    "cd": ["sub", "..", "-", "/nowhere", "$x"],
    "command": ["-v", "rm", "ls", "-p"],
    "printf": ["-v", "x", "rm", "-vPATH", "%s"],
    "git": ["log", "-c", "alias.x=!rm", "x", "--output=x", "-C", "clone", "-u", "rm"],
    "gcc": ["-B.", "@a", "-fplugin=./evil", "-wrapper", "rm", "a.c", "-c"],
}
_CALM = """
a b.txt -n -la 'x·y' "x·y" *.txt x.c -c 5 '' ./a -- r''m "l"s "$" \\'s a\\·b --all sub ./a
""".split()
_CALM = [word.replace("·", " ") for word in _CALM]
_WORDS = """
$x "$x" ${x} ${x:-rm} {a,b} ~ \\x - \\; {} $'\\x72m' $"rm" ''rm r\\m r''m "r"m sub/evil ./evil evil
"ls·/../evil" ls\\·/../evil $((1+1)) a#b #rm ! $? $1 $@ "$@" @a +x =rm $(nproc) -j$(nproc) x=rm
${x//a/rm} $x$y [a]* ?s rm
""".split()
_WORDS = [word.replace("·", " ") for word in _WORDS]
_SPACES = ["\t", "  ", " \\\n", "\u00a0", "\u3000", "\u2003", "\r", "\x0b"]
_VALUES = ["a", "rm", "'rm x'", "", "$(rm x)", ".", "(rm x)", "sub", "$y", "-delete"]
_NAMES = ["x", "y", "PATH", "IFS", "A", "BASH_ENV", "x[0]", "LANG", "CC"]
_FILES = ["out", "'o ut'", "$x", '"$x"', "sub/out", "~", "o*", "a"]
_OPERATORS = [">", ">>", "2>", "&>", ">|", "<>", ">&", "<<<", "3>", "2>&1 -o", "> /dev/null -o"]


def command_lines() -> st.SearchStrategy[str]:
    """Lines of some commands, most of them harmless but for one piece."""
    return st.integers(0, 2**63).map(lambda seed: Lines(seed).line())


class Lines:
    """Writes lines; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._malice = self._random.choice((0.0, 0.02, 0.05, 0.1, 0.3))

    def line(self) -> str:
        """Return the next line, now and then with a sign too many or too few."""
        line = self._list(3)
        while self._is_nasty() and self._is_nasty(4):
            at = self._random.randrange(len(line) + 1)
            sign = self._random.choice(["", *"'\"`$(){};|&<>\\\n #![]=*~"])
            line = line[:at] + sign + line[at + self._random.randrange(2) :]
        return line

    def _is_nasty(self, times: float = 1) -> bool:
        return self._random.random() < self._malice * times

    def _list(self, depth: int) -> str:
        parts = [self._statement(depth)]
        for _ in range(self._random.choice((0, 0, 1, 2))):
            parts.append(self._random.choice((";", "&&", "||", "|", "|&", "&", "\n", "; #x\n")))
            parts.append(self._statement(depth))
        return " ".join(parts)

    def _simple(self, depth: int) -> str:
        program = self._random.choice(_PROGRAMS)
        if program in ("eval", "sh", "rm", "evil") and not self._is_nasty(3):
            program = "ls"
        words = [self._spell(program)]
        for _ in range(self._random.randrange(5)):
            words.append(self._word(program, depth))
        if self._random.random() < 0.1:
            words.insert(self._random.randrange(len(words) + 1), "2>&1")
        if self._is_nasty(2):
            operator = self._random.choice(_OPERATORS)
            redirection = operator + self._random.choice(("", " ")) + self._random.choice(_FILES)
            words.insert(self._random.randrange(len(words) + 1), redirection)
        if self._is_nasty():
            words.insert(0, f"{self._name()}={self._value()}")
        return "".join(word + self._space() for word in words).rstrip(" ")

    def _word(self, program: str, depth: int) -> str:
        if depth and self._random.random() < 0.06:
            inner = self._list(depth - 1)
            form = self._random.choice(("$({})", '"$({})"', "`{}`", "<({})", "${{x:-$({})}}"))
            return form.format(inner)
        if program in _OWN and self._random.random() < 0.05 + 2 * self._malice:
            return self._spell(self._random.choice(_OWN[program]))
        return self._random.choice(_WORDS if self._is_nasty(2) else _CALM)

    def _space(self) -> str:
        return self._random.choice(_SPACES) if self._is_nasty(0.5) else " "

    def _name(self) -> str:
        return self._random.choice(_NAMES)

    def _value(self) -> str:
        return self._random.choice(_VALUES)

    def _spell(self, word: str) -> str:
        """Return a word as a shell takes it, quoted in one of its ways."""
        plain = all(sign.isalnum() or sign in "-=./+:,@_%" for sign in word)
        way = self._random.randrange(10 if plain else 2)
        if way == 0:
            return "'" + word.replace("'", "'\\''") + "'"
        if way == 1:
            return '"' + "".join("\\" + s if s in '"\\$`' else s for s in word) + '"'
        return word

    def _statement(self, depth: int) -> str:
        form = self._random.randrange(40) if depth else 0
        simple = self._simple(depth)
        if form < 24:
            return simple
        inner, choice = self._list(depth - 1), self._random.choice
        words = [choice(_WORDS if self._is_nasty(3) else _CALM) for _ in range(2)]
        return (
            f"( {inner} )",
            f"{{ {inner}; }}",
            f"if {simple}; then {inner}; fi",
            f"for x in {self._value()} {words[0]}; do {inner} $x; done",
            f"for x in a b; do {inner} $x; {simple} ${{x}}; done",
            f"while false; do {inner}; done",
            f"case $x in {self._value()}) {inner};; *) {simple};; esac",
            f"{choice(('ls', 'f', 'x'))}() {{ {inner}; }}; {simple}",
            f"! {inner}",
            f"{simple} <<E\n{inner}\nE",
            f"{simple} <<'E'\n{inner}\nE\n",
            f"[ {words[0]} {choice(('=', '-eq', '>', '-nt'))} {words[1]} ]",
            f"[[ {words[0]} {choice(('=', '-eq', '=~', '<'))} {words[1]} ]]",
            f"{choice(('', '', 'export '))}{self._name()}={self._value()}; {inner}",
            f"x={self._value()}; {inner} $x",
            f"time {inner}",
        )[form - 24]


@dataclass(frozen=True, slots=True)
class Happened:
    """What a line did."""

    programs: frozenset[str]
    """Names of the programs that ran."""
    files: frozenset[str]
    """Files that were made or changed."""


class Oracle:
    """Runs lines in real shells, below a folder."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        self._bin = folder / "bin"
        self._outer = folder / "outer"
        self.root = folder / "outer/deep/work"
        self._bin.mkdir(parents=True)
        for name in (*REAL, *NOTED):
            real = f'exec {shutil.which(name)} "$@"' if name in REAL else ""
            self._note(self._bin / name, name, real)
        self.prepare()

    def prepare(self) -> None:
        """Put the folder into the state in which every line begins."""
        shutil.rmtree(self._outer, ignore_errors=True)
        (self.root / "sub").mkdir(parents=True)
        (self.root / "ls ").mkdir()
        for path in ("evil", "sub/evil", "ls"):
            self._note(self.root / path, "evil", "")
        for path, text in (
            ("a", "rm x\nls\n"),
            ("b.txt", "b\n"),
            ("mk", "all:\n\trm x\n"),
            ("mk=1", "all:\n\trm x\n"),
            ("aw=1", 'BEGIN { system("rm x") }\n'),
            ("a.c", "int main(void) { return 0; }\n"),
            ("Makefile", "x:\n\t@:\n"),
            ("-exec", ""),
        ):
            (self.root / path).write_text(text)
        self._log.write_text("")
        self._state = self._files()

    def run(self, line: str, shell: str) -> Happened:
        """Run a line; tell what ran and what was written."""
        self.prepare()
        environment = {"PATH": str(self._bin), "HOME": str(self.root.parent), "LC_ALL": "C.UTF-8"}
        with contextlib.suppress(subprocess.TimeoutExpired):  # what it did until then counts
            subprocess.run(
                [shutil.which(shell) or shell, "-c", line],
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=10,
                check=False,
            )
        before, after = self._state, self._files()
        changed = {path for path in before.keys() | after if before.get(path) != after.get(path)}
        return Happened(frozenset(self._log.read_text().split()), frozenset(changed))

    def _note(self, path: Path, name: str, then: str) -> None:
        path.write_text(f"#!/bin/dash\necho {name} >> {self._log}\n{then}\n")
        path.chmod(0o755)

    def _files(self) -> dict[str, bytes]:
        found = {}
        for folder, _, names in os.walk(self._outer):
            for name in names:
                path = Path(folder, name)
                found[str(path.relative_to(self._outer))] = path.read_bytes()
        return found
