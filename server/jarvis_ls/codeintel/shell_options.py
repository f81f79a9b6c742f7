"""Options by which programs that only look run others, or write files.

Whoever allows `sed *` or `git log *` means looking. The manuals of GNU coreutils, findutils, sed,
awk, tar, make, of git, ripgrep, compilers and build tools say which of their options do more;
with those a command line is nobody's known one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LONG = {
    "find": (
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-fprint",
        "-fprint0",
        "-fls",
        "-fprintf",
    ),
    "git": tuple(
        "-c --exec-path --upload-pack --receive-pack --ext-diff --textconv --output "
        "--open-files-in-pager --exec --extcmd --config-env --git-dir".split()
    ),
    "tar": (
        "--to-command",
        "--checkpoint-action",
        "--use-compress-program",
        "--rsh-command",
        "--info-script",
        "--new-volume-script",
        "--rmt-command",
    ),
    "rg": ("--pre", "--hostname-bin"),
    "sed": ("--in-place", "--file"),
    "sort": ("--output", "--compress-program"),
    "awk": ("--file", "--include", "--load", "--exec", "--debug"),
    "man": ("--pager",),
    "make": ("--file", "--makefile", "--eval"),
    "less": ("--log-file", "--LOG-FILE", "--lesskey-file"),
    "printf": ("-v",),
    "test": ("-v", "-R"),
    "wait": ("-p",),
    "cargo": ("--config",),
    "go": ("-exec", "-toolexec", "-vettool"),
    "gcc": ("-wrapper", "-fplugin", "-specs", "--specs", "-load"),
    "npm": ("--script-shell", "--node-options"),
    "split": ("--filter",),
    "sdiff": ("--output",),
    "rsync": ("--rsh", "--rsync-path"),
    "scp": (),
    "zip": ("--unzip-command",),
    "tcpdump": (),
    "wget": ("--use-askpass", "--config"),
    "curl": ("--config", "--output"),
}
"""By their first words: `--out=f` is `--output=f` for programs that take short forms."""
_LETTERS = {
    "git": "O",
    "tar": "IF",
    "sed": "if",
    "sort": "o",
    "awk": "filE",
    "man": "P",
    "make": "f",
    "less": "oOk",
    "printf": "v",
    "wait": "p",
    "sdiff": "o",
    "rsync": "e",
    "scp": "SoF",
    "zip": "T",
    "tcpdump": "zw",
    "curl": "Ko",
}
"""The same as single letters, which may stand behind others and before their value."""
_TWO_FILES = frozenset({"uniq", "xxd"})
"""Programs that write their second file."""
_ALIASES = {
    "gawk": "awk",
    "mawk": "awk",
    "gsed": "sed",
    "gtar": "tar",
    "gmake": "make",
    "cc": "gcc",
    "g++": "gcc",
    "c++": "gcc",
    "clang": "gcc",
    "clang++": "gcc",
    "pnpm": "npm",
    "yarn": "npm",
}
_GIT_RUNS = frozenset(
    {
        "bisect",
        "filter-branch",
        "difftool",
        "mergetool",
        "daemon",
        "instaweb",
        "send-email",
        "hook",
        "filter-repo",
    }
)
"""Commands of git that run what they are given, or what a repository says."""
_GIT_READS = frozenset({"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"})
_SET = re.compile(r"\w+[:+?!]*=(?!(?:\d+|y|n|yes|no)?$)", re.DOTALL)
"""A variable on the command line of make that is more than a number or a switch."""
_AWK = re.compile(r"system|getline|[|>@]")
_S = r"s([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiIm0-9]*"
_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/\\\n])*/I?)"
_SED = re.compile(rf"[ \t]*(?:{_ADDRESS}(?:,{_ADDRESS})?)?[ \t]*!?[ \t]*(?:[pdqQ=]|{_S})?[ \t]*")


def hides(program: str, arguments: Sequence[str]) -> bool:
    """Return whether a known program, called like this, may run or write more than its words
    say.
    """
    program = _ALIASES.get(program, program)
    long, letters = _LONG.get(program, ()), _LETTERS.get(program, "")
    if any(_is_option(word, long, letters) for word in arguments):
        return True
    plain = [word for word in arguments if not word.startswith("-")]
    if program == "git":
        return _git_runs(arguments)
    if program == "make":
        return any(_SET.match(word) for word in plain)
    if program == "tar":  # the first word may be letters without a dash
        return bool(arguments) and _has_letter(f"-{arguments[0]}", letters)
    if program == "sed":
        return not all(map(_only_looks, _sed_scripts(arguments)))
    if program == "awk":
        return any(_AWK.search(word) for word in arguments)
    if program == "less":
        return any(word.startswith("+") for word in arguments)
    return program in _TWO_FILES and len(plain) > 1


def has_dangerous_options(program: str) -> bool:
    """Return whether words of this program's command line can be options that do more."""
    name = program.rpartition("/")[2]
    return _ALIASES.get(name, name) in _LONG


def _git_runs(arguments: Sequence[str]) -> bool:
    if any("ext::" in word for word in arguments):
        return True
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in ("-C", "--work-tree", "--namespace") else 1]
    command, *words = rest or [""]
    if command == "config":
        return not _GIT_READS.intersection(words) and len(words) != 1
    if command == "submodule":
        return "foreach" in words
    return command in _GIT_RUNS or (
        command == "rebase" and any(_has_letter(w, "xi") for w in words)
    )


def _is_option(word: str, long: Sequence[str], letters: str) -> bool:
    name, given, _ = word.partition("=")
    if name in long:
        return True
    if word.startswith("--"):
        return len(name) > 2 and any(option.startswith(name) for option in long)
    return not given and _has_letter(word, letters)


def _has_letter(word: str, letters: str) -> bool:
    return re.match(rf"-[A-Za-z]*[{letters}]", word) is not None if letters else False


def _sed_scripts(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the scripts of a call of sed: those of `-e`, else the first word that is no option."""
    found = False
    for place, word in enumerate(arguments):
        if word in ("-e", "--expression") or re.fullmatch(r"-[nErsuz]*e", word):
            found = True
            yield arguments[place + 1] if place + 1 < len(arguments) else ""
        elif match := re.match(r"(?:-[nErsuz]*e|--expression=)(.+)", word, re.DOTALL):
            found = True
            yield match[1]
    if not found:
        yield next((word for word in arguments if not word.startswith("-")), "")


def _only_looks(script: str) -> bool:
    """Return whether a sed script holds nothing but printing, deleting, ending and plain `s`."""
    at = 0
    while (command := _SED.match(script, at)) is not None:
        at = command.end() + 1
        if at > len(script):
            return True
        if script[at - 1] not in ";\n":
            return False
    return False
