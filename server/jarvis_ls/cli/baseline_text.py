"""What `jc2r run` says of a translation, with a model or without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.jc2r.run.pipeline import Run


def tell_run(done: Run) -> None:
    """Say what came of a translation."""
    said = Words(
        "{rust} of {total} functions in Rust",
        rust=sum(function.state not in ("new", "c") for function in done.functions),
        total=len(done.functions),
    )
    took = Words("{seconds} s", seconds=f"{done.seconds:.1f}")
    ending = speak(Words("no changes") if done.again else took)
    print(speak(Words("{said}, {ending}", said=speak(said), ending=ending)))
    for left in done.left:
        print(
            speak(
                Words(
                    "{place}: {name} stays in C: {why}",
                    why=speak(left.reason),
                    place=f"{left.file}:{left.line}",
                    name=left.name,
                )
            )
        )
    named = {(left.file, left.name) for left in done.left}
    in_c = Counter(
        function.file
        for function in done.functions
        if function.state == "c" and (function.file, function.name) not in named
    )
    for unit in done.skipped:
        about = {"file": unit.file, "n": in_c[unit.file], "why": speak(unit.reason)}
        print(
            speak(
                Words("{file}: not translated: {why}", **about)
                if not about["n"]
                else Words("{file}: not translated, with 1 function: {why}", **about)
                if about["n"] == 1
                else Words("{file}: not translated, with {n} functions: {why}", **about)
            )
        )
    tell_notes(done.notes)
    print(speak(Words("crate: {folder}", folder=done.crate)))


def tell_notes(notes: Sequence[str]) -> None:
    """Say what a user should know."""
    for note in notes:
        print(speak(Words("note: {text}", text=speak(note))))
