"""Words that are no plain names in Rust."""

from __future__ import annotations

from typing import Final

KEYWORDS: Final = frozenset(
    "as break const continue crate else enum extern false fn for if impl in let loop "
    "match mod move mut pub ref return self Self static struct super trait true type "
    "unsafe use where while async await dyn abstract become box do final macro override "
    "priv typeof unsized virtual yield try gen".split()
)
"""Keywords of every edition, those that are only reserved included."""
NEVER_RAW: Final = frozenset({"self", "Self", "super", "crate"})
"""Keywords that `r#` makes no names of."""
