"""What a model makes of the crate in the stage `optimize`, file by file: warnings of clippy one
at a time, `unsafe` that is not needed or not explained, documentation that is missing.

Everything is tried in a copy. A change is kept when it breaks no rule of rewriting, builds, passes
the tests, behaves like the C, and has neither more unsafe code nor more warnings; it is one commit
then. What was refused is not tried again while the file is as it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.words import filled
from jarvis_ls.jc2r.build.compile_commands import units_of
from jarvis_ls.jc2r.crate.cargo import program
from jarvis_ls.jc2r.crate.config import alone, folder_of, read_config
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import VERIFY, State, read_progress, read_state, record_stage
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.lift.compiler import Message, check, errors_of
from jarvis_ls.jc2r.lift.crate_copy import CrateCopy, duplicate_crate
from jarvis_ls.jc2r.lift.rust import Source, below, name_of, parse_source
from jarvis_ls.jc2r.lift.sources import find_crate, replace_sources
from jarvis_ls.jc2r.lift.stage import find_difference
from jarvis_ls.jc2r.rewrite.optimize import OPTIMIZE, is_wanted
from jarvis_ls.jc2r.rewrite.polish_answers import Changes, ChangesForm, Comments, CommentsForm
from jarvis_ls.jc2r.rewrite.polish_gate import ChangeRefused, PolishGate
from jarvis_ls.jc2r.rewrite.polish_records import (
    Part,
    Polished,
    Touched,
    Wish,
    read_touched,
    write_report,
    write_touched,
)
from jarvis_ls.jc2r.rewrite.subject import first_of, replace_item
from jarvis_ls.jc2r.rewrite.unsafe_reasons import MARK
from jarvis_ls.jc2r.rewrite.wanted import Writer
from jarvis_ls.jc2r.translate.manifest import format_source
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.base.redaction import redact

ANSWERS = 2
"""Answers for one change that are judged."""
WARNINGS = 20
"""Warnings of one file that a model is asked about."""
_MOST_CODE = 60_000
_MOST_TOLD = 4_000
_GENERATED = frozenset({"src/lib.rs", "src/sys.rs", "src/types.rs"})
"""Files that belong to no C file."""

Tell = Callable[[str, str], None]
"""The part, and the file that is worked on."""


async def polish_crate(
    root: Path,
    writer: Writer,
    *,
    wish: Wish,
    settings: Settings,
    tell: Tell = lambda *_: None,
) -> Polished:
    """Let a model polish the crate of the last run of the project at `root`.

    A killed run leaves the crate with what was kept, and the next one goes on with the other files.
    Raises `JarvisError` when there is no finished translation.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        crate = find_crate(folder, state)
        in_rust = read_progress(folder).in_rust
        work = folder / OPTIMIZE
        copy = await asyncio.to_thread(duplicate_crate, crate, work)
        units = units_of(root, build=wish.extent.build_project, folder=folder / "build")

        def differs() -> str:
            found = find_difference(root, copy, units, work, in_rust, settings)
            return "" if found is None else found.text

        notes = read_config(root).additional_notes
        run = _Run(folder, crate, copy, state, wish, differs, notes)
        await run.run(writer, tell)
        return run.done


class _Run:
    """One run over one crate, in its copy."""

    def __init__(
        self,
        folder: Path,
        crate: Path,
        copy: Path,
        state: State,
        wish: Wish,
        differs: Callable[[], str],
        notes: str,
    ) -> None:
        self._folder, self._crate, self._copy, self._state = folder, crate, copy, state
        self._wish, self._notes = wish, notes
        self._gate = PolishGate(copy, wish.extent, differs)
        self._files = CrateCopy(copy)
        self.done = Polished()
        self._known = read_touched(folder, state.translation)

    async def run(self, writer: Writer, tell: Tell) -> None:
        """Go through the files, each part after the other."""
        names = [source.path.relative_to(self._copy).as_posix() for source in self._files.sources()]
        extent = self._wish.extent
        chosen = [n for n in names if is_wanted(n, extent) and n not in _GENERATED]
        done = []
        for part, name in itertools.product(self._wish.parts, chosen):
            known = self._known.get((part.value, name))
            if known is not None and known.digest == self._digest(name):
                continue
            tell(part.value, name)
            touched = Touched(part.value, name) if known is None else replace(known, refused=[])
            self._known[part.value, name] = touched
            await self._touch(part, touched, writer)
            self.done.comparisons = self._gate.comparisons
            self.done.stopped = self.done.stopped or self._gate.stopped
            if self.done.stopped:
                break
            done.append(touched)
            for other in done:  # of a file that a later part has changed, too
                other.digest = self._digest(other.file)
            write_touched(self._folder, self._state.translation, list(self._known.values()))
        self.done.touched = list(self._known.values())
        write_report(self._folder, self.done)

    async def _touch(self, part: Part, touched: Touched, writer: Writer) -> None:
        if part is Part.CLIPPY:
            await self._fix_warnings(touched, writer)
        elif part is Part.UNSAFE:
            await self._lessen_unsafe(touched, writer)
        else:
            await self._document(touched, writer)

    # -- clippy, one warning at a time

    async def _fix_warnings(self, touched: Touched, writer: Writer) -> None:
        if program("cargo-clippy") is None:
            return
        tried: set[tuple[str, str]] = set()
        for _ in range(WARNINGS):
            found = await asyncio.to_thread(self._gate.warnings, touched.file)
            left = [w for w in found if (w.code, self._code_of(w)) not in tried]
            if not left or self.done.stopped:
                return
            tried.add((left[0].code, self._code_of(left[0])))
            line = left[0].path.read_bytes()[: left[0].start].count(b"\n") + 1
            about = f"line {line}: {left[0].code}: {left[0].text}: {self._code_of(left[0])}"
            await self._change(touched, writer, "polish_clippy", about)

    def _code_of(self, warning: Message) -> str:
        data = warning.path.read_bytes()[warning.start : warning.end]
        return " ".join(data.decode("utf-8", "replace").split())[:200]

    # -- unsafe

    async def _lessen_unsafe(self, touched: Touched, writer: Writer) -> None:
        source = self._source(touched.file)
        if not any(True for _ in below(source.root, "unsafe_block", "function_modifiers")):
            return
        if b"unsafe" in source.data:
            await self._change(touched, writer, "polish_unsafe", "")

    async def _change(self, touched: Touched, writer: Writer, prompt: str, about: str) -> None:
        """Let a model rewrite functions of a file; keep them when they pass."""
        wrong, spent = "", Usage()
        for _ in range(ANSWERS):
            source = self._source(touched.file)
            form = ChangesForm(frozenset(map(name_of, source.functions)))
            task = self._task(prompt, touched.file, source, about=about, wrong=wrong)
            said, spent = await self._ask(writer, task, f"{prompt} {touched.file}", form, spent)
            if not isinstance(said, Changes) or said.status == "nothing":
                return
            try:
                await asyncio.to_thread(self._try, touched, said)
                return
            except ChangeRefused as refused:
                wrong = str(refused)
        touched.refused.append(f"{about}: {wrong}" if about else wrong)

    def _try(self, touched: Touched, said: Changes) -> None:
        """Put changes into the copy and, when they pass, into the crate. Raises `ChangeRefused`."""
        path = self._copy / touched.file
        texts, before = self._files.texts(), self._gate.look()
        reasons = path.read_bytes().count(MARK.encode())
        try:
            data = path.read_bytes()
            for item in said.items:
                data = replace_item(data, item.name, item.code.strip()) or data
            replace_file(path, format_source(data.decode("utf-8", "replace")).encode())
            if path.read_bytes() == texts[path]:
                raise ChangeRefused("Nothing is different.")
            after = self._gate.judge(before)
        except BaseException:
            self._files.restore(texts)
            raise
        touched.unsafe_removed += before.counts.unsafe_lines - after.unsafe_lines
        touched.unsafe_annotated += max(0, path.read_bytes().count(MARK.encode()) - reasons)
        self._keep(touched)

    # -- documentation

    async def _document(self, touched: Touched, writer: Writer) -> None:
        source = self._source(touched.file)
        lacking = [function for function in source.functions if _lacks_comment(source, function)]
        lacks_module = source.data.count(b"\n//!") == 0
        if not lacking and not lacks_module:
            return
        names = frozenset(map(name_of, lacking))
        about = ", ".join(sorted(names)) or "none: only the file"
        task = self._task("polish_docs", touched.file, source, about=about, wrong="")
        title, form = f"polish_docs {touched.file}", CommentsForm(names)
        said, _ = await self._ask(writer, task, title, form, Usage())
        if isinstance(said, Comments):
            await asyncio.to_thread(self._add_comments, touched, said, lacks_module)

    def _add_comments(self, touched: Touched, said: Comments, lacks_module: bool) -> None:
        path = self._copy / touched.file
        data, texts = path.read_bytes(), self._files.texts()
        added = 0
        for comment in said.functions:
            source = parse_source(path, data)
            for function in source.functions:
                if name_of(function) == comment.name:
                    at = first_of(function).start_byte
                    data = data[:at] + _mark_line("///", comment.text) + data[at:]
                    added += 1
                    break
        if lacks_module and said.module.strip():
            first, _, rest = data.partition(b"\n")  # which says what C file it is of
            data = first + b"\n//!\n" + _mark_line("//!", said.module) + rest
            added += 1
        replace_file(path, format_source(data.decode("utf-8", "replace")).encode())
        if not added or errors_of(check(self._copy)):
            self._files.restore(texts)
            return
        touched.docs_added += added
        self._keep(touched, is_code=False)

    # -- the model, the crate, and what is kept

    async def _ask(
        self, writer: Writer, task: str, title: str, form: AnswerForm, spent: Usage
    ) -> tuple[Any, Usage]:
        """Return what a model answers, None when that is nothing, and what was spent by then."""
        budget = self._wish.budget
        used = spent.input + spent.output
        left = Budget(
            None if budget.tokens is None else max(0, budget.tokens - used),
            None if budget.cost is None else max(0.0, budget.cost - spent.cost),
        )
        answer: AgentAnswer = await writer.write(task, title, form, left)
        if answer.state is AnswerState.FAILED or (
            answer.state is AnswerState.STOPPED and budget == Budget()
        ):
            self.done.stopped = answer.error
        return answer.value, spent + answer.spent

    def _task(self, prompt: str, file: str, source: Source, *, about: str, wrong: str) -> str:
        notes = self._notes.strip()
        values = {
            "file": file,
            "code": as_data(source.data.decode("utf-8", "replace")[:_MOST_CODE]),
            "about": as_data(about),
            "notes": f"Additional notes of the user:\n{notes}" if notes else "",
            "wrong": f"## Your last answer was refused\n{as_data(redact(wrong[:_MOST_TOLD]))}"
            if wrong
            else "",
        }
        text = filled(read_prompt("jarvis_ls.jc2r.rewrite", prompt), values)
        return text.encode("utf-8", "backslashreplace").decode()

    def _source(self, name: str) -> Source:
        path = self._copy / name
        return parse_source(path, path.read_bytes())

    def _keep(self, touched: Touched, *, is_code: bool = True) -> None:
        """Put a file of the copy into the crate, as one commit."""
        if is_code and VERIFY in self._state.done:  # what was compared is not what is there now
            record_stage(self._folder, self._state, VERIFY, done=False)
        data = (self._copy / touched.file).read_bytes()
        replace_sources(self._crate, {Path(touched.file): data})
        history = History(self._crate)
        history.commit([touched.file], f"Optimized: {touched.part}: {touched.file}")
        touched.changes += 1
        touched.commit = history.head()

    def _digest(self, name: str) -> str:
        return hashlib.sha256((self._copy / name).read_bytes()).hexdigest()


def _lacks_comment(source: Source, function: Node) -> bool:
    """Return whether a function is visible outside of its file and nothing above it says what it
    does."""
    if not any(child.type == "visibility_modifier" for child in function.children):
        return False
    first = first_of(function)
    above = source.data[first.start_byte : function.start_byte]
    lines = [line for line in above.split(b"\n") if line.startswith(b"///")]
    return not lines or lines[0].strip() == b"/// # Safety"


def _mark_line(mark: str, text: str) -> bytes:
    """Return a text as lines of comments."""
    lines = [
        "".join(letter for letter in line if letter.isprintable()) for line in text.split("\n")
    ]
    return "".join(f"{f'{mark} {line.strip()}'.rstrip()}\n" for line in lines).encode()
