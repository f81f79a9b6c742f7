"""Functions that read numbers out of bytes from outside, guessed from their names.

Every project that reads a format has its own or a library's: `GST_READ_UINT32_BE`, `get_le16`,
`ReadBlobMSBLong`, `gst_bit_reader_get_bits_uint8`. Where such a function is not seen, its name says
what it gives: a verb of reading, how wide the number is, and an order of bytes or a reader.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+|\d+")
_VERBS: Final = frozenset("read get peek load fetch decode unpack extract next rb rl from".split())
_READS: Final = frozenset({"read", "peek", "decode", "unpack"})
_WIDTHS: Final = frozenset("8 16 24 32 48 64 byte word dword short long bits ue se".split())
_ORDERS: Final = frozenset("be le lsb msb big little net network rb rl".split())
_READERS: Final = frozenset("reader bitreader bytereader bitstream bytestream blob".split())
_SIZES: Final = frozenset({"8", "16", "24", "32", "48"})
_OF_MACHINE: Final = frozenset("atomic reg register mmio pci io port msr smbus i2c".split())
"""Words of what is read from the machine itself."""
_BITS: Final = frozenset({"16", "24", "32", "64"})
_HOST: Final = frozenset({"cpu", "host"})


@lru_cache(4096)
def decodes(name: str) -> bool:
    """Return whether a function of this name reads a number out of bytes, most likely."""
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _OF_MACHINE or not words & _WIDTHS:
        return False
    ordered = words & _ORDERS
    if words & _VERBS:
        return bool(ordered or words & _READERS or (words & _READS and words & _BITS))
    return bool(ordered and words & _HOST and "to" in words and not name.startswith("cpu"))


@lru_cache(4096)
def bits_of(name: str) -> int:
    """Return how many bits the number has that a function of this name reads; 64 when the name does
    not say."""
    said = [int(word) for word in _WORD.findall(name) if word in _SIZES]
    return min(said, default=64)
