"""What a script for autoconf decides when it is run without arguments on this machine: what its
options set by default, and what words of the shell become.
"""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Iterator

from jarvis_ls.jc2r.build.machine_probes import answers

PLACES = {
    "prefix": "/usr/local",
    "exec_prefix": "$(prefix)",
    "bindir": "$(exec_prefix)/bin",
    "sbindir": "$(exec_prefix)/sbin",
    "libdir": "$(exec_prefix)/lib",
    "libexecdir": "$(exec_prefix)/libexec",
    "datarootdir": "$(prefix)/share",
    "datadir": "$(datarootdir)",
    "sysconfdir": "$(prefix)/etc",
    "mandir": "$(datarootdir)/man",
    "localstatedir": "$(prefix)/var",
    "localedir": "$(datarootdir)/locale",
    "includedir": "$(prefix)/include",
    "docdir": "$(datarootdir)/doc/$(PACKAGE)",
    "pkgdatadir": "$(datadir)/$(PACKAGE)",
    "pkglibdir": "$(libdir)/$(PACKAGE)",
}
"""Where things are put by default, as `configure` has it."""
_OF_SHELL = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_MAX_DEPTH = 8
_SHELL = re.compile(
    r"^(\w+)=(?:\"([^\"$`\\\n]*)\"|'([^'\"\\\n]*)'|([\w./:-]+))[ \t]*$", re.MULTILINE
)
"""What a line sets a variable to."""
_LONGEST = 200
"""Characters of a word that another is made of."""
CHOICE = re.compile(r"\bAC_ARG_(?:WITH|ENABLE)(?=\()")
_OTHERWISE = re.compile(
    r",\s*\[?\s*(\w+)=(?:\"([^\"$`\\\n]*)\"|'([^'\"\\\n]*)'|([\w./:-]+))\s*\]?\s*\Z"
)
"""What an option sets by default."""
_DECIDED = re.compile(r"\bAM_CONDITIONAL(?=\()")
_TEST = re.compile(
    r"\s*\[?\s*(\w+)\s*\]?\s*,\s*\[?\s*(?:test|\[)\s+(?:(-[nz])\s+)?([\"']?)([\w${}.-]*)\3"
    r"(?:\s*(==?|!=)\s*([\"']?)([\w.-]*)\6)?\s*\]*\s*"
)
"""A name and one comparison."""
_IF = re.compile(r"\bAS_IF(?=\()")
_LOOKED_FOR = re.compile(r"\bAC_CHECK_(?:HEADER|FUNC)S?(?=\()")
_SETS = re.compile(r"(\w+)=[\"']?([\w.-]*)[\"']?")
_NAMED = re.compile(r"\s*\[?\s*([\w-]+)")
_LONGEST_CALL = 8000
"""Characters of a call in a script for autoconf."""


def automake_conditions(script: str) -> dict[str, str]:
    """Conditions for automake that compare what an option sets by default."""
    known = {**_system(), **otherwise(script), **found_out(script)}
    found: dict[str, str] = {}
    for text in calls(_DECIDED, script):
        match = _TEST.fullmatch(text)
        names = (
            [] if match is None else [word[1] or word[3] for word in _OF_SHELL.finditer(match[4])]
        )
        if match is None or len(names) != 1 or names[0] not in known:
            continue
        left, right = in_shell(match[4], known), match[7] or ""
        equal = left == right if match[5] else not left
        found[f"if {match[1]}"] = "yes" if equal != (match[5] == "!=" or match[2] == "-n") else "no"
    return found


def shell_assignments(script: str) -> dict[str, str]:
    """Variables of the shell that lines of a script set, with what they set them to last."""
    return dict(_named_and_set(match) for match in _SHELL.finditer(script))


def _named_and_set(match: re.Match[str]) -> tuple[str, str]:
    return match[1], match[2] or match[3] or match[4] or ""


def otherwise(script: str) -> dict[str, str]:
    """Variables that only choices set, with their values when no one makes one."""
    rest = script
    found: dict[str, str] = {}
    for kind in ("ENABLE", "WITH"):
        for text in calls(re.compile(rf"\bAC_ARG_{kind}(?=\()"), script):
            rest = rest.replace(text, "", 1)
            if (name := _NAMED.match(text)) is not None:
                found[f"{kind.lower()}_{name[1].replace('-', '_')}"] = ""
            if (choice := by_default(text)) is not None:
                found[choice[0]] = choice[1]
    before = shell_assignments(rest)
    set_in = re.findall(r"\b(\w+)=", rest)
    every = {**before, **found}
    return {name: value for name, value in every.items() if set_in.count(name) <= (name in before)}


@functools.cache
def _system() -> dict[str, str]:
    """Return what a script for autoconf finds out about the machine; nothing where that is not
    Linux.
    """
    own = platform.uname()
    if own.system != "Linux":
        return {}
    vendor = "pc" if own.machine in ("x86_64", "i686") else "unknown"
    parts = {
        "": f"{own.machine}-{vendor}-linux-gnu",
        "_cpu": own.machine,
        "_vendor": vendor,
        "_os": "linux-gnu",
    }
    return {
        f"{kind}{part}": value
        for kind in ("build", "host", "target")
        for part, value in parts.items()
    }


def in_shell(text: str, variables: dict[str, str]) -> str:
    """Return what a text of the shell becomes; what is not known is left out."""
    known = {**PLACES, **_system(), **variables}
    for _ in range(_MAX_DEPTH):
        text = short(
            _OF_SHELL.sub(lambda match: known.get(match[1] or match[2] or match[3], ""), text)
        )
    return text


def short(value: str) -> str:
    """Return the value of a word, or nothing where it is too long to be substituted."""
    return value if len(value) <= _LONGEST else ""


def calls(name: re.Pattern[str], script: str) -> Iterator[str]:
    """Yield what is between the parentheses of calls in a script for autoconf. In brackets,
    which quote, parentheses need no other: `case $x in yes)`.
    """
    for match in name.finditer(script):
        depth = quoted = 0
        for at in range(match.end(), min(len(script), match.end() + _LONGEST_CALL)):
            quoted = max(0, quoted + {"[": 1, "]": -1}.get(script[at], 0))
            depth += 0 if quoted else {"(": 1, ")": -1}.get(script[at], 0)
            if depth == 0:
                yield script[match.end() + 1 : at]
                break


def parts(call: str) -> list[str]:
    """Return what a call in a script for autoconf hands over, without the brackets around each."""
    found = [""]
    depth = quoted = 0
    for character in call:
        quoted += (character == "[") - (character == "]")
        depth += 0 if quoted else (character == "(") - (character == ")")
        if character == "," and depth == quoted == 0:
            found.append("")
        else:
            found[-1] += character
    texts = map(str.strip, found)
    return [text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text for text in texts]


def as_shell(script: str) -> str:
    """Return a script for autoconf with its `AS_IF` written as the shell has it."""
    for text in calls(_IF, script):
        every = parts(text)
        lines: list[str] = []
        for at in range(0, len(every) - 1, 2):
            question = " ".join(every[at].split())
            lines += [f"{'elif' if at else 'if'} {question}; then", *_body(every[at + 1])]
        if len(every) % 2:
            lines += ["else", *_body(every[-1])]
        script = script.replace(f"AS_IF({text})", "\n".join(["", *lines, "fi", ""]), 1)
    return script


def _body(text: str) -> list[str]:
    """Return the lines of a branch, which are no lines of the script as long as it may not be
    taken.
    """
    return [f"  {splitline}" for splitline in as_shell(text).splitlines()]


def found_out(script: str) -> dict[str, str]:
    """Variables that a script for autoconf sets where the machine has a header or a function, one
    after the other, and otherwise nowhere but once before, as this machine has them."""
    before = shell_assignments(script)
    asked_for: dict[str, list[tuple[str, str, str | None]]] = {}
    for text in calls(_LOOKED_FOR, script):
        asked, *ways = parts(text)
        there, other = ([_SETS.fullmatch(way.strip()) for way in ways] + [None, None])[:2]
        if there is None or len(asked.split()) != 1:
            continue
        otherwise = other[2] if other is not None and other[1] == there[1] else None
        word = re.sub(r"\W", "_", asked).upper()
        asked_for.setdefault(there[1], []).append((f"HAVE_{word}", there[2], otherwise))
    said = answers(value for checks in asked_for.values() for value, _, _ in checks)
    found: dict[str, str] = {}
    for name, checks in asked_for.items():
        set_here = len(checks) + sum(otherwise is not None for _, _, otherwise in checks)
        if len(re.findall(rf"\b{name}=", script)) != set_here + (name in before):
            continue
        value = before.get(name, "")
        for asked, yes, otherwise in checks:
            value = yes if asked in said else value if otherwise is None else otherwise
        found[name] = value
    return found


def by_default(choice: str) -> tuple[str, str] | None:
    """Return the variable that an option sets by default, which its fourth part says, and
    to what.
    """
    depth = quoted = commas = 0
    for character in choice:
        quoted += (character == "[") - (character == "]")
        depth += 0 if quoted else (character == "(") - (character == ")")
        commas += character == "," and depth == quoted == 0
    match = _OTHERWISE.search(choice) if commas > 2 else None
    return None if match is None else _named_and_set(match)
