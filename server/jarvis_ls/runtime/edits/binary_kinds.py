"""What a file is that is no text, by how it begins."""

from __future__ import annotations

from jarvis_ls.core.words import Words

_MAGIC = (
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ", "a Windows program"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"!<arch>", "a static library"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x00asm", "WebAssembly"),
)


def kind_of_data(raw: bytes) -> str:
    """Return the kind of a file from its first bytes; empty when it is not known."""
    kind = next((words for magic, words in _MAGIC if raw.startswith(magic)), "")
    return Words(kind) if kind else ""
