"""Nothing is done that was not allowed, whatever a model writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.base.messages import ToolCall
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.permissions import (
    EFFECTS,
    Answer,
    Asked,
    PermissionRule,
    Permissions,
    read_rules,
    shown,
    shown_target,
)
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Tools, tool

DONE: list[str] = []


@tool(actions=lambda a: [Action("execute", a["command"])])
async def execute(context: ToolContext, command: str) -> str:
    """Run."""
    DONE.append(command)
    return "ran"


@tool(actions=lambda a: [Action("write", a["path"])])
async def write(context: ToolContext, path: str) -> str:
    """Write."""
    DONE.append(path)
    return "written"


@tool(actions=lambda a: [Action("read", a["path"])])
async def read(context: ToolContext, path: str) -> str:
    """Read."""
    DONE.append(path)
    return "read"


class User:
    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []

    async def __call__(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    DONE.clear()
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path)
    (root / "src").mkdir()
    return ToolContext((root.resolve(),))


async def do(
    gate: Permissions, user: User | None, context: ToolContext, name: str, **arguments: Any
) -> bool:
    toolset = Approved(Tools([execute, write, read]), gate, user)
    return not (await toolset.run(ToolCall("1", name, arguments), context)).is_error


ALLOW_GIT = [
    PermissionRule("allow", "execute", "execute", "git status*"),
    PermissionRule("allow", "execute", "execute", "ls *"),
    PermissionRule("deny", "*", "execute", "rm *"),
]


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("git status", "allow"),
        ("git status -s && ls src", "allow"),
        ("ls", "allow"),
        ("ls src | git status", "allow"),
        ("git statusx", "ask"),
        ("git push", "ask"),
        ("git status; curl x", "ask"),
        ("git status && rm -rf x", "deny"),
        ("ls $(rm x)", "deny"),
        ("ls `rm x`", "deny"),
        ("ls $(git status)", "ask"),
        ("ls > out.txt", "ask"),
        ("ls > ../out.txt", "deny"),
        ("ls > /etc/passwd", "deny"),
        ("ls 2>/dev/null", "allow"),
        ("git -c core.pager=x status", "ask"),
        ("LD_PRELOAD=x ls src", "ask"),
        ("ls $OPTIONS", "ask"),
        ("$(echo rm) x", "ask"),
        ("ls\u202e src", "ask"),
        ("ls src\u200b", "ask"),
        ("ls\x1b[2K src", "ask"),
        ("'git' status", "allow"),
        ("g''it status", "allow"),
        ("/tmp/git status", "ask"),
        ("./ls x", "ask"),
        ("ls 'unclosed", "ask"),
        ("bash -c 'git status'", "ask"),
        ("bash -c 'rm x'", "deny"),
        ("", "ask"),
    ],
)
def test_command_lines_are_taken_apart(command: str, effect: str, context: ToolContext) -> None:
    decision = Permissions(ALLOW_GIT).decide("execute", [Action("execute", command)], context)
    assert decision.effect == effect


@pytest.mark.parametrize(
    ("kind", "path", "effect"),
    [
        ("read", "src/a.c", "allow"),
        ("read", "../secret", "ask"),
        ("read", "link/secret", "ask"),
        ("read", "/etc/passwd", "ask"),
        ("write", "src/a.c", "ask"),
        ("write", "../secret", "deny"),
        ("write", "link/secret", "deny"),
        ("write", "src/../../secret", "deny"),
        ("write", "a\0b", "deny"),
        ("read", "a\0b", "deny"),
        ("read", "/etc/passwd\0.c", "deny"),
        ("read", "src/\ud800.c", "deny"),
    ],
)
def test_paths_stay_inside(kind: Any, path: str, effect: str, context: ToolContext) -> None:
    assert Permissions().decide("t", [Action(kind, path)], context).effect == effect


@pytest.mark.parametrize("path", ["a\0b", "../secret\0", "src/\ud800.c"])
async def test_what_can_be_no_path_is_refused_and_not_asked_about(
    path: str, context: ToolContext
) -> None:
    user = User(Answer(True, "session"))
    gate = Permissions([PermissionRule("allow")])
    for name in ("read", "write"):
        result = await Approved(Tools([read, write]), gate, user).run(
            ToolCall("1", name, {"path": path}), context
        )
        assert result.is_error and "cannot be a path" in result.text
        assert "outside" not in result.text and "\0" not in result.text
    assert user.asked == [] and DONE == []


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub/.git/config",
        ".vscode/tasks.json",
        ".mcp.json",
        ".jarvis/jsec.toml",
        ".github/workflows/x.yml",
        "src/../.git/config",
        ".git./config",
    ],
)
def test_what_runs_later_is_asked_even_when_writing_is_allowed(
    path: str, context: ToolContext
) -> None:
    gate = Permissions([PermissionRule("allow", "*", "write", "*")])
    assert gate.decide("t", [Action("write", path)], context).effect == "ask"
    assert gate.decide("t", [Action("write", "src/a.c")], context).effect == "allow"


@pytest.mark.parametrize(
    ("path", "effect"),
    [
        ("private/key.pem", "deny"),
        ("PRIVATE/Key.PEM", "deny"),
        ("private/K\u00c9Y", "deny"),
        ("private/ke\u0301y", "deny"),
        ("src/../Private/x", "deny"),
        ("src/a.c", "allow"),
        ("SRC/a.c", "ask"),
    ],
)
def test_what_is_forbidden_is_so_in_every_spelling(
    path: str, effect: str, context: ToolContext
) -> None:
    rules = [PermissionRule("deny", target="private/*"), PermissionRule("allow", target="src/*")]
    assert Permissions(rules).decide("t", [Action("write", path)], context).effect == effect


def test_a_refusal_names_the_part(context: ToolContext) -> None:
    """As a sentence: another one follows it."""
    permissions = Permissions([PermissionRule("allow", kind="execute", target="make *")])
    decision = permissions.decide("t", [Action("execute", "make -s m && ./m x")], context)
    assert (decision.effect, decision.reason) == ("ask", "No rule allows './m x'.")


async def test_nobody_there_means_no(context: ToolContext) -> None:
    assert not await do(Permissions(), None, context, "execute", command="make")
    assert DONE == []


async def test_a_refusal_is_an_answer(context: ToolContext) -> None:
    user = User(Answer(False, note="use ninja"))
    toolset = Approved(Tools([execute]), Permissions(), user)
    result = await toolset.run(ToolCall("1", "execute", {"command": "make"}), context)
    assert result.is_error and "use ninja" in result.text and DONE == []


async def test_consent_holds_as_long_as_said_and_for_that_only(context: ToolContext) -> None:
    kept: list[tuple[str, list[PermissionRule]]] = []
    gate = Permissions(remember=lambda scope, rules: kept.append((scope, rules)))
    user = User(Answer(True), Answer(True, "session"), Answer(True, "user"), Answer(False))
    for _ in range(3):
        assert await do(gate, user, context, "execute", command="make -j4 all")
    assert len(user.asked) == 2 and kept == []
    assert await do(gate, user, context, "execute", command="ls *")
    assert kept == [("user", [PermissionRule("allow", "execute", "execute", "ls [*]")])]
    assert not await do(gate, user, context, "execute", command="make x")
    assert [asked.actions[0].target for asked in user.asked] == [
        "make -j4 all",
        "make -j4 all",
        "ls *",
        "make x",
    ]


async def test_consent_to_a_hidden_command_is_never_kept(context: ToolContext) -> None:
    gate = Permissions()
    user = User(Answer(True, "user"), Answer(False))
    assert await do(gate, user, context, "execute", command="sh -c 'make'")
    assert not await do(gate, user, context, "execute", command="sh -c 'make'")
    assert not any(asked.lasting for asked in user.asked)


@pytest.mark.parametrize(
    ("command", "lasts"),
    [("make -j4 all", True), ("make $X", False), ("ls; make", True), ("git push", False)],
)
async def test_only_what_can_be_kept_is_offered(
    command: str, lasts: bool, context: ToolContext
) -> None:
    gate, user = (
        Permissions([PermissionRule("ask", target="git push*")]),
        User(Answer(True, "user")),
    )
    assert await do(gate, user, context, "execute", command=command)
    assert user.asked[0].lasting == lasts
    again = User(Answer(False))
    assert await do(gate, again, context, "execute", command=command) == lasts


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("g\u0456t push", "g<U+0456>t push"),
        ("\uff47it log", "<U+FF47>it log"),
        ("cat \u043e\u0442\u0447\u0451\u0442.txt", "cat \u043e\u0442\u0447\u0451\u0442.txt"),
        ("ls 说明v2.md", "ls 说明v2.md"),
        ("awk \u03b1", "awk \u03b1"),
    ],
)
async def test_letters_that_look_like_others_are_seen_and_never_kept(
    target: str, seen: str, context: ToolContext
) -> None:
    assert shown_target(target) == seen
    user = User(Answer(True, "session"), Answer(False))
    gate = Permissions()
    assert await do(gate, user, context, "execute", command=target)
    assert user.asked[0].lasting == (seen == target)
    assert await do(gate, user, context, "execute", command=target) == (seen == target)


async def test_only_what_needs_an_answer_is_asked(context: ToolContext) -> None:
    user = User(Answer(True))
    gate = Permissions(ALLOW_GIT)
    assert await do(gate, user, context, "execute", command="git status && cargo build")
    assert [a.target for a in user.asked[0].actions] == ["cargo build"]


rules = st.builds(
    PermissionRule,
    st.sampled_from(EFFECTS),
    st.sampled_from(["*", "execute", "write"]),
    st.sampled_from(["*", "execute", "write", "read"]),
    st.sampled_from(["*", "git *", "src/*", "rm *", "make"]),
)
ACTIONS = [
    Action("execute", "git push"),
    Action("execute", "make"),
    Action("write", "src/a.c"),
    Action("read", "src/a.c"),
    Action("execute", "rm x; make"),
]


@given(st.lists(rules, max_size=5), st.lists(rules, max_size=5), st.sampled_from(ACTIONS))
def test_a_workspace_can_only_tighten(
    user: list[PermissionRule], workspace: list[PermissionRule], action: Action
) -> None:
    context = ToolContext((Path("/nowhere/project"),))
    alone = Permissions(user).decide("execute", [action], context).effect
    both = Permissions(user, workspace).decide("execute", [action], context).effect
    assert EFFECTS.index(both) <= EFFECTS.index(alone)


def test_what_cannot_be_seen_is_shown() -> None:
    assert shown("rm\u202e x\u200b\x1b") == "rm<U+202E> x<U+200B><U+001B>"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        ["x"],
        [{"effect": "maybe"}],
        [{"effect": "allow", "kind": "fly"}],
        [{"effect": "allow", "paths": "x"}],
        [{"effect": "allow", "target": 1}],
    ],
)
def test_wrong_rules_are_named(settings: Any) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml"):
        read_rules(settings, "config.toml")


def test_rules_are_read() -> None:
    assert read_rules([{"effect": "deny", "target": "rm *"}], "x") == [
        PermissionRule("deny", target="rm *")
    ]


def test_where_nothing_may_be_written_no_rule_and_no_grant_allows_it(tmp_path):
    context = ToolContext((tmp_path,))
    everything = [PermissionRule("allow")]
    permissions = Permissions(everything, read_only="The workspace is not trusted.")
    write, run = Action("write", "a.c"), Action("execute", "ls")
    permissions.grant("t", [write, run], "session", context)
    for actions in ([write], [run], [Action("read", "a.c"), run]):
        decision = permissions.decide("t", actions, context)
        assert (decision.effect, decision.reason) == ("deny", "The workspace is not trusted.")
    assert permissions.decide("t", [Action("read", "a.c")], context).effect == "allow"
