"""Parses the files that jsec would scan below a folder and does nothing else.

``python parse_only.py FOLDER`` prints one JSON object: the files, and the processor seconds that
reading and parsing them took without start-up and imports.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings


def main(root: Path) -> None:
    """Print the files and the seconds."""
    files = [file.location for file in list_sources(root, Settings()).files]
    _parse(files[0])  # the grammar is loaded
    began = time.process_time()
    for file in files:
        _parse(file)
    seconds = time.process_time() - began
    print(json.dumps({"files": files, "seconds": seconds}))


def _parse(file: str) -> None:
    data = Path(file).read_bytes()
    language = language_of(file, data)
    if language is not None:
        parse(data, language)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
