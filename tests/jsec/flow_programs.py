"""Short programs, lowered and interpreted."""

from __future__ import annotations

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import item_facts, merge_items
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.codeintel.top_level_items import items
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
from jarvis_ls.jsec.flow.ir.declarations import FileIR
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.flow.program.in_memory import Files


def _facts(text: str) -> Facts:
    tree = parse(text.encode(), "cpp")
    return merge_items(item_facts(item, "cpp") for item in items(tree.root_node, "cpp"))


def lowered(text: str | bytes, path: str = "a.c", header: Facts | None = None) -> FileIR:
    source = decode(path, text.encode() if isinstance(text, str) else text)
    language: LanguageName = "cpp" if path.endswith("cpp") else "c"
    tree = parse(source.data, language)
    facts = merge_items(item_facts(item, language) for item in items(tree.root_node, language))
    facts = facts.merge([header] if header is not None else [])
    return lower(Unit(source, language, facts), tree.root_node)


def faults(*files: FileIR) -> list[Fault]:
    analysis = Interpreter(Files(files))
    found = {
        (f.kind, f.file, f.span): f
        for file in files
        for function in file.functions.values()
        for f in analysis.root(function)
        if f.is_flaw
    }
    return sorted(found.values(), key=lambda f: (f.file, f.span, f.kind))


def kinds(text: str, path: str = "a.c") -> list[tuple[str, str]]:
    """Function and kind of each flaw."""
    return [(f.function, f.kind) for f in faults(lowered(text, path))]
