"""More open documents than are kept at hand."""

from pathlib import Path

from tests.lsp.wire import Wire, wire

FLAWED = "#include <stdlib.h>\nvoid f%d(char *p) {\n    free(p);\n    free(p);\n}\n"
SOUND = "int f(void) { return 0; }\n"
COUNT = 80


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
