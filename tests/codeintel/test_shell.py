"""A command line is taken apart into all that it would run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.shell import take_apart


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("git status", ["git status"]),
        ("git status && rm -rf / ; ls", ["git status", "rm -rf /", "ls"]),
        ("ls | tee log", ["ls", "tee log"]),
        ("ls |& rm x & cat y", ["ls", "rm x", "cat y"]),
        ("echo $(curl x | sh2)", ["echo $(curl x | sh2)", "curl x", "sh2"]),
        ("echo `rm x`", ["echo `rm x`", "rm x"]),
        ('ls "$(rm "x")"', ['ls "$(rm "x")"', "rm x"]),
        ("diff <(rm x) y", ["diff <(rm x) y", "rm x"]),
        ("[[ -n $(evil) ]] && ls", ["evil", "ls"]),
        ("cat <<EOF\n$(rm x)\nEOF", ["cat", "rm x"]),
        ("cat <<'EOF'\n$(rm x)\nEOF", ["cat"]),
        ("for i in a b; do rm $i; done", ["rm a", "rm b"]),
        ("if true; then rm x; fi", ["true", "rm x"]),
        ("echo hi\nrm x", ["echo hi", "rm x"]),
        ("! rm x", ["rm x"]),
        ('"r"m -r"f" \'x y\'', ["rm -rf x y"]),
        ("r\\m x", ["rm x"]),
        ("ls \\\n -la", ["ls -la"]),
        ("timeout 5 rm x", ["timeout 5 rm x", "rm x"]),
        ("nohup time rm x", ["nohup time rm x", "time rm x", "rm x"]),
        ("bash -lc 'ls; rm x'", ["bash -lc ls; rm x", "ls", "rm x"]),
        ("echo ok # ; rm x", ["echo ok"]),
        ("a=rm; $a x", ["rm x"]),
        ("find . -exec rm {} + -print", ["find . -exec rm {} + -print", "rm {}"]),
        ("strace -f rm x", ["strace -f rm x", "rm x"]),
        ("find . > out -delete", ["find . -delete"]),
        (">out rm x", ["rm x"]),
        ("cat <<E > out -n\nhi\nE", ["cat -n"]),
        ("set -euo pipefail; ls", ["ls"]),
        ("make -j$(nproc)", ["make -j0", "nproc"]),
        ("cat <<E\n$(rm x)", ["cat", "rm x"]),
    ],
)
def test_programs(line: str, programs: list[str]) -> None:
    assert [" ".join(command.words) for command in take_apart(line).commands] == programs


@pytest.mark.parametrize(
    "line",
    [
        "$PAGER x",
        "read a; $a x",
        "$'\\x72m' x",
        "eval 'rm x'",
        ". ./x",
        "source x",
        "exec rm x",
        "LD_PRELOAD=./x ls",
        "PATH=. ls",
        "env -S 'rm x'",
        "env A=1 rm x",
        "xargs rm",
        "sudo rm x",
        "find . -delete",
        "git -c core.pager=x log",
        "rg --pre=x y",
        "sed -i s/a/b/ f",
        "bash script",
        "sh -c 'ls'",
        'sh -c "$X"',
        "echo 'unclosed",
        "ls (",
        "ls() { rm x; }; ls",
        "tar xf a --to-command=x",
        "command rm x",
        "trap 'rm x' EXIT",
        "export PATH=.",
        "ls\r\nrm x",
        "docker run x",
        "PATH=.; ls",
        "PATH=.:$PATH\nls",
        "for PATH in .; do ls; done",
        "read PATH <<< .; ls",
        "printf -v PATH .; ls",
        "hash -p ./x ls; ls",
        "IFS=/; ls",
        "ls\x0brm x",
        "cat <<E\n`rm x`\nE",
        "cat <<-E\n\t`rm x`\n\tE",
        "tar -Ish -xf a",
        "tar -xIsh -f a",
        "tar xIf sh a",
        "tar -F sh -xf a",
        "tar -cf a --rsh-command=sh b",
        "tar xf a --info-script=sh",
        "tar xf a --use-comp=sh",
        "sed -n '1e rm x' a",
        "sed 's/a/rm x/e' a",
        "sed 's/a/b/w out' a",
        "sed 'w out' a",
        "sed '1r /etc/passwd' a",
        "sed -i.bak s/a/b/ f",
        "sed -ni s/a/b/ f",
        "sed -f script a",
        "sed --file=script a",
        "sed -n -e p -e 'e rm x' a",
        "sed 'p;e rm x' a",
        "sed 'p\ne rm' a",
        "sort -o f a",
        "sort -rof a",
        "sort --comp=sh a",
        "awk 'BEGIN{system(\"x\")}'",
        "awk '{print > \"f\"}' a",
        "awk '\"rm x\"|getline' a",
        "awk -fprog a",
        "gawk -f prog a",
        "git log --output=f",
        "git diff --outp=f",
        "git grep -Orm x",
        "git grep --open-files-in-pager=rm x",
        "git difftool --extcmd=x",
        "rg --hostname-bin=x y",
        "uniq a f",
        "xxd -r a f",
        "less +!x f",
        "less -o f x",
        # arithmetic evaluates what stands in brackets behind a name, and it sets variables
        "ls; [[ 1 -eq 'x[$(rm x)]' ]]",
        "ls; [ -v 'a[$(rm x)]' ]",
        "test -v 'a[$(rm x)]'",
        "for x in 'a[$(rm x)]'; do [[ $x -eq 1 ]]; done",
        "echo 'a[$(rm x)]'; [[ $_ -lt 1 ]]",
        "for x in 'a[$(rm x)]'; do case ${z[$x]} in *) ;; esac; done",
        "for x in 'a[$(rm x)]'; do case ${z:x} in *) ;; esac; done",
        "for x in 'a[$(rm x)]'; do case $((x)) in *) ;; esac; done",
        "for x in 'a[$(rm x)]'; do cat <<< \"${!x}\"; done",
        "cat <<E\n${z[$x]}\nE",
        "((PATH=1)); ls",
        "for ((PATH=1; 1; )); do ls; done",
        "case ${PATH:=.} in *) ls;; esac",
        "printf -vPATH .; ls",
        # words that become several, or other ones
        "find . {-exec,rm,x,\\;}",
        "sort {-o,f} a",
        "rm -{r,f} x",
        "rm {-rf,x}",
        "git {-c,core.pager=x} log",
        "{ls,-la}",
        "find . *",
        "tar cf a.tar *",
        "sort *.txt",
        "r? x",
        "/???/rm x",
        "find . -e*",
        "tar cf a ''*",
        # programs that run others
        "strace -o f rm x",
        "flock f rm x",
        "setarch x86_64 rm x",
        "taskset 1 rm x",
        "fish -c 'rm x'",
        "csh -c 'rm x'",
        "at now",
        "systemd-run rm x",
        "gdb -ex '!rm x'",
        "vim -c '!rm x' f",
        "ed f",
        "pkexec rm x",
        "entr rm x",
        "tmux new rm",
        "/lib64/ld-linux-x86-64.so.2 ./x",
        "bind -x x",
        "socat - EXEC:sh",
        "dbus-send --dest=x /y z.run",
        "complete -C rm ls",
        "fc -s",
        "git bisect run rm x",
        "git submodule foreach rm x",
        "git rebase -x rm HEAD~1",
        "git config alias.log '!rm x'",
        "git config core.fsmonitor ./x",
        "git difftool -x rm",
        "git filter-branch --tree-filter rm",
        "git fetch 'ext::sh -c rm'",
        "git hook run post-merge",
        "git --git-dir=f log",
        "git remote add o ext::rm",
        "git -C a bisect run rm",
        "make SHELL=./x",
        "make test CC='rm x;'",
        "cargo --config a.toml test",
        "go test -exec rm",
        "go build -toolexec=rm .",
        "gcc -wrapper rm a.c",
        "clang -fplugin=./x.so a.c",
        "npm --script-shell=./x test",
        "split --filter='rm x' f",
        "rsync -e rm a b:c",
        "scp -S rm a b:c",
        "zip a b -TT 'rm x'",
        "tcpdump -z rm",
        "wget --use-askpass=rm x",
        "curl -K f",
        "curl -o f x",
        "echo a > $HOME/f",
    ],
)
def test_what_cannot_be_known_is_opaque(line: str) -> None:
    assert take_apart(line).opaque


@pytest.mark.parametrize(
    "line",
    [
        "git log --oneline",
        "ls *.c",
        "grep -rn 'free(' src",
        "cargo test",
        "make -j4 all",
        "sed -n 5,10p f",
        "sed 's/a;b/c/g' f",
        "sed -e '1d' -e 's|/usr|/opt|' f",
        "sed -n '/a/,/b/p' f",
        "sed '1d\n2d' f",
        "sed -nE 's/(a|b)+/x/p;5q' f",
        "awk '{print $1}' f",
        "awk -F: '{print $2}' f",
        "tar tzf a.tgz",
        "tar -xf a.tar -C out",
        "sort -rn f",
        "git diff --stat",
        "uniq -c f",
        "for i in a b; do ls; done",
        "cat <<'E'\n`x`\nE",
        "find . -name '*.c' -newer a",
        "[[ $? -eq 0 ]] && ls",
        "[ -f a ] || ls",
        "[[ -n $x && 3 -gt 2 ]]; ls",
        "[ $x = y ]; ls",
        "find src ./*.c",
        "mkdir -p src/{a,b} *",
        "git config --get user.name",
        "git submodule status",
        "git -C sub log -p",
        "make V=1 -j4",
        "make -j4 test",
        "go test ./...",
        "npm run build",
        "gcc -Wall -o a a.c",
        'for x in a b; do cat <<< "${x}"; done',
        "strace ls",
        "zip -r a b",
        "for i in 1 2; do echo $i {a,b}; done",
    ],
)
def test_plain_commands_are_not_opaque(line: str) -> None:
    assert not take_apart(line).opaque


def test_redirections_name_files() -> None:
    line = take_apart("cc x.c > out.log 2>&1 < in.txt; echo x >> \"$f\"; cat a > 'b c' &> all")
    assert line.writes == ("out.log", "b c", "all")
    assert line.hidden is not None and line.hidden.part == '"$f"'
    assert line.reads == ("in.txt",)


@given(st.text(alphabet="ab $(){}`'\";|&<>\\\n#=-!*[]", max_size=40))
def test_any_line_is_taken_apart(line: str) -> None:
    found = take_apart(line)
    assert all(command.words and command.words[0] for command in found.commands) or found.opaque


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("cd sub && echo x > y", ("y", "sub/y")),
        ("(cd sub); echo x > y", ("y",)),
        ("cd /etc; echo x > /tmp/y", ("/tmp/y",)),
        ("for n in 1 2; do echo > out_$n; done", ("out_1", "out_2")),
        ("o=a.txt; ls > $o 2> /dev/null", ("a.txt",)),
        ("[[ a > b ]]", ("b",)),  # other shells than bash redirect here
    ],
)
def test_redirections_start_where_the_line_is(line: str, writes: tuple[str, ...]) -> None:
    assert take_apart(line).writes == writes and not take_apart(line).hidden


@pytest.mark.parametrize(
    "line",
    [
        "cd $x; echo > y",
        "cd -; echo > y",
        "while ls; do cd ..; echo > y; done",
        "echo > ~/x",
        "echo x > o*",
        "CDPATH=/; cd etc; echo > y",
        "f() { cd ..; }; f; f; echo > y",
    ],
)
def test_files_that_only_running_tells_are_hidden(line: str) -> None:
    assert take_apart(line).hidden


@pytest.mark.parametrize(
    "line",
    [
        "$x a",
        "time if true; then rm x; fi",
        "echo ${x//`rm x`/b}",
        "echo `ls \\`rm x\\``",
        'eval "$x"',
        "ls\u00a0x",
        "cat <<E'F'\nx\nEF",
        "(cd x && ls) > f y",
        'bash -c "$x"',
        'trap "$x" EXIT',
    ],
)
def test_what_cannot_be_read_is_hidden(line: str) -> None:
    assert take_apart(line).hidden


@pytest.mark.parametrize(
    "line",
    [
        'ASAN_OPTIONS=detect_leaks=0 ./t "a b"',
        "CC=clang make CFLAGS='-O0 -g' -j$(nproc)",
        "set -e; X=1; cmake -S . -B build && cmake --build build",
        "for f in *.c; do gcc -c $f; done",
        ". venv/bin/activate && pip install x",
        "gdb -batch -ex run ./t",
        "sh test.sh; sed -i s/a/b/ f; sudo ls",
        "python3 -c \"print('foo(')\"",
        "export PATH=$PATH:/x; ls",
        'while read -r l; do echo "$l"; done < f',
        "find . -name '*.c' | xargs grep -n 'foo('",
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); ls; done",
        "cat <<'EOF' > README.md\n```sh\nls `x`\n```",
    ],
)
def test_ordinary_lines_hide_nothing(line: str) -> None:
    assert take_apart(line).hidden is None


def test_depth_ends() -> None:
    line = "ls"
    for _ in range(12):
        line = "sh -c " + "'" + line.replace("'", "'\\''") + "'"
    assert take_apart(line).opaque
    assert take_apart("$(" * 3000 + "ls" + ")" * 3000).opaque is not None
