"""Tool calls in words, as in the panel: what is done, and with what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jarvis_ls.core.words import Words

_VERBS: Mapping[str, Words] = {
    "ask_user": Words("Ask you:"),
    "callees": Words("Find callees of"),
    "callers": Words("Find callers of"),
    "change_code": Words("Change"),
    "clear_memory": Words("Forget"),
    "code_analysis": Words("Analyse"),
    "definition": Words("Find definition of"),
    "diagnostics": Words("Check"),
    "edit_file": Words("Edit"),
    "edit_file_free": Words("Edit"),
    "execute_script": Words("Run"),
    "explain_finding": Words("Explain finding"),
    "fetch_web": Words("Fetch"),
    "findings": Words("List findings"),
    "get_dependencies": Words("Read dependencies of"),
    "list_project_files": Words("List files"),
    "methodology": Words("Read method"),
    "read_code": Words("Read"),
    "read_file_hunk": Words("Read"),
    "read_file_info": Words("Inspect"),
    "read_symbols": Words("Read symbols of"),
    "references": Words("Find references to"),
    "retrieve_memory": Words("Recall"),
    "rewrite_file": Words("Write"),
    "save_memory": Words("Remember"),
    "script_output": Words("Read output of"),
    "search_in_project": Words("Search"),
    "search_web": Words("Search the web:"),
    "sub_agent": Words("Start agent:"),
    "update_plan": Words("Update plan"),
}
"""By the name of a built-in tool; others keep their names and show all arguments."""


def verb(tool: str) -> Words | None:
    """Return what a built-in tool does; None for tools of servers and folders."""
    return _VERBS.get(tool)


def subject(arguments: str) -> str:
    """Return what a call is about: the first line of its arguments that is worth showing, empty
    where there is none.
    """
    try:
        return _first_text(json.loads(arguments))
    except ValueError:
        return ""


def _first_text(value: Any) -> str:
    """Return the first text in a value, also of what lies in lists: `src/a.c +2` of three."""
    if isinstance(value, str):
        line, more, _ = value.strip().partition("\n")
        return f"{line} …" if more else line
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    first = next(filter(None, map(_first_text, inside)), "")
    others = len(value) - 1 if isinstance(value, list) else 0
    return f"{first} +{others}" if first and others else first
