"""Options with which programs do what their name says, and nothing more.

Anyone who allows `gcc *` means compiling, `git *` means git. Some options of such programs run
other programs, read options from files or write where no one looks (`gcc -B.`, `git clone -u x`,
`tar -Ix`, `zip -TT x`). For each program that has such options, the table lists those that do not;
whatever is not listed is a doubt that only the user, or a rule that spells it, can settle.

Sources: manuals of GNU coreutils, findutils, sed, awk, tar, make, binutils, GCC, Clang, git,
Cargo, Go, ripgrep, fd, SQLite, Info-ZIP, OpenSSH, rsync, curl, CMake.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TABLE = Path(__file__).with_name("shell_options.txt")
"""One entry a program, `program subcommand,…` where it has those.

`-x` is a letter, also among others (`-xyz`); `-x:` takes a value, `-x>` one that names a file it
writes or a folder it works in, which must be below the current one. `--name=` takes a value behind
`=`, `--name:` behind `=` or in the next word; `/…/` is a pattern for a whole word. `--` ends the
options. `no@` and `no+`: words that begin so do more. A number is how many files it only reads;
`interpreter`: without a file it runs what it reads; `norun`, `noexec`: commands that start others;
`whole`: words with one dash are no letters.
"""
_ALIASES = dict(
    pair.split(":")
    for pair in "gawk:awk mawk:awk nawk:awk gsed:sed gtar:tar bsdtar:tar gmake:make cc:gcc g++:gcc "
    "c++:gcc clang:gcc clang++:gcc cpp:gcc gfortran:gcc tcc:gcc python2:python python3:python "
    "pypy:python nodejs:node fdfind:fd ripgrep:rg ld.gold:ld ld.lld:ld lld:ld egrep:grep "
    "fgrep:grep llvm-ar:ar llvm-nm:nm llvm-objdump:objdump gcc-ar:ar gcc-nm:nm "
    "exuberant-ctags:ctags universal-ctags:ctags luajit:lua sqlite:sqlite3 mold:ld".split()
)
_ALWAYS = frozenset(
    """
    eval source . coproc alias unalias enable bind complete compgen fc hash let trap
    read mapfile readarray getopts shopt set
    sh bash dash zsh ksh ash csh tcsh fish mksh yash osh nu elvish pwsh powershell cmd rbash
    parallel sem watch entr script expect flock setarch taskset chrt numactl prlimit perf rr
    ssh sftp telnet nc ncat netcat socat ftp lftp ssh-agent ssh-keygen ssh-add openssl ip
    su runuser runcon sg newgrp pkexec chroot nsenter unshare capsh firejail bwrap proot
    docker podman nerdctl kubectl busybox toybox start-stop-daemon run-parts logrotate
    ed ex vi vim nvim view emacs emacsclient nano pico joe mc ranger gdb lldb gcore rlwrap
    at batch crontab tmux screen systemd-run systemctl service dbus-send gdbus busctl
    dbus-run-session xdg-open open xterm xvfb-run wine dpkg rpm mount umount
    npx bunx pipx uvx pnpx just task rake gradle mvn ant tox nox invoke fab scons waf bazel
    ansible ansible-playbook terraform vagrant dc m4 gnuplot ghc ghci irb psql mysql mongo
    redis-cli mutt mail jshell tclsh wish guile cscope
    """.split()
)
"""Programs that are there to run others, or what they read."""
_PLAIN_PATH = re.compile(r"/dev/null|-|(?!.*(?:^|/)\.[^/])(?![/~-])[^:]+", re.DOTALL)
"""A path below the current folder, through nothing whose name begins with a dot."""
_RUNNERS = {
    "norun": ("run", "exec", "shell", "x"),
    "noexec": ("exec", "x", "dlx", "explore", "create", "init"),
}
"""Commands that start another program, by the mark that forbids them."""
_INFORMS = frozenset({"-v", "-V", "--version", "-m"})
_SET = re.compile(r"\w+[:+?!]*=(?!(?:\d+|y|n|yes|no)?$)", re.DOTALL)
"""A variable on the command line of make that is more than a number or a switch."""
_AWK = re.compile(r"system|getline|[|>@]|\bload|\binclude")
_S = r"s([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiIm0-9]*"
_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/\\\n])*/I?)"
_SED = re.compile(rf"[ \t]*(?:{_ADDRESS}(?:,{_ADDRESS})?)?[ \t]*!?[ \t]*(?:[pdqQ=]|{_S})?[ \t]*")
_SQL = re.compile(
    r"(?m)^\s*\.|load_extension|readfile|writefile|fts3_tokenizer|edit\s*\(|attach|vacuum",
    re.IGNORECASE,
)
_FIND = frozenset(
    """
    -H -L -P -O1 -O2 -O3 ! ( ) , -a -o -and -or -not -daystart -depth -d -follow -mount -xdev
    -noleaf -warn -nowarn -empty -executable -readable -writable -nogroup -nouser -true -false
    -print -print0 -ls -prune -quit
    """.split()
)
_FIND_VALUES = frozenset(
    """
    -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath
    -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size
    -type -uid -used -user -wholename -xtype -context -maxdepth -mindepth -regextype -printf
    -newermt -newerct
    """.split()
)


_GIT_READS = frozenset({"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"})


@dataclass(frozen=True, slots=True)
class _Options:
    """What is known of the options of one program."""

    flags: frozenset[str]
    """Whole words, and letters with a dash, that take no value."""
    values: dict[str, str] = field(default_factory=dict)
    """Options with a value: `:` any, `=` only behind `=`, `>` a path below the current folder."""
    patterns: tuple[re.Pattern[str], ...] = ()
    """Whole words."""
    marks: frozenset[str] = frozenset()
    """`--`, `no@`, `no+`, `interpreter`, `norun`, or a number of operands."""


def doubtful(program: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the words by which a program may run or write more than its words say.

    Empty when there are none. The program's own name represents a program that always may.
    """
    name = _known_name(program)
    if name in _ALWAYS:
        return (program,)
    if name == "find":
        return tuple(_of_find(arguments))
    table = _table()
    if name not in table:
        return ()
    special = _SPECIAL.get(name)
    return tuple(special(arguments)) if special else tuple(_find_unlisted(table[name], arguments))


def has_options_that_do_more(program: str) -> bool:
    """Return whether words of this program's command line can be options that do more."""
    name = _known_name(program)
    return name in _table() or name in _ALWAYS or name in ("find", "xargs")


def _known_name(program: str) -> str:
    """Return the name a program has in the table: without folder, version and target."""
    name = program.rpartition("/")[2]
    for candidate in (name, re.sub(r"[-.]?\d+(?:\.\d+)*$", "", name)):
        known = _ALIASES.get(candidate, candidate)
        if known in _table() or known in _ALWAYS or known == "find":
            return known
    behind = re.sub(r"[-.]?\d+(?:\.\d+)*$", "", name).rpartition("-")[2]  # x86_64-linux-gnu-gcc
    known = _ALIASES.get(behind, behind)
    return known if "-" in name and known in ("gcc", "ld", "ar", "as", "objcopy", "strip") else name


@functools.cache
def _table() -> dict[str, _Options]:
    found: dict[str, _Options] = {}
    entries: list[str] = []
    for line in _TABLE.read_text("utf-8").strip().splitlines():
        if line.startswith(" "):
            entries[-1] += line
        else:
            entries.append(line)
    for entry in entries:
        names, _, tokens = entry.partition(":")
        program, _, commands = names.partition(" ")
        parsed = _parse(tokens.split())
        for name in (
            [f"{program} {c}" for c in commands.split(",")] if commands else names.split(",")
        ):
            found[name] = _joined(found[name], parsed) if name in found else parsed
    return found


def _joined(first: _Options, second: _Options) -> _Options:
    return _Options(
        first.flags | second.flags,
        {**first.values, **second.values},
        first.patterns + second.patterns,
        first.marks | second.marks,
    )


def _parse(tokens: Sequence[str]) -> _Options:
    flags, values, patterns, marks = set(), {}, [], set()
    for token in tokens:
        if token.startswith("/"):
            patterns.append(re.compile(token[1:-1], re.DOTALL))
        elif token == "--" or not token.startswith("-"):
            marks.add(token)
        elif token[-1] in ":=>" and token != "-proc:none":
            values[token[:-1]] = token[-1]
        else:
            flags.add(token)
    return _Options(frozenset(flags), values, tuple(patterns), frozenset(marks))


def _find_unlisted(options: _Options, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the words that are no listed options and could be others."""
    operands: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--" and "--" in options.marks:
            operands.extend(words)
            break
        if word.startswith("-") and word != "-":
            if not _is_listed(word, words, options):
                yield word
        elif _begins_badly(word, options):
            yield word
        else:
            operands.append(word)
        if "interpreter" in options.marks and (operands or word == "-m"):
            break  # what follows is for the program it runs
    for limit in options.marks:
        if limit.isdigit():
            yield from operands[int(limit) :]
    for mark, commands in _RUNNERS.items():
        if mark in options.marks:
            yield from (word for word in operands if word in commands)
    if "interpreter" in options.marks and not _INFORMS.intersection(arguments):
        yield from _code(operands)


def _code(operands: Sequence[str]) -> Iterator[str]:
    """Yield where an interpreter takes its program from, when that is no file named as one."""
    if not operands:
        yield ""
    elif operands[0] == "-" or operands[0].startswith(("/dev/", "/proc/", "<(")):
        yield operands[0]


def _begins_badly(word: str, options: _Options) -> bool:
    return (word.startswith("@") and "no@" in options.marks) or (
        word.startswith("+") and "no+" in options.marks
    )


def _is_listed(word: str, following: Iterator[str], options: _Options) -> bool:
    """Return whether a word is an option of the table; its value is drawn from what follows."""
    if word in options.flags or any(p.fullmatch(word) for p in options.patterns):
        return True
    kind = options.values.get(word)
    if kind in (":", ">"):
        return _is_value(next(following, ""), kind)
    name, given, value = word.partition("=")
    if given and name in options.values and len(name) > 2:
        return _is_value(value, options.values[name])
    if word.startswith("--") or "whole" in options.marks:
        return False
    return _are_letters(word[1:], following, options)


def _are_letters(letters: str, following: Iterator[str], options: _Options) -> bool:
    for place, letter in enumerate(letters, 1):
        kind = options.values.get(f"-{letter}")
        if kind in (":", ">"):
            return _is_value(letters[place:] or next(following, ""), kind)
        if f"-{letter}" not in options.flags:
            return False
    return bool(letters)


def _is_value(value: str, kind: str) -> bool:
    return kind != ">" or _PLAIN_PATH.fullmatch(value) is not None


def _of_commands(program: str) -> Callable[[Sequence[str]], Iterator[str]]:
    """Return how doubts are found of a program with subcommands: one that is not known may be an
    alias, or a program of that name.
    """

    def find(arguments: Sequence[str]) -> Iterator[str]:
        table = _table()
        words = iter(arguments)
        for word in words:
            if not word.startswith("-"):
                options = table.get(f"{program} {word}")
                if options is None:
                    yield word
                else:
                    yield from _of_command(program, word, options, list(words))
                return
            if not _is_listed(word, words, table[program]):
                yield word

    return find


def _of_command(
    program: str, command: str, options: _Options, words: Sequence[str]
) -> Iterator[str]:
    yield from _find_unlisted(options, words)
    if program != "git":
        return
    yield from (word for word in words if "::" in word)
    first = next((word for word in words if not word.startswith("-")), "")
    if command == "config" and len(words) != 1 and not _GIT_READS.intersection(words):
        yield from words
    if command == "submodule" and first not in ("", "status", "init", "summary"):
        yield first
    if command == "bisect" and first not in "start good bad new old skip reset log view".split():
        yield first
    if command == "remote" and first not in ("", "show", "get-url", "remove", "rename", "add"):
        yield first


def _of_tar(arguments: Sequence[str]) -> Iterator[str]:
    words = list(arguments)
    if words and not words[0].startswith("-"):  # the first word may be letters without a dash
        letters, words = words[0], words[1:]
        if not re.fullmatch(r"[cxtzjJvpkhOamfC]+", letters):
            yield letters
        words = words[sum(letters.count(letter) for letter in "fC") :]
    yield from _find_unlisted(_table()["tar"], words)
    yield from (word for word in arguments if ":" in word)  # an archive of another machine


def _of_make(arguments: Sequence[str]) -> Iterator[str]:
    yield from _find_unlisted(_table()["make"], arguments)
    yield from (word for word in arguments if not word.startswith("-") and _SET.match(word))


def _of_sed(arguments: Sequence[str]) -> Iterator[str]:
    yield from _find_unlisted(_table()["sed"], arguments)
    yield from (script for script in _sed_scripts(arguments) if not _only_looks(script))


def _of_awk(arguments: Sequence[str]) -> Iterator[str]:
    yield from _find_unlisted(_table()["awk"], arguments)
    yield from (word for word in arguments if _AWK.search(word))


def _of_printf(arguments: Sequence[str]) -> Iterator[str]:
    if arguments and re.match(r"-(?!-$)\w", arguments[0]):
        yield arguments[0]


def _of_test(arguments: Sequence[str]) -> Iterator[str]:
    yield from (word for word in arguments if word in ("-v", "-R"))


def _of_sqlite(arguments: Sequence[str]) -> Iterator[str]:
    yield from _find_unlisted(_table()["sqlite3"], arguments)
    if "-version" in arguments:
        return
    operands = [word for word in arguments if not word.startswith("-")]
    if len(operands) < 2:
        yield ""  # it reads commands
    yield from (word for word in operands if _SQL.search(word))


def _of_patch(arguments: Sequence[str]) -> Iterator[str]:
    yield from _find_unlisted(_table()["patch"], arguments)
    yield ""  # a patch may be a script of ed


_SPECIAL: dict[str, Callable[[Sequence[str]], Iterator[str]]] = {
    "git": _of_commands("git"),
    "cargo": _of_commands("cargo"),
    "go": _of_commands("go"),
    "tar": _of_tar,
    "make": _of_make,
    "sed": _of_sed,
    "awk": _of_awk,
    "printf": _of_printf,
    "test": _of_test,
    "[": _of_test,
    "sqlite3": _of_sqlite,
    "patch": _of_patch,
}


def _of_find(arguments: Sequence[str]) -> Iterator[str]:
    """Yield what find does beside looking; programs it runs are commands of their own."""
    words = iter(arguments)
    for word in words:
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            for inner in words:
                if inner in (";", "+"):
                    break
        elif word in _FIND_VALUES or re.fullmatch(r"-newer[aBcm][aBcmt]", word):
            next(words, None)
        elif word.startswith("-") and word not in _FIND:
            yield word


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
