"""Sixty URIs that try to make the server read, write or tell what is none of its business."""

from __future__ import annotations

import json
import os

import pytest

from tests.lsp.wire import wire

SECRET = "canary-7f3a"
SCHEMES = [
    "file:///{up}/secret.c",
    "file://{root}/../secret.c",
    "file://{root}/sub/../../secret.c",
    "file://{root}/%2e%2e/secret.c",
    "file://{root}/..%2fsecret.c",
    "file://{root}/link.c",
    "file://{root}/dir_link/secret.c",
    "file://localhost{up}/secret.c",
    "file://evil.example{up}/secret.c",
    "FILE://{up}/secret.c",
    "file:{up}/secret.c",
    "file:/{up}/secret.c",
    "{up}/secret.c",
    "file://{root}/./../secret.c",
    "file://{root}//../secret.c",
    "file://{root}/a.c/../../secret.c",
    "file://{root}/..;/secret.c",
    "file://{root}/%00../secret.c",
    "file://{up}/secret.c%00.c",
    "file://{up}/secret.c?a.c",
    "file://{up}/secret.c#a.c",
    "file://{up}/%73ecret.c",
    "file://{root}/..\\secret.c",
    "file://{root}/%c0%ae%c0%ae/secret.c",
    "file://{root}/link.c/",
    "file:///proc/self/environ",
    "file:///proc/self/cwd/secret.c",
    "file:///dev/stdin",
    "file:///etc/passwd",
    "file:///etc/shadow",
    "file:////etc/passwd",
    "file://///etc/passwd",
    "file:///etc//passwd",
    "file:///./etc/passwd",
    "file:///tmp/../etc/passwd",
    "file:///",
    "file://",
    "file:",
    "",
    "/",
    ".",
    "..",
    "~",
    "~/.ssh/id_rsa",
    "http://127.0.0.1/secret.c",
    "https://evil.example/a.c",
    "ftp://evil.example/a.c",
    "data:text/plain,x",
    "javascript:alert(1)",
    "untitled:../../secret.c",
    "git:{up}/secret.c",
    "vscode-remote://x{up}/secret.c",
    "file://[::1]{up}/secret.c",
    "file://[",
    "file://{root}/fifo.c",
    "file://{root}/sub",
    "file://{root}/" + "a" * 5000 + ".c",
    "file://{root}/\u202egnp.c",
    "file://{root}/\n.c",
    "\\\\server\\share\\secret.c",
]


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "secret.c").write_text(f'char *k = "{SECRET}"; void f(char *p) {{ gets(p); }}\n')
    (root / "a.c").write_text("int a;\n")
    (root / "link.c").symlink_to(tmp_path / "secret.c")
    (root / "dir_link").symlink_to(tmp_path)
    os.mkfifo(root / "fifo.c")
    return root


def test_sixty_hostile_uris(workspace):
    assert len(SCHEMES) >= 60
    up = workspace.parent
    before = sorted(str(path) for path in up.rglob("*") if ".jarvis" not in str(path))
    with wire(cwd=up) as server:
        server.initialize(workspace)
        for number, form in enumerate(SCHEMES):
            uri = form.replace("{root}", str(workspace)).replace("{up}", str(up))
            document = {"uri": uri}
            position = {"line": 0, "character": 40}
            span = {"start": position, "end": position}
            requests = [
                ("textDocument/hover", {"textDocument": document, "position": position}),
                ("textDocument/codeLens", {"textDocument": document}),
                ("textDocument/diagnostic", {"textDocument": document}),
                (
                    "textDocument/codeAction",
                    {"textDocument": document, "range": span, "context": {"diagnostics": []}},
                ),
                (
                    "jarvis/suppress",
                    {
                        "items": [{"uri": uri, "fingerprint": "x"}],
                        "scope": "function",
                        "reason": "r",
                    },
                ),
            ]
            for index, (method, params) in enumerate(requests):
                answer = server.request(f"{number}-{index}", method, params)
                assert answer is not None, (method, uri)
                assert "result" not in answer or not answer["result"], (method, uri, answer)
            server.notify(
                "workspace/didChangeWatchedFiles",
                {"changes": [{"uri": uri, "type": kind} for kind in (1, 2, 3)]},
            )
        answer = server.request("scan", "jarvis/scanWorkspace", {})
        assert answer["result"]["files"] == 1
        assert SECRET not in json.dumps(server.seen) and "root:" not in json.dumps(server.seen)
        findings = server.request("all", "jarvis/findings", {})
        assert findings["result"]["findings"] == []
    after = sorted(str(path) for path in up.rglob("*") if ".jarvis" not in str(path))
    assert after == before


def test_reports_are_written_inside_the_workspace_only(workspace):
    root, up = workspace, workspace.parent
    (root / ".git").mkdir()
    (root / "out.json").symlink_to(up / "stolen.json")
    paths = [
        up / "report.json",
        root / ".." / "report.json",
        root / "dir_link" / "report.json",
        root / "out.json",
        root / "no" / "such" / "report.json",
        root / ".git" / "config",
        root / ".jarvis" / "sec" / "baseline.json",
        root / "sub",
        root,
        "/dev/null",
        "/etc/passwd",
        "report.json",
        "../report.json",
        "",
        "~/report.json",
        f"{root}/a\0b.json",
        f"file://{root}/report.json",
        f"{root}/" + "a" * 300,
    ]
    before = sorted(str(path) for path in up.rglob("*") if ".jarvis" not in str(path))
    with wire(cwd=root) as server:
        server.initialize(root)
        for number, path in enumerate(paths):
            params = {"format": "json", "path": str(path)}
            answer = server.request(number, "jarvis/export", params)
            assert answer is not None and "error" in answer, path
        good = {"format": "json", "path": str(root / "sub" / "report.json")}
        assert server.request("good", "jarvis/export", good)["result"]["findings"] == 0
    after = sorted(str(path) for path in up.rglob("*") if ".jarvis" not in str(path))
    assert set(after) - set(before) == {str(root / "sub" / "report.json")}


def test_an_open_document_outside_the_workspace_is_analysed_as_the_editor_sent_it(workspace):
    """The text is the client's: analysing it reads nothing from the disk."""
    with wire() as server:
        server.initialize(workspace)
        uri = (workspace.parent / "secret.c").as_uri()
        server.open(uri, "void f(char *p) { free(p); free(p); }\n")
        params = {"textDocument": {"uri": uri}}
        answer = server.request(1, "textDocument/diagnostic", params)
        assert [one["code"] for one in answer["result"]["items"]] == ["double-free"]
        assert SECRET not in json.dumps(answer)
