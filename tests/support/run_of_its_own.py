"""A program that starts a module of ours with an argument, and tells what that said and how it
ended. Run it as `quick("tests.support.run_of_its_own")`; the module is this one."""

from __future__ import annotations

import asyncio
import os
import sys

from jarvis_ls.core.process import command_of, environment


async def _start() -> None:
    process = await asyncio.create_subprocess_exec(
        *command_of("tests.support.run_of_its_own", "a b"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**environment(), "SAID": "here"},
        start_new_session=True,
    )
    out, _ = await process.communicate()
    print(out.decode(), process.returncode)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        os.environ["SAID"] = "there"
        asyncio.run(_start())
    else:
        leads = os.getsid(0) == os.getpid()
        print(sys.argv[1:], os.environ["SAID"], leads, end="")
        sys.exit(3)
