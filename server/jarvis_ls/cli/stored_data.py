"""`jarvis sessions`, `jarvis memory`, `jarvis models`: what is kept, without asking any model."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import visible
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import replace_file, user_folder
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import SessionInfo

if TYPE_CHECKING:
    from jarvis_ls.runtime.memory.entry import MemoryEntry
    from jarvis_ls.runtime.memory.memory import Memory
    from jarvis_ls.runtime.session.store import SessionStore


def run_sessions(options: argparse.Namespace) -> ExitStatus:
    """Do what `jarvis sessions` asks for; returns the exit status."""
    from jarvis_ls.runtime.session.store import SessionStore

    store = SessionStore(user_folder())
    actions: dict[str, Callable[[SessionStore, argparse.Namespace], ExitStatus]] = {
        "list": _list,
        "search": _search,
        "show": _show,
        "export": _export,
        "delete": _delete,
        "restore": _restore,
        "fork": _fork,
        "deleted": _list_deleted,
    }
    return actions[options.action](store, options)


def find_session(store: SessionStore, name: str, folder: Path | None = None) -> str:
    """Return the id of a session: `last`, the id itself, or a part of it that no other id has.

    Raises `UsageError` when there is none, or more than one.
    """
    if name == "last":
        latest = store.latest(os.path.realpath(folder or Path()))
        if latest is None:
            raise UsageError("there are no sessions in this folder yet")
        return latest
    found = _find_session(store.list(), name)
    if found is None:
        raise UsageError(
            "there is no session {name}; `jarvis sessions list --all` lists them", name=repr(name)
        )
    return found


def _find_session(infos: Sequence[SessionInfo], name: str) -> str | None:
    """Return the one id that is `name`, or that it is a part of. Raises `UsageError` for
    several.
    """
    found = [info.id for info in infos if name and name in info.id]
    if name in found:
        return name
    if len(found) > 1:
        raise UsageError(
            "{n} session ids contain {name}; give more of the id", n=len(found), name=repr(name)
        )
    return found[0] if found else None


def _list(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    everywhere = options.all
    infos = store.list(None if everywhere else os.path.realpath("."))
    _print(infos, options.format)
    if not infos and options.format == "text":
        here = Words("no sessions in this folder; --all also lists those of other folders")
        print(speak(Words("no sessions yet") if everywhere else here), file=sys.stderr)
    return ExitStatus.SUCCESS


def _search(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    found = store.search(" ".join(options.words))
    _print(found, options.format)
    if not found and options.format == "text":
        print(speak(Words("no session contains all these words")), file=sys.stderr)
    return ExitStatus.SUCCESS


def _show(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    print(visible(store.export_markdown(find_session(store, options.id))))
    return ExitStatus.SUCCESS


def _export(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    text = store.export_markdown(find_session(store, options.id))
    replace_file(options.output.absolute(), text.encode("utf-8", "surrogatepass"))
    return ExitStatus.SUCCESS


def _delete(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    session = find_session(store, options.id)
    store.delete(session)
    back = Words("deleted; `jarvis sessions restore {session}` restores it", session=session)
    print(speak(back), file=sys.stderr)
    return ExitStatus.SUCCESS


def _restore(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    session = _find_session(store.deleted(), options.id)
    if session is None:
        raise UsageError(
            "there is no deleted session {name}; `jarvis sessions deleted` lists them",
            name=repr(options.id),
        )
    store.restore(session)
    print(session)
    return ExitStatus.SUCCESS


def _fork(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    made = store.fork(find_session(store, options.id))
    made.close()
    print(made.id)
    return ExitStatus.SUCCESS


def _list_deleted(store: SessionStore, options: argparse.Namespace) -> ExitStatus:
    found = store.deleted()
    _print(found, options.format)
    if not found and options.format == "text":
        print(speak(Words("no deleted sessions")), file=sys.stderr)
    return ExitStatus.SUCCESS


def _print(infos: Sequence[SessionInfo], format: str) -> None:
    if format == "json":
        print(json.dumps([asdict(info) for info in infos], indent=2))
        return
    for info in infos:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
        tokens = info.usage.input + info.usage.output
        cost = f" {info.usage.cost:.4f}" if info.usage.cost else ""
        title = visible(" ".join(info.title.split())) or speak(Words("(untitled)"))
        spent = speak(Words("{n} tokens", n=f"{tokens:>9}"))
        print(f"{info.id}  {used}  {spent}{cost}  {title}")


# Memory -----------------------------------------------------------------------------------------


def run_memory(options: argparse.Namespace) -> ExitStatus:
    """Do what `jarvis memory` asks for; returns the exit status."""
    from jarvis_ls.runtime.memory.memory import Memory

    memory = Memory(user_folder(), Path(os.path.realpath(".")))
    status = asyncio.run(_memory(memory, options))
    for problem in memory.problems:
        print(f"jarvis: {problem.path}: {problem.reason}", file=sys.stderr)
    return status


async def _memory(memory: Memory, options: argparse.Namespace) -> ExitStatus:
    if options.action == "add":
        kind = "global_long_term" if options.everywhere else "project_long_term"
        saved = await memory.save(kind, options.content, options.tag)  # type: ignore[arg-type]
        print(saved.entry.id)
    elif options.action == "show":
        _print_memory(await memory.read(options.id))
    elif options.action == "delete":
        return await _forget(memory, options.id)
    else:
        await _list_memories(memory, options)
    return ExitStatus.SUCCESS


async def _forget(memory: Memory, ids: Sequence[str]) -> ExitStatus:
    gone = await memory.clear(["project_long_term", "global_long_term"], ids=ids)
    for missing in [note for note in ids if note not in gone]:
        print(f"jarvis: {speak(Words('there is no memory {id}', id=missing))}", file=sys.stderr)
    return ExitStatus.SUCCESS if len(gone) == len(set(ids)) else ExitStatus.USAGE_ERROR


async def _list_memories(memory: Memory, options: argparse.Namespace) -> None:
    words = [word.casefold() for word in options.words]
    found = []
    for head in await memory.heads():
        text = " ".join((head.title, head.summary, *head.tags, *head.words)).casefold()
        if all(word in text for word in words):
            found.append(head)
    if options.format == "json":
        entries = [await memory.read(head.id) for head in found]
        print(json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=2))
        return
    for head in found:
        kind = head.kind.removesuffix("_long_term")
        tags = f" [{', '.join(head.tags)}]" if head.tags else ""
        print(f"{head.id}  {kind:<7}{visible(tags)}  {visible(head.title)}")
    if not found:
        none = Words("no memory contains all these words")
        print(speak(none if words else Words("no memories yet")), file=sys.stderr)


def _print_memory(entry: MemoryEntry) -> None:
    tags = ", ".join(entry.tags)
    print(f"{entry.kind.removesuffix('_long_term')} · {entry.time[:16]} · {visible(tags)}\n")
    print(visible(entry.content))


# Models -----------------------------------------------------------------------------------------


def run_models(_options: argparse.Namespace) -> ExitStatus:
    """Say which models there are and what is missing; status 2 when none can be asked."""
    from jarvis_ls.assembly.bootstrap import build

    assembly = build()
    for problem in assembly.problems:
        print(f"jarvis: {speak(problem)}", file=sys.stderr)
    for name in assembly.groups():
        why = speak(assembly.missing_model(name))
        print(f"{name:<10} {', '.join(assembly.models.groups[name])}{'  ' + why if why else ''}")
    print(f"\n{speak(Words('providers:'))}")
    for provider in assembly.models.providers.values():
        has_key = bool(provider.keys(assembly.environment))
        ready = speak(Words("ready") if has_key else Words("no key"))
        keys = ", ".join(provider.env_keys) or speak(Words("no key needed"))
        print(f"{provider.name:<22} {ready:<7} {keys}")
    why = assembly.missing_model()
    if why:
        print(f"jarvis: {speak(why)}", file=sys.stderr)
    return ExitStatus.USAGE_ERROR if why else ExitStatus.SUCCESS
