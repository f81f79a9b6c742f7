"""Names and literals of secrets."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(?i)passw(?:or)?d|passphrase|secret|api_?key|apikey|access_?key|private_?key|auth_?token"
    r"|access_?token|session_?(?:id|key|token)|refresh_?token|bearer|credential|encryption_?key"
    r"|signing_?key|hmac_?key|\bpwd\b|\btoken\b|_token\b|\bnonce\b|\bsalt\b|csrf|\botp\b|jwt"
)
_VALUE = re.compile(
    r"(?i)^(?:.*_)?(?:passw(?:or)?d|passphrase|secret|secret_?key|api_?key|access_?key|private_?key"
    r"|auth_?token|access_?token|refresh_?token|session_?token|bearer_?token|encryption_?key"
    r"|signing_?key|client_?secret|pwd|credentials?)$"
)
_EXACT = re.compile(
    r"(?i)^(?:.*_)?(?:passw(?:or)?d|passphrase|secret|secret_?key|api_?key|apikey|access_?key"
    r"|private_?key|auth_?token|access_?token|refresh_?token|session_?token|token|encryption_?key"
    r"|signing_?key|client_?secret|hmac_?key|aes_?key|pwd|jwt_?secret|bearer)$"
)
_TOKEN = re.compile(
    r"(?:AKIA|ASIA)[0-9A-Z]{16}|gh[po]_[0-9A-Za-z]{36}|github_pat_\w{22,}|xox[bp]-[\w-]{20,}"
    r"|glpat-[\w-]{20}|sk-[A-Za-z0-9_-]{32,}|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"
    r"(?:\\n|\s)*[A-Za-z0-9+/]{16}"
)
_PLACEHOLDER = re.compile(
    r"(?i)^<|\$\{|\{\}|\{\w*\}|^your|example|changeme|placeholder|xxx|\*\*\*|^todo|^none$|^null$"
    r"|^dummy|^test|^fake|redacted|^https?:|^--|^x-|^/|^\w+\.\w+\.\w+$"
)


def names_secret(words: str, *, exact: bool = False) -> bool:
    """Return whether a name (with `exact`), or a piece of code, mentions a secret."""
    return (_EXACT if exact else _SECRET).search(words) is not None


def names_secret_value(name: str) -> bool:
    """Return whether a variable is named for a secret that it holds, such as `db_password`."""
    return _VALUE.match(name) is not None


def is_token(literal: str) -> bool:
    """Return whether a literal has the form of a token or private key of a known service."""
    return _TOKEN.search(literal[:200]) is not None and "EXAMPLE" not in literal[:200]


def looks_secret(literal: str, name: str) -> bool:
    """Return whether a literal may be the secret of its name, and no label or placeholder."""
    if len(literal) < 6 or _PLACEHOLDER.search(literal[:200]):
        return False
    if literal.strip(" :?\n") != literal.strip("\n") or literal.lower().startswith(("enter ",)):
        return False
    plain = literal.lower().replace("-", "_")
    lowered = name.lower()
    if plain in lowered or lowered in plain or _EXACT.match(plain):
        return False
    if literal.isupper() and "_" in literal:
        return False  # the name of an environment variable
    if "token" in lowered and not any(c.isdigit() for c in literal):
        return False
    return not literal.isspace()
