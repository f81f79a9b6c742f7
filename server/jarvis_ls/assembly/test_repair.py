"""Repair of failing tests with the user's models: opens the copy, the sandbox and the agents."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.task_agents import AgentWriter, open_readers
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.codeagent.workspace import RepositoryLock, Workspace
from jarvis_ls.core.errors import UsageError
from jarvis_ls.tester.audit import Audit
from jarvis_ls.tester.bench import TestBench
from jarvis_ls.tester.config import read_config, read_task
from jarvis_ls.tester.protocol import Request, new_session_id
from jarvis_ls.tester.repair import Job, Repaired, Tell, repair

_PURPOSE = "tester"


async def repair_tests(
    request: Request,
    tell: Tell,
    *,
    group: str = "",
    environment: Mapping[str, str] | None = None,
) -> Repaired:
    """Return what came of a request for a folder that the user trusts: its tests are run.

    Nothing of the user's is written but the log below `.jarvis`. Raises `UsageError` when the
    request cannot be carried out, or there is no model; `JarvisError` when nothing can be run.
    """
    root = Path(os.path.realpath(request.project_root))
    if not root.is_dir():
        raise UsageError("{folder}: no such folder", folder=request.project_root)
    config, notes = read_config(root), read_task(root, request.task_id)
    assembly = build(environment=environment)
    try:
        lock = RepositoryLock(assembly.home, root, _PURPOSE)
        try:
            session = new_session_id()
            audit = Audit(root, session)
            workspace = Workspace(assembly.home, root, lock.folder)
            await workspace.make()
            name = f"{_PURPOSE}-{lock.folder.name}"
            bench = TestBench(assembly.sandbox, root, workspace.folder, name)
            try:
                return await repair(
                    Job(
                        session,
                        request,
                        config,
                        notes,
                        workspace,
                        bench,
                        lambda: _agents(assembly, workspace, session, group),
                        audit,
                        tell,
                    )
                )
            finally:
                bench.close()
                audit.close()
        finally:
            await asyncio.to_thread(lock.release)
    finally:
        await assembly.close()


@contextlib.asynccontextmanager
async def _agents(
    assembly: Assembly, workspace: Workspace, session: str, group: str
) -> AsyncIterator[AgentWriter]:
    name = group or assembly.tree_settings("").group("child")
    if why := assembly.missing_model(name):
        raise UsageError("Repairing tests needs a model: {why}", why=why)
    additions = Additions(project=workspace.root)
    async with open_readers(
        assembly, workspace.folder, session, additions=additions, trusted=True
    ) as agents:
        yield AgentWriter(agents, group)
