"""The command ``jarvis-ls``: the language server over standard streams or TCP.

The order of the start decides how soon `initialize` is answered: the analysis process starts
before the protocol library is imported, so that both load side by side.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def main(argv: list[str] | None = None) -> int:
    """Run the server with command line ``argv``; return the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    address = _address(arguments)
    if address is None:
        from jarvis_ls.cli.entry import run

        return run(build_parser, arguments)
    gc.disable()  # hardly anything that is imported becomes garbage; `settle` switches it on
    sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]  # nothing here connects
    import asyncio

    return asyncio.run(_run(address))


def build_parser() -> argparse.ArgumentParser:
    """Return what `--help` shows. The server itself starts without it, which is sooner."""
    import argparse

    from jarvis_ls import __version__
    from jarvis_ls.cli.language import speak
    from jarvis_ls.core.words import Words

    def refuse(options: argparse.Namespace) -> int:
        parser.error(speak(Words("'{text}' is not HOST:PORT", text=options.tcp)))

    parser = argparse.ArgumentParser(
        prog="jarvis-ls",
        description=(
            "Security findings for C, C++ and Rust in any editor that speaks the language server "
            "protocol."
        ),
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--stdio",
        action="store_true",
        help="speak over standard input and output (the default)",
    )
    how.add_argument("--tcp", metavar="HOST:PORT", help="listen for one client")
    parser.add_argument("--version", action="version", version=f"jarvis-ls {__version__}")
    parser.set_defaults(run=refuse)
    return parser


def _address(arguments: list[str]) -> tuple[str, int] | str | None:
    """Return `stdio`, a TCP address, or None when the arguments are wrong."""
    if arguments in ([], ["--stdio"]):
        return "stdio"
    if len(arguments) != 2 or arguments[0] != "--tcp":
        return None
    host, _, port = arguments[1].rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        return None
    return host.strip("[]") or "127.0.0.1", int(port)


async def _run(address: tuple[str, int] | str) -> int:
    from jarvis_ls.lsp.analysis_worker import AnalysisWorker
    from jarvis_ls.lsp.pygls_fixes.streams import Streams

    where = Streams() if isinstance(address, str) else address
    analysis = AnalysisWorker()
    await analysis.start()
    from jarvis_ls.lsp.pygls_fixes.lean import load_protocol_types

    load_protocol_types()
    from jarvis_ls.lsp.start import serve

    return await serve(analysis, where)


if __name__ == "__main__":
    sys.exit(main())
