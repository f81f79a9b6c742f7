"""Long work in one server, while its processes are killed.

    npm run bench -- endurance [-- --minutes N] [--seed TEXT]

On copies of real sources, in one server: edits, branches switched by git, scans, a conversation
with a scripted model, a migration; at random moments a random process below the server is killed.
At the end the server is killed, too. Nothing may be lost: what is shown equals what a fresh
document or the first scan of a branch showed, and all that was said is in its session. Memory must
be flat, and no process may be left.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]  # so that `tests` is found

from lsprotocol import types  # noqa: E402
from pygls.exceptions import JsonRpcException  # noqa: E402

from jarvis_ls.lsp.folders import uri_of  # noqa: E402
from jarvis_ls.runtime.base.events import AnswerEntry  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.bench.measure.tree import sources_of  # noqa: E402
from tests.lsp.editor import COMMAND, Editor, running  # noqa: E402
from tests.lsp.page import SETTINGS, Page, home_with  # noqa: E402
from tests.support.model_server import ModelServer  # noqa: E402
from tests.support.random_edits import STYLES, position, some_edit  # noqa: E402

PACKAGES = ("bzip2", "zlib")
SMALL = {
    "main.c": '#include "sums.h"\nint main(void)\n{\n    return sum(3) - 6;\n}\n',
    "sums.c": '#include "sums.h"\nint sum(int n)\n{\n    return n ? n + sum(n - 1) : 0;\n}\n',
    "sums.h": "int sum(int n);\n",
}
OTHER = "other.c"
"""A file of one branch alone."""
ALLOWED = '[[permissions]]\neffect = "allow"\nkind = "execute"\n'
OPEN = 6
ANSWERS = 12
"""In one conversation, before the next begins."""
SCRIPTS = 4
"""One of so many turns of a conversation runs a script in the sandbox."""
BACKGROUND = 7
"""The turn that begins a script which goes on until somebody ends it."""
RESUMES = 25
"""How often a migration whose process is killed may go on until it has to be at its end."""
KILL_EVERY = (3.0, 12.0)
SAMPLE_EVERY = 5.0
PATIENCE = 600.0
RESTS, REST_SECONDS = 20, 0.4
"""How often it is looked whether all rests, and how long it must."""
GONE_SECONDS = 10.0


class _Killed(Exception):
    """Leaves the session without a shutdown, as a killed server does."""


class Endurance:
    """What is done, and what must hold after it."""

    def __init__(self, page: Page, model: ModelServer, tree: Path, small: Path, seed: str) -> None:
        self.page = page
        self.editor: Editor = page.editor
        self.model = model
        self.tree = tree
        self.small = small
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.lost: list[str] = []
        self.seen: dict[int, float] = {}
        """Processes below the server: id and when they began."""
        self.memory: list[tuple[float, float]] = []
        self.said: dict[str, list[str]] = {}
        self.expected: dict[str, tuple[int, set[Any]]] = {}
        self.files = [
            file
            for file in sorted(tree.rglob("*.c"))
            if file.stat().st_size < 60_000 and file.name != OTHER
        ]

    async def run(self, minutes: float) -> None:
        """Look at both branches in peace, then work for so long while processes are killed."""
        await self.page.attach()
        for branch in ("other", "main"):
            await self.switch(branch)
            result = await self._scanned()
            files = result.files + len(result.skipped)
            self.expected[branch] = (files, await self._found())
        until = time.monotonic() + 60 * minutes
        aside = [asyncio.create_task(self._kill_on()), asyncio.create_task(self._sample_on())]
        steps: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (40, self.edit),
            (10, self.compare),
            (6, self.switch),
            (5, self.scan),
            (6, self.chat),
            (2, self.migrate),
        ]
        weights = [weight for weight, _ in steps]
        try:
            while time.monotonic() < until:
                (step,) = self.rng.choices([step for _, step in steps], weights)
                await asyncio.wait_for(step(), PATIENCE)
                self.counts[step.__name__] += 1
                self._forget()
        finally:
            for task in aside:
                task.cancel()
            await asyncio.gather(*aside, return_exceptions=True)
        await self.scan()
        for uri in list(self.editor.texts):
            await self._compare(uri)

    async def edit(self) -> None:
        """Open a file when few are open, or change one."""
        editor, rng = self.editor, self.rng
        if len(editor.texts) < OPEN:
            file = rng.choice(self.files)
            if uri_of(str(file)) not in editor.texts:
                editor.open(uri_of(str(file)), file.read_text("utf-8", "replace"))
                return
        uri = rng.choice(list(editor.texts))
        for _ in range(rng.choice([1, 1, 2, 20])):
            text = editor.texts[uri]
            if len(text) > 90_000:
                editor.close(uri)
                return
            start, end, new = some_edit(rng, STYLES["tokens"], text, [text])
            first, last = (types.Position(*position(text, at)) for at in (start, end))
            change = types.TextDocumentContentChangePartial(types.Range(first, last), new)
            editor.change(uri, change)
            editor.texts[uri] = text[:start] + new + text[end:]
            self.counts["single edits"] += 1

    async def compare(self) -> None:
        """An open document shows what it shows when it is opened afresh."""
        if self.editor.texts:
            await self._compare(self.rng.choice(list(self.editor.texts)))

    async def _compare(self, uri: str) -> None:
        await self._rest()
        shown, text = await self._pulled(uri), self.editor.texts[uri]
        self.editor.close(uri)
        self.editor.open(uri, text)
        fresh = await self._pulled(uri)
        if shown != fresh:
            self.lost.append(f"{uri}: {shown} live, {fresh} afresh")
        if self.rng.random() < 0.5:
            self.editor.close(uri)

    async def _rest(self) -> None:
        """Wait until nothing changes in any document: one may count for the others."""
        before = None
        for _ in range(RESTS):
            now = [await self._pulled(uri) for uri in self.editor.texts]
            if now == before:
                return
            before = now
            await asyncio.sleep(REST_SECONDS)

    async def _pulled(self, uri: str) -> list[tuple[Any, ...]]:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        answer = await self.editor.client.text_document_diagnostic_async(params)
        items = getattr(answer, "items", [])
        return sorted((str(i.code), i.range.start.line, i.range.start.character) for i in items)

    async def switch(self, branch: str = "") -> None:
        """Switch to the other branch, behind the editor's back but for the events of the disk."""
        now = _git(self.tree, "branch", "--show-current").strip()
        branch = branch or ("main" if now == "other" else "other")
        names = _git(self.tree, "diff", "--name-only", now, branch).split()
        await asyncio.to_thread(_git, self.tree, "checkout", "--quiet", branch)
        events = [
            types.FileEvent(uri_of(str(self.tree / name)), types.FileChangeType.Changed)
            for name in names
        ]
        self.editor.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams(events)
        )

    async def scan(self) -> None:
        """A scan finds what the first scan of this branch found."""
        branch = _git(self.tree, "branch", "--show-current").strip()
        try:
            result, found = await self._scanned(), await self._found()
        except JsonRpcException as error:
            self.lost.append(f"scan of {branch}: {error}")
            return
        files, expected = self.expected[branch]
        aside = {*self.editor.texts, *(file.uri for file in result.skipped)}
        self.counts["files skipped by scans"] += len(result.skipped)
        missing = {finding for finding in found ^ expected if finding[0] not in aside}
        if result.files + len(result.skipped) != files or result.cancelled or missing:
            self.lost.append(f"scan of {branch}: {result.files} of {files} files, {missing}")

    async def _scanned(self) -> Any:
        protocol = self.editor.client.protocol
        return await protocol.send_request_async("jarvis/scanWorkspace", {})

    async def _found(self) -> set[Any]:
        answer = await self.editor.client.protocol.send_request_async("jarvis/findings", {})
        return {(one.uri, one.rule, one.range.start.line) for one in answer.findings}

    async def chat(self) -> None:
        """Say something and wait for the answer; now and then begin a conversation."""
        number = self.counts["chat"]
        if number % ANSWERS == 0:
            self.page.session = ""
        answer = f"This is answer {number} of the model."
        if number % SCRIPTS == 0:
            script = {"script": f"echo begun {number}; sleep 3; echo done"}
            self.model.call("execute_script", script)
        if number == BACKGROUND:
            lasting = {"script": "echo begun; sleep 100000", "background": True}
            self.model.call("execute_script", lasting)
        self.model.say(answer)
        session = await self.page.send(f"Question {number}?")
        await self.page.answered(answer)
        await self.page.rest()
        self.counts["scripts in the sandbox"] += number % SCRIPTS == 0
        self.said.setdefault(session, []).append(answer)

    async def migrate(self) -> None:
        """Move the small project to Rust; who was killed goes on where it was."""
        folder = uri_of(str(self.small))
        for scope in ("project", *["resume"] * RESUMES):
            params = {"scope": scope, "folder": folder, "reset": scope == "project"}
            try:
                result = await self.editor.client.protocol.send_request_async(
                    "jarvis/migration/run", params
                )
            except Exception as error:  # noqa: BLE001 - its process was killed, says the answer
                self.counts[f"migration ended: {type(error).__name__}"] += 1
                continue
            if (result.functions, result.left) != (2, 0):
                self.lost.append(f"migration: {result.left} of {result.functions} left")
            return
        self.lost.append(f"migration: not ended after {RESUMES} times that it went on")

    async def _kill_on(self) -> None:
        while True:
            await asyncio.sleep(self.rng.uniform(*KILL_EVERY))
            below = self._below()
            if below:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process = self.rng.choice(below)
                    kind = _kind(process.cmdline())
                    process.send_signal(signal.SIGKILL)
                    self.counts["processes killed"] += 1
                    self.counts[f"processes killed: {kind}"] += 1

    async def _sample_on(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_EVERY)
            self._below()
            used = psutil.Process(self._server()).memory_info().rss / 1e6
            self.memory.append((time.monotonic(), used))

    def _server(self) -> int:
        server = self.editor.client._server
        assert server is not None
        return server.pid

    def _below(self) -> list[psutil.Process]:
        found = psutil.Process(self._server()).children(recursive=True)
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                self.seen[process.pid] = process.create_time()
        return found

    def _forget(self) -> None:
        """Keep the client's own records small."""
        self.editor.published.clear()
        self.editor.changes.clear()
        del self.editor.statuses[:-1], self.page.batches[:-1]

    def kill_server(self) -> None:
        """Kill the server itself."""
        self._below()
        os.kill(self._server(), signal.SIGKILL)

    def orphans(self) -> list[str]:
        """What is left of all processes that were below the server, after some seconds."""
        deadline = time.monotonic() + GONE_SECONDS
        while left := [pid for pid, began in self.seen.items() if _is_alive(pid, began)]:
            if time.monotonic() > deadline:
                return [str(pid) for pid in left]
            time.sleep(0.2)
        return []


def _kind(words: list[str]) -> str:
    """Return what a process is, by its command line: the program, or the module Python runs."""
    if words[1:2] == ["-c"] and len(words) > 3 and words[3].startswith("jarvis_ls"):
        return words[3]
    return Path(words[0]).name if words else "?"


def _is_alive(pid: int, began: float) -> bool:
    try:
        process = psutil.Process(pid)
        return process.create_time() == began and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    command = ["git", *identity, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _tree(folder: Path, sources: Path) -> Path:
    """Return a repository with copies of real sources and a branch that differs in some files."""
    tree = folder / "tree"
    for name in PACKAGES:
        shutil.copytree(sources / name, tree / name)
    _git(folder, "init", "--quiet", "--initial-branch=main", str(tree))
    _git(tree, "add", "--all")
    _git(tree, "commit", "--quiet", "--message=main")
    _git(tree, "checkout", "--quiet", "-b", "other")
    flawed = "#include <stdlib.h>\nvoid twice(char *p)\n{\n    free(p);\n    free(p);\n}\n"
    (tree / OTHER).write_text(flawed)
    for file in sorted(tree.rglob("*.c"))[::5]:
        with file.open("a") as out:
            out.write(f"\nvoid other_{file.stem}(char *b)\n{{\n    gets(b);\n}}\n")
    _git(tree, "add", "--all")
    _git(tree, "commit", "--quiet", "--message=other")
    return tree


async def _work(folder: Path, sources: Path, minutes: float, seed: str, table: Table) -> None:
    tree, small, home = _tree(folder, sources), folder / "small", folder / "home"
    small.mkdir()
    for name, text in SMALL.items():
        (small / name).write_text(text)
    options = {"trusted": True, "debounce": 50}
    more: dict[str, Any] = {"options": options, "pull": True, "refresh": False, "command": COMMAND}
    key = {"SCRIPTED_KEY": "sk-test-0123456789"}
    async with ModelServer() as model:
        with home_with(home, SETTINGS.format(url=model.url) + ALLOWED, **key):
            with contextlib.suppress(_Killed):
                async with running(tree, small, **more) as editor:
                    long = Endurance(Page(editor), model, tree, small, seed)
                    await long.run(minutes)
                    long.kill_server()
                    raise _Killed
            orphans = long.orphans()
            missing = 0
            async with running(tree, small, **more) as editor:
                for session, answers in long.said.items():
                    page = Page(editor)
                    await page.attach(session)
                    shown = {entry.text for entry in page.entries(AnswerEntry)}
                    missing += len(set(answers) - shown)
    _tell(long, orphans, missing, table)


def _tell(long: Endurance, orphans: list[str], missing: int, table: Table) -> None:
    for name, count in sorted(long.counts.items()):
        table.note(name, count)
    quarter = len(long.memory) // 4
    samples = [used for _, used in long.memory]
    early = statistics.median(samples[quarter : 2 * quarter] or samples)
    late = statistics.median(samples[-quarter:] or samples)
    table.note("memory of the server, second quarter", early, "MB")
    table.note("the same, last quarter", late, "MB")
    table.at_most("the last quarter, of the second", 100 * late / early, 110, "%")
    table.at_most("shown otherwise than afresh", len(long.lost), 0)
    table.at_most("answers missing in sessions", missing, 0)
    table.at_most("processes left", len(orphans), 0)
    for text in long.lost[:20]:
        print(text[:2000])


def main() -> int:
    """Work, print the table, return 1 when something was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", default="2026")
    given = parser.parse_args()
    sources = sources_of(*PACKAGES)
    table = Table(f"{given.minutes:g} minutes in one server, seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_work(Path(folder), sources, given.minutes, given.seed, table))
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())
