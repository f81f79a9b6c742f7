"""The process that reads translation units and draws: `python -m jarvis_ls.jc2r.symbols.worker`."""

from __future__ import annotations

from jarvis_ls.core.serving import serve
from jarvis_ls.jc2r.symbols.reference_graph import picture
from jarvis_ls.jc2r.symbols.translation_unit import unit_symbols

if __name__ == "__main__":
    serve({"unit_symbols": unit_symbols, "picture": picture})
