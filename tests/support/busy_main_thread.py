"""A program that starts a worker process from a thread while its main thread holds a lock.

The lock is that of a module which the worker imports, as a main thread has it in the middle of an
import. Run it as `quick("tests.support.busy_main_thread")`.
"""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib._bootstrap import _ModuleLockManager  # type: ignore[attr-defined]

from jarvis_ls.core.process import Worker
from jarvis_ls.jsec.scan.worker_pool import WORKER


async def _ask() -> bool:
    worker = Worker(WORKER)
    try:
        return bool(await worker.call("ping"))
    finally:
        await worker.close()


if __name__ == "__main__":
    sys.modules.pop(WORKER, None)
    with ThreadPoolExecutor(1) as beside, _ModuleLockManager(WORKER):
        print(beside.submit(asyncio.run, _ask()).result())
