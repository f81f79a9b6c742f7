"""More open documents than are kept at hand."""

from pathlib import Path

import psutil

from tests.lsp.wire import Wire, wire

FLAWED = "#include <stdlib.h>\nvoid f%d(char *p) {\n    free(p);\n    free(p);\n}\n"
SOUND = "int f(void) { return 0; }\n"
COUNT = 80
VERSIONS = 1_000


def _lines(server: Wire, name: str, file: Path) -> list[int]:
    """Return the lines of the findings of a document."""
    params = {"textDocument": {"uri": file.as_uri()}}
    answer = server.request(name, "textDocument/diagnostic", params)
    return [item["range"]["start"]["line"] for item in answer["result"]["items"]]


def test_each_keeps_its_findings_and_hovers(tmp_path: Path) -> None:
    files = [tmp_path / f"a{number}.c" for number in range(COUNT)]
    with wire() as server:
        server.initialize(tmp_path)
        for number, file in enumerate(files):
            server.open(file.as_uri(), FLAWED % number)
        for ask in range(2):  # once as they come, once when others have been asked for meanwhile
            for number, file in enumerate(files):
                assert 3 in _lines(server, f"{ask}.{number}", file)
        server.change(files[0].as_uri(), 2, {"text": SOUND})
        assert _lines(server, "after", files[0]) == []
        assert 3 in _lines(server, "other", files[1])
        found = server.hover("hover", files[-1].as_uri(), 3, 6)
        assert "double-free" in str(found["result"])


def test_one_closed_and_opened_again_is_known_as_it_is(tmp_path: Path) -> None:
    files = [tmp_path / f"a{number}.c" for number in range(COUNT)]
    with wire() as server:
        server.initialize(tmp_path)
        for number, file in enumerate(files):
            server.open(file.as_uri(), FLAWED % number)
        for number, file in enumerate(files):
            assert 3 in _lines(server, f"first {number}", file)
        for file in files:
            server.notify("textDocument/didClose", {"textDocument": {"uri": file.as_uri()}})
            server.open(file.as_uri(), SOUND)
        for number, file in enumerate(files):
            assert _lines(server, f"again {number}", file) == []


def test_versions_that_wait_for_an_analysis_are_not_all_kept(tmp_path: Path) -> None:
    """Each is the whole document, as some editors send it; only the last is analysed."""
    file, filler = tmp_path / "a.c", "int a;\n" * 10_000
    with wire() as server:
        server.initialize(tmp_path)
        server.open(file.as_uri(), SOUND)
        assert _lines(server, "opened", file) == []
        process, most = psutil.Process(server.process.pid), 0
        before = process.memory_info().rss
        for version in range(2, VERSIONS):
            server.change(file.as_uri(), version, {"text": filler})
            most = max(most, process.memory_info().rss)
        server.change(file.as_uri(), VERSIONS, {"text": FLAWED % 0})
        assert _lines(server, "changed", file) == [3]
        most = max(most, process.memory_info().rss)
    assert most - before < VERSIONS * len(filler) / 4


def test_more_edits_than_are_kept_lead_to_the_same_text(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    with wire() as server:
        server.initialize(tmp_path)
        server.open(file.as_uri(), SOUND)
        assert _lines(server, "opened", file) == []
        for number, letter in enumerate(FLAWED % 0 * 8):  # written in front of itself
            start = {"line": 0, "character": 0}
            change = {"range": {"start": start, "end": start}, "text": letter}
            server.change(file.as_uri(), number + 2, change)
        text = (FLAWED % 0 * 8)[::-1] + SOUND
        other = tmp_path / "b.c"
        server.open(other.as_uri(), text)
        assert _lines(server, "edited", file) == _lines(server, "opened whole", other)
