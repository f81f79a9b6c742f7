"""The process that reads translation units and draws: `python -m jarvis_ls.jc2r.symbols.worker`."""

from __future__ import annotations

from jarvis_ls.core.serving import limit_memory, serve
from jarvis_ls.jc2r.symbols.reference_graph import picture
from jarvis_ls.jc2r.symbols.translation_unit import unit_symbols

MOST_MEMORY = 1_500_000_000
"""Bytes a unit may take: an endless file ends this process, not the machine."""

if __name__ == "__main__":
    limit_memory(MOST_MEMORY)
    serve({"unit_symbols": unit_symbols, "picture": picture})
