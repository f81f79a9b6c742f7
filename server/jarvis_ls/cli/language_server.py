"""The command ``jarvis-ls``: the language server over standard streams or TCP.

The order of the start decides how soon `initialize` is answered: the analysis process starts
before the protocol library is imported, so that both load side by side.
"""

from __future__ import annotations

import gc
import sys

from jarvis_ls.cli.exit_status import ExitStatus

USAGE = """usage: jarvis-ls [--stdio | --tcp HOST:PORT] [--version]

Security findings for C, C++ and Rust in any editor that speaks the language server protocol.

  --stdio           speak over standard input and output (the default)
  --tcp HOST:PORT   listen for one client
  --version         print the version
"""


def main(argv: list[str] | None = None) -> int:
    """Run the server with command line ``argv``; return the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--help"], ["-h"]):
        print(USAGE, end="")
        return ExitStatus.SUCCESS
    if arguments == ["--version"]:
        from jarvis_ls import __version__

        print(f"jarvis-ls {__version__}")
        return ExitStatus.SUCCESS
    address = _address(arguments)
    if address is None:
        print(USAGE, end="", file=sys.stderr)
        return ExitStatus.USAGE_ERROR
    gc.disable()  # hardly anything that is imported becomes garbage; `settle` switches it on
    sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]  # nothing here connects
    import asyncio

    return asyncio.run(_run(address))


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
