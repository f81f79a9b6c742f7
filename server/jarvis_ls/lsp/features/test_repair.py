"""Repair of failing tests: `jarvis/testRepair`, and the command `jarvis.testRepair`.

Tests run in a copy and a sandbox, in a process of its own, and only in a workspace that the user
trusts. Patches come back to be shown; the client writes the one that the user accepts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words, from_json
from jarvis_ls.lsp.child_runs import run_child
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import (
    RepairFile,
    TestRepairCandidate,
    TestRepairParams,
    TestRepairResult,
)
from jarvis_ls.lsp.server import Server

_MODULE = "jarvis_ls.assembly.test_repair_process"


def register(server: Server) -> None:
    """Answer `jarvis/testRepair` and the command of other editors."""
    feature = _TestRepair(server)
    server.answer(extensions.TEST_REPAIR, feature.repair)
    server.run(extensions.COMMAND_TEST_REPAIR, feature.repair_command)


class _TestRepair:
    def __init__(self, server: Server) -> None:
        self._server = server

    async def repair(self, params: TestRepairParams) -> TestRepairResult:
        from jarvis_ls.assembly.test_repair_process import Wanted  # not needed to start

        server = self._server
        if not server.trusted:
            raise UsageError(
                server.say("The tests of the workspace are run: trust the workspace first.")
            )
        wanted = Wanted(self._root(params.uri), params.hint)
        title = server.say("Repairing tests")
        async with server.work.work(title, params.work_done_token) as work:

            def tell(said: dict[str, Any]) -> None:
                if "doing" in said:
                    work.report(0, 0, server.say(from_json(said["doing"])), at_once=True)

            try:
                result = await run_child(_MODULE, wanted, work, tell, server.say, server.model_keys)
            except JarvisError as error:
                raise UsageError(str(error)) from None
        if not result:
            return TestRepairResult("cancelled", server.say("It was cancelled."), [])
        return self._result(result)

    def _root(self, uri: str | None) -> str:
        """Return the folder of the workspace that is meant."""
        if uri is not None:
            root = self._server.place(uri).root
            if root:
                return str(root)
        first = next(iter(self._server.folders), None)
        if first is None:
            raise UsageError(self._server.say("Open a folder first."))
        return first.path

    def _result(self, result: dict[str, Any]) -> TestRepairResult:
        say = self._server.say
        if lacking := from_json(result["lacking"]):
            why = Words("Repairing tests needs a model: {why}", why=lacking)
            return TestRepairResult("no_model", say(why), [])
        self._server.tell_model("ready")
        lost = [
            say(Words("Tests that need {program} were not run: it is not there.", program=program))
            for program in result["missing"]
        ]
        if result["is_passed"]:
            told = say(Words("No test fails; tests that ran: {count}.", count=result["passed"]))
            return TestRepairResult("passed", " ".join([told, *lost]), [])
        root = Path(result["root"])
        candidates = [
            TestRepairCandidate(
                found["id"],
                " ".join(found["description"].split()),
                found["risk"],
                found["diff"],
                [
                    RepairFile((root / path).as_uri(), path, text)
                    for path, text in found["files"].items()
                ],
            )
            for found in result["candidates"]
        ]
        if candidates:
            count = len(candidates)
            told = say(Words("Patches with which all tests pass: {count}.", count=count))
            return TestRepairResult("candidates", " ".join([told, *lost]), candidates)
        diagnosis = say(from_json(result["diagnosis"]))
        told = say(Words("Not repaired. {why}", why=diagnosis))
        action = say(from_json(result["action"]))
        return TestRepairResult("unfixable", " ".join([told, action, *lost]).strip(), [])

    async def repair_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.testRepair` (a hint, or nothing)."""
        if len(arguments) > 1 or not all(isinstance(item, str) for item in arguments):
            raise UsageError(self._server.say("The command takes a hint, or nothing."))
        result = await self.repair(TestRepairParams(hint="".join(arguments)))
        if not self._server.own_client:
            shown = types.ShowMessageParams(types.MessageType.Info, result.summary)
            self._server.window_show_message(shown)
        patches = {candidate.id: candidate.diff for candidate in result.candidates}
        return {"status": result.status, "summary": result.summary, "patches": patches}
