"""Looking a skill over before any model reads it: nothing of it is run, everything is bounded.

The audit does not decide that a skill is harmless; it names what a person should look at. A
skill with a finding is not used before the user has allowed exactly these bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import kind_of, read_regular
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.tools.permissions import shown

MAX_FILE = 1_000_000
"""Bytes of one file of a skill."""
MAX_TOTAL = 50_000_000
MAX_TEXT = 4_000_000
"""Bytes of text that are examined; more of it is something for a person."""
MAX_ENTRIES = 2_000
MAX_DEPTH = 8
_LONGEST_LINE = 2_000

Kind = Literal[
    "link", "special", "large", "many", "binary", "script", "command", "invisible", "unreadable"
]

_SCRIPTS = frozenset(
    ".sh .bash .zsh .fish .ps1 .psm1 .bat .cmd .vbs .js .mjs .cjs .ts .py .pyw .pl .rb "
    ".php .lua .applescript .command .mk".split()
)
_BINARIES = frozenset(
    ".exe .dll .so .dylib .bin .com .msi .scr .jar .class .pyc .pyd .node .deb .rpm .apk "
    ".dmg .o .a".split()
)
_HEADS = (b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa")

_COMMANDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "runs what it downloads",
        re.compile(
            r"\b(?:curl|wget|iwr|irm|Invoke-WebRequest)\b[^|\n]{0,400}\|\s{0,9}(?:sudo\s{1,9})?"
            r"(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh\b\s{0,9}<\(\s{0,9}(?:curl|wget)\b|\bi?ex\b[^\n]{0,99}"
            r"(?:iwr|irm|DownloadString)",
            re.IGNORECASE,
        ),
    ),
    (
        "deletes a whole tree",
        re.compile(
            r"\brm\s{1,9}(?:-\S{1,20}\s{1,9}){0,4}(?:/|~|\$HOME|\$\{HOME\}|\*)(?:\s|/?\*|$)"
            r"|\bRemove-Item\b[^\n]{0,99}-Recurse[^\n]{0,99}\s[~/\\]|\bformat\s{1,9}[a-z]:\s",
            re.I,
        ),
    ),
    (
        "decodes and runs hidden text",
        re.compile(
            r"\bbase64\s{1,9}(?:-d|-D|--decode)\b[^\n]{0,200}\|\s{0,9}(?:ba|z)?sh\b|\beval\b[^\n]{0,99}"
            r"\bbase64\b|-EncodedCommand\b|\bexec\s{0,9}\(\s{0,9}(?:base64|zlib|codecs|bytes)\b",
            re.I,
        ),
    ),
    (
        "touches keys or passwords",
        re.compile(
            r"(?:~|\$HOME|\$\{HOME\}|/root|/home/\w{1,40})/\.(?:ssh|aws|gnupg|kube|netrc|docker)\b"
            r"|/etc/shadow\b|\bid_(?:rsa|ed25519)\b",
            re.I,
        ),
    ),
    (
        "opens a remote shell",
        re.compile(
            r"/dev/(?:tcp|udp)/|\bnc(?:at)?\b[^\n]{0,60}\s-(?:\w{0,5}e|-exec)\b|\bsocat\b[^\n]{0,80}"
            r"\bexec:",
            re.I,
        ),
    ),
    ("switches to another user", re.compile(r"(?:^|[\s;|&`(])(?:sudo|doas|su\s+-)\s", re.I)),
    (
        "overwrites a disk",
        re.compile(
            r"\bdd\b[^\n]{0,200}\bof=/dev/|\bmkfs(?:\.\w{1,9})?\s|>\s{0,9}/dev/(?:sd|nvme|hd|disk)",
            re.I,
        ),
    ),
    (
        "persists after the session",
        re.compile(
            r"\bcrontab\s{1,9}-|\bsystemctl\b[^\n]{0,40}\benable\b|\blaunchctl\b[^\n]{0,40}\bload\b"
            r"|>>?\s{0,9}~?[^\s]{0,60}/?\.(?:bashrc|zshrc|profile|bash_profile)\b",
            re.I,
        ),
    ),
    (
        "contradicts the user's rules",
        re.compile(
            r"\b(?:ignore|disregard|forget)\b[^\n]{0,40}\b(?:previous|prior|above|all|system|your)\b"
            r"[^\n]{0,40}\b(?:instruction|rule|prompt)|\b(?:do\s+not|don't|never)\s+(?:tell|inform|"
            r"mention)\b[^\n]{0,40}\buser\b|\bwithout\s+(?:asking|telling)\s+the\s+user\b",
            re.I,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing to look at."""

    kind: Kind
    path: str
    """From the skill's folder, with forward slashes."""
    text: str
    """In words for the user."""
    line: int = 0
    """From 1; 0 when it is about the whole file."""

    @property
    def said(self) -> str:
        """The place and the kind of the issue, for the user."""
        where = f"{self.path}:{self.line}" if self.line else self.path
        return Words("{where}: {what}", where=where, what=self.text)


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found."""

    issues: tuple[Issue, ...]
    digest: str
    """Of every file; equal only when nothing changed."""
    files: tuple[str, ...]
    """Files of the skill that can be read, with forward slashes."""

    @property
    def safe(self) -> bool:
        """Return whether there is nothing to look at."""
        return not self.issues

    @property
    def text(self) -> str:
        """For the user, one line for each issue."""
        if not self.issues:
            return Words("Nothing to review was found.")
        return together([issue.said for issue in self.issues], "\n")


def audit_skill(folder: Path) -> Audit:
    """Look a skill's folder over. Blocks; never raises for what is in it."""
    issues: list[Issue] = []
    files: list[str] = []
    digest = hashlib.sha256()
    total = looked = 0
    for path, name in _walk(folder, issues):
        try:
            status = path.lstat()
        except OSError as error:
            issues.append(
                Issue("unreadable", name, Words("it cannot be read: {why}", why=error.strerror))
            )
            continue
        digest.update(f"{name}\0{stat.S_IFMT(status.st_mode):o}\0".encode("utf-8", "replace"))
        if path.is_symlink():
            target = os.fsencode(os.readlink(path))  # noqa: PTH115 - as it is written
            digest.update(target)
            issues.append(
                Issue(
                    "link",
                    name,
                    Words("it is a link to {target}", target=shown(os.fsdecode(target))),
                )
            )
            continue
        if kind := kind_of(status.st_mode):
            issues.append(Issue("special", name, Words("it is {kind}", kind=Words(kind))))
            continue
        total += status.st_size
        if status.st_size > MAX_FILE or total > MAX_TOTAL:
            issues.append(
                Issue(
                    "large",
                    name,
                    Words("it has {count} bytes; it is not read", count=status.st_size),
                )
            )
            digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
            continue
        try:
            data = read_regular(path, limit=MAX_FILE)
        except SkippedFile as error:
            issues.append(Issue("unreadable", name, Words("it cannot be read: {why}", why=error)))
            continue
        digest.update(len(data).to_bytes(8, "big") + data)
        files.append(name)
        looked += len(data) if b"\0" not in data else 0
        if looked > MAX_TEXT:
            issues.append(
                Issue("large", name, Words("the text is too long to be audited completely"))
            )
        issues.extend(_issues(name, data, bool(status.st_mode & 0o111), looked <= MAX_TEXT))
    return Audit(tuple(issues), digest.hexdigest(), tuple(files))


def _walk(folder: Path, issues: list[Issue]) -> list[tuple[Path, str]]:
    """Everything in the folder but folders, in order; links are not followed."""
    found: list[tuple[Path, str]] = []
    waiting = [(folder, "", 0)]
    while waiting:
        here, above, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            issues.append(
                Issue("unreadable", above or ".", Words("no folder: {why}", why=error.strerror))
            )
            continue
        for entry in entries:
            name = f"{above}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if depth >= MAX_DEPTH:
                    issues.append(
                        Issue(
                            "many",
                            name,
                            Words("folders are more than {depth} deep", depth=MAX_DEPTH),
                        )
                    )
                else:
                    waiting.append((Path(entry.path), f"{name}/", depth + 1))
            else:
                found.append((Path(entry.path), name))
            if len(found) + len(waiting) > MAX_ENTRIES:
                issues.append(
                    Issue("many", ".", Words("it has more than {count} files", count=MAX_ENTRIES))
                )
                return sorted(found, key=lambda issue: issue[1])
    return sorted(found, key=lambda issue: issue[1])


def _issues(name: str, data: bytes, executable: bool, read: bool) -> list[Issue]:
    """Return the issues found in a file; its lines are scanned only with `read`."""
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - it is no path of this machine
    if suffix in _BINARIES or data.startswith(_HEADS):
        return [Issue("binary", name, Words("it is a program"))]
    found = []
    if suffix in _SCRIPTS or executable or data.startswith(b"#!"):
        found.append(Issue("script", name, Words("it is a script")))
    if b"\0" in data or not read:
        return found
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if shown(line.lstrip("\ufeff")) != line.lstrip("\ufeff"):
            found.append(
                Issue("invisible", name, Words("it contains invisible characters"), number)
            )
        for what, pattern in _COMMANDS:
            if pattern.search(line[:_LONGEST_LINE]):
                text = Words("{what}: {line}", what=Words(what), line=shown(line.strip()[:160]))
                found.append(Issue("command", name, text, number))
        if len(line) > _LONGEST_LINE:
            found.append(
                Issue(
                    "large", name, Words("a line has {count} characters", count=len(line)), number
                )
            )
        if len(found) >= 50:
            break
    return found
