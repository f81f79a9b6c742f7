"""A rule about programs means exactly what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.messages import ToolCall
from jarvis_ls.runtime.sandbox.base import NoSandbox
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.command_rules import matches_command
from jarvis_ls.runtime.tools.permissions import Answer, Asked, PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Tools, tool

ANY = [PermissionRule("allow", kind="execute"), PermissionRule("allow", kind="write")]


def effect(rules: list[PermissionRule], line: str, *, contained: bool = False) -> str:
    context = ToolContext((Path("/nowhere/project"),))
    actions = [Action("execute", line)]
    return Permissions(rules).decide("t", actions, context, contained=contained).effect


@pytest.mark.parametrize(
    ("target", "line", "expected"),
    [
        ("ls *", "ls", "allow"),
        ("ls *", "ls -la 'a b'", "allow"),
        ("ls *", "'ls /../evil.sh'", "ask"),
        ("ls *", "ls\\ -la", "ask"),
        ("ls *", "lsof", "ask"),
        ("ls *", "./ls", "ask"),
        ("git log *", "git log -p", "allow"),
        ("git log *", "git 'log -p'", "ask"),
        ("git log *", "git logx", "ask"),
        ("cargo test*", "cargo test --release", "allow"),
        ("cargo test*", "cargo 'test x'", "ask"),
        ("grep 'a b' *", "grep 'a b' c", "allow"),
        ("grep 'a b' *", "grep a b c", "ask"),
        ("make all", "make all", "allow"),
        ("make all", "make all x", "ask"),
        ("*", "anything --at all", "allow"),
    ],
)
def test_rules_match_words(target: str, line: str, expected: str) -> None:
    assert effect([PermissionRule("allow", "t", "execute", target)], line) == expected


@pytest.mark.parametrize(
    "line",
    """
awk -faw=1
make -fmk=1
tar -I./x=1 -xf a.tar
sort -o.git/hooks/x=1 a
scp -oProxyCommand=./x a b:c
gcc -B. a.c
gcc @file
gcc -fplugin=./x.so a.c
gcc -wrapper x a.c
gcc -Wl,-plugin,x a.c
gcc -o .git/hooks/pre-commit a.c
clang-15 -B. a.c
x86_64-linux-gnu-gcc -B. a.c
sqlite3 db .shell
sqlite3 db '.shell rm x'
sqlite3 -cmd '.shell rm x' db 'select 1'
sqlite3 db "select load_extension('x')"
git clone -u ./x a
git clone -c core.fsmonitor=./x a
git clone --template=x a
git -c alias.x=!rm x
git x
git log --output=f
git archive --exec=x
git rebase -x rm HEAD~1
git grep -Orm x
git submodule update
git fetch ext::rm
zip -TT 'rm x' a b
zip -T a b
rustc -Clinker=./x a.rs
rustc @args
rustc -o .git/x a.rs
cargo +evil test
cargo evil
cargo test --config a.toml
ar --plugin ./x.so rcs a b
ar @args
nm --plugin ./x.so a
fd -x rm
fd --exec-batch rm
ctags --options=x
ctags -f.git/hooks/x
rg --pre=./x a
sed -i s/a/b/ f
sed s/a/b/e f
find . -fprint f
find . -delete
find . -exec rm {} +
find . > out -delete
xargs -a f rm
ls | xargs rm
tar --to-command=rm -xf a
tar cf host:x a
sort --compress-program=./x a
awk 'BEGIN{system("rm")}'
make CC=rm
make SHELL=./x
make -C /tmp/evil
ninja -f x
cmake -P x
cmake -DCMAKE_C_COMPILER_LAUNCHER=./x .
go test -exec rm
go build -overlay=x
ssh host rm
rsync -e./x a b:c
perl -e 'system("rm")'
perl -ne 1 a
python3 -c 'import os'
python3 -
python3 <<< 'import os'
node -e 1
node -r ./x a.js
ruby -rx a.rb
npm exec rm
npx x
uv run x
java -javaagent:x -jar a.jar
curl -o f x
curl -K f
wget --use-askpass=./x a
less +!x f
man -Px ls
split --filter=rm f
patch -e a
tcpdump -zrm
PATH=. ls
LD_PRELOAD=./x ls
GIT_PAGER=x git log
CC=rm make
ls() { rm x; }; ls
ls $x
ls > out
gdb -ex run
env -S 'rm x'
timeout 5 rm x
bash -c ls
""".strip().splitlines(),
)
def test_a_rule_for_programs_does_not_cover_what_they_run_or_write_more(line: str) -> None:
    programs = """
    awk make tar sort scp gcc clang-15 x86_64-linux-gnu-gcc sqlite3 git zip rustc cargo ar nm fd
    ctags rg sed find xargs ninja cmake go ssh rsync perl python3 node ruby npm npx uv java curl
    wget less man split patch tcpdump ls gdb env timeout bash
    """.split()
    rules = [PermissionRule("allow", "t", "execute", f"{program} *") for program in programs]
    assert effect(rules, line) == "ask"


@pytest.mark.parametrize(
    "line",
    """
gcc -Wall -Wextra -O2 -g -std=c11 -Iinclude -DX=1 -c a.c -o build/a.o
clang -fsanitize=address -o t t.c -lm
git log --oneline -5 && git diff --stat HEAD~1 -- src
git commit -m 'fix (again)'
make -j4 all
make -j$(nproc) V=1
cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug
cargo test --release -- --nocapture
tar xzf a.tgz -C out
sed -n 1,20p a.c
awk '{print $1}' a
find . -name '*.c' -newer a -exec wc -l {} +
sort -k2 -n a | uniq -c
python3 tools/x.py --any -c option
python3 -m pytest -x -q
timeout 60 make test
for f in a.c b.c; do gcc -c $f; done
ASAN_OPTIONS=detect_leaks=0 make check
rg -n 'foo\\(' src
sqlite3 db 'select 1'
set -e; make
""".strip().splitlines(),
)
def test_ordinary_calls_are_covered(line: str) -> None:
    programs = (
        "gcc clang git make nproc cmake cargo tar sed awk find wc sort uniq python3 timeout rg"
    )
    rules = [
        PermissionRule("allow", "t", "execute", f"{program} *")
        for program in (*programs.split(), "sqlite3")
    ]
    assert effect(rules, line) == "allow"


@pytest.mark.parametrize(
    ("target", "line", "expected"),
    [
        ("sed -i *", "sed -i s/a/b/ f", "allow"),
        ("sed -i *", "sed -i -f x f", "ask"),
        ("sed -i *", "sed -i s/a/b/e f", "ask"),
        ("gcc -B. a.c", "gcc -B. a.c", "allow"),
        ("gcc -B. *", "gcc -B. -wrapper x a.c", "ask"),
        ("ssh *", "ssh host", "ask"),
    ],
)
def test_a_rule_that_spells_an_option_covers_it(target: str, line: str, expected: str) -> None:
    assert effect([PermissionRule("allow", "t", "execute", target)], line) == expected


@pytest.mark.parametrize(
    ("line", "plain", "contained"),
    [
        ("sed -i s/a/b/ f; sh test.sh; CC=clang make CFLAGS='-O0 -g'", "allow", "allow"),
        ("python3 -c 'print(1)' && grep -n 'foo(' a.c", "allow", "allow"),
        ("$PROGRAM x", "ask", "allow"),
        ('eval "$x"', "ask", "allow"),
        ("ls (", "ask", "allow"),
        ("echo x > src/a", "allow", "allow"),
        ("echo x > /tmp/a", "deny", "allow"),
        ("cd /etc; echo x > passwd", "deny", "allow"),
        ("cat < /etc/passwd", "ask", "allow"),
        (
            "echo x > .git/hooks/a",
            "ask",
            "allow",
        ),  # what the copy holds is asked when it is carried
    ],
)
def test_any_program_covers_what_can_be_read_and_in_a_sandbox_everything(
    line: str, plain: str, contained: str
) -> None:
    assert effect(ANY, line) == plain
    assert effect(ANY, line, contained=True) == contained


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (PermissionRule("deny", target="rm *"), "/bin/rm x"),
        (PermissionRule("deny", target="rm *"), "find . -exec rm {} +"),
        (PermissionRule("deny", target="rm *"), "ls | xargs rm"),
        (PermissionRule("deny", target="rm *"), "a=rm; $a x"),
        (PermissionRule("deny", target="rm *"), "sh -c 'rm x'"),
        (PermissionRule("deny", target="rm *"), "eval rm x"),
        (PermissionRule("deny", target="rm *"), "env A=1 rm x"),
        (PermissionRule("deny", target="*curl*"), "$x; curl y"),
        (PermissionRule("deny", "*", "write", "src/*"), "ls > src/a"),
    ],
)
def test_what_is_forbidden_is_so_in_a_sandbox_too(rule: PermissionRule, line: str) -> None:
    assert effect([*ANY, rule], line) == "deny"
    assert effect([*ANY, rule], line, contained=True) == "deny"


def test_rules_that_forbid_make_what_hides_programs_asked() -> None:
    rules = [*ANY, PermissionRule("deny", "*", "execute", "rm *")]
    for line in ("$x y", "make SHELL=./x", "awk -f x"):
        assert effect(rules, line, contained=True) == "ask"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("ls; $PROGRAM x", "$PROGRAM"),
        ("make -f other.mk", "-f"),
        ('ls > "$f"', '"$f"'),
        ("cargo build", "cargo build"),
        ("PATH=. ls", "PATH=."),
    ],
)
async def test_a_refusal_names_the_part(line: str, part: str) -> None:
    rules = [PermissionRule("allow", "*", "execute", f"{name} *") for name in ("ls", "make")]
    result = await Approved(Tools([execute]), Permissions(rules), None).run(
        ToolCall("1", "execute", {"command": line}), ToolContext((Path("/nowhere/project"),))
    )
    assert result.is_error and part in result.text


@tool(actions=lambda a: [Action("execute", a["command"])], sandboxed=True)
async def execute(context: ToolContext, command: str) -> str:
    """Run."""
    return "ran"


@tool(
    actions=lambda a: [Action("execute", a["command"]), Action("connect", "any host")],
    sandboxed=True,
)
async def connect(context: ToolContext, command: str) -> str:
    """Run with network."""
    return "ran"


@dataclass
class Sandboxes:
    """Finds a sandbox of this name; none without one."""

    name: str
    looked: int = 0

    async def best(self, *, trusted: bool = False) -> Sandboxes:
        self.looked += 1
        if not self.name:
            raise NoSandbox("none holds")
        return self


@pytest.mark.parametrize(
    ("name", "tool_name", "command", "passes", "looked"),
    [
        ("bwrap", "execute", "$X y", True, 1),
        ("landlock", "execute", "$X y", True, 1),
        ("none", "execute", "$X y", False, 1),
        ("", "execute", "$X y", False, 1),
        ("bwrap", "connect", "$X y", False, 0),
        ("bwrap", "execute", "make", True, 0),
    ],
)
async def test_only_a_proven_sandbox_without_network_covers_what_is_hidden(
    name: str, tool_name: str, command: str, passes: bool, looked: int
) -> None:
    sandboxes, asked = Sandboxes(name), []

    async def refuse(question: Asked) -> Answer:
        asked.append(question)
        return Answer(False)

    rules = [*ANY, PermissionRule("allow", kind="connect")]
    context = ToolContext((Path("/nowhere/project"),), services={"sandbox": sandboxes})
    result = await Approved(Tools([execute, connect]), Permissions(rules), refuse).run(
        ToolCall("1", tool_name, {"command": command}), replace(context, trusted=True)
    )
    assert result.is_error != passes and sandboxes.looked == looked
    assert [question.hidden for question in asked] == ([] if passes else [True])


def test_a_rule_with_many_stars_is_matched_in_linear_time() -> None:
    """Workspaces may bring rules, too: each star must not multiply the work."""
    words = ["make", *["x"] * 2_000]
    assert not matches_command("make " + "* x " * 40 + "* y", words)
    assert matches_command("make " + "* x " * 40 + "*", words)
