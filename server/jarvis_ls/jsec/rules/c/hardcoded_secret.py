"""Hard-coded password or key.

## What it does
Finds variables, fields and macros whose name suggests a password, secret, token or key and whose
value is a literal; and connection strings and private keys in the source. Confidence is high only
for what looks like a secret: a mixture of letters and digits, or a known form of token.

## Why is this bad?
Everyone with the source or the binary has the secret (`strings program` shows it), it is the same
in every installation, and changing it requires a release.

## Example
```c
static const char *db_password = "s3cret!";
```

Use instead:
```c
const char *db_password = getenv("DB_PASSWORD");
```

## References
- CWE-798: Use of Hard-coded Credentials
- CWE-259: Use of Hard-coded Password
- CWE-321: Use of Hard-coded Cryptographic Key
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.credentials import is_path, is_placeholder, is_setting, looks_random
from jarvis_ls.jsec.local.c.identifier_words import names_key, names_secret, words
from jarvis_ls.jsec.local.constants import string_literal

_URL = re.compile(r"[a-z][a-z0-9+]{1,15}://[^/:@\s%]{1,64}:[^/@\s%]{1,64}@")
_PAIR = re.compile(r"(?i)\b(?:pwd|password)=[^;%\s\"']{3,}")
_TOKEN = re.compile(
    r"(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[abprs]-[0-9A-Za-z-]{20,}"
    r"|sk_live_[0-9A-Za-z]{20,}|AIza[0-9A-Za-z_-]{35})"
)
_MACRO = re.compile(r'[\s(]*L?"([^"]*)"[\s)]*(?:/[/*].*)?$', re.DOTALL)
_PUBLISHED = frozenset(
    "test tests vector vectors default def transport nonce sample demo init".split()
)
_NUMBER = re.compile(r"0x[0-9a-f]{1,2}|[1-9][0-9]{0,2}|0")
_BYTES = re.compile(r"\b(?:char|uint8_t|u8|BYTE|byte|UCHAR|unsigned|u_char)\b")


@rule(
    query=nodes(
        """
        (init_declarator value: [(string_literal) (concatenated_string) (initializer_list)]) @site
        (assignment_expression right: (string_literal)) @site
        (initializer_pair value: (string_literal)) @site
        (preproc_def value: (preproc_arg)) @site
        """
    ),
    category="secrets",
    cwe=(798, 259, 321),
    confidence=0.7,
    suggestion=(
        "Read the secret at run time from a protected file, the environment or a key store."
    ),
)
def hardcoded_secret(site: Site) -> Iterator[Report]:
    node = site.node
    name, value = _name(node), _value(node)
    if value is None:
        return
    if value.type == "initializer_list":
        if names_key(name) and _is_key_material(node, value):
            around = site.function.name if site.function is not None else name
            yield Report(
                node,
                "Hard-coded cryptographic key in '{name}'.",
                pattern=name,
                name=name,
                confidence=_confidence_of_key(value, (*words(around), *words(name))),
            )
        return
    literal = _literal(value)
    if literal is None or len(literal) > 4096:
        return
    if names_secret(name) and not (
        is_placeholder(literal) or is_path(literal) or is_setting(literal)
    ):
        yield Report(
            node,
            "Hard-coded secret in '{name}'.",
            pattern=name,
            name=name,
            confidence=_confidence_of_text(name, literal),
        )
    elif _is_private_key(literal) or _TOKEN.search(literal):
        yield Report(node, "Hard-coded private key or token.", confidence=0.9, pattern="token")
    elif _URL.search(literal) or _PAIR.search(literal):
        yield Report(
            node,
            "Hard-coded secret in '{name}'.",
            confidence=0.65 if _URL.search(literal) else 0.55,
            pattern=name,
            name=name,
        )


def _confidence_of_text(name: str, literal: str) -> float:
    if len(literal) < 4 or "@" in literal or _is_word_of(name, literal):
        return 0.4
    return 0.7 if looks_random(literal) else 0.5


def _confidence_of_key(value: Node, around: tuple[str, ...]) -> float:
    """Return the confidence of an array of bytes, lower for one that is published: named as a
    default or for tests, or of numbers that count up, or of letters."""
    if not _PUBLISHED.isdisjoint(around):
        return 0.35
    numbers = [text(child).lower() for child in value.named_children if child.type != "comment"]
    bytes_ = [int(n, 0) if _NUMBER.fullmatch(n) else -1 for n in numbers]
    if all(b in (a, a + 1) for a, b in pairwise(bytes_)) or all(32 <= b < 127 for b in bytes_):
        return 0.35
    return 0.55 if len(bytes_) >= 16 and len(set(bytes_)) > len(bytes_) // 2 else 0.45


def _is_private_key(literal: str) -> bool:
    """Return whether it is a PEM block with content, not only its first line."""
    _, begin, rest = literal.partition("-----BEGIN ")
    return bool(begin) and "PRIVATE KEY" in rest[:40] and len(rest) > 120


def _name(node: Node) -> str:
    target = (
        field(node, "declarator")
        or field(node, "left")
        or field(node, "name")
        or field(node, "designator")
    )
    for _ in range(8):
        if target is None:
            return ""
        inner = target.child_by_field_name("declarator") or target.child_by_field_name("field")
        if inner is None:
            break
        target = inner
    return text(target).lstrip(".*& ").partition("[")[0]


def _value(node: Node) -> Node | None:
    return field(node, "value") or field(node, "right")


def _literal(value: Node) -> str | None:
    if value.type != "preproc_arg":
        return string_literal(value)
    match = _MACRO.match(text(value)[:4096])
    return None if match is None else match[1]


def _is_word_of(name: str, literal: str) -> bool:
    """Return whether the literal names a field, as in `#define KEY_PASSWORD "password"`."""
    plain = literal.lower().replace("-", "").replace("_", "")
    said = name.lower().replace("_", "")
    return plain in said or (plain.isalpha() and names_secret(literal))


def _is_key_material(node: Node, value: Node) -> bool:
    declaration = node.parent
    words = text(field(declaration, "type")) if declaration is not None else ""
    numbers = [c for c in value.named_children if c.type in ("number_literal", "char_literal")]
    return (
        _BYTES.search(words) is not None
        and 8 <= len(numbers) <= 128
        and len(numbers) == sum(c.type != "comment" for c in value.named_children)
        and len({text(c) for c in numbers}) > 2
    )
