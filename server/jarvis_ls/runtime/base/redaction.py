"""The one place where secrets are taken out of what is written down.

Three things give a secret away: its value, when we know it (also as base64, hexadecimal, or
escaped for a URL or for JSON); the name of the header or field it is under; and the shape of
keys that providers give out. Everything here takes time linear in the text.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

HIDDEN = "[redacted]"
SHORTEST = 8
"""Values with fewer characters are no secrets but words; they are not looked for."""
LONGEST = 4096
"""Keys of a known shape are at most this long."""

_NAMES = re.compile(
    r"(?i)authorization|cookie|passw(?:or)?d|passphrase|secret|credential|private[-_]?key"
    r"|(?:api|access|auth|subscription|goog|account|signing|encryption)[-_]?key|^key$"
    r"|(?:^|[-_])key$|(?:^|[-_])(?:api|auth|access|refresh|id|session|security|bearer)?[-_]?token$"
    r"|organization|^openai-project$|signature$"
)
_VARIABLES = re.compile(
    r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|credentials?)(?:_?\d+)?$"
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What keys of one kind look like."""

    triggers: tuple[str, ...]
    """One of these is in every text that has such a key; looking for them is fast."""
    pattern: re.Pattern[str]
    """Its group is the key."""
    begins: bool = True
    """Whether it is one only where a word begins."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of such keys."""
        if any(trigger in text for trigger in self.triggers):
            for match in self.pattern.finditer(text):
                start = match.start()
                if not (self.begins and start and text[start - 1].isalnum()):
                    yield match.span(1)


def _key(triggers: str, pattern: str) -> _Shape:
    return _Shape(tuple(triggers.split()), re.compile(f"({pattern})"))


_SHAPES = (
    _key("sk-", r"sk-[A-Za-z0-9_-]{16,4000}"),  # OpenAI, Anthropic, DeepSeek, Moonshot
    _key("AIza", r"AIza[A-Za-z0-9_-]{30,200}"),  # Google
    _key("ghp_ gho_ ghs_ ghu_ ghr_", r"gh[opsur]_[A-Za-z0-9]{20,300}"),
    _key("github_pat_", r"github_pat_[A-Za-z0-9_]{20,300}"),
    _key("glpat-", r"glpat-[A-Za-z0-9_-]{16,200}"),
    _key("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,300}"),  # Slack
    _key("AKIA ASIA", r"A[KS]IA[A-Z0-9]{16}"),  # AWS
    _key("hf_", r"hf_[A-Za-z0-9]{20,200}"),
    _key("npm_", r"npm_[A-Za-z0-9]{30,200}"),
    _key("pypi-", r"pypi-[A-Za-z0-9_-]{30,400}"),
    _key("eyJ", r"eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,2000}(?:\.[A-Za-z0-9_-]{0,1000})?"),
    _Shape(("earer ",), re.compile(r"[Bb]earer ([A-Za-z0-9._~+/=-]{8,4000})")),
    _Shape(("asic ",), re.compile(r"[Bb]asic ([A-Za-z0-9+/=]{8,4000})")),
    _Shape(  # user:password@host
        ("://",),
        re.compile(r"""://([^\s/?#@:"'\\]{0,200}:[^\s/?#@"'\\]{1,200})@"""),
        begins=False,
    ),
    _Shape(
        ("-----BEGIN ",),
        re.compile(
            r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
            r"(?:.{0,4000}?-----END [A-Z ]{0,30}PRIVATE KEY-----|.{0,4000}))",
            re.DOTALL,
        ),
        begins=False,
    ),
)


_TRIGGERS = tuple(trigger for shape in _SHAPES for trigger in shape.triggers)


class Redactor:
    """Takes known secrets, and what looks like one, out of text, headers and JSON values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """`secrets` are values that must not be written anywhere."""
        self._forms: frozenset[str] = frozenset()
        self._known: re.Pattern[str] | None = None
        self.longest = 0
        """Characters of the longest form of a known secret."""
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Know these too from now on."""
        known = {s for s in (secret.strip() for secret in secrets) if len(s) >= SHORTEST}
        forms = self._forms.union(*map(_forms, known))
        if forms != self._forms:
            self._forms = forms
            longest_first = sorted(forms, key=len, reverse=True)
            self._known = re.compile("|".join(map(re.escape, longest_first)))
            self.longest = len(longest_first[0])

    @staticmethod
    def of_environment(
        environment: Mapping[str, str] | None = None, more: Iterable[str] = ()
    ) -> Redactor:
        """One that knows the values of all variables whose names say key, token or secret, and
        the secrets in `more`."""
        return Redactor([*secrets_of(environment), *more])

    def text(self, text: str) -> str:
        """`text` without secrets."""
        text = self.known_text(text)
        said, end = [], 0
        for start, stop in sorted(span for shape in _SHAPES for span in shape.spans(text)):
            if start >= end:
                said += [text[end:start], HIDDEN]
            end = max(end, stop)
        return "".join([*said, text[end:]]) if said else text

    def suspects(self, text: str) -> bool:
        """Return whether there may be a secret in a text, or in the JSON that is written there;
        quick, and never wrong when it says no.
        """
        return any(trigger in text for trigger in _TRIGGERS) or any(
            form in text for form in self._forms
        )

    def known_text(self, text: str) -> str:
        """`text` without known secrets; what only looks like one stays."""
        if self._known is None or not any(form in text for form in self._forms):
            return text
        return self._known.sub(HIDDEN, text)

    def headers(self, headers: Iterable[tuple[str, str]]) -> dict[str, str]:
        """HTTP headers without secrets."""
        return {
            name: HIDDEN if _NAMES.search(name) else self.text(value) for name, value in headers
        }

    def values(self, value: Any) -> Any:
        """JSON values without secrets: texts, and whatever is under a name that says so."""
        if isinstance(value, str):
            return self.text(value) if len(value) >= SHORTEST else value
        if isinstance(value, Mapping):
            return {
                self.text(str(name)): HIDDEN
                if isinstance(part, str) and part and _NAMES.search(str(name))
                else self.values(part)
                for name, part in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.values(part) for part in value]
        return value

    def known_in(self, record: Any) -> Any:
        """JSON values without known secrets; the record itself when there is none in it."""
        if self._known is None:
            return record
        written = json.dumps(record, ensure_ascii=False)
        if not any(form in written for form in self._forms):
            return record
        return self._without_known(record)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of secrets, in order."""
        found = [span for shape in _SHAPES for span in shape.spans(text)]
        if self._known is not None:
            found += [match.span() for match in self._known.finditer(text)]
        return sorted(found)

    def without_begun(self, text: str) -> str:
        """`text` without a known secret that is cut off at its end."""
        shortest = SHORTEST // 2
        begun = max(
            (
                length
                for form in self._forms
                for length in range(shortest, min(len(form), len(text) + 1))
                if text.endswith(form[:length])
            ),
            default=0,
        )
        return text[: len(text) - begun] + HIDDEN if begun else text

    def flowing(self) -> Flowing:
        """For text that comes in pieces, between which a secret may be divided."""
        return Flowing(self)

    def _without_known(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.known_text(value)
        if isinstance(value, Mapping):
            return {
                name: part if name in ("is", "kind") else self._without_known(part)
                for name, part in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._without_known(part) for part in value]
        return value


class Flowing:
    """Redacts a text that comes in pieces; gives each part back as soon as it is safe."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._margin = max(redactor.longest, 256)
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece and return the text that is safe to emit so far; it lags behind the input."""
        self._held += piece
        end = len(self._held) - self._margin
        if end <= 0:
            return ""
        for start, stop in self._redactor.spans(self._held):
            if start < end < stop:
                end = start
        if end <= 0 and len(self._held) < LONGEST + self._margin:
            return ""
        end = end if end > 0 else len(self._held) - self._margin
        said, self._held = self._held[:end], self._held[end:]
        return self._redactor.text(said)

    def end(self) -> str:
        """Return the rest."""
        said, self._held = self._redactor.text(self._redactor.without_begun(self._held)), ""
        return said


def names_secret(name: str) -> bool:
    """Return whether what is under this name, of a header or field, is a secret."""
    return _NAMES.search(name) is not None


def secrets_of(environment: Mapping[str, str] | None = None) -> list[str]:
    """Values of all variables whose names say key, token or secret."""
    environment = os.environ if environment is None else environment
    return [value for name, value in environment.items() if _VARIABLES.search(name)]


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give no secret away: neither by their name, nor because they hold
    what a variable with such a name holds.
    """
    secret = {value for value in secrets_of(environment) if len(value) >= SHORTEST}
    return {
        name: value
        for name, value in environment.items()
        if value not in secret and not names_secret(name) and not _VARIABLES.search(name)
    }


def redact(text: str) -> str:
    """`text` without what the environment knows to be secret, or what looks like it."""
    return Redactor.of_environment().text(text)


def _forms(secret: str) -> set[str]:
    """Return the ways a secret is commonly written."""
    raw = secret.encode("utf-8", "surrogateescape")
    forms = {
        secret,
        raw.hex(),
        raw.hex().upper(),
        quote(secret, safe=""),
        quote_plus(secret),
        quote(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
    }
    for offset in range(3):  # inside of something longer it begins at any of three places
        padded = base64.b64encode(b"\0" * offset + raw).decode()
        first = (0, 2, 3)[offset]  # characters that depend on what is before
        whole = (offset + len(raw)) // 3 * 4  # and those that depend on what comes after
        core = padded[first:whole]
        forms |= {core, core.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= SHORTEST}
