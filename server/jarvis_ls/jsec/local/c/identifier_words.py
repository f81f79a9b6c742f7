"""What names say: the words of an identifier, and whether they speak of secrets."""

from __future__ import annotations

import functools
import re
from itertools import pairwise

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET = frozenset(
    "password passwd passphrase passwort pwd secret secrets credential credentials apikey "
    "privkey passcode".split()
)
_SECRET_PAIRS = frozenset(
    {
        ("api", "key"),
        ("private", "key"),
        ("secret", "key"),
        ("access", "key"),
        ("auth", "token"),
        ("access", "token"),
        ("api", "token"),
        ("encryption", "key"),
        ("crypto", "key"),
        ("cipher", "key"),
        ("master", "key"),
        ("session", "key"),
        ("aes", "key"),
        ("des", "key"),
        ("hmac", "key"),
        ("signing", "key"),
        ("bearer", "token"),
        ("client", "secret"),
        ("pass", "word"),
        ("pass", "phrase"),
        ("auth", "key"),
        ("decryption", "key"),
        ("refresh", "token"),
        ("db", "pass"),
        ("user", "pass"),
        ("admin", "pass"),
        ("root", "pass"),
        ("encrypt", "key"),
        ("decrypt", "key"),
    }
)
_SECURITY = _SECRET | frozenset(
    "key token salt nonce iv session otp csrf auth authenticate authentication cookie "
    "uuid guid crypt crypto encrypt cipher signature challenge captcha login cred "
    "security".split()
)
_ABOUT = frozenset(
    "file path prompt name len length size env label field url hint msg message title fmt "
    "format column id option opt max min count idx index type policy error err help usage "
    "text header param arg flag cmd dialog ptr offset regex pattern section attr "
    "algorithm algo table query sql char chars mode".split()
)


@functools.lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case: `dbPassWord_1` is `db pass word 1`."""
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


def names_secret(name: str) -> bool:
    """Return whether a name says that its value is a password or another secret (`db_password`),
    and not something about one (`password_file`, `PASSWORD_MAX_LEN`).
    """
    found = words(name)
    if not found or found[-1] in _ABOUT or found[0] in ("is", "has", "no", "max", "min", "num"):
        return False
    if any(word in _SECRET for word in found):
        return True
    return any(pair in _SECRET_PAIRS for pair in pairwise(found))


def names_key(name: str) -> bool:
    """Return whether a name may be that of a cryptographic key or a similar value."""
    found = words(name)
    return bool(found) and (names_secret(name) or found[-1] in ("key", "iv", "salt", "nonce"))


def about_security(*names: str) -> bool:
    """Return whether any of these names has a word of security in it (`make_session_id`)."""
    return any(word in _SECURITY for name in names for word in words(name))
