"""What a file of tests depends on: one that is overlooked would skip tests that should run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dependencies import ROOT, TESTS, dependencies


def names(test: Path) -> list[str]:
    """Return the files that a file of tests depends on, from the root."""
    files = dependencies(test) - {test}
    return [file.relative_to(ROOT).as_posix() for file in files]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from jarvis_ls.jc2r.lift import casts", "server/jarvis_ls/jc2r/lift/rust.py"),
        ("def f():\n    import jarvis_ls.core.words", "server/jarvis_ls/core/words.py"),
        ("start('-m', 'jarvis_ls.cli.jc2r')", "server/jarvis_ls/harness/executor.py"),
        ("start('-m', 'jarvis_ls')", "server/jarvis_ls/lsp/features/hover.py"),
        ("JARVIS = PYTHON.with_name('jarvis')", "server/jarvis_ls/cli/jarvis.py"),
        ("code = 'from jarvis_ls.cli.jsec import main'", "server/jarvis_ls/jsec/worker.py"),
        ("from tests.lsp.editor import running", "server/jarvis_ls/lsp/features/hover.py"),
        ("import jarvis_ls.jsec.rules.registry", "server/jarvis_ls/jsec/rules/c/double_free.py"),
        ("from jarvis_ls.agents import briefing", "server/jarvis_ls/agents/prompts/child.md"),
        ("from jarvis_ls.lsp import user_messages", "server/jarvis_ls/jsec/locale/zh-cn.json"),
        ("RULES = ROOT / 'tests' / 'jsec' / 'rules'", "tests/jsec/rules/c/double_free.c"),
        ("HELPER = SUPPORT / 'tool_server.py'", "tests/support/tool_server.py"),
        ("", "requirements.lock"),
    ],
)
def test_what_is_imported_started_walked_or_read_counts(
    tmp_path: Path, text: str, found: str
) -> None:
    test = tmp_path / "test_made.py"
    test.write_text(text + "\n", encoding="utf-8")
    assert found in names(test)


def test_what_none_of_this_leads_to_does_not_count() -> None:
    """Changes of rules parse no C again."""
    found = names(TESTS / "codeintel" / "test_c.py")
    assert "server/jarvis_ls/codeintel/functions.py" in found
    assert not [name for name in found if name.startswith("server/jarvis_ls/jsec/")]
